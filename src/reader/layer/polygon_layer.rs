//! Builds layers from columns: tables, and polygons from rings.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_schema::{Field, FieldRef, Schema};

use super::Layer;
use super::containment::Polygons;
use super::crs::Crs;
use super::schema::geometry_field;
use super::winding::is_reversed;
use headland_base::error::{Error, Kind, Result};

const POLYGON: u32 = 3;
const MULTI_POLYGON: u32 = 6;

impl Layer {
    /// Builds a table of columns of one length, without a geometry.
    pub fn from_columns(name: &str, source: &str, columns: Vec<(Field, ArrayRef)>) -> Result<Self> {
        let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) =
            columns.into_iter().map(|(field, array)| (Arc::new(field), array)).unzip();
        let rows = arrays.first().map_or(0, |array| array.len());
        Self::new(name, source, Arc::new(Schema::new(fields))).with_batch(arrays, rows)
    }

    /// Builds a layer with a geometry of each row behind the columns, in coordinates of `crs`.
    ///
    /// One polygon is a polygon, several are a multipolygon, none is null. Rings are closed; outer ones run
    /// anticlockwise, holes clockwise. Columns of another length than `polygons` and coordinates that are not finite are
    /// errors.
    pub fn from_polygons(
        name: &str,
        source: &str,
        columns: Vec<(Field, ArrayRef)>,
        polygons: &[Polygons],
        crs: &Crs,
    ) -> Result<Self> {
        let mut types = BTreeSet::new();
        let mut wkb = Vec::with_capacity(polygons.len());
        for (row, polygons) in polygons.iter().enumerate() {
            let is_finite = polygons.iter().flatten().flatten().flatten().all(|number| number.is_finite());
            if !is_finite {
                let message = format!("the polygon of row {row} has a coordinate that is not finite");
                return Err(Error::new(Kind::Value, message).with(|facts| facts.record = u64::try_from(row).ok()));
            }
            wkb.push(write_polygons(polygons, &mut types));
        }
        let geometry = LargeBinaryArray::from_iter(wkb);
        let names: Vec<String> = columns.iter().map(|(field, _)| field.name().clone()).collect();
        let (mut fields, mut arrays): (Vec<FieldRef>, Vec<ArrayRef>) =
            columns.into_iter().map(|(field, array)| (Arc::new(field), array)).unzip();
        let index = fields.len();
        fields.push(Arc::new(geometry_field(&names, Some(crs), None)));
        if let Some(array) = arrays.iter().find(|array| array.len() != polygons.len()) {
            let message = format!("a column has {} rows, but there are {} polygons", array.len(), polygons.len());
            return Err(Error::new(Kind::Value, message));
        }
        arrays.push(Arc::new(geometry));
        let layer = Self {
            geometry: Some(index),
            crs: Some(crs.clone()),
            prj: Some(crs.wkt().to_owned()),
            types: types.into_iter().collect(),
            ..Self::new(name, source, Arc::new(Schema::new(fields)))
        };
        layer.with_batch(arrays, polygons.len())
    }
}

/// Polygons as little-endian ISO WKB, whose type is added to `types`; `None` without polygons.
fn write_polygons(polygons: &Polygons, types: &mut BTreeSet<u32>) -> Option<Vec<u8>> {
    let mut wkb = Vec::new();
    match polygons.as_slice() {
        [] => return None,
        [polygon] => {
            types.insert(POLYGON);
            push_polygon(polygon, &mut wkb);
        }
        _ => {
            types.insert(MULTI_POLYGON);
            push_header(MULTI_POLYGON, polygons.len(), &mut wkb);
            for polygon in polygons {
                push_polygon(polygon, &mut wkb);
            }
        }
    }
    Some(wkb)
}

fn push_polygon(rings: &[Vec<[f64; 2]>], wkb: &mut Vec<u8>) {
    push_header(POLYGON, rings.len(), wkb);
    for (number, ring) in rings.iter().enumerate() {
        let mut vertices = ring.clone();
        if ring.first() != ring.last() {
            vertices.extend(ring.first());
        }
        let (xs, ys): (Vec<f64>, Vec<f64>) = vertices.iter().map(|[x, y]| (*x, *y)).unzip();
        if is_reversed(&xs, &ys, number == 0) {
            vertices.reverse();
        }
        push_count(vertices.len(), wkb);
        wkb.extend(vertices.iter().flatten().flat_map(|number| number.to_le_bytes()));
    }
}

fn push_header(code: u32, count: usize, wkb: &mut Vec<u8>) {
    wkb.push(1);
    wkb.extend(code.to_le_bytes());
    push_count(count, wkb);
}

fn push_count(count: usize, wkb: &mut Vec<u8>) {
    wkb.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use arrow_array::Int32Array;
    use arrow_schema::DataType;

    use super::*;

    fn square(west: f64, south: f64, size: f64) -> Vec<[f64; 2]> {
        vec![[west, south], [west + size, south], [west + size, south + size], [west, south + size]]
    }

    fn layer(polygons: &[Polygons], crs: &Crs) -> Result<Layer> {
        let rows = i32::try_from(polygons.len()).unwrap();
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..rows));
        Layer::from_polygons("grid", "clean", vec![(Field::new("n", DataType::Int32, true), numbers)], polygons, crs)
    }

    #[test]
    fn polygons_come_back_closed_and_in_direction() {
        let clockwise: Vec<[f64; 2]> = square(10.0, 50.0, 1.0).into_iter().rev().collect();
        let rows: Vec<Polygons> = vec![
            vec![vec![clockwise, square(10.25, 50.25, 0.5)]],
            vec![],
            vec![vec![square(0.0, 0.0, 1.0)], vec![square(2.0, 0.0, 1.0)]],
        ];
        let layer = layer(&rows, &Crs::wgs84()).unwrap();
        assert_eq!((layer.name(), layer.source(), layer.len()), ("grid", "clean", 3));
        assert_eq!((layer.geometry_types(), layer.geometry_column()), (&[3, 6][..], Some("geometry")));
        assert_eq!(layer.crs().and_then(Crs::epsg), Some(4326));
        let shapes = layer.row_shapes("layer").unwrap();
        assert_eq!(shapes.first_other, None);
        let found = shapes.polygons.unwrap();
        assert_eq!(found[0].len(), 1);
        assert_eq!(found[0][0][0].len(), 4);
        assert!(found[1].is_empty() && shapes.xs[1].is_nan());
        assert_eq!(found[2], rows[2]);
        let doubled = |ring: &[[f64; 2]]| -> f64 {
            let next = ring.iter().cycle().skip(1);
            ring.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum()
        };
        assert!((doubled(&found[0][0][0]) - 2.0).abs() < 1e-9, "outer ring is anticlockwise");
        assert!((doubled(&found[0][0][1]) + 0.5).abs() < 1e-9, "hole is clockwise");
        let first = layer.geometries().next().unwrap().unwrap();
        assert_eq!(first.len(), 1 + 4 + 4 + 2 * (4 + 5 * 16), "rings are closed");
    }

    #[test]
    fn projected_polygons_are_read_in_degrees() {
        let utm = crate::layer::crs::utm(-111.0, 45.6).unwrap();
        let layer = layer(&[vec![vec![square(5e5, 5e6, 100.0)]]], &utm).unwrap();
        let shapes = layer.row_shapes("layer").unwrap();
        assert!((shapes.xs[0] + 110.999_4).abs() < 1e-4, "{:?}", shapes.xs);
        assert!((layer.area(false).unwrap().unwrap() / 1e4 - 1.000_8).abs() < 1e-4);
    }

    #[test]
    fn mean_across_the_antimeridian_is_near_it() {
        let ring = vec![[179.99, 0.0], [-179.99, 0.0], [-179.99, 0.01], [179.99, 0.01]];
        let shapes = layer(&[vec![vec![ring]]], &Crs::wgs84()).unwrap().row_shapes("layer").unwrap();
        assert!((shapes.xs[0].abs() - 180.0).abs() < 0.01, "{:?}", shapes.xs);
    }

    #[test]
    fn coordinates_and_columns_are_checked() {
        let error = layer(&[vec![vec![square(f64::NAN, 0.0, 1.0)]]], &Crs::wgs84()).unwrap_err();
        assert_eq!((error.kind(), error.facts().record), (Kind::Value, Some(0)));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
        let columns = vec![(Field::new("n", DataType::Int32, true), numbers)];
        assert!(Layer::from_polygons("grid", "clean", columns, &[vec![]], &Crs::wgs84()).is_err());
    }
}
