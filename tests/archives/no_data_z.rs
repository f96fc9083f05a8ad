//! Tests vertices whose Z means no data: each is reported, and its X and Y are kept.

use headland::archive::ReadOptions;
use headland::layer::Layer;

use crate::{builder, stream, support};

/// The layer of these records; batches give the same rows and messages.
#[track_caller]
fn read(kind: i32, records: &[Vec<u8>]) -> Layer {
    let zip = builder::zip(&builder::lend(&builder::files(builder::shp(kind, records), builder::ids(records.len()))));
    stream::same(support::read(&zip, true), &builder::source(zip.clone()), &ReadOptions::default(), 2, "batches");
    support::read(&zip, true).unwrap()
}

/// Each diagnostic with its record and the number of its cases.
fn reported(layer: &Layer) -> Vec<(&str, Option<u64>, &str)> {
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
fn no_data_heights_are_reported_and_omitted_from_geojson() {
    let line = |heights: [f64; 2]| builder::with_ordinates(13, &[0], &[(1.0, 2.0), (3.0, 4.0)], &[&heights]);
    let lines = [[5.0, 6.0], [7.0, -1e39], [f64::NAN, 8.0], [-1e39, -1e39]];
    let layer = read(13, &lines.map(line));
    assert_eq!(reported(&layer), [("no-data-z", Some(1), "3")]);
    let json: serde_json::Value = serde_json::from_str(&layer.geojson(false).unwrap()).unwrap();
    let flat = serde_json::json!([[1.0, 2.0], [3.0, 4.0]]);
    let wanted = [serde_json::json!([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]), flat.clone(), flat.clone(), flat];
    for (feature, wanted) in json["features"].as_array().unwrap().iter().zip(wanted) {
        assert_eq!(feature["geometry"]["coordinates"], wanted);
    }
    let points = read(11, &[builder::point_z(1.0, 2.0, 3.0, None), builder::point_z(1.0, 2.0, -1e39, None)]);
    assert_eq!(reported(&points), [("no-data-z", Some(1), "1")]);
    assert!(!points.geojson(false).unwrap().contains("e39"));
}
