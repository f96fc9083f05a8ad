//! Maps of cleaned jobs: cells and plots, their totals, titles and the columns that they show.

pub(crate) mod cells_and_plots;
pub(crate) mod column_words;
pub(crate) mod grid;
pub(crate) mod plots;
pub(crate) mod prescribed_rate;
pub(crate) mod rate_limit;
pub(crate) mod shown_column;
#[cfg(test)]
pub(crate) mod shown_column_tests;
pub(crate) mod spread_ground;
#[cfg(test)]
pub(crate) mod spread_ground_tests;
pub(crate) mod title;
pub(crate) mod unit_squares;
pub(crate) mod weighed_total;
pub(crate) mod zone_units;
