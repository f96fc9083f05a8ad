//! Parsers of text, date and logical cells.

use super::decoder::up_to_nul;
use super::number::{Cell, parse_float};
use crate::archive::{Code, Encoding};
use crate::layer::issues::Issue;

/// Days from 0000-03-01 to 1970-01-01, the epoch of Arrow dates.
const EPOCH: i32 = 719_468;

/// Appends the decoded text of a cell to `data`. Returns false if the cell is blank, which is null.
pub(super) fn append_text(cell: &[u8], encoding: &Encoding, data: &mut Vec<u8>, mut report: impl FnMut(Issue)) -> bool {
    let (cell, has_more) = up_to_nul(cell);
    if has_more {
        report(Code::AfterNul.into());
    }
    let end = cell.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    let cell = cell.get(..end).unwrap_or_default();
    if cell.is_empty() {
        return false;
    }
    if cell.first() == Some(&b' ') {
        report(Code::LeadingBlanks.into());
    }
    if cell.is_ascii() {
        data.extend_from_slice(cell);
    } else {
        let (decoded, decode_issue) = encoding.decode(cell);
        match decode_issue {
            Some(decode_issue) => report(decode_issue.into()),
            None if encoding.is_undeclared() => report(Code::TextUndeclared.into()),
            None => {}
        }
        data.extend_from_slice(decoded.as_bytes());
    }
    true
}

/// Checks the order of day and month in a date with slashes. `None` if the date does not show it.
pub(super) fn slash_date_order(cell: &[u8]) -> Option<Code> {
    let [m1, m2, b'/', d1, d2, b'/', _, _, _, _] = cell.trim_ascii() else { return None };
    let number = |tens: &u8, ones: &u8| {
        let digit = |byte: &u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9);
        Some(digit(tens)? * 10 + digit(ones)?)
    };
    match (number(m1, m2)?, number(d1, d2)?) {
        (first @ 1..=12, second @ 1..=12) if first != second => Some(Code::AmbiguousDate),
        (13..=31, 1..=12) => Some(Code::DayFirst),
        _ => None,
    }
}

/// Parses `20260901`, or `09/01/2026` in a column wide enough, to days since 1970.
pub(super) fn parse_date(cell: &[u8]) -> Cell<i32> {
    let reordered;
    let digits = match cell.trim_ascii() {
        [m1, m2, b'/', d1, d2, b'/', y1, y2, y3, y4] => {
            reordered = [*y1, *y2, *y3, *y4, *m1, *m2, *d1, *d2];
            &reordered
        }
        digits => digits,
    };
    // Writers store a missing date as blanks, one zero or eight zeros.
    if digits.iter().all(|byte| *byte == b'0') && !(2..8).contains(&digits.len()) {
        return Cell::Null;
    }
    if digits.len() != 8 || !digits.iter().all(u8::is_ascii_digit) {
        return Cell::Invalid;
    }
    let number = digits.iter().fold(0_u32, |value, byte| value * 10 + u32::from(byte.wrapping_sub(b'0')));
    days_since_epoch(number / 10_000, number / 100 % 100, number % 100).map_or(Cell::Invalid, Cell::Value)
}

/// Days from 1970-01-01 to a date. `None` if the date is not in the calendar.
///
/// Algorithm `days_from_civil`: <https://howardhinnant.github.io/date_algorithms.html>.
#[inline]
pub(super) fn days_since_epoch(year: u32, month: u32, day: u32) -> Option<i32> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if year == 0 || year > 9_999 || day == 0 || day > longest {
        return None;
    }
    // A year that starts in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let since_zero = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
    i32::try_from(since_zero).ok().map(|since| since - EPOCH)
}

/// Parses a logical cell by its first letter.
pub(super) fn parse_logical(cell: &[u8], mut report: impl FnMut(Code)) -> Option<bool> {
    match cell.trim_ascii().first() {
        Some(b'T' | b't' | b'Y' | b'y') => Some(true),
        Some(b'F' | b'f' | b'N' | b'n') => Some(false),
        Some(digit @ (b'0' | b'1')) => {
            report(Code::LogicalDigit);
            Some(*digit == b'1')
        }
        Some(b'?') => None,
        None => {
            report(Code::BlankLogical);
            None
        }
        Some(_) => {
            report(Code::BadLogical);
            None
        }
    }
}

/// Parses a Boolean from another field type: one letter or digit. `None` for another number, which would be lost.
pub(super) fn parse_requested_logical(cell: &[u8]) -> Option<Cell<bool>> {
    Some(match cell.trim_ascii() {
        [b'T' | b't' | b'Y' | b'y' | b'1'] => Cell::Value(true),
        [b'F' | b'f' | b'N' | b'n' | b'0'] => Cell::Value(false),
        [] | [b'?'] => Cell::Null,
        cell => match parse_float(cell) {
            Cell::Value(_) => return None,
            Cell::Null => Cell::Null,
            Cell::Invalid => Cell::Invalid,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_dates_are_invalid_and_zeros_are_null() {
        assert_eq!(parse_date(b"19700102"), Cell::Value(1));
        assert_eq!(parse_date(b"19691231"), Cell::Value(-1));
        assert_eq!(parse_date(b"01/02/1970    "), Cell::Value(1));
        for cell in ["        ", "00000000", "0", ""] {
            assert_eq!(parse_date(cell.as_bytes()), Cell::Null, "{cell:?}");
        }
        for cell in
            ["20230229", "20231301", "2024-1-5", "241332", "10101   ", "abcdefgh", "13/01/1970", "aa/01/1970", "0000"]
        {
            assert_eq!(parse_date(cell.as_bytes()), Cell::Invalid, "{cell:?}");
        }
    }

    #[test]
    fn slash_dates_give_their_order() {
        for (cell, order) in [
            ("01/02/2024", Some(Code::AmbiguousDate)),
            (" 12/11/2024 ", Some(Code::AmbiguousDate)),
            ("13/12/2024", Some(Code::DayFirst)),
            ("31/01/2024", Some(Code::DayFirst)),
            ("02/02/2024", None),
            ("12/13/2024", None),
            ("32/01/2024", None),
            ("13/13/2024", None),
            ("00/01/2024", None),
            ("a1/02/2024", None),
            ("01/02/24", None),
            ("20240102", None),
        ] {
            assert_eq!(slash_date_order(cell.as_bytes()), order, "{cell}");
        }
    }

    #[test]
    fn days_match_the_calendar() {
        let mut expected = chrono::NaiveDate::from_ymd_opt(1, 1, 1).unwrap();
        let first = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        for (year, month, day) in (1..=2_500_u32)
            .flat_map(|year| (0..=13).map(move |month| (year, month)))
            .flat_map(|(year, month)| (0..=32).map(move |day| (year, month, day)))
        {
            if let Some(found) = days_since_epoch(year, month, day) {
                assert_eq!(i64::from(found), (expected - first).num_days(), "{year}-{month}-{day}");
                expected = expected.succ_opt().unwrap();
            }
        }
        assert_eq!(expected, chrono::NaiveDate::from_ymd_opt(2501, 1, 1).unwrap());
        assert!(
            days_since_epoch(9_999, 12, 31).is_some()
                && days_since_epoch(0, 1, 1).is_none()
                && days_since_epoch(10_000, 1, 1).is_none()
        );
    }

    #[test]
    fn logicals_accept_letters_and_blank_is_null() {
        let mut issues = Vec::new();
        let cells: [&[u8]; 8] = [b"T", b"y", b"f", b"N", b"?", b" ", b"1", b"X"];
        let found: Vec<_> = cells.iter().map(|cell| parse_logical(cell, |issue| issues.push(issue))).collect();
        assert_eq!(found, [Some(true), Some(true), Some(false), Some(false), None, None, Some(true), None]);
        assert_eq!(issues, [Code::BlankLogical, Code::LogicalDigit, Code::BadLogical]);
    }

    #[test]
    fn text_keeps_leading_blanks_only() {
        let encoding = Encoding::from_name("UTF-8").unwrap();
        let mut data = Vec::new();
        let mut issues = Vec::new();
        assert!(append_text(b"  ab  \0xyz", &encoding, &mut data, |issue| issues.push(issue)));
        assert!(!append_text(b"    ", &encoding, &mut data, |issue| issues.push(issue)));
        assert_eq!(data, b"  ab");
        assert!(
            append_text(b"a\0 \0", &encoding, &mut data, |issue| issues.push(issue)),
            "blanks and NULs are nothing"
        );
        assert_eq!(issues, [Code::AfterNul, Code::LeadingBlanks].map(Issue::from));
    }
}
