//! Reads positions and polygons of rows in a local plane.

use std::sync::Arc;

use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use crate::ground::logged_areas::other_polygons;
use crate::ground::logged_shapes::Shapes;
use crate::ground::polygon_coverage::owned_area;
use headland_base::error::{Error, Result};
use headland_reader::layer::crs::LocalPlane;
use headland_reader::layer::{Layer, Polygons};

/// Polygons with this many vertices, and up to this size in degrees, are mapped by a quadratic.
const SEVERAL_VERTICES: usize = 32;
const SMALL_SIZE: f64 = 1e-3;

/// Positions and polygons in a plane.
pub(crate) struct Places {
    pub(crate) plane: LocalPlane,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    /// Square metres of the ground of the polygons of each row; NaN without a polygon.
    pub(crate) areas: Option<Vec<f64>>,
    pub(crate) shapes: Option<Arc<Shapes>>,
}

impl Places {
    /// The places without polygons that are buffers of points, which are no ground.
    pub(crate) fn without_buffers(self, layer: &Layer, values: &CanonicalValues<'_>) -> Self {
        let number = |name: &str| values.numbers(name, "m").unwrap_or_default();
        let (distance, width) = (number("distance"), number("swath_width"));
        let other = self.areas.as_ref().and_then(|areas| other_polygons(layer, areas, &distance, &width));
        if other.is_some_and(|(_, are_buffers)| are_buffers) {
            Self { areas: None, shapes: None, ..self }
        } else {
            self
        }
    }
}

/// Reads the positions and polygons of a layer in the plane around their median.
pub(crate) fn read_places(layer: &Layer) -> Result<Places> {
    let name = layer.name();
    if layer.geometry_index().is_none() {
        let message = format!(
            "layer `{name}` has no geometry, so positions are unknown; pass one with points or polygons, or with columns of \
             longitudes and latitudes that are numbers in degrees"
        );
        return Err(Error::for_argument("layer", message));
    }
    let found = layer.row_shapes("layer")?;
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
        project(&plane, &mut polygons);
        if let Some([east, north]) = centroid(&polygons) {
            (*x, *y) = (east, north);
        }
        shapes.push(&polygons, owned_area);
        areas.push(if polygons.is_empty() { f64::NAN } else { shapes.area(shapes.len() - 1) });
    }
    Ok(Places { plane, x, y, areas: Some(areas), shapes: Some(Arc::new(shapes)) })
}

/// Maps vertices to a plane.
///
/// Small polygons of many vertices are mapped by a quadratic in both coordinates through nine exact positions, which is
/// many times faster. Its error is that of the third order: 1e-7 m at the largest size.
fn project(plane: &LocalPlane, polygons: &mut Polygons) {
    let (mut low, mut high, mut count) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2], 0_usize);
    for [x, y] in polygons.iter().flatten().flatten() {
        (low, high) = ([low[0].min(*x), low[1].min(*y)], [high[0].max(*x), high[1].max(*y)]);
        count += 1;
    }
    let size = [high[0] - low[0], high[1] - low[1]];
    let vertices = polygons.iter_mut().flatten().flatten();
    if count < SEVERAL_VERTICES || !size.iter().all(|size| *size > 0.0 && *size <= SMALL_SIZE) {
        vertices.for_each(|vertex| *vertex = plane.project(*vertex));
        return;
    }
    let node = |at: usize, axis: usize| [low[axis], f64::midpoint(low[axis], high[axis]), high[axis]][at];
    let nodes: [[[f64; 2]; 3]; 3] =
        std::array::from_fn(|column| std::array::from_fn(|line| plane.project([node(column, 0), node(line, 1)])));
    let weights = |at: f64| [(2.0 * at - 1.0) * (at - 1.0), 4.0 * at * (1.0 - at), at * (2.0 * at - 1.0)];
    for vertex in vertices {
        let [east, north] = [0, 1].map(|axis| weights((vertex[axis] - low[axis]) / size[axis]));
        let mut sum = [0.0; 2];
        for (weight, column) in east.iter().zip(&nodes) {
            for (other, node) in north.iter().zip(column) {
                sum = [sum[0] + weight * other * node[0], sum[1] + weight * other * node[1]];
            }
        }
        *vertex = sum;
    }
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
