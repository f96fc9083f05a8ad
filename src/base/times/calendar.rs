//! Days since 1970 of the dates of the calendar.

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;

/// Days from 0000-03-01 to 1970-01-01, the epoch of Arrow dates.
const EPOCH: i32 = 719_468;

/// Days from 1970-01-01 to a date. `None` if the date is not in the calendar.
///
/// Algorithm `days_from_civil`: <https://howardhinnant.github.io/date_algorithms.html>.
#[inline]
#[must_use]
pub fn days_since_epoch(year: u32, month: u32, day: u32) -> Option<i32> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if year == 0 || year > 9_999 || day == 0 || day > longest {
        return None;
    }
    // A year that starts in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let since_zero = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
    i32::try_from(since_zero).ok().map(|since| since - EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_match_the_calendar() {
        let mut expected = chrono::NaiveDate::from_ymd_opt(1, 1, 1).unwrap();
        let first = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        for (year, month, day) in (1..=2_500_u32)
            .flat_map(|year| (0..=13).map(move |month| (year, month)))
            .flat_map(|(year, month)| (0..=32).map(move |day| (year, month, day)))
        {
            if let Some(found) = days_since_epoch(year, month, day) {
                assert_eq!(i64::from(found), (expected - first).num_days(), "{year}-{month}-{day}");
                expected = expected.succ_opt().unwrap();
            }
        }
        assert_eq!(expected, chrono::NaiveDate::from_ymd_opt(2501, 1, 1).unwrap());
        assert!(
            days_since_epoch(9_999, 12, 31).is_some()
                && days_since_epoch(0, 1, 1).is_none()
                && days_since_epoch(10_000, 1, 1).is_none()
        );
    }
}
