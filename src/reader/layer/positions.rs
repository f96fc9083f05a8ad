//! One position per record, in WGS 84.

use std::collections::BTreeSet;

use super::Layer;
use super::crs::{OwnPlane, Transform};
use super::shapes::is_valid_coordinate;
use super::wkb::{FlatCoordinates, flat_point};
use headland_base::error::Result;

impl Layer {
    /// Longitudes and latitudes of the records: a point, or the mean of the vertices; the coordinates of the layer if they
    /// have no way to WGS 84. Not a number for null shapes, and `None` if the coordinate system is unknown.
    pub fn positions(&self) -> Result<Option<[Vec<f64>; 2]>> {
        let Some(crs) = &self.crs else { return Ok(None) };
        let transform = if OwnPlane::new(crs).is_some() { Transform::identity() } else { crs.to_wgs84()? };
        let mut flat = FlatCoordinates::default();
        let (mut xs, mut ys) = (Vec::with_capacity(self.len()), Vec::with_capacity(self.len()));
        for (record, wkb) in self.geometries().enumerate() {
            let (mut x, mut y) = (f64::NAN, f64::NAN);
            if let Some(wkb) = wkb {
                if let Some((east, north)) = flat_point(wkb) {
                    if is_valid_coordinate(east) && is_valid_coordinate(north) {
                        (x, y) = (east, north);
                        transform.apply(std::slice::from_mut(&mut x), std::slice::from_mut(&mut y))?;
                    }
                } else {
                    flat.read(wkb, record)?;
                    transform.apply(&mut flat.xs, &mut flat.ys)?;
                    (x, y) = mean(&flat.xs).zip(mean(&flat.ys)).unwrap_or((f64::NAN, f64::NAN));
                }
            }
            xs.push(x);
            ys.push(y);
        }
        Ok(Some([xs, ys]))
    }

    /// Positions of up to `count` records with a geometry, in the coordinates of the layer: points, or means of vertices.
    ///
    /// Multiples of the golden ratio spread over the records without a period, which passes of one length have.
    pub(crate) fn sample_positions(&self, count: usize) -> Result<Vec<(f64, f64)>> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let found = self.geometries().flatten().count();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the number of records"
        )]
        let record = |sample: usize| ((sample as f64 * GOLDEN).fract() * found as f64) as usize;
        let records: BTreeSet<usize> = (1..=count.min(found)).map(record).collect();
        let mut flat = FlatCoordinates::default();
        let mut positions = Vec::new();
        for (record, wkb) in self.geometries().flatten().enumerate().filter(|(record, _)| records.contains(record)) {
            flat.read(wkb, record)?;
            positions.extend(mean(&flat.xs).zip(mean(&flat.ys)));
        }
        Ok(positions)
    }

    /// The area of the polygon of each record in square metres; `None` for other geometries, and if a
    /// vertex is not finite.
    pub fn areas(&self) -> Result<Vec<Option<f64>>> {
        let mut areas = Vec::with_capacity(self.len());
        super::area::measure(self.geometries(), self.crs.as_ref(), &mut |area| areas.push(area.known()))?;
        Ok(areas)
    }
}

#[expect(clippy::cast_precision_loss, reason = "vertices are far fewer than 2^53")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
