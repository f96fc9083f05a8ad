//! Decoded values as Python objects: dicts with interned keys, aware datetimes.

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::wire::Value;
use crate::wire::value::Name;

/// A value as a Python object.
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

/// Records as a list of dicts.
pub(super) fn list<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Bound<'py, PyList>> {
    let mut pattern = Pattern { keys: Vec::new(), empty: PyDict::new(py) };
    let mut records = Vec::with_capacity(items.len());
    for item in items {
        records.push(match item {
            Value::Record(fields) => pattern.record(py, fields)?.into_any(),
            other => to_python(py, other)?,
        });
    }
    PyList::new(py, records)
}

/// The records of a list mostly have the same fields in the same order: their dicts are copies of one, whose keys are
/// interned and in place, so that only the values are left to put in.
struct Pattern<'a, 'py> {
    keys: Vec<(&'a str, Bound<'py, PyString>, Option<Last<'a, 'py>>)>,
    empty: Bound<'py, PyDict>,
}

/// A text or a time of the record before: one that is the same again is the same object.
type Last<'a, 'py> = (&'a Value, Bound<'py, PyAny>);

impl<'a, 'py> Pattern<'a, 'py> {
    fn record(&mut self, py: Python<'py>, fields: &'a [(Name, Value)]) -> PyResult<Bound<'py, PyDict>> {
        let fits = fields.len() == self.keys.len()
            && fields.iter().zip(&self.keys).all(|((name, _), (known, ..))| is_same(name, known));
        if !fits {
            self.keys.clear();
            self.empty = PyDict::new(py);
            for (name, _) in fields {
                let key = PyString::intern(py, name);
                self.empty.set_item(&key, py.None())?;
                self.keys.push((name, key, None));
            }
        }
        let record = self.empty.copy()?;
        for ((_, value), (_, key, last)) in fields.iter().zip(&mut self.keys) {
            match (value, &last) {
                (Value::Null, _) => {}
                (Value::Text(_) | Value::Time(_), Some((before, object))) if *before == value => {
                    record.set_item(&*key, object)?;
                }
                (Value::Text(_) | Value::Time(_), _) => {
                    let object = to_python(py, value)?;
                    record.set_item(&*key, &object)?;
                    *last = Some((value, object));
                }
                _ => record.set_item(&*key, to_python(py, value)?)?,
            }
        }
        Ok(record)
    }
}

/// Names that the table knows lie at one place, so that most comparisons need not look at the letters.
fn is_same(name: &str, known: &str) -> bool {
    std::ptr::eq(name, known) || name == known
}

/// An aware datetime, made from the ten bytes that pickles hold: one object instead of the eight of the constructor in
/// words, and the fastest way that the stable ABI has.
fn datetime<'py>(py: Python<'py>, time: &DateTime<Utc>) -> PyResult<Bound<'py, PyAny>> {
    static DATETIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static ZONE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let Some(state) = state(time) else { return Ok(time.into_pyobject(py)?.into_any()) };
    let zone =
        ZONE.get_or_try_init(py, || py.import("datetime")?.getattr("timezone")?.getattr("utc").map(Bound::unbind))?;
    DATETIME.import(py, "datetime", "datetime")?.call1((PyBytes::new(py, &state), zone))
}

/// Year, month, day, hours, minutes, seconds and microseconds, as `datetime.__reduce__` gives them; `None` for years that
/// Python does not have.
fn state(time: &DateTime<Utc>) -> Option<[u8; 10]> {
    let year = u16::try_from(time.year()).ok().filter(|year| (1..=9_999).contains(year))?;
    // Within a leap second chrono counts on; Python stays at the end of the second before.
    let micros = (time.nanosecond() / 1_000).min(999_999);
    let [year, of_century] = year.to_be_bytes();
    let [_, high, middle, low] = micros.to_be_bytes();
    let byte = |number: u32| u8::try_from(number).ok();
    let (month, day) = (byte(time.month())?, byte(time.day())?);
    let (hour, minute, second) = (byte(time.hour())?, byte(time.minute())?, byte(time.second())?);
    Some([year, of_century, month, day, hour, minute, second, high, middle, low])
}
