//! Converts columns to the canonical text whose digests the corpus stores, and computes their sums as it defines them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use chrono::NaiveDate;
use sha2::{Digest, Sha256};

/// Name of a type in the corpus.
pub(crate) fn type_name(kind: &DataType) -> &'static str {
    match kind {
        DataType::LargeUtf8 => "string",
        DataType::Int32 => "int32",
        DataType::Int64 => "int64",
        DataType::Float64 => "double",
        DataType::Date32 => "date32[day]",
        DataType::Boolean => "bool",
        DataType::LargeBinary => "binary",
        other => panic!("no column has the type {other}"),
    }
}

/// One value as canonical text.
pub(crate) fn text(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "\\N".to_owned();
    }
    match array.data_type() {
        DataType::LargeUtf8 => {
            array.as_string::<i64>().value(row).replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
        }
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => repr(array.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            NaiveDate::from_num_days_from_ce_opt(days + 719_163).unwrap().to_string()
        }
        DataType::LargeBinary => hex(array.as_binary::<i64>().value(row)),
        other => panic!("no column has the type {other}"),
    }
}

/// Digest of a column.
pub(crate) fn sha256(array: &ArrayRef) -> String {
    let mut digest = Sha256::new();
    for row in 0..array.len() {
        if row > 0 {
            digest.update(b"\n");
        }
        digest.update(text(array, row).as_bytes());
    }
    hex(&digest.finalize())
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0F)]).flatten().collect()
}

/// Text of the sum, the smallest and the largest value of a column, where it has them.
pub(crate) type Summary = (Option<String>, Option<String>, Option<String>);

/// Summary of a column; `None` for bytes, which have no useful order.
pub(crate) fn summary(array: &ArrayRef) -> Option<Summary> {
    let lines = |row: Option<usize>| row.map(|row| text(array, row));
    let by = |better: &dyn Fn(usize, usize) -> bool| {
        (0..array.len())
            .filter(|row| array.is_valid(*row))
            .reduce(|best, row| if better(row, best) { row } else { best })
    };
    let exact = |values: &mut dyn Iterator<Item = i128>| Some(values.sum::<i128>().to_string());
    Some(match array.data_type() {
        DataType::LargeUtf8 => {
            // The corpus orders canonical lines, and stores 80 letters of each.
            let texts: Vec<String> = (0..array.len()).map(|row| text(array, row)).collect();
            let (least, most) = (by(&|a, b| texts[a] < texts[b]), by(&|a, b| texts[a] > texts[b]));
            let start = |row: Option<usize>| row.map(|row| texts[row].chars().take(80).collect());
            (None, start(least), start(most))
        }
        DataType::Int32 => {
            let values = array.as_primitive::<Int32Type>();
            let (least, most) =
                (by(&|a, b| values.value(a) < values.value(b)), by(&|a, b| values.value(a) > values.value(b)));
            (exact(&mut values.iter().flatten().map(i128::from)), lines(least), lines(most))
        }
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>();
            let (least, most) =
                (by(&|a, b| values.value(a) < values.value(b)), by(&|a, b| values.value(a) > values.value(b)));
            (exact(&mut values.iter().flatten().map(i128::from)), lines(least), lines(most))
        }
        DataType::Float64 => {
            let values: Vec<f64> = array.as_primitive::<Float64Type>().iter().flatten().collect();
            let finite = || values.iter().copied().filter(|value| value.is_finite());
            (Some(repr(exact_sum(&values))), finite().reduce(f64::min).map(repr), finite().reduce(f64::max).map(repr))
        }
        DataType::Date32 => {
            let values = array.as_primitive::<Date32Type>();
            let (least, most) =
                (by(&|a, b| values.value(a) < values.value(b)), by(&|a, b| values.value(a) > values.value(b)));
            (None, lines(least), lines(most))
        }
        DataType::Boolean => {
            let values = array.as_boolean();
            let (least, most) =
                (by(&|a, b| !values.value(a) & values.value(b)), by(&|a, b| values.value(a) & !values.value(b)));
            (None, lines(least), lines(most))
        }
        _ => return None,
    })
}

/// The exact sum, rounded once, as Python's `math.fsum` returns it.
pub(crate) fn exact_sum(values: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for value in values {
        let mut x = *value;
        let mut kept = Vec::new();
        for &y in &partials {
            let (large, small) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
            let high = large + small;
            let low = small - (high - large);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        kept.push(x);
        partials = kept;
    }
    partials.iter().rev().sum()
}

/// A float as Python's `repr` writes it.
pub(crate) fn repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if (-4..16).contains(&exponent) || value == 0.0 {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[test]
fn floats_are_written_as_python_writes_them() {
    for (value, text) in [
        (1.0, "1.0"),
        (1e16, "1e+16"),
        (1e15, "1000000000000000.0"),
        (0.0001, "0.0001"),
        (0.000_01, "1e-05"),
        (-0.0, "-0.0"),
    ] {
        assert_eq!(repr(value), text);
    }
    assert_eq!(exact_sum(&[1e100, 1.0, -1e100]).to_bits(), 1.0_f64.to_bits());
}
