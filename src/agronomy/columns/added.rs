//! Columns that are added to a layer: a field, and an array for each batch.

use arrow_array::ArrayRef;
use arrow_schema::Field;

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
