//! Rows of a job: their order, steps, masses and places, and what the log claims of them.

pub(crate) mod calibration;
pub(crate) mod claims;
pub(crate) mod field_rows;
#[cfg(test)]
pub(crate) mod field_rows_tests;
pub(crate) mod gather;
pub(crate) mod intervals;
pub(crate) mod layer_order;
pub(crate) mod lengths;
pub(crate) mod logged_rows;
pub(crate) mod mass_without_flow;
pub(crate) mod measurements;
pub(crate) mod neighbours;
pub(crate) mod order;
pub(crate) mod order_fit;
pub(crate) mod outliers;
pub(crate) mod places;
pub(crate) mod position_speed_moisture;
pub(crate) mod repeated_rows;
pub(crate) mod result_columns;
#[cfg(test)]
pub(crate) mod result_columns_tests;
pub(crate) mod section_mass;
pub(crate) mod sensor_values;
pub(crate) mod shifted_values;
pub(crate) mod track_continuity;
pub(crate) mod track_rows;
pub(crate) mod unnamed_products;
