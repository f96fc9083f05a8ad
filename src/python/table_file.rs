//! A GeoParquet file that grows by the rows of layers.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::bridge;
use super::layer::Layer;
use headland_base::error::Result;
use headland_reader::layer::{self as records, Cancel};

/// A file of layers with the same columns. After an error or an interruption, it is closed.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct TableFile(Mutex<Option<records::TableFile>>);

#[pymethods]
impl TableFile {
    #[new]
    fn new(path: PathBuf) -> Self {
        Self(Mutex::new(Some(records::TableFile::new(path))))
    }

    /// Appends the rows of a layer.
    fn add(&self, py: Python<'_>, layer: &Layer) -> PyResult<()> {
        let layer = layer.records();
        self.run(py, move |mut file, cancel| file.add(&layer, cancel).map(|()| Some(file)))
    }

    /// Writes the remaining rows and the footer.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |file, cancel| file.finish(cancel).map(|()| None))
    }
}

impl TableFile {
    fn run(
        &self,
        py: Python<'_>,
        work: impl FnOnce(records::TableFile, &Cancel) -> Result<Option<records::TableFile>> + Send + 'static,
    ) -> PyResult<()> {
        let slot = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = slot().take() else { return Err(PyValueError::new_err("the file is closed")) };
        let left = bridge::compute(py, move |cancel| work(file, cancel))?;
        *slot() = left;
        Ok(())
    }
}
