//! Reads the cells of a column as numbers, integers, states or texts, in the forms that exports write.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray};
use arrow_schema::DataType;

use headland_reader::layer::{Layer, floats};

/// 2^53: all integers below it are floats.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Arrays of a column, or why its cells are not what is needed.
pub(crate) type Cells = Result<Vec<ArrayRef>, String>;

pub(crate) fn arrays(layer: &Layer, column: usize) -> impl Iterator<Item = &ArrayRef> {
    layer.batches().iter().filter_map(move |batch| batch.columns().get(column))
}

/// The texts of a column without the blanks around them; empty ones and other cells are left out.
fn filled(layer: &Layer, column: usize) -> impl Iterator<Item = &str> {
    let texts = arrays(layer, column).filter_map(|array| array.as_string_opt::<i64>());
    texts.flat_map(|array| array.iter().flatten()).map(trimmed).filter(|text| !text.is_empty())
}

/// A text without blanks and NULs around it, which fixed widths leave.
pub(crate) fn trimmed(text: &str) -> &str {
    // Most texts have none, and each row is asked.
    if let [first, .., last] = text.as_bytes()
        && first.is_ascii_graphic()
        && last.is_ascii_graphic()
    {
        return text;
    }
    text.trim_matches(|sign: char| sign.is_whitespace() || sign == '\0')
}

/// All values of a column; null is not a number. Texts are read if [`decimal_sign`] finds their form.
pub(crate) fn numbers(layer: &Layer, column: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(layer.len());
    for array in arrays(layer, column) {
        if let Some(numbers) = floats(array) {
            match numbers.null_count() {
                0 => values.extend_from_slice(numbers.values()),
                _ => values.extend(numbers.iter().map(|cell| cell.unwrap_or(f64::NAN))),
            }
        } else {
            let number = |text: &str| number(trimmed(text), ',').or_else(|| number(trimmed(text), '.'));
            let cells = array.as_string::<i64>().iter();
            values.extend(cells.map(|cell| cell.and_then(number).unwrap_or(f64::NAN)));
        }
    }
    values
}

/// A number with this decimal sign.
fn number(text: &str, sign: char) -> Option<f64> {
    let is_number = |letter: char| letter.is_ascii_digit() || "+-eE".contains(letter) || letter == sign;
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    (has_digit && text.chars().all(is_number)).then(|| text.replace(sign, ".").parse().ok()).flatten()
}

/// The decimal sign of a column of texts that are all numbers of one form, or why they are not.
///
/// `9,123` in every cell can be nine thousand or nine, so that three decimals behind each comma are refused.
pub(crate) fn decimal_sign(layer: &Layer, column: usize) -> Result<char, String> {
    let mut cells = filled(layer, column).peekable();
    if cells.peek().is_none() {
        return Err("it is empty".to_owned());
    }
    let other = |sign| filled(layer, column).find(|text| number(text, sign).is_none());
    let sign = match (other('.'), other(',')) {
        (None, _) => '.',
        (_, None) => ',',
        (_, Some(text)) => return Err(unreadable(layer, column, text)),
    };
    let is_grouped = |text: &str| {
        let digits = text.trim_start_matches(['+', '-']);
        let is_group = |(whole, part): (&str, &str)| part.len() == 3 && whole != "0" && whole.len() <= 3;
        // Without a sign, only numbers below a thousand have no group.
        digits.split_once(sign).map_or(sign == ',' || digits.len() <= 3, is_group)
    };
    let with_sign = || filled(layer, column).filter(|text| text.contains(sign));
    // Decimals of one length have it in all cells.
    let is_uniform = sign == '.' && filled(layer, column).all(|text| text.contains(sign));
    if !is_uniform
        && filled(layer, column).all(is_grouped)
        && let Some(text) = with_sign().next()
    {
        let name = if sign == '.' { "dot" } else { "comma" };
        return Err(format!("the {name} of texts such as `{text}` can be that of decimals or of thousands"));
    }
    Ok(sign)
}

/// One of this many cells is a text among numbers at most: a header or its units once more.
const STRAY: usize = 20;

/// Why a column cannot be read as numbers: a text, and its row if nearly all cells are numbers.
fn unreadable(layer: &Layer, column: usize, text: &str) -> String {
    let cells = arrays(layer, column).filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter());
    let is_other = |text: &str| !text.is_empty() && number(text, '.').is_none() && number(text, ',').is_none();
    let others: Vec<(usize, &str)> = cells
        .enumerate()
        .filter_map(|(row, cell)| Some((row, trimmed(cell?))))
        .filter(|(_, text)| is_other(text))
        .collect();
    match others.as_slice() {
        [(row, text), ..] if others.len().saturating_mul(STRAY) < layer.len() => {
            format!(
                "rows have numbers, but {} the text `{text}` or others, the first in row {row}; remove them",
                others.len()
            )
        }
        _ => format!("it has texts such as `{text}`"),
    }
}

/// A column of 64-bit integers.
pub(crate) fn integers(layer: &Layer, column: usize) -> Cells {
    let whole = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        let whole = (value.fract() == 0.0 && value.abs() < LARGEST_INTEGER).then_some(value as i64);
        whole.ok_or_else(|| format!("it has numbers such as {value}, which are not whole"))
    };
    let cells = |array: &ArrayRef| -> Result<ArrayRef, String> {
        Ok(match array.data_type() {
            DataType::Int64 => Arc::clone(array),
            DataType::Int32 => Arc::new(array.as_primitive::<Int32Type>().unary::<_, Int64Type>(i64::from)),
            DataType::Float64 => {
                let cells = array.as_primitive::<Float64Type>().iter().map(|cell| cell.map(whole).transpose());
                Arc::new(cells.collect::<Result<Int64Array, String>>()?)
            }
            _ => {
                let whole = |text: &str| text.parse::<i64>().map_err(|_| format!("it has texts such as `{text}`"));
                let cells =
                    array.as_string::<i64>().iter().map(|cell| cell.map(trimmed).filter(|text| !text.is_empty()));
                Arc::new(cells.map(|cell| cell.map(whole).transpose()).collect::<Result<Int64Array, String>>()?)
            }
        })
    };
    arrays(layer, column).map(cells).collect()
}

/// A column of states. Whole numbers have the state in their lowest bit: logs have 1 and 0, or 33 and 32.
pub(crate) fn flags(layer: &Layer, column: usize) -> Cells {
    let mut codes = BTreeSet::new();
    let mut cells = |array: &ArrayRef| -> Result<ArrayRef, String> {
        let flags: BooleanArray = match array.data_type() {
            DataType::Boolean => return Ok(Arc::clone(array)),
            DataType::LargeUtf8 => {
                let cells =
                    array.as_string::<i64>().iter().map(|cell| cell.map(trimmed).filter(|text| !text.is_empty()));
                let flags = cells.map(|cell| cell.map(|text| state(text, &mut codes)).transpose());
                flags.collect::<Result<_, String>>()?
            }
            DataType::Int32 => {
                let codes_of = array.as_primitive::<Int32Type>().iter();
                codes_of.map(|cell| cell.map(|cell| bit(i64::from(cell), &mut codes))).collect()
            }
            DataType::Int64 => {
                array.as_primitive::<Int64Type>().iter().map(|cell| cell.map(|cell| bit(cell, &mut codes))).collect()
            }
            _ => {
                let cells = array.as_primitive::<Float64Type>().iter().map(|cell| cell.filter(|cell| !cell.is_nan()));
                let flags = cells.map(|cell| cell.map(|cell| code(cell, &mut codes)).transpose());
                flags.collect::<Result<_, String>>()?
            }
        };
        Ok(Arc::new(flags))
    };
    let flags = arrays(layer, column).map(&mut cells).collect::<Cells>()?;
    let first = codes.first().map(|code| code & 1);
    if codes.len() > 1 && codes.iter().all(|code| Some(code & 1) == first) {
        let codes: Vec<String> = codes.iter().take(4).map(i64::to_string).collect();
        return Err(format!("it has the codes {}, whose lowest bit is the same", codes.join(", ")));
    }
    Ok(flags)
}

fn bit(code: i64, codes: &mut BTreeSet<i64>) -> bool {
    codes.insert(code);
    code & 1 == 1
}

fn code(value: f64, codes: &mut BTreeSet<i64>) -> Result<bool, String> {
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    let code = (value.fract() == 0.0 && value.abs() < LARGEST_INTEGER).then_some(value as i64);
    code.map(|code| bit(code, codes)).ok_or_else(|| format!("it has numbers such as {value}, which are no state"))
}

/// A state in words: the header is in the crop or lowered, the boom or the clutch is on.
fn state(text: &str, codes: &mut BTreeSet<i64>) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "in" | "on" | "y" | "yes" | "down" | "t" | "true" | "working" | "lowered" | "engaged" | "ein" | "ja"
        | "oui" | "si" | "sí" | "sim" => Ok(true),
        "out" | "off" | "n" | "no" | "up" | "f" | "false" | "not working" | "raised" | "disengaged" | "aus"
        | "nein" | "non" | "nao" | "não" => Ok(false),
        other => match number(other, '.') {
            Some(value) => code(value, codes),
            None => Err(format!("it has texts such as `{text}`, which are no state")),
        },
    }
}

/// A column of texts without blanks around them. Originals without such blanks are shared.
pub(crate) fn texts(layer: &Layer, column: usize) -> Vec<ArrayRef> {
    let cells = |array: &ArrayRef| -> ArrayRef {
        let texts: LargeStringArray = match array.data_type() {
            DataType::Int32 => {
                array.as_primitive::<Int32Type>().iter().map(|cell| cell.map(|cell| cell.to_string())).collect()
            }
            DataType::Int64 => {
                array.as_primitive::<Int64Type>().iter().map(|cell| cell.map(|cell| cell.to_string())).collect()
            }
            _ => {
                let texts = array.as_string::<i64>();
                if texts.iter().flatten().all(|text| !text.is_empty() && trimmed(text).len() == text.len()) {
                    return Arc::clone(array);
                }
                texts.iter().map(|cell| cell.map(trimmed).filter(|text| !text.is_empty())).collect()
            }
        };
        Arc::new(texts)
    };
    arrays(layer, column).map(cells).collect()
}

/// Numbers as an array in which NaN is null.
pub(crate) fn nullable(cells: impl IntoIterator<Item = f64>) -> ArrayRef {
    let mut cells: Vec<f64> = cells.into_iter().collect();
    if cells.iter().all(|cell| cell.is_finite()) {
        return Arc::new(Float64Array::from(cells));
    }
    let is_valid = BooleanArray::from(cells.iter().map(|cell| cell.is_finite()).collect::<Vec<bool>>());
    for cell in cells.iter_mut().filter(|cell| !cell.is_finite()) {
        *cell = 0.0;
    }
    Arc::new(Float64Array::new(cells.into(), Some(is_valid.values().clone().into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(cells: &[&str]) -> Layer {
        let cells: ArrayRef = Arc::new(cells.iter().map(|text| Some(*text)).collect::<LargeStringArray>());
        let field = arrow_schema::Field::new("cells", DataType::LargeUtf8, true);
        Layer::from_columns("cells", "test", vec![(field, cells)]).unwrap()
    }

    #[test]
    fn texts_of_one_form_are_numbers() {
        for (cells, sign, expected) in [
            (["16.3", " 17.25 ", "", "1e2"], '.', [16.3, 17.25, f64::NAN, 100.0]),
            (["16,3", "17", "-0,5\0", ""], ',', [16.3, 17.0, -0.5, f64::NAN]),
            (["0,123", "0,456", "0,5", "1"], ',', [0.123, 0.456, 0.5, 1.0]),
        ] {
            let layer = layer(&cells);
            assert_eq!(decimal_sign(&layer, 0), Ok(sign), "{cells:?}");
            let same =
                numbers(&layer, 0).into_iter().zip(expected).all(|(found, value)| found.total_cmp(&value).is_eq());
            assert!(same, "{cells:?}");
        }
        for cells in [
            ["9,123", "8,456", "12,000"],
            ["9.123", "8.456", "870"],
            ["16.3", "16,3", ""],
            ["16 %", "", ""],
            ["", " ", "\0"],
        ] {
            assert!(decimal_sign(&layer(&cells), 0).is_err(), "{cells:?}");
        }
    }

    #[test]
    fn states_in_words_and_codes_are_flags() {
        let on = ["In", " on", "Y", "YES", "down", "T", "true", "lowered", "Engaged ", "1", "33", "1.0", "Ein"];
        let off = ["Out", "off ", "N", "no", "UP", "f", "False", "raised", "disengaged", "0", "32", "0.0", "Aus"];
        for (on, off) in on.into_iter().zip(off) {
            let found = flags(&layer(&[on, off, ""]), 0).unwrap();
            let found: Vec<Option<bool>> = found[0].as_boolean().iter().collect();
            assert_eq!(found, [Some(true), Some(false), None], "{on} {off}");
        }
        for cells in [["parked", "on"], ["2", "0"], ["0.5", "1"]] {
            assert!(flags(&layer(&cells), 0).is_err(), "{cells:?}");
        }
    }
}
