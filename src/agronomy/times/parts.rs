//! Times in a column for each part: day, month, year, hour, minute and second.

use chrono::{DateTime, Datelike as _};

use crate::columns::cell_values::numbers;
use crate::times::context::{RowTimes, TimeContext};
use headland_base::times::{DAY, days_since_epoch, full_year};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Names of the columns, in English, German, French, Spanish and Portuguese.
const HOURS: &[&str] = &["hour", "hours", "hr", "stunde", "heure", "hora"];
const MINUTES: &[&str] = &["minute", "minutes", "min", "minuto"];
const SECONDS: &[&str] = &["second", "seconds", "sec", "sekunde", "seconde", "segundo"];
const DAYS: &[&str] = &["day", "tag", "jour", "dia"];
const MONTHS: &[&str] = &["month", "monat", "mois", "mes"];
const YEARS: &[&str] = &["year", "jahr", "annee", "ano"];

/// The columns of the parts of a time.
pub(crate) struct ClockParts {
    hour: usize,
    minute: usize,
    second: usize,
    /// Day and month.
    date: Option<[usize; 2]>,
    year: Option<usize>,
}

impl ClockParts {
    /// Finds the columns of numbers: hour, minute and second, and what there is of a date.
    pub(crate) fn find(layer: &Layer) -> Option<Self> {
        let schema = layer.schema();
        let find = |names: &[&str]| {
            schema.fields().iter().position(|field| {
                field.data_type().is_numeric() && names.contains(&field.name().trim().to_lowercase().as_str())
            })
        };
        let (hour, minute, second) = (find(HOURS)?, find(MINUTES)?, find(SECONDS)?);
        let date = find(DAYS).zip(find(MONTHS)).map(|(day, month)| [day, month]);
        Some(Self { hour, minute, second, date, year: find(YEARS) })
    }

    /// Whether a column is the hour.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.hour == column
    }

    /// Reads the times. Without a year it is that of the start of the job, else 1970 with a diagnostic.
    pub(crate) fn read(&self, context: &TimeContext<'_>, said: &mut Vec<Diagnostic>) -> Option<RowTimes> {
        let values = |column: usize| numbers(context.layer, column);
        let (hours, minutes, seconds) = (values(self.hour), values(self.minute), values(self.second));
        let clock = |((hour, minute), second): ((&f64, &f64), &f64)| {
            let is_time = (0.0..24.0).contains(hour) && (0.0..60.0).contains(minute) && (0.0..60.0).contains(second);
            #[expect(clippy::cast_possible_truncation, reason = "less than a day in microseconds")]
            is_time.then(|| ((hour.trunc() * 3_600.0 + minute.trunc() * 60.0 + second) * 1e6).round() as i64)
        };
        let clocks: Vec<Option<i64>> = hours.iter().zip(&minutes).zip(&seconds).map(clock).collect();
        let mut columns = vec![self.hour, self.minute, self.second];
        if !clocks.iter().any(Option::is_some) {
            return None;
        }
        let Some([day, month]) = self.date else {
            return Some(RowTimes::new(context.unwrapped(&clocks, said), "hour, minute, second", columns));
        };
        let years = self.year.map(values);
        if years.is_none() && context.start.is_none() {
            said.push(Diagnostic::from_code(Code::DateAssumed));
        }
        let (days, months) = (values(day), values(month));
        let micros = clocks.iter().enumerate().map(|(row, clock)| {
            let cell = |cells: &[f64]| cells.get(row).copied().and_then(whole);
            let (month, day) = (cell(&months)?, cell(&days)?);
            let date = match &years {
                Some(years) => days_of(year(cell(years)?), month, day),
                None => nearest(context.start, month, day),
            };
            date?.checked_mul(DAY)?.checked_add((*clock)?)
        });
        let micros = micros.collect();
        columns.splice(0..0, [day, month].into_iter().chain(self.year));
        Some(RowTimes::new(micros, "day, month, hour, minute, second", columns))
    }
}

fn whole(value: f64) -> Option<u16> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    let whole = ((0.0..=9_999.0).contains(&value) && value.fract() == 0.0).then_some(value as u16);
    whole
}

fn year(value: u16) -> u32 {
    if value < 100 { full_year(value).into() } else { value.into() }
}

fn days_of(year: u32, month: u16, day: u16) -> Option<i64> {
    days_since_epoch(year, month.into(), day.into()).map(i64::from)
}

/// The day of a month in the year that brings it nearest to the start of the job.
fn nearest(start: Option<i64>, month: u16, day: u16) -> Option<i64> {
    let Some(start) = start else { return days_of(1970, month, day) };
    let year = u32::try_from(DateTime::from_timestamp_micros(start)?.year()).ok()?;
    let days = [-1, 0, 1].into_iter().filter_map(|step| days_of(year.checked_add_signed(step)?, month, day));
    days.min_by_key(|days| days.abs_diff(start.div_euclid(DAY)))
}
