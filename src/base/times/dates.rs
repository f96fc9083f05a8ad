//! Reads dates as displays and spreadsheets write them. The order of day, month and year is chosen over all rows.

use super::calendar::days_since_epoch;

/// Days that the first date may be apart from the start of its job.
const NEAR: i64 = 7;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The orders of the parts of a date, and what they are called.
const ORDERS: [(Order, &str); 3] =
    [(Order::Year, "year, month, day"), (Order::Day, "day, month, year"), (Order::Month, "month, day, year")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// The part that comes first.
enum Order {
    Year,
    Day,
    Month,
}

/// The place of the year, which the number of its digits shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    YearFirst,
    YearLast,
    /// No part has four digits.
    TwoDigits,
}

/// A date before its order is known.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    parts: [u16; 3],
    shape: Shape,
    /// Points separate the parts; the month is never first then.
    has_points: bool,
    /// A name states the month, which is the second part.
    has_month_name: bool,
}

/// The dates of all rows in days since 1970, and how they were read.
#[derive(Debug)]
pub struct Dates {
    /// A day for each row.
    pub days: Vec<Option<i64>>,
    /// The order of the parts, where the number of digits does not show it.
    pub order: Option<&'static str>,
    /// Whether the years have two digits.
    pub has_short_years: bool,
}

impl Written {
    /// Parses `2026-06-23`, `20260623`, `23/06/2026`, `6/23/26`, `23.06.26` or `23-Jun-26`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some(sign) = text.chars().find(|sign| !sign.is_ascii_alphanumeric()) else {
            return Self::from_digits(text);
        };
        let mut parts = text.split(sign).filter(|_| "/-. ".contains(sign));
        let [first, second, third] = [parts.next()?, parts.next()?, parts.next()?];
        if parts.next().is_some() {
            return None;
        }
        let month = named_month(second);
        let shape = match (first.len(), second.len(), third.len()) {
            (_, 3.., _) if month.is_none() => return None,
            (4, _, 1..=2) => Shape::YearFirst,
            (1..=2, _, 4) => Shape::YearLast,
            (1..=2, _, 1..=2) => Shape::TwoDigits,
            _ => return None,
        };
        let parts = [digits(first)?, month.or_else(|| digits(second))?, digits(third)?];
        Some(Self { parts, shape, has_points: sign == '.', has_month_name: month.is_some() })
    }

    /// Eight digits begin with the year. The order of six is that of the other rows.
    fn from_digits(text: &str) -> Option<Self> {
        let part = |range| text.get(range).and_then(digits);
        let (parts, shape) = match text.len() {
            8 => ([part(0..4)?, part(4..6)?, part(6..8)?], Shape::YearFirst),
            6 => ([part(0..2)?, part(2..4)?, part(4..6)?], Shape::TwoDigits),
            _ => return None,
        };
        Some(Self { parts, shape, has_points: false, has_month_name: false })
    }

    fn fits(&self, order: Order) -> bool {
        let is_possible = match self.shape {
            Shape::YearFirst => order == Order::Year,
            Shape::YearLast => order != Order::Year,
            Shape::TwoDigits => true,
        };
        is_possible && !(order == Order::Month && (self.has_points || self.has_month_name))
    }

    /// Days since 1970; `None` for a date that does not exist in this order. A year below 1000 is a shortened one.
    fn days(&self, order: Order) -> Option<i64> {
        if !self.fits(order) {
            return None;
        }
        let [first, second, third] = self.parts;
        let (year, month, day) = match order {
            Order::Year => (first, second, third),
            Order::Day => (third, second, first),
            Order::Month => (third, first, second),
        };
        let year = if self.shape == Shape::TwoDigits { full_year(year) } else { year };
        if year < 1_000 { None } else { days(year, month, day) }
    }

    /// Days since 1970 of `06/23/2026`: month first, and day first.
    #[must_use]
    pub fn by_slashes(&self) -> [Option<i64>; 2] {
        [Order::Month, Order::Day].map(|order| self.days(order).filter(|_| self.shape == Shape::YearLast))
    }

    /// Days since 1970 of a date that begins with its year in four digits, as services, dBASE and ISO 8601 write it.
    #[must_use]
    pub fn year_first(&self) -> Option<i64> {
        let [year, month, day] = self.parts;
        if self.shape == Shape::YearFirst { days(year, month, day) } else { None }
    }
}

/// Years of two digits are from 1980 to 2079.
#[must_use]
pub fn full_year(year: u16) -> u16 {
    year + if year < 80 { 2000 } else { 1900 }
}

/// The month of a name of at least three letters.
fn named_month(text: &str) -> Option<u16> {
    let letters = text.get(..3).filter(|_| text.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    (1..).zip(MONTHS).find(|(_, month)| letters.eq_ignore_ascii_case(month)).map(|(month, _)| month)
}

fn days(year: u16, month: u16, day: u16) -> Option<i64> {
    days_since_epoch(year.into(), month.into(), day.into()).map(i64::from)
}

fn digits(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Reads the dates of all rows in one order: the only one in which they exist, the one near `start` (days since 1970), or
/// any if all give the same dates. The error names the orders that are left.
pub fn read_dates(written: &[Option<Written>], start: Option<i64>) -> Result<Dates, String> {
    let count = |shape: Shape| written.iter().flatten().filter(|date| date.shape == shape).count();
    let shapes = [Shape::YearFirst, Shape::YearLast, Shape::TwoDigits];
    let shape = shapes.into_iter().max_by_key(|shape| count(*shape)).unwrap_or(Shape::YearFirst);
    let usual = |date: &Option<Written>| date.filter(|date| date.shape == shape);
    let is_valid = |order: Order| written.iter().filter_map(usual).filter(|date| date.days(order).is_some()).count();
    // A damaged date is valid in no order, and decides nothing.
    let most = ORDERS.iter().map(|(order, _)| is_valid(*order)).max().unwrap_or(0);
    let mut left: Vec<(Order, &str)> =
        ORDERS.iter().copied().filter(|(order, _)| most > 0 && is_valid(*order) == most).collect();
    let days = |order: Order| written.iter().map(|date| usual(date)?.days(order)).collect::<Vec<_>>();
    let first = |order: Order| written.iter().filter_map(usual).find_map(|date| date.days(order));
    if left.len() > 1
        && let Some(start) = start
    {
        let near = |order: Order| first(order).is_some_and(|day| day.abs_diff(start) <= NEAR.unsigned_abs());
        if left.iter().filter(|(order, _)| near(*order)).count() == 1 {
            left.retain(|(order, _)| near(*order));
        }
    }
    let Some((chosen, name)) = left.first().copied() else {
        return Ok(Dates { days: vec![None; written.len()], order: None, has_short_years: false });
    };
    let chosen_days = days(chosen);
    if left.iter().skip(1).any(|(order, _)| days(*order) != chosen_days) {
        let names: Vec<&str> = left.iter().map(|(_, name)| *name).collect();
        return Err(format!("`{}`", names.join("` or `")));
    }
    let has_short_years = shape == Shape::TwoDigits;
    Ok(Dates { days: chosen_days, order: (shape != Shape::YearFirst).then_some(name), has_short_years })
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    fn read(texts: &[&str], start: Option<i64>) -> Result<Vec<Option<i64>>, String> {
        let written: Vec<Option<Written>> = texts.iter().map(|text| Written::parse(text)).collect();
        read_dates(&written, start).map(|dates| dates.days)
    }

    fn day(year: i32, month: u32, day: u32) -> i64 {
        let date = NaiveDate::from_ymd_opt(year, month, day).unwrap();
        date.signed_duration_since(NaiveDate::from_ymd_opt(1970, 1, 1).unwrap()).num_days()
    }

    #[test]
    fn order_that_all_rows_allow_is_read() {
        let june = day(2026, 6, 23);
        for text in ["2026-06-23", "2026/6/23", "20260623", "23/06/2026", "6/23/2026", "06/23/26", "23-Jun-2026"] {
            assert_eq!(read(&[text], None), Ok(vec![Some(june)]), "{text}");
        }
        assert_eq!(read(&["03/04/2025", "03/25/2025"], None), Ok(vec![Some(day(2025, 3, 4)), Some(day(2025, 3, 25))]));
        assert_eq!(read(&["03.04.2025"], None), Ok(vec![Some(day(2025, 4, 3))]));
        assert_eq!(read(&["06/06/2025"], None), Ok(vec![Some(day(2025, 6, 6))]));
        assert_eq!(read(&["13/04/2025", "damaged", "00/00/0000"], None), Ok(vec![Some(day(2025, 4, 13)), None, None]));
    }

    #[test]
    fn years_of_two_digits_need_a_proof() {
        let june = day(2026, 6, 23);
        for text in ["23/06/26", "26-06-23", "23.06.26", "260623", "23-Jun-26"] {
            assert!(read(&[text], None).is_err(), "{text}");
            assert_eq!(read(&[text], Some(june + 1)), Ok(vec![Some(june)]), "{text}");
        }
        assert!(read(&["06/07/26"], Some(june)).is_err());
        for text in ["0026-06-23", "26", "1/2", "1/2/3/4", "a/b/c", "12/345/26", "1234567"] {
            assert_eq!(read(&[text], None), Ok(vec![None]), "{text}");
        }
    }
}
