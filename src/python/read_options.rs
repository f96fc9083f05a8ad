//! Parses reading options from keyword arguments; the only file that checks their types.

use std::collections::HashMap;

use pyo3::exceptions::{PyLookupError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMapping, PyMemoryView, PyString, PyTuple, PyType};

use super::arguments::{flag, text, whole_number};
use super::errors;
use headland_api::Endpoint;
use headland_reader::archive::{Limits, ReadOptions};
use headland_reader::layer::{ColumnType, TypePolicy};

/// Python codecs that the core knows by another name, or by only some of Python's names.
const RENAMED_CODECS: [(&str, &str); 10] = [
    ("ascii", "ascii"),
    ("utf-8-sig", "utf-8"),
    ("euc_jp", "euc-jp"),
    ("euc_kr", "euc-kr"),
    ("big5hkscs", "big5-hkscs"),
    ("mac-roman", "macintosh"),
    ("mac-cyrillic", "cp10007"),
    ("mac-greek", "cp10006"),
    ("mac-latin2", "cp10029"),
    ("tis-620", "tis-620"),
];

/// Prefixes of codec names that are the same in Python and in the core.
const SHARED_PREFIXES: [&str; 7] = ["utf-8", "iso8859-", "cp", "koi8-", "shift_jis", "gb", "big5"];

/// The fields of `headland.Limits`, in order.
pub(super) type LimitsTuple = (usize, u64, u64, usize, usize);

/// Parses the keywords of `headland.archives.ReadOptions`. `own` are the other keywords of the function.
pub(super) fn read_options(given: &Bound<'_, PyDict>, own: &[&str]) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::default();
    for (name, value) in given {
        let name: String = name.extract()?;
        match name.as_str() {
            "layer" => options.layer = parse_optional(&value, |value| text("layer", value, ""))?,
            "columns" => options.columns = parse_optional(&value, column_names)?,
            "encoding" => options.encoding = parse_optional(&value, parse_encoding)?,
            "strict" => options.strict = flag("strict", &value)?,
            "threads" => options.threads = parse_optional(&value, |value| parse_count("threads", value))?,
            "limits" => options.limits = parse_limits(&value)?,
            "to_crs" => options.to_crs = parse_optional(&value, |value| text("to_crs", value, "\"EPSG:4326\""))?,
            _ => return Err(unexpected_keyword(given.py(), &name, own)?),
        }
    }
    Ok(options)
}

/// Like [`read_options`] for a call.
pub(super) fn call_options(row: &Endpoint, given: &Bound<'_, PyDict>) -> PyResult<ReadOptions> {
    let own: Vec<&str> = row.parameters.iter().map(|parameter| parameter.name).chain(["timeout"]).collect();
    checked_options(given, &own)
}

/// Like [`read_options`], and checks the options before a request is made.
pub(super) fn checked_options(given: &Bound<'_, PyDict>, own: &[&str]) -> PyResult<ReadOptions> {
    let options = read_options(given, own)?;
    options.check().map_err(|error| errors::raise(given.py(), &error))?;
    Ok(options)
}

/// Parses how columns get their types: from the header (`None`), from a first pass (`"scan"`), or from a mapping.
pub(super) fn types(value: &Bound<'_, PyAny>) -> PyResult<TypePolicy> {
    const TAKES: &str = "`types`: expected a mapping of columns to types or 'scan', got";
    if value.is_none() {
        return Ok(TypePolicy::Header);
    }
    if value.is_instance_of::<PyString>() {
        if value.eq("scan")? {
            return Ok(TypePolicy::Scan);
        }
        return Err(PyValueError::new_err(format!("{TAKES} {}", value.repr()?)));
    }
    let Ok(mapping) = value.cast::<PyMapping>() else {
        return Err(PyTypeError::new_err(format!("{TAKES} {}", value.get_type().name()?)));
    };
    let mut types = Vec::new();
    for item in mapping.items()? {
        let (column, kind): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let (column, name) = (text("types", &column, "")?, text("types", &kind, "")?);
        let Some(kind) = ColumnType::from_name(&name) else {
            let all: Vec<&str> = ColumnType::ALL.iter().map(|(known, _)| *known).collect();
            let message =
                format!("`types` has the unknown type `{name}` for column `{column}`; available: {}", all.join(", "));
            return Err(PyValueError::new_err(message));
        };
        types.push((column, kind));
    }
    Ok(TypePolicy::Named(types))
}

/// Parses a `headland.Limits`; `None` means the defaults.
pub(super) fn parse_limits(value: &Bound<'_, PyAny>) -> PyResult<Limits> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if value.is_none() {
        return Ok(Limits::default());
    }
    let class = CLASS.import(value.py(), "headland.archives", "Limits")?;
    if !value.is_instance(class)? {
        let message = format!("`limits`: expected a `headland.Limits`, got {}", value.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    }
    // Limits made by `_replace` are not checked yet.
    let (members, bytes, ratio, nesting, name): LimitsTuple = class.call1(value.cast::<PyTuple>()?)?.extract()?;
    Ok(Limits { members, bytes, ratio, nesting, name })
}

/// Returns the defaults of `headland.Limits`.
pub(super) fn default_limits() -> LimitsTuple {
    let Limits { members, bytes, ratio, nesting, name } = Limits::default();
    (members, bytes, ratio, nesting, name)
}

/// Returns the names in a list of columns. A single text is an error, since it would be iterated by letters.
#[pyfunction]
pub(super) fn column_names(columns: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let is_single = columns.is_instance_of::<PyString>()
        || columns.is_instance_of::<PyBytes>()
        || columns.is_instance_of::<PyByteArray>()
        || columns.is_instance_of::<PyMemoryView>();
    let Some(each) = columns.try_iter().ok().filter(|_| !is_single) else {
        let message = format!("`columns`: expected a list of names, got one {}", columns.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    };
    each.map(|name| text("columns", &name?, "")).collect()
}

/// Returns the core's name of an encoding. A name unknown to Python is passed unchanged; the core refuses it.
fn parse_encoding(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = text("encoding", value, "\"cp1252\"")?;
    // Python ignores all other characters.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | ':' | '_' | '-');
    if name.is_empty() || !name.chars().all(is_plain) {
        return Ok(name);
    }
    let known: String = match value.py().import("codecs")?.call_method1("lookup", (&name,)) {
        Err(error) if error.is_instance_of::<PyLookupError>(value.py()) => return Ok(name),
        codec => codec?.getattr("name")?.extract()?,
    };
    let renamed: HashMap<&str, &str> = RENAMED_CODECS.into();
    Ok(match renamed.get(&*known) {
        Some(own) => (*own).to_owned(),
        None if SHARED_PREFIXES.iter().any(|start| known.starts_with(start)) => known,
        // The error of the core then shows the name as given.
        None => name,
    })
}

fn parse_optional<T>(value: &Bound<'_, PyAny>, read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>) -> PyResult<Option<T>> {
    if value.is_none() { Ok(None) } else { read(value).map(Some) }
}

fn parse_count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    whole_number(name, value, 1, Some(i64::MAX))?.extract()
}

/// Returns the error of an unknown keyword. It names the closest keyword, or all of them.
fn unexpected_keyword(py: Python<'_>, name: &str, own: &[&str]) -> PyResult<PyErr> {
    let options = py.import("headland.archives")?.getattr("ReadOptions")?.getattr("__annotations__")?;
    let mut known: Vec<String> = own.iter().map(|name| (*name).to_owned()).collect();
    for option in options.try_iter()? {
        known.push(option?.extract()?);
    }
    let near: String = py.import("headland.suggestions")?.call_method1("did_you_mean", (name, &known))?.extract()?;
    let hint = if near.is_empty() { format!(": there are: {}", known.join(", ")) } else { near };
    Ok(PyTypeError::new_err(format!("unexpected keyword argument `{name}`{hint}")))
}
