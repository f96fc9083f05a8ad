//! Decodes columns of dates, eight digits per cell, to days since 1970.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::cells::{days_since_epoch, parse_date, slash_date_order};
use super::decoder::{AppendError, Cells, ColumnDecoder, Validity, take_values};
use super::number::Cell;
use super::swar::{are_digits, digits, parse_eight, suspects, word};
use crate::archive::{Code, try_reserve, with_capacity};

/// A column of dates.
pub(super) struct Dates {
    values: Vec<i32>,
    /// Whether cells are text, which may have dashes.
    is_text: bool,
}

impl Dates {
    pub(super) fn new(rows: usize) -> Self {
        Self { values: with_capacity(rows), is_text: false }
    }

    /// Dates of a field that is declared as another type.
    pub(super) fn from_text(rows: usize) -> Self {
        Self { values: with_capacity(rows), is_text: true }
    }
}

/// The days of eight digits; `None` for any other content.
#[inline]
fn parse_digits(word: u64) -> Option<i32> {
    let values = digits(word);
    if !are_digits(suspects(values)) {
        return None;
    }
    let number = u32::try_from(parse_eight(values)).ok()?;
    days_since_epoch(number / 10_000, number / 100 % 100, number % 100)
}

/// The digits of `2026-09-01`.
fn without_dashes(cell: &[u8]) -> Option<[u8; 8]> {
    let text = cell.trim_ascii();
    if text.len() != 10 || text.get(4) != Some(&b'-') || text.get(7) != Some(&b'-') {
        return None;
    }
    let mut all = [b'-'; 8];
    for (digit, byte) in all.iter_mut().zip(text.iter().filter(|byte| **byte != b'-')) {
        *digit = *byte;
    }
    Some(all)
}

#[cold]
fn decode_irregular(cells: &Cells<'_>, row: usize, position: usize, is_text: bool, validity: &mut Validity) -> i32 {
    let (cell, has_more) = cells.text(row);
    if has_more {
        validity.add_issue(Code::AfterNul, cells.number(row));
    }
    let digits = without_dashes(cell).filter(|_| is_text);
    let found = parse_date(digits.as_ref().map_or(cell, |digits| digits));
    if found == Cell::Invalid {
        validity.add_issue(Code::BadDate, cells.number(row));
    }
    if let Some(order) = slash_date_order(cell) {
        validity.add_issue(order, cells.number(row));
    }
    if let Cell::Value(value) = found {
        return value;
    }
    validity.set_null(position);
    0
}

impl ColumnDecoder for Dates {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        try_reserve(&mut self.values, cells.rows().saturating_sub(first_row))?;
        let (is_text, base) = (self.is_text, self.values.len().wrapping_sub(first_row));
        // Rows are ordered in time, so most dates equal the previous one.
        let mut previous = None;
        self.values.extend((first_row..cells.rows()).map(|row| {
            let word = if cells.width == 8 { word(cells.cell(row), 0) } else { None };
            match previous {
                Some((same, value)) if Some(same) == word => value,
                _ => match word.and_then(|word| Some((word, parse_digits(word)?))) {
                    Some((word, value)) => {
                        previous = Some((word, value));
                        value
                    }
                    None => decode_irregular(cells, row, base.wrapping_add(row), is_text, validity),
                },
            }
        }));
        Ok(())
    }

    fn data_type(&self) -> DataType {
        DataType::Date32
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(Date32Array::try_new(take_values(&mut self.values, capacity).into(), nulls)?))
    }
}
