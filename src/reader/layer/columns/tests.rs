//! Tests of batched columns: fixed types, taken arrays, and the bits of every number.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::decoder::up_to_nul;
use super::number::{Cell, IntegerCell, parse_float, parse_integer};
use super::{AppendError, CellError, Chunk, Column, ColumnType};
use crate::archive::{Code, Encoding, Field};

/// Records of one field with any content.
fn records(cells: &[&str], width: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for cell in cells {
        bytes.push(b' ');
        bytes.extend(cell.bytes().chain(std::iter::repeat(b' ')).take(width));
    }
    bytes
}

fn field(kind: u8, width: usize, decimals: u8) -> Field {
    Field { name: b"f".to_vec(), kind, offset: 1, width, decimals }
}

fn append(column: &mut Column, cells: &[&str], width: usize, first: u64) -> Result<(), CellError> {
    let chunk = Chunk { bytes: &records(cells, width), record_size: width + 1, numbers: None, first };
    column.append(&chunk, &Encoding::from_name("UTF-8").unwrap()).map_err(|refusal| match refusal {
        AppendError::Cell(cell_error) => cell_error,
        AppendError::OutOfMemory(lack) => panic!("{lack:?}"),
    })
}

fn fixed(kind: u8, width: usize, decimals: u8, forced: Option<&str>) -> Column {
    let forced = forced.map(|name| ColumnType::from_name(name).unwrap());
    Column::fixed("f".to_owned(), field(kind, width, decimals), 4, forced)
}

/// All cells as one array of the requested type.
fn forced(kind: u8, width: usize, name: &str, cells: &[&str]) -> Result<ArrayRef, CellError> {
    let mut column = fixed(kind, width, 0, Some(name));
    append(&mut column, cells, width, 0)?;
    Ok(column.take(false).unwrap())
}

#[test]
fn decimals_widen_integers_only_in_a_free_column() {
    let cells = ["   1", "  -2", "    ", " 3.5", "****", "   4"];
    let mut free = Column::new("f".to_owned(), field(b'N', 4, 0), 6);
    append(&mut free, &cells, 4, 10).unwrap();
    let array = free.take(false).unwrap();
    let values: Vec<Option<f64>> = array.as_primitive::<Float64Type>().iter().collect();
    assert_eq!(values, [Some(1.0), Some(-2.0), None, Some(3.5), None, Some(4.0)]);

    let mut column = fixed(b'N', 4, 0, None);
    let cell_error = append(&mut column, &cells, 4, 10).unwrap_err();
    assert_eq!((cell_error.row, cell_error.record), (3, 13));
    assert!(cell_error.reason.starts_with("`3.5` is not a whole number"), "{}", cell_error.reason);
    assert_eq!(column.data_type(), DataType::Int32);
    let array = column.take(false).unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(1), Some(-2), None]);
}

#[test]
fn taken_column_is_empty_and_keeps_its_issue_counts() {
    let mut column = fixed(b'N', 9, 0, None);
    append(&mut column, &["1", "x", "3"], 9, 0).unwrap();
    let first = column.take(false).unwrap();
    assert_eq!((first.len(), first.null_count()), (3, 1));
    append(&mut column, &["4", "5", "6", "y"], 9, 3).unwrap();
    let second = column.take(false).unwrap();
    assert_eq!(second.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(4), Some(5), Some(6), None]);
    assert_eq!(column.take(false).unwrap().len(), 0);
    let mut diagnostics = Vec::new();
    column.issues().report("t.dbf", Some("f"), &mut diagnostics);
    assert!(diagnostics[0].message.contains("(2 times, first at record 1)"), "{}", diagnostics[0].message);
}

#[test]
fn text_and_logicals_are_taken_in_batches() {
    let mut text = fixed(b'C', 40, 0, None);
    let mut logical = fixed(b'L', 1, 0, None);
    for batch in 0..3 {
        append(&mut text, &["corn", "corn", "", "Ölraps", "a text of more than thirty-two bytes"], 40, batch).unwrap();
        append(&mut logical, &["T", "?", "n"], 1, batch).unwrap();
        let found = text.take(false).unwrap();
        let expected = [Some("corn"), Some("corn"), None, Some("Ölraps"), Some("a text of more than thirty-two bytes")];
        assert_eq!(found.as_string::<i64>().iter().collect::<Vec<_>>(), expected);
        let found = logical.take(false).unwrap();
        assert_eq!(found.as_boolean().iter().collect::<Vec<_>>(), [Some(true), None, Some(false)]);
    }
}

#[test]
fn any_field_accepts_a_requested_type() {
    let array = forced(b'N', 18, "int32", &["12", "-7", "", "2147483647"]).unwrap();
    assert_eq!(
        array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(),
        [Some(12), Some(-7), None, Some(i32::MAX)]
    );
    let cell_error = forced(b'N', 18, "int32", &["1", "2147483648"]).unwrap_err();
    assert_eq!((cell_error.record, &*cell_error.reason), (1, "`2147483648` is out of range for its type"));
    let array = forced(b'C', 80, "int64", &["12", " 9007199254740993 "]).unwrap();
    assert_eq!(array.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [Some(12), Some(9_007_199_254_740_993)]);
    let array = forced(b'N', 9, "float64", &["12", "1.5"]).unwrap();
    assert_eq!(array.as_primitive::<Float64Type>().values(), &[12.0, 1.5]);
    let array = forced(b'N', 9, "string", &["     12.0", "", "       -3"]).unwrap();
    assert_eq!(array.as_string::<i64>().iter().collect::<Vec<_>>(), [Some("12.0"), None, Some("-3")]);
    let array = forced(b'C', 10, "date", &["19700102", "nonsense"]).unwrap();
    assert_eq!(
        array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(),
        [Some(1), None],
        "where nulls are wanted"
    );
    let array = forced(b'C', 20, "date", &["1970-01-02", " 1969-12-31", "1970-13-01", "1970-1-1", ""]).unwrap();
    let days = [Some(1), Some(-1), None, Some(0), None];
    assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), days);
    let array = forced(b'D', 10, "date", &["1970-01-02", "19700103"]).unwrap();
    assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [None, Some(2)]);
    let cells = ["T", " y ", "1", "F", "n", "0", "?", "", "Tom", "false", "1,", "***"];
    let array = forced(b'C', 5, "bool", &cells).unwrap();
    let known = [Some(true), Some(true), Some(true), Some(false), Some(false), Some(false)];
    assert_eq!(array.as_boolean().iter().collect::<Vec<_>>(), [&known[..], &[None; 6]].concat());
    for number in ["2", "-1", "10", "01", "1.0"] {
        let cell_error = forced(b'N', 5, "bool", &["1", number]).unwrap_err();
        assert_eq!((cell_error.record, cell_error.reason), (1, format!("`{number}` is not a truth value")));
    }
    let array = forced(b'L', 5, "bool", &["True", "no"]).unwrap();
    assert_eq!(array.as_boolean().iter().collect::<Vec<_>>(), [Some(true), Some(false)], "a field of logicals");
    assert_eq!(ColumnType::from_name("decimal"), None);
}

#[test]
fn strict_column_rejects_the_first_invalid_cell() {
    let found = |kind: u8, name: &str, cells: &[&str]| {
        let mut column = fixed(kind, 10, 0, Some(name)).with_strict_type(ColumnType::from_name(name).unwrap());
        append(&mut column, cells, 10, 40)
    };
    for (name, good, bad, why) in [
        ("int32", "12", "x", "is not a number"),
        ("int64", "1e3", "1,5", "is not a number"),
        ("float64", "1.5", "nan", "is not a number"),
        ("date", "2026-09-01", "2026-13-01", "is not a date"),
        ("bool", "T", "Tom", "is not a truth value"),
    ] {
        assert_eq!(found(b'C', name, &[good, "", good]), Ok(()), "{name}");
        let cell_error = found(b'C', name, &[good, "", bad, good, bad, "77.5"]).unwrap_err();
        assert_eq!((cell_error.row, cell_error.record, cell_error.is_invalid), (2, 42, true), "{name}");
        assert_eq!(cell_error.reason, format!("`{bad}` {why}"));
    }
    // A cell error before the first invalid text is reported first.
    let cell_error = found(b'C', "int32", &["1", "1.5", "x"]).unwrap_err();
    assert_eq!((cell_error.record, cell_error.is_invalid), (41, false));
    // In a field of the type itself, invalid cells are null.
    for (kind, name) in [(b'N', "int32"), (b'F', "float64"), (b'D', "date"), (b'L', "bool"), (b'N', "string")] {
        assert_eq!(found(kind, name, &["x"]), Ok(()), "{name}");
    }
}

#[test]
fn text_after_nul_is_reported_for_every_field_type() {
    for (kind, width, decimals, plain, hidden) in [
        (b'C', 8, 0, ["ab\0\0 \0", "\0", "ab"], ["ab\0c", "\0x", "a  b\0  c"]),
        (b'N', 8, 0, ["1\0\0 \0", "\0", "1"], ["1\0 2", " \0 1", "x\0y"]),
        (b'F', 8, 2, ["1.5\0", "\0", "1.5"], ["1.5\0 7", "\0 1", "-\0-"]),
        (b'D', 10, 0, ["20260901\0", "\0", "20260901"], ["20260901\x001", "\0 1", "2026\x000901"]),
        (b'L', 4, 0, ["T\0", "\0", "T"], ["T\0F", "\0 T", "?\0T"]),
    ] {
        let reported = |cells: &[&str]| {
            let mut column = fixed(kind, width, decimals, None);
            append(&mut column, cells, width, 5).unwrap();
            let mut diagnostics = Vec::new();
            column.issues().report("t.dbf", Some("f"), &mut diagnostics);
            let found = diagnostics.into_iter().find(|diagnostic| diagnostic.code == Code::AfterNul);
            found.map(|diagnostic| (diagnostic.record, diagnostic.message.contains("(3 times")))
        };
        assert_eq!(reported(&plain), None, "{}", char::from(kind));
        assert_eq!(reported(&hidden), Some((Some(5), true)), "{}", char::from(kind));
    }
    // A column that widens reports the cell that caused it once.
    let mut column = Column::new("f".to_owned(), field(b'N', 8, 0), 2);
    append(&mut column, &["1", "1.5\0x"], 8, 0).unwrap();
    let mut diagnostics = Vec::new();
    column.issues().report("t.dbf", None, &mut diagnostics);
    let reported = diagnostics.iter().find(|diagnostic| diagnostic.code == Code::AfterNul).unwrap();
    assert!(reported.message.contains("(1 times, first at record 1)"), "{}", reported.message);
}

/// A random cell of N(width, decimals): mostly a declared number, else another notation or no number.
fn cell(random: &mut fastrand::Rng, width: usize, decimals: usize) -> String {
    let mut digits = |most: usize| (0..random.usize(0..=most)).map(|_| random.digit(10)).collect::<String>();
    let whole = width.saturating_sub(if decimals == 0 { 0 } else { decimals + 1 });
    let (long, short, free) = (digits(whole), digits(whole.min(4)), (digits(12), digits(9)));
    let fraction: String = (0..decimals).map(|_| random.digit(10)).collect();
    let point = if decimals == 0 { "" } else { "." };
    let sign = *random.choice(&["", "", "-", "-", "+"]).unwrap_or(&"");
    let text = match random.u8(0..16) {
        0..=4 => format!("{sign}{long}{point}{fraction}"),
        5..=9 => format!("{sign}{short}{point}{fraction}"),
        // Numbers with trailing zeros, and numbers rounded to the decimals.
        10 => format!("{:.decimals$}", f64::from(random.i16(..)) / 8.0),
        11 => format!("{:.decimals$}", random.f64() * 2_000.0 - 1_000.0),
        12 => return format!("{sign}{}.{}", free.0, free.1),
        13 => format!("{sign}{}.{}e{}", free.0, free.1, random.i16(-400..400)),
        14 => (0..width).map(|_| *random.choice(b" 0123456789.+-*").unwrap_or(&b' ') as char).collect(),
        _ => (0..width).map(|_| random.char('\0'..='~')).collect(),
    };
    let text: String = text.chars().take(width).collect();
    if random.u8(0..16) == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
}

/// Calls `check` with `count` cells of every width and decimals, times `HEADLAND_SERIES`.
fn columns(count: usize, mut check: impl FnMut(usize, usize, &[&str])) {
    let factor = std::env::var("HEADLAND_SERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let count = count * factor;
    let mut random = fastrand::Rng::with_seed(7);
    for (width, decimals) in (1..=30).flat_map(|width| (0..=20).map(move |decimals| (width, decimals))) {
        let cells: Vec<String> = (0..count).map(|_| cell(&mut random, width, decimals)).collect();
        check(width, decimals, &cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn floats_match_the_standard_library() {
    columns(400, |width, decimals, cells| {
        let bytes = records(cells, width);
        let mut column = fixed(b'F', width, u8::try_from(decimals).unwrap(), None);
        append(&mut column, cells, width, 0).unwrap();
        let array = column.take(false).unwrap();
        let found = array.as_primitive::<Float64Type>();
        for (row, record) in bytes.chunks(width + 1).enumerate() {
            let text = String::from_utf8_lossy(&record[1..]);
            let value = found.is_valid(row).then(|| found.value(row).to_bits());
            let expected = match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() && !text.contains(char::is_control) => Some(number.to_bits()),
                _ => match parse_float(up_to_nul(&record[1..]).0) {
                    Cell::Value(number) => Some(number.to_bits()),
                    _ => None,
                },
            };
            assert_eq!(value, expected, "{text:?} of {width}, {decimals}");
        }
    });
}

#[test]
fn integers_match_the_general_parser() {
    columns(100, |width, _, cells| {
        for cell in cells {
            let bytes = records(&[cell], width);
            let mut column = fixed(b'N', width, 0, Some("int64"));
            // Three times, since the first cells of a chunk may use another path.
            let found = append(&mut column, &[cell, cell, cell], width, 0).map(|()| column.take(false).unwrap());
            match (parse_integer(up_to_nul(&bytes[1..]).0), found) {
                (IntegerCell::Fraction(_), Err(_)) => {}
                (IntegerCell::Cell(Cell::Value(value)), Ok(found)) => {
                    assert_eq!(found.as_primitive::<Int64Type>().values(), &[value; 3], "{cell:?}");
                }
                (IntegerCell::Cell(_), Ok(found)) => assert_eq!(found.null_count(), 3, "{cell:?}"),
                (expected, found) => panic!("{cell:?}: {expected:?}, {found:?}"),
            }
        }
    });
}
