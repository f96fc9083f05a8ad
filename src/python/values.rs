//! Decoded values as Python objects: dicts with interned keys, aware datetimes.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::wire::Value;

/// A value as a Python object.
pub(super) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Boolean(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Decimal(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Time(time) => time.into_pyobject(py)?.into_any(),
        Value::List(items) => list(py, items)?.into_any(),
        Value::Record(fields) => {
            let record = PyDict::new(py);
            for (name, value) in fields {
                record.set_item(PyString::intern(py, name), to_python(py, value)?)?;
            }
            record.into_any()
        }
        Value::Unknown(tree) => pythonize::pythonize(py, tree.as_ref())?,
    })
}

/// Records as a list of dicts.
pub(super) fn list<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Bound<'py, PyList>> {
    let records = PyList::empty(py);
    for item in items {
        records.append(to_python(py, item)?)?;
    }
    Ok(records)
}
