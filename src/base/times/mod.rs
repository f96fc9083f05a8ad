//! The one parser of dates and times of day, in the forms of services, displays and spreadsheets.

mod calendar;
mod cell;
mod clock;
mod dates;
pub mod iso;

pub use self::calendar::{DAY, days_since_epoch};
pub use self::cell::{Cell, parse_date};
pub use self::clock::parse_clock;
pub use self::dates::{Dates, Written, full_year, read_dates};
