//! The doctor: reports what each step finds to a Python function.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use super::{bridge, errors};
use headland_client as core;
use headland_client::Finding;

/// Finds out why calls fail. Calls `report` with the fields of each finding before the next call is made; what it raises
/// ends the wait. Returns the number of calls and the error that a call would end with.
pub(super) fn diagnose(
    py: Python<'_>,
    client: &core::Client,
    source: &str,
    report: &Py<PyAny>,
) -> PyResult<(u32, Option<Py<PyAny>>)> {
    let raised = Mutex::new(None);
    let take_raised = || raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    let report = |Finding { name, is_ok, seen, next_step }: Finding| {
        if let Some(Err(error)) = bridge::try_attach(|py| report.call1(py, (name, is_ok, seen, next_step))) {
            raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };
    let steps = async { Ok(client.diagnose(source, &report).await) };
    let (calls, error) = bridge::block_on_with_callback(py, steps, |_| take_raised().map_or(Ok(()), Err), || false)?;
    Ok((calls, error.map(|error| errors::raise(py, &error).into_value(py).into_any())))
}

/// Returns the step of an invalid setting and the advice for it.
#[pyfunction]
#[pyo3(signature = (setting))]
pub(super) fn setting_advice(setting: Option<&str>) -> (&'static str, &'static str) {
    core::about_setting(setting)
}
