//! A local time, and its parser in a format that the caller states.

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime};

/// A local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalTime {
    /// Local microseconds since 1970.
    pub(super) micros: i64,
    /// Seconds ahead of UTC, if the text has an offset.
    pub(super) offset: Option<i32>,
}

impl LocalTime {
    /// `None` for the first and last years: machines write them for missing dates, and a year of fewer than four digits
    /// is a shortened one of this century.
    pub(super) fn new(micros: i64, offset: Option<i32>) -> Option<Self> {
        let year = DateTime::from_timestamp_micros(micros)?.year();
        (1_000..=9_998).contains(&year).then_some(Self { micros, offset })
    }
}

/// A time format with the directives of `strptime`.
pub(super) struct Format<'a> {
    items: Vec<Item<'a>>,
}

impl<'a> Format<'a> {
    /// Parses the format; `None` for an unknown directive.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let items = StrftimeItems::new(text).parse().ok()?;
        Some(Self { items })
    }

    /// Parses a text in this format.
    pub(super) fn read(&self, text: &str) -> Option<LocalTime> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, self.items.iter()).ok()?;
        let (date, time): (NaiveDate, NaiveTime) = (parsed.to_naive_date().ok()?, parsed.to_naive_time().ok()?);
        LocalTime::new(NaiveDateTime::new(date, time).and_utc().timestamp_micros(), parsed.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_resolves_the_field_order() {
        let format = Format::new("%m/%d/%Y %I:%M:%S %p").unwrap();
        let noon = LocalTime { micros: 1_788_264_000_000_000, offset: None };
        assert_eq!(format.read("09/01/2026 12:00:00 PM"), Some(noon));
        assert_eq!(format.read("31/01/2026 12:00:00 PM"), None);
        assert_eq!(format.read("09/01/26 12:00:00 PM"), None);
        assert!(Format::new("%Q").is_none());
    }
}
