//! Converts errors of the core to exceptions of `headland.errors`, which defines the class tree.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use headland_base::error::{Error, Kind};

/// Returns the exception for an error, made by `headland.errors.from_core`.
pub(super) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    match exception(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(broken) => broken,
    }
}

fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    static FROM_CORE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let kind = error.kind();
    FROM_CORE.import(py, "headland.errors", "from_core")?.call1((
        class_of(kind),
        error.to_string(),
        facts(py, error)?,
        error.facts().os_error,
    ))
}

/// Returns the name of a kind in Python: its class, or `File`, which has no class of its own.
fn class_of(kind: Kind) -> &'static str {
    if kind == Kind::File { "File" } else { kind.class_name() }
}

fn facts<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyDict>> {
    let facts = error.facts();
    let known = PyDict::new(py);
    known.set_item("endpoint", facts.endpoint)?;
    known.set_item("id", facts.id.as_deref())?;
    known.set_item("method", facts.method)?;
    known.set_item("status", facts.status)?;
    known.set_item("attempts", facts.attempts)?;
    known.set_item("elapsed", facts.elapsed.map(|elapsed| elapsed.as_secs_f64()))?;
    known.set_item("retry_after", facts.retry_after.map(|wait| wait.as_secs_f64()))?;
    known.set_item("check", facts.check.as_deref())?;
    known.set_item("clock_skew", facts.clock_skew)?;
    known.set_item("result", facts.result.as_deref())?;
    known.set_item("candidates", Some(&facts.candidates).filter(|candidates| !candidates.is_empty()))?;
    known.set_item("member", facts.member.as_deref())?;
    known.set_item("record", facts.record)?;
    known.set_item("offset", facts.offset)?;
    known.set_item("field", facts.field.as_deref())?;
    known.set_item("handle", facts.handle.as_deref())?;
    // Attributes for internal use.
    let private = [
        ("_with_options", error.cli_message()),
        ("_source", facts.source.clone()),
        ("_setting", facts.setting.map(str::to_owned)),
    ];
    for (name, text) in private.into_iter().filter(|(_, text)| text.is_some()) {
        known.set_item(name, text)?;
    }
    Ok(known)
}

/// Returns every name that `from_core` can receive, so that a test can prove that all are known.
#[pyfunction]
pub(super) fn error_kinds() -> Vec<&'static str> {
    Kind::ALL.iter().map(|kind| class_of(*kind)).collect()
}
