//! Vertices that have a Z that is none: each is told, and no place of it is lost.

use headland::archive::Options;
use headland::layer::{self, Layer};

use crate::{make, stream};

/// The layer of records, which batches give as well, in the same words.
#[track_caller]
fn read(kind: i32, records: &[Vec<u8>]) -> Layer {
    let (shp, shx) = make::shp(kind, records);
    let cells: Vec<Vec<u8>> = (0..records.len()).map(|row| format!(" {row:4}").into_bytes()).collect();
    let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
    let dbf = make::dbf(&[("ID", b'N', 4, 0)], &cells, 0);
    let prj = make::WGS_84.as_bytes();
    let source = make::source(make::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf), ("t.prj", prj)]));
    let options = Options::default();
    stream::same(layer::read(&source, &options), &source, &options, 2, "batches");
    layer::read(&source, &options).unwrap()
}

/// Each diagnostic with its record and how often it was met.
fn told(layer: &Layer) -> Vec<(&str, Option<u64>, &str)> {
    layer
        .diagnostics()
        .iter()
        .map(|note| {
            let end = note.message.rsplit_once('(').map_or("", |(_, end)| end);
            (note.code.as_str(), note.record, end.split_once(' ').map_or("", |(count, _)| count))
        })
        .collect()
}

#[test]
fn heights_that_mean_no_data_are_told_and_left_out_of_geojson() {
    let line = |heights: [f64; 2]| {
        let range_and_heights = [0.0, 0.0, heights[0], heights[1]];
        let mut record = make::parts(13, &[0], &[(1.0, 2.0), (3.0, 4.0)]);
        record.extend(range_and_heights.iter().flat_map(|value: &f64| value.to_le_bytes()));
        record
    };
    let lines = [[5.0, 6.0], [7.0, -1e39], [f64::NAN, 8.0], [-1e39, -1e39]];
    let layer = read(13, &lines.map(line));
    assert_eq!(told(&layer), [("no-data-z", Some(1), "3")]);
    let json: serde_json::Value = serde_json::from_str(&layer.geojson(false).unwrap()).unwrap();
    let flat = serde_json::json!([[1.0, 2.0], [3.0, 4.0]]);
    let wanted = [serde_json::json!([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]), flat.clone(), flat.clone(), flat];
    for (feature, wanted) in json["features"].as_array().unwrap().iter().zip(wanted) {
        assert_eq!(feature["geometry"]["coordinates"], wanted);
    }
    let points = read(11, &[make::point_z(1.0, 2.0, 3.0, None), make::point_z(1.0, 2.0, -1e39, None)]);
    assert_eq!(told(&points), [("no-data-z", Some(1), "1")]);
    assert!(!points.geojson(false).unwrap().contains("e39"));
}
