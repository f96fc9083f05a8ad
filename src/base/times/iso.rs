//! Times of services: parses the forms that begin with the year (field notes, Values), and writes strict ISO 8601.

use chrono::{DateTime, Datelike as _, SecondsFormat, Utc};

use super::{Cell, DAY};

/// The result of parsing a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A point in time.
    Time(DateTime<Utc>),
    /// No value: an empty text or a zero date.
    Nothing,
    /// Not a time.
    Wrong,
}

/// Parses a time with any number of decimals, with `T` or a space, and with `Z`, an offset or no zone, which means UTC. A
/// date alone means its midnight.
#[must_use]
pub fn read(text: &str) -> Read {
    let text = text.trim();
    if text.is_empty() || is_zero(text) {
        return Read::Nothing;
    }
    parse(&Cell::parse(text)).map_or(Read::Wrong, Read::Time)
}

/// Parses a time that a caller states: a date, or a date and a time of day with their zone. The error says what is missing.
pub fn stated(text: &str) -> std::result::Result<DateTime<Utc>, String> {
    let cell = Cell::parse(text);
    match read(text) {
        Read::Time(time) if cell.clock.is_none() || cell.offset.is_some() => Ok(time),
        Read::Time(_) => {
            Err(format!("has a time of day without a zone: `{text}`; append Z for UTC, or an offset such as +02:00"))
        }
        Read::Nothing | Read::Wrong => {
            Err(format!("is not a time: `{text}`; write it as ISO 8601, such as 2026-09-01 or 2026-09-01T12:00:00Z"))
        }
    }
}

/// Whether this is a zero date, which means that there is no value (specification 2.3).
fn is_zero(text: &str) -> bool {
    text.starts_with("0000-") || text.starts_with("0001-01-01")
}

/// The order of other dates is unknown. Python supports the years 1 to 9999; an offset may leave that range.
fn parse(cell: &Cell) -> Option<DateTime<Utc>> {
    let offset = i64::from(cell.offset.unwrap_or(0)).checked_mul(1_000_000)?;
    let midnight = cell.date?.year_first()?.checked_mul(DAY)?;
    let micros = midnight.checked_add(cell.clock.unwrap_or(0))?.checked_sub(offset)?;
    DateTime::from_timestamp_micros(micros).filter(|time| (1..=9_999).contains(&time.year()))
}

/// Writes ISO 8601 in UTC, with as many decimals as the time needs.
#[must_use]
pub fn write(time: &DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// Parses a duration `hh:mm:ss`, also with decimals and with days (`d.hh:mm:ss`).
#[must_use]
pub fn read_span(text: &str) -> Option<std::time::Duration> {
    let text = text.trim();
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (days, hours) = match hours.split_once('.') {
        Some((days, hours)) => (days.parse::<u32>().ok()?, hours),
        None => (0, hours),
    };
    let hours = f64::from(hours.parse::<u32>().ok()?);
    let minutes = f64::from(minutes.parse::<u32>().ok()?);
    let seconds = seconds.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
    std::time::Duration::try_from_secs_f64(f64::from(days) * 86_400.0 + hours * 3_600.0 + minutes * 60.0 + seconds).ok()
}

/// Finds the first duration of that form in a text.
#[must_use]
pub fn find_span(text: &str) -> Option<std::time::Duration> {
    text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')'))
        .find_map(|word| read_span(word.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_every_form_is_parsed() {
        let expected = read("2022-02-28T19:00:00Z");
        for text in [
            "2022-02-28 19:00:00",
            "2022-02-28T19:00:00",
            "2022-02-28T19:00:00.000Z",
            "2022-02-28T19:00:00.0000000",
            "2022-02-28T20:00:00+01:00",
            "2022-02-28 20:00:00 +0100",
            " 2022-02-28T19:00 ",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert!(matches!(expected, Read::Time(_)));
        assert_eq!(read("0000-00-00T00:00:00Z"), Read::Nothing);
        assert_eq!(read("0001-01-01T00:00:00"), Read::Nothing);
        assert_eq!(read("yesterday"), Read::Wrong);
        assert_eq!(read("2022-02-30"), Read::Wrong);
        assert_eq!(read("22-02-28"), Read::Wrong);
        assert_eq!(read("22-02-28T19:00:00Z"), Read::Wrong);
        assert_eq!(read("9999-12-31T23:59:59-14:00"), Read::Wrong);
        assert_eq!(read("+12345-01-01T00:00:00"), Read::Wrong);
        assert!(matches!(read("9999-12-31T23:59:59Z"), Read::Time(_)));
    }

    #[test]
    fn stated_time_of_day_needs_a_zone() {
        let noon = stated("2026-09-01T12:00:00Z").unwrap();
        for text in ["2026-09-01 12:00:00+00:00", "2026-09-01T14:00:00+0200", " 2026-09-01T07:00:00-05:00 "] {
            assert_eq!(stated(text), Ok(noon), "{text}");
        }
        assert!(stated("2026-09-01").is_ok());
        for text in ["2026-09-01T12:00:00", "2026-09-01 12:00"] {
            assert!(stated(text).unwrap_err().contains("without a zone"), "{text}");
        }
        for text in ["26-09-01", "01/09/2026", "", "2026-13-01"] {
            assert!(stated(text).unwrap_err().starts_with("is not a time"), "{text}");
        }
    }

    #[test]
    fn duration_is_the_sum_of_its_parts_or_none() {
        assert_eq!(read_span("00:00:30"), Some(std::time::Duration::from_secs(30)));
        assert_eq!(read_span("01:02:03"), Some(std::time::Duration::from_secs(3_723)));
        assert_eq!(read_span("1.00:00:00.5"), Some(std::time::Duration::from_millis(86_400_500)));
        for text in ["", "30", "00:30", "a:b:c", "00:00:-3", "00:00:nan", "00:00:inf", "1:2:3:4"] {
            assert_eq!(read_span(text), None, "{text}");
        }
    }
}
