//! The ground of rows: the areas of their polygons, and rows that log several products on the same ground.

use std::collections::HashMap;

use arrow_array::cast::AsArray as _;

use crate::columns::added::Added;
use crate::columns::derived::Rows;
use headland_reader::layer::Layer;

/// The area of the polygons of each row in m2; empty without polygons, and where their coordinate system is unknown.
pub(crate) fn polygon_areas(layer: &Layer) -> Vec<f64> {
    let has_polygons = layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6));
    let areas = if has_polygons { layer.areas().unwrap_or_default() } else { Vec::new() };
    areas.into_iter().map(|area| area.unwrap_or(f64::NAN)).collect()
}

/// Time, machine and section, and geometry of a row.
type Place<'a> = (Option<i64>, [Option<u64>; 2], &'a [u8]);

/// Rows of a further product on the ground of an earlier row: another product at the same time and place, by the same
/// machine and section. Empty if there are none. The ground of a tank mix counts once.
pub(crate) fn further_products(layer: &Layer, rows: &Rows, added: &[Added]) -> Vec<bool> {
    let Some(product) = added.iter().find(|column| column.field.name() == "product") else { return Vec::new() };
    let products =
        product.arrays.iter().filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter());
    let products: Vec<Option<&str>> = products.collect();
    if products.windows(2).all(|pair| pair.first() == pair.last()) {
        return Vec::new();
    }
    let key =
        |name: &str, row: usize| rows.columns.get(name).and_then(|column| column.get(row)).map(|value| value.to_bits());
    let time = |row: usize| rows.times.as_ref().and_then(|times| times.get(row).copied().flatten());
    let mut seen: HashMap<Place<'_>, Vec<Option<&str>>> = HashMap::new();
    let further = layer.geometries().zip(&products).enumerate().map(|(row, (wkb, product))| {
        let Some(wkb) = wkb else { return false };
        let known = seen.entry((time(row), [key("machine", row), key("section", row)], wkb)).or_default();
        let is_further = !known.is_empty() && !known.contains(product);
        known.push(*product);
        is_further
    });
    let further: Vec<bool> = further.collect();
    if further.contains(&true) { further } else { Vec::new() }
}
