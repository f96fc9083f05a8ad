//! The area of a layer: of its polygons, or worked by its rows.

use super::cell_values::numbers;
use super::convert::{Target, to_units};
use super::provenance::is_added;
use crate::error::Result;
use crate::layer::Layer;

/// The canonical column of the area of each row.
const AREA: &str = "worked_area";

/// The area of the polygons, else the worked area: the sum of the canonical column `worked_area` of a harmonised layer. In m2;
/// `None` without either.
pub fn area(layer: &Layer) -> Result<Option<f64>> {
    let is_worked = layer.schema().fields().iter().any(|field| field.name() == AREA && is_added(field));
    if is_worked && layer.area(true)?.is_none() {
        let metres = Target::Columns(vec![(AREA.to_owned(), "m2".to_owned())]);
        let layer = to_units(layer.clone(), &metres, None)?;
        let areas = numbers(&layer, layer.column_index("units", AREA)?);
        let mut known = areas.into_iter().filter(|area| !area.is_nan()).peekable();
        if known.peek().is_some() {
            return Ok(Some(known.sum()));
        }
    }
    layer.area(false)
}
