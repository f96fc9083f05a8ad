//! The rate that was asked for against the rate that was applied.

mod causes;
mod choose_targets;
mod classes;
mod compare;
mod job_totals;
mod map_products;
mod part;
mod prescription_target;
mod rate_target;
mod report;
mod step_table;
mod zones;

pub use compare::{RateComparison, compare_rates};
pub use rate_target::RateTarget;
