//! Derives columns as GDAL reads them from the raw cells, to prove what a deviation changed and that all else is equal.

use arrow_array::{Array, ArrayRef};
use chrono::{Datelike, NaiveDate};
use encoding_rs::WINDOWS_1252;
use headland::layer::Layer;
use sha2::{Digest, Sha256};

use crate::canonical_text;
use crate::raw_dbf::Raw;

/// Undoes the deviations of one column: GDAL's cells follow from the raw bytes and have the expected digest. The cells
/// that differ are those that the corpus README allows; their number and the first record match the diagnostic.
pub(crate) fn column(
    layer: &Layer,
    name: &str,
    array: &ArrayRef,
    raw: &Raw,
    position: usize,
    digest: &str,
) -> Result<String, String> {
    let kind = raw.fields[position].kind.to_ascii_uppercase();
    let cells: Vec<(u64, &[u8])> = raw.cells(position).collect();
    if cells.len() != array.len() {
        return Err(format!("{} raw cells for {} rows", cells.len(), array.len()));
    }
    let readings: &[Reading] = if kind == b'D' { &[Reading::Date] } else { TEXT };
    let theirs = readings
        .iter()
        .map(|reading| cells.iter().map(|(_, cell)| reading.line(cell)).collect::<Vec<_>>())
        .find(|lines| canonical_text::hex(&Sha256::digest(lines.join(&b'\n'))) == digest)
        .ok_or("no known reading of GDAL gives the expected digest")?;
    let mut met: Vec<(&str, u64, u64)> = Vec::new();
    for (row, ((number, cell), theirs)) in cells.iter().zip(&theirs).enumerate() {
        let mine = canonical_text::text(array, row).into_bytes();
        if mine == *theirs {
            continue;
        }
        let codes = if kind == b'D' { date(cell, &mine) } else { text(kind, cell, &mine) };
        if codes.is_empty() {
            let show = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
            return Err(format!("record {number}: `{}`, not `{}`, and no deviation", show(&mine), show(theirs)));
        }
        for code in codes {
            match met.iter_mut().find(|(known, ..)| *known == code) {
                Some((_, count, _)) => *count += 1,
                None => met.push((code, 1, *number)),
            }
        }
    }
    if met.is_empty() {
        return Err("no cell differs".to_owned());
    }
    met.sort_unstable();
    for (code, count, first) in &met {
        // A column of a binary type is reported once, and a declared encoding is no repair.
        if *code == "declared" {
            continue;
        }
        let (end, first) = match *code {
            "binary-column" => ("was read as bytes".to_owned(), None),
            _ => (format!("({count} times, first at record {first})"), Some(*first)),
        };
        let start = format!("column `{name}`: ");
        let matches =
            |note: &&headland::layer::Diagnostic| note.code.as_str() == *code && note.message.starts_with(&start);
        let Some(note) = layer.diagnostics().iter().find(matches) else {
            return Err(format!("no diagnostic `{code}` reports the {count} cells that differ"));
        };
        if !note.message.ends_with(&end) || note.record != first {
            return Err(format!("{count} cells differ, first at record {first:?}, but it says: {}", note.message));
        }
    }
    Ok(met.iter().map(|(code, count, _)| format!("{code}: {count} cells")).collect::<Vec<_>>().join(", "))
}

/// How GDAL reads a cell, as a line of canonical text.
enum Reading {
    /// Text of the unchanged bytes: GDAL knows no encoding.
    Bytes,
    /// Text in Latin-1, which GDAL also assumes for the driver byte of Windows.
    Latin1,
    /// Text in Windows-1252; iconv drops the five undefined bytes.
    Windows1252,
    /// A date: digits as one number, or month, day and year with slashes; an invalid one becomes 1970-01-01 or rolls
    /// over.
    Date,
}

const TEXT: &[Reading] = &[Reading::Bytes, Reading::Latin1, Reading::Windows1252];

impl Reading {
    fn line(&self, cell: &[u8]) -> Vec<u8> {
        let text = trimmed(cell);
        let decoded = match self {
            Self::Date => return gdal_date(text).map_or(b"\\N".to_vec(), |date| date.to_string().into_bytes()),
            Self::Bytes => text.to_vec(),
            Self::Latin1 => text.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes(),
            Self::Windows1252 => {
                let known: Vec<u8> = text.iter().copied().filter(|byte| !is_undefined(*byte)).collect();
                WINDOWS_1252.decode_without_bom_handling(&known).0.into_owned().into_bytes()
            }
        };
        if text.is_empty() { b"\\N".to_vec() } else { escaped(&decoded) }
    }
}

/// GDAL's part of a cell: up to the first NUL, without blanks at both ends.
fn trimmed(cell: &[u8]) -> &[u8] {
    let text = cell.split(|byte| *byte == 0).next().unwrap_or_default();
    let start = text.iter().position(|byte| *byte != b' ').unwrap_or(text.len());
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(start, |last| last + 1);
    &text[start..end]
}

fn is_undefined(byte: u8) -> bool {
    matches!(byte, 0x81 | 0x8D | 0x8F | 0x90 | 0x9D)
}

fn escaped(text: &[u8]) -> Vec<u8> {
    let mut line = Vec::new();
    for byte in text {
        match byte {
            b'\\' => line.extend(b"\\\\"),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            other => line.push(*other),
        }
    }
    line
}

fn gdal_date(text: &[u8]) -> Option<NaiveDate> {
    let number = |text: &[u8]| -> i32 {
        text.iter().take_while(|byte| byte.is_ascii_digit()).fold(0, |value, byte| value * 10 + i32::from(byte - b'0'))
    };
    if text.is_empty() || text.starts_with(b"00000000") || text == b"0" {
        return None;
    }
    let (year, month, day) = if text.len() >= 10 && text[2] == b'/' && text[5] == b'/' {
        (number(&text[6..]), number(text), number(&text[3..]))
    } else {
        let all = number(text);
        (all / 10_000, all / 100 % 100, all % 100)
    };
    let epoch = NaiveDate::default();
    let Some(first) = u32::try_from(month).ok().and_then(|month| NaiveDate::from_ymd_opt(year, month, 1)) else {
        return Some(epoch);
    };
    NaiveDate::from_num_days_from_ce_opt(first.num_days_from_ce() + day - 1)
}

/// The deviation of a date: it is null, since the cell is no date of the calendar.
fn date(cell: &[u8], mine: &[u8]) -> Vec<&'static str> {
    let text = trimmed(cell);
    let is_date = text.len() == 8
        && std::str::from_utf8(text).is_ok_and(|text| NaiveDate::parse_from_str(text, "%Y%m%d").is_ok());
    if mine == b"\\N" && !is_date { vec!["bad-date"] } else { Vec::new() }
}

/// The deviations of a text: leading blanks stay, invalid UTF-8 is Windows-1252, a binary type keeps its bytes.
fn text(kind: u8, cell: &[u8], mine: &[u8]) -> Vec<&'static str> {
    if b"OBYT@+IGPQ".contains(&kind) {
        return if mine == canonical_text::hex(cell).as_bytes() { vec!["binary-column"] } else { Vec::new() };
    }
    let text = cell.split(|byte| *byte == 0).next().unwrap_or_default();
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    let mut codes = if blanks > 0 { vec!["leading-blanks"] } else { Vec::new() };
    let kept = [&text[..blanks], trimmed(cell)].concat();
    // A declared encoding comes first: a .cpg unknown to GDAL, or a driver byte that GDAL maps to another code page.
    for label in ["windows-1252", "windows-1250"] {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        if !kept.is_ascii() && escaped(encoding.decode_without_bom_handling(&kept).0.as_bytes()) == mine {
            let is_repaired = label == "windows-1252"
                && (std::str::from_utf8(&kept).is_err() || kept.iter().any(|byte| is_undefined(*byte)));
            codes.push(if is_repaired { "text-recoded" } else { "declared" });
            return codes;
        }
    }
    let mazovia: String = kept.iter().map(|byte| of_mazovia(*byte)).collect();
    if !kept.is_ascii() && mazovia.as_bytes() == mine {
        codes.push("declared");
        return codes;
    }
    if escaped(&kept) == mine { codes } else { Vec::new() }
}

/// A letter of Mazovia, as far as the corpus has them: Polish letters; the others equal code page 437.
fn of_mazovia(byte: u8) -> char {
    match byte {
        0x88 => 'ê',
        0x89 => 'ë',
        0x98 => 'Ś',
        0x9E => 'ś',
        0xD7 => '╫',
        0xE7 => 'τ',
        0xF5 => '⌡',
        other => char::from(other),
    }
}
