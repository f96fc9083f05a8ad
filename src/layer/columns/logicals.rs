//! Columns of logicals: a letter a cell, into one bit.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType};

use super::cells::{chosen_logical, logical};
use super::decoder::{Cells, Kernel, Marks, Misfit, Refusal, taken};
use super::number::Cell;
use crate::archive::{Code, make_room, with_room};

/// The logicals of a column.
pub(super) struct Logicals {
    /// Eight values a byte, the first in its lowest bit.
    bits: Vec<u8>,
    count: usize,
    /// Whether a caller wants them of a field that is declared as something else.
    is_chosen: bool,
}

impl Logicals {
    pub(super) fn new(rows: usize) -> Self {
        Self { bits: with_room(rows.div_ceil(8)), count: 0, is_chosen: false }
    }

    /// Truth values of a field that is declared as something else.
    pub(super) fn chosen(rows: usize) -> Self {
        Self { bits: with_room(rows.div_ceil(8)), count: 0, is_chosen: true }
    }

    #[inline]
    fn push(&mut self, value: bool) {
        let place = self.count % 8;
        let bit = u8::from(value) << place;
        match self.bits.last_mut() {
            Some(last) if place > 0 => *last |= bit,
            _ => self.bits.push(bit),
        }
        self.count += 1;
    }
}

/// A cell that is no single letter of a logical.
#[cold]
fn irregular(cells: &Cells<'_>, row: usize, is_chosen: bool, marks: &mut Marks) -> Result<Option<bool>, Misfit> {
    let (cell, has_more) = cells.text(row);
    let record = cells.number(row);
    let found = if is_chosen {
        match chosen_logical(cell) {
            Some(Cell::Value(found)) => Some(found),
            Some(Cell::Null) => None,
            Some(Cell::Odd) => {
                marks.note(Code::BadLogical, record);
                None
            }
            None => return Err(Misfit::new(cells, row, "is no truth value")),
        }
    } else {
        logical(cell, |finding| marks.note(finding, record))
    };
    if has_more {
        marks.note(Code::AfterNul, record);
    }
    Ok(found)
}

/// What each byte says, where it needs no second look: 0 and 1.
const LETTERS: [u8; 256] = {
    let mut letters = [2; 256];
    letters[b'F' as usize] = 0;
    letters[b'f' as usize] = 0;
    letters[b'N' as usize] = 0;
    letters[b'n' as usize] = 0;
    letters[b'T' as usize] = 1;
    letters[b't' as usize] = 1;
    letters[b'Y' as usize] = 1;
    letters[b'y' as usize] = 1;
    letters
};

impl Kernel for Logicals {
    fn append(&mut self, cells: &Cells<'_>, from: usize, marks: &mut Marks) -> Result<(), Refusal> {
        make_room(&mut self.bits, cells.rows().saturating_sub(from).div_ceil(8))?;
        for row in from..cells.rows() {
            let cell = cells.cell(row);
            let letter = match cell {
                [letter] => LETTERS.get(usize::from(*letter)).copied(),
                _ => None,
            };
            let value = if let Some(value @ 0..=1) = letter {
                value == 1
            } else {
                let found = irregular(cells, row, self.is_chosen, marks)?;
                if found.is_none() {
                    marks.null(self.count);
                }
                found == Some(true)
            };
            self.push(value);
        }
        Ok(())
    }

    fn data_type(&self) -> DataType {
        DataType::Boolean
    }

    fn len(&self) -> usize {
        self.count
    }

    fn take(&mut self, nulls: Option<NullBuffer>, room: usize) -> Result<ArrayRef, ArrowError> {
        let bits = Buffer::from_vec(taken(&mut self.bits, room.div_ceil(8)));
        Ok(Arc::new(BooleanArray::new(BooleanBuffer::new(bits, 0, std::mem::take(&mut self.count)), nulls)))
    }
}
