//! Tests how writing a layer treats column names and existing files.

use headland::archive::ReadOptions;
use headland::layer::{self, Layer};

use crate::builder;

fn table(fields: &[builder::Field<'_>], record: &[u8]) -> Layer {
    let dbf = builder::dbf(fields, &[record], 0);
    layer::read(&builder::source(builder::zip(&[("t.dbf", &dbf)])), &ReadOptions::default()).unwrap()
}

#[test]
fn duplicate_column_names_are_distinguished_in_outputs_and_reported() {
    let fields = [("A", b'N', 1, 0), ("A", b'N', 1, 0), ("A_1", b'N', 1, 0)];
    let layer = table(&fields, b" 123");
    assert!(
        layer.diagnostics().iter().any(|note| note.code.as_str() == "duplicate-column"),
        "{:?}",
        layer.diagnostics()
    );
    let names: Vec<String> = layer.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["A", "A", "A_1"], "as they stand in the file");
    let all: serde_json::Value = serde_json::from_str(&layer.geojson(true).unwrap()).unwrap();
    assert_eq!(all["features"][0]["properties"], serde_json::json!({"A": 1, "A_2": 2, "A_1": 3}));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    layer.write_parquet(&path, &layer::Cancel::default()).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let written: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(written, ["A", "A_2", "A_1"]);
}

#[cfg(unix)]
#[test]
fn writing_follows_links_and_replaces_only_files() {
    let layer = table(&[("A", b'N', 1, 0)], b" 1");
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.geojson"), folder.path().join("link.geojson"));
    std::fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    layer.write_geojson(&link, true, &layer::Cancel::default()).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("FeatureCollection"));
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let error = layer.write_geojson(&socket, true, &layer::Cancel::default()).unwrap_err();
    assert!(error.message().contains("regular file"), "{error}");
}
