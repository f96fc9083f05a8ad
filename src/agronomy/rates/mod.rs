//! The rate that was asked for against the rate that was applied.

mod causes;
mod classes;
mod compare;
mod job_totals;
mod map_products;
mod part;
mod planned;
mod report;
mod steps;
mod target;
mod targets;
mod zones;

pub use compare::{RateComparison, compare_rates};
pub use target::RateTarget;
