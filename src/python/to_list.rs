//! Converts Arrow columns to lists of Python values, without a package that reads Arrow.

use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayAccessor, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_array::{BinaryArray, BooleanArray, LargeBinaryArray, LargeStringArray, StringArray};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Appends every cell of a column.
pub(super) fn append(values: &Bound<'_, PyList>, array: &dyn Array) -> PyResult<()> {
    let any = array.as_any();
    if let Some(array) = any.downcast_ref::<StringArray>() {
        append_all(values, array)
    } else if let Some(array) = any.downcast_ref::<LargeStringArray>() {
        append_all(values, array)
    } else if let Some(array) = any.downcast_ref::<BinaryArray>() {
        append_all(values, array)
    } else if let Some(array) = any.downcast_ref::<LargeBinaryArray>() {
        append_all(values, array)
    } else if let Some(array) = any.downcast_ref::<BooleanArray>() {
        append_all(values, array)
    } else if let Some(array) = as_primitive::<Int32Type>(array) {
        append_all(values, array)
    } else if let Some(array) = as_primitive::<Int64Type>(array) {
        append_all(values, array)
    } else if let Some(array) = as_primitive::<Float64Type>(array) {
        append_all(values, array)
    } else if let Some(array) = as_primitive::<Date32Type>(array) {
        (0..array.len()).try_for_each(|index| values.append(is_valid(array, index).then(|| array.value_as_date(index))))
    } else if let Some(array) = as_primitive::<TimestampMicrosecondType>(array) {
        let time = |index| is_valid(array, index).then(|| array.value_as_datetime(index)).flatten();
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

fn as_primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&PrimitiveArray<T>> {
    array.as_any().downcast_ref()
}

fn is_valid(array: &dyn Array, index: usize) -> bool {
    !array.is_null(index)
}

fn append_all<'py, A: ArrayAccessor + Copy>(values: &Bound<'py, PyList>, array: A) -> PyResult<()>
where
    A::Item: IntoPyObjectExt<'py>,
{
    (0..array.len()).try_for_each(|index| values.append(is_valid(&array, index).then(|| array.value(index))))
}
