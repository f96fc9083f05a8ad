//! Parses local dates and times in the formats of displays. Ambiguous text needs a format.

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};

/// In microseconds.
const DAY: i64 = 86_400_000_000;

/// A local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalTime {
    /// Local microseconds since 1970.
    pub(super) micros: i64,
    /// Seconds ahead of UTC, if the text has an offset.
    pub(super) offset: Option<i32>,
}

/// Parses a date and a time in one text, such as `2026-09-01T12:00:00Z`. The `T` may be a blank.
pub(super) fn parse_timestamp(text: &str) -> Option<LocalTime> {
    let text = text.trim();
    let (day, time) = text.split_once(['T', 't', ' '])?;
    parse_time_on(parse_date(day)?, time)
}

/// Parses a time, with or without offset, on a date.
pub(super) fn parse_time_on(day: i64, time: &str) -> Option<LocalTime> {
    let (time, offset) = split_offset(time.trim())?;
    let micros = day.checked_mul(DAY)?.checked_add(parse_time_of_day(time.trim_end())?)?;
    Some(LocalTime { micros, offset })
}

/// Parses a time of day, with or without offset: microseconds since midnight, and seconds ahead of UTC.
pub(crate) fn parse_clock(text: &str) -> Option<(i64, Option<i32>)> {
    parse_time_on(0, text).map(|time| (time.micros, time.offset))
}

/// The days since 1970 of `2026-09-01`, `2026/09/01` or `20260901`. Other orders of day and month need a format.
pub(super) fn parse_date(text: &str) -> Option<i64> {
    let text = text.trim();
    let (year, month, day) = match text.as_bytes() {
        [_, _, _, _, first @ (b'-' | b'/'), _, _, second, _, _] if first == second => {
            (text.get(..4)?, text.get(5..7)?, text.get(8..)?)
        }
        [_, _, _, _, _, _, _, _] => (text.get(..4)?, text.get(4..6)?, text.get(6..)?),
        _ => return None,
    };
    let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten();
    let month = u32::try_from(number(month)?).ok()?;
    let day = u32::try_from(number(day)?).ok()?;
    days_since_epoch(NaiveDate::from_ymd_opt(number(year)?, month, day)?)
}

/// The days since 1970. The last year of Python's range is rejected, since machines write it for missing dates, and years of
/// fewer than four digits, which are shortened ones of this century.
fn days_since_epoch(date: NaiveDate) -> Option<i64> {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
    (1_000..=9_998).contains(&date.year()).then(|| date.signed_duration_since(epoch).num_days())
}

/// A date column value in days since 1970; `None` if it is out of range.
pub(super) fn check_day(day: i64) -> Option<i64> {
    check_timestamp(day.checked_mul(DAY)?).map(|_| day)
}

/// A timestamp column value; `None` if its date is out of range.
pub(super) fn check_timestamp(micros: i64) -> Option<LocalTime> {
    days_since_epoch(DateTime::from_timestamp_micros(micros)?.date_naive()).map(|_| LocalTime { micros, offset: None })
}

/// Splits the offset in seconds from a time: `Z`, `UTC`, `+02:00`, `+0200` or `+02`.
fn split_offset(text: &str) -> Option<(&str, Option<i32>)> {
    let in_utc =
        text.strip_suffix(['Z', 'z']).or_else(|| text.strip_suffix("UTC")).or_else(|| text.strip_suffix("GMT"));
    if let Some(time) = in_utc {
        return Some((time, Some(0)));
    }
    let Some(index) = text.rfind(['+', '-']) else { return Some((text, None)) };
    let (time, offset) = text.split_at_checked(index)?;
    let (sign, digits) = offset.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = digits.split_at_checked(2)?;
    let hours: i32 = hours.parse().ok()?;
    let minutes: i32 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    let seconds = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
    (hours < 24 && minutes < 60).then_some((time, Some(if sign == "-" { -seconds } else { seconds })))
}

/// The microseconds since midnight of `12:00:00`, with fractions or without seconds, `120000`, or `1:02:03 PM`.
fn parse_time_of_day(text: &str) -> Option<i64> {
    let suffix = text.len().checked_sub(2).and_then(|index| text.get(index..)).unwrap_or_default();
    let half_day = ["AM", "PM"].into_iter().position(|half| suffix.eq_ignore_ascii_case(half));
    let digits = if half_day.is_some() { text.get(..text.len().checked_sub(2)?)?.trim_end() } else { text };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (digits, ""),
    };
    let (hour, minute, second) = if whole.contains(':') {
        let mut parts = whole.split(':');
        let found = (parts.next()?, parts.next()?, parts.next());
        if parts.next().is_some() {
            return None;
        }
        found
    } else if whole.len() == 6 && whole.is_ascii() {
        (whole.get(..2)?, whole.get(2..4)?, Some(whole.get(4..)?))
    } else {
        return None;
    };
    let parse_number = |part: &str, least: usize| -> Option<i64> {
        let fits = (least..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if fits { part.parse().ok() } else { None }
    };
    // `9:05` is a time. `9:5` and `09:26:4` have lost a digit of unknown position.
    let second = match second {
        Some(second) => parse_number(second, 2)?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let (hour, minute) = (parse_number(hour, 1)?, parse_number(minute, 2)?);
    let hour = match half_day {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(0) => hour % 12,
        Some(_) => (hour % 12).checked_add(12)?,
    };
    if hour > 23 || minute > 59 || second > 59 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digit = |place: usize| fraction.as_bytes().get(place).map_or(0, |byte| i64::from(byte.saturating_sub(b'0')));
    let micros = (0..6).fold(0_i64, |micros, place| micros.saturating_mul(10).saturating_add(digit(place)));
    let seconds = hour.checked_mul(3600)?.checked_add(minute.checked_mul(60)?)?.checked_add(second)?;
    seconds.checked_mul(1_000_000)?.checked_add(micros)
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
        days_since_epoch(date)?;
        let micros = NaiveDateTime::new(date, time).and_utc().timestamp_micros();
        Some(LocalTime { micros, offset: parsed.offset() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_788_264_000_000_000;

    #[test]
    fn display_formats_are_parsed() {
        let day = parse_date("2026-09-01").unwrap();
        assert_eq!((parse_date("20260901"), parse_date("2026/09/01")), (Some(day), Some(day)));
        for (text, seconds) in [
            ("12:00:00", 0),
            ("12:00", 0),
            ("120001", 1),
            ("12:00:01.000", 1),
            ("9:00:00", -10_800),
            ("12:00:02 PM", 2),
            ("1:00:00pm", 3_600),
            ("12:00:00 am", -43_200),
        ] {
            assert_eq!(
                parse_time_on(day, text),
                Some(LocalTime { micros: NOON + seconds * 1_000_000, offset: None }),
                "{text}"
            );
        }
        assert_eq!(parse_time_on(day, "12:00:00.1234567").unwrap().micros, NOON + 123_456);
        for (text, offset) in [
            ("2026-09-01T12:00:00Z", Some(0)),
            ("2026-09-01 12:00:00+02:00", Some(7_200)),
            ("20260901T120000-0530", Some(-19_800)),
            ("2026-09-01 12:00:00 UTC", Some(0)),
            ("2026-09-01 12:00:00 PM", None),
        ] {
            assert_eq!(parse_timestamp(text), Some(LocalTime { micros: NOON, offset }), "{text}");
        }
    }

    #[test]
    fn ambiguous_or_invalid_text_is_no_time() {
        for text in
            ["09/01/2026 12:00:00", "2026-09-01", "2026-13-01 00:00:00", "0001-01-01T00:00:00", "", "2026-9-1 1:00"]
        {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
        for text in [
            "09:26:4",
            "24:00:00",
            "12:60:00",
            "12",
            "13:00:00 PM",
            "12:00:00+25:00",
            "12:00:0x",
            "-",
            "1200",
            "é:00:00",
        ] {
            assert_eq!(parse_time_on(0, text), None, "{text}");
        }
    }

    #[test]
    fn format_resolves_the_field_order() {
        let format = Format::new("%m/%d/%Y %I:%M:%S %p").unwrap();
        assert_eq!(format.read("09/01/2026 12:00:00 PM"), Some(LocalTime { micros: NOON, offset: None }));
        assert_eq!(format.read("31/01/2026 12:00:00 PM"), None);
        assert_eq!(format.read("09/01/26 12:00:00 PM"), None);
        assert!(Format::new("%Q").is_none());
    }
}
