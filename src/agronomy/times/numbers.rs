//! Times in numbers: seconds since 1970 or 1980, days of a spreadsheet, digits of a time of day, and running seconds.

use crate::columns::cell_values::numbers;
use crate::times::context::{RowTimes, TimeContext};
use headland_base::times::{DAY, Written, parse_clock, read_dates};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Days from 1899-12-30, the epoch of spreadsheets, to 1970.
const SPREADSHEET_EPOCH: f64 = 25_569.0;

/// Days of a spreadsheet from 1980 to 2100.
const SPREADSHEET: std::ops::Range<f64> = 29_221.0..73_051.0;

/// Microseconds that the decimals of days resolve where moments are not rounded to them.
const FINE_DAYS: i64 = 1_000;

/// Seconds since 1970 from 1980 to 2100.
const SECONDS: std::ops::Range<f64> = 315_532_800.0..4_102_444_800.0;

/// Seconds from 1970 to 1980-01-06, the epoch of GPS.
const GPS_EPOCH: f64 = 315_964_800.0;

/// Seconds since 1970 of the leap seconds since 1980, which GPS counts (IERS Bulletin C).
const LEAP_SECONDS: [f64; 18] = [
    362_793_600.0,
    394_329_600.0,
    425_865_600.0,
    489_024_000.0,
    567_993_600.0,
    631_152_000.0,
    662_688_000.0,
    709_948_800.0,
    741_484_800.0,
    773_020_800.0,
    820_454_400.0,
    867_715_200.0,
    915_148_800.0,
    1_136_073_600.0,
    1_230_768_000.0,
    1_341_100_800.0,
    1_435_708_800.0,
    1_483_228_800.0,
];

/// The form of whole or other numbers that grow by the step of a log.
pub(crate) const RUNNING: &str = "seconds of an unknown origin";

/// Longest job in seconds; a clock that runs for longer is none.
const LONGEST: f64 = 3.2e7;

/// Names of columns with the seconds since the start of the job.
const LAPSES: &[&str] = &["timelapse", "timelaps", "elapsed", "elapsedtime", "elapsedti", "timeelapse", "timeelapsed"];

/// Names of columns with the weeks since 1980, and with the seconds of the week.
const WEEKS: &[&str] = &["gpsweek", "gpswk", "gpsweekno", "weekgps"];
const SECONDS_OF_WEEK: &[&str] = &["gpssec", "gpssecs", "gpsseconds", "gpssecond", "gpstow", "tow", "gpssow", "sow"];

/// Seconds of a week.
const WEEK: f64 = 604_800.0;

/// What numbers mean.
pub(crate) enum Epoch {
    Moments(RowTimes),
    /// Microseconds since midnight.
    OfDay(Vec<Option<i64>>),
    /// Seconds since the first row.
    Running(Vec<f64>),
}

/// Reads numbers in the one form that fits all of them. `day` is a moment of the job, in microseconds since 1970.
pub(crate) fn read(name: &str, values: &[f64], day: Option<i64>, said: &mut Vec<Diagnostic>) -> Option<Epoch> {
    let cells: Vec<f64> = values.iter().map(|cell| if *cell == 0.0 { f64::NAN } else { *cell }).collect();
    let known = || cells.iter().copied().filter(|cell| cell.is_finite());
    let (least, most) =
        known().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cell| (low.min(cell), high.max(cell)));
    if least > most {
        return None;
    }
    // Whole numbers of that size are rather seconds of a day, and numbers over several years digits of a time of day.
    let has_fractions = known().any(|cell| cell.fract() != 0.0);
    if SPREADSHEET.contains(&least) && SPREADSHEET.contains(&most) && has_fractions && most - least < 1_000.0 {
        return Some(Epoch::Moments(days_of_spreadsheet(&cells)));
    }
    for (factor, units) in [
        (1.0, ["seconds since 1970", "seconds since 1980 (GPS)"]),
        (1e3, ["milliseconds since 1970", "milliseconds since 1980 (GPS)"]),
        (1e6, ["microseconds since 1970", "microseconds since 1980 (GPS)"]),
        (1e9, ["nanoseconds since 1970", "nanoseconds since 1980 (GPS)"]),
    ] {
        if SECONDS.contains(&(least / factor)) && SECONDS.contains(&(most / factor)) {
            return Some(Epoch::Moments(since_epoch(name, &cells, factor, units, day, said)));
        }
    }
    digits(&cells, least, most).or_else(|| running(values).map(Epoch::Running))
}

#[expect(clippy::cast_possible_truncation, reason = "the callers checked the range")]
fn micros(seconds: f64) -> Option<i64> {
    seconds.is_finite().then(|| (seconds * 1e6).round() as i64)
}

/// Days since 1899-12-30. A float has them to about a microsecond, so whole seconds or milliseconds are meant.
fn days_of_spreadsheet(cells: &[f64]) -> RowTimes {
    let seconds = |cell: &f64| (cell - SPREADSHEET_EPOCH) * 86_400.0;
    let is_whole = |scale: f64| {
        cells.iter().filter(|cell| cell.is_finite()).all(|cell| {
            let scaled = seconds(cell) * scale;
            (scaled - scaled.round()).abs() < 0.02
        })
    };
    // Five decimals of a day are steps of 0.864 s, which are whole milliseconds by chance.
    let resolution = day_resolution(cells);
    let mut scales = [1.0, 10.0, 100.0, 1e3].into_iter().filter(|_| resolution < FINE_DAYS);
    let scale = scales.find(|scale| is_whole(*scale));
    let snapped = |cell: &f64| scale.map_or_else(|| seconds(cell), |scale| (seconds(cell) * scale).round() / scale);
    let times =
        RowTimes::new(cells.iter().map(|cell| micros(snapped(cell))).collect(), "days of a spreadsheet", Vec::new());
    RowTimes { resolution: if scale.is_some() { 1 } else { resolution }, ..times }
}

/// The microseconds of the last decimal that the days have.
fn day_resolution(days: &[f64]) -> i64 {
    let mut step = DAY;
    let mut scale = 1.0;
    let is_coarser = |day: &f64, scale: f64| day.is_finite() && ((day * scale) - (day * scale).round()).abs() >= 1e-4;
    while step > 1 && days.iter().any(|day| is_coarser(day, scale)) {
        step = step.checked_div(10).unwrap_or(1);
        scale *= 10.0;
    }
    step
}

/// Seconds since 1970, or since 1980 if that brings them nearer to a moment of the job.
fn since_epoch(
    name: &str,
    cells: &[f64],
    factor: f64,
    [unix, gps]: [&'static str; 2],
    day: Option<i64>,
    said: &mut Vec<Diagnostic>,
) -> RowTimes {
    let by_unix: Vec<Option<i64>> = cells.iter().map(|cell| micros(cell / factor)).collect();
    let by_gps: Vec<Option<i64>> = cells.iter().map(|cell| micros(from_gps(cell / factor))).collect();
    let distance = |times: &[Option<i64>]| {
        let first = times.iter().flatten().next();
        first.zip(day).map(|(first, day)| first.abs_diff(day))
    };
    if day.is_none() {
        let date = |times: &[Option<i64>]| {
            let first = times.iter().flatten().next().copied();
            first
                .and_then(chrono::DateTime::from_timestamp_micros)
                .map(|time| time.date_naive().to_string())
                .unwrap_or_default()
        };
        let message = format!(
            "column `{name}` is read as {unix}, from {} on; as {gps} it would be from {} on; \
             `job={{\"start_date\": ...}}` tells them apart",
            date(&by_unix),
            date(&by_gps)
        );
        said.push(Diagnostic::new(Code::EpochAssumed, message));
    }
    let is_gps = distance(&by_gps) < distance(&by_unix);
    let (cells, form) = if is_gps { (by_gps, gps) } else { (by_unix, unix) };
    RowTimes { is_local: false, ..RowTimes::new(cells, form, Vec::new()) }
}

/// Seconds since 1970 of seconds of GPS, which has no leap seconds.
fn from_gps(seconds: f64) -> f64 {
    let mut moment = seconds + GPS_EPOCH;
    for leap in LEAP_SECONDS {
        if moment > leap {
            moment -= 1.0;
        }
    }
    moment
}

/// Digits of hour, minute and second, or of a date before them: every number is such a time, and over minutes only.
fn digits(cells: &[f64], least: f64, most: f64) -> Option<Epoch> {
    if (1.9e13..2.1e13).contains(&least) && most < 2.1e13 {
        let parts = |cell: &f64| {
            let text = format!("{cell:014.0}");
            let (date, clock) = text.split_at_checked(8).filter(|_| cell.is_finite())?;
            Some((Written::parse(date)?, parse_clock(clock)?.0))
        };
        let cells: Vec<Option<(Written, i64)>> = cells.iter().map(parts).collect();
        let written: Vec<Option<Written>> = cells.iter().map(|cell| cell.map(|(date, _)| date)).collect();
        let days = read_dates(&written, None).ok()?.days;
        let times =
            days.iter().zip(&cells).map(|(day, cell)| day.zip(*cell).map(|(day, (_, clock))| day * DAY + clock));
        return Some(Epoch::Moments(RowTimes::new(times.collect(), "digits of date and time", Vec::new())));
    }
    let clock = |cell: &f64| {
        let (whole, fraction) = (cell.trunc(), cell.fract());
        let (hour, minute, second) = ((whole / 10_000.0).trunc(), (whole / 100.0).trunc() % 100.0, whole % 100.0);
        (*cell >= 0.0 && hour < 24.0 && minute < 60.0 && second < 60.0)
            .then(|| micros(hour * 3_600.0 + minute * 60.0 + second + fraction))?
    };
    let clocks: Vec<Option<i64>> = cells.iter().map(clock).collect();
    let is_all = cells.iter().zip(&clocks).all(|(cell, clock)| cell.is_nan() || clock.is_some());
    // Seconds that run on pass 60 to 99 within two minutes.
    let has_minutes = most > 10_000.0 && (most / 100.0).trunc() - (least / 100.0).trunc() >= 2.0;
    (is_all && has_minutes).then_some(Epoch::OfDay(clocks))
}

/// Seconds from an unknown origin, such as those of a GPS receiver: numbers that mostly grow by one step of a log.
fn running(values: &[f64]) -> Option<Vec<f64>> {
    const LEAST_ROWS: usize = 200;
    const STEPS: std::ops::RangeInclusive<f64> = 0.05..=10.0;
    let cells: Vec<f64> = values.iter().copied().filter(|cell| cell.is_finite() && *cell != 0.0).collect();
    let steps = cells.iter().zip(cells.iter().skip(1)).map(|(before, after)| after - before);
    let mut steps: Vec<f64> = steps.filter(|step| *step > 0.0).collect();
    if cells.len() < LEAST_ROWS || steps.len() * 10 < cells.len() * 9 {
        return None;
    }
    let middle = steps.len() / 2;
    let usual = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
    let regular = steps.iter().filter(|step| (*step / usual - 1.0).abs() <= 0.1).count();
    if !STEPS.contains(&usual) || regular * 10 < steps.len() * 8 {
        return None;
    }
    let first = cells.iter().copied().fold(f64::INFINITY, f64::min);
    let since =
        |cell: &f64| Some(cell - first).filter(|seconds| *cell != 0.0 && *seconds < LONGEST).unwrap_or(f64::NAN);
    Some(values.iter().map(since).collect())
}

/// The times of two columns with the week and the second of GPS, if there are such.
pub(crate) fn gps_weeks(layer: &Layer) -> Option<RowTimes> {
    let schema = layer.schema();
    let find = |names: &[&str]| {
        schema.fields().iter().position(|field| field.data_type().is_numeric() && is_named(field.name(), names))
    };
    let (week, second) = (find(WEEKS)?, find(SECONDS_OF_WEEK)?);
    let moment = |(week, second): (&f64, f64)| {
        let is_time = (1.0..10_000.0).contains(week) && (0.0..WEEK).contains(&second);
        if is_time { micros(from_gps(week * WEEK + second)) } else { None }
    };
    let times: Vec<Option<i64>> = numbers(layer, week).iter().zip(numbers(layer, second)).map(moment).collect();
    let times = RowTimes::new(times, "week and second of GPS", vec![week, second]);
    times.micros.iter().any(Option::is_some).then_some(RowTimes { is_local: false, ..times })
}

fn is_named(name: &str, names: &[&str]) -> bool {
    let letters: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    names.contains(&letters.as_str())
}

/// Whether a name is that of seconds since the start of the job.
pub(crate) fn is_lapse(name: &str) -> bool {
    is_named(name, LAPSES)
}

/// The times of a column with the seconds since the start of the job, if there is one.
pub(crate) fn lapse(context: &TimeContext<'_>, time: Option<usize>, said: &mut Vec<Diagnostic>) -> Option<RowTimes> {
    let schema = context.layer.schema();
    let is_number = |index: &usize| schema.field(*index).data_type().is_numeric();
    let named = || (0..schema.fields().len()).find(|index| is_lapse(schema.field(*index).name()) && is_number(index));
    let column = time.filter(|time| is_lapse(schema.field(*time).name())).or_else(named)?;
    let values = numbers(context.layer, column);
    let known: Vec<f64> = values.iter().copied().filter(|cell| cell.is_finite()).collect();
    let rising = known.iter().zip(known.iter().skip(1)).filter(|(before, after)| after > before).count();
    let is_clock = known.iter().all(|cell| (0.0..LONGEST).contains(cell)) && rising * 2 > known.len();
    is_clock.then(|| {
        let times = context.since_start(&values, "seconds since the start", said);
        RowTimes { columns: vec![column], ..times }
    })
}
