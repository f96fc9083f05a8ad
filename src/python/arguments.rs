//! Converts values from users to the texts of requests, and checks them before any call.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyDate, PyDateTime, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType, PyTzInfo,
};

use super::endpoints::row;
use super::errors;
use headland_api::row::Takes;
use headland_base::error::Error;
use headland_client::Arguments;

/// Maximum nesting of a payload. Deeper nesting is a mistake, such as a dict that contains itself.
const MAX_DEPTH: usize = 100;

/// Characters of the path that the error of a payload with too deep nesting shows.
const MAX_PATH_SHOWN: usize = 80;

/// Returns the texts of a call's arguments. Omits optional arguments that are `None`.
#[pyfunction]
pub(super) fn texts<'py>(call: &str, given: &Bound<'py, PyMapping>) -> PyResult<Bound<'py, PyDict>> {
    let py = given.py();
    let row = row(call).map_err(|error| errors::raise(py, &error))?;
    let texts = PyDict::new(py);
    for item in given.items()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let known = name.extract().ok().and_then(|name: &str| row.parameter(name));
        let parameter = known.ok_or_else(|| PyTypeError::new_err(format!("`{call}`: unknown argument `{name}`")))?;
        if !value.is_none() || parameter.is_required() {
            texts.set_item(name, parameter_text(parameter.name, parameter.takes, &value)?)?;
        }
    }
    Ok(texts)
}

/// Returns the text of a value for a parameter of a call that is not made yet. Errors name the argument, as an item of
/// it if `item` is not empty.
#[pyfunction]
#[pyo3(signature = (name, call, parameter, value, item=""))]
pub(super) fn text_for(
    name: &str,
    call: &str,
    parameter: &str,
    value: &Bound<'_, PyAny>,
    item: &str,
) -> PyResult<String> {
    let raise = |error: Error| errors::raise(value.py(), &error);
    let Some(parameter) = row(call).map_err(raise)?.parameter(parameter) else {
        return Err(PyTypeError::new_err(format!("`{call}`: unknown argument `{parameter}`")));
    };
    let text = parameter_text(name, parameter.takes, value)?;
    let shown = if item.is_empty() { format!("`{name}`") } else { format!("{item} of `{name}`") };
    Arguments::check(parameter, &text, &shown).map_err(raise)?;
    Ok(text)
}

fn parameter_text(name: &str, takes: Takes, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let can_be_list = matches!(takes, Takes::MappingOrList);
    if can_be_list || matches!(takes, Takes::Mapping) {
        return payload(name, value, can_be_list);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return sendable(name, text);
    }
    let what = match takes {
        Takes::Id | Takes::Number => {
            if let Some(number) = whole(value)? {
                return Ok(number.str()?.to_string());
            }
            if matches!(takes, Takes::Id) { "a str or an int" } else { "an int or a str" }
        }
        Takes::Time => {
            if value.is_instance_of::<PyDateTime>() {
                let is_of_table = value.hasattr("to_datetime64")?;
                return time_text(name, value, is_of_table);
            }
            if value.is_instance_of::<PyDate>() {
                return isoformat(value);
            }
            if type_of(value)? == "datetime64" {
                let time = value.call_method1("astype", ("datetime64[us]",))?.call_method0("item")?;
                if time.is_none() || time.is_instance_of::<PyDateTime>() {
                    return time_text(name, &time, true);
                }
            }
            "a str, a date or an aware datetime"
        }
        Takes::File => "a file",
        _ => "a str",
    };
    let is_record = matches!(takes, Takes::Id) && value.cast::<PyMapping>().is_ok() && value.contains("id")?;
    let hint = if is_record { "; pass the id of the record, `record[\"id\"]`" } else { "" };
    Err(PyTypeError::new_err(format!("`{name}`: expected {what}, got {}{hint}", type_of(value)?)))
}

/// Checks a text; an `example` is shown in the error.
#[pyfunction]
#[pyo3(signature = (name, value, example=""))]
pub(super) fn text(name: &str, value: &Bound<'_, PyAny>, example: &str) -> PyResult<String> {
    let Ok(text) = value.cast::<PyString>() else {
        let such_as = if example.is_empty() { String::new() } else { format!(" such as {example}") };
        return Err(PyTypeError::new_err(format!("`{name}`: expected a str{such_as}, got {}", type_of(value)?)));
    };
    sendable(name, text)
}

/// Checks a boolean; other truthy values are refused, because they often mean the opposite.
#[pyfunction]
pub(super) fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match value.cast::<PyBool>() {
        Ok(flag) => Ok(flag.is_true()),
        Err(_) => Err(PyTypeError::new_err(format!("`{name}`: expected True or False, got {}", value.repr()?))),
    }
}

/// Checks a whole number and its range.
#[pyfunction]
#[pyo3(signature = (name, value, least, most=None))]
pub(super) fn whole_number<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    least: i64,
    most: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(number) = whole(value)? else {
        return Err(PyTypeError::new_err(format!("`{name}`: expected an int, got {}", type_of(value)?)));
    };
    if number.lt(least)? || most.is_some_and(|most| number.gt(most).unwrap_or(true)) {
        let reach = most.map_or_else(|| format!(">= {least}"), |most| format!("from {least} to {most}"));
        return Err(PyValueError::new_err(format!("`{name}`: expected a number {reach}, got {number}")));
    }
    Ok(number)
}

/// Returns an integer of Python or numpy as one of Python.
fn whole<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static INTEGRAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = value.py();
    if value.is_instance_of::<PyBool>() || !value.is_instance(INTEGRAL.import(py, "numbers", "Integral")?)? {
        return Ok(None);
    }
    py.get_type::<PyInt>().call1((value,)).map(Some)
}

fn type_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.get_type().name()?.to_string())
}

/// Returns a text that UTF-8 can encode. An unpaired surrogate is a `ValueError`.
#[pyfunction]
pub(super) fn sendable(path: &str, text: &Bound<'_, PyString>) -> PyResult<String> {
    let message = || format!("`{path}` contains an unpaired surrogate, which UTF-8 cannot encode");
    text.to_str().map(str::to_owned).map_err(|_| PyValueError::new_err(message()))
}

/// Returns the text of a datetime. Tables have dates as times at midnight, without a zone.
fn time_text(name: &str, value: &Bound<'_, PyAny>, is_of_table: bool) -> PyResult<String> {
    // Only a missing time of pandas differs from itself.
    if value.is_none() || value.ne(value)? {
        let message = format!("`{name}`: expected a date or a time, got NaT, a missing time");
        return Err(PyValueError::new_err(message));
    }
    if is_of_table && value.call_method0("utcoffset")?.is_none() {
        let clock = value.call_method0("time")?.str()?;
        if clock.to_str()? == "00:00:00" {
            return isoformat(&value.call_method0("date")?);
        }
    }
    utc_text(name, value)
}

/// Returns the time of an aware datetime as text in UTC.
fn utc_text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    check_zone(name, value)?;
    let moment = value.call_method1("astimezone", (PyTzInfo::utc(py)?,)).map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(py) {
            PyValueError::new_err(format!("`{name}`: expected a time within the years 1 to 9999 in UTC, got {value}"))
        } else {
            error
        }
    })?;
    isoformat(&moment)
}

fn check_zone(path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if value.call_method0("utcoffset")?.is_none() {
        return Err(PyValueError::new_err(format!(
            "`{path}` is a datetime without a time zone: add one, such as `tzinfo=datetime.UTC`"
        )));
    }
    Ok(())
}

fn isoformat(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.call_method0("isoformat")?.extract::<String>()?.replace("+00:00", "Z"))
}

/// Returns the JSON of a mapping or a list, with the order of keys and every digit of numbers preserved. A value
/// without a form in JSON is an error that states its path.
fn payload(name: &str, value: &Bound<'_, PyAny>, can_be_list: bool) -> PyResult<String> {
    if value.cast::<PyMapping>().is_err() && !(can_be_list && is_list(value)) {
        let what = if can_be_list { "a mapping such as a dict, or a list" } else { "a mapping such as a dict" };
        return Err(PyTypeError::new_err(format!("`{name}`: expected {what}, got {}", type_of(value)?)));
    }
    let mut json = String::new();
    append_json(&mut json, name, value, 0)?;
    Ok(json)
}

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()
}

/// Appends the JSON of a value inside a payload.
fn append_json(json: &mut String, path: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
    if depth > MAX_DEPTH {
        let shown: String = path.chars().take(MAX_PATH_SHOWN).collect();
        return Err(PyValueError::new_err(format!("`{shown}...` is nested deeper than {MAX_DEPTH}")));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        json.push('{');
        for (index, item) in mapping.items()?.iter().enumerate() {
            let (key, inner): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let key = key_of(path, &key)?;
            json.push_str(if index == 0 { "" } else { "," });
            json.push_str(&quote(&key));
            json.push(':');
            append_json(json, &format!("{path}.{key}"), &inner, depth.saturating_add(1))?;
        }
        json.push('}');
    } else if is_list(value) {
        json.push('[');
        for (index, inner) in value.try_iter()?.enumerate() {
            json.push_str(if index == 0 { "" } else { "," });
            append_json(json, &format!("{path}[{index}]"), &inner?, depth.saturating_add(1))?;
        }
        json.push(']');
    } else {
        json.push_str(&scalar_json(path, value)?);
    }
    Ok(())
}

fn key_of(path: &str, key: &Bound<'_, PyAny>) -> PyResult<String> {
    let Ok(text) = key.cast::<PyString>() else {
        let (written, found) = (key.repr()?, type_of(key)?);
        return Err(PyTypeError::new_err(format!("`{path}` has the key {written}: expected a str, got {found}")));
    };
    sendable(path, text)
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn scalar_json(path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    if value.is_none() {
        return Ok("null".to_owned());
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(truth.is_true().to_string());
    }
    if value.is_instance_of::<PyInt>() {
        // An `IntEnum` has another `str`.
        return py.get_type::<PyInt>().call_method1("__repr__", (value,))?.extract();
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        if !number.value().is_finite() {
            let message = format!("`{path}` is {value}, which JSON cannot represent: omit it, or pass None");
            return Err(PyValueError::new_err(message));
        }
        return Ok(serde_json::Value::from(number.value()).to_string());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(quote(&sendable(path, text)?));
    }
    if value.is_instance_of::<PyDate>() {
        if value.is_instance_of::<PyDateTime>() {
            check_zone(path, value)?;
        }
        return Ok(quote(&isoformat(value)?));
    }
    let found = type_of(value)?;
    let article = if found.to_lowercase().starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    Err(PyTypeError::new_err(format!("`{path}` is {article} {found}, which JSON cannot represent")))
}
