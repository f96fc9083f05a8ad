//! Writes the cells of a column as JSON properties; repeated values are copied.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BooleanArray, LargeBinaryArray, LargeStringArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::DateTime;

use super::shortest_float::{FloatFormatter, ShortText};
use crate::wire::time;

/// Days from 0001-01-01 to 1970-01-01, where day 1 is 0001-01-01.
const EPOCH: i32 = 719_163;

/// The text before each value of a column: comma, key and colon.
#[derive(Clone, Debug)]
pub(super) struct Key {
    short: ShortText,
    /// The same, if it is too long for `short`.
    long: Vec<u8>,
}

impl Key {
    pub(super) fn new(name: &str, is_first: bool) -> Self {
        let mut long = if is_first { Vec::new() } else { vec![b','] };
        write_string(&mut long, name);
        long.push(b':');
        let mut short = ShortText::default();
        if short.set(&long) {
            long.clear();
        }
        Self { short, long }
    }

    fn append_to(&self, text: &mut Vec<u8>) {
        if self.long.is_empty() {
            self.short.append_to(text);
        } else {
            text.extend_from_slice(&self.long);
        }
    }
}

/// Writes the cells of a column, row by row.
pub(super) struct PropertyWriter<'a> {
    key: &'a Key,
    array: &'a ArrayRef,
    has_nulls: bool,
    values: Values<'a>,
    /// The bits of the last value, whose text is in `short`.
    last: Option<u64>,
    short: ShortText,
}

enum Values<'a> {
    Floats(&'a [f64], FloatFormatter),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Dates(&'a [i32]),
    /// Microseconds since 1970, and the suffix: `Z` for UTC, none without a zone.
    Times(&'a [i64], &'static str),
    Logicals(&'a BooleanArray),
    /// With the last text and its range in the output.
    Texts(&'a LargeStringArray, Option<(&'a str, Range<usize>)>),
    Bytes(&'a LargeBinaryArray),
    /// Types that no reader of this module produces.
    Other,
}

impl<'a> PropertyWriter<'a> {
    pub(super) fn new(key: &'a Key, array: &'a ArrayRef) -> Self {
        let values = match array.data_type() {
            DataType::LargeUtf8 => Values::Texts(array.as_string::<i64>(), None),
            DataType::Int32 => Values::Int32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Values::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::Float64 => Values::Floats(array.as_primitive::<Float64Type>().values(), FloatFormatter::new()),
            DataType::Boolean => Values::Logicals(array.as_boolean()),
            DataType::Date32 => Values::Dates(array.as_primitive::<Date32Type>().values()),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let end = if zone.is_some() { "Z" } else { "" };
                Values::Times(array.as_primitive::<TimestampMicrosecondType>().values(), end)
            }
            DataType::LargeBinary => Values::Bytes(array.as_binary::<i64>()),
            _ => Values::Other,
        };
        Self { key, array, has_nulls: array.null_count() > 0, values, last: None, short: ShortText::default() }
    }

    /// Writes the key and the value of a row.
    pub(super) fn write(&mut self, text: &mut Vec<u8>, row: usize) {
        self.key.append_to(text);
        if self.has_nulls && self.array.is_null(row) {
            text.extend_from_slice(b"null");
            return;
        }
        let Self { values, last, short, .. } = self;
        // Equal bits have equal text.
        let mut is_new = |bits: u64| last.replace(bits) != Some(bits);
        match values {
            Values::Floats(values, formatter) => {
                let value = values.get(row).copied().unwrap_or(f64::NAN);
                if is_new(value.to_bits()) {
                    if value.is_finite() {
                        formatter.format(short, value);
                    } else {
                        short.set(b"null");
                    }
                }
            }
            Values::Int32(values) => {
                let value = values.get(row).copied().unwrap_or_default();
                if is_new(u64::from(value.cast_unsigned())) {
                    short.set(itoa::Buffer::new().format(value).as_bytes());
                }
            }
            Values::Int64(values) => {
                let value = values.get(row).copied().unwrap_or_default();
                if is_new(value.cast_unsigned()) {
                    short.set(itoa::Buffer::new().format(value).as_bytes());
                }
            }
            Values::Dates(values) => {
                let days = values.get(row).copied().unwrap_or_default();
                if is_new(u64::from(days.cast_unsigned())) {
                    let date = chrono::NaiveDate::from_num_days_from_ce_opt(days.saturating_add(EPOCH));
                    short.set(date.map_or_else(|| "null".to_owned(), |date| format!("\"{date}\"")).as_bytes());
                }
            }
            Values::Times(values, end) => {
                let micros = values.get(row).copied().unwrap_or_default();
                if is_new(micros.cast_unsigned()) {
                    let time = DateTime::from_timestamp_micros(micros);
                    let formatted = time.map(|time| format!("\"{}{end}\"", time::write(&time).trim_end_matches('Z')));
                    short.set(formatted.unwrap_or_else(|| "null".to_owned()).as_bytes());
                }
            }
            Values::Logicals(values) => {
                text.extend_from_slice(if values.value(row) { b"true" } else { b"false" });
                return;
            }
            Values::Texts(values, previous) => {
                let value = values.value(row);
                let start = text.len();
                match previous {
                    Some((same, range)) if *same == value => text.extend_from_within(range.clone()),
                    _ => {
                        write_string(text, value);
                        *previous = Some((value, start..text.len()));
                    }
                }
                return;
            }
            Values::Bytes(values) => {
                text.push(b'"');
                for byte in values.value(row) {
                    let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + (half - 10) };
                    text.extend_from_slice(&[digit(byte >> 4), digit(byte & 0x0F)]);
                }
                text.push(b'"');
                return;
            }
            Values::Other => {
                text.extend_from_slice(b"null");
                return;
            }
        }
        short.append_to(text);
    }
}

/// Writes a JSON string.
pub(super) fn write_string(text: &mut Vec<u8>, value: &str) {
    if needs_no_escape(value.as_bytes()) {
        text.push(b'"');
        text.extend_from_slice(value.as_bytes());
        text.push(b'"');
    } else {
        // Writing a string to memory cannot fail.
        drop(serde_json::to_writer(text, value));
    }
}

/// Whether a JSON string needs no escape: no quote, backslash or control character. Checks eight bytes at a time.
fn needs_no_escape(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    // Sets the high bit of each zero byte. Bits above the first one are undefined, which is enough to find any.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().all(|word| {
        let word = u64::from_le_bytes(*word);
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        (controls | zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')))) == 0
    }) && rest.iter().all(|byte| !matches!(byte, 0..=0x1F | b'"' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escaped_characters_are_found_at_every_position() {
        for byte in 0..=255_u8 {
            for index in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[index] = byte;
                assert_eq!(needs_no_escape(&bytes), byte >= 0x20 && byte != b'"' && byte != b'\\', "{byte} at {index}");
            }
        }
    }

    proptest! {
        #[test]
        fn strings_match_serde_json(value in any::<String>()) {
            let mut text = Vec::new();
            write_string(&mut text, &value);
            prop_assert_eq!(String::from_utf8(text).unwrap(), serde_json::to_string(&value).unwrap());
        }
    }
}
