//! Exports records by the Arrow C data interface: tables in memory, and lists read page by page.
//!
//! The interface: <https://arrow.apache.org/docs/format/CDataInterface.html>

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, StructArray};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use tokio::sync::Mutex;

use super::fork_safe::check_usable;
use super::{bridge, c_schema, values};
use headland_client as core;

/// Records as Arrow columns.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(super) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns name, type, unit and documentation of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, String, Option<String>, Option<String>)> {
        let metadata = |field: &Arc<arrow_schema::Field>, key: &str| field.metadata().get(key).cloned();
        let describe = |field: &Arc<arrow_schema::Field>| {
            (
                field.name().clone(),
                field.data_type().to_string(),
                metadata(field, "unit"),
                metadata(field, "documentation"),
            )
        };
        self.schema.fields().iter().map(describe).collect()
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
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        export_stream(py, RecordBatchIterator::new(batches, Arc::clone(&self.schema)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.schema)
    }
}

/// Converts rows to a list of dicts and a table.
pub(super) fn rows_to_python(py: Python<'_>, rows: core::Rows) -> PyResult<Bound<'_, PyTuple>> {
    let records = values::list(py, &rows.records)?;
    let table = Table::new(rows.batch.schema(), vec![rows.batch]);
    (records, Bound::new(py, table)?).into_pyobject(py)
}

/// Exports an Arrow C stream.
pub(super) fn export_stream(
    py: Python<'_>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = c_schema::with_sorted_schema(FFI_ArrowArrayStream::new(Box::new(reader)));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Exports an Arrow C schema.
pub(super) fn export_schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = c_schema::export(schema)
        .map_err(|error| PyRuntimeError::new_err(format!("the schema cannot be exported: {error}")))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Exports a batch as an Arrow C array with its schema.
pub(super) fn export_array<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyTuple>> {
    let array = FFI_ArrowArray::new(&StructArray::from(batch.clone()).into_data());
    let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
    (export_schema(py, &batch.schema())?, array).into_pyobject(py)
}

/// Returns the message of an error for an Arrow consumer, which raises an error of its own with it.
pub(super) fn error_message(py: Python<'_>, error: &PyErr) -> String {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        // The consumer cannot raise this one, so the interrupt is raised again in the main thread.
        let _ = py.import("_thread").and_then(|module| module.call_method0("interrupt_main"));
    }
    error.to_string()
}

/// Reads a list while an Arrow consumer requests batches, in any thread.
pub(super) struct PageReader {
    process: u32,
    schema: SchemaRef,
    pages: Option<Arc<Mutex<core::Pages>>>,
    /// Called after each page, as after every call.
    after_page: Option<Py<PyAny>>,
}

impl PageReader {
    pub(super) fn new(process: u32, schema: SchemaRef, pages: Arc<Mutex<core::Pages>>, after_page: Py<PyAny>) -> Self {
        Self { process, schema, pages: Some(pages), after_page: Some(after_page) }
    }

    /// Reads the next page; `None` after the last.
    fn read(&self, pages: Arc<Mutex<core::Pages>>) -> Result<Option<RecordBatch>, String> {
        let outcome = bridge::try_attach(|py| {
            let read = || {
                check_usable(self.process, &pages, "this list")?;
                let page = bridge::block_on(py, async move { pages.lock().await.next_batch().await });
                self.after_page.as_ref().map(|after_page| after_page.call0(py)).transpose()?;
                page
            };
            read().map_err(|error: PyErr| error_message(py, &error))
        });
        outcome.unwrap_or_else(|| Err(bridge::shutdown_message()))
    }
}

impl Drop for PageReader {
    fn drop(&mut self) {
        if let Some(after_page) = self.after_page.take() {
            bridge::drop_unattached(after_page);
        }
    }
}

impl Iterator for PageReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // After an error the stream has ended.
            let pages = self.pages.take()?;
            let batch = match self.read(Arc::clone(&pages)) {
                Ok(batch) => batch?,
                Err(message) => {
                    let cause = std::io::Error::other(message.clone());
                    return Some(Err(ArrowError::IoError(message, cause)));
                }
            };
            self.pages = Some(pages);
            if batch.num_rows() > 0 {
                return Some(Ok(batch));
            }
        }
    }
}

impl RecordBatchReader for PageReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
