//! Agronomic computation over the columns of layers: harmonised columns, units and their conversion.

#![forbid(unsafe_code)]

mod aliases;
mod canonical_arrays;
mod column_match;
mod columns;
mod convert;
mod crops;
mod derived;
mod harmonize;
mod provenance;
mod row_times;
mod units;

pub use column_match::Stated;
pub use columns::JobKind;
pub use convert::{Target, to_units};
pub use crops::{CROPS, Crop};
pub use harmonize::{Job, Statements, harmonize, local_times};
pub use units::{Mismatch, Quantity, System, Unit};
