//! The rate that was asked for against the rate that was applied.

mod causes;
mod choose_targets;
mod classes;
mod compare;
mod job_totals;
mod map_products;
mod part;
mod prescription_target;
mod report;
mod steps;
mod target_values;
mod zones;

pub use compare::{RateComparison, compare_rates};
pub use target_values::RateTarget;
