//! Agronomic computation on layers: conversion of units.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use super::bridge;
use super::layer::Layer;
use crate::agronomy::{self, System, Target};

/// The layer with columns in other units; `units` is the name of a system or a mapping of column to unit.
#[pyfunction]
#[pyo3(signature = (layer, units, crop))]
pub(super) fn to_units(
    py: Python<'_>,
    layer: &Layer,
    units: &Bound<'_, PyAny>,
    crop: Option<String>,
) -> PyResult<Layer> {
    let target = target(units)?;
    let layer = layer.records();
    bridge::compute(py, move |_| agronomy::to_units(layer, &target, crop.as_deref())).map(Layer::new)
}

fn target(units: &Bound<'_, PyAny>) -> PyResult<Target> {
    const FORMS: &str = "\"metric\", \"us\" or a mapping of column to unit, such as {\"YIELD\": \"t/ha\"}";
    if let Ok(word) = units.extract::<String>() {
        return match word.as_str() {
            "metric" => Ok(Target::System(System::Metric)),
            "us" => Ok(Target::System(System::Us)),
            _ => Err(PyValueError::new_err(format!("`units`: expected {FORMS}, got {word:?}"))),
        };
    }
    let wrong = || {
        let kind = units.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("`units`: expected {FORMS}, got {kind}"))
    };
    let items = units.cast::<PyMapping>().map_err(|_| wrong())?.items()?;
    let pairs: PyResult<Vec<(String, String)>> =
        items.iter().map(|pair| pair.extract().map_err(|_: PyErr| wrong())).collect();
    pairs.map(Target::Columns)
}
