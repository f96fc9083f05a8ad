//! Cells of text, dates and logicals: what their bytes mean.

use chrono::{Datelike, NaiveDate};

use super::findings::Finding;
use super::number::{Cell, trimmed};
use crate::archive::Encoding;

/// The days from year 1 to 1970, where Arrow's dates begin.
const EPOCH: i32 = 719_163;

/// Adds the text of a cell to `data`; whether it is a value, since blank means none.
pub(super) fn text(cell: &[u8], encoding: &Encoding, data: &mut Vec<u8>, mut note: impl FnMut(Finding)) -> bool {
    let end = cell.iter().position(|byte| *byte == 0).unwrap_or(cell.len());
    let cell = cell.get(..end).unwrap_or_default();
    let end = cell.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    let cell = cell.get(..end).unwrap_or_default();
    if cell.is_empty() {
        return false;
    }
    if cell.first() == Some(&b' ') {
        note(Finding::LeadingBlanks);
    }
    if cell.is_ascii() {
        data.extend_from_slice(cell);
    } else {
        let (text, doubtful) = encoding.decode(cell);
        if doubtful {
            note(Finding::TextRecoded);
        } else if encoding.is_undeclared() {
            note(Finding::TextUndeclared);
        }
        data.extend_from_slice(text.as_bytes());
    }
    true
}

/// The days since 1970 of a cell such as `20260901`.
pub(super) fn date(cell: &[u8]) -> Cell<i32> {
    let text = trimmed(cell);
    if text.iter().all(|byte| *byte == b'0') {
        return Cell::Null;
    }
    if text.len() != 8 || !text.iter().all(u8::is_ascii_digit) {
        return Cell::Odd;
    }
    let number = |part: Option<&[u8]>| {
        part.unwrap_or_default().iter().fold(0_u32, |value, byte| value * 10 + u32::from(byte.wrapping_sub(b'0')))
    };
    let year = i32::try_from(number(text.get(..4))).unwrap_or(0);
    match NaiveDate::from_ymd_opt(year, number(text.get(4..6)), number(text.get(6..8))) {
        Some(date) if year > 0 => Cell::Value(date.num_days_from_ce() - EPOCH),
        _ => Cell::Odd,
    }
}

/// What a logical cell says.
pub(super) fn logical(cell: &[u8], mut note: impl FnMut(Finding)) -> Option<bool> {
    match trimmed(cell).first() {
        Some(b'T' | b't' | b'Y' | b'y') => Some(true),
        Some(b'F' | b'f' | b'N' | b'n') => Some(false),
        Some(digit @ (b'0' | b'1')) => {
            note(Finding::LogicalDigit);
            Some(*digit == b'1')
        }
        Some(b'?') => None,
        None => {
            note(Finding::BlankLogical);
            None
        }
        Some(_) => {
            note(Finding::BadLogical);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_are_none_are_odd_and_zeros_are_null() {
        assert_eq!(date(b"19700102"), Cell::Value(1));
        assert_eq!(date(b"19691231"), Cell::Value(-1));
        for cell in ["        ", "00000000", "0", ""] {
            assert_eq!(date(cell.as_bytes()), Cell::Null, "{cell:?}");
        }
        for cell in ["20230229", "20231301", "2024-1-5", "241332", "10101   ", "abcdefgh"] {
            assert_eq!(date(cell.as_bytes()), Cell::Odd, "{cell:?}");
        }
    }

    #[test]
    fn logicals_have_many_letters_and_blank_is_null() {
        let mut notes = Vec::new();
        let cells: [&[u8]; 8] = [b"T", b"y", b"f", b"N", b"?", b" ", b"1", b"X"];
        let found: Vec<_> = cells.iter().map(|cell| logical(cell, |note| notes.push(note))).collect();
        assert_eq!(found, [Some(true), Some(true), Some(false), Some(false), None, None, Some(true), None]);
        assert_eq!(notes, [Finding::BlankLogical, Finding::LogicalDigit, Finding::BadLogical]);
    }

    #[test]
    fn text_keeps_leading_blanks_and_loses_trailing_ones() {
        let encoding = Encoding::named("UTF-8").unwrap();
        let mut data = Vec::new();
        let mut notes = Vec::new();
        assert!(text(b"  ab  \0xyz", &encoding, &mut data, |note| notes.push(note)));
        assert!(!text(b"    ", &encoding, &mut data, |note| notes.push(note)));
        assert_eq!(data, b"  ab");
        assert_eq!(notes, [Finding::LeadingBlanks]);
    }
}
