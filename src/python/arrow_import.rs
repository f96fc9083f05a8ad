//! Imports tables of other libraries as layers, by the Arrow C data interface.

use arrow_array::cast::AsArray as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::layer::Layer;
use super::{c_schema, errors};
use headland_reader::layer as records;

/// Makes a layer from a batch. It shares the memory, which the caller must not change.
///
/// `systems` is the coordinate system as code or WKT, the preferred one first.
#[pyfunction]
#[pyo3(signature = (source, batch, geometry, systems, metadata))]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub(super) fn layer_from_batch(
    py: Python<'_>,
    source: &str,
    batch: &Bound<'_, PyAny>,
    geometry: Option<usize>,
    systems: Vec<String>,
    metadata: Vec<(String, String)>,
) -> PyResult<Layer> {
    let array = c_schema::import_array(batch)?;
    let Some(table) = array.as_struct_opt() else { return Err(PyValueError::new_err("the batch is no table")) };
    records::Layer::from_table(source, table, geometry, &systems, metadata)
        .map(Layer::new)
        .map_err(|error| errors::raise(py, &error))
}
