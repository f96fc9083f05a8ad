//! What the core tells of uploads, probes and the budget, as dicts.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{errors, values};
use crate::client::Created;
use crate::limiter::Budget;
use crate::transport::{FaultKind, Probe};
use crate::wire::Value;

/// Id and address of a new record.
pub(super) fn created<'py>(py: Python<'py>, created: &Created) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    record.set_item("id", &created.id)?;
    record.set_item("uri", &created.uri)?;
    Ok(record)
}

/// All that one reply said.
pub(super) fn examined(py: Python<'_>, probe: Probe<Value>) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    let (value, error) = match probe.outcome {
        Ok(value) => (Some(values::to_python(py, &value)?), None),
        Err(error) => (None, Some(errors::raise(py, &error).into_value(py))),
    };
    facts.set_item("value", value)?;
    facts.set_item("error", error)?;
    facts.set_item("fault", probe.fault.map(FaultKind::name))?;
    facts.set_item("skew", probe.skew)?;
    facts.set_item("is_about_time", probe.is_about_time)?;
    facts.set_item("is_corrected", probe.is_corrected)?;
    facts.set_item("limit", probe.heard.limit)?;
    facts.set_item("remaining", probe.heard.remaining)?;
    Ok(facts)
}

/// What is left of the limit.
pub(super) fn budget<'py>(py: Python<'py>, budget: &Budget) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    // Without a window there is no limit to count down from.
    facts.set_item("remaining", (!budget.windows.is_empty()).then_some(budget.remaining))?;
    facts.set_item("next_call_in", budget.next_call_in.as_secs_f64())?;
    facts.set_item("reset_in", budget.reset_in.as_secs_f64())?;
    let windows: Vec<(u32, f64, u32)> =
        budget.windows.iter().map(|(window, used)| (window.calls, window.period.as_secs_f64(), *used)).collect();
    facts.set_item("windows", windows)?;
    facts.set_item("service_wait", budget.service_wait.map(|wait| wait.as_secs_f64()))?;
    Ok(facts)
}
