//! Attribute table of a job's records: columns of dbf cells with exact sums.

use std::fmt::Write as _;

use chrono::{Datelike, NaiveDate};
use shapefile::dbase;

use super::deterministic_math::unscaled;

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    /// Name of at most ten characters.
    pub(super) name: &'static str,
    /// Unit of a number, `"1"` without one; empty for other types.
    pub(super) unit: &'static str,
    pub(super) cells: Cells,
}

/// Cells of a column.
#[derive(Debug)]
pub(super) enum Cells {
    /// Numbers as integers in units of the last decimal, so that their sum is exact; `None` is a blank cell.
    Numbers { width: u8, decimals: u8, values: Vec<Option<i64>> },
    /// The same text in every row.
    Constant { width: u8, text: String },
    /// Texts that follow each other in a fixed order, from row to row.
    Alternating { width: u8, texts: Vec<&'static str> },
    /// Dates.
    Dates(Vec<NaiveDate>),
    /// Times of day in seconds, written as text.
    Times(Vec<u32>),
    /// Logical values.
    Booleans(Vec<bool>),
}

impl Cells {
    /// Repeats the cell of each row `count` times.
    fn repeat(&mut self, count: usize) {
        match self {
            Self::Numbers { values, .. } => *values = repeated(values, count),
            Self::Dates(dates) => *dates = repeated(dates, count),
            Self::Times(seconds) => *seconds = repeated(seconds, count),
            Self::Booleans(booleans) => *booleans = repeated(booleans, count),
            Self::Constant { .. } | Self::Alternating { .. } => {}
        }
    }
}

fn repeated<T: Copy>(values: &[T], count: usize) -> Vec<T> {
    values.iter().flat_map(|value| std::iter::repeat_n(*value, count)).collect()
}

impl Column {
    /// Returns the sum of the written numbers; `None` for other columns.
    pub(super) fn sum(&self) -> Option<f64> {
        match &self.cells {
            Cells::Numbers { decimals, values, .. } => Some(unscaled(values.iter().flatten().sum(), *decimals)),
            _ => None,
        }
    }

    /// Writes a cell as in the dbf, with dates in ISO 8601. Writes nothing for a blank cell.
    pub(super) fn write(&self, index: usize, out: &mut String) {
        // Writing to a `String` never fails.
        let (Ok(()) | Err(_)) = match &self.cells {
            Cells::Numbers { decimals, values, .. } => match values.get(index).copied().flatten() {
                Some(value) => write!(out, "{:.*}", usize::from(*decimals), unscaled(value, *decimals)),
                None => Ok(()),
            },
            Cells::Constant { text, .. } => out.write_str(text),
            Cells::Alternating { texts, .. } => out.write_str(alternating(texts, index)),
            Cells::Times(seconds) => out.write_str(&format_time(seconds.get(index).copied().unwrap_or(0))),
            Cells::Dates(dates) => dates.get(index).map_or(Ok(()), |date| write!(out, "{date}")),
            Cells::Booleans(booleans) => write!(out, "{}", booleans.get(index).copied().unwrap_or(false)),
        };
    }
}

/// Returns the text of a row.
fn alternating(texts: &[&'static str], row: usize) -> &'static str {
    texts.get(row % texts.len().max(1)).copied().unwrap_or_default()
}

/// Formats a time of day.
fn format_time(seconds: u32) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Columns of a layer.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
}

impl Table {
    /// Creates a table without columns.
    pub(super) const fn new() -> Self {
        Self { columns: Vec::new() }
    }

    /// Adds a numeric column. Values are in units of the last decimal. The width grows if a number does not fit.
    pub(super) fn add_numbers(
        &mut self,
        name: &'static str,
        unit: &'static str,
        (width, decimals): (u8, u8),
        values: impl Iterator<Item = Option<i64>>,
    ) {
        let values: Vec<Option<i64>> = values.collect();
        let lowest = values.iter().flatten().min().copied().unwrap_or(0);
        let highest = values.iter().flatten().max().copied().unwrap_or(0);
        let length = |value| format!("{:.*}", usize::from(decimals), unscaled(value, decimals)).len();
        let needed = u8::try_from(length(lowest).max(length(highest))).unwrap_or(u8::MAX);
        self.columns.push(Column { name, unit, cells: Cells::Numbers { width: width.max(needed), decimals, values } });
    }

    /// Adds a column with the same text in all rows.
    pub(super) fn add_constant(&mut self, name: &'static str, width: u8, text: &str) {
        let width = width.max(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.columns.push(Column { name, unit: "", cells: Cells::Constant { width, text: text.to_owned() } });
    }

    /// Adds a column of another type.
    pub(super) fn add_column(&mut self, name: &'static str, cells: Cells) {
        self.columns.push(Column { name, unit: "", cells });
    }

    /// Repeats each row `count` times.
    pub(super) fn repeat_rows(&mut self, count: usize) {
        for column in &mut self.columns {
            column.cells.repeat(count);
        }
    }

    /// Returns the header of the dbf.
    pub(super) fn header(&self) -> Result<dbase::TableWriterBuilder, &'static str> {
        self.columns.iter().try_fold(dbase::TableWriterBuilder::new(), |header, column| {
            let name = dbase::FieldName::try_from(column.name)?;
            Ok(match column.cells {
                Cells::Numbers { width, decimals, .. } => header.add_numeric_field(name, width, decimals),
                Cells::Constant { width, .. } | Cells::Alternating { width, .. } => {
                    header.add_character_field(name, width)
                }
                Cells::Times(_) => header.add_character_field(name, 8),
                Cells::Dates(_) => header.add_date_field(name),
                Cells::Booleans(_) => header.add_logical_field(name),
            })
        })
    }
}

/// A row of a table for the dbf writer.
pub(super) struct Row<'a> {
    pub(super) table: &'a Table,
    pub(super) index: usize,
}

impl dbase::WritableRecord for Row<'_> {
    fn write_using<W: std::io::Write>(&self, writer: &mut dbase::FieldWriter<'_, W>) -> Result<(), dbase::FieldError> {
        for column in &self.table.columns {
            match &column.cells {
                Cells::Numbers { decimals, values, .. } => {
                    let value = values.get(self.index).copied().flatten();
                    writer.write_next_field_value(&value.map(|value| unscaled(value, *decimals)))?;
                }
                Cells::Constant { text, .. } => writer.write_next_field_value(&text.as_str())?,
                Cells::Alternating { texts, .. } => {
                    writer.write_next_field_value(&alternating(texts, self.index))?;
                }
                Cells::Times(seconds) => {
                    writer.write_next_field_value(&format_time(seconds.get(self.index).copied().unwrap_or(0)))?;
                }
                Cells::Dates(dates) => {
                    let date = dates.get(self.index).and_then(|date| {
                        let year = u32::try_from(date.year()).ok()?;
                        dbase::Date::new(date.day(), date.month(), year).ok()
                    });
                    writer.write_next_field_value(&date)?;
                }
                Cells::Booleans(booleans) => {
                    writer.write_next_field_value(&booleans.get(self.index).copied().unwrap_or(false))?;
                }
            }
        }
        Ok(())
    }
}
