//! Times: parses every form that services send (field notes, Values), and writes strict ISO 8601.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, SecondsFormat, Utc};

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
    // A year of fewer digits is a shortened one of this century. Python supports the years 1 to 9999; an offset may leave that
    // range.
    let has_year = text.bytes().take_while(u8::is_ascii_digit).count() == 4;
    match parse(text).filter(|time| has_year && (1..=9_999).contains(&time.year())) {
        Some(time) => Read::Time(time),
        None => Read::Wrong,
    }
}

/// Parses a time that a caller states: a date, or a date and a time of day with their zone. The error says what is missing.
pub fn stated(text: &str) -> std::result::Result<DateTime<Utc>, String> {
    let clock = text.trim().get(10..).unwrap_or_default();
    let has_zone = clock.ends_with(['Z', 'z']) || clock.contains(['+', '-']);
    match read(text) {
        Read::Time(time) if clock.is_empty() || has_zone => Ok(time),
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

fn parse(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.with_timezone(&Utc));
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(date.and_time(chrono::NaiveTime::MIN).and_utc());
    }
    let plain = text.strip_suffix(['Z', 'z']).unwrap_or(text).trim_end();
    for form in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(plain, form) {
            return Some(time.and_utc());
        }
    }
    for form in ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z"] {
        if let Ok(time) = DateTime::parse_from_str(text, form) {
            return Some(time.with_timezone(&Utc));
        }
    }
    None
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
