//! Pages of a list without a schema, each requested with a token of its own.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::sync::Mutex;

use super::fork_safe::check_usable;
use super::secret::Secret;
use super::{bridge, values};
use headland_base::error::Result;
use headland_client as core;
use headland_wire::Value;

/// A list in progress. It belongs to the process that opened it, like its connection.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct LinkPages {
    process: u32,
    /// The client argument with the token.
    argument: &'static str,
    pages: Arc<Mutex<core::LinkPages>>,
}

type Page = Option<Vec<Value>>;

impl LinkPages {
    pub(super) fn new(pages: core::LinkPages, argument: &'static str) -> Self {
        Self { process: std::process::id(), argument, pages: Arc::new(Mutex::new(pages)) }
    }

    /// Returns the list and the token of one request.
    fn page_request(&self, py: Python<'_>, token: &Bound<'_, Secret>) -> PyResult<PageRequest> {
        check_usable(self.process, &self.pages, "this list")?;
        Ok(PageRequest { pages: Arc::clone(&self.pages), token: token.get().to_call_token(py, self.argument)? })
    }
}

struct PageRequest {
    pages: Arc<Mutex<core::LinkPages>>,
    token: Option<headland_base::secret::Secret>,
}

impl PageRequest {
    async fn next_page(self) -> Result<Page> {
        let mut pages = self.pages.lock().await;
        pages.set_token(self.token);
        pages.next_page().await
    }

    async fn total(self) -> Result<Option<u64>> {
        let mut pages = self.pages.lock().await;
        pages.set_token(self.token);
        pages.total().await
    }
}

#[pymethods]
impl LinkPages {
    /// Whether the next page needs a request, and so a token. True if another thread is reading, since it may.
    fn needs_request(&self) -> bool {
        self.pages.try_lock().map_or(true, |pages| pages.needs_request())
    }

    /// Returns the records of the next page; `None` after the last.
    fn next_page<'py>(&self, py: Python<'py>, token: &Bound<'py, Secret>) -> PyResult<Option<Bound<'py, PyList>>> {
        let page = bridge::block_on(py, self.page_request(py, token)?.next_page())?;
        page.map(|items| values::list(py, &items)).transpose()
    }

    fn next_page_async<'py>(&self, py: Python<'py>, token: &Bound<'py, Secret>) -> PyResult<Bound<'py, PyAny>> {
        bridge::spawn(py, self.page_request(py, token)?.next_page(), |py, page| match page {
            Some(items) => values::list(py, &items).map(|records| records.into_any().unbind()),
            None => Ok(py.None()),
        })
    }

    /// Returns the total count of the service; `None` if it states none.
    fn total(&self, py: Python<'_>, token: &Bound<'_, Secret>) -> PyResult<Option<u64>> {
        bridge::block_on(py, self.page_request(py, token)?.total())
    }

    fn total_async<'py>(&self, py: Python<'py>, token: &Bound<'py, Secret>) -> PyResult<Bound<'py, PyAny>> {
        bridge::spawn(py, self.page_request(py, token)?.total(), |py, total| Ok(total.into_pyobject(py)?.unbind()))
    }
}
