//! Reads times of day, with or without an offset from UTC.

/// Parses a time of day, with or without offset: microseconds since midnight, and seconds ahead of UTC.
#[must_use]
pub fn parse_clock(text: &str) -> Option<(i64, Option<i32>)> {
    let (time, offset) = split_offset(text.trim())?;
    Some((parse_time_of_day(time.trim_end())?, offset))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day_is_parsed_or_none() {
        for (text, seconds) in [
            ("12:00:00", 43_200),
            ("12:00", 43_200),
            ("120001", 43_201),
            ("12:00:01.000", 43_201),
            ("9:00:00", 32_400),
            ("12:00:02 PM", 43_202),
            ("1:00:00pm", 46_800),
            ("12:00:00 am", 0),
        ] {
            assert_eq!(parse_clock(text), Some((seconds * 1_000_000, None)), "{text}");
        }
        assert_eq!(parse_clock("00:00:00.1234567"), Some((123_456, None)));
        assert_eq!(parse_clock("00:00 -05:30"), Some((0, Some(-19_800))));
        for text in ["09:26:4", "24:00:00", "12:60:00", "12", "13:00:00 PM", "12:00:00+25:00", "12:00:0x", "-", "1200"]
        {
            assert_eq!(parse_clock(text), None, "{text}");
        }
    }
}
