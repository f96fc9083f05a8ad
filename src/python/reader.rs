//! Bindings of layers read in batches: an iterator and a lazy Arrow C stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use super::layer::{Layer, SourceArgument, as_archive_error, diagnostic_to_dict};
use super::read_options::{self, read_options};
use super::{arrow_export, bridge};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Diagnostic, Source};
use headland_reader::layer::Stream;

/// A layer in progress. It belongs to the process that opened it, like its threads.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Reader {
    process: u32,
    head: headland_reader::layer::Layer,
    /// `None` only in `drop`.
    shared: Option<Arc<Shared>>,
}

/// State shared by threads that take turns at reading batches.
struct Shared {
    /// Whether the reader is closed. Set without the lock, which a reading thread may hold.
    closed: AtomicBool,
    state: Mutex<ReaderState>,
}

/// The stream until its end, and the diagnostics of an ended one.
struct ReaderState {
    stream: Option<Stream>,
    diagnostics: Vec<Diagnostic>,
}

/// Errors of a reader after its end.
const ENDED: &str = "this reader was read to its end: open the archive again to read it again";
const CLOSED: &str = "this reader is closed: open the archive again to read it again";

impl ReaderState {
    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.stream.as_ref().map_or_else(|| self.diagnostics.clone(), Stream::diagnostics)
    }

    /// Drops the stream and keeps its diagnostics.
    fn end(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.diagnostics = stream.diagnostics();
        }
    }
}

impl Shared {
    fn next(&self) -> Result<Option<headland_reader::layer::Layer>> {
        let closed = || Error::new(Kind::Value, CLOSED);
        if self.closed.load(Ordering::SeqCst) {
            return Err(closed());
        }
        // A panic in a reading thread has poisoned the lock, and the stream is inconsistent.
        let mut state = self.state.lock().map_err(|_| closed())?;
        let batch = match &mut state.stream {
            Some(stream) => stream.next_batch(),
            None => return if self.closed.load(Ordering::SeqCst) { Err(closed()) } else { Ok(None) },
        };
        match batch {
            _ if self.closed.load(Ordering::SeqCst) => {
                state.end();
                Err(closed())
            }
            Ok(Some(batch)) => Ok(Some(batch)),
            Ok(None) => {
                state.end();
                Ok(None)
            }
            Err(error) => {
                state.end();
                self.closed.store(true, Ordering::SeqCst);
                Err(as_archive_error(error))
            }
        }
    }

    /// Whether the last batch was returned and no thread is reading.
    fn has_ended(&self) -> bool {
        !self.closed.load(Ordering::SeqCst) && self.state.try_lock().is_ok_and(|state| state.stream.is_none())
    }

    /// Closes the reader. A thread that is reading closes it after its batch.
    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        match self.state.try_lock() {
            Ok(mut state) => state.end(),
            Err(TryLockError::Poisoned(state)) => state.into_inner().end(),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

impl Reader {
    fn shared(&self) -> PyResult<&Arc<Shared>> {
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(
                "this reader was opened before a fork: open the archive again in this process",
            ));
        }
        self.shared.as_ref().ok_or_else(|| PyRuntimeError::new_err("this reader is gone"))
    }
}

#[pymethods]
impl Reader {
    /// Returns the layer without rows: name, source, columns, coordinate system and units.
    fn head(&self) -> Layer {
        Layer::new(self.head.clone())
    }

    /// Returns the next batch; `None` after the last. Concurrent threads take turns.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<Layer>> {
        let shared = self.shared()?;
        let reading = Arc::clone(shared);
        let batch = bridge::compute(py, move |_| reading.next());
        if batch.is_err() {
            // After a signal the current batch is lost, so no caller may continue as if it were not.
            shared.close();
        }
        Ok(batch?.map(Layer::new))
    }

    /// Code, message, member, record and severity of each diagnostic so far.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let shared = Arc::clone(self.shared()?);
        let diagnostics = bridge::without_gil(py, move || match shared.state.lock() {
            Ok(state) => state.diagnostics(),
            Err(poisoned) => poisoned.into_inner().diagnostics(),
        })?;
        diagnostics.iter().map(|diagnostic| diagnostic_to_dict(py, diagnostic)).collect()
    }

    /// Returns an error if the reader is closed or belongs to another process.
    fn check_open(&self) -> PyResult<()> {
        if self.shared()?.closed.load(Ordering::SeqCst) {
            return Err(PyValueError::new_err(CLOSED));
        }
        Ok(())
    }

    fn close(&self) {
        // In the child of a fork there is nothing to close: the threads are in the parent.
        if let Ok(shared) = self.shared() {
            shared.close();
        }
    }

    /// Exports the remaining batches as an Arrow C stream that reads one batch per request.
    fn stream<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = this.get();
        reader.check_open()?;
        if reader.shared()?.has_ended() {
            return Err(PyValueError::new_err(ENDED));
        }
        let reader = Some(this.clone().unbind());
        let batches = BatchStream { schema: this.get().head.schema(), reader, is_first: true };
        arrow_export::export_stream(this.py(), batches)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_export::export_schema(py, &self.head.schema())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The locks and threads are in the parent; using them could deadlock.
            std::mem::forget(self.shared.take());
        }
    }
}

/// Opens an archive to read it in batches.
#[pyfunction]
pub(super) fn open_reader(
    py: Python<'_>,
    source: SourceArgument,
    options: &Bound<'_, PyDict>,
    types: &Bound<'_, PyAny>,
    size: usize,
) -> PyResult<Reader> {
    let options = read_options(options, &["batch_size", "types"])?;
    let (source, types) = (Source::from(source), read_options::types(types)?);
    let open = move |_: &_| Stream::open(&source, &options, &types, size).map_err(as_archive_error);
    let stream = bridge::compute(py, open)?;
    let head = stream.head().clone();
    let state = Mutex::new(ReaderState { stream: Some(stream), diagnostics: Vec::new() });
    let shared = Some(Arc::new(Shared { closed: AtomicBool::new(false), state }));
    Ok(Reader { process: std::process::id(), head, shared })
}

/// The batches of a reader for an Arrow consumer in any thread.
struct BatchStream {
    schema: SchemaRef,
    reader: Option<Py<Reader>>,
    is_first: bool,
}

impl Drop for BatchStream {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            bridge::drop_unattached(reader.into_any());
        }
    }
}

impl Iterator for BatchStream {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_ref()?;
        let is_first = std::mem::take(&mut self.is_first);
        let outcome = bridge::try_attach(|py| {
            let reader = reader.get();
            // A stream whose reader was exhausted by another consumer must not look like an empty layer.
            if is_first && reader.shared().is_ok_and(|shared| shared.has_ended()) {
                return Err(ENDED.to_owned());
            }
            let batch = reader.next_batch(py);
            batch.map_err(|error| arrow_export::error_message(py, &error))
        });
        match outcome.unwrap_or_else(|| Err(bridge::shutdown_message())) {
            Ok(batch) => batch.and_then(Layer::into_batch).map(Ok),
            Err(message) => {
                let cause = std::io::Error::other(message.clone());
                Some(Err(ArrowError::IoError(message, cause)))
            }
        }
    }
}

impl RecordBatchReader for BatchStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
