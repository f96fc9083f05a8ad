//! Bindings of paged lists.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use tokio::sync::Mutex;

use super::arrow_export::{self, PageReader, Table};
use super::fork_safe::check_usable;
use super::{bridge, values};
use headland_base::error::Result;
use headland_client as core;

/// A list in progress. It belongs to the process that opened it, like its connection.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Pages {
    process: u32,
    schema: SchemaRef,
    list: Arc<Mutex<core::Pages>>,
}

impl Pages {
    pub(super) fn new(pages: core::Pages) -> Self {
        Self { process: std::process::id(), schema: pages.schema(), list: Arc::new(Mutex::new(pages)) }
    }

    fn usable_list(&self) -> PyResult<Arc<Mutex<core::Pages>>> {
        check_usable(self.process, &self.list, "this list")?;
        Ok(Arc::clone(&self.list))
    }
}

#[pymethods]
impl Pages {
    /// Returns the records of the next page; `None` after the last.
    fn next_page<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let pages = self.usable_list()?;
        let page = bridge::block_on(py, async move { pages.lock().await.next_page().await })?;
        page.map(|records| values::list(py, &records)).transpose()
    }

    fn next_page_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pages = self.usable_list()?;
        bridge::spawn(py, async move { pages.lock().await.next_page().await }, |py, page| match page {
            Some(records) => values::list(py, &records).map(|records| records.into_any().unbind()),
            None => Ok(py.None()),
        })
    }

    /// Returns the first record before any iteration; `None` if the list is empty.
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let pages = self.usable_list()?;
        let first = bridge::block_on(py, async move { pages.lock().await.first().await })?;
        first.map(|record| values::to_python(py, &record)).transpose()
    }

    fn first_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pages = self.usable_list()?;
        let call = async move { pages.lock().await.first().await };
        bridge::spawn(py, call, |py, first| match first {
            Some(record) => values::to_python(py, &record).map(Bound::unbind),
            None => Ok(py.None()),
        })
    }

    /// Returns the remaining records as one table.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let (pages, schema) = (self.usable_list()?, Arc::clone(&self.schema));
        bridge::block_on(py, remaining_batches(pages)).map(|batches| Table::new(schema, batches))
    }

    fn table_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (pages, schema) = (self.usable_list()?, Arc::clone(&self.schema));
        bridge::spawn(py, remaining_batches(pages), |py, batches| {
            Ok(Bound::new(py, Table::new(schema, batches))?.into_any().unbind())
        })
    }

    /// Exports the remaining records as an Arrow C stream that reads one page per request. `after_page` is called after
    /// each page.
    fn stream<'py>(&self, py: Python<'py>, after_page: Py<PyAny>) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = PageReader::new(self.process, Arc::clone(&self.schema), self.usable_list()?, after_page);
        arrow_export::export_stream(py, reader)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_export::export_schema(py, &self.schema)
    }

    /// Returns the total count of the service; `None` if it states none.
    fn total(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let pages = self.usable_list()?;
        bridge::block_on(py, async move { pages.lock().await.total().await })
    }

    fn total_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pages = self.usable_list()?;
        bridge::spawn(py, async move { pages.lock().await.total().await }, |py, total| {
            Ok(total.into_pyobject(py)?.unbind())
        })
    }
}

async fn remaining_batches(pages: Arc<Mutex<core::Pages>>) -> Result<Vec<RecordBatch>> {
    let mut pages = pages.lock().await;
    let mut all = Vec::new();
    while let Some(batch) = pages.next_batch().await? {
        all.push(batch);
    }
    Ok(all)
}
