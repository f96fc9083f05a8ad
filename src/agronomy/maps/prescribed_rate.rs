//! Finds the column of rates in a prescription: one answer for checks and comparisons.

use arrow_schema::{DataType, Field};

use crate::maps::words::{RATE_STEMS, is_other_name, words};
use headland_reader::layer::Layer;

/// The column of rates, by its place among the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrescribedRate {
    /// `RATE`, or the only number that is no id.
    Column(usize),
    /// Columns that can all be the rate.
    Several(Vec<usize>),
    /// No number but ids, years and coordinates.
    Missing,
}

/// Finds the column of rates: `RATE` in any letter case, else the only number that is no id.
#[must_use]
pub fn prescribed_rate(zones: &Layer) -> PrescribedRate {
    let schema = zones.schema();
    let fields = || schema.fields().iter().enumerate().filter(|(index, _)| Some(*index) != zones.geometry_index());
    let is_number = |kind: &DataType| matches!(kind, DataType::Float64 | DataType::Int32 | DataType::Int64);
    let select = |is_it: &dyn Fn(&Field) -> bool| -> Vec<usize> {
        fields().filter(|(_, field)| is_it(field)).map(|(index, _)| index).collect()
    };
    let mut found = select(&|field| field.name().eq_ignore_ascii_case("rate"));
    if found.is_empty() {
        found = select(&|field| is_number(field.data_type()) && !is_id(field.name()));
    }
    match *found {
        [] => PrescribedRate::Missing,
        [index] => PrescribedRate::Column(index),
        _ => PrescribedRate::Several(found),
    }
}

/// Whether a name is that of an id, a year or a coordinate, such as `Obj__Id` or `plot_id`.
fn is_id(name: &str) -> bool {
    let words = words(name);
    let is_rate = words.iter().any(|word| RATE_STEMS.iter().any(|stem| word.starts_with(stem)));
    name.eq_ignore_ascii_case("zone") || (is_other_name(name, &words) && !is_rate)
}
