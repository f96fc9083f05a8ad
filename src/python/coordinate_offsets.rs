//! Converts geometries to shapely's ragged arrays: coordinates and offsets as Arrow columns.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, Float64Array, Int64Array, LargeListArray, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, Field};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrow_export::Table;
use super::c_schema;
use headland_reader::layer::Ragged;

/// Converts a column of geometries of one type without nulls; returns `None` for any other column.
///
/// Returns the name of the type, the dimensions of a vertex and a table of one row. Its columns are the coordinates and
/// each level of offsets.
#[pyfunction]
pub(super) fn ragged(column: &Bound<'_, PyAny>) -> PyResult<Option<(&'static str, usize, Table)>> {
    let column = c_schema::import_array(column)?;
    let Some(Ragged { name, dimensions, coordinates, offsets }) = column.as_binary_opt().and_then(Ragged::read) else {
        return Ok(None);
    };
    let coordinates: ArrayRef = Arc::new(Float64Array::from(coordinates));
    let offsets = offsets.into_iter().map(|level| -> ArrayRef { Arc::new(Int64Array::from(level)) });
    let table = one_row([coordinates].into_iter().chain(offsets));
    table.map(|table| Some((name, dimensions, table))).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns a table of one row with one array per column.
fn one_row(columns: impl Iterator<Item = ArrayRef>) -> Result<Table, ArrowError> {
    let list = |array: ArrayRef| -> Result<ArrayRef, ArrowError> {
        let item = Arc::new(Field::new_list_field(array.data_type().clone(), false));
        let offsets = OffsetBuffer::from_lengths([array.len()]);
        Ok(Arc::new(LargeListArray::try_new(item, offsets, array, None)?))
    };
    let columns = columns.enumerate().map(|(at, array)| Ok((at.to_string(), list(array)?)));
    let batch = RecordBatch::try_from_iter(columns.collect::<Result<Vec<_>, ArrowError>>()?)?;
    Ok(Table::new(batch.schema(), vec![batch]))
}
