//! Local times of a layer, whose zone is resolved in Python.

use pyo3::prelude::*;

use super::bridge;
use super::layer::Layer;
use headland_reader::layer::{self as records, Offsets};

/// The times of a layer's records on a local clock.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct LocalTimes {
    times: records::LocalTimes,
}

impl LocalTimes {
    pub(super) fn new(times: records::LocalTimes) -> Self {
        Self { times }
    }
}

#[pymethods]
impl LocalTimes {
    /// The distinct local times as minutes since 1970-01-01T00:00 on the same clock.
    #[getter]
    fn minutes(&self) -> Vec<i64> {
        self.times.minutes().to_vec()
    }
}

/// Reads the times of a layer from its columns.
#[pyfunction]
#[pyo3(signature = (layer, date, time, format))]
pub(super) fn local_times(
    py: Python<'_>,
    layer: &Layer,
    date: String,
    time: Option<String>,
    format: Option<String>,
) -> PyResult<LocalTimes> {
    let layer = layer.records();
    let read = move |_: &_| layer.local_times(&date, time.as_deref(), format.as_deref());
    bridge::compute(py, read).map(LocalTimes::new)
}

/// Returns the layer with a column of these times in UTC.
#[pyfunction]
#[pyo3(signature = (layer, name, times, offsets, fold))]
pub(super) fn with_times(
    py: Python<'_>,
    layer: &Layer,
    name: String,
    times: &LocalTimes,
    offsets: Vec<Offsets>,
    fold: Option<u8>,
) -> PyResult<Layer> {
    let (layer, times) = (layer.records(), times.times.clone());
    bridge::compute(py, move |_| layer.with_times(&name, &times, &offsets, fold)).map(Layer::new)
}
