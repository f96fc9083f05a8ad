//! One position per record, in WGS 84.

use super::Layer;
use super::wkb::FlatCoordinates;
use crate::error::Result;

/// Longitude and latitude of records; `None` for null shapes.
pub(crate) type Positions = Vec<Option<(f64, f64)>>;

impl Layer {
    /// Longitude and latitude of each record: a point, or the mean of the vertices. `None` for null shapes, and for the
    /// whole layer if its coordinate system is unknown.
    pub(crate) fn positions(&self) -> Result<Option<Positions>> {
        let Some(crs) = &self.crs else { return Ok(None) };
        let transform = crs.to_wgs84()?;
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

    /// Up to `count` positions, evenly over the records with a geometry, in the coordinates of the layer: points, or means
    /// of vertices.
    pub(crate) fn sample_positions(&self, count: usize) -> Result<Vec<(f64, f64)>> {
        let found = self.geometries().flatten().count();
        let step = found.div_ceil(count.max(1)).max(1);
        let mut flat = FlatCoordinates::default();
        let mut positions = Vec::new();
        for (record, wkb) in self.geometries().flatten().enumerate().skip(step / 2).step_by(step) {
            flat.read(wkb, record)?;
            positions.extend(mean(&flat.xs).zip(mean(&flat.ys)));
        }
        Ok(positions)
    }

    /// The area of the polygon of each record in square metres; `None` for other geometries.
    pub(crate) fn areas(&self) -> Result<Vec<Option<f64>>> {
        self.geometries().map(|wkb| super::area::area([wkb], self.crs.as_ref())).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "vertices are far fewer than 2^53")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
