//! Cleaning of jobs: delays, ground and masses, and the reasons why rows mislead.

pub(crate) mod balance;
pub(crate) mod clean_rows;
#[cfg(test)]
pub(crate) mod clean_tests;
pub(crate) mod cleaned;
pub(crate) mod delays;
pub(crate) mod diagnostics;
pub(crate) mod each_season;
pub(crate) mod high_yield;
pub(crate) mod left_out;
pub(crate) mod machine_ratio;
pub(crate) mod masses;
pub(crate) mod reasons;
pub(crate) mod recipe;
pub(crate) mod steps;
