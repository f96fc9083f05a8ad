//! A GeoParquet file that grows by the rows of layers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use super::bridge;
use super::layer::Layer;
use headland_base::error::{Error, Kind};
use headland_reader::layer as records;

/// A file of layers with the same columns. After an error or an interruption, it is closed.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct TableFile(Arc<Mutex<Option<records::TableFile>>>);

#[pymethods]
impl TableFile {
    #[new]
    fn new(path: PathBuf) -> Self {
        Self(Arc::new(Mutex::new(Some(records::TableFile::new(path)))))
    }

    /// Appends the rows of a layer.
    fn add(&self, py: Python<'_>, layer: &Layer) -> PyResult<()> {
        self.run(py, Some(layer.records()))
    }

    /// Writes the remaining rows and the footer.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, None)
    }
}

impl TableFile {
    /// Appends a layer; without one, the file ends.
    fn run(&self, py: Python<'_>, layer: Option<records::Layer>) -> PyResult<()> {
        let slot = Arc::clone(&self.0);
        // The outcome has a type that other work has too, since the code that waits for it is large.
        bridge::compute(py, move |cancel| {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            let mut file = slot.take().ok_or_else(|| Error::new(Kind::Value, "the file is closed"))?;
            let Some(layer) = layer else { return file.finish(cancel) };
            file.add(&layer, cancel)?;
            *slot = Some(file);
            Ok(())
        })
    }
}
