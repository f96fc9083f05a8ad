//! Joins columns of local dates and times to UTC timestamps.
//!
//! The caller passes the offset of the zone for each minute that occurs, so that this crate needs no time zone
//! database.

mod format;
mod zone;

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use self::format::{Format, LocalTime};
use crate::layer::Layer;
use crate::layer::fmis::columns::tally;
use headland_base::error::{Error, Kind, Result};
use headland_base::times::{Cell, DAY, Written, parse_clock, parse_date, read_dates};

/// In microseconds.
const MINUTE: i64 = 60_000_000;

/// What the cells of a row state.
#[derive(Clone, Copy)]
enum Row {
    Blank,
    Invalid,
    Known(LocalTime),
    /// A date whose order of day and month depends on the other rows, and the time of day with its offset.
    Written(Written, i64, Option<i32>),
}

/// Local times of the records of a layer.
#[derive(Clone, Debug)]
pub struct LocalTimes {
    rows: Vec<Option<LocalTime>>,
    /// The count and first record of cells that are no time.
    invalid: Option<(u64, u64)>,
    minutes: Vec<i64>,
}

/// The offset from UTC in seconds, before and after a change close to the minute.
///
/// If the first is less, the local minute does not exist. If it is more, the minute is ambiguous.
pub type Offsets = (i32, i32);

impl LocalTimes {
    /// The local minutes that occur, since 1970, in ascending order.
    #[must_use]
    pub fn minutes(&self) -> &[i64] {
        &self.minutes
    }

    /// The times of rows, in microseconds since 1970 on the local clock.
    #[must_use]
    pub fn from_local(rows: &[Option<i64>]) -> Self {
        let rows: Vec<Option<LocalTime>> =
            rows.iter().map(|micros| micros.map(|micros| LocalTime { micros, offset: None })).collect();
        let minutes = minutes(&rows);
        Self { rows, invalid: None, minutes }
    }
}

impl Layer {
    /// Reads the times from a column of dates and one of times, or from one column with both.
    pub fn local_times(
        &self,
        date_column: &str,
        time_column: Option<&str>,
        format: Option<&str>,
    ) -> Result<LocalTimes> {
        let format = match format {
            None => None,
            Some(text) => Some(
                Format::new(text)
                    .ok_or_else(|| Error::new(Kind::Value, format!("`format` has an unknown directive: `{text}`")))?,
            ),
        };
        let mut read = Vec::with_capacity(self.len());
        for batch in &self.batches {
            let days = self.date_cells(batch, date_column, "date")?;
            let times = time_column.map(|name| self.date_cells(batch, name, "time")).transpose()?;
            if times.is_none() && matches!(days, Cells::Dates(_)) {
                let message = format!(
                    "column `{date_column}` contains dates without times: name the column of times with `time`"
                );
                return Err(Error::new(Kind::Value, message));
            }
            if matches!(days, Cells::Timestamps(_)) && (times.is_some() || format.is_some()) {
                let message = format!(
                    "column `{date_column}` contains dates with times: omit `time` and `format`, and pass only `zone`"
                );
                return Err(Error::new(Kind::Value, message));
            }
            read.extend((0..batch.num_rows()).map(|row| {
                let is_blank = days.is_blank(row) && times.as_ref().is_none_or(|times| times.is_blank(row));
                let other = if is_blank { Row::Blank } else { Row::Invalid };
                read_row(&days, times.as_ref(), row, format.as_ref()).unwrap_or(other)
            }));
        }
        let written = |row: &Row| if let Row::Written(date, ..) = row { Some(*date) } else { None };
        let written: Vec<Option<Written>> = read.iter().map(written).collect();
        let dates = read_dates(&written, None).map_err(|orders| {
            let message = format!(
                "`format`: the dates of column `{date_column}` can be {orders}; pass their form, such as \
                 \"%d/%m/%Y %H:%M:%S\""
            );
            Error::new(Kind::Value, message).with(|facts| facts.field = Some(date_column.to_owned()))
        })?;
        let (mut rows, mut invalid) = (Vec::with_capacity(read.len()), None);
        for (row, day) in read.into_iter().zip(dates.days) {
            let local_time = match row {
                Row::Known(local_time) => Some(local_time),
                Row::Written(_, clock, offset) => day.and_then(|day| on_day(day, clock, offset)),
                Row::Blank | Row::Invalid => None,
            };
            if local_time.is_none() && !matches!(row, Row::Blank) {
                tally(&mut invalid, rows.len() as u64);
            }
            rows.push(local_time);
        }
        let minutes = minutes(&rows);
        Ok(LocalTimes { rows, invalid, minutes })
    }

    /// Adds a column of UTC timestamps before the geometry. `offsets` has one entry per minute of `times`. `fold`
    /// selects an ambiguous time: 0 the earlier, 1 the later.
    pub fn with_times(&self, name: &str, times: &LocalTimes, offsets: &[Offsets], fold: Option<u8>) -> Result<Self> {
        if name.is_empty() || self.schema.field_with_name(name).is_ok() {
            return Err(Error::new(Kind::Value, format!("the layer has a column `{name}`: choose another `name`")));
        }
        let (column, diagnostics) = times.to_utc(name, offsets, fold)?;
        let mut layer = self.with_column(name, &column)?;
        layer.diagnostics.extend(diagnostics);
        Ok(layer)
    }

    /// Adds a column, before the geometry if that is last.
    fn with_column(&self, name: &str, column: &ArrayRef) -> Result<Self> {
        let schema_error = |cause| Error::new(Kind::Archive, format!("the columns do not form a table: {cause}"));
        let count = self.schema.fields().len();
        let index = self.geometry.filter(|index| index.checked_add(1) == Some(count)).unwrap_or(count);
        let mut fields: Vec<Arc<Field>> = self.schema.fields().iter().cloned().collect();
        fields.insert(index, Arc::new(Field::new(name, column.data_type().clone(), true)));
        let mut layer = self.clone();
        layer.schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        layer.geometry =
            self.geometry.map(|geometry| if geometry >= index { geometry.saturating_add(1) } else { geometry });
        let mut start = 0_usize;
        layer.batches.clear();
        for batch in &self.batches {
            let mut columns = batch.columns().to_vec();
            columns.insert(index, column.slice(start, batch.num_rows()));
            start = start.saturating_add(batch.num_rows());
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let schema = Arc::clone(&layer.schema);
            layer.batches.push(RecordBatch::try_new_with_options(schema, columns, &options).map_err(schema_error)?);
        }
        Ok(layer)
    }

    /// The cells of a column with dates or times.
    fn date_cells<'a>(&self, batch: &'a RecordBatch, name: &str, argument: &str) -> Result<Cells<'a>> {
        let value_error =
            |message: String| Error::new(Kind::Value, message).with(|facts| facts.field = Some(name.to_owned()));
        let array = batch.column(self.column_index(argument, name)?);
        match array.data_type() {
            DataType::Date32 | DataType::LargeUtf8 | DataType::Int32 | DataType::Int64
                if argument == "date" || *array.data_type() != DataType::Date32 =>
            {
                Ok(if *array.data_type() == DataType::Date32 { Cells::Dates(array) } else { Cells::Texts(array) })
            }
            DataType::Timestamp(TimeUnit::Microsecond, None) if argument == "date" => Ok(Cells::Timestamps(array)),
            other => {
                let expected = match argument {
                    "date" => "dates, times without a zone, text or whole numbers",
                    _ => "text or whole numbers",
                };
                Err(value_error(format!(
                    "`{argument}` has the wrong type of column: expected {expected}, but `{name}` is {other}"
                )))
            }
        }
    }
}

/// The minutes that occur, in ascending order.
fn minutes(rows: &[Option<LocalTime>]) -> Vec<i64> {
    let mut minutes: Vec<i64> = rows.iter().flatten().map(|local_time| local_time.micros.div_euclid(MINUTE)).collect();
    minutes.sort_unstable();
    minutes.dedup();
    minutes
}

/// Cells of a date column, of a timestamp column without zone, or of text and integers.
enum Cells<'a> {
    Dates(&'a ArrayRef),
    Timestamps(&'a ArrayRef),
    Texts(&'a ArrayRef),
}

impl Cells<'_> {
    fn is_blank(&self, row: usize) -> bool {
        match self {
            Self::Dates(array) | Self::Timestamps(array) => array.is_null(row),
            Self::Texts(_) => self.text(row).is_none_or(|text| text.trim().is_empty()),
        }
    }

    /// The text of a cell. Integers get back their leading zeros.
    fn text(&self, row: usize) -> Option<Cow<'_, str>> {
        let (Self::Dates(array) | Self::Timestamps(array) | Self::Texts(array)) = self;
        if array.is_null(row) {
            return None;
        }
        match array.data_type() {
            DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).into()),
            DataType::Int32 => Some(format!("{:06}", array.as_primitive::<Int32Type>().value(row)).into()),
            DataType::Int64 => Some(format!("{:06}", array.as_primitive::<Int64Type>().value(row)).into()),
            DataType::Date32 => {
                array.as_primitive::<Date32Type>().value_as_date(row).map(|date| date.to_string().into())
            }
            _ => None,
        }
    }
}

fn on_day(day: i64, clock: i64, offset: Option<i32>) -> Option<LocalTime> {
    LocalTime::new(day.checked_mul(DAY)?.checked_add(clock)?, offset)
}

fn read_row(days: &Cells<'_>, times: Option<&Cells<'_>>, row: usize, format: Option<&Format<'_>>) -> Option<Row> {
    if let Cells::Timestamps(array) = days {
        let micros = array.is_valid(row).then(|| array.as_primitive::<TimestampMicrosecondType>().value(row))?;
        return LocalTime::new(micros, None).map(Row::Known);
    }
    if let (Cells::Dates(array), Some(times), None) = (days, times, format) {
        let day = array.is_valid(row).then(|| i64::from(array.as_primitive::<Date32Type>().value(row)))?;
        let (clock, offset) = parse_clock(&times.text(row)?)?;
        return on_day(day, clock, offset).map(Row::Known);
    }
    let day = days.text(row)?;
    match (times, format) {
        (None, None) => {
            let cell = Cell::parse(&day);
            Some(Row::Written(cell.date?, cell.clock?, cell.offset))
        }
        (Some(times), None) => {
            let (clock, offset) = parse_clock(&times.text(row)?)?;
            Some(Row::Written(parse_date(&day)?, clock, offset))
        }
        (None, Some(format)) => format.read(day.trim()).map(Row::Known),
        (Some(times), Some(format)) => {
            format.read(&format!("{} {}", day.trim(), times.text(row)?.trim())).map(Row::Known)
        }
    }
}
