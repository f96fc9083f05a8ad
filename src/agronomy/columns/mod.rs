//! Canonical columns: which column of a layer is one, in which unit, and the columns that follow from others.

pub(crate) mod added;
pub(crate) mod alias_table;
pub(crate) mod aliases;
pub(crate) mod arrays;
pub(crate) mod canonical;
pub(crate) mod canonical_rows;
pub(crate) mod cell_values;
pub(crate) mod convert;
pub(crate) mod crops;
pub(crate) mod derived;
pub(crate) mod edited;
pub(crate) mod harmonize;
pub(crate) mod job_products;
pub(crate) mod job_rows;
pub(crate) mod market_moisture;
pub(crate) mod matching;
pub(crate) mod no_values;
pub(crate) mod own_columns;
pub(crate) mod own_units;
pub(crate) mod provenance;
pub(crate) mod row_diagnostics;
pub(crate) mod row_ratios;
pub(crate) mod statements;
pub(crate) mod unit_checks;
pub(crate) mod unit_inference;
#[cfg(test)]
pub(crate) mod unit_inference_tests;
pub(crate) mod unit_proofs;
pub(crate) mod unused_columns;
pub(crate) mod values;
pub(crate) mod yield_basis;
