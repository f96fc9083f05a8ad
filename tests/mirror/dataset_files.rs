//! Tests the files of the dataset: few and large, in row groups that readers can skip, independent of the order of
//! arrival.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::dataset::{Sizes, publish, publish_in};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use serde_json::Value;

use crate::support::{Farm, batches, done, files, points, rows, utm_points};

fn metadata(path: &Path) -> Arc<ParquetMetaData> {
    Arc::clone(ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().metadata())
}

/// Minimum and maximum of a column of boxes in a row group.
fn range(metadata: &ParquetMetaData, group: usize, side: &str) -> (f64, f64) {
    let columns = metadata.row_group(group).columns();
    let column = columns.iter().find(|column| column.column_path().string() == format!("bbox.{side}")).unwrap();
    match column.statistics().unwrap() {
        Statistics::Float(found) => (f64::from(*found.min_opt().unwrap()), f64::from(*found.max_opt().unwrap())),
        other => panic!("{other:?}"),
    }
}

/// Two thousand small archives are one file a folder, and their row groups are spatially compact.
#[test]
fn many_small_archives_are_few_files_with_compact_row_groups() {
    let mut farm = Farm::new();
    for number in 0..2_000 {
        // Two distant regions in turn.
        let corner = (if number % 2 == 0 { -111.0 } else { 12.0 }, 45.0 + f64::from(number) / 1e4);
        let origin = farm.put(&format!("{number}"), &points(12, corner, number));
        origin.job_type = ["Yield", "Planter"][number as usize % 3 / 2].to_owned();
    }
    let published = farm.publish();
    assert_eq!((published.parts_written, published.rows), (2, 24_000));
    assert_eq!(rows(&farm.files()).values().map(Vec::len).collect::<Vec<_>>(), [12; 2_000]);
    for path in farm.files() {
        let metadata = metadata(&path);
        if metadata.file_metadata().num_rows() < 16_384 {
            continue;
        }
        let spans: Vec<f64> = (0..metadata.num_row_groups())
            .map(|group| range(&metadata, group, "xmax").1 - range(&metadata, group, "xmin").0)
            .collect();
        assert!(spans.len() > 1, "a row group ends where the next field is far away");
        assert!(spans.iter().filter(|span| **span > 100.0).count() <= 1, "{spans:?}");
    }
}

/// Row groups have at most 65,536 rows, and statistics where they help to skip, but none of well-known binary. The
/// schema describes the rows.
#[test]
fn row_groups_have_statistics_where_they_prune() {
    let mut farm = Farm::new();
    farm.put("1", &points(50_000, (-111.0, 45.0), 1));
    farm.put("2", &points(50_000, (-111.0, 45.01), 2));
    farm.put("3", &points(30_000, (12.0, 55.0), 3));
    assert_eq!(farm.publish().parts_written, 1);
    let path = &farm.files()[0];
    let metadata = metadata(path);
    let rows: Vec<i64> = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).collect();
    assert_eq!(rows, [65_536, 34_464, 30_000], "one around each place, and none too large");
    for group in metadata.row_groups() {
        for column in group.columns() {
            let name = column.column_path().string();
            assert_eq!(column.statistics().is_some(), name != "geometry", "{name}");
            assert_eq!(
                column.compression(),
                parquet::basic::Compression::ZSTD(parquet::basic::ZstdLevel::default()),
                "{name}"
            );
        }
        let job_row = &group.columns()[2];
        assert!(job_row.compressed_size() < 2_000, "numbers that count up take {} bytes", job_row.compressed_size());
    }
    assert_eq!((range(&metadata, 0, "xmin").0 < -110.9, range(&metadata, 2, "xmin").0 > 11.9), (true, true));
}

fn digests(farm: &Farm) -> BTreeMap<String, Vec<u8>> {
    let root = farm.folder.path().join("dataset");
    let name = |path: &Path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    files(&root).iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// The content does not depend on the order: in one publication the files are equal bytes; in steps the rows are equal.
#[test]
fn order_of_arrival_does_not_change_the_content() {
    let archives: Vec<Vec<u8>> =
        (0..9).map(|number| points(30, (-111.0 + f64::from(number % 4), 45.0), number)).collect();
    let order: [usize; 9] = [4, 8, 0, 2, 7, 1, 6, 3, 5];
    let mut straight = Farm::new();
    let mut mixed = Farm::new();
    let mut slow = Farm::new();
    for farm in [&mut straight, &mut mixed, &mut slow] {
        farm.sizes = Sizes { rows: 100, ..Sizes::default() };
    }
    for (number, bytes) in archives.iter().enumerate() {
        straight.put(&number.to_string(), bytes);
    }
    for number in order {
        mixed.put(&number.to_string(), &archives[number]);
        slow.put(&number.to_string(), &archives[number]);
        slow.publish_and_compare();
    }
    straight.publish_and_compare();
    let mut origins = mixed.origins();
    origins.reverse();
    origins.extend(mixed.origins());
    done(publish_in(&mixed.folder, &origins, &[], mixed.sizes, &Cancel::default()).unwrap());
    assert!(digests(&straight) == digests(&mixed));
    assert!(rows(&slow.files()) == rows(&straight.files()));
    assert!(slow.files().len() <= 6, "{} files of 100 rows for 270 rows", slow.files().len());
}

/// One job a day for a season: files stay few, and the written bytes grow with the change.
#[test]
fn small_parts_are_merged_and_large_ones_are_kept() {
    let mut farm = Farm::new();
    farm.sizes = Sizes { rows: 400, ..Sizes::default() };
    for number in 0..60 {
        farm.put(&number.to_string(), &points(20, (-111.0 + f64::from(number) / 10.0, 45.0), number));
        let published = farm.publish();
        assert!(published.parts_written <= 1, "{published:?}");
    }
    let count = farm.files().len();
    assert!((3..=6).contains(&count), "{count} files of up to 400 rows for 1,200 rows");
    // The limit of bytes works, too.
    farm.sizes = Sizes { rows: 1_000_000, bytes: 20_000 };
    for number in 100..103 {
        farm.put(&number.to_string(), &points(66_000, (-111.0, 50.0), number)).job_type = "Planter".to_owned();
    }
    assert_eq!(farm.publish().parts_written, 3);
}

/// The manifest names the archive of each row and the digest of each file.
#[test]
fn manifest_names_the_archive_of_every_row() {
    let mut farm = Farm::new();
    farm.put("1", &points(5, (-111.0, 45.0), 1)).display = Some("VIPER4PLUS, 21.3.0.26".to_owned());
    farm.put("2", &utm_points(3));
    farm.publish_and_compare();
    let path = farm.folder.current().unwrap().unwrap().path;
    let manifest: Value = serde_json::from_slice(&fs::read(path.join("manifest.json")).unwrap()).unwrap();
    assert_eq!((&manifest["generation"], &manifest["rows"]), (&1.into(), &8.into()));
    for part in manifest["parts"].as_array().unwrap() {
        let file = path.join(part["path"].as_str().unwrap());
        let bytes = fs::read(&file).unwrap();
        assert_eq!(part["bytes"], bytes.len());
        let batch = &batches(&file)[0];
        let source = &part["origins"][0];
        assert_eq!(source["rows"], batch.num_rows());
        let expected = &farm.wanted[&(false, source["job_id"].as_str().unwrap().to_owned())];
        assert_eq!(source["archive"], expected.sha256.as_str());
        assert_eq!(source["crs"], if expected.job_id == "1" { "EPSG:4326" } else { "EPSG:32612" });
        assert_eq!(source["display"].as_str(), expected.display.as_deref());
    }
}

/// The catalog is plain Parquet; no change makes no generation, and a change leaves all else as it is.
#[test]
fn the_catalog_is_published_with_the_dataset() {
    let mut farm = Farm::new();
    farm.put("1", &points(5, (-111.0, 45.0), 1));
    let table = |names: &[&str]| {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..names.len().try_into().unwrap()));
        let names: ArrayRef = Arc::new(StringArray::from(names.to_vec()));
        RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap()
    };
    let put = |tables: &[(&str, RecordBatch)]| {
        let tables: Vec<_> = tables.iter().map(|(name, batch)| ((*name).to_owned(), batch.clone())).collect();
        publish(&farm.folder, &farm.origins(), &tables, &Cancel::default()).map(done)
    };
    let first = put(&[("jobs", table(&["a", "b"])), ("products", table(&[]))]).unwrap();
    let same = put(&[("products", table(&[])), ("jobs", table(&["a", "b"]))]).unwrap();
    assert_eq!((first.generation, same.generation), (1, 1));
    let number = |name: &str| fs::metadata(farm.folder.path().join("catalog").join(name)).unwrap().ino();
    let before = ["jobs.parquet", "products.parquet"].map(number);
    let other = put(&[("jobs", table(&["a", "b", "c"])), ("products", table(&[]))]).unwrap();
    assert_eq!((other.generation, other.parts_written, other.parts_kept), (2, 0, 1));
    let after = ["jobs.parquet", "products.parquet"].map(number);
    assert_ne!(before[0], after[0]);
    assert_eq!(before[1], after[1], "a table without a change is the same file");
    let jobs = farm.folder.path().join("catalog/jobs.parquet");
    assert_eq!(batches(&jobs)[0], table(&["a", "b", "c"]));
    assert_eq!(batches(&farm.folder.path().join("catalog/products.parquet")).len(), 0);
    let error = put(&[("../jobs", table(&[]))]).unwrap_err();
    assert_eq!(error.kind(), Kind::Value);
    assert_eq!(farm.folder.current().unwrap().unwrap().number, 2);
}
