//! Decodes columns of logicals, one letter per cell, to bits.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType};

use super::cells::{parse_logical, parse_requested_logical};
use super::decoder::{AppendError, CellError, Cells, ColumnDecoder, Validity, take_values};
use super::number::Cell;
use crate::archive::{Code, try_reserve, with_capacity};

/// A column of Booleans.
pub(super) struct Logicals {
    /// Eight values per byte, the first in the lowest bit.
    bits: Vec<u8>,
    count: usize,
    /// Whether the declared field type is another one.
    is_requested: bool,
}

impl Logicals {
    pub(super) fn new(rows: usize) -> Self {
        Self { bits: with_capacity(rows.div_ceil(8)), count: 0, is_requested: false }
    }

    /// Booleans of a field that is declared as another type.
    pub(super) fn requested(rows: usize) -> Self {
        Self { bits: with_capacity(rows.div_ceil(8)), count: 0, is_requested: true }
    }

    #[inline]
    fn push(&mut self, value: bool) {
        let bit_index = self.count % 8;
        let bit = u8::from(value) << bit_index;
        match self.bits.last_mut() {
            Some(last) if bit_index > 0 => *last |= bit,
            _ => self.bits.push(bit),
        }
        self.count += 1;
    }
}

/// Decodes a cell that is no single known letter.
#[cold]
fn decode_irregular(
    cells: &Cells<'_>,
    row: usize,
    is_requested: bool,
    validity: &mut Validity,
) -> Result<Option<bool>, CellError> {
    let (cell, has_more) = cells.text(row);
    let record = cells.number(row);
    let found = if is_requested {
        match parse_requested_logical(cell) {
            Some(Cell::Value(found)) => Some(found),
            Some(Cell::Null) => None,
            Some(Cell::Invalid) => {
                validity.add_issue(Code::BadLogical, record);
                None
            }
            None => return Err(CellError::new(cells, row, "is not a truth value")),
        }
    } else {
        parse_logical(cell, |issue| validity.add_issue(issue, record))
    };
    if has_more {
        validity.add_issue(Code::AfterNul, record);
    }
    Ok(found)
}

/// The value of each letter: 0, 1, or 2 for a byte that needs the general parser.
#[expect(clippy::indexing_slicing, reason = "the compiler checks the places of a constant")]
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

impl ColumnDecoder for Logicals {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        try_reserve(&mut self.bits, cells.rows().saturating_sub(first_row).div_ceil(8))?;
        for row in first_row..cells.rows() {
            let cell = cells.cell(row);
            let letter = match cell {
                [letter] => LETTERS.get(usize::from(*letter)).copied(),
                _ => None,
            };
            let value = if let Some(value @ 0..=1) = letter {
                value == 1
            } else {
                let found = decode_irregular(cells, row, self.is_requested, validity)?;
                if found.is_none() {
                    validity.set_null(self.count);
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

    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError> {
        let bits = Buffer::from_vec(take_values(&mut self.bits, capacity.div_ceil(8)));
        Ok(Arc::new(BooleanArray::new(BooleanBuffer::new(bits, 0, std::mem::take(&mut self.count)), nulls)))
    }
}
