//! Columns that are added to a layer: a field with its unit, and an array for each batch.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};

use headland_reader::layer::Layer;

/// A column to add: its field, and one array per batch.
pub(crate) struct Added {
    pub(crate) field: Field,
    pub(crate) arrays: Vec<ArrayRef>,
}

/// An array over all rows as one array per batch.
pub(crate) fn split(layer: &Layer, array: &ArrayRef) -> Vec<ArrayRef> {
    let mut start = 0_usize;
    let mut next = |rows: usize| {
        let part = array.slice(start, rows);
        start = start.saturating_add(rows);
        part
    };
    layer.batches().iter().map(|batch| next(batch.num_rows())).collect()
}

/// A field with a unit, if it has one.
pub(crate) fn field(name: &str, data_type: DataType, unit: &str) -> Field {
    let unit = (!unit.is_empty()).then(|| ("unit".to_owned(), unit.to_owned()));
    Field::new(name, data_type, true).with_metadata(unit.into_iter().collect::<HashMap<_, _>>())
}
