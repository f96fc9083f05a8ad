//! Converts decoded values to Python objects: dicts with interned keys, aware datetimes.

use chrono::{DateTime, Utc};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use headland_base::times::iso;
use headland_wire::{Name, Value};

/// Converts a value to a Python object.
pub(super) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Decimal(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Time(time) => datetime(py, time)?,
        Value::List(items) => list(py, items)?.into_any(),
        Value::Record(fields) => record(py, fields, &mut Vec::new())?.into_any(),
        Value::Unknown(tree) => pythonize::pythonize(py, tree.as_ref())?,
    })
}

/// Converts values to a list.
pub(super) fn list<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Bound<'py, PyList>> {
    let (list, mut keys) = (PyList::empty(py), Vec::new());
    for item in items {
        match item {
            Value::Record(fields) => list.append(record(py, fields, &mut keys)?)?,
            other => list.append(to_python(py, other)?)?,
        }
    }
    Ok(list)
}

/// Converts fields to a dict. Records of a list repeat names and order, so `keys` keeps those of the record before.
fn record<'py, 'v>(
    py: Python<'py>,
    fields: &'v [(Name, Value)],
    keys: &mut Vec<(&'v str, Bound<'py, PyString>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    for (position, (name, value)) in fields.iter().enumerate() {
        if keys.get(position).is_none_or(|(known, _)| known != name) {
            keys.truncate(position);
            keys.push((name, PyString::intern(py, name)));
        }
        if let Some((_, key)) = keys.get(position) {
            record.set_item(key, to_python(py, value)?)?;
        }
    }
    Ok(record)
}

/// Returns an aware datetime, parsed from text: in the stable ABI the constructor takes eight arguments and is slower. chrono
/// counts a leap second beyond a second; Python cannot, so its last microsecond is kept.
fn datetime<'py>(py: Python<'py>, time: &DateTime<Utc>) -> PyResult<Bound<'py, PyAny>> {
    static FROM_ISO_FORMAT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_iso_format = FROM_ISO_FORMAT.get_or_try_init(py, || {
        py.import("datetime")?.getattr("datetime")?.getattr("fromisoformat").map(Bound::unbind)
    })?;
    let micros = time.timestamp_subsec_micros().min(999_999);
    let time = DateTime::from_timestamp(time.timestamp(), micros.saturating_mul(1_000)).unwrap_or(*time);
    from_iso_format.bind(py).call1((iso::write(&time),))
}
