//! Agronomic computation over the columns of layers: harmonised columns, units and their conversion.

#![forbid(unsafe_code)]

mod alias_table;
mod aliases;
mod canonical_arrays;
mod canonical_rows;
mod canonical_values;
mod column_match;
mod columns;
mod concat;
mod convert;
mod crops;
mod derived;
#[cfg_attr(not(test), expect(dead_code, reason = "cleaning and maps will use it"))]
mod field_rows;
#[cfg(test)]
mod field_rows_tests;
mod harmonize;
mod map_column;
#[cfg(test)]
mod map_column_tests;
mod map_words;
mod provenance;
#[cfg_attr(not(test), expect(dead_code, reason = "cleaning and maps will use it"))]
mod row_columns;
#[cfg(test)]
mod row_columns_tests;
mod row_mass;
mod row_ratios;
mod row_steps;
mod row_times;
mod statements;
mod unit_closure;
#[cfg(test)]
mod unit_closure_tests;
mod unit_proofs;
mod units;
mod yield_basis;

pub use canonical_rows::{YieldMean, canonical_fields, canonical_rows, first_year, layer_kind, row_field, yield_means};
pub use columns::JobKind;
pub use concat::{ConcatOptions, Part, concat};
pub use convert::{Target, to_units};
pub use crops::{CROPS, Crop};
pub use harmonize::{harmonize, local_times};
pub use map_column::{map_column, unit_label};
pub use statements::{Job, Stated, Statements};
pub use units::{Mismatch, Quantity, System, Unit};
