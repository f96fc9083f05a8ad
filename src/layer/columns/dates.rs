//! Decodes columns of dates, eight digits per cell, to days since 1970.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::decoder::{AppendError, Cells, ColumnDecoder, Validity, take_values};
use super::swar::{are_digits, digits, parse_eight, suspects, word};
use crate::archive::{Code, try_reserve, with_capacity};
use crate::times::{days_since_epoch, parse_date, read_dates};

/// A column of dates.
pub(super) struct Dates {
    values: Vec<i32>,
}

impl Dates {
    pub(super) fn new(rows: usize) -> Self {
        Self { values: with_capacity(rows) }
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

/// The days of a cell in another form than eight digits; the issue of one that is not read. A chunk does not have the
/// other rows of its column, so the cell itself must show the order of its parts.
fn parse_irregular(cell: &[u8]) -> Result<Option<i32>, Code> {
    let cell = cell.trim_ascii();
    // Writers store a missing date as blanks, one zero or eight zeros.
    if cell.iter().all(|byte| *byte == b'0') && !(2..8).contains(&cell.len()) {
        return Ok(None);
    }
    let written = std::str::from_utf8(cell).ok().and_then(parse_date).ok_or(Code::BadDate)?;
    let days = match written.year_first() {
        Some(days) => Some(days),
        None => read_dates(&[Some(written)], None).map_err(|_| Code::AmbiguousDate)?.days.first().copied().flatten(),
    };
    days.and_then(|days| i32::try_from(days).ok()).map(Some).ok_or(Code::BadDate)
}

#[cold]
fn decode_irregular(cells: &Cells<'_>, row: usize, position: usize, validity: &mut Validity) -> i32 {
    let (cell, has_more) = cells.text(row);
    if has_more {
        validity.add_issue(Code::AfterNul, cells.number(row));
    }
    match parse_irregular(cell) {
        Ok(Some(days)) => return days,
        Ok(None) => {}
        Err(code) => validity.add_issue(code, cells.number(row)),
    }
    validity.set_null(position);
    0
}

impl ColumnDecoder for Dates {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        try_reserve(&mut self.values, cells.rows().saturating_sub(first_row))?;
        let base = self.values.len().wrapping_sub(first_row);
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
                    None => decode_irregular(cells, row, base.wrapping_add(row), validity),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_dates_are_read_if_they_show_their_order() {
        for cell in ["19700113  ", "1970-01-13", "1970-1-13", "13/01/1970", " 01/13/1970", "13.1.1970", "01/13/70"] {
            assert_eq!(parse_irregular(cell.as_bytes()), Ok(Some(12)), "{cell:?}");
        }
        assert_eq!(parse_irregular(b"01/01/1970"), Ok(Some(0)));
        assert_eq!(parse_irregular(b"1969-12-31"), Ok(Some(-1)));
        for cell in ["01/02/2024", "23/06/26", "26-06-23", "230626"] {
            assert_eq!(parse_irregular(cell.as_bytes()), Err(Code::AmbiguousDate), "{cell:?}");
        }
        for cell in ["        ", "00000000", "0", ""] {
            assert_eq!(parse_irregular(cell.as_bytes()), Ok(None), "{cell:?}");
        }
        for cell in ["20230229", "20231301", "241332", "10101   ", "abcdefgh", "13/13/1970", "aa/01/1970", "0000"] {
            assert_eq!(parse_irregular(cell.as_bytes()), Err(Code::BadDate), "{cell:?}");
        }
    }
}
