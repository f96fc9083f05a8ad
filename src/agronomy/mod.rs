//! Agronomic computation over the columns of layers: units and their conversion.

#![forbid(unsafe_code)]

mod convert;
mod crops;
mod units;

pub use convert::{Target, to_units};
pub use crops::{CROPS, Crop};
pub use units::{Mismatch, Quantity, System, Unit};
