//! Tests of batched geometries: point runs, taken arrays and deleted rows.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use proptest::prelude::*;

use super::{WkbBuilder, are_valid_coordinates, is_valid_coordinate};
use crate::archive::{Record, Shape, ShapeHeader, ShapeType, Vertices};

const POINTS: ShapeHeader = ShapeHeader { shape_type: Some(ShapeType::Point), has_z: false, length: 0 };

/// Point records with their headers.
fn records(points: &[(f64, f64)]) -> Vec<u8> {
    let record = |(x, y): &(f64, f64)| {
        let mut record = vec![0, 0, 0, 9, 0, 0, 0, 10, 1, 0, 0, 0];
        record.extend(x.to_le_bytes());
        record.extend(y.to_le_bytes());
        record
    };
    points.iter().flat_map(record).collect()
}

/// The same points, pushed one at a time.
fn one_by_one(header: ShapeHeader, bytes: &[u8]) -> WkbBuilder {
    let mut all = WkbBuilder::new(false, None, 0, None);
    for (number, record) in (0..).zip(bytes.chunks(28)) {
        let vertices = Vertices { xy: &record[12..], z: None, m: None };
        let shape = Shape { shape_type: ShapeType::Point, parts: &[], part_kinds: &[], vertices };
        all.push(header, number, &Record::Shape(shape)).unwrap();
    }
    all
}

fn reported(geometries: &WkbBuilder) -> Vec<String> {
    let mut diagnostics = Vec::new();
    let mut issues = geometries.issues.clone();
    issues.resolve(&BTreeSet::new(), u64::MAX);
    issues.report("t.shp", &mut diagnostics);
    diagnostics.iter().map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message)).collect()
}

/// The X of each point; `None` for null.
fn xs(array: &ArrayRef) -> Vec<Option<f64>> {
    let x = |wkb: &[u8]| f64::from_le_bytes(wkb[5..13].try_into().unwrap());
    array.as_binary::<i64>().iter().map(|wkb| wkb.map(x)).collect()
}

#[test]
fn point_runs_match_single_points() {
    let points = [(1.0, 2.0), (-3.5, 1e38), (f64::NAN, 0.0), (0.0, -1e39), (4.0, 5.0)];
    let bytes = records(&points);
    let mut all = WkbBuilder::new(false, None, bytes.len() as u64, None);
    assert_eq!(all.push_points(POINTS, 0, &bytes[..56]), Ok(2));
    assert_eq!(all.push_points(POINTS, 2, &bytes[56..]), Ok(3));
    let (mut expected, none) = (one_by_one(POINTS, &bytes), BTreeSet::new());
    assert_eq!(reported(&all), reported(&expected));
    assert_eq!(reported(&all).len(), 1, "two coordinates are invalid: {:?}", reported(&all));
    assert_eq!(all.types, expected.types);
    assert_eq!(&all.take(&none, true).unwrap(), &expected.take(&none, true).unwrap());
}

#[test]
fn point_run_ends_before_the_first_other_record() {
    for (index, byte) in [(7, 14), (4, 1), (8, 0), (8, 21), (11, 1)] {
        let mut bytes = records(&[(1.0, 1.0); 4]);
        bytes[2 * 28 + index] = byte;
        let mut all = WkbBuilder::new(false, None, 0, None);
        assert_eq!(all.push_points(POINTS, 0, &bytes), Ok(2), "{index}");
        assert_eq!(all.push_points(POINTS, 2, &bytes[56..]), Ok(0), "{index}");
        assert_eq!(all.len(), 2);
    }
    let bytes = records(&[(1.0, 1.0); 2]);
    assert_eq!(WkbBuilder::new(true, None, 0, None).push_points(POINTS, 0, &bytes), Ok(0), "M is missing here");
    assert_eq!(
        WkbBuilder::new(false, None, 0, None).push_points(ShapeHeader { has_z: true, ..POINTS }, 0, &bytes),
        Ok(0)
    );
    assert_eq!(
        WkbBuilder::new(false, None, 0, None).push_points(ShapeHeader { shape_type: None, ..POINTS }, 0, &bytes),
        Ok(0)
    );
    assert_eq!(WkbBuilder::new(false, None, 0, None).push_points(POINTS, 0, &bytes[..55]), Ok(1));
}

#[test]
fn batches_skip_deleted_rows_and_keep_nulls() {
    let deleted = BTreeSet::from([1, 4, 5, 9]);
    let bytes = records(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]);
    let mut all = WkbBuilder::new(false, None, 0, None);
    all.push_points(POINTS, 0, &bytes).unwrap();
    all.push(POINTS, 3, &Record::Null).unwrap();
    assert_eq!(xs(&all.take(&deleted, false).unwrap()), [Some(0.0), Some(2.0), None]);
    assert_eq!(all.len(), 0);
    all.push(POINTS, 4, &Record::Null).unwrap();
    all.push_points(POINTS, 5, &bytes).unwrap();
    all.push(POINTS, 8, &Record::Broken).unwrap();
    assert_eq!(xs(&all.take(&deleted, false).unwrap()), [Some(1.0), Some(2.0), None]);
    assert_eq!(all.take(&deleted, false).unwrap().len(), 0);
    all.push_points(POINTS, 9, &bytes).unwrap();
    assert_eq!(xs(&all.take(&BTreeSet::new(), false).unwrap()), [Some(0.0), Some(1.0), Some(2.0)]);
    assert_eq!(reported(&all).len(), 1, "issues count for all batches");
}

#[test]
fn single_part_has_the_wkb_of_its_vertices() {
    let square = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0_f64];
    for (shape_type, points, head, issues) in [
        (ShapeType::Polygon, 5, &[1, 3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0][..], 0),
        (ShapeType::Polygon, 4, &[1, 3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0], 1),
        (ShapeType::Polygon, 2, &[1, 3, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0], 2),
        (ShapeType::PolyLine, 2, &[1, 2, 0, 0, 0, 2, 0, 0, 0], 0),
        (ShapeType::PolyLine, 1, &[1, 2, 0, 0, 0, 1, 0, 0, 0], 1),
    ] {
        let xy: Vec<u8> = square.iter().take(points * 2).flat_map(|ordinate| ordinate.to_le_bytes()).collect();
        let header = ShapeHeader { shape_type: Some(shape_type), has_z: false, length: 0 };
        let vertices = Vertices { xy: &xy, z: None, m: None };
        let mut all = WkbBuilder::new(false, None, 0, None);
        all.push(header, 0, &Record::Shape(Shape { shape_type, parts: &[0; 4], part_kinds: &[], vertices })).unwrap();
        assert_eq!(reported(&all).len(), issues, "{shape_type:?} of {points}: {:?}", reported(&all));
        let array = all.take(&BTreeSet::new(), false).unwrap();
        let mut expected = [head, &*xy].concat();
        if shape_type == ShapeType::Polygon && points < 5 {
            expected.extend(&xy[..16]);
        }
        assert_eq!(array.as_binary::<i64>().value(0), expected, "{shape_type:?} of {points}");
    }
}

proptest! {
    #[test]
    fn coordinate_bits_match_the_float_comparison(bits in proptest::collection::vec(any::<u64>(), 0..9)) {
        let xy: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        prop_assert_eq!(are_valid_coordinates(&xy), bits.iter().all(|bits| is_valid_coordinate(f64::from_bits(*bits))));
    }

    #[test]
    fn coordinates_near_the_limit_match_the_float_comparison(step in -2_i64..3, negative: bool) {
        let coordinate = f64::from_bits(1e38_f64.to_bits().wrapping_add_signed(step)) * if negative { -1.0 } else { 1.0 };
        prop_assert_eq!(are_valid_coordinates(&coordinate.to_le_bytes()), is_valid_coordinate(coordinate));
    }
}
