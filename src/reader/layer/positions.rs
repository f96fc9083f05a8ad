//! One position per record, in WGS 84.

use std::collections::BTreeSet;

use super::Layer;
use super::crs::{OwnPlane, Transform};
use super::wkb::FlatCoordinates;
use headland_base::error::Result;

/// Longitude and latitude of records; `None` for null shapes.
type Positions = Vec<Option<(f64, f64)>>;

impl Layer {
    /// Longitude and latitude of each record: a point, or the mean of the vertices; the coordinates of the layer if they
    /// have no way to WGS 84. `None` for null shapes, and for the whole layer if its coordinate system is unknown.
    pub fn positions(&self) -> Result<Option<Positions>> {
        let Some(crs) = &self.crs else { return Ok(None) };
        let transform = if OwnPlane::new(crs).is_some() { Transform::identity() } else { crs.to_wgs84()? };
        let mut flat = FlatCoordinates::default();
        let mut positions = Vec::with_capacity(self.len());
        for (record, wkb) in self.geometries().enumerate() {
            let Some(wkb) = wkb else {
                positions.push(None);
                continue;
            };
            flat.read(wkb, record)?;
            transform.apply(&mut flat.xs, &mut flat.ys)?;
            positions.push(mean(&flat.xs).zip(mean(&flat.ys)));
        }
        Ok(Some(positions))
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

    /// The area of the polygon of each record in square metres; `None` for other geometries.
    pub fn areas(&self) -> Result<Vec<Option<f64>>> {
        let mut areas = Vec::with_capacity(self.len());
        super::area::measure(self.geometries(), self.crs.as_ref(), &mut |area| areas.push(area))?;
        Ok(areas)
    }
}

#[expect(clippy::cast_precision_loss, reason = "vertices are far fewer than 2^53")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
