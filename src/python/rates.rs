//! Comparison of target and applied rates.

use pyo3::prelude::*;

use super::bridge;
use super::layer::Layer;
use headland_agronomy::{self as agronomy, RateTarget};

/// Target and applied rates of a job.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct RateComparison(agronomy::RateComparison);

#[pymethods]
impl RateComparison {
    #[getter]
    fn layer(&self) -> Layer {
        Layer::new(self.0.layer.clone())
    }

    #[getter]
    fn report(&self) -> Layer {
        Layer::new(self.0.report.clone())
    }

    #[getter]
    fn steps(&self) -> Layer {
        Layer::new(self.0.steps.clone())
    }

    #[getter]
    fn job(&self) -> Option<Layer> {
        self.0.job.clone().map(Layer::new)
    }
}

/// Compares the rates of a job. Of `column` and `map` at most one is given.
#[pyfunction]
pub(super) fn compare_rates(
    py: Python<'_>,
    layer: &Layer,
    column: Option<String>,
    map: Option<&Layer>,
    tolerance: f64,
) -> PyResult<RateComparison> {
    let layer = layer.records();
    let target = match (column, map) {
        (Some(column), _) => RateTarget::Column(column),
        (None, Some(map)) => RateTarget::Map(Box::new(map.records())),
        (None, None) => RateTarget::Logged,
    };
    bridge::compute(py, move |_| agronomy::compare_rates(layer, &target, tolerance)).map(RateComparison)
}
