//! The time of each row: from timestamps, texts, a date and a time of day, epoch seconds, or days of a spreadsheet.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use super::column_match::Match;
use crate::archive::{Code, Diagnostic};
use crate::error::Result;
use crate::layer::Layer;

const DAY: i64 = 86_400_000_000;

/// Days from 1899-12-30, the epoch of spreadsheets, to 1970.
const SPREADSHEET_EPOCH: f64 = 25_569.0;

/// The form of times in days of a spreadsheet.
const SPREADSHEET: &str = "days of a spreadsheet";

/// Times of the rows.
pub(super) struct RowTimes {
    /// Microseconds since 1970.
    pub(super) micros: Vec<Option<i64>>,
    /// Whether they are on the display's clock, whose zone is unknown.
    pub(super) is_local: bool,
    /// The form in which they were read.
    pub(super) form: &'static str,
    /// The columns that they come from.
    pub(super) columns: Vec<usize>,
    /// The step of the clock in microseconds, where decimals of a day limit it; else 1.
    pub(super) resolution: i64,
}

/// Reads the times. `start` is the start of the job, in microseconds since 1970, for times of day without a date.
pub(super) fn row_times(
    layer: &Layer,
    matches: &[Match],
    start: Option<i64>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<RowTimes>> {
    let find = |canonical: &str| matches.iter().find(|found| found.canonical == canonical).map(|found| found.column);
    let Some(time) = find("time") else { return Ok(None) };
    let schema = layer.schema();
    let name = schema.field(time).name();
    let times = match schema.field(time).data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            Some((timestamps(layer, time), zone.is_none(), "timestamp"))
        }
        DataType::LargeUtf8 => texts(layer, time, find("date"), start, diagnostics)?,
        _ => numbers(layer, time, start, diagnostics),
    };
    let Some((micros, is_local, form)) = times else {
        if !diagnostics.iter().any(|diagnostic| diagnostic.code == Code::DateOrderUnknown) {
            let message = format!("column `{name}` has no known form of time, so there is no time");
            diagnostics.push(Diagnostic::new(Code::TimeUnreadable, message));
        }
        return Ok(None);
    };
    let columns = find("date").filter(|_| form == "date and time").into_iter().chain([time]).collect();
    let resolution = if form == SPREADSHEET { day_resolution(layer, time) } else { 1 };
    Ok(Some(RowTimes { micros, is_local, form, columns, resolution }))
}

type Times = (Vec<Option<i64>>, bool, &'static str);

fn arrays(layer: &Layer, column: usize) -> impl Iterator<Item = &ArrayRef> {
    layer.batches().iter().filter_map(move |batch| batch.columns().get(column))
}

fn timestamps(layer: &Layer, column: usize) -> Vec<Option<i64>> {
    arrays(layer, column).flat_map(|array| array.as_primitive::<TimestampMicrosecondType>().iter()).collect()
}

/// Seconds or milliseconds since 1970, or days of a spreadsheet; no other reading fits years from 1980 to 2100. A clock
/// with another origin counts from the start of the job.
fn numbers(layer: &Layer, column: usize, start: Option<i64>, diagnostics: &mut Vec<Diagnostic>) -> Option<Times> {
    #[expect(clippy::cast_precision_loss, reason = "seconds and milliseconds of dates are below 2^53")]
    let cells: Vec<Option<f64>> = arrays(layer, column)
        .flat_map(|array| -> Vec<Option<f64>> {
            match array.data_type() {
                DataType::Int32 => array.as_primitive::<Int32Type>().iter().map(|cell| cell.map(f64::from)).collect(),
                DataType::Int64 => {
                    array.as_primitive::<Int64Type>().iter().map(|cell| cell.map(|cell| cell as f64)).collect()
                }
                _ => array.as_primitive::<Float64Type>().iter().collect(),
            }
        })
        .map(|cell| cell.filter(|cell| cell.is_finite() && *cell != 0.0))
        .collect();
    let all_within = |least: f64, most: f64| cells.iter().flatten().all(|cell| (least..most).contains(cell));
    if cells.iter().all(Option::is_none) {
        return None;
    }
    // Whole numbers of that size are rather seconds of a day.
    let has_fractions = cells.iter().flatten().any(|cell| cell.fract() != 0.0);
    let (epoch, factor, form) = if all_within(29_221.0, 73_051.0) && has_fractions {
        (SPREADSHEET_EPOCH, 86_400e6, SPREADSHEET)
    } else if all_within(315_532_800.0, 4_102_444_800.0) {
        (0.0, 1e6, "seconds since 1970")
    } else if all_within(315_532_800e3, 4_102_444_800e3) {
        (0.0, 1e3, "milliseconds since 1970")
    } else {
        return running_seconds(&cells, start, diagnostics);
    };
    #[expect(clippy::cast_possible_truncation, reason = "the values are within the years that were checked")]
    let micros = cells.iter().map(|cell| cell.map(|cell| ((cell - epoch) * factor).round() as i64)).collect();
    Some((micros, form == SPREADSHEET, form))
}

/// Seconds from an unknown origin, such as those of a GPS receiver: numbers that mostly grow by one step of a log.
fn running_seconds(cells: &[Option<f64>], start: Option<i64>, diagnostics: &mut Vec<Diagnostic>) -> Option<Times> {
    const LEAST_ROWS: usize = 200;
    const STEPS: std::ops::RangeInclusive<f64> = 0.05..=10.0;
    let values: Vec<f64> = cells.iter().flatten().copied().collect();
    let mut steps: Vec<f64> = values
        .iter()
        .zip(values.iter().skip(1))
        .map(|(before, after)| after - before)
        .filter(|step| *step > 0.0)
        .collect();
    if values.len() < LEAST_ROWS || steps.len() * 10 < values.len() * 9 {
        return None;
    }
    let middle = steps.len() / 2;
    let usual = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
    let regular = steps.iter().filter(|step| (*step / usual - 1.0).abs() <= 0.1).count();
    if !STEPS.contains(&usual) || regular * 10 < steps.len() * 8 {
        return None;
    }
    if start.is_none() {
        diagnostics.push(Diagnostic::from_code(Code::DateAssumed));
    }
    let first = values.iter().copied().fold(f64::INFINITY, f64::min);
    // A clock that runs for longer than a season is none.
    let micros = |cell: f64| {
        let seconds = cell - first;
        #[expect(clippy::cast_possible_truncation, reason = "at most the microseconds of a year")]
        (seconds < 3.2e7).then(|| start.unwrap_or(0).saturating_add((seconds * 1e6).round() as i64))
    };
    Some((cells.iter().map(|cell| micros((*cell)?)).collect(), true, "seconds of an unknown origin"))
}

/// The microseconds of the last decimal that the days have.
fn day_resolution(layer: &Layer, column: usize) -> i64 {
    let days: Vec<f64> = arrays(layer, column)
        .filter_map(|array| array.as_primitive_opt::<Float64Type>())
        .flat_map(|array| array.iter().flatten())
        .collect();
    let mut step = DAY;
    let mut scale = 1.0;
    while step > 1 && !days.iter().all(|day| ((day * scale) - (day * scale).round()).abs() < 1e-4) {
        step = step.checked_div(10).unwrap_or(1);
        scale *= 10.0;
    }
    step
}

fn texts(
    layer: &Layer,
    time: usize,
    date: Option<usize>,
    start: Option<i64>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Times>> {
    let schema = layer.schema();
    let time_name = schema.field(time).name();
    let is_time_of_day = first_text(layer, time)
        .is_some_and(|text| text.contains(':') && !text.contains(['/', 'T', '-', '.']) || is_clock(text));
    let date_column = if is_time_of_day { date } else { None };
    let Some(dates) = date_column.or((!is_time_of_day).then_some(time)) else {
        return Ok(times_of_day(layer, time, start, diagnostics));
    };
    let date_name = schema.field(dates).name();
    let format = match date_format(layer, dates) {
        DateOrder::Iso => None,
        DateOrder::Known(date) => Some(format!("{date} {}", clock_format(first_text(layer, time).unwrap_or_default()))),
        DateOrder::Unknown => {
            let message = format!("dates of column `{date_name}` have no day above 12, so day and month are unknown");
            diagnostics.push(Diagnostic::new(Code::DateOrderUnknown, message));
            return Ok(None);
        }
    };
    let times = layer.local_times(date_name, date_column.map(|_| time_name.as_str()), format.as_deref())?;
    let mut is_local = true;
    let micros: Vec<Option<i64>> = times
        .local()
        .map(|row| {
            let (micros, offset) = row?;
            is_local &= offset.is_none();
            micros.checked_sub(i64::from(offset.unwrap_or(0)).checked_mul(1_000_000)?)
        })
        .collect();
    let form = if is_time_of_day { "date and time" } else { "text" };
    Ok(micros.iter().any(Option::is_some).then_some((micros, is_local, form)))
}

/// Times of day without dates, from the start of the job on. A step back of half a day or more is midnight.
fn times_of_day(layer: &Layer, column: usize, start: Option<i64>, diagnostics: &mut Vec<Diagnostic>) -> Option<Times> {
    if start.is_none() {
        diagnostics.push(Diagnostic::from_code(Code::DateAssumed));
    }
    let mut day = 0_i64;
    let mut previous: Option<i64> = None;
    let format = clock_format(first_text(layer, column)?);
    let micros: Vec<Option<i64>> = arrays(layer, column)
        .flat_map(|array| array.as_string::<i64>().iter())
        .map(|text| {
            let time = chrono::NaiveTime::parse_from_str(text?.trim(), format).ok()?;
            let micros = time.signed_duration_since(chrono::NaiveTime::MIN).num_microseconds()?;
            if let (None, Some(start)) = (previous, start) {
                // The start is that of another clock: the day is the one that brings the first time nearest to it.
                day = start.saturating_sub(micros).saturating_add(DAY / 2).div_euclid(DAY).saturating_mul(DAY);
            }
            if previous.is_some_and(|previous| previous.saturating_sub(micros) > DAY / 2) {
                day = day.saturating_add(DAY);
            }
            previous = Some(micros);
            day.checked_add(micros)
        })
        .collect();
    micros.iter().any(Option::is_some).then_some((micros, true, "time of day"))
}

fn first_text(layer: &Layer, column: usize) -> Option<&str> {
    let is_text = |array: &&ArrayRef| *array.data_type() == DataType::LargeUtf8;
    let mut texts = arrays(layer, column).filter(is_text).flat_map(|array| array.as_string::<i64>().iter()).flatten();
    texts.find(|text| !text.trim().is_empty()).map(str::trim)
}

/// Whether the text is a time of day with fractions of a second.
fn is_clock(text: &str) -> bool {
    chrono::NaiveTime::parse_from_str(text, clock_format(text)).is_ok()
}

/// The `strptime` format of the time of day in a text. Other rows may have fractions of a second.
fn clock_format(text: &str) -> &'static str {
    match (text.matches(':').count() > 1, text.ends_with(['M', 'm'])) {
        (true, true) => "%I:%M:%S%.f %p",
        (false, true) => "%I:%M %p",
        (true, false) => "%H:%M:%S%.f",
        (false, false) => "%H:%M",
    }
}

/// The order of day and month in texts.
enum DateOrder {
    /// Dates, or texts that begin with the year.
    Iso,
    /// The `strptime` format of the date.
    Known(&'static str),
    Unknown,
}

fn date_format(layer: &Layer, column: usize) -> DateOrder {
    if arrays(layer, column).any(|array| array.as_primitive_opt::<Date32Type>().is_some()) {
        return DateOrder::Iso;
    }
    let Some(first) = first_text(layer, column) else { return DateOrder::Iso };
    let Some(sign) = first.chars().find(|sign| !sign.is_ascii_digit()).filter(|sign| ['/', '-', '.'].contains(sign))
    else {
        return DateOrder::Iso;
    };
    if first.find(sign) == Some(4) {
        return DateOrder::Iso;
    }
    // Points separate days from months, and the month is second then.
    let (mut day_first, mut month_first) = (sign == '.', false);
    for text in arrays(layer, column).flat_map(|array| array.as_string::<i64>().iter()).flatten() {
        let mut numbers = text.trim().split(sign).map(|part| part.parse::<u8>().unwrap_or(0));
        day_first |= numbers.next().is_some_and(|number| number > 12);
        month_first |= numbers.next().is_some_and(|number| number > 12);
    }
    match (day_first, month_first, sign) {
        (true, false, '/') => DateOrder::Known("%d/%m/%Y"),
        (true, false, '-') => DateOrder::Known("%d-%m-%Y"),
        (true, false, _) => DateOrder::Known("%d.%m.%Y"),
        (false, true, '/') => DateOrder::Known("%m/%d/%Y"),
        (false, true, '-') => DateOrder::Known("%m-%d-%Y"),
        _ => DateOrder::Unknown,
    }
}
