//! Columns of FMIS tables, which declare no types: numbers are integers until a cell has decimals.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, LargeStringArray, TimestampMicrosecondArray};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use chrono::DateTime;

use crate::archive::{AllocError, Code, Encoding, check_available, try_reserve};
use crate::layer::columns::number::{
    Cell, IntegerCell, KEPT_DIGITS, LAST_EXACT, has_exponent, loses_digits, parse_float, parse_integer,
};
use crate::layer::issues::IssueCounter;
use crate::layer::schema::schema_error;
use headland_base::error::Result;
use headland_base::times::iso;

/// The Arrow time zone of UTC.
pub(in crate::layer) const UTC: &str = "UTC";

/// The most working memory per time while times are converted to text, in bytes.
const TIME_TEXT_SIZE: usize = 96;

/// A column while it is read.
pub(super) struct Column {
    values: Values,
    nulls: NullBufferBuilder,
    pub(super) issues: IssueCounter,
    /// The count of integers with more digits than a float, and the first record.
    long: Option<(u64, u64)>,
    /// Counts and first records of invalid times, of times with a zone and of times without.
    pub(super) bad_times: Option<(u64, u64)>,
    pub(super) zoned: Option<(u64, u64)>,
    pub(super) zoneless: Option<(u64, u64)>,
}

enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    /// Times in microseconds since 1970, and whether each has a zone. All are UTC if the layout states it.
    Times {
        micros: Vec<i64>,
        zoned: BooleanBufferBuilder,
        is_utc: bool,
    },
    /// Texts, which are converted to numbers at the end if all are numbers.
    Texts {
        ends: Vec<i64>,
        data: Vec<u8>,
        encoding: Encoding,
    },
}

impl Column {
    fn with_values(values: Values) -> Self {
        let nulls = NullBufferBuilder::new(0);
        let issues = IssueCounter::default();
        Self { values, nulls, issues, long: None, bad_times: None, zoned: None, zoneless: None }
    }

    pub(super) fn numbers() -> Self {
        Self::with_values(Values::Integers(Vec::new()))
    }

    /// A column of times; `is_utc` if the layout states that all are UTC.
    pub(super) fn times(is_utc: bool) -> Self {
        Self::with_values(Values::Times { micros: Vec::new(), zoned: BooleanBufferBuilder::new(0), is_utc })
    }

    /// A column of unknown type.
    pub(super) fn unknown(encoding: Encoding) -> Self {
        Self::with_values(Values::Texts { ends: vec![0], data: Vec::new(), encoding })
    }

    /// Appends `count` nulls.
    pub(super) fn push_null(&mut self, count: usize) -> std::result::Result<(), AllocError> {
        match &mut self.values {
            Values::Integers(values) => repeat(values, 0, count)?,
            Values::Times { micros, zoned, .. } => {
                repeat(micros, 0, count)?;
                zoned.append_n(count, false);
            }
            Values::Floats(values) => repeat(values, 0.0, count)?,
            Values::Texts { ends, .. } => {
                let end = ends.last().copied().unwrap_or(0);
                repeat(ends, end, count)?;
            }
        }
        self.nulls.append_n_nulls(count);
        Ok(())
    }

    pub(super) fn push_integer(&mut self, value: i64) -> std::result::Result<(), AllocError> {
        if let Values::Integers(values) = &mut self.values {
            repeat(values, value, 1)?;
            self.nulls.append_non_null();
        }
        Ok(())
    }

    /// Appends a cell of record `record`, `count` times.
    pub(super) fn push(&mut self, cell: &[u8], count: usize, record: u64) -> std::result::Result<(), AllocError> {
        let text = cell.trim_ascii();
        if text.is_empty() {
            return self.push_null(count);
        }
        match &mut self.values {
            Values::Integers(values) => match parse_integer(text) {
                // No layout declares integers, so a number with an exponent is a float.
                IntegerCell::Cell(Cell::Value(value)) if !has_exponent(text) => {
                    if to_f64(value).abs() >= LAST_EXACT && loses_digits(text, to_f64(value)) {
                        tally(&mut self.long, record);
                    }
                    repeat(values, value, count)?;
                    self.nulls.append_n_non_nulls(count);
                }
                IntegerCell::Cell(Cell::Null | Cell::Invalid) => return self.push_invalid(count, record),
                IntegerCell::Cell(Cell::Value(_)) | IntegerCell::Fraction(_) => {
                    self.convert_to_floats();
                    return self.push(text, count, record);
                }
            },
            Values::Floats(values) => match parse_float(text) {
                Cell::Value(value) => {
                    if value.abs() >= LAST_EXACT && loses_digits(text, value) {
                        self.issues.add(Code::DigitsLost, record);
                    }
                    repeat(values, value, count)?;
                    self.nulls.append_n_non_nulls(count);
                }
                Cell::Null | Cell::Invalid => return self.push_invalid(count, record),
            },
            Values::Times { micros, zoned, is_utc } => match iso::read(&String::from_utf8_lossy(text)) {
                iso::Read::Time(found) => {
                    let is_zoned = *is_utc || states_zone(text);
                    repeat(micros, found.timestamp_micros(), count)?;
                    zoned.append_n(count, is_zoned);
                    self.nulls.append_n_non_nulls(count);
                    tally(if is_zoned { &mut self.zoned } else { &mut self.zoneless }, record);
                }
                iso::Read::Nothing => return self.push_null(count),
                iso::Read::Wrong => {
                    tally(&mut self.bad_times, record);
                    return self.push_null(count);
                }
            },
            Values::Texts { ends, data, encoding } => {
                let (decoded, decode_issue) = encoding.decode(text);
                if let Some(issue) = decode_issue {
                    self.issues.add(issue, record);
                }
                try_reserve(data, decoded.len().saturating_mul(count))?;
                try_reserve(ends, count)?;
                for _ in 0..count {
                    data.extend_from_slice(decoded.as_bytes());
                    ends.push(i64::try_from(data.len()).unwrap_or(i64::MAX));
                }
                self.nulls.append_n_non_nulls(count);
            }
        }
        Ok(())
    }

    /// Appends nulls for invalid text. Stars are invalid too: these cells have no fixed width that a number could
    /// exceed.
    fn push_invalid(&mut self, count: usize, record: u64) -> std::result::Result<(), AllocError> {
        self.issues.add(Code::BadNumber, record);
        self.push_null(count)
    }

    fn convert_to_floats(&mut self) {
        if let Values::Integers(values) = &mut self.values {
            // Floats are as long as integers, so the memory is reused.
            let floats = std::mem::take(values).into_iter().map(to_f64).collect();
            self.values = Values::Floats(floats);
            if let Some((count, first)) = self.long.take() {
                self.issues.add_many(Code::DigitsLost, first, count);
            }
        }
    }

    /// Finishes the array.
    pub(super) fn finish(mut self) -> Result<ArrayRef> {
        let nulls = self.nulls.finish();
        let array = match self.values {
            Values::Integers(values) => Int64Array::try_new(values.into(), nulls).map(to_array_ref),
            Values::Floats(values) => Float64Array::try_new(values.into(), nulls).map(to_array_ref),
            Values::Times { micros, .. } if self.zoneless.is_none() => {
                TimestampMicrosecondArray::try_new(micros.into(), nulls)
                    .map(|times| to_array_ref(times.with_timezone(UTC)))
            }
            Values::Times { micros, .. } if self.zoned.is_none() => {
                TimestampMicrosecondArray::try_new(micros.into(), nulls).map(to_array_ref)
            }
            Values::Times { micros, mut zoned, .. } => {
                check_available(micros.len().saturating_mul(TIME_TEXT_SIZE)).map_err(AllocError::into_error)?;
                let zoned = zoned.finish();
                let rows = micros.iter().zip(&zoned).enumerate();
                let text = |(row, (micros, is_zoned)): (usize, (&i64, bool))| {
                    let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
                    if is_null { None } else { time_text(*micros, is_zoned) }
                };
                Ok(to_array_ref(rows.map(text).collect::<LargeStringArray>()))
            }
            Values::Texts { ends, data, .. } => {
                let texts = LargeStringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(ends)), data.into(), nulls)
                    .map_err(|cause| schema_error(&cause))?;
                Ok(parse_numbers(&texts)?.unwrap_or_else(|| to_array_ref(texts)))
            }
        };
        array.map_err(|cause| schema_error(&cause))
    }
}

#[expect(clippy::cast_precision_loss, reason = "reading the digits as a float would round in the same way")]
fn to_f64(value: i64) -> f64 {
    value as f64
}

fn to_array_ref(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// Appends `value`, `count` times.
fn repeat<T: Copy>(values: &mut Vec<T>, value: T, count: usize) -> std::result::Result<(), AllocError> {
    try_reserve(values, count)?;
    values.resize(values.len().saturating_add(count), value);
    Ok(())
}

/// A time as text, with `Z` only if it has a zone.
fn time_text(micros: i64, is_zoned: bool) -> Option<String> {
    let mut text = iso::write(&DateTime::from_timestamp_micros(micros)?);
    if !is_zoned {
        text.pop();
    }
    Some(text)
}

/// Converts texts to numbers if all are numbers and keep their value.
fn parse_numbers(texts: &LargeStringArray) -> Result<Option<ArrayRef>> {
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        // A leading zero marks a code, such as that of a county.
        let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        !is_code && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    if texts.iter().flatten().next().is_none() || !texts.iter().flatten().all(is_number) {
        return Ok(None);
    }
    let mut column = Column::numbers();
    for text in texts {
        let pushed = match text {
            Some(text) => column.push(text.as_bytes(), 1, 0),
            None => column.push_null(1),
        };
        pushed.map_err(AllocError::into_error)?;
    }
    // An integer of many digits is an identifier, which a float would change.
    let is_whole = |text: &str| !text.contains('.');
    let is_exact = matches!(column.values, Values::Integers(_))
        || texts.iter().flatten().all(|text| text.len() <= KEPT_DIGITS || !is_whole(text));
    if column.issues.is_empty() && is_exact { column.finish().map(Some) } else { Ok(None) }
}

/// Counts an event and keeps the first record.
pub(in crate::layer) fn tally(counter: &mut Option<(u64, u64)>, record: u64) {
    let (count, _) = counter.get_or_insert((0, record));
    *count = count.saturating_add(1);
}

/// Whether a time has a zone: a final `Z`, or an offset after its `T` or blank.
fn states_zone(text: &[u8]) -> bool {
    let clock = text.iter().position(|byte| matches!(byte, b'T' | b't' | b' ')).and_then(|index| text.get(index..));
    text.last().is_some_and(|last| matches!(last, b'Z' | b'z'))
        || clock.is_some_and(|clock| clock.iter().any(|byte| matches!(byte, b'+' | b'-')))
}
