//! Parsers of text and logical cells.

use super::decoder::up_to_nul;
use super::number::{Cell, parse_float};
use crate::archive::{Code, Encoding};
use crate::layer::issues::Issue;

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
