//! Groups rows by the values of columns, and picks cells of columns by row.

use std::collections::HashMap;

use arrow_array::{ArrayRef, UInt32Array, new_null_array};
use arrow_schema::Field;
use arrow_select::take::take;

use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::{CellBytes, Layer};

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
    let mut keys: Vec<Vec<u8>> = vec![Vec::new(); layer.len()];
    for name in names {
        let Some(array) = layer.all_cells(column(layer, "by", name)?.0) else { continue };
        let cells = CellBytes::new(&array);
        for (row, key) in keys.iter_mut().enumerate() {
            let cell = cells.get(row);
            // The length ends a cell, and that of null is the one that no cell has.
            key.extend(cell.map_or(usize::MAX, <[u8]>::len).to_le_bytes());
            key.extend_from_slice(cell.unwrap_or_default());
        }
    }
    let mut groups: HashMap<&[u8], u32> = HashMap::new();
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
    Ok((field.clone(), gather_index(layer, index, rows)?))
}

/// The cells of the column with an index in some rows; null for a row that the layer has not.
pub(crate) fn gather_index(layer: &Layer, index: usize, rows: &[u32]) -> Result<ArrayRef> {
    let Some(all) = layer.all_cells(index) else {
        return Ok(new_null_array(layer.schema().field(index).data_type(), rows.len()));
    };
    let rows: UInt32Array = rows.iter().map(|row| ((*row as usize) < all.len()).then_some(*row)).collect();
    take(&all, &rows, None).map_err(|cause| Error::new(Kind::Value, format!("cells of a column: {cause}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Array as _, Float64Array, StructArray};
    use arrow_schema::DataType;

    use super::*;

    #[test]
    fn only_a_row_that_the_layer_has_not_is_null() {
        let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
        let table = StructArray::from(vec![(Arc::new(Field::new("n", DataType::Float64, true)), numbers)]);
        let layer = Layer::from_table("test", &table, None, &[], Vec::new()).unwrap();
        let cells = gather_index(&layer, 0, &[1, u32::MAX, 0]).unwrap();
        assert_eq!((0..3).map(|row| cells.is_null(row)).collect::<Vec<_>>(), [false, true, false]);
    }
}
