//! Asserts for every target that a read ends, with equal results on one and two threads, and with and without `strict`.

mod seeds;

use std::io::Write;

use arrow_array::RecordBatch;
use bytes::Bytes;
use headland::archive::{ReadOptions, Source};
use headland::error::Kind;
use headland::layer::{self, Diagnostic, Layer};
use zip::write::SimpleFileOptions;

pub use seeds::seeds;

/// WGS 84 as WKT, as in a .prj.
pub const WGS_84: &[u8] = br#"GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#;

/// Members in a zip, stored, with valid checksums.
#[must_use]
pub fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in members {
        writer.start_file(*name, stored).expect("the name is plain");
        writer.write_all(bytes).expect("memory does not fail");
    }
    writer.finish().expect("memory does not fail").into_inner()
}

type Seen = (Vec<RecordBatch>, Vec<Diagnostic>);

fn seen(layer: &Layer) -> Seen {
    (layer.batches().to_vec(), layer.diagnostics().to_vec())
}

/// Reads an archive in every way that must give equal results, and writes the layer as GeoJSON.
pub fn read(bytes: Vec<u8>) {
    let source = Source::Bytes(Bytes::from(bytes));
    let with = |strict, threads| {
        layer::read(&source, &ReadOptions { strict, threads: Some(threads), ..ReadOptions::default() })
    };
    let strict = with(true, 1);
    match (&strict, with(true, 2)) {
        (Ok(one), Ok(two)) => same(&seen(one), &seen(&two)),
        (Err(one), Err(two)) => {
            assert!(matches!(one.kind(), Kind::Archive | Kind::Value), "{one:?}");
            assert_eq!(one.to_string(), two.to_string());
        }
        (one, two) => panic!("one thread and two end differently: {one:?} {two:?}"),
    }
    let lenient = with(false, 1);
    match (strict, lenient) {
        (Ok(strict), Ok(lenient)) => {
            same(&seen(&strict), &seen(&lenient));
            let _ = strict.geojson(true);
        }
        (Ok(strict), Err(lenient)) => panic!("only strict reads it: {strict:?} {lenient:?}"),
        (Err(error), Ok(lenient)) => {
            assert!(!lenient.diagnostics().is_empty(), "saved in silence: {error}");
            let _ = lenient.geojson(true);
        }
        (Err(_), Err(_)) => {}
    }
}

/// Asserts that two reads gave equal bits; NaN equals itself.
fn same(one: &Seen, two: &Seen) {
    assert_eq!(one.1, two.1);
    assert_eq!(one.0.len(), two.0.len());
    for (one, two) in one.0.iter().zip(&two.0) {
        assert_eq!(one.schema(), two.schema());
        assert_eq!(format!("{:?}", one.columns()), format!("{:?}", two.columns()));
    }
}

/// Splits an input at its first `\xFF\xFE`, so that one input contains two members.
#[must_use]
pub fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    match data.windows(2).position(|pair| pair == [0xFF, 0xFE]) {
        Some(at) => (&data[..at], &data[at + 2..]),
        None => (data, &[]),
    }
}
