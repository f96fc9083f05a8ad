//! Groups rows by the values of columns, and picks cells of columns by row.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BooleanArray, LargeBinaryArray, LargeStringArray, PrimitiveArray};
use arrow_schema::{DataType, Field};

use headland_base::error::{Error, Result};
use headland_reader::layer::Layer;

/// Groups of rows with equal values, numbered in the order of their first rows.
#[derive(Default)]
pub(crate) struct RowGroups {
    /// Group of each row; empty if all rows are one group.
    pub(crate) of_row: Vec<u32>,
    first_rows: Vec<u32>,
}

impl RowGroups {
    /// Groups that are numbered already, each with a row.
    pub(crate) fn numbered(of_row: &[u32], count: usize) -> Self {
        let mut first_rows = vec![u32::MAX; count];
        for (row, group) in (0_u32..).zip(of_row) {
            let first = &mut first_rows[*group as usize];
            *first = (*first).min(row);
        }
        Self { of_row: of_row.to_vec(), first_rows }
    }

    /// The first row of a group.
    pub(crate) fn first_row(&self, group: u32) -> u32 {
        self.first_rows.get(group as usize).copied().unwrap_or(0)
    }
}

/// Groups the rows of a layer by columns.
pub(crate) fn row_groups(layer: &Layer, names: &[String]) -> Result<RowGroups> {
    if names.is_empty() {
        return Ok(RowGroups::default());
    }
    let mut keys = vec![String::new(); layer.len()];
    for name in names {
        let (index, _) = column(layer, "by", name)?;
        let mut row = 0;
        for batch in layer.batches() {
            let Some(array) = batch.columns().get(index) else { continue };
            for position in 0..array.len() {
                if let Some(key) = keys.get_mut(row) {
                    push_cell(array, position, key);
                }
                row += 1;
            }
        }
    }
    let mut groups: HashMap<&str, u32> = HashMap::new();
    let mut first_rows = Vec::new();
    let mut of_row = Vec::with_capacity(keys.len());
    for (row, key) in (0_u32..).zip(&keys) {
        let next = u32::try_from(first_rows.len()).unwrap_or(u32::MAX);
        let group = *groups.entry(key).or_insert(next);
        if group == next {
            first_rows.push(row);
        }
        of_row.push(group);
    }
    Ok(RowGroups { of_row, first_rows })
}

/// Appends a cell, with a mark that ends it.
fn push_cell(array: &ArrayRef, row: usize, key: &mut String) {
    if array.is_null(row) {
        key.push('\u{1}');
    } else if let Some(texts) = array.as_string_opt::<i64>() {
        key.push_str(texts.value(row));
    } else if let Some(flags) = array.as_boolean_opt() {
        key.push(if flags.value(row) { 't' } else { 'f' });
    } else {
        let number = array
            .as_primitive_opt::<Int32Type>()
            .map(|array| i64::from(array.value(row)))
            .or_else(|| array.as_primitive_opt::<Int64Type>().map(|array| array.value(row)))
            .or_else(|| array.as_primitive_opt::<Date32Type>().map(|array| i64::from(array.value(row))))
            .or_else(|| array.as_primitive_opt::<TimestampMicrosecondType>().map(|array| array.value(row)))
            .or_else(|| array.as_primitive_opt::<Float64Type>().map(|array| array.value(row).to_bits().cast_signed()));
        // Writing to a text cannot fail.
        let _ = write!(key, "{}", number.unwrap_or_default());
    }
    key.push('\u{0}');
}

/// Index and field of a column; an error names the argument.
fn column<'a>(layer: &'a Layer, argument: &'static str, name: &str) -> Result<(usize, &'a Field)> {
    let schema = layer.batches().first().map(arrow_array::RecordBatch::schema_ref);
    let fields = schema.map(|schema| schema.fields());
    let found = fields.and_then(|fields| fields.iter().enumerate().find(|(_, field)| field.name() == name));
    let found = found.filter(|(index, _)| layer.geometry_index() != Some(*index));
    found.map(|(index, field)| (index, field.as_ref())).ok_or_else(|| {
        let schema = layer.schema();
        let names = schema.fields().iter().enumerate().filter(|(index, _)| layer.geometry_index() != Some(*index));
        let names: Vec<&str> = names.map(|(_, field)| field.name().as_str()).collect();
        let message = format!("`{argument}`: the layer has no column `{name}`; it has {}", names.join(", "));
        Error::for_argument(argument, message)
    })
}

/// The cells of a column, which an argument names, in some rows.
pub(crate) fn gather(layer: &Layer, argument: &'static str, name: &str, rows: &[u32]) -> Result<(Field, ArrayRef)> {
    let (index, field) = column(layer, argument, name)?;
    Ok((field.clone(), gather_index(layer, index, rows)))
}

/// The cells of the column with an index in some rows.
pub(crate) fn gather_index(layer: &Layer, index: usize, rows: &[u32]) -> ArrayRef {
    let arrays: Vec<&ArrayRef> = layer.batches().iter().filter_map(|batch| batch.columns().get(index)).collect();
    let mut starts = Vec::with_capacity(arrays.len());
    let mut start = 0;
    for array in &arrays {
        starts.push(start);
        start += array.len();
    }
    let cells = |row: &u32| {
        let row = *row as usize;
        let batch = starts.partition_point(|start| *start <= row).checked_sub(1)?;
        let (array, position) = (*arrays.get(batch)?, row - starts.get(batch)?);
        array.is_valid(position).then_some((array, position))
    };
    macro_rules! primitive {
        ($kind:ty) => {
            rows.iter()
                .map(|row| cells(row).map(|(array, position)| array.as_primitive::<$kind>().value(position)))
                .collect::<PrimitiveArray<$kind>>()
        };
    }
    match layer.schema().field(index).data_type() {
        DataType::Boolean => Arc::new(
            rows.iter()
                .map(|row| cells(row).map(|(array, position)| array.as_boolean().value(position)))
                .collect::<BooleanArray>(),
        ),
        DataType::Int32 => Arc::new(primitive!(Int32Type)),
        DataType::Int64 => Arc::new(primitive!(Int64Type)),
        DataType::Float64 => Arc::new(primitive!(Float64Type)),
        DataType::Date32 => Arc::new(primitive!(Date32Type)),
        DataType::Timestamp(_, zone) => Arc::new(primitive!(TimestampMicrosecondType).with_timezone_opt(zone.clone())),
        DataType::LargeBinary => Arc::new(
            rows.iter()
                .map(|row| cells(row).map(|(array, position)| array.as_binary::<i64>().value(position)))
                .collect::<LargeBinaryArray>(),
        ),
        _ => Arc::new(
            rows.iter()
                .map(|row| cells(row).and_then(|(array, position)| Some(array.as_string_opt::<i64>()?.value(position))))
                .collect::<LargeStringArray>(),
        ),
    }
}
