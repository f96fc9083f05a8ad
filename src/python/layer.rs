//! Bindings of layers: Arrow C stream, maps, files, and the functions that read archives.

use std::path::PathBuf;

use arrow_array::{RecordBatch, RecordBatchIterator};
use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyString, PyTuple};

use super::endpoints::row;
use super::memory::ReleaseOnDrop;
use super::read_options::{call_options, checked_options, read_options};
use super::{arrow_export, bridge, errors, to_dict, to_list};
use headland_agronomy as agronomy;
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{self, ReadOptions, Source};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{self as records, Cancel, picture::Picture};

/// A layer of the core; `headland.Layer` wraps it.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Layer {
    layer: records::Layer,
    _memory: ReleaseOnDrop,
}

impl Layer {
    pub(super) fn new(layer: records::Layer) -> Self {
        let memory = ReleaseOnDrop::for_layer(&layer);
        Self { layer, _memory: memory }
    }

    /// Returns the first batch, which is the only one of a layer read in batches.
    pub(super) fn into_batch(self) -> Option<RecordBatch> {
        self.layer.batches().first().cloned()
    }

    /// Returns a copy, which shares the columns.
    pub(super) fn records(&self) -> records::Layer {
        self.layer.clone()
    }

    /// Runs `work` on a copy, which shares the columns, while this thread checks for signals.
    fn compute<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&records::Layer, &Cancel) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let layer = self.layer.clone();
        bridge::compute(py, move |cancel| work(&layer, cancel))
    }
}

/// Converts a layer to the outcome of an asynchronous call.
pub(super) fn into_python(py: Python<'_>, layer: records::Layer) -> PyResult<Py<PyAny>> {
    Ok(Bound::new(py, Layer::new(layer))?.into_any().unbind())
}

#[pymethods]
impl Layer {
    #[getter]
    fn name(&self) -> &str {
        self.layer.name()
    }

    #[getter]
    fn source(&self) -> &str {
        self.layer.source()
    }

    fn __len__(&self) -> usize {
        self.layer.len()
    }

    /// Names of the columns in order, including the geometry column.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.layer.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Unique names of the columns in order: a later column with the same name gets a number.
    #[getter]
    fn distinct_columns(&self) -> Vec<String> {
        self.layer.distinct_columns()
    }

    /// Returns name, type and null count of each column.
    fn describe(&self) -> Vec<(String, String, usize)> {
        let schema = self.layer.schema();
        let nulls = |index: usize| {
            self.layer.batches().iter().map(|batch| batch.column(index).null_count()).fold(0, usize::saturating_add)
        };
        let describe = |(index, field): (usize, &arrow_schema::FieldRef)| {
            (field.name().clone(), field.data_type().to_string(), nulls(index))
        };
        schema.fields().iter().enumerate().map(describe).collect()
    }

    #[getter]
    fn geometry_column(&self) -> Option<&str> {
        self.layer.geometry_column()
    }

    /// Whether a geometry has M, which GeoParquet lacks.
    #[getter]
    fn has_m(&self) -> bool {
        self.layer.has_m()
    }

    /// A code such as `EPSG:4326` if it is certain, else the text of the .prj.
    #[getter]
    fn crs(&self) -> Option<String> {
        let code = self.layer.crs().and_then(Crs::code);
        code.or_else(|| self.layer.crs_wkt().map(str::to_owned))
    }

    /// The unit of each column of numbers, `unknown` if not stated, then those of other columns that have one.
    #[getter]
    fn units(&self) -> Vec<(String, String)> {
        let schema = self.layer.schema();
        let numbers = schema.fields().iter().filter(|field| field.data_type().is_numeric());
        numbers.map(|field| (field.name().clone(), "unknown".to_owned())).chain(self.layer.units()).collect()
    }

    #[getter]
    fn boundary(&self) -> Option<Self> {
        self.layer.boundary().cloned().map(Self::new)
    }

    /// Dicts with numbers as such.
    #[getter]
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        agronomy::provenance(&self.layer).iter().map(|entry| to_dict::provenance(py, entry)).collect()
    }

    #[getter]
    fn metadata(&self) -> Vec<(String, String)> {
        self.layer.metadata().to_vec()
    }

    /// Code, message, member, record and severity of each diagnostic.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.layer.diagnostics().iter().map(|diagnostic| diagnostic_to_dict(py, diagnostic)).collect()
    }

    /// Ignores `requested_schema`: the protocol lets the producer keep its types, and the consumer casts.
    /// <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<_> = self.layer.batches().iter().cloned().map(Ok).collect();
        arrow_export::export_stream(py, RecordBatchIterator::new(batches, self.layer.schema()))
    }

    /// Exports the records of a batch as an Arrow C array.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        match self.layer.batches() {
            [batch] => arrow_export::export_array(py, batch),
            several => {
                let message = format!("cannot export a layer of {} batches as one array: use a stream", several.len());
                Err(PyValueError::new_err(message))
            }
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_export::export_schema(py, &self.layer.schema())
    }

    /// Returns whether there is a column with this name; no column has one that UTF-8 cannot encode.
    fn __contains__(&self, name: &Bound<'_, PyString>) -> bool {
        name.to_str().is_ok_and(|name| self.layer.has_column(name))
    }

    /// Returns the cells of one column as Python values.
    fn values<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        self.cells(py, self.layer.column_index("column", column).map_err(|error| errors::raise(py, &error))?)
    }

    /// Returns the cells of the column at a position.
    fn cells<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyList>> {
        let values = PyList::empty(py);
        for array in self.layer.batches().iter().filter_map(|batch| batch.columns().get(index)) {
            to_list::append(&values, array.as_ref())?;
        }
        Ok(values)
    }

    /// Returns at most `count` rows from `start` on as dicts without the geometry, empty after the last row.
    fn rows<'py>(&self, py: Python<'py>, start: usize, count: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let geometry = self.layer.geometry_index();
        let names = self.layer.distinct_columns().into_iter().enumerate();
        let names: Vec<_> = names.map(|(index, name)| (Some(index) != geometry).then_some(name)).collect();
        let mut before = start;
        for batch in self.layer.batches() {
            if before < batch.num_rows() {
                let left = batch.num_rows().saturating_sub(before);
                return to_list::rows(py, &names, &batch.slice(before, left.min(count)));
            }
            before = before.saturating_sub(batch.num_rows());
        }
        Ok(Vec::new())
    }

    fn geojson(&self, py: Python<'_>, as_is: bool) -> PyResult<String> {
        self.compute(py, move |layer, _| layer.geojson(as_is))
    }

    fn write_geojson(&self, py: Python<'_>, path: PathBuf, as_is: bool) -> PyResult<()> {
        self.compute(py, move |layer, cancel| layer.write_geojson(&path, as_is, cancel))
    }

    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.compute(py, move |layer, cancel| layer.write_parquet(&path, cancel))
    }

    /// Returns the area of the polygons or the worked area in square metres, or the area of the polygons in the square of
    /// the layer's unit if `as_is`.
    fn area(&self, py: Python<'_>, as_is: bool) -> PyResult<Option<f64>> {
        self.compute(py, move |layer, _| if as_is { layer.area(true) } else { agronomy::area(layer) })
    }

    /// Returns a header and the buffers of the columns, from which `from_parts` makes an equal layer in any process.
    fn to_parts<'py>(&self, py: Python<'py>) -> PyResult<(String, Vec<Bound<'py, PyBytes>>)> {
        let (about, buffers) = self.layer.to_parts().map_err(|error| errors::raise(py, &error))?;
        Ok((about, buffers.iter().map(|buffer| PyBytes::new(py, buffer)).collect()))
    }

    /// Makes a layer from its header and buffers.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
    fn from_parts(py: Python<'_>, about: &str, buffers: Vec<PyBackedBytes>) -> PyResult<Self> {
        let buffers: Vec<&[u8]> = buffers.iter().map(|buffer| &**buffer).collect();
        let layer = records::Layer::from_parts(about, &buffers).map_err(|error| errors::raise(py, &error))?;
        Ok(Self::new(layer))
    }

    /// Returns the column that a map shows by default.
    fn map_column(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.compute(py, |layer, _| Ok(name_of(layer, agronomy::map_column(layer))))
    }

    /// Returns title and label of a map of a column; without a column, of the one that a map shows by default.
    fn map_texts(&self, py: Python<'_>, column: Option<String>) -> PyResult<(String, Option<String>)> {
        self.compute(py, move |layer, _| {
            let index = agronomy::shown_column(layer, column.as_deref())?;
            let label = index.and_then(|index| agronomy::column_label(layer, index));
            Ok((agronomy::map_title(layer, column.as_deref()), label))
        })
    }

    /// Returns the mapped column, the colour of each record, and the values of the first and the last colour of a ramp.
    #[expect(clippy::type_complexity, reason = "a tuple for Python")]
    fn colours(
        &self,
        py: Python<'_>,
        column: Option<String>,
    ) -> PyResult<(Option<String>, Vec<String>, Option<(f64, f64)>)> {
        self.compute(py, move |layer, _| {
            let index = agronomy::shown_column(layer, column.as_deref())?;
            let found = layer.colours(index)?;
            Ok((name_of(layer, index), found.colours, found.range))
        })
    }

    /// Draws an SVG map; without a column, it chooses one.
    #[pyo3(signature = (*, column, label, title, unit, width, as_is, vmin, vmax))]
    #[expect(clippy::too_many_arguments, reason = "the options of a map, by keyword")]
    fn picture(
        &self,
        py: Python<'_>,
        column: Option<String>,
        label: Option<String>,
        title: Option<String>,
        unit: Option<String>,
        width: Option<u32>,
        as_is: bool,
        vmin: Option<f64>,
        vmax: Option<f64>,
    ) -> PyResult<String> {
        let options = Picture { label, title, unit, width, limits: (vmin, vmax), as_is };
        self.compute(py, move |layer, _| {
            let index = agronomy::shown_column(layer, column.as_deref())?;
            let given = options.unit.as_deref();
            let unit = index.map_or(Ok(None), |index| agronomy::unit_label(layer, index, given))?;
            let label = options.label.clone().or_else(|| agronomy::column_label(layer, index?));
            let title = options.title.clone().unwrap_or_else(|| agronomy::map_title(layer, column.as_deref()));
            layer.picture(index, &Picture { label, unit, title: Some(title), ..options })
        })
    }
}

fn name_of(layer: &records::Layer, index: Option<usize>) -> Option<String> {
    index.and_then(|index| layer.schema().fields().get(index).map(|field| field.name().clone()))
}

/// Returns code, message, member, record and severity of a diagnostic.
pub(super) fn diagnostic_to_dict<'py>(
    py: Python<'py>,
    diagnostic: &records::Diagnostic,
) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("code", diagnostic.code.as_str())?;
    facts.set_item("message", &diagnostic.message)?;
    facts.set_item("member", diagnostic.member.as_deref())?;
    facts.set_item("record", diagnostic.record)?;
    facts.set_item("severity", diagnostic.severity().as_str())?;
    Ok(facts)
}

/// Bytes, or the path of a file or a folder.
#[derive(FromPyObject)]
pub(super) enum SourceArgument {
    Bytes(PyBackedBytes),
    Path(PathBuf),
}

impl From<SourceArgument> for Source {
    fn from(given: SourceArgument) -> Self {
        match given {
            SourceArgument::Bytes(content) => Self::Bytes(Bytes::from_owner(content)),
            SourceArgument::Path(path) => Self::Path(path),
        }
    }
}

/// Reads an archive into a layer.
#[pyfunction]
pub(super) fn read(py: Python<'_>, source: SourceArgument, options: &Bound<'_, PyDict>) -> PyResult<Layer> {
    let (source, options) = (Source::from(source), read_options(options, &[])?);
    bridge::compute(py, move |_| records::read(&source, &options).map_err(as_archive_error)).map(Layer::new)
}

/// Reads the file of a job and states its origin in the layer and in errors, which see only bytes.
pub(super) fn read_job_file(
    source: &Source,
    options: &ReadOptions,
    row: &'static str,
    origin: String,
) -> Result<records::Layer> {
    match records::read_job(source, options) {
        Ok(layer) => Ok(layer.with_source(origin)),
        Err(error) => {
            let is_named = error.facts().source.as_ref() == Some(&source.name());
            let error = if is_named { error } else { error.map_message(|said| format!("`{origin}`: {said}")) };
            Err(error.with(|facts| {
                facts.endpoint = Some(row);
                facts.source = is_named.then_some(origin);
            }))
        }
    }
}

/// Reads the file of a job that was downloaded; `origin` names it in the layer and in errors.
#[pyfunction]
pub(super) fn read_job(
    py: Python<'_>,
    file: PyBackedBytes,
    origin: String,
    options: &Bound<'_, PyDict>,
) -> PyResult<Layer> {
    let row = row("job_data.read").map_err(|error| errors::raise(py, &error))?;
    let options = call_options(row, options)?;
    let source = Source::Bytes(Bytes::from_owner(file));
    bridge::compute(py, move |_| read_job_file(&source, &options, row.full_name, origin)).map(Layer::new)
}

/// Checks reading options before any call. `own` are the other keywords of the function.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub(super) fn check_read_options(options: &Bound<'_, PyDict>, own: Vec<String>) -> PyResult<()> {
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    checked_options(options, &own).map(drop)
}

/// Returns the names of an archive's layers.
#[pyfunction]
pub(super) fn layers(py: Python<'_>, source: SourceArgument, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let (source, options) = (Source::from(source), read_options(options, &[])?);
    bridge::compute(py, move |_| archive::layers(&source, &options).map_err(as_archive_error))
}

/// Converts a file error to an archive error: a missing file is an archive that cannot be read.
pub(super) fn as_archive_error(error: Error) -> Error {
    if error.kind() == Kind::File { error.with_kind(Kind::Archive) } else { error }
}
