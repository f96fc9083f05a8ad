//! Tests rows as arrays: positions, steps, masses, and errors that name an argument.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, LargeBinaryArray, StructArray, TimestampMicrosecondArray,
};
use arrow_schema::Field;

use crate::JobKind;
use crate::columns::convert::{Target, to_units};
use crate::columns::harmonize::harmonize;
use crate::columns::statements::{Stated, Statements};
use crate::rows::field_rows::FieldRows;
use crate::rows::result_columns::polygon_layer;
use headland_base::error::{Error, Kind};
use headland_reader::archive::Code;
use headland_reader::layer::Layer;
use headland_reader::layer::crs::Crs;
use headland_reader::layer::units::System;

const ROWS: usize = 20;

/// A column: canonical name, unit if it is known, and values.
type Column = (&'static str, Option<&'static str>, ArrayRef);

fn numbers(name: &'static str, unit: &'static str, value: impl Fn(usize) -> f64) -> Column {
    (name, Some(unit), Arc::new(Float64Array::from_iter_values((0..ROWS).map(value))))
}

fn seconds(step: i64) -> Column {
    let micros = (0..ROWS).map(|row| i64::try_from(row).unwrap() * step);
    ("time", None, Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone("UTC")))
}

/// Two metres a second in swaths of 10 m.
fn steps() -> Vec<Column> {
    vec![seconds(1_000_000), numbers("distance", "m", |_| 2.0), numbers("swath_width", "m", |_| 10.0)]
}

fn with(mut columns: Vec<Column>, more: Vec<Column>) -> Vec<Column> {
    columns.extend(more);
    columns
}

fn statements(columns: &[Column], kind: JobKind) -> Statements {
    let original = |name: &str| format!("c_{name}");
    let stated = Stated {
        columns: columns.iter().map(|(name, ..)| ((*name).to_owned(), original(name))).collect(),
        units: columns.iter().filter_map(|(name, unit, _)| Some((original(name), (*unit)?.to_owned()))).collect(),
    };
    Statements { kind: Some(kind), stated, ..Statements::default() }
}

/// Points 2 m apart to the east of a longitude, with columns.
fn points(longitude: f64, columns: &[Column], crs: Option<&str>) -> Layer {
    let point = |row: usize| {
        let step = 2.0 / (111_319.49 * 45.0_f64.to_radians().cos());
        let east = longitude + f64::from(u32::try_from(row).unwrap()) * step;
        let east = if east > 180.0 { east - 360.0 } else { east };
        [&[1, 1, 0, 0, 0][..], &east.to_le_bytes(), &45.0_f64.to_le_bytes()].concat()
    };
    let geometry: ArrayRef = Arc::new(LargeBinaryArray::from_iter_values((0..ROWS).map(point)));
    let named = columns.iter().map(|(name, _, array)| (format!("c_{name}"), Arc::clone(array)));
    let fields = named
        .chain([("geometry".to_owned(), geometry)])
        .map(|(name, array)| (Arc::new(Field::new(name, array.data_type().clone(), true)), array));
    let table = StructArray::from(fields.collect::<Vec<_>>());
    let systems: Vec<String> = crs.map(str::to_owned).into_iter().collect();
    Layer::from_table("test", &table, Some(columns.len()), &systems, Vec::new()).unwrap()
}

fn harvest(columns: &[Column]) -> Layer {
    harmonize(points(-100.0, columns, Some("EPSG:4326")), &statements(columns, JobKind::Yield)).unwrap()
}

fn assert_all(found: &[f64], expected: f64) {
    assert_eq!(found.len(), ROWS);
    assert!(found.iter().all(|value| (value / expected - 1.0).abs() < 1e-5), "{found:?} instead of {expected}");
}

fn codes(rows: &FieldRows) -> Vec<Code> {
    rows.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn logged_columns_are_read_in_canonical_units() {
    let moisture = |row| if row == 3 { 120.0 } else { 15.0 };
    let states: BooleanArray = (0..ROWS).map(|row| (row > 1).then_some(row != 2)).collect();
    let machines: Int32Array = (0..ROWS).map(|row| (row > 0).then_some(7)).collect();
    let columns = with(
        steps(),
        vec![
            numbers("flow", "kg/s", |row| if row == 5 { f64::INFINITY } else { 3.0 }),
            numbers("moisture", "%", moisture),
            numbers("heading", "deg", |row| if row == 0 { 0.0 } else { 225.0 }),
            ("working", None, Arc::new(states)),
            ("machine", None, Arc::new(machines)),
        ],
    );
    let layer = harvest(&columns);
    for layer in [layer.clone(), to_units(layer, &Target::System(System::Us), Some("corn")).unwrap()] {
        let rows = FieldRows::read(&layer).unwrap();
        assert_eq!((rows.kind, rows.flow_rule, rows.shapes.is_none()), (JobKind::Yield, "flow", true));
        assert_all(&rows.distance, 2.0);
        assert_all(&rows.width, 10.0);
        assert_all(&rows.interval, 1.0);
        let (flow, moisture, working) = (rows.flow.unwrap(), rows.moisture.unwrap(), rows.working.unwrap());
        assert!((flow[4] - 3.0).abs() < 1e-12 && flow[5].is_nan());
        assert!((moisture[2] - 15.0).abs() < 1e-12 && moisture[3].is_nan());
        assert_eq!(working[..4], [true, true, false, true], "null is working");
        assert_eq!((rows.machines.clone(), rows.order.source[1]), (vec![(0, 0), (0, 7)], 1));
        let degrees = [rows.heading[0].to_degrees(), rows.heading[1].to_degrees()];
        assert!((degrees[0] - 90.0).abs() < 1e-9 && (degrees[1] + 135.0).abs() < 1e-9, "{degrees:?}");
        assert!((rows.order.time.unwrap()[19] - 19.0).abs() < 1e-9);
        assert!((rows.x[11] - rows.x[10] - 2.0).abs() < 1e-2 && rows.y[11].abs() < 1e-3);
        assert!(rows.diagnostics.is_empty(), "{:?}", rows.diagnostics);
    }
}

#[test]
fn flow_follows_from_yields_and_steps() {
    // 20 m2 a second.
    let wet = FieldRows::read(&harvest(&with(steps(), vec![numbers("yield_wet_mass", "t/ha", |_| 5.0)]))).unwrap();
    assert_eq!(wet.flow_rule, "yield_wet_mass x worked_area / interval");
    assert_all(&wet.flow.unwrap(), 10.0);

    let dry = || numbers("yield_dry_mass", "kg/ha", |_| 5000.0);
    let rows = FieldRows::read(&harvest(&with(steps(), vec![dry()]))).unwrap();
    assert_eq!((rows.flow_rule, codes(&rows)), ("yield_dry_mass x worked_area / interval", vec![Code::MassAssumed]));
    assert_all(&rows.flow.unwrap(), 10.0);

    let moisture = numbers("moisture", "%", |row| if row == 0 { -1.0 } else { 20.0 });
    let columns = with(steps(), vec![dry(), moisture]);
    let crop = Statements { crop: Some("wheat".to_owned()), ..statements(&columns, JobKind::Yield) };
    let layer = harmonize(points(-100.0, &columns, Some("EPSG:4326")), &crop).unwrap();
    assert!(layer.diagnostics().iter().any(|found| found.code == Code::MassAssumed), "harmonising has said it");
    let rows = FieldRows::read(&layer).unwrap();
    assert_eq!((codes(&rows), rows.market.map(|market| market[0])), (Vec::new(), Some(13.5)));
    assert_all(&rows.flow.unwrap(), 10.0 * (100.0 - 13.5) / 80.0);
}

#[test]
fn steps_are_computed_where_they_are_not_logged() {
    let width = || numbers("swath_width", "m", |_| 10.0);
    let rows = FieldRows::read(&harvest(&[seconds(2_000_000), width(), numbers("flow", "kg/s", |_| 3.0)])).unwrap();
    assert_eq!(codes(&rows), [Code::StepsComputed]);
    assert!(rows.distance.iter().all(|distance| (distance - 2.0).abs() < 0.01), "{:?}", rows.distance);
    assert_all(&rows.interval, 2.0);

    let distance = || numbers("distance", "m", |_| 2.0);
    let speed = numbers("speed", "m/s", |_| 4.0);
    let rows = FieldRows::read(&harvest(&[distance(), width(), speed, numbers("flow", "kg/s", |_| 3.0)])).unwrap();
    // Harmonising has computed the interval, which its provenance says.
    assert_eq!((codes(&rows), rows.order.time.is_none()), (Vec::new(), true));
    assert_all(&rows.interval, 0.5);

    let rows =
        FieldRows::read(&harvest(&[distance(), width(), numbers("yield_wet_mass", "kg/ha", |_| 5000.0)])).unwrap();
    assert_eq!(codes(&rows), [Code::IntervalAssumed]);
    assert_all(&rows.flow.unwrap(), 10.0);
    let rows = FieldRows::read(&harvest(&[seconds(1_000_000), distance(), numbers("flow", "kg/s", |_| 3.0)])).unwrap();
    assert!(rows.width.iter().all(|width| width.is_nan()));
}

#[test]
fn polygons_give_distance_and_amount() {
    let square = |row: usize| {
        let west = 5e5 + 3.0 * f64::from(u32::try_from(row).unwrap());
        vec![vec![vec![[west, 5e6], [west + 3.0, 5e6], [west + 3.0, 5_000_020.0], [west, 5_000_020.0]]]]
    };
    let mut rows: Vec<_> = (0..ROWS).map(square).collect();
    rows[4] = Vec::new();
    rows[5].push(square(9).remove(0));
    // A swath that crosses itself has hardly an area, but moments.
    rows[6] = vec![vec![vec![[5e5, 5e6], [500_003.0, 5_000_020.0], [500_003.0, 5e6], [5e5, 5_000_019.999]]]];
    let columns = [numbers("swath_width", "m", |_| 20.0), numbers("applied_rate", "L/ha", |_| 100.0)];
    let named = columns
        .iter()
        .map(|(name, _, array)| (Field::new(format!("c_{name}"), array.data_type().clone(), true), Arc::clone(array)));
    let utm = Crs::from_code("EPSG:32612").unwrap().unwrap();
    let layer = polygon_layer("test", "test", named.collect(), &rows, &utm).unwrap();
    let layer = harmonize(layer, &statements(&columns, JobKind::AsApplied)).unwrap();
    let rows = FieldRows::read(&layer).unwrap();
    let shapes = rows.shapes.unwrap();
    let shapes: Vec<_> = (0..7).map(|row| shapes.polygons(row)).collect();
    assert_eq!((shapes[0][0][0].len(), shapes[4].len(), shapes[5].len()), (4, 0, 2));
    assert!(rows.x[4].is_nan() && rows.distance[4].is_nan());
    // UTM is smaller by 0.9996 at the central meridian.
    assert!((rows.distance[0] - 3.0 / 0.9996 / 0.9996).abs() < 1e-5, "{}", rows.distance[0]);
    assert!(
        shapes[6][0][0].iter().any(|vertex| vertex[0] < rows.x[6])
            && shapes[6][0][0].iter().any(|vertex| vertex[0] > rows.x[6])
    );
    assert!((rows.distance[5] / rows.distance[0] - 2.0).abs() < 1e-6);
    let middle = f64::midpoint(shapes[0][0][0][0][0], shapes[0][0][0][2][0]);
    assert!((rows.x[0] - middle).abs() < 1e-6 && (rows.x[1] - rows.x[0] - 3.001_2).abs() < 1e-4);
    assert_eq!((rows.amount_unit, rows.flow.is_none()), ("L", true));
    assert!((rows.amount.unwrap()[0] - 0.6 / 0.9996 / 0.9996).abs() < 1e-6);
}

#[test]
fn field_across_the_antimeridian_is_in_one_plane() {
    let columns = with(steps(), vec![numbers("flow", "kg/s", |_| 3.0)]);
    let layer = points(179.999_8, &columns, Some("EPSG:4326"));
    let rows = FieldRows::read(&harmonize(layer, &statements(&columns, JobKind::Yield)).unwrap()).unwrap();
    assert!(rows.x.iter().all(|x| x.abs() < 50.0), "{:?}", rows.x);
    let [longitude, latitude] = rows.plane.unproject([rows.x[0], rows.y[0]]);
    assert!((longitude - 179.999_8).abs() < 1e-9 && (latitude - 45.0).abs() < 1e-9, "{longitude} {latitude}");
}

#[test]
fn what_is_missing_is_an_error_that_names_the_argument() {
    let fails = |layer: &Layer, argument: &str, part: &str| {
        let error: Error = FieldRows::read(layer).unwrap_err();
        assert_eq!(
            (error.kind(), error.facts().field.as_deref()),
            (Kind::Value, Some(argument)),
            "{}",
            error.message()
        );
        assert!(error.message().contains(part), "{}", error.message());
    };
    let flow = || numbers("flow", "kg/s", |_| 3.0);
    let complete = with(steps(), vec![flow()]);
    let unplaced = harmonize(points(0.0, &complete, None), &statements(&complete, JobKind::Yield)).unwrap();
    fails(&unplaced, "layer", "no coordinate system");
    let unit = |index: usize| {
        let mut columns = with(steps(), vec![flow()]);
        columns[index].1 = None;
        harvest(&columns)
    };
    fails(
        &unit(1),
        "units",
        "column `c_distance` is `distance`, but its unit is unknown; pass `units={\"c_distance\": ...}`",
    );
    fails(&unit(2), "units", "column `c_swath_width`");
    fails(&unit(3), "units", "column `c_flow`");
    fails(&harvest(&with(steps(), vec![numbers("yield_dry_volume", "m3/ha", |_| 6.0)])), "crop", "is a volume");
    fails(&harvest(&[numbers("distance", "m", |_| 2.0), flow()]), "columns", "nothing gives the interval");
    let kindless = points(0.0, &complete, Some("EPSG:4326"));
    fails(&kindless, "kind", "kind of job");
}
