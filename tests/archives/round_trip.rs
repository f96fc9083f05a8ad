//! Reads shapefiles of another writer back: the `shapefile` crate writes, the `zip` crate packs.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type};
use headland::archive::ReadOptions;
use headland::layer::{self, Layer};
use proptest::prelude::*;
use shapefile::dbase::{Date, FieldName, FieldValue, Record, TableWriterBuilder};
use shapefile::record::EsriShape;
use shapefile::{Point, PointZ, Polygon, PolygonRing, ShapeWriter, Writer};

use crate::builder;
use crate::series::cases;

/// The values of one record.
#[derive(Clone, Debug)]
struct Row {
    name: Option<String>,
    count: Option<i32>,
    rate: Option<f64>,
    day: Option<(u32, u32, u32)>,
    flag: Option<bool>,
}

fn row() -> impl Strategy<Value = Row> {
    (
        proptest::option::of("[A-Za-z][A-Za-z ]{0,6}[a-z]"),
        proptest::option::of(-99_999_999..999_999_999_i32),
        proptest::option::of(-1e6..1e6_f64),
        proptest::option::of((1_u32..=28, 1_u32..=12, 1900_u32..=2100)),
        proptest::option::of(any::<bool>()),
    )
        .prop_map(|(name, count, rate, day, flag)| Row { name, count, rate, day, flag })
}

fn written<S: EsriShape>(shapes: &[(S, Row)]) -> Layer {
    let name = |name: &str| FieldName::try_from(name).unwrap();
    let header = TableWriterBuilder::new()
        .add_character_field(name("NAME"), 10)
        .add_numeric_field(name("COUNT"), 9, 0)
        .add_numeric_field(name("RATE"), 19, 7)
        .add_date_field(name("DAY"))
        .add_logical_field(name("FLAG"));
    let (mut shp, mut shx, mut dbf) = (Cursor::new(Vec::new()), Cursor::new(Vec::new()), Cursor::new(Vec::new()));
    {
        let mut writer = Writer::new(ShapeWriter::with_shx(&mut shp, &mut shx), header.build_with_dest(&mut dbf));
        for (shape, row) in shapes {
            let mut record = Record::default();
            record.insert("NAME".to_owned(), FieldValue::Character(row.name.clone()));
            record.insert("COUNT".to_owned(), FieldValue::Numeric(row.count.map(f64::from)));
            record.insert("RATE".to_owned(), FieldValue::Numeric(row.rate));
            let day = row.day.map(|(day, month, year)| Date::new(day, month, year).unwrap());
            record.insert("DAY".to_owned(), FieldValue::Date(day));
            record.insert("FLAG".to_owned(), FieldValue::Logical(row.flag));
            writer.write_shape_and_record(shape, &record).unwrap();
        }
    }
    let (shp, shx, dbf) = (shp.into_inner(), shx.into_inner(), dbf.into_inner());
    let zip = builder::zip(&[("job/t.shp", &shp), ("job/t.shx", &shx), ("job/t.dbf", &dbf)]);
    layer::read(&builder::source(zip), &ReadOptions::default()).unwrap()
}

fn check_columns(layer: &Layer, rows: &[&Row]) {
    assert_eq!(layer.len(), rows.len());
    let batch = &layer.batches()[0];
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let names: Vec<Option<&str>> = column("NAME").as_string::<i64>().iter().collect();
    assert_eq!(names, rows.iter().map(|row| row.name.as_deref()).collect::<Vec<_>>());
    let counts: Vec<Option<i32>> = column("COUNT").as_primitive::<Int32Type>().iter().collect();
    assert_eq!(counts, rows.iter().map(|row| row.count).collect::<Vec<_>>());
    let rates: Vec<Option<f64>> = column("RATE").as_primitive::<Float64Type>().iter().collect();
    let rounded = |rate: f64| format!("{rate:.7}").parse::<f64>().unwrap();
    assert_eq!(rates, rows.iter().map(|row| row.rate.map(rounded)).collect::<Vec<_>>());
    let days: Vec<Option<i32>> = column("DAY").as_primitive::<Date32Type>().iter().collect();
    let since = |(day, month, year): (u32, u32, u32)| {
        let date = chrono::NaiveDate::from_ymd_opt(i32::try_from(year).unwrap(), month, day).unwrap();
        i32::try_from((date - chrono::NaiveDate::default()).num_days()).unwrap()
    };
    assert_eq!(days, rows.iter().map(|row| row.day.map(since)).collect::<Vec<_>>());
    let flags: Vec<Option<bool>> = column("FLAG").as_boolean().iter().collect();
    assert_eq!(flags, rows.iter().map(|row| row.flag).collect::<Vec<_>>());
}

/// The numbers of a geometry after its header of `skip` bytes.
fn numbers(layer: &Layer, row: usize, skip: usize) -> Vec<u64> {
    let wkb = layer.geometries().nth(row).unwrap().unwrap();
    wkb[skip..].chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn points_and_their_columns_round_trip(rows in proptest::collection::vec((any::<(i32, i32)>(), row()), 1..60)) {
        let shapes: Vec<(Point, Row)> =
            rows.iter().map(|((x, y), row)| (Point::new(f64::from(*x) / 1e7, f64::from(*y) / 3e7), row.clone())).collect();
        let layer = written(&shapes);
        check_columns(&layer, &shapes.iter().map(|(_, row)| row).collect::<Vec<_>>());
        for (row, (point, _)) in shapes.iter().enumerate() {
            prop_assert_eq!(numbers(&layer, row, 5), vec![point.x.to_bits(), point.y.to_bits()]);
        }
    }

    #[test]
    fn heights_and_measures_round_trip(rows in proptest::collection::vec((any::<[i32; 4]>(), row()), 1..40)) {
        let shapes: Vec<(PointZ, Row)> = rows
            .iter()
            .map(|([x, y, z, m], row)| {
                (PointZ::new(f64::from(*x), f64::from(*y), f64::from(*z), f64::from(*m)), row.clone())
            })
            .collect();
        let layer = written(&shapes);
        for (row, (point, _)) in shapes.iter().enumerate() {
            prop_assert_eq!(numbers(&layer, row, 5), [point.x, point.y, point.z, point.m].map(f64::to_bits).to_vec());
        }
    }

    #[test]
    fn polygons_keep_their_rings(rows in proptest::collection::vec((0..1000_i32, 0..1000_i32, any::<bool>(), row()), 1..30)) {
        let square = |x: f64, y: f64, size: f64| {
            vec![Point::new(x, y), Point::new(x, y + size), Point::new(x + size, y + size), Point::new(x + size, y), Point::new(x, y)]
        };
        let shapes: Vec<(Polygon, Row)> = rows
            .iter()
            .map(|(x, y, hole, row)| {
                let (x, y) = (f64::from(*x), f64::from(*y));
                let mut rings = vec![PolygonRing::Outer(square(x, y, 10.0))];
                if *hole {
                    rings.push(PolygonRing::Inner(square(x + 2.0, y + 2.0, 3.0)));
                }
                (Polygon::with_rings(rings), row.clone())
            })
            .collect();
        let layer = written(&shapes);
        for (row, (polygon, _)) in shapes.iter().enumerate() {
            let mut expected = vec![1, 3, 0, 0, 0];
            expected.extend(u32::try_from(polygon.rings().len()).unwrap().to_le_bytes());
            for ring in polygon.rings() {
                expected.extend(u32::try_from(ring.points().len()).unwrap().to_le_bytes());
                ring.points().iter().for_each(|point| expected.extend([point.x.to_le_bytes(), point.y.to_le_bytes()].concat()));
            }
            prop_assert_eq!(layer.geometries().nth(row).unwrap().unwrap(), &expected[..]);
        }
    }
}
