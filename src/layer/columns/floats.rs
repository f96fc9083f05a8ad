//! Columns of numbers with decimals.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::decoder::{Cells, Kernel, Marks, Refusal, grown, taken};
use super::fixed_point::Layout;
use super::number::{Cell, LAST_EXACT, float, loses_digits};
use crate::archive::{Code, NoRoom, make_room, with_room};

/// The floats of a column.
pub(super) struct Floats {
    values: Vec<f64>,
    layout: Option<Layout>,
}

impl Floats {
    pub(super) fn new(width: usize, decimals: u8, rows: usize) -> Self {
        Self { values: with_room(rows), layout: Layout::of(width, usize::from(decimals)) }
    }

    /// A column that began with whole numbers.
    pub(super) fn after(values: Vec<f64>, width: usize) -> Self {
        Self { values, layout: Layout::of(width, 0) }
    }

    fn regular<const WHOLE: usize, const FRACTION: usize>(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        from: usize,
        marks: &mut Marks,
    ) -> Result<(), NoRoom> {
        let (layout, start) = (*layout, self.values.len());
        let values = grown(&mut self.values, cells.rows().saturating_sub(from))?;
        let blocks = cells.blocks(from, layout.before, layout.length);
        for (row, (value, block)) in (from..).zip(values.iter_mut().zip(blocks)) {
            let parts = block.and_then(|block| layout.parts::<WHOLE, FRACTION>(block));
            let found = parts.and_then(|(whole, fraction, is_negative)| layout.float(whole, fraction, is_negative));
            // One word of digits is never so large, and asks nothing.
            *value = match found.filter(|found| WHOLE == 1 || found.abs() < LAST_EXACT) {
                Some(found) => found,
                None => irregular(cells, row, start + row - from, marks),
            };
        }
        Ok(())
    }
}

/// A cell that is not written as its column is declared, or is so large that digits may be lost.
#[cold]
fn irregular(cells: &Cells<'_>, row: usize, position: usize, marks: &mut Marks) -> f64 {
    let (cell, has_more) = cells.text(row);
    if has_more {
        marks.note(Code::AfterNul, cells.number(row));
    }
    let found = float(cell);
    if let Cell::Value(value) = found {
        if value.abs() >= LAST_EXACT && loses_digits(cell, value) {
            marks.note(Code::DigitsLost, cells.number(row));
        }
        return value;
    }
    if found == Cell::Odd {
        marks.note(Code::BadNumber, cells.number(row));
    }
    marks.null(position);
    0.0
}

impl Kernel for Floats {
    fn append(&mut self, cells: &Cells<'_>, from: usize, marks: &mut Marks) -> Result<(), Refusal> {
        let Some(layout) = self.layout else {
            make_room(&mut self.values, cells.rows().saturating_sub(from))?;
            let base = self.values.len().wrapping_sub(from);
            self.values.extend((from..cells.rows()).map(|row| irregular(cells, row, base.wrapping_add(row), marks)));
            return Ok(());
        };
        // One loop for each number of words, so that it is as short as the cells are.
        let regular = match (layout.whole_words, layout.fraction_words) {
            (1, 0) => Self::regular::<1, 0>,
            (1, 1) => Self::regular::<1, 1>,
            (1, 2) => Self::regular::<1, 2>,
            (1, _) => Self::regular::<1, 3>,
            (2, 0) => Self::regular::<2, 0>,
            (2, 1) => Self::regular::<2, 1>,
            (2, 2) => Self::regular::<2, 2>,
            (2, _) => Self::regular::<2, 3>,
            (_, 0) => Self::regular::<3, 0>,
            (_, 1) => Self::regular::<3, 1>,
            (_, 2) => Self::regular::<3, 2>,
            (_, _) => Self::regular::<3, 3>,
        };
        regular(self, &layout, cells, from, marks).map_err(Refusal::from)
    }

    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, room: usize) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(Float64Array::try_new(taken(&mut self.values, room).into(), nulls)?))
    }
}
