//! Tests columns of results: adding, replacing and removing them, and polygons in the plane.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Field};

use crate::columns::harmonize::harmonize;
use crate::columns::statements::Statements;
use crate::rows::result_columns::{polygon_layer, polygons, with_columns, without_columns};
use headland_base::error::Kind;
use headland_reader::layer::Layer;
use headland_reader::layer::crs::{Crs, LocalPlane};

fn integers(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

fn column(name: &str, values: &[i32]) -> (Field, ArrayRef) {
    (Field::new(name, DataType::Int32, true), integers(values))
}

fn names(layer: &Layer) -> Vec<String> {
    layer.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// Two rows with columns whose names cleaning uses, and squares of 100 m as geometry.
fn layer() -> Layer {
    let square = |west: f64| {
        vec![vec![vec![[west, 5e6], [west + 100.0, 5e6], [west + 100.0, 5_000_100.0], [west, 5_000_100.0]]]]
    };
    let utm = Crs::from_code("EPSG:32612").unwrap().unwrap();
    let flow: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let flow = (Field::new("Crop_Flw_M(lb/s)", DataType::Float64, true), flow);
    let columns = vec![flow, column("Pass_Num", &[1, 2]), column("Used", &[7, 8]), column("PASS_NUMBER", &[3, 4])];
    polygon_layer("test", "test", columns, &[square(5e5), square(6e5)], &utm).unwrap()
}

#[test]
fn columns_are_added_replaced_and_removed() {
    let statements = Statements { kind: Some(crate::JobKind::Yield), ..Statements::default() };
    let harmonized = harmonize(layer(), &statements).unwrap();
    let before = names(&harmonized);
    assert!(
        before.contains(&"pass_number".to_owned()) && before.contains(&"PASS_NUMBER_original".to_owned()),
        "{before:?}"
    );
    let added = |first: i32| vec![column("used", &[first, 1]), column("pass_number", &[first, 6])];
    let cleaned = with_columns(harmonized.clone(), added(0)).unwrap();
    let found = names(&cleaned);
    assert_eq!(found[found.len() - 3..], ["used", "pass_number", "geometry"]);
    assert_eq!(cleaned.geometry_index(), Some(found.len() - 1));
    for renamed in ["pass_number_logged", "PASS_NUMBER_original", "Used_original"] {
        assert!(found.contains(&renamed.to_owned()), "{renamed}: {found:?}");
    }
    // A second call replaces the columns of the first.
    let again = with_columns(cleaned, added(5)).unwrap();
    assert_eq!(names(&again), found);
    let values = again.batches()[0].column(found.len() - 2).as_primitive::<Int32Type>().values().to_vec();
    assert_eq!(values, [5, 6]);
    let removed = without_columns(again.clone()).unwrap();
    assert_eq!(names(&removed), before);
    assert_eq!(removed.schema(), harmonized.schema());
    // Harmonising with another statement starts from the original columns.
    let statements = Statements { crop: Some("wheat".to_owned()), ..statements };
    assert_eq!(names(&harmonize(again, &statements).unwrap()), before);
}

#[test]
fn column_of_another_length_is_an_error() {
    assert_eq!(with_columns(layer(), vec![column("used", &[1])]).unwrap_err().kind(), Kind::Value);
}

#[test]
fn polygons_are_read_in_the_plane() {
    let plane = LocalPlane::new(-111.0, 45.153);
    let found = polygons("plots", &layer(), &plane).unwrap();
    let ring = &found[0][0][0];
    assert_eq!((found.len(), ring.len()), (2, 4));
    // UTM is smaller by 0.9996 at the central meridian.
    assert!((ring[1][0] - ring[0][0] - 100.04).abs() < 1e-3 && ring[0][0].abs() < 1e-3, "{ring:?}");
}

#[test]
fn plots_without_polygons_are_errors_that_name_them() {
    let plane = LocalPlane::new(-111.0, 45.0);
    let mut point = vec![1_u8, 1, 0, 0, 0];
    point.extend([0; 16]);
    let geometry: ArrayRef = Arc::new(arrow_array::LargeBinaryArray::from_iter_values([point]));
    let table = StructArray::from(RecordBatch::try_from_iter([("geometry", geometry)]).unwrap());
    let with = |geometry, systems: &[String]| Layer::from_table("test", &table, geometry, systems, Vec::new()).unwrap();
    let points = with(Some(0), &["EPSG:4326".to_owned()]);
    for (layer, part) in
        [(points, "row 0"), (with(None, &[]), "no geometry"), (with(Some(0), &[]), "coordinate system")]
    {
        let error = polygons("plots", &layer, &plane).unwrap_err();
        assert_eq!((error.kind(), error.facts().field.as_deref()), (Kind::Value, Some("plots")));
        assert!(error.message().contains(part), "{}", error.message());
    }
}
