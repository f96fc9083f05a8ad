//! Accessors of the cells of a grain cart file, by column.

use crate::archive::GrainCart;
use crate::layer::columns::number::{Cell, parse_float};
use headland_base::names::same;

/// The cells of the column at a position.
pub(super) fn cells_at(cart: &GrainCart, position: usize) -> impl Iterator<Item = &str> {
    cart.loads.iter().map(move |load| load.get(position).map(|cell| cell.trim()).unwrap_or_default())
}

/// The cells of a named column; `None` if there is no such column.
pub(super) fn column_cells<'a>(cart: &'a GrainCart, name: &str) -> Option<Vec<&'a str>> {
    let position = cart.names.iter().position(|known| same(known, name))?;
    Some(cells_at(cart, position).collect())
}

pub(super) fn parse_number(cell: &str) -> Option<f64> {
    match parse_float(cell.as_bytes()) {
        Cell::Value(value) => Some(value),
        Cell::Null | Cell::Invalid => None,
    }
}
