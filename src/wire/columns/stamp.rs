//! The one form of times that nearly every record has, as microseconds: other forms are read by `wire::time`.

/// Microseconds since 1970 of `YYYY-MM-DDTHH:mm:ss`, with up to six digits of a fraction, and `Z`; `None` for every
/// other form, for zero dates and for what is no time.
pub(super) fn micros(text: &str) -> Option<i64> {
    let text = text.as_bytes().strip_suffix(b"Z")?;
    let (whole, fraction) = text.split_at_checked(19)?;
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2] = whole else {
        return None;
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    // Zero dates are before it, and leap seconds are read the long way.
    if year < 1000 || !(1..=12).contains(&month) || day < 1 || day > days(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = ((since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1_000_000 + micros_of(fraction)?)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

fn micros_of(fraction: &[u8]) -> Option<i64> {
    match fraction {
        [] => Some(0),
        [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
            let missing = u32::try_from(6_usize.saturating_sub(digits.len())).ok()?;
            Some(number(digits)? * 10_i64.pow(missing))
        }
        _ => None,
    }
}

fn days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar, counted in years that begin in March, so that the leap day comes
/// last.
fn since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::time::{self, Read};

    #[test]
    fn other_forms_are_left_to_the_long_way() {
        for text in [
            "",
            "Z",
            "2026-09-01T12:00:00",
            "2026-09-01 12:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-09-01T24:00:00Z",
            "2026-09-01T23:59:60Z",
            "0000-00-00T00:00:00Z",
            "0001-01-01T00:00:00Z",
            "2026-09-01T12:00:00.Z",
            "2026-09-01T12:00:00.1234567Z",
            "2026-09-01T12:00:0éZ",
            "+026-09-01T12:00:00Z",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same_time(
            year in 1000_u32..=9999, month in 0_u32..=13, day in 0_u32..=32, hour in 0_u32..=24, minute in 0_u32..=60,
            second in 0_u32..=60, fraction in "(\\.[0-9]{1,6})?",
        ) {
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z");
            if let Some(micros) = micros(&text) {
                let Read::Time(time) = time::read(&text) else { panic!("{text}") };
                prop_assert_eq!(micros, time.timestamp_micros());
            } else if let Read::Time(_) = time::read(&text) {
                prop_assert_eq!(second, 60, "{}", text);
            }
        }
    }
}
