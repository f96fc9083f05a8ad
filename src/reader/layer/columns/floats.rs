//! Decodes columns of numbers with decimals.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::decoder::{AppendError, Cells, ColumnDecoder, Validity, grow, take_values};
use super::fixed_point::Layout;
use super::number::{Cell, LAST_EXACT, loses_digits, parse_float};
use crate::archive::{AllocError, Code, try_reserve, with_capacity};

/// A float column.
pub(super) struct Floats {
    values: Vec<f64>,
    layout: Option<Layout>,
}

impl Floats {
    pub(super) fn new(width: usize, decimals: u8, rows: usize) -> Self {
        Self { values: with_capacity(rows), layout: Layout::new(width, usize::from(decimals)) }
    }

    /// Continues a column that started as integers.
    pub(super) fn from_values(values: Vec<f64>, width: usize) -> Self {
        Self { values, layout: Layout::new(width, 0) }
    }

    fn decode_fixed<const WHOLE: usize, const FRACTION: usize>(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        first_row: usize,
        validity: &mut Validity,
    ) -> Result<(), AllocError> {
        let (layout, start) = (*layout, self.values.len());
        let values = grow(&mut self.values, cells.rows().saturating_sub(first_row))?;
        let blocks = cells.blocks(first_row, layout.lead, layout.length);
        for (row, (value, block)) in (first_row..).zip(values.iter_mut().zip(blocks)) {
            let parts = block.and_then(|block| layout.split_digits::<WHOLE, FRACTION>(block));
            let found =
                parts.and_then(|(whole, fraction, is_negative)| layout.compose_float(whole, fraction, is_negative));
            // Eight digits are always below the limit, so this case needs no check.
            *value = match found.filter(|found| WHOLE == 1 || found.abs() < LAST_EXACT) {
                Some(found) => found,
                None => decode_irregular(cells, row, start + row - first_row, validity),
            };
        }
        Ok(())
    }
}

/// Decodes a cell that does not match the declared layout, or whose value may have lost digits.
#[cold]
fn decode_irregular(cells: &Cells<'_>, row: usize, position: usize, validity: &mut Validity) -> f64 {
    let (cell, has_more) = cells.text(row);
    if has_more {
        validity.add_issue(Code::AfterNul, cells.number(row));
    }
    let found = parse_float(cell);
    if let Cell::Value(value) = found {
        if value.abs() >= LAST_EXACT && loses_digits(cell, value) {
            validity.add_issue(Code::DigitsLost, cells.number(row));
        }
        return value;
    }
    if found == Cell::Invalid {
        validity.add_issue(Code::BadNumber, cells.number(row));
    }
    validity.set_null(position);
    0.0
}

impl ColumnDecoder for Floats {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        let Some(layout) = self.layout else {
            try_reserve(&mut self.values, cells.rows().saturating_sub(first_row))?;
            let base = self.values.len().wrapping_sub(first_row);
            self.values.extend(
                (first_row..cells.rows()).map(|row| decode_irregular(cells, row, base.wrapping_add(row), validity)),
            );
            return Ok(());
        };
        // One instance for each word count, so that the loop has no branch for it.
        let decode = match (layout.whole_words, layout.fraction_words) {
            (1, 0) => Self::decode_fixed::<1, 0>,
            (1, 1) => Self::decode_fixed::<1, 1>,
            (1, 2) => Self::decode_fixed::<1, 2>,
            (1, _) => Self::decode_fixed::<1, 3>,
            (2, 0) => Self::decode_fixed::<2, 0>,
            (2, 1) => Self::decode_fixed::<2, 1>,
            (2, 2) => Self::decode_fixed::<2, 2>,
            (2, _) => Self::decode_fixed::<2, 3>,
            (_, 0) => Self::decode_fixed::<3, 0>,
            (_, 1) => Self::decode_fixed::<3, 1>,
            (_, 2) => Self::decode_fixed::<3, 2>,
            (_, _) => Self::decode_fixed::<3, 3>,
        };
        decode(self, &layout, cells, first_row, validity).map_err(AppendError::from)
    }

    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(Float64Array::try_new(take_values(&mut self.values, capacity).into(), nulls)?))
    }
}
