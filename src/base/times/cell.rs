//! Reads a text that states a date, a time of day, or both.

use super::clock::parse_clock;
use super::dates::Written;

/// A date and a time of day as one text states them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// The date.
    pub date: Option<Written>,
    /// Microseconds since midnight.
    pub clock: Option<i64>,
    /// Seconds ahead of UTC.
    pub offset: Option<i32>,
}

impl Cell {
    /// Parses a date and a time of day in either order, or one of them alone. Six digits are a time of day.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(cell) = Self::both(text) {
            return cell;
        }
        match parse_clock(text) {
            Some((clock, offset)) => Self { date: None, clock: Some(clock), offset },
            None => Self { date: Written::parse(text), ..Self::default() },
        }
    }

    /// The parts are separated by a blank or the `T` between digits, or they are 14 digits.
    fn both(text: &str) -> Option<Self> {
        let joined = |date: &str, clock: &str| {
            let (date, (clock, offset)) = (Written::parse(date)?, parse_clock(clock)?);
            Some(Self { date: Some(date), clock: Some(clock), offset })
        };
        let bytes = text.as_bytes();
        if bytes.len() == 14 && bytes.iter().all(u8::is_ascii_digit) {
            return text.split_at_checked(8).and_then(|(date, clock)| joined(date, clock));
        }
        let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
        (1..bytes.len()).find_map(|index| {
            let is_between = match bytes.get(index)? {
                b'T' | b't' => is_digit(index.saturating_sub(1)) && is_digit(index.saturating_add(1)),
                sign => *sign == b' ',
            };
            if !is_between {
                return None;
            }
            let (first, second) = (text.get(..index)?, text.get(index.saturating_add(1)..)?);
            joined(first, second).or_else(|| joined(second, first))
        })
    }
}

/// Parses a cell of a column of dates. Some exports write midnight behind each date.
#[must_use]
pub fn parse_date(text: &str) -> Option<Written> {
    Written::parse(text).or_else(|| Cell::parse(text).date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_and_time_of_day_in_one_text_are_parsed() {
        const NOON: i64 = 43_200_000_000;
        for (text, offset) in [
            ("2026-09-01T12:00:00Z", Some(0)),
            ("2026-09-01 12:00:00+02:00", Some(7_200)),
            ("20260901T120000-0530", Some(-19_800)),
            ("2026-09-01 12:00:00 UTC", Some(0)),
            ("2026-9-1 12:00:00 PM", None),
            ("20260901120000", None),
            ("12:00 2026/09/01", None),
            ("1 Sep 2026 12:00", None),
        ] {
            let cell = Cell::parse(text);
            assert!(cell.date.is_some(), "{text}");
            assert_eq!((cell.clock, cell.offset), (Some(NOON), offset), "{text}");
        }
        for text in ["", "noon", "2026-09-01T", "2026-09-01 24:00", "2026-09-01T12:00:00+25:00", "T12:00", "é 12:00:0"]
        {
            let cell = Cell::parse(text);
            assert!(cell.date.is_none() && cell.clock.is_none(), "{text}");
        }
    }

    #[test]
    fn six_digits_are_a_date_in_a_column_of_dates_only() {
        let cell = Cell::parse("230626");
        assert!(cell.date.is_none() && cell.clock.is_some());
        assert!(parse_date("230626").is_some() && parse_date("2026-06-23 00:00:00").is_some());
    }
}
