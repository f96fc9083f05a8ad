//! Bounding boxes of each geometry and of all geometries, without invalid coordinates.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{DataType, Field, Fields};

use crate::layer::shapes::is_valid_coordinate;
use crate::layer::wkb::{Cursor, flat_point, points};
use headland_base::error::{Error, Kind, Result};

/// The field names of a box in the covering of GeoParquet 1.1.
pub(super) const SIDES: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

/// The bounding box of all coordinates added; none if there are none.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    low: [f64; 2],
    high: [f64; 2],
}

impl Default for Bounds {
    fn default() -> Self {
        Self { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] }
    }
}

impl Bounds {
    /// West, south, east and north.
    #[must_use]
    pub fn sides(&self) -> Option<[f64; 4]> {
        let ([left, below], [right, above]) = (self.low, self.high);
        (left <= right).then_some([left, below, right, above])
    }

    /// The bounding box of geometries.
    pub fn from_geometries<'a>(geometries: impl Iterator<Item = Option<&'a [u8]>>) -> Result<Self> {
        let mut bounds = Self::default();
        for wkb in geometries.flatten() {
            bounds.merge(&Self::from_wkb(wkb)?);
        }
        Ok(bounds)
    }

    fn from_wkb(wkb: &[u8]) -> Result<Self> {
        let mut own = Self::default();
        if let Some(point) = flat_point(wkb) {
            own.add_point(point);
        } else {
            let mut add = |run: &[u8], stride| points(run, stride).for_each(|point| own.add_point(point));
            Cursor::new(wkb).visit_runs(&mut |run, stride, _| add(run, stride))?;
        }
        Ok(own)
    }

    fn add_point(&mut self, (x, y): (f64, f64)) {
        if is_valid_coordinate(x) && is_valid_coordinate(y) {
            self.merge(&Self { low: [x, y], high: [x, y] });
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, other) in self.low.iter_mut().zip(other.low) {
            *own = own.min(other);
        }
        for (own, other) in self.high.iter_mut().zip(other.high) {
            *own = own.max(other);
        }
    }
}

/// The field of a column of boxes. Single precision is enough to skip rows and halves the size.
pub(super) fn box_field(name: String) -> Field {
    Field::new(name, DataType::Struct(side_fields()), true)
}

fn side_fields() -> Fields {
    SIDES.iter().map(|side| Field::new(*side, DataType::Float32, false)).collect()
}

/// Builds the boxes of `count` geometries, null without a valid coordinate, and extends `bounds`.
pub(super) fn build_boxes<'a>(
    geometries: impl Iterator<Item = Option<&'a [u8]>>,
    count: usize,
    bounds: &mut Bounds,
) -> Result<StructArray> {
    let mut columns: [Vec<f32>; 4] = std::array::from_fn(|_| Vec::with_capacity(count));
    let mut nulls = NullBufferBuilder::new(count);
    for wkb in geometries {
        let own = wkb.map(Bounds::from_wkb).transpose()?.unwrap_or_default();
        bounds.merge(&own);
        let sides = own.sides();
        nulls.append(sides.is_some());
        let [left, below, right, above] = sides.unwrap_or_default();
        for (column, side) in
            columns.iter_mut().zip([round_down(left), round_down(below), round_up(right), round_up(above)])
        {
            column.push(side);
        }
    }
    let arrays = columns.map(|column| Arc::new(Float32Array::from(column)) as ArrayRef).to_vec();
    StructArray::try_new(side_fields(), arrays, nulls.finish())
        .map_err(|cause| Error::new(Kind::Archive, format!("the bounding boxes do not form a column: {cause}")))
}

/// Rounds down to single precision, so that a box covers its geometry.
#[expect(clippy::cast_possible_truncation, reason = "corrected below if it rounds up")]
fn round_down(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

/// Rounds up to single precision.
fn round_up(value: f64) -> f32 {
    -round_down(-value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float32Type;

    fn line(vertices: &[(f64, f64)]) -> Vec<u8> {
        let mut wkb = vec![1, 2, 0, 0, 0];
        wkb.extend(u32::try_from(vertices.len()).unwrap().to_le_bytes());
        wkb.extend(vertices.iter().flat_map(|(x, y)| [*x, *y]).flat_map(f64::to_le_bytes));
        wkb
    }

    /// Design, section 5: `no data` and coordinates that are not finite are in no box.
    #[test]
    fn invalid_coordinates_are_not_in_boxes_or_bounds() {
        let invalid = [f64::NAN, f64::INFINITY, -1.7e308, 2e38];
        let mut lines: Vec<Vec<u8>> =
            invalid.iter().map(|no| line(&[(-111.1, 45.3), (*no, 46.0), (-112.0, *no)])).collect();
        lines.push(line(&[(f64::NAN, f64::NAN)]));
        let mut bounds = Bounds::default();
        let geometries = lines.iter().map(|line| Some(&**line)).chain([None]);
        let column = build_boxes(geometries, lines.len() + 1, &mut bounds).unwrap();
        assert_eq!(bounds.sides(), Some([-111.1, 45.3, -111.1, 45.3]));
        for row in 0..4 {
            let side = |index: usize| f64::from(column.column(index).as_primitive::<Float32Type>().value(row));
            assert!(side(0) <= -111.1 && side(1) <= 45.3 && side(2) >= -111.1 && side(3) >= 45.3);
            assert!((side(2) - side(0)) < 1e-4, "the box is no larger than single precision requires");
        }
        assert!(column.is_valid(3) && column.is_null(4) && column.is_null(5));
        assert_eq!(Bounds::default().sides(), None);
    }
}
