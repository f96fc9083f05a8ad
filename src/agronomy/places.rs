//! Reads positions and polygons of rows in a local plane.

use std::sync::Arc;

use super::logged_shapes::Shapes;
use super::row_ratios::median;
use crate::error::{Error, Result};
use crate::layer::crs::LocalPlane;
use crate::layer::{Layer, Polygons};

/// Positions and polygons in a plane.
pub(super) struct Places {
    pub(super) plane: LocalPlane,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Square metres of the ground of the polygons of each row; NaN without a polygon.
    pub(super) areas: Option<Vec<f64>>,
    pub(super) shapes: Option<Arc<Shapes>>,
}

/// Reads the positions and polygons of a layer in the plane around their median.
pub(super) fn read_places(layer: &Layer) -> Result<Places> {
    let name = layer.name();
    if layer.geometry_index().is_none() {
        let message =
            format!("layer `{name}` has no geometry, so positions are unknown; pass one with points or polygons");
        return Err(Error::for_argument("layer", message));
    }
    if layer.crs().is_none() {
        let message = format!(
            "layer `{name}` has no coordinate system, so metres are unknown; set one, such as `frame.set_crs(4326)`"
        );
        return Err(Error::for_argument("layer", message));
    }
    let found = layer.row_shapes()?;
    let (mut x, mut y) = (found.xs, found.ys);
    let Some(first) = x.iter().copied().find(|x| x.is_finite()) else {
        let message = format!("layer `{name}` has no row with a position; pass one with points or polygons");
        return Err(Error::for_argument("layer", message));
    };
    // The median of longitudes on both sides of the antimeridian.
    let near = |longitude: &f64| longitude + 360.0 * ((first - longitude) / 360.0).round();
    let plane = match found.own {
        None => LocalPlane::new(median(x.iter().map(near).collect()), median(y.clone())),
        Some(own) => LocalPlane::new_own(own, [median(x.clone()), median(y.clone())])?,
    };
    plane.to_plane(&mut x, &mut y);
    let Some(mut polygons) = found.polygons else { return Ok(Places { plane, x, y, areas: None, shapes: None }) };
    let mut areas = Vec::with_capacity(polygons.len());
    let mut shapes = Shapes::default();
    for ((x, y), polygons) in x.iter_mut().zip(&mut y).zip(&mut polygons) {
        // Freed row by row, so that vertices are not in memory twice.
        let mut polygons = std::mem::take(polygons);
        for vertex in polygons.iter_mut().flatten().flatten() {
            *vertex = plane.project(*vertex);
        }
        if let Some([east, north]) = centroid(&polygons) {
            (*x, *y) = (east, north);
        }
        shapes.push(&polygons);
        areas.push(if polygons.is_empty() { f64::NAN } else { shapes.area(shapes.len() - 1) });
    }
    Ok(Places { plane, x, y, areas: Some(areas), shapes: Some(Arc::new(shapes)) })
}

/// Centroid of polygons with their holes. None without an area, or if it is outside the bounds: swaths in turns can cross
/// themselves, so that their parts cancel.
fn centroid(polygons: &Polygons) -> Option<[f64; 2]> {
    let [x0, y0] = polygons.iter().flatten().flatten().next().copied()?;
    let mut total = [0.0_f64; 3];
    for rings in polygons {
        for (number, ring) in rings.iter().enumerate() {
            // Moments relative to one vertex lose no digits.
            let mut sums = [0.0_f64; 3];
            for ([ax, ay], [bx, by]) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                let (ax, ay, bx, by) = (ax - x0, ay - y0, bx - x0, by - y0);
                let cross = ax * by - bx * ay;
                sums[0] += cross / 2.0;
                sums[1] += cross * (ax + bx) / 6.0;
                sums[2] += cross * (ay + by) / 6.0;
            }
            let is_positive = sums[0] > 0.0;
            let sign = if is_positive == (number == 0) { 1.0 } else { -1.0 };
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += sign * sum;
            }
        }
    }
    let [area, east, north] = total;
    let vertices = || polygons.iter().flatten().flatten();
    let is_within = |middle: [f64; 2]| {
        (0..2).all(|axis| {
            let along = |point: &[f64; 2]| point.get(axis).copied().unwrap_or(f64::NAN);
            vertices().any(|vertex| along(vertex) <= along(&middle))
                && vertices().any(|vertex| along(vertex) >= along(&middle))
        })
    };
    Some([x0 + east / area, y0 + north / area]).filter(|middle| area > 0.0 && is_within(*middle))
}
