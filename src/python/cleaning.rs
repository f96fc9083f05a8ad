//! Cleaning of jobs and maps of cleaned jobs.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::bridge;
use super::layer::Layer;
use headland_agronomy::{self as agronomy, Delay, GridOptions, MachineDelay};
use headland_reader::layer::crs::Crs;

/// A cleaned job.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Cleaned(agronomy::Cleaned);

#[pymethods]
impl Cleaned {
    #[getter]
    fn layer(&self) -> Layer {
        Layer::new(self.0.layer().clone())
    }

    #[getter]
    fn report(&self) -> Layer {
        Layer::new(self.0.report().clone())
    }

    #[getter]
    fn recipe(&self) -> &str {
        self.0.recipe()
    }

    #[getter]
    fn is_harvest(&self) -> bool {
        self.0.is_harvest()
    }

    /// Percent of water of the report, or `several`.
    #[getter]
    fn dry_basis(&self) -> Option<&str> {
        self.0.dry_basis()
    }

    /// Delays of the flow: the job if the layer has several, the machine's number, and a dict.
    #[getter]
    fn delays<'py>(&self, py: Python<'py>) -> PyResult<Vec<NamedDelay<'py>>> {
        self.0.delays().iter().map(|delay| to_dict(py, delay)).collect()
    }

    /// Delays of the moisture.
    #[getter]
    fn moisture_delays<'py>(&self, py: Python<'py>) -> PyResult<Vec<NamedDelay<'py>>> {
        self.0.moisture_delays().iter().map(|delay| to_dict(py, delay)).collect()
    }

    /// Locations with the yield as logged and the main reason of each row.
    fn before(&self, py: Python<'_>) -> PyResult<Layer> {
        let cleaned = self.0.clone();
        bridge::compute(py, move |_| cleaned.before()).map(Layer::new)
    }

    fn swaths(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<Layer> {
        let cleaned = self.0.clone();
        bridge::compute(py, move |_| cleaned.swaths(&columns)).map(Layer::new)
    }
}

/// Job, machine and values of a delay.
type NamedDelay<'py> = (Option<String>, i64, Bound<'py, PyDict>);

fn to_dict<'py>(py: Python<'py>, delay: &MachineDelay) -> PyResult<NamedDelay<'py>> {
    let Delay { seconds, curve, pairs, contrast, halves, reason, .. } = &delay.delay;
    let finite = |value: f64| value.is_finite().then_some(value);
    let dict = PyDict::new(py);
    dict.set_item("seconds", seconds)?;
    dict.set_item("curve", curve)?;
    dict.set_item("pairs", pairs)?;
    dict.set_item("contrast", finite(*contrast))?;
    let [even, odd] = halves.map(finite);
    dict.set_item("halves", even.zip(odd))?;
    dict.set_item("reason", reason)?;
    Ok((delay.job.clone(), delay.machine, dict))
}

/// Cleans a job. `recipe` and `arguments` are JSON.
#[pyfunction]
pub(super) fn clean(
    py: Python<'_>,
    layer: &Layer,
    recipe: Option<String>,
    arguments: String,
    boundary: Option<&Layer>,
) -> PyResult<Cleaned> {
    let (layer, boundary) = (layer.records(), boundary.map(Layer::records));
    bridge::compute(py, move |_| agronomy::clean(layer, recipe.as_deref(), &arguments, boundary.as_ref())).map(Cleaned)
}

/// Makes a map of a cleaned job. `crs` is a code or WKT, `total` pairs of machine and kilograms.
#[pyfunction]
pub(super) fn grid(
    py: Python<'_>,
    cleaned: &Cleaned,
    cell: f64,
    plots: Option<&Layer>,
    by: Option<Vec<String>>,
    crs: Option<String>,
    total: Vec<(Option<i64>, f64)>,
) -> PyResult<Layer> {
    let crs = crs.map(|text| parse_crs(&text, cleaned)).transpose()?;
    let (cleaned, plots) = (cleaned.0.clone(), plots.map(Layer::records));
    let options = GridOptions { cell, by, crs, total };
    bridge::compute(py, move |_| agronomy::grid(&cleaned, plots.as_ref(), &options)).map(Layer::new)
}

fn parse_crs(text: &str, cleaned: &Cleaned) -> PyResult<Crs> {
    let parsed = Crs::from_code(text).unwrap_or_else(|| Crs::from_wkt(text)).ok();
    parsed.ok_or_else(|| {
        let usual = cleaned.0.usual_crs().ok().and_then(|crs| crs.code());
        let advice = usual.map_or_else(|| "leave it out".to_owned(), |code| format!("pass `crs=\"{code}\"`"));
        let shown: String = text.chars().take(40).collect();
        PyValueError::new_err(format!(
            "`crs`: headland does not know the system `{shown}`; {advice}, that of the field"
        ))
    })
}

/// Writes a column of square cells as a `.tif` with its style.
#[pyfunction]
pub(super) fn write_geotiff(py: Python<'_>, layer: &Layer, path: PathBuf, column: String) -> PyResult<()> {
    let layer = layer.records();
    bridge::compute(py, move |cancel| {
        let index = layer.column_index("column", &column)?;
        let unit = agronomy::unit_label(&layer, index, None)?;
        layer.write_geotiff(&path, index, unit.as_deref(), cancel)
    })
}

/// The worked ground of a job in m2, each piece once, and messages if much is left out.
#[pyfunction]
pub(super) fn covered_area(py: Python<'_>, layer: &Layer) -> PyResult<(f64, Vec<String>)> {
    let layer = layer.records();
    bridge::compute(py, move |_| agronomy::covered_area(layer))
}
