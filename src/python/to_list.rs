//! Converts Arrow columns to lists of Python values, without a package that reads Arrow.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayAccessor, RecordBatch};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Appends every cell of a column.
pub(super) fn append(values: &Bound<'_, PyList>, array: &dyn Array) -> PyResult<()> {
    if let Some(array) = array.as_string_opt::<i32>() {
        append_all(values, array)
    } else if let Some(array) = array.as_string_opt::<i64>() {
        append_all(values, array)
    } else if let Some(array) = array.as_binary_opt::<i32>() {
        append_all(values, array)
    } else if let Some(array) = array.as_binary_opt::<i64>() {
        append_all(values, array)
    } else if let Some(array) = array.as_boolean_opt() {
        append_all(values, array)
    } else if let Some(array) = array.as_primitive_opt::<Int32Type>() {
        append_all(values, array)
    } else if let Some(array) = array.as_primitive_opt::<Int64Type>() {
        append_all(values, array)
    } else if let Some(array) = array.as_primitive_opt::<Float64Type>() {
        append_all(values, array)
    } else if let Some(array) = array.as_primitive_opt::<Date32Type>() {
        (0..array.len()).try_for_each(|index| values.append(array.is_valid(index).then(|| array.value_as_date(index))))
    } else if let Some(array) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        let time = |index| array.is_valid(index).then(|| array.value_as_datetime(index)).flatten();
        if array.timezone().is_some() {
            (0..array.len()).try_for_each(|index| values.append(time(index).map(|time| time.and_utc())))
        } else {
            (0..array.len()).try_for_each(|index| values.append(time(index)))
        }
    } else {
        Err(PyTypeError::new_err(format!("cells of the type {} have no Python value", array.data_type())))
    }
}

/// Returns the rows of a batch as dicts of the named columns; a column without a name is omitted.
pub(super) fn rows<'py>(
    py: Python<'py>,
    names: &[Option<String>],
    batch: &RecordBatch,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let rows: Vec<_> = (0..batch.num_rows()).map(|_| PyDict::new(py)).collect();
    for (name, array) in names.iter().zip(batch.columns()) {
        let Some(name) = name else { continue };
        let (name, cells) = (PyString::new(py, name), PyList::empty(py));
        append(&cells, array.as_ref())?;
        rows.iter().zip(cells).try_for_each(|(row, cell)| row.set_item(&name, cell))?;
    }
    Ok(rows)
}

fn append_all<'py, A: ArrayAccessor + Copy>(values: &Bound<'py, PyList>, array: A) -> PyResult<()>
where
    A::Item: IntoPyObjectExt<'py>,
{
    (0..array.len()).try_for_each(|index| values.append(array.is_valid(index).then(|| array.value(index))))
}
