//! The polygons of a field, with which zones are compared.

use super::ring_size::measure;
use headland_base::error::{Error, Result};
use headland_reader::layer::{Layer, Polygons, cut_at_antimeridian};

/// The polygons in degrees. Another shape, another plane and no ground are errors of the argument `boundary`.
pub(super) fn polygons(layer: &Layer) -> Result<Polygons> {
    let refused = |why: String| Error::for_argument("boundary", format!("`boundary`: {why}"));
    let shapes = layer.row_shapes("boundary")?;
    if let Some(row) = shapes.first_other {
        return Err(refused(format!("row {row} is not a polygon; pass polygons of the field, not points or lines")));
    }
    if let Some(own) = &shapes.own {
        let name = own.crs().name();
        return Err(refused(format!("the system `{name}` has no known way to WGS 84; transform it first")));
    }
    if let Some(row) = shapes.not_finite.first() {
        return Err(refused(format!("row {row} has a coordinate that is not finite; repair it")));
    }
    let polygons = cut_at_antimeridian(shapes.polygons.unwrap_or_default().into_iter().flatten().collect());
    if !polygons.iter().flatten().any(|ring| measure(ring)[0] > 0.0) {
        return Err(refused("it has no polygon with an area".to_owned()));
    }
    Ok(polygons)
}
