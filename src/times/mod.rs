//! The one parser of dates and times of day, in the forms of services, displays and spreadsheets.

mod calendar;
mod cell;
mod clock;
mod dates;
pub mod iso;

pub(crate) use self::calendar::{DAY, days_since_epoch};
pub(crate) use self::cell::{Cell, parse_date};
pub(crate) use self::clock::parse_clock;
pub(crate) use self::dates::{Dates, Written, full_year, read_dates};
