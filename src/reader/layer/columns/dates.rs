//! Decodes columns of dates, eight digits per cell, to days since 1970.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::decoder::{AppendError, Cells, ColumnDecoder, Validity, take_values};
use super::swar::{are_digits, digits, parse_eight, suspects, word};
use crate::archive::{Code, try_reserve, with_capacity};
use headland_base::times::{Written, days_since_epoch, parse_date, read_dates};

/// A column of dates.
pub(super) struct Dates {
    values: Vec<i32>,
    /// Whether cells are text, whose dates have other forms than those of dBASE.
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

/// Whether a trimmed cell has no date: writers store a missing one as blanks, one zero or eight zeros.
fn is_missing(cell: &[u8]) -> bool {
    cell.iter().all(|byte| *byte == b'0') && !(2..8).contains(&cell.len())
}

/// The days of a field of dates, and what is said of their order. Wide fields of some writers have `09/01/2026`, month first.
fn parse_declared(cell: &[u8]) -> (Option<i64>, Option<Code>) {
    let Some(written) = std::str::from_utf8(cell).ok().and_then(Written::parse) else { return (None, None) };
    if cell.len() == 8 && cell.iter().all(u8::is_ascii_digit) {
        return (written.year_first(), None);
    }
    let &[_, _, b'/', _, _, b'/', _, _, _, _] = cell else { return (None, None) };
    match written.by_slashes() {
        [None, Some(_)] => (None, Some(Code::DayFirst)),
        [Some(month), Some(day)] if month != day => (Some(month), Some(Code::AmbiguousDate)),
        [month, _] => (month, None),
    }
}

/// The days of a text. A chunk does not have the other rows of its column, so the text itself must show the order of its
/// parts.
fn parse_text(cell: &[u8]) -> (Option<i64>, Option<Code>) {
    let written = std::str::from_utf8(cell).ok().and_then(parse_date);
    let read = |written: Written| match written.year_first() {
        Some(days) => Ok(Some(days)),
        None => read_dates(&[Some(written)], None).map(|dates| dates.days.first().copied().flatten()),
    };
    match written.map_or(Ok(None), read) {
        Ok(days) => (days, None),
        Err(_) => (None, Some(Code::DateOrderUnknown)),
    }
}

#[cold]
fn decode_irregular(cells: &Cells<'_>, row: usize, position: usize, is_text: bool, validity: &mut Validity) -> i32 {
    let (cell, has_more) = cells.text(row);
    if has_more {
        validity.add_issue(Code::AfterNul, cells.number(row));
    }
    let cell = cell.trim_ascii();
    if !is_missing(cell) {
        let (days, order) = if is_text { parse_text(cell) } else { parse_declared(cell) };
        let bad = (days.is_none() && order != Some(Code::DateOrderUnknown)).then_some(Code::BadDate);
        for issue in bad.into_iter().chain(order) {
            validity.add_issue(issue, cells.number(row));
        }
        if let Some(days) = days.and_then(|days| i32::try_from(days).ok()) {
            return days;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_if_they_show_their_order() {
        for cell in ["19700113", "1970-01-13", "1970-1-13", "13/01/1970", "01/13/1970", "13.1.1970"] {
            assert_eq!(parse_text(cell.as_bytes()), (Some(12), None), "{cell:?}");
        }
        assert_eq!(parse_text(b"01/01/1970"), (Some(0), None));
        assert_eq!(parse_text(b"1969-12-31"), (Some(-1), None));
        for cell in ["01/02/2024", "23/06/26", "26-06-23", "230626"] {
            assert_eq!(parse_text(cell.as_bytes()), (None, Some(Code::DateOrderUnknown)), "{cell:?}");
        }
        for cell in ["20230229", "20231301", "241332", "10101", "abcdefgh", "13/13/1970", "aa/01/1970", "0000"] {
            assert_eq!(parse_text(cell.as_bytes()), (None, None), "{cell:?}");
        }
    }

    #[test]
    fn fields_of_dates_are_those_of_dbase_or_month_first() {
        for (cell, days, issue) in [
            ("19700113", Some(12), None),
            ("01/13/1970", Some(12), None),
            ("01/01/1970", Some(0), None),
            ("01/02/1970", Some(1), Some(Code::AmbiguousDate)),
            ("13/01/1970", None, Some(Code::DayFirst)),
        ] {
            assert_eq!(parse_declared(cell.as_bytes()), (days, issue), "{cell}");
        }
        for cell in ["20230229", "1970-01-13", "1970-1-1", "01/13/70", "1/13/1970", "13.01.1970", "241332", "0000"] {
            assert_eq!(parse_declared(cell.as_bytes()), (None, None), "{cell:?}");
        }
        assert!(["", "0", "00000000"].into_iter().all(|cell| is_missing(cell.as_bytes())) && !is_missing(b"0000"));
    }
}
