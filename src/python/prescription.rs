//! Bindings of prescriptions: making them from layers, and checks of files and tables.

use std::path::PathBuf;

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use super::layer::{Layer, diagnostic_to_dict};
use super::{bridge, errors};
use headland_prescription::{self as prescription, CheckOptions, RateTotal, Request};
use headland_reader::archive::Source;

/// Rate, zones, hectares and amount.
type RateRow = (f64, usize, f64, f64);

/// A prescription of the core; `headland.Prescription` wraps it.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Prescription(prescription::Prescription);

#[pymethods]
impl Prescription {
    /// The zip.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.bytes)
    }

    #[getter]
    fn layer(&self) -> Layer {
        Layer::new(self.0.layer.clone())
    }

    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.diagnostics.iter().map(|diagnostic| diagnostic_to_dict(py, diagnostic)).collect()
    }

    /// Rate, zones, hectares and amount of each rate; hectares, amount and its unit in all.
    #[getter]
    fn totals(&self) -> (Vec<RateRow>, f64, f64, &str) {
        let totals = &self.0.totals;
        let row = |RateTotal { rate, zones, area, amount }: &RateTotal| (*rate, *zones, *area, *amount);
        (totals.rates.iter().map(row).collect(), totals.area, totals.amount, &totals.unit)
    }
}

/// Makes a prescription of zones; `rates` has one for each row.
#[pyfunction]
#[pyo3(signature = (zones, rates, unit, name, product, step, min_area, boundary, display))]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the public function")]
pub(super) fn make_prescription(
    py: Python<'_>,
    zones: &Layer,
    rates: Vec<f64>,
    unit: String,
    name: String,
    product: Option<String>,
    step: Option<f64>,
    min_area: Option<f64>,
    boundary: Option<&Layer>,
    display: Option<String>,
) -> PyResult<Prescription> {
    let zones = zones.records();
    let boundary = boundary.map(Layer::records);
    let request = Request { unit, name, product, step, min_area, boundary, display };
    bridge::compute(py, move |_| prescription::make(&zones, &rates, &request)).map(Prescription)
}

/// The unit of the amount of a rate's unit; an error if it is no amount per area.
#[pyfunction]
pub(super) fn amount_unit(py: Python<'_>, unit: &str) -> PyResult<String> {
    prescription::area_unit(unit).map(|(amount, _)| amount).map_err(|error| errors::raise(py, &error))
}

/// The column of units of zones, and the units that differ in it.
#[pyfunction]
pub(super) fn stated_units(zones: &Layer) -> Option<(String, Vec<String>)> {
    let units = headland_agronomy::zone_units(&zones.records())?;
    let texts = units.distinct(headland_agronomy::is_same_unit);
    Some((units.column.clone(), texts.into_iter().map(|(text, _)| text.to_owned()).collect()))
}

/// What to check: a path, bytes or a layer.
#[derive(FromPyObject)]
pub(super) enum Checked<'py> {
    Layer(PyRef<'py, Layer>),
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

/// Checks a prescription. Returns the diagnostics and the column of rates.
#[pyfunction]
#[pyo3(signature = (source, rate, boundary, display))]
pub(super) fn check_prescription<'py>(
    py: Python<'py>,
    source: Checked<'py>,
    rate: Option<String>,
    boundary: Option<&Layer>,
    display: Option<String>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, Option<String>)> {
    let options = CheckOptions { rate, boundary: boundary.map(Layer::records), display };
    let found = match source {
        Checked::Layer(layer) => {
            let layer = layer.records();
            bridge::compute(py, move |_| prescription::check_layer(&layer, &options))
        }
        Checked::Bytes(bytes) => {
            let source = Source::Bytes(Bytes::from_owner(bytes));
            bridge::compute(py, move |_| prescription::check_source(&source, &options))
        }
        Checked::Path(path) => bridge::compute(py, move |_| prescription::check_source(&Source::Path(path), &options)),
    }?;
    let diagnostics =
        found.diagnostics.iter().map(|diagnostic| diagnostic_to_dict(py, diagnostic)).collect::<PyResult<_>>()?;
    Ok((diagnostics, found.rate))
}
