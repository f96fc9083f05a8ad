//! Converts new records, budgets and entries of a provenance to dicts.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use headland_client::Created;
use headland_client::limiter::Budget;

/// Entries of the provenance that are numbers; a word such as `several` stays a text.
const NUMBERS: &[&str] = &["factor", "moisture_basis", "kg_per_bushel"];

/// Returns id and address of a new record.
pub(super) fn created<'py>(py: Python<'py>, created: &Created) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    record.set_item("id", &created.id)?;
    record.set_item("uri", &created.uri)?;
    Ok(record)
}

/// Returns the rest of the rate limit.
pub(super) fn budget<'py>(py: Python<'py>, budget: &Budget) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    // Without a window there is no limit, and so no remaining count.
    facts.set_item("remaining", (!budget.windows.is_empty()).then_some(budget.remaining))?;
    facts.set_item("next_call_in", budget.next_call_in.as_secs_f64())?;
    facts.set_item("reset_in", budget.reset_in.as_secs_f64())?;
    let windows: Vec<(u32, f64, u32)> =
        budget.windows.iter().map(|(window, used)| (window.calls, window.period.as_secs_f64(), *used)).collect();
    facts.set_item("windows", windows)?;
    facts.set_item("service_wait", budget.service_wait.map(|wait| wait.as_secs_f64()))?;
    Ok(facts)
}

/// Returns an entry of the provenance; an unknown unit has no factor.
pub(super) fn provenance<'py>(py: Python<'py>, entry: &[(String, String)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, text) in entry {
        match text.parse::<f64>() {
            Ok(number) if NUMBERS.contains(&&**name) => dict.set_item(name, number)?,
            _ => dict.set_item(name, text)?,
        }
    }
    if entry.iter().any(|(name, text)| name == "unit" && text == "unknown") {
        dict.set_item("factor", py.None())?;
    }
    Ok(dict)
}
