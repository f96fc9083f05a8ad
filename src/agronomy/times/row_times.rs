//! The time of each row: from timestamps, texts, a date and a time of day, numbers, or a column for each part.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use crate::columns::cell_values::{arrays, numbers};
use crate::columns::matching::Match;
use crate::times::context::{RowTimes, TimeContext};
use crate::times::numbers::{self, Epoch};
use crate::times::parts::ClockParts;
use headland_base::times::{Cell, DAY, Dates, Written, parse_date, read_dates};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// The first day of 2100: later times are none.
const LAST: i64 = 47_482 * DAY;

/// A share of rows without a time that is reported.
const MISSING: f64 = 0.02;

/// Reads the times. `start` is the start of the job, in microseconds since 1970: it tells apart readings of one text or
/// number, and dates times of day.
pub(crate) fn row_times(
    layer: &Layer,
    matches: &[Match],
    start: Option<i64>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RowTimes> {
    let find = |canonical: &str| matches.iter().find(|found| found.canonical == canonical).map(|found| found.column);
    let context = TimeContext { layer, date: find("date"), start };
    let parts = ClockParts::find(layer);
    // `HORA` can be the hour, whose minutes are in another column.
    let time = find("time").filter(|time| parts.as_ref().is_none_or(|parts| !parts.has(*time)));
    let mut said = Vec::new();
    let in_years = |mut times: RowTimes| {
        for time in &mut times.micros {
            *time = time.filter(|micros| (0..LAST).contains(micros));
        }
        times.micros.iter().any(Option::is_some).then_some(times)
    };
    let times = numbers::gps_weeks(layer)
        .or_else(|| time.and_then(|time| context.read(time, &mut said)))
        .or_else(|| parts.and_then(|parts| parts.read(&context, &mut said)))
        .or_else(|| numbers::lapse(&context, time, &mut said))
        .and_then(in_years);
    if times.is_none()
        && let Some(time) = time
        && !said.iter().any(|diagnostic: &Diagnostic| diagnostic.code == Code::DateOrderUnknown)
    {
        let schema = layer.schema();
        let message = format!("column `{}` has no known form of time, so there is no time", schema.field(time).name());
        said.push(Diagnostic::new(Code::TimeUnreadable, message));
    }
    diagnostics.extend(said);
    let times = times?;
    report_missing(layer, &times, diagnostics);
    Some(times)
}

/// Reports cells that are no time, and rows without a cell.
fn report_missing(layer: &Layer, times: &RowTimes, diagnostics: &mut Vec<Diagnostic>) {
    let Some(column) = times.columns.last() else { return };
    let schema = layer.schema();
    let name = schema.field(*column).name();
    let (mut blank, mut unread, mut first) = (0_usize, 0_usize, None);
    let cells = arrays(layer, *column).flat_map(|array| (0..array.len()).map(move |row| (array, row)));
    let without_time = cells.zip(&times.micros).enumerate().filter(|(_, (_, time))| time.is_none());
    for (row, ((array, cell), _)) in without_time {
        match cell_text(array, cell) {
            None => blank = blank.saturating_add(1),
            Some(text) => {
                unread = unread.saturating_add(1);
                first = first.or_else(|| Some((row as u64, text.to_owned())));
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    let share = |count: usize| count as f64 / times.micros.len() as f64;
    let of = |count: usize| format!("{count} of {} rows ({:.1} %)", times.micros.len(), share(count) * 100.0);
    if let Some((record, text)) = first {
        let such = if text.is_empty() { String::new() } else { format!(" `{text}`") };
        let message = format!(
            "column `{name}`: the cells of {} are no time like those of the other rows, the first{such} at record \
             {record}; these rows have no time",
            of(unread)
        );
        diagnostics.push(Diagnostic::new(Code::BadTime, message).at_record(record));
    }
    if share(blank) > MISSING {
        let message = format!(
            "column `{name}` is empty in {}, which have no time; if another column has it, pass `columns={{\"time\": ...}}`",
            of(blank)
        );
        diagnostics.push(Diagnostic::new(Code::TimesMissing, message));
    }
}

/// The text of a cell that is not blank; empty for other types than text.
fn cell_text(array: &ArrayRef, row: usize) -> Option<&str> {
    if array.is_null(row) {
        return None;
    }
    let text = array.as_string_opt::<i64>().map_or("", |array| array.value(row));
    let is_blank = array.as_string_opt::<i64>().is_some() && text.trim().is_empty();
    (!is_blank).then_some(text)
}

impl TimeContext<'_> {
    /// The times of a column.
    fn read(&self, time: usize, said: &mut Vec<Diagnostic>) -> Option<RowTimes> {
        match self.layer.schema().field(time).data_type() {
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let cells = arrays(self.layer, time).flat_map(AsArray::as_primitive::<TimestampMicrosecondType>);
                let times = RowTimes::new(cells.collect(), "timestamp", vec![time]);
                Some(RowTimes { is_local: zone.is_none(), ..times })
            }
            DataType::LargeUtf8 => self.read_texts(time, said).or_else(|| {
                let is_said = said.iter().any(|diagnostic| diagnostic.code == Code::DateOrderUnknown);
                if is_said { None } else { self.read_numbers(time, said) }
            }),
            _ => self.read_numbers(time, said),
        }
    }

    fn read_numbers(&self, time: usize, said: &mut Vec<Diagnostic>) -> Option<RowTimes> {
        let values = numbers(self.layer, time);
        let name = self.layer.schema().field(time).name().clone();
        if numbers::is_lapse(&name) {
            return None;
        }
        match numbers::read(&name, &values, self.known_day(), said)? {
            Epoch::Moments(times) => Some(RowTimes { columns: vec![time], ..times }),
            Epoch::OfDay(clocks) => self.on_dates(time, &clocks, "time of day in digits", said),
            Epoch::Running(seconds) => {
                let times = self.since_start(&seconds, numbers::RUNNING, said);
                Some(RowTimes { columns: vec![time], ..times })
            }
        }
    }

    fn read_texts(&self, time: usize, said: &mut Vec<Diagnostic>) -> Option<RowTimes> {
        let texts = arrays(self.layer, time).flat_map(AsArray::as_string::<i64>);
        let cells: Vec<Cell> = texts.map(|text| text.map(Cell::parse).unwrap_or_default()).collect();
        let dated = cells.iter().filter(|cell| cell.date.is_some()).count();
        let read = cells.iter().filter(|cell| cell.clock.is_some()).count();
        if read == 0 {
            return None;
        }
        let is_local = cells.iter().all(|cell| cell.offset.is_none());
        let clock = |cell: &Cell| cell.clock?.checked_sub(i64::from(cell.offset.unwrap_or(0)).checked_mul(1_000_000)?);
        if dated * 2 < read {
            let clocks: Vec<Option<i64>> = cells.iter().map(clock).collect();
            let times = self.on_dates(time, &clocks, "time of day", said)?;
            return Some(RowTimes { is_local: times.is_local && is_local, ..times });
        }
        let written: Vec<Option<Written>> = cells.iter().map(|cell| cell.date).collect();
        let ordered = self.order_of(time, &written, said)?;
        let micros = ordered.days.iter().zip(&cells).map(|(day, cell)| join(*day, clock(cell))).collect();
        let times = RowTimes::new(micros, "text", vec![time]);
        Some(RowTimes { is_local, evidence: evidence(&ordered), ..times })
    }

    /// The days of written dates, or a diagnostic if their order is unknown.
    fn order_of(&self, column: usize, written: &[Option<Written>], said: &mut Vec<Diagnostic>) -> Option<Dates> {
        let start = self.start.map(|start| start.div_euclid(DAY));
        match read_dates(written, start) {
            Ok(dates) => Some(dates),
            Err(orders) => {
                let schema = self.layer.schema();
                let message = format!(
                    "the dates of column `{}` can be {orders}, so there is no time; pass `job={{\"start_date\": ...}}`, \
                     whose day tells them apart, or `columns={{\"time\": ...}}` with a column of `Layer.with_time`",
                    schema.field(column).name()
                );
                said.push(Diagnostic::new(Code::DateOrderUnknown, message));
                None
            }
        }
    }

    /// Times of day on the dates of their own column, else from the start of the job on.
    fn on_dates(
        &self,
        time: usize,
        clocks: &[Option<i64>],
        form: &'static str,
        said: &mut Vec<Diagnostic>,
    ) -> Option<RowTimes> {
        let Some(date) = self.date else {
            let micros = self.unwrapped(clocks, said);
            return Some(RowTimes::new(micros, form, vec![time]));
        };
        let (days, evidence) = match self.dates(date) {
            Column::Days(days) => (days, None),
            Column::Written(written) => {
                let dates = self.order_of(date, &written, said)?;
                let evidence = evidence(&dates);
                (dates.days, evidence)
            }
        };
        let micros = days.iter().zip(clocks).map(|(day, clock)| join(*day, *clock)).collect();
        let times = RowTimes::new(micros, "date and time", vec![date, time]);
        Some(RowTimes { evidence, ..times })
    }

    fn dates(&self, column: usize) -> Column {
        if *self.layer.schema().field(column).data_type() == DataType::Date32 {
            let days = arrays(self.layer, column).flat_map(AsArray::as_primitive::<Date32Type>);
            return Column::Days(days.map(|day| day.map(i64::from)).collect());
        }
        if *self.layer.schema().field(column).data_type() == DataType::LargeUtf8 {
            let texts = arrays(self.layer, column).flat_map(AsArray::as_string::<i64>);
            // Rows of one day follow each other.
            let mut last = ("", None);
            let mut date = |text| {
                if text != last.0 {
                    last = (text, parse_date(text));
                }
                last.1
            };
            return Column::Written(texts.map(|text| text.and_then(&mut date)).collect());
        }
        let digits = |value: &f64| Written::parse(&format!("{value:06}"));
        Column::Written(numbers(self.layer, column).iter().map(digits).collect())
    }

    /// A moment of the job: its start, else a date of the column of dates.
    fn known_day(&self) -> Option<i64> {
        self.start.or_else(|| match self.dates(self.date?) {
            Column::Days(days) => days.into_iter().flatten().next()?.checked_mul(DAY),
            Column::Written(written) => {
                read_dates(&written, None).ok()?.days.into_iter().flatten().next()?.checked_mul(DAY)
            }
        })
    }
}

/// A column of dates.
enum Column {
    /// Days since 1970.
    Days(Vec<Option<i64>>),
    Written(Vec<Option<Written>>),
}

fn join(day: Option<i64>, clock: Option<i64>) -> Option<i64> {
    day?.checked_mul(DAY)?.checked_add(clock?)
}

fn evidence(dates: &Dates) -> Option<String> {
    let years = if dates.has_short_years { ", years of two digits" } else { "" };
    dates.order.map(|order| format!("{order}{years}"))
}
