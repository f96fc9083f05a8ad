//! Converts decoded values to Python objects: dicts with interned keys, aware datetimes.

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use crate::wire::Value;

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

/// Converts values to a list.
pub(super) fn list<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Bound<'py, PyList>> {
    let items: Vec<_> = items.iter().map(|item| to_python(py, item)).collect::<PyResult<_>>()?;
    PyList::new(py, items)
}

/// Returns an aware datetime, parsed from text by Python. One call with one argument is fastest in the stable ABI: the
/// constructor takes eight arguments, six of which are new objects.
fn datetime<'py>(py: Python<'py>, time: &DateTime<Utc>) -> PyResult<Bound<'py, PyAny>> {
    let time = time.naive_utc();
    let Some(year) = u32::try_from(time.year()).ok().filter(|year| (1..=9_999).contains(year)) else {
        return Ok(time.and_utc().into_pyobject(py)?.into_any());
    };
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    // chrono counts a leap second beyond 999,999 µs; Python cannot, so the last microsecond is kept.
    let micros = time.nanosecond().checked_div(1_000).unwrap_or(0).min(999_999);
    for (start, digits, number) in [
        (0, 4, year),
        (5, 2, time.month()),
        (8, 2, time.day()),
        (11, 2, time.hour()),
        (14, 2, time.minute()),
        (17, 2, time.second()),
        (20, 6, micros),
    ] {
        write_digits(text.iter_mut().skip(start).take(digits), number);
    }
    parse_time(py, &String::from_utf8_lossy(&text))
}

/// Parses an aware datetime such as `2026-09-01T12:00:00Z`, with or without fractions.
pub(super) fn parse_time<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static FROM_ISO_FORMAT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_iso_format = FROM_ISO_FORMAT.get_or_try_init(py, || {
        py.import("datetime")?.getattr("datetime")?.getattr("fromisoformat").map(Bound::unbind)
    })?;
    from_iso_format.bind(py).call1((PyString::new(py, text),))
}

/// Writes a number in decimal, from its last digit to its first.
fn write_digits<'a>(digits: impl DoubleEndedIterator<Item = &'a mut u8>, mut number: u32) {
    for digit in digits.rev() {
        *digit = b'0'.wrapping_add((number % 10) as u8);
        number /= 10;
    }
}
