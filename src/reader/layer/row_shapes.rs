//! Geometries of all rows as arrays: positions and polygons in degrees on WGS 84, or in the layer's own plane.

use super::Layer;
use super::containment::Polygons;
use super::crs::{OwnPlane, Transform};
use super::shapes::is_valid_coordinate;
use super::wkb::{FlatCoordinates, Part, flat_point};
use headland_base::error::{Error, Result};

/// Geometries of all rows: longitudes and latitudes in degrees on WGS 84, or the coordinates of the layer.
#[derive(Debug)]
pub struct RowShapes {
    /// The system of the coordinates, if it has no way to WGS 84.
    pub own: Option<OwnPlane>,
    /// Position of each row: that of a point, or the mean of the vertices. NaN without a position on the earth.
    pub xs: Vec<f64>,
    pub ys: Vec<f64>,
    /// Polygons of each row, if a row has one. Rings are without the closing vertex and have three vertices or more.
    pub polygons: Option<Vec<Polygons>>,
    /// First row whose geometry is not null and has a part that is not a polygon.
    pub first_other: Option<usize>,
    /// Rows with a polygon whose vertices are not all finite, so that its shape is unknown. They have no polygons.
    pub not_finite: Vec<usize>,
    /// Rows with a ring of one or two vertices, which is left out.
    pub short: Vec<usize>,
}

impl Layer {
    /// Reads the geometries of all rows. Errors: no coordinate system, one in degrees without a way to WGS 84, which name
    /// the argument that the layer is, and malformed geometries.
    pub fn row_shapes(&self, argument: &str) -> Result<RowShapes> {
        let wrong = |what: String| Error::for_argument(argument, format!("`{argument}` {what}"));
        let crs = self.crs().ok_or_else(|| {
            let what = "has no coordinate system, so metres are unknown; set one, such as `frame.set_crs(4326)`, or add the \
                        .prj to the file";
            wrong(what.to_owned())
        })?;
        let own = OwnPlane::new(crs);
        let transform = if own.is_some() {
            Transform::identity()
        } else {
            crs.way_to_wgs84().map_err(|reason| {
                wrong(format!(
                    "is in `{}`, which headland cannot transform to WGS 84: {reason}; pass `frame.to_crs(4326)`",
                    crs.name()
                ))
            })?
        };
        let (mut longitudes, mut latitudes) = (Vec::with_capacity(self.len()), Vec::with_capacity(self.len()));
        let mut others: Vec<(usize, [f64; 2], Polygons)> = Vec::new();
        let mut first_other = None;
        let (mut not_finite, mut short) = (Vec::new(), Vec::new());
        let mut flat = FlatCoordinates::default();
        for (row, wkb) in self.geometries().enumerate() {
            // Points are transformed at the end, all at once.
            let (mut longitude, mut latitude) = (f64::NAN, f64::NAN);
            if let Some(wkb) = wkb {
                if let Some((x, y)) = flat_point(wkb) {
                    if is_valid_coordinate(x) && is_valid_coordinate(y) {
                        (longitude, latitude) = (x, y);
                    }
                    first_other = first_other.or(Some(row));
                } else {
                    flat.read(wkb, row)?;
                    transform
                        .apply(&mut flat.xs, &mut flat.ys)
                        .map_err(|error| error.with(|facts| facts.record = u64::try_from(row).ok()))?;
                    let is_other = flat.parts().any(|(part, ..)| matches!(part, Part::Point | Part::Line));
                    first_other = first_other.or_else(|| is_other.then_some(row));
                    let mut found = Polygons::new();
                    if flat.has_lost_vertex() {
                        not_finite.push(row);
                    } else if !read_polygons(&flat, &mut found) {
                        short.push(row);
                    }
                    others.push((row, mean_position(&flat, own.is_none()), found));
                }
            }
            longitudes.push(longitude);
            latitudes.push(latitude);
        }
        transform.apply(&mut longitudes, &mut latitudes)?;
        for (row, [longitude, latitude], _) in &others {
            if let (Some(x), Some(y)) = (longitudes.get_mut(*row), latitudes.get_mut(*row)) {
                (*x, *y) = (*longitude, *latitude);
            }
        }
        for (longitude, latitude) in longitudes.iter_mut().zip(&mut latitudes) {
            // Only a layer in degrees can have such a position: it is not transformed.
            if own.is_none() && !(longitude.abs() <= 360.0 && latitude.abs() <= 90.0) {
                (*longitude, *latitude) = (f64::NAN, f64::NAN);
            }
        }
        let has_polygons = !not_finite.is_empty() || others.iter().any(|(.., polygons)| !polygons.is_empty());
        let mut polygons = has_polygons.then(|| {
            let mut all: Vec<Polygons> = Vec::new();
            all.resize_with(longitudes.len(), Vec::new);
            all
        });
        for (row, _, own) in others {
            if let Some(slot) = polygons.as_mut().and_then(|polygons| polygons.get_mut(row)) {
                *slot = own;
            }
        }
        Ok(RowShapes { own, xs: longitudes, ys: latitudes, polygons, first_other, not_finite, short })
    }
}

/// The mean of the vertices. Longitudes beyond the antimeridian count as those next to the first one, in degrees.
#[expect(clippy::cast_precision_loss, reason = "vertices are far fewer than 2^53")]
fn mean_position(flat: &FlatCoordinates, has_degrees: bool) -> [f64; 2] {
    let Some(first) = flat.xs.first() else { return [f64::NAN; 2] };
    let near = |x: f64| if has_degrees { x + 360.0 * ((first - x) / 360.0).round() } else { x };
    let count = flat.xs.len() as f64;
    [flat.xs.iter().map(|x| near(*x)).sum::<f64>() / count, flat.ys.iter().sum::<f64>() / count]
}

/// Adds the polygons of a geometry. Rings with fewer than three vertices are left out, with their holes. Returns whether
/// all of these are empty.
fn read_polygons(flat: &FlatCoordinates, polygons: &mut Polygons) -> bool {
    let (mut has_shell, mut is_complete) = (false, true);
    for (part, xs, ys) in flat.parts() {
        if !matches!(part, Part::Shell | Part::Hole) {
            continue;
        }
        let mut ring: Vec<[f64; 2]> = xs.iter().zip(ys).map(|(x, y)| [*x, *y]).collect();
        if ring.len() > 1 && ring.first() == ring.last() {
            ring.pop();
        }
        let is_ring = ring.len() >= 3;
        is_complete &= is_ring || ring.is_empty();
        if part == Part::Shell {
            has_shell = is_ring;
            if is_ring {
                polygons.push(vec![ring]);
            }
        } else if is_ring
            && has_shell
            && let Some(polygon) = polygons.last_mut()
        {
            polygon.push(ring);
        }
    }
    is_complete
}
