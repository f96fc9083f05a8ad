//! Decoded values as Python objects: dicts with interned keys, aware datetimes.

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use super::bridge;
use crate::api::Index;
use crate::client::Records;
use crate::error::{Error, Kind, Result};
use crate::wire::value::{Fields, Name, identity};
use crate::wire::{Content, Page, Value, decode_records};

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

/// Values as a list.
pub(super) fn list<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Bound<'py, PyList>> {
    let items: Vec<_> = items.iter().map(|item| to_python(py, item)).collect::<PyResult<_>>()?;
    PyList::new(py, items)
}

/// The records of a page as dicts, each with what tells it apart.
pub(super) struct Dicts(Vec<(String, Py<PyDict>)>);

impl Records for Dicts {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn keep(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|(identity, _)| keep(identity));
    }
}

impl Dicts {
    /// Reads one page of a list: each record becomes a dict as soon as it is read, and nothing else is kept of it.
    pub(super) fn decode(content: Content, body: &[u8], index: &'static Index) -> Result<Page<Self>> {
        let decode = |py: Python<'_>| {
            let mut pattern = Pattern { fields: Vec::new(), empty: PyDict::new(py) };
            let mut failed = None;
            let page = decode_records(content, body, index, |fields| {
                let identity = identity(fields).into_owned();
                match pattern.record(py, fields) {
                    Ok(record) => Some((identity, record.unbind())),
                    Err(error) => {
                        failed = Some(error);
                        None
                    }
                }
            })?;
            match failed {
                Some(error) => Err(Error::new(Kind::Decode, format!("a record cannot become a dict: {error}"))),
                None => Ok(Page {
                    total_count: page.total_count,
                    is_next_page: page.is_next_page,
                    items: Self(page.items.into_iter().flatten().collect()),
                }),
            }
        };
        bridge::attached(decode).unwrap_or_else(|| Err(Error::new(Kind::Transport, "the interpreter is ending")))
    }

    /// The dicts as a list.
    pub(super) fn into_list(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        PyList::new(py, self.0.into_iter().map(|(_, record)| record))
    }
}

/// The records of a list mostly have the same fields in the same order: their dicts are copies of one, whose keys are
/// interned and in place, so that only the values are left to put in.
struct Pattern<'py> {
    fields: Vec<Column<'py>>,
    empty: Bound<'py, PyDict>,
}

struct Column<'py> {
    name: Name,
    key: Bound<'py, PyString>,
    /// A text or a time of a record before: one that is the same again is the same object.
    last: Option<(Value, Bound<'py, PyAny>)>,
}

impl<'py> Pattern<'py> {
    fn record(&mut self, py: Python<'py>, fields: &mut Fields) -> PyResult<Bound<'py, PyDict>> {
        let is_same = |((name, _), known): (&(Name, Value), &Column<'_>)| {
            std::ptr::eq(name.as_ref(), known.name.as_ref()) || *name == known.name
        };
        if fields.len() != self.fields.len() || !fields.iter().zip(&self.fields).all(is_same) {
            self.fields.clear();
            self.empty = PyDict::new(py);
            for (name, _) in &*fields {
                let key = PyString::intern(py, name);
                self.empty.set_item(&key, py.None())?;
                self.fields.push(Column { name: name.clone(), key, last: None });
            }
        }
        let record = self.empty.copy()?;
        for ((_, value), Column { key, last, .. }) in fields.iter_mut().zip(&mut self.fields) {
            match (&*value, &*last) {
                (Value::Null, _) => {}
                (Value::Text(_) | Value::Time(_), Some((before, object))) if before == value => {
                    record.set_item(&*key, object)?;
                }
                (Value::Text(_) | Value::Time(_), _) => {
                    let object = to_python(py, value)?;
                    record.set_item(&*key, &object)?;
                    *last = Some((std::mem::replace(value, Value::Null), object));
                }
                _ => record.set_item(&*key, to_python(py, value)?)?,
            }
        }
        Ok(record)
    }
}

/// An aware datetime, read from its text by Python: one call with one argument, and the fastest way that the stable ABI
/// has. The constructor takes eight arguments, six of which are objects to be made.
fn datetime<'py>(py: Python<'py>, time: &DateTime<Utc>) -> PyResult<Bound<'py, PyAny>> {
    static READ: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let time = time.naive_utc();
    let Some(year) = u32::try_from(time.year()).ok().filter(|year| (1..=9_999).contains(year)) else {
        return Ok(time.and_utc().into_pyobject(py)?.into_any());
    };
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    // Within a leap second chrono counts on; Python stays at the end of the second before.
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
        write(text.iter_mut().skip(start).take(digits), number);
    }
    let read = READ.get_or_try_init(py, || {
        py.import("datetime")?.getattr("datetime")?.getattr("fromisoformat").map(Bound::unbind)
    })?;
    read.bind(py).call1((PyString::new(py, &String::from_utf8_lossy(&text)),))
}

/// Writes a number in decimal, from its last digit to its first.
fn write<'a>(digits: impl DoubleEndedIterator<Item = &'a mut u8>, mut number: u32) {
    for digit in digits.rev() {
        *digit = b'0'.wrapping_add((number % 10) as u8);
        number /= 10;
    }
}
