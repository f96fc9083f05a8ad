//! The pages of a list, one after the other.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::sync::Mutex;

use super::{bridge, values};
use crate::client as core;

/// A list that is being read. It belongs to the process that opened it, since its connection does.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Pages {
    process: u32,
    pages: Arc<Mutex<core::Pages>>,
}

impl Pages {
    pub(super) fn new(pages: core::Pages) -> Self {
        Self { process: std::process::id(), pages: Arc::new(Mutex::new(pages)) }
    }

    fn opened(&self) -> PyResult<Arc<Mutex<core::Pages>>> {
        same_process(self.process, "this list")?;
        Ok(Arc::clone(&self.pages))
    }
}

#[pymethods]
impl Pages {
    /// The records of the next page; `None` after the last.
    fn next_page<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let pages = self.opened()?;
        let page = bridge::wait(py, async move { pages.lock().await.next_page().await })?;
        page.map(|items| values::list(py, &items)).transpose()
    }

    fn next_page_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pages = self.opened()?;
        bridge::start(py, async move { pages.lock().await.next_page().await }, |py, page| match page {
            Some(items) => values::list(py, &items).map(|records| records.into_any().unbind()),
            None => Ok(py.None()),
        })
    }

    /// How many records the service counts; `None` where it does not say.
    fn total(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let pages = self.opened()?;
        bridge::wait(py, async move { pages.lock().await.total().await })
    }

    fn total_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pages = self.opened()?;
        bridge::start(py, async move { pages.lock().await.total().await }, |py, total| {
            Ok(total.into_pyobject(py)?.unbind())
        })
    }
}

/// Refuses a handle that a fork copied, because its connection and its locks stayed with the parent.
pub(super) fn same_process(process: u32, what: &str) -> PyResult<()> {
    if process == std::process::id() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "{what} was opened before a fork: ask the client for it again in this process"
    )))
}
