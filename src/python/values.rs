//! Converts decoded values to Python objects: dicts with interned keys, aware datetimes.

use chrono::{DateTime, Datelike, Timelike, Utc};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

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

/// Returns an aware datetime, made from the ten bytes as which Python pickles one: in the stable ABI, the constructor that
/// takes eight numbers takes twice as long, and a text would be written only to be parsed. chrono counts a leap second beyond
/// a second; Python cannot, so its last microsecond is kept.
fn datetime<'py>(py: Python<'py>, time: &DateTime<Utc>) -> PyResult<Bound<'py, PyAny>> {
    static TYPE_AND_ZONE: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (datetime, utc) = TYPE_AND_ZONE.get_or_try_init(py, || {
        let module = py.import("datetime")?;
        let utc = module.getattr("timezone")?.getattr("utc")?;
        PyResult::Ok((module.getattr("datetime")?.unbind(), utc.unbind()))
    })?;
    let [_, _, century, year] = time.year().to_be_bytes();
    let [month, day, hour, minute, second] = [time.month(), time.day(), time.hour(), time.minute(), time.second()]
        .map(|part| u8::try_from(part).unwrap_or_default());
    let [_, high, middle, low] = time.timestamp_subsec_micros().min(999_999).to_be_bytes();
    let state = [century, year, month, day, hour, minute, second, high, middle, low];
    datetime.bind(py).call1((PyBytes::new(py, &state), utc))
}
