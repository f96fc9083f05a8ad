//! Times of services: parses the forms that begin with the year (field notes, Values), and writes strict ISO 8601.

use chrono::{DateTime, Datelike as _, SecondsFormat, Utc};

use super::{Cell, DAY, days_since_epoch};

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
    parse_usual(text).or_else(|| parse(&Cell::parse(text))).map_or(Read::Wrong, Read::Time)
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

/// Parses `2026-09-01T12:00:00Z`, with or without decimals: most times of services have this form, whose parts need no
/// search.
fn parse_usual(text: &str) -> Option<DateTime<Utc>> {
    let text = text.as_bytes();
    let number = |range: std::ops::Range<usize>| {
        let add = |number: u32, digit: &u8| digit.is_ascii_digit().then(|| number * 10 + u32::from(*digit - b'0'));
        text.get(range)?.iter().try_fold(0, add)
    };
    let signs = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !signs.iter().all(|(place, sign)| text.get(*place) == Some(sign)) {
        return None;
    }
    let day = days_since_epoch(number(0..4)?, number(5..7)?, number(8..10)?)?;
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let decimals = match text.get(19..)?.strip_suffix(b"Z")? {
        [] => &[],
        [b'.', decimals @ ..] => decimals,
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 59 || !decimals.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let decimals = decimals.iter().chain(&[b'0'; 6]).take(6);
    let micros = decimals.fold(0, |micros, digit| micros * 10 + u32::from(*digit - b'0'));
    let seconds = i64::from(day) * 86_400 + i64::from(hour * 3_600 + minute * 60 + second);
    DateTime::from_timestamp(seconds, micros * 1_000)
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
    fn usual_form_is_parsed_like_every_other() {
        let usual = "2024-02-29T23:59:59.1234567Z";
        let signs: Vec<char> = "019-:T.Z ".chars().collect();
        for length in 0..=usual.len() {
            for (at, _) in usual.char_indices() {
                for sign in &signs {
                    let text = format!("{}Z", &usual[..length]);
                    let text: String = text.chars().enumerate().map(|(i, c)| if i == at { *sign } else { c }).collect();
                    if let Some(time) = parse_usual(&text) {
                        assert_eq!(Some(time), parse(&Cell::parse(&text)), "{text}");
                    }
                }
            }
        }
        for text in ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.Z", "2024-02-29T23:59:59.000Z", usual] {
            assert!(parse_usual(text).is_some(), "{text}");
        }
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
