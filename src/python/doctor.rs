//! What the doctor finds, one by one.

use std::sync::Arc;

use pyo3::prelude::*;
use tokio::sync::Mutex;

use super::{bridge, errors};
use crate::client as core;

/// An examination that is under way: an iterator of findings.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Visit {
    visit: Arc<Mutex<core::Visit>>,
}

/// Name, whether calls get past it, what was seen, what to do next.
type Finding = (&'static str, bool, String, Option<String>);

impl Visit {
    pub(super) fn new(visit: core::Visit) -> Self {
        Self { visit: Arc::new(Mutex::new(visit)) }
    }
}

#[pymethods]
impl Visit {
    fn __iter__(visit: Bound<'_, Self>) -> Bound<'_, Self> {
        visit
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Finding>> {
        let visit = Arc::clone(&self.visit);
        let found = bridge::wait(py, async move { Ok(visit.lock().await.next().await) })?;
        Ok(found.map(|core::Finding { name, is_ok, seen, next_step }| (name, is_ok, seen, next_step)))
    }

    /// How many calls were made, and the error that a call would have ended with.
    fn outcome(&self, py: Python<'_>) -> (u32, Option<Py<PyAny>>) {
        let visit = self.visit.try_lock();
        let (calls, error) = visit.as_ref().ok().and_then(|visit| visit.outcome()).unwrap_or(&(0, None));
        (*calls, error.as_ref().map(|error| errors::raise(py, error).into_value(py).into_any()))
    }
}

/// The step that a wrong setting belongs to, and what to do about it.
#[pyfunction]
#[pyo3(signature = (setting))]
pub(super) fn about_setting(setting: Option<&str>) -> (&'static str, &'static str) {
    core::about_setting(setting)
}
