//! Bindings of the published dataset: its files, SQL views and rows.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatchIterator;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use super::agronomy::unit_system;
use super::arrow_export::Table;
use super::{arrow_export, bridge, c_schema, errors};
use headland_mirror::dataset as core;
use headland_mirror::{Disk, Replacement};

/// A published state of a mirror. It is immutable: later publications do not change it.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Dataset {
    dataset: Arc<core::Dataset>,
}

#[pymethods]
impl Dataset {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let dataset = bridge::without_gil(py, move || core::Dataset::open(&folder))?;
        Ok(Self { dataset: Arc::new(dataset.map_err(|error| errors::raise(py, &error))?) })
    }

    /// The folder of the generation.
    #[getter]
    fn path(&self) -> PathBuf {
        self.dataset.path().to_owned()
    }

    /// The sequence number of its publication.
    #[getter]
    fn generation(&self) -> u64 {
        self.dataset.generation()
    }

    /// Whether it has the tables and columns of this version.
    #[getter]
    fn is_current(&self) -> bool {
        self.dataset.is_current()
    }

    /// The bytes of the manifest.
    #[getter]
    fn manifest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.dataset.content())
    }

    /// Path in the generation, size in bytes and SHA-256 of each file except the manifest.
    #[getter]
    fn files(&self) -> Vec<(&str, u64, &str)> {
        self.dataset.files().collect()
    }

    /// Returns the archives from which the rows come.
    fn archives(&self, py: Python<'_>) -> PyResult<Vec<PathBuf>> {
        bridge::without_gil(py, || self.dataset.archives())?.map_err(|error| errors::raise(py, &error))
    }

    /// Returns job type, year, files, rows and bytes of each published part.
    fn stock(&self, py: Python<'_>) -> PyResult<Vec<Stock>> {
        let stock = bridge::without_gil(py, || self.dataset.partition_summaries())?
            .map_err(|error| errors::raise(py, &error))?;
        Ok(stock.into_iter().map(|each| (each.job_type, each.year, each.parts, each.rows, each.bytes)).collect())
    }

    /// Plans a read of rows. `None` selects everything.
    fn scan(
        &self,
        py: Python<'_>,
        job_types: Option<Vec<String>>,
        years: Option<Vec<i64>>,
        columns: Option<Vec<String>>,
        bbox: Option<[f64; 4]>,
        units: Option<&str>,
    ) -> PyResult<Scan> {
        // A year beyond `i32` has no folder.
        let years = years.map(|years| years.into_iter().filter_map(|year| i32::try_from(year).ok()).collect());
        let selection = core::Selection { job_types, years, columns, bbox, units: units.map(unit_system).transpose()? };
        let dataset = Arc::clone(&self.dataset);
        let scan = bridge::compute(py, move |cancel| dataset.scan(&selection, cancel))?;
        Ok(Scan { dataset: Arc::clone(&self.dataset), scan })
    }

    /// Returns name and text of the styles for QGIS.
    fn qgis_styles(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let dataset = Arc::clone(&self.dataset);
        bridge::compute(py, move |cancel| dataset.qgis_styles(cancel))
    }

    /// Returns the names of the SQL views.
    fn view_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        bridge::without_gil(py, || self.dataset.view_names())?.map_err(|error| errors::raise(py, &error))
    }

    /// Verifies the checksums of the files of these views and returns the statements that create the views, each with
    /// the units of its columns. `units` converts them to those of a system.
    #[pyo3(signature = (names, units=None))]
    fn view_statements(&self, py: Python<'_>, names: Vec<String>, units: Option<&str>) -> PyResult<Vec<Statement>> {
        let dataset = Arc::clone(&self.dataset);
        let units = units.map(unit_system).transpose()?;
        bridge::compute(py, move |cancel| dataset.view_statements(&names, units, cancel))
    }
}

/// A statement that creates a view, and name and units of its columns.
type Statement = (String, Vec<(String, String)>);

/// Job type, year, files, rows, bytes.
type Stock = (Option<String>, Option<i32>, u64, u64, u64);

/// Path, checksums, job type, year, numbers of row groups, and ids of the selected jobs: the input of a task in another
/// process.
type RowGroups = (OsString, String, Option<String>, Option<i32>, Vec<usize>, Option<Vec<String>>);

/// A planned read of rows. Each Arrow stream reads them again.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Scan {
    dataset: Arc<core::Dataset>,
    scan: core::Scan,
}

#[pymethods]
impl Scan {
    /// The units of the columns that have one.
    #[getter]
    fn units(&self) -> HashMap<String, String> {
        self.scan.units().into_iter().collect()
    }

    /// Warnings about the rows, for the caller.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scan.warnings.clone()
    }

    /// Returns path, job id and layer of the archives from which the rows come.
    fn origins(&self, py: Python<'_>) -> PyResult<Vec<(PathBuf, String, String)>> {
        bridge::without_gil(py, || self.dataset.origins(&self.scan))?.map_err(|error| errors::raise(py, &error))
    }

    /// Returns row groups and their bounding boxes. Each entry has groups of one part with at most `max_rows` rows,
    /// unless a single group is larger.
    fn row_groups(&self, max_rows: usize) -> Vec<(RowGroups, Option<[f64; 4]>)> {
        let groups = |groups: core::RowGroups| {
            let core::RowGroups { path, crc32, job_type, year, groups, bounds, jobs } = groups;
            ((path.into_os_string(), crc32, job_type, year, groups, jobs), bounds)
        };
        self.scan.row_groups(max_rows).into_iter().map(groups).collect()
    }

    /// Exports the rows, all of which are read first so that errors are errors of headland.
    ///
    /// Ignores `requested_schema`: the protocol lets the producer keep its types, and the consumer casts.
    /// <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let scan = self.scan.clone();
        let batches = bridge::compute(py, move |cancel| scan.read(cancel))?;
        arrow_export::export_stream(py, RecordBatchIterator::new(batches.into_iter().map(Ok), self.scan.schema()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_export::export_schema(py, &self.scan.schema())
    }
}

/// Returns path, size and SHA-256 of each file in a manifest; `ValueError` if it is damaged.
#[pyfunction]
pub(super) fn manifest_files(text: &[u8]) -> PyResult<Vec<(String, u64, String)>> {
    core::manifest_files(text).map_err(PyValueError::new_err)
}

/// Makes a folder with exactly these files of another folder; false if one of them was removed meanwhile.
#[pyfunction]
pub(super) fn replace_folder(py: Python<'_>, source: PathBuf, files: Vec<PathBuf>, target: PathBuf) -> PyResult<bool> {
    let replaced =
        bridge::without_gil(py, move || headland_mirror::replace_folder(&Disk::default(), &source, &files, &target))?;
    let replaced = replaced.map_err(|error| errors::raise(py, &error))?;
    Ok(replaced == Replacement::Done)
}

/// Reads row groups into a table with the schema. With `bbox`, reads only rows whose bounding boxes intersect it.
#[pyfunction]
pub(super) fn read_row_groups(
    py: Python<'_>,
    row_groups: Vec<RowGroups>,
    schema: &Bound<'_, PyAny>,
    bbox: Option<[f64; 4]>,
) -> PyResult<Table> {
    let schema = Arc::new(c_schema::import(schema)?);
    let groups = |(path, crc32, job_type, year, groups, jobs): RowGroups| core::RowGroups {
        path: path.into(),
        crc32,
        job_type,
        year,
        groups,
        bounds: None,
        jobs,
    };
    let row_groups: Vec<core::RowGroups> = row_groups.into_iter().map(groups).collect();
    let table_schema = Arc::clone(&schema);
    let batches = bridge::compute(py, move |cancel| core::read_row_groups(&row_groups, &schema, bbox, cancel))?;
    Ok(Table::new(table_schema, batches))
}

/// Returns the union of schemas as a table without rows. Each schema comes with the name of its table, for errors.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub(super) fn union_schemas(
    py: Python<'_>,
    schemas: Vec<(String, Bound<'_, PyAny>)>,
    columns: Option<Vec<String>>,
) -> PyResult<Table> {
    let schemas: Vec<_> =
        schemas.into_iter().map(|(name, schema)| Ok((name, c_schema::import(&schema)?))).collect::<PyResult<_>>()?;
    let union = core::union_schemas(&schemas, columns.as_deref()).map_err(|error| errors::raise(py, &error))?;
    Ok(Table::new(Arc::new(union), Vec::new()))
}

/// Returns the warning about columns with several units, which are pairs of name and units; `None` without such columns.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
pub(super) fn mixed_units_warning(columns: Vec<(String, String)>, is_converted: bool) -> Option<String> {
    core::mixed_units_warning(&columns, is_converted)
}

/// Returns a schema after conversion to the units of a system, as a table without rows.
#[pyfunction]
pub(super) fn converted_schema(schema: &Bound<'_, PyAny>, units: &str) -> PyResult<Table> {
    let schema = core::converted_schema(&c_schema::import(schema)?, unit_system(units)?);
    Ok(Table::new(Arc::new(schema), Vec::new()))
}

/// Returns the factor that converts values of a unit to the one of several units that measures the same; `None` if the
/// values stay as they are.
#[pyfunction]
pub(super) fn conversion_factor(from_unit: &str, to_units: &str) -> Option<f64> {
    core::conversion_factor(from_unit, to_units)
}

/// Returns the names of a schema's columns in the dataset. The geometry column is named `geometry`.
#[pyfunction]
pub(super) fn dataset_names(schema: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    Ok(core::column_names(&c_schema::import(schema)?))
}

/// Returns a key of the coordinate system of the column `geometry`; `None` if there is no such column.
#[pyfunction]
pub(super) fn coordinate_system(schema: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(core::crs_identity(&c_schema::import(schema)?))
}
