//! Tests canonical rows: their columns and keys, when they are written again, and what the catalog says of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array as _, RecordBatch};
use chrono::{TimeZone as _, Utc};
use headland::agronomy::{Job, JobKind};
use headland::layer::Cancel;
use headland::mirror::Problem;
use headland::mirror::dataset::{repair, verify};

use crate::builder::{Field, UTM_12, WGS_84, dbf, parts, point, shp, zip};
use crate::support::{Farm, batches, files, points, schema, shapefile, state};

/// Inside the square of [`boundary`].
const INSIDE: (f64, f64) = (-110.99, 45.16);
const POLYGON: i32 = 5;

/// A harvest of some points at a corner.
fn harvest(corner: (f64, f64), salt: u32) -> Vec<u8> {
    points(120, corner, salt)
}

/// A harvest whose units a sidecar states. Each record has time, distance, width, flow, moisture, field and header.
fn logged(records: &[&str]) -> Vec<u8> {
    const JSON: &str = r#"{"DataAttributes":[{"Name":"DISTANCE","Unit":"m"},{"Name":"SWATHWIDTH","Unit":"m"},
        {"Name":"FLOW","Unit":"kg/s"},{"Name":"CYCLE","Unit":"s"},{"Name":"MOISTURE","Unit":"%"}]}"#;
    let fields: [Field<'_>; 8] = [
        ("TIME", b'C', 20, 0),
        ("DISTANCE", b'N', 5, 1),
        ("SWATHWIDTH", b'N', 5, 1),
        ("FLOW", b'N', 5, 1),
        ("CYCLE", b'N', 5, 1),
        ("MOISTURE", b'N', 5, 1),
        ("FIELD", b'C', 6, 0),
        ("HEADERDOWN", b'N', 1, 0),
    ];
    let rows: Vec<&[u8]> = records.iter().map(|record| record.as_bytes()).collect();
    let places: Vec<Vec<u8>> = (0..records.len()).map(|_| point(INSIDE.0, INSIDE.1)).collect();
    let (points, index) = shp(1, &places);
    zip(&[
        ("yield.shp", &points),
        ("yield.shx", &index),
        ("yield.dbf", &dbf(&fields, &rows, 0)),
        ("yield.prj", WGS_84.as_bytes()),
        ("yield-Deere-Metadata.json", JSON.as_bytes()),
    ])
}

/// A harvest with the boundary of its field, a square of two kilometres in UTM zone 12.
fn boundary(field: &str) -> Vec<u8> {
    boundary_in("FIELD", field)
}

/// The same with the name in another column.
fn boundary_in(column: &str, field: &str) -> Vec<u8> {
    let (x, y, side) = (500_000.0, 5_000_000.0, 2_000.0);
    let ring = parts(POLYGON, &[0], &[(x, y), (x, y + side), (x + side, y + side), (x + side, y), (x, y)]);
    let (outline, outline_index) = shp(POLYGON, &[ring]);
    let (rows, rows_index) = shp(1, &[point(INSIDE.0, INSIDE.1)]);
    let name = format!(" {field:<10}");
    zip(&[
        ("edge.shp", &outline),
        ("edge.shx", &outline_index),
        ("edge.dbf", &dbf(&[(column, b'C', 10, 0)], &[name.as_bytes()], 0)),
        ("edge.prj", UTM_12.as_bytes()),
        ("yield.shp", &rows),
        ("yield.shx", &rows_index),
        ("yield.dbf", &dbf(&[("Yield", b'N', 6, 1)], &[b"   12.5"], 0)),
        ("yield.prj", WGS_84.as_bytes()),
    ])
}

fn canonical(farm: &Farm, table: &str) -> Vec<PathBuf> {
    files(&farm.folder.path().join(table))
}

/// Job, record, name of the job and field of each canonical row of harvests.
fn rows(farm: &Farm) -> BTreeSet<(String, i64, String, Option<String>)> {
    let text = |batch: &RecordBatch, name: &str, row: usize| {
        let column = batch.column_by_name(name).unwrap().as_string::<i64>();
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    let mut found = BTreeSet::new();
    for batch in canonical(farm, "harvest_rows").iter().flat_map(|path| batches(path)) {
        for row in 0..batch.num_rows() {
            let number = batch.column_by_name("job_row").unwrap().as_primitive::<Int64Type>().value(row);
            let [job, name] = ["job_id", "job_name"].map(|name| text(&batch, name, row).unwrap());
            assert!(found.insert((job, number, name, text(&batch, "field", row))), "a row twice");
        }
    }
    found
}

/// Field of each job.
fn fields(farm: &Farm) -> BTreeMap<String, Option<String>> {
    rows(farm).into_iter().map(|(job, _, _, field)| (job, field)).collect()
}

fn inodes(paths: &[PathBuf]) -> BTreeMap<String, u64> {
    let named =
        |path: &PathBuf| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::metadata(path).unwrap().ino());
    paths.iter().map(named).collect()
}

/// Values of a text column of a table of the catalog.
fn catalog(farm: &Farm, table: &str, column: &str) -> Vec<Option<String>> {
    let path = farm.folder.path().join("catalog").join(format!("{table}.parquet"));
    let texts = |batch: RecordBatch| {
        let array = batch.column_by_name(column).unwrap().as_string::<i32>().clone();
        array.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
    };
    batches(&path).into_iter().flat_map(texts).collect()
}

#[test]
fn rows_of_all_displays_have_the_same_columns_and_empty_tables_have_columns() {
    let mut farm = Farm::new();
    farm.put("1", &harvest(INSIDE, 1));
    let other: [Field<'_>; 1] = [("Moisture", b'N', 6, 1)];
    let records = [b"   14.5".to_vec(), b"   15.5".to_vec()];
    farm.put("2", &shapefile(&other, &records, &[point(1.0, 2.0), point(1.1, 2.0)], None));
    farm.publish_and_compare();
    let found = rows(&farm);
    assert_eq!(found.len(), 122);
    assert!(found.contains(&("2".to_owned(), 1, "Job 2".to_owned(), None)), "{found:?}");
    let files = canonical(&farm, "harvest_rows");
    assert_eq!(files.len(), 2, "one for each part");
    assert_eq!(schema(&files[0]).fields(), schema(&files[1]).fields());
    for (table, column) in [("application_rows", "amount"), ("planting_rows", "depth")] {
        let [empty] = canonical(&farm, table).try_into().unwrap();
        assert_eq!(batches(&empty).iter().map(RecordBatch::num_rows).sum::<usize>(), 0, "{table}");
        assert!(schema(&empty).field_with_name(column).is_ok(), "{table}");
    }
    let units: BTreeSet<Option<String>> = catalog(&farm, "units", "original").into_iter().collect();
    assert_eq!(units, ["Moisture", "Track", "Yield"].map(|name| Some(name.to_owned())).into());
}

/// A layer without a known column has no canonical rows, and the catalog says why.
#[test]
fn layer_that_cannot_be_harmonised_is_named_with_the_reason() {
    let mut farm = Farm::new();
    farm.put("1", &shapefile(&[("Xyzzy", b'N', 6, 1)], &[b"   14.5".to_vec()], &[point(1.0, 2.0)], Some(WGS_84)));
    farm.put("2", &harvest(INSIDE, 1)).job = Job { kind: None, ..Job::default() };
    farm.publish_and_compare();
    assert_eq!(rows(&farm).len(), 0, "a job of another type is no harvest, although it has a column `Yield`");
    assert_eq!(catalog(&farm, "harmonized", "rule"), [Some("refused".to_owned())]);
    let [reason] = catalog(&farm, "harmonized", "evidence").try_into().unwrap();
    assert!(reason.unwrap().contains("no column of layer `field` has a known meaning"));
}

#[test]
fn renamed_job_is_written_again_and_the_others_stay() {
    let mut farm = Farm::new();
    farm.sizes.rows = 1;
    for id in ["1", "2", "3"] {
        farm.put(id, &harvest(INSIDE, id.parse().unwrap()));
    }
    farm.publish_and_compare();
    let before = inodes(&canonical(&farm, "harvest_rows"));
    let provenance = catalog(&farm, "harmonized", "job_id");
    assert_eq!((before.len(), farm.publish().generation), (3, 1), "nothing changed");

    farm.wanted.get_mut(&(false, "2".to_owned())).unwrap().name = "North harvest".to_owned();
    farm.publish_and_compare();
    let after = inodes(&canonical(&farm, "harvest_rows"));
    assert_eq!(after.iter().filter(|(name, inode)| before.get(*name) == Some(inode)).count(), 2);
    let names: BTreeSet<String> = rows(&farm).into_iter().map(|(_, _, name, _)| name).collect();
    assert_eq!(names, ["Job 1", "Job 3", "North harvest"].map(str::to_owned).into());
    assert_eq!(catalog(&farm, "harmonized", "job_id"), provenance, "kept and new ones, in order");

    farm.drop_job("1");
    farm.publish_and_compare();
    assert!(catalog(&farm, "harmonized", "job_id").iter().all(|id| id.as_deref() != Some("1")));
    assert!(catalog(&farm, "field_means", "job_name").iter().all(|name| name.as_deref() != Some("Job 1")));
}

/// The result does not depend on the order in which jobs arrive.
#[test]
fn boundary_names_the_field_of_earlier_jobs_on_its_ground() {
    let mut farm = Farm::new();
    farm.put("1", &harvest(INSIDE, 1));
    farm.put("2", &harvest((-100.0, 45.16), 2));
    farm.publish_and_compare();
    assert_eq!(fields(&farm), [("1".to_owned(), None), ("2".to_owned(), None)].into());

    farm.put("3", &boundary("Home"));
    farm.publish();
    let named = |job: &str, field: Option<&str>| (job.to_owned(), field.map(str::to_owned));
    let expected = BTreeMap::from([named("1", Some("Home")), named("2", None), named("3", Some("Home"))]);
    assert_eq!(fields(&farm), expected);
    let mut fresh = Farm::new();
    fresh.put("1", &harvest(INSIDE, 1));
    fresh.put("2", &harvest((-100.0, 45.16), 2));
    fresh.put("3", &boundary("Home"));
    fresh.publish();
    assert_eq!(rows(&fresh), rows(&farm));
    for column in ["job_id", "column", "rule", "evidence"] {
        assert_eq!(catalog(&fresh, "harmonized", column), catalog(&farm, "harmonized", column));
    }

    farm.put("3", &boundary("West"));
    farm.publish();
    assert_eq!(fields(&farm)["1"], Some("West".to_owned()));
    farm.drop_job("3");
    farm.publish();
    assert_eq!(fields(&farm)["1"], None);
    assert_eq!(verify(&farm.folder, true, &Cancel::default()).unwrap(), []);

    // A job on the same ground whose field the service states.
    farm.put("4", &harvest(INSIDE, 4)).field = Some("South".to_owned());
    farm.publish();
    assert_eq!(fields(&farm), [named("1", Some("South")), named("2", None), named("4", Some("South"))].into());
}

/// Numbers of a column of the means; null is not a number.
fn means(farm: &Farm, column: &str) -> Vec<f64> {
    let numbers = |batch: RecordBatch| {
        let array = batch.column_by_name(column).unwrap().as_primitive::<Float64Type>().clone();
        array.iter().map(|number| number.unwrap_or(f64::NAN)).collect::<Vec<_>>()
    };
    batches(&farm.folder.path().join("catalog/field_means.parquet")).into_iter().flat_map(numbers).collect()
}

/// Travel with the header up is no worked area, and each field that rows name has its row.
#[test]
fn means_are_by_the_field_that_rows_name() {
    let mut farm = Farm::new();
    let job = farm.put(
        "1",
        &logged(&[
            " 2024-12-31T10:00:00Z  2.0 10.0 10.0  2.0 15.5North 1",
            " 2024-12-31T10:00:02Z  2.0 10.0 10.0  2.0 15.5North 0",
            " 2024-12-31T10:00:04Z  9.0 10.0  0.0  2.0 15.5North 1",
            " 2024-12-31T10:00:06Z  2.0 10.0  5.0  2.0 15.5South 1",
        ]),
    );
    (job.start, job.created) = (None, Utc.with_ymd_and_hms(2026, 1, 2, 0, 0, 0).single());
    job.job.crop = Some("Corn".to_owned());
    farm.publish_and_compare();
    assert_eq!(catalog(&farm, "field_means", "field"), [Some("North".to_owned()), Some("South".to_owned())]);
    assert_eq!(means(&farm, "worked_area"), [110.0, 20.0]);
    let [file] = canonical(&farm, "harvest_rows").try_into().unwrap();
    for batch in batches(&file) {
        let years = batch.column_by_name("year").unwrap().as_primitive::<Int32Type>().clone();
        assert!(years.iter().all(|year| year == Some(2024)), "that of the rows, since the job states no start");
        let clocks = batch.column_by_name("clock").unwrap().as_string::<i64>().clone();
        assert!(clocks.iter().all(|clock| clock == Some("UTC")), "the times state their zone");
    }
}

/// A boundary called `Boundary 1` in the archive of a job is the boundary of the field that the service states.
#[test]
fn boundary_of_a_job_with_a_stated_field_has_that_name() {
    let mut farm = Farm::new();
    farm.put("1", &boundary_in("NAME", "Part 1")).field = Some("Home".to_owned());
    farm.put("2", &harvest(INSIDE, 2));
    farm.publish();
    assert_eq!(catalog(&farm, "boundaries", "field"), [Some("Home".to_owned())]);
    assert_eq!(fields(&farm)["2"], Some("Home".to_owned()));
    farm.wanted.get_mut(&(false, "1".to_owned())).unwrap().field = Some("House".to_owned());
    farm.publish();
    assert_eq!(catalog(&farm, "boundaries", "field"), [Some("House".to_owned())]);
    assert_eq!(fields(&farm)["2"], Some("House".to_owned()));
}

#[test]
fn changed_crop_of_a_job_is_written_to_its_rows() {
    let mut farm = Farm::new();
    let records = [b"   14.5".to_vec()];
    let bytes = shapefile(&[("Moisture", b'N', 6, 1)], &records, &[point(1.0, 2.0)], Some(WGS_84));
    let crops = |farm: &Farm| catalog(farm, "field_means", "crop");
    farm.put("1", &bytes);
    farm.publish();
    assert_eq!(crops(&farm), [None]);
    let crop = Some("Maize".to_owned());
    farm.wanted.get_mut(&(false, "1".to_owned())).unwrap().job =
        Job { kind: Some(JobKind::Yield), crop, ..Job::default() };
    farm.publish();
    assert_eq!(crops(&farm), [Some("corn".to_owned())]);
}

#[test]
fn damaged_canonical_rows_are_found_and_written_again() {
    let mut farm = Farm::new();
    farm.put("1", &harvest(INSIDE, 1));
    farm.publish();
    let expected = rows(&farm);
    let [file] = files(&state(farm.folder.path()).join("harvest_rows")).try_into().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::remove_file(&file).unwrap();
    fs::write(&file, bytes).unwrap();
    let findings = verify(&farm.folder, false, &Cancel::default()).unwrap();
    let found: Vec<_> = findings.iter().map(|finding| (finding.problem, finding.path.file_name())).collect();
    assert_eq!(found, [(Problem::Damaged, file.file_name())]);
    assert_eq!(repair(&farm.folder, &findings).unwrap(), 1);
    farm.publish_and_compare();
    assert_eq!(rows(&farm), expected);

    // Without the catalog's rows of a layer, all layers are read again.
    fs::remove_file(state(farm.folder.path()).join("catalog/harmonized.parquet")).unwrap();
    farm.publish_and_compare();
    assert!(!catalog(&farm, "harmonized", "rule").is_empty());
}
