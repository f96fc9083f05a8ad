//! Tests archives of every kind in the dataset: unusual names, systems, types and layers, and unreadable archives.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;

use chrono::{TimeZone as _, Utc};
use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::ItemKind;
use headland::mirror::dataset::publish_in;
use headland::sandbox::fields::{CartFormat, HarvestStyle, generate_account};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};

use crate::builder::{UTM_12, WGS_84, dbf, point, shp, zip};
use crate::support::{Farm, points, rows, schema, shapefile, utm_points};

/// The folders of the parts, without `columns=`.
fn folders(farm: &Farm) -> BTreeSet<String> {
    let name = |path: &std::path::PathBuf| {
        let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        parts[parts.len() - 4..parts.len() - 2].join("/")
    };
    farm.files().iter().map(name).collect()
}

/// The `geo` entry of a file.
fn geo(path: &std::path::Path) -> Option<Value> {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    pairs.iter().find(|pair| pair.key == "geo").map(|pair| serde_json::from_str(pair.value.as_ref().unwrap()).unwrap())
}

fn records(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Columns with the names of the dataset's own columns, in any letter case, get a numbered name. The dataset's own
/// columns are in every part.
#[test]
fn archive_columns_that_collide_with_dataset_columns_are_renamed() {
    let names = ["job_id", "LAYER", "job_row", "bbox", "Geometry", "Year", "job_type", "columns", "year_1", "Bbox"];
    let fields: Vec<_> = names.iter().map(|name| (*name, b'N', 2, 0)).collect();
    let mut farm = Farm::new();
    let cells = (0..names.len()).fold(" ".to_owned(), |text, at| format!("{text}{at:>2}"));
    farm.put("1", &shapefile(&fields, &records(&[&cells]), &[point(-111.0, 45.0)], Some(WGS_84)));
    farm.publish_and_compare();
    let schema = schema(&farm.files()[0]);
    let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let expected = [
        "job_id",
        "layer",
        "job_row",
        "job_id_1",
        "LAYER_1",
        "job_row_1",
        "bbox_1",
        "Geometry_1",
        "Year_2",
        "job_type_1",
        "columns_1",
        "year_1",
        "Bbox_2",
        "geometry",
        "bbox",
    ];
    assert_eq!(found, expected);
}

/// Field notes, "Job data archives": units are stated or unknown. Another unit is another folder.
#[test]
fn units_are_in_the_field_metadata_and_other_units_in_another_folder() {
    let mut farm = Farm::new();
    let with_unit = |unit: &str| {
        let fields = [("Product", b'C', 4, 0), ("Yield", b'N', 6, 2)];
        let (shp, shx) = shp(1, &[point(-111.0, 45.0)]);
        let table = dbf(&fields, &[b" Corn  1.25"], 0);
        let stated = format!(r#"{{"DataAttributes":[{{"Name":"Yield","Unit":"{unit}"}}]}}"#);
        let json = ("a-Deere-Metadata.json", stated.as_bytes());
        zip(&[("a.shp", &shp), ("a.shx", &shx), ("a.dbf", &table), ("a.prj", WGS_84.as_bytes()), json])
    };
    for (id, unit) in [("1", "bu/ac"), ("2", "t/ha"), ("3", "bu/ac"), ("4", "")] {
        farm.put(id, &with_unit(unit));
    }
    assert_eq!(farm.publish_and_compare().parts_written, 3);
    let units: BTreeSet<String> = farm
        .files()
        .iter()
        .map(|path| {
            let schema = schema(path);
            assert_eq!(schema.field_with_name("Product").unwrap().metadata().get("unit"), None, "a text has no unit");
            schema.field_with_name("Yield").unwrap().metadata()["unit"].clone()
        })
        .collect();
    assert_eq!(units, BTreeSet::from(["bu/ac".to_owned(), "t/ha".to_owned(), "unknown".to_owned()]));
}

/// Coordinates that cannot be transformed to WGS 84 are never in the column of those that are.
#[test]
fn unknown_systems_have_their_own_columns_and_folders() {
    let mut farm = Farm::new();
    let fields = [("Track", b'N', 6, 0)];
    let at = |x: f64, y: f64, prj: Option<&str>| shapefile(&fields, &records(&["      7"]), &[point(x, y)], prj);
    let nad27 = UTM_12
        .replace("D_WGS_1984", "D_North_American_1927")
        .replace("6378137.0,298.257223563", "6378206.4,294.9786982");
    farm.put("known", &at(-111.0, 45.0, Some(WGS_84)));
    farm.put("moved", &utm_points(1));
    farm.put("silent", &at(-111.0, 45.0, None));
    farm.put("odd", &at(1.0, 2.0, Some("LOCAL_CS[\"of the farm\"]")));
    farm.put("old", &at(500_000.0, 5e6, Some(&nad27)));
    farm.publish_and_compare();
    let mut columns = BTreeSet::new();
    for path in farm.files() {
        let geo = geo(&path).unwrap();
        let name = geo["primary_column"].as_str().unwrap();
        let column = &geo["columns"][name];
        assert_eq!(geo["version"], "1.1.0");
        assert_eq!(column["covering"]["bbox"]["xmin"], json!([name.replace("geometry", "bbox"), "xmin"]));
        let is_wgs84 = column["crs"]["id"] == json!({ "authority": "EPSG", "code": 4326 });
        assert_eq!(is_wgs84, name == "geometry");
        assert_eq!(column["crs"].is_null(), name != "geometry" && !column["crs"].is_object());
        let prj = schema(&path).field_with_name(name).unwrap().metadata().get("headland.prj").cloned();
        columns.insert((name.to_owned(), column["crs"].is_object(), prj));
        let found: BTreeSet<String> = rows(&[path]).into_keys().map(|(_, job, _)| job).collect();
        if name == "geometry" {
            assert_eq!(found, BTreeSet::from(["known".to_owned(), "moved".to_owned()]));
        } else {
            assert_eq!(found.len(), 1);
        }
    }
    assert_eq!(columns.len(), 4);
    assert!(columns.contains(&("geometry_unknown".to_owned(), false, None)));
    assert!(columns.iter().any(|(_, has_crs, prj)| *has_crs && prj.as_deref() == Some(&nad27)), "{columns:?}");
    assert!(columns.iter().any(|(_, has_crs, prj)| !has_crs && prj.as_deref() == Some("LOCAL_CS[\"of the farm\"]")));
}

/// An archive may contain several layers, tables without shapes, and layers without rows; integers may have decimals in
/// one layer.
#[test]
fn every_layer_of_an_archive_is_published_with_its_own_kind() {
    let mut farm = Farm::new();
    let (one, one_index) = shp(1, &[point(-111.0, 45.0), point(-111.0, 45.1)]);
    let (none, none_index) = shp(1, &[]);
    let fields = [("Track", b'N', 6, 0)];
    let two = dbf(&fields, &[b"      7", b"      8"], 0);
    let empty = dbf(&fields, &[b""; 0], 0);
    let prj = WGS_84.as_bytes();
    let bytes = zip(&[
        ("a.shp", &one),
        ("a.shx", &one_index),
        ("a.dbf", &two),
        ("a.prj", prj),
        ("none.shp", &none),
        ("none.shx", &none_index),
        ("none.dbf", &empty),
        ("none.prj", prj),
        ("notes.dbf", &two),
    ]);
    farm.put("1", &bytes);
    farm.put("2", &shapefile(&fields, &records(&["    7.5"]), &[point(-111.0, 45.0)], Some(WGS_84)));
    farm.put("3", &zip(&[("none.shp", &none), ("none.shx", &none_index), ("none.dbf", &empty)]));
    let published = farm.publish_and_compare();
    assert_eq!((published.rows, published.parts_written), (5, 4));
    assert_eq!(farm.publish_and_compare().parts_written, 0, "layers without rows are known too");
    farm.drop_job("1");
    assert_eq!(farm.publish_and_compare().rows, 1);
}

/// A grain cart file is a layer with the name of its record, not of the stored file; its id may equal that of a job.
#[test]
fn grain_carts_have_their_own_type() {
    let mut farm = Farm::new();
    farm.put("1", &points(3, (-111.0, 45.0), 1));
    for (cart, id) in generate_account(3, HarvestStyle::Ideal).carts.iter().zip(["1", "2"]) {
        let origin = farm.put_as(ItemKind::Cart, id, &cart.content(CartFormat::default()));
        // The list states no times (specification 2.8); a name may.
        (origin.start, origin.created) = (None, None);
        origin.name = ["Corn_West_40_7_2025-09-15_093011_8140.grc", "of my own.grc"][usize::from(id == "2")].to_owned();
    }
    let published = farm.publish_and_compare();
    assert!(published.rows > 3);
    assert_eq!(
        folders(&farm).into_iter().collect::<Vec<_>>(),
        [
            "job_type=GrainCart/year=2025",
            "job_type=GrainCart/year=__HIVE_DEFAULT_PARTITION__",
            "job_type=Yield/year=2026"
        ]
    );
    let renamed = farm.wanted.get_mut(&(true, "2".to_owned())).unwrap();
    renamed.name = "Corn_North_7.grc".to_owned();
    assert_eq!(farm.publish_and_compare().parts_written, 1);
    assert!(rows(&farm.files()).keys().any(|(_, _, layer)| layer == "Corn_North_7"));
}

/// The year is that of the start (UTC), or else of the record; the type is that of the service, in any letter case.
#[test]
fn jobs_are_in_the_folder_of_their_type_and_year() {
    let mut farm = Farm::new();
    let time = |year, month, day, hour| Some(Utc.with_ymd_and_hms(year, month, day, hour, 59, 59).unwrap());
    let long = "ü".repeat(300);
    let cases = [
        ("Yield", time(2025, 12, 31, 23), time(2026, 2, 1, 0), "job_type=Yield/year=2025"),
        ("AsApplied", None, time(2026, 1, 1, 0), "job_type=AsApplied/year=2026"),
        ("", None, None, "job_type=__HIVE_DEFAULT_PARTITION__/year=__HIVE_DEFAULT_PARTITION__"),
        ("a/b=ö %", time(2026, 5, 5, 5), None, "job_type=a%2Fb%3D%C3%B6%20%25/year=2026"),
        ("..", time(2026, 5, 5, 5), None, "job_type=../year=2026"),
        (&long, time(2026, 5, 5, 5), None, ""),
    ];
    for (number, (job_type, start, created, _)) in (0_u32..).zip(&cases) {
        let origin = farm.put(&number.to_string(), &points(2, (-111.0, 45.0), number));
        (origin.job_type, origin.start, origin.created) = ((*job_type).to_owned(), *start, *created);
    }
    assert_eq!(farm.publish().parts_written, cases.len());
    let found = folders(&farm);
    for (.., expected) in cases.iter().filter(|case| !case.3.is_empty()) {
        assert!(found.contains(*expected), "{expected} in {found:?}");
    }
    let long = found.iter().find(|name| name.contains('~')).unwrap();
    assert!(long.len() < 200 && long.starts_with("job_type=%C3%BC%C3%BC"), "{long}");
    // A type or a start that becomes known later moves the rows.
    let origin = farm.wanted.get_mut(&(false, "2".to_owned())).unwrap();
    (origin.job_type, origin.start) = ("Planter".to_owned(), time(2024, 5, 5, 5));
    farm.publish();
    let moved = folders(&farm);
    assert!(moved.contains("job_type=Planter/year=2024") && !moved.iter().any(|name| name.contains("HIVE")));
}

/// An unreadable archive is rejected with its reason; all others are published. While archives are missing on the disk,
/// nothing is published: all of them are named, and no published row is lost.
#[test]
fn unreadable_archive_is_rejected_and_a_missing_one_keeps_the_publication() {
    let mut farm = Farm::new();
    for number in 0..6 {
        farm.put(&number.to_string(), &points(20, (-111.0, 45.0), number));
    }
    let good = farm.publish_and_compare().rows;
    farm.put("bad", b"PK\x03\x04 nothing of the kind");
    farm.put("gone", &points(5, (-111.0, 45.0), 99));
    fs::remove_file(&farm.wanted[&(false, "gone".to_owned())].archive).unwrap();
    farm.put("6", &points(7, (-111.0, 45.0), 6));
    // An archive of an earlier generation is damaged on the disk, and that is found when its part is rewritten.
    let broken = farm.wanted[&(false, "5".to_owned())].archive.clone();
    let mut file = fs::OpenOptions::new().append(true).open(&broken).unwrap();
    file.set_len(200).unwrap();
    file.write_all(b"?").unwrap();
    let lost = farm.lost();
    let refused: Vec<(&str, Kind)> = lost.iter().map(|refusal| (&*refusal.job_id, refusal.error.kind())).collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    for expected in [("bad", Kind::Archive), ("gone", Kind::File), ("5", Kind::File)] {
        assert!(refused.contains(&expected), "{expected:?} in {refused:?}");
    }
    assert_eq!(farm.folder.current().unwrap().unwrap().number, 1, "no row is missing meanwhile");
    assert_eq!(rows(&farm.files()).values().map(|rows| rows.len() as u64).sum::<u64>(), good);
    // The service no longer has them.
    for id in ["gone", "5"] {
        farm.drop_job(id);
    }
    let published = farm.publish();
    let refused: Vec<(&str, Kind)> =
        published.rejected.iter().map(|refusal| (&*refusal.job_id, refusal.error.kind())).collect();
    assert_eq!(refused, [("bad", Kind::Archive)]);
    assert_eq!(published.rows, good - 20 + 7);
    farm.drop_job("bad");
    let same = farm.publish_and_compare();
    assert_eq!((same.generation, same.parts_written), (published.generation, 0));
}

#[test]
fn a_cancelled_publication_changes_nothing() {
    let mut farm = Farm::new();
    farm.put("1", &points(3, (-111.0, 45.0), 1));
    farm.publish_and_compare();
    farm.put("2", &points(3, (-111.0, 45.0), 2));
    let cancel = Cancel::default();
    cancel.cancel();
    publish_in(&farm.folder, &farm.origins(), &[], farm.sizes, &cancel).unwrap_err();
    assert_eq!(farm.folder.current().unwrap().unwrap().number, 1);
    let generations = fs::read_dir(farm.folder.path().join("generations")).unwrap().count();
    assert_eq!(generations, 1, "what was begun is removed");
    assert_eq!(farm.publish_and_compare().generation, 2);
}
