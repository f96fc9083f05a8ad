//! Tests field boundaries from a second layer: they are a table of the catalog, and no rows of the job.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array as _, RecordBatch};
use chrono::{TimeZone as _, Utc};
use headland::layer::Cancel;
use headland::mirror::Problem;
use headland::mirror::dataset::verify;

use crate::builder::{Field, UTM_12, WGS_84, dbf, parts, point, shp, zip};
use crate::support::{Farm, batches, rows, schema};

const POLYGON: i32 = 5;

/// A square in UTM zone 12; `side` in metres.
fn square(side: f64) -> Vec<u8> {
    let (x, y) = (500_000.0, 5_000_000.0);
    parts(POLYGON, &[0], &[(x, y), (x, y + side), (x + side, y + side), (x + side, y), (x, y)])
}

/// The members of a layer of one record.
fn layer(
    name: &str,
    fields: &[Field<'_>],
    record: &str,
    kind: i32,
    place: Vec<u8>,
    prj: &str,
) -> Vec<(String, Vec<u8>)> {
    let (shp, shx) = shp(kind, &[place]);
    let table = dbf(fields, &[format!(" {record}").as_bytes()], 0);
    let member = |end: &str, bytes: Vec<u8>| (format!("{name}.{end}"), bytes);
    vec![member("shp", shp), member("shx", shx), member("dbf", table), member("prj", prj.as_bytes().to_vec())]
}

fn archive(layers: &[Vec<(String, Vec<u8>)>]) -> Vec<u8> {
    let members: Vec<(&str, &[u8])> = layers.iter().flatten().map(|(name, bytes)| (name.as_str(), &**bytes)).collect();
    zip(&members)
}

fn data() -> Vec<(String, Vec<u8>)> {
    layer("harvest", &[("Yield", b'N', 6, 1)], "  12.5", 1, point(-111.0, 45.0), WGS_84)
}

fn outline(field: &str, side: f64) -> Vec<(String, Vec<u8>)> {
    let fields = [("FIELD", b'C', 10, 0), ("AREA", b'N', 8, 3)];
    layer("a_boundary", &fields, &format!("{field:<10}{:>8.3}", side * side / 1e4), POLYGON, square(side), UTM_12)
}

fn table(farm: &Farm) -> PathBuf {
    farm.folder.path().join("catalog/boundaries.parquet")
}

/// The rows of the table: job, layer, field, year, the stated area, and whether the computed area is close to it.
fn found(farm: &Farm) -> Vec<(String, String, String, i32, f64, bool)> {
    let text = |batch: &RecordBatch, name: &str, row: usize| {
        batch.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned()
    };
    let number = |batch: &RecordBatch, name: &str, row: usize| {
        batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(row)
    };
    let mut found = Vec::new();
    for batch in batches(&table(farm)) {
        for row in 0..batch.num_rows() {
            let stated = number(&batch, "area_stated", row);
            // The projection reduces the area by the square of 0.9996.
            let is_near = (number(&batch, "area_m2", row) * 0.9996_f64.powi(2) / stated / 1e4 - 1.0).abs() < 1e-6;
            assert!(batch.column_by_name("geometry").unwrap().is_valid(row));
            let year = batch.column_by_name("year").unwrap().as_primitive::<Int32Type>().value(row);
            let texts = ["job_id", "layer", "field"].map(|name| text(&batch, name, row));
            let [job_id, layer, field] = texts;
            found.push((job_id, layer, field, year, stated, is_near));
        }
    }
    found
}

fn layers_of_rows(farm: &Farm) -> Vec<(String, String, usize)> {
    rows(&farm.files()).into_iter().map(|((_, job, layer), rows)| (job, layer, rows.len())).collect()
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

fn entry(job: &str, field: &str, year: i32, stated: f64) -> (String, String, String, i32, f64, bool) {
    (job.to_owned(), "a_boundary".to_owned(), field.to_owned(), year, stated, true)
}

#[test]
fn boundary_next_to_data_is_a_row_of_the_table_and_not_of_the_job() {
    let mut farm = Farm::new();
    farm.put("1", &archive(&[outline("Home", 100.0), data()]));
    assert_eq!(farm.publish().rows, 1);
    assert_eq!(layers_of_rows(&farm), [("1".to_owned(), "harvest".to_owned(), 1)]);
    assert_eq!(found(&farm), [entry("1", "Home", 2026, 1.0)]);
    assert_eq!(verify(&farm.folder, true, &Cancel::default()).unwrap(), []);
    let names: Vec<String> = schema(&table(&farm)).fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["job_id", "layer", "field", "year", "area_m2", "area_stated", "geometry", "bbox"]);
    let before = inode(&table(&farm));

    // A job without a boundary changes nothing in the table; the archives of other jobs are not read.
    farm.put("2", &archive(&[data()]));
    let archive_of_first = farm.wanted[&(false, "1".to_owned())].archive.clone();
    let aside = archive_of_first.with_extension("aside");
    farm.sizes.rows = 1;
    fs::rename(&archive_of_first, &aside).unwrap();
    farm.publish();
    fs::rename(&aside, &archive_of_first).unwrap();
    assert_eq!(inode(&table(&farm)), before);

    // Another field, another year, another archive of the same job.
    farm.put("3", &archive(&[data(), outline("West", 200.0)]));
    farm.publish();
    assert_eq!(found(&farm), [entry("1", "Home", 2026, 1.0), entry("3", "West", 2026, 4.0)]);
    farm.wanted.get_mut(&(false, "1".to_owned())).unwrap().start = Utc.with_ymd_and_hms(2025, 9, 1, 8, 0, 0).single();
    farm.put("3", &archive(&[data(), outline("North", 300.0)]));
    farm.publish();
    assert_eq!(found(&farm), [entry("1", "Home", 2025, 1.0), entry("3", "North", 2026, 9.0)]);
    assert_eq!(verify(&farm.folder, true, &Cancel::default()).unwrap(), []);
    farm.drop_job("1");
    farm.publish();
    assert_eq!(found(&farm), [entry("3", "North", 2026, 9.0)]);
    farm.drop_job("3");
    farm.publish();
    assert_eq!(found(&farm), []);
    assert!(table(&farm).exists(), "readers find an empty table");
}

/// Polygons with a rate, and outlines that are the only layer, remain rows.
#[test]
fn prescription_and_spot_spray_stay_rows() {
    let mut farm = Farm::new();
    let rate = [("FIELD", b'C', 10, 0), ("RATE", b'N', 8, 3)];
    let zone = layer("rx", &rate, "Home       120.000", POLYGON, square(50.0), UTM_12);
    farm.put("1", &archive(&[zone, data()]));
    farm.put("2", &archive(&[outline("Spots", 10.0)]));
    let mut second = outline("Also", 20.0);
    for (name, _) in &mut second {
        *name = name.replace("a_", "b_");
    }
    farm.put("3", &archive(&[outline("Spots", 10.0), second]));
    farm.publish_and_compare();
    assert_eq!(found(&farm), []);
    assert_eq!(layers_of_rows(&farm).len(), 5);
}

/// The archive of a boundary is changed or removed: `verify` names the table, and a publication that reads it again
/// fails.
#[test]
fn boundary_that_differs_from_its_archive_is_found() {
    let mut farm = Farm::new();
    let bytes = archive(&[outline("Home", 100.0), data()]);
    let path = farm.put("1", &bytes).archive.clone();
    farm.publish();
    fs::write(&path, archive(&[outline("Other", 100.0), data()])).unwrap();
    let findings = verify(&farm.folder, true, &Cancel::default()).unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].path.ends_with("catalog/boundaries.parquet") && findings[0].problem == Problem::Damaged);
    farm.put("2", &archive(&[outline("West", 100.0), data()]));
    assert_eq!(farm.lost().iter().map(|refusal| &*refusal.job_id).collect::<Vec<_>>(), ["1"]);
    fs::write(&path, bytes).unwrap();
    assert_eq!(farm.publish().rows, 2);
    assert_eq!(found(&farm), [entry("1", "Home", 2026, 1.0), entry("2", "West", 2026, 1.0)]);
}
