//! Tests inputs that are built to cost far more than their size: each ends in time and in bounded memory.

use headland::archive::{Limits, ReadOptions};
use headland::error::Error;
use headland::layer::{self, Layer};

use crate::alloc_counter;
use crate::builder;
use crate::support::codes;

/// 64 MiB and four times the size of the input; `alloc_counter` has the time limit.
const MOST: usize = 64 << 20;

/// Reads an archive whose members really have `honest` bytes, within the limits of time and memory.
#[track_caller]
fn bounded(what: &str, bytes: Vec<u8>, honest: usize) -> Result<Layer, Error> {
    let source = builder::source(bytes);
    let ((result, peak), took) = alloc_counter::time(|| {
        alloc_counter::peak(|| layer::read(&source, &ReadOptions { threads: Some(1), ..ReadOptions::default() }))
    });
    println!("{what}: {took:?}, {peak} bytes for {honest}");
    assert!(took < alloc_counter::LONGEST, "{what} took {took:?}");
    assert!(peak <= MOST + 4 * honest, "{what}: {peak} bytes for {honest}");
    result
}

/// One polygon of many rings.
fn polygon(rings: &[Vec<(f64, f64)>]) -> Vec<u8> {
    let points = rings.concat();
    let starts: Vec<i32> = rings
        .iter()
        .scan(0, |start, ring| {
            let this = *start;
            *start += i32::try_from(ring.len()).unwrap();
            Some(this)
        })
        .collect();
    builder::shp(5, &[builder::parts(5, &starts, &points)]).0
}

fn square(x: f64, y: f64, size: f64, is_clockwise: bool) -> Vec<(f64, f64)> {
    let mut ring = builder::square(x, y, size).to_vec();
    if !is_clockwise {
        ring.reverse();
    }
    ring
}

#[test]
fn polygon_of_a_hundred_thousand_rings_is_grouped_in_time() {
    let count = 100_000;
    let apart = |turned: fn(i32) -> bool| -> Vec<Vec<(f64, f64)>> {
        (0..count).map(|at| square(2.0 * f64::from(at % 317), 2.0 * f64::from(at / 317), 1.0, turned(at))).collect()
    };
    let holed: Vec<Vec<(f64, f64)>> = (0..count / 2)
        .flat_map(|at| {
            let (x, y) = (9.0 * f64::from(at % 200), 9.0 * f64::from(at / 200));
            [square(x, y, 5.0, true), square(x + 1.0, y + 1.0, 2.0, false)]
        })
        .collect();
    let column: Vec<_> = (0..count).map(|at| square(0.0, 2.0 * f64::from(at), 1.0, at % 2 == 0)).collect();
    let inside: Vec<_> =
        (0..count).map(|at| square(f64::from(at), f64::from(at), 4.0 * f64::from(count - at), at % 2 == 0)).collect();
    for (what, rings) in [
        ("rings apart", apart(|_| true)),
        ("rings apart, turned like holes", apart(|_| false)),
        ("rings with holes", holed),
        ("rings above one another", column),
        ("rings in rings", inside),
    ] {
        let shp = polygon(&rings);
        let size = shp.len();
        let layer = bounded(what, builder::zip_with(&[("t.shp", &shp)], zip::CompressionMethod::Stored), size).unwrap();
        assert!(!codes(&layer).contains(&"entangled-rings"), "{what}: {:?}", layer.diagnostics());
        assert_eq!(layer.len(), 1);
    }
}

#[test]
fn rings_that_cannot_be_grouped_in_time_are_kept_separate_and_reported() {
    // A comb whose teeth reach over its whole height, so that every edge is near every point. The hole is the same
    // comb, so that none of its points decides on which side it is.
    let teeth = 20_000;
    let mut comb: Vec<(f64, f64)> =
        (0..teeth).map(|at| (f64::from(at), if at % 2 == 0 { 0.0 } else { 1000.0 })).collect();
    comb.extend([(f64::from(teeth), -5.0), (0.0, -5.0), (0.0, 0.0)]);
    let mut hole = comb.clone();
    hole.reverse();
    let rings = [square(-1e5, -1e5, 9e5, true), comb, hole];
    let shp = polygon(&rings);
    let size = shp.len();
    let layer = bounded("combs", builder::zip(&[("t.shp", &shp)]), size).unwrap();
    assert!(codes(&layer).contains(&"entangled-rings"), "{:?}", layer.diagnostics());
}

#[test]
fn archive_of_65_000_members_with_long_names_is_grouped_in_time() {
    let name = "n".repeat(60);
    let names: Vec<String> = (0..65_535).map(|at| format!("{name}/{at}.{}", ["dbf", "shp", "shx"][at % 3])).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let bytes = builder::zip_with(&members, zip::CompressionMethod::Stored);
    let size = bytes.len();
    let error = bounded("members", bytes, size).unwrap_err();
    assert!(error.message().contains("layers; choose one"), "{}", error.message().get(..200).unwrap_or_default());
}

/// A directory of entries that all point to one header.
fn directory(count: usize, entry_name: &[u8], local_name: &[u8]) -> Vec<u8> {
    let entry = builder::Stored::new(entry_name, b"");
    builder::with_directory(builder::Stored::new(local_name, b"").bytes(), &vec![(0, &entry); count])
}

#[test]
fn shared_header_with_a_long_name_is_stored_once() {
    let bytes = directory(60_000, b"t.dbf", &vec![b'x'; 65_535]);
    let size = bytes.len();
    let error = bounded("one long name", bytes, size).unwrap_err();
    assert!(error.to_string().len() < 2_000, "{error}");
}

#[test]
fn directory_far_longer_than_its_members_need_is_an_error() {
    let bytes = directory(30_000, &[b'x'; 3_000], b"x");
    let size = bytes.len();
    let error = bounded("a long directory", bytes, size).unwrap_err();
    assert!(error.message().contains("raise Limits(members=...)"), "{error}");
}

#[test]
fn index_that_names_one_record_many_times_is_an_error() {
    let corners: Vec<(f64, f64)> = (0..60_000).map(|at| (f64::from(at), f64::from(at % 7))).collect();
    let (shp, shx) = builder::shp(3, &[builder::parts(3, &[0], &corners), builder::parts(3, &[0], &corners[..2])]);
    let entry = shx[100..108].to_vec();
    let index: Vec<u8> = std::iter::repeat_n(entry, 50_000).flatten().collect();
    let shx = builder::with_header(3, &index);
    let size = shp.len() + shx.len();
    let error = bounded("one record many times", builder::zip(&[("t.shp", &shp), ("t.shx", &shx)]), size).unwrap_err();
    assert!(error.message().contains("record 1 has the same offset as record 0"), "{error}");
    assert_eq!(error.facts().record, Some(1), "{error}");
}

#[test]
fn overlapping_records_are_shortened_and_reported() {
    // A record that claims all following bytes begins every four bytes.
    let count = 100_000_u32;
    let body: Vec<u8> = (0..count).flat_map(|at| (2 * (count - at)).saturating_sub(8).to_be_bytes()).collect();
    let index: Vec<u8> = (0..count - 64).flat_map(|at| [50 + 2 * at, 100].map(u32::to_be_bytes).concat()).collect();
    let (shp, shx) = (builder::with_header(5, &body), builder::with_header(5, &index));
    let size = shp.len() + shx.len();
    let layer = bounded("records in records", builder::zip(&[("t.shp", &shp), ("t.shx", &shx)]), size).unwrap();
    assert!(codes(&layer).contains(&"shp-seams"), "{:?}", layer.diagnostics());
}

#[test]
fn fields_without_width_cost_nothing_for_each_record() {
    let fields: Vec<builder::Field<'_>> = (0..2_000).map(|_| ("E", b'C', 0, 0)).collect();
    let records: Vec<&[u8]> = vec![&b" "[..]; 1_000_000];
    let dbf = builder::dbf(&fields, &records, 0);
    let error = bounded("no width", builder::zip(&[("t.dbf", &dbf)]), dbf.len()).unwrap_err();
    assert!(error.message().contains("2000 fields in 1000000 records have a width of 0"), "{error}");
}

#[test]
fn impossible_compression_ratio_is_an_error_before_allocation() {
    let dbf = builder::dbf(&[("N", b'N', 1, 0)], &[b" 1"], 0);
    let mut bytes = builder::zip(&[("t.dbf", &dbf)]);
    let directory = bytes.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    for at in [22, directory + 24] {
        bytes[at..at + 4].copy_from_slice(&(60_u32 << 20).to_le_bytes());
    }
    let size = bytes.len();
    let error = bounded("a lie about the size", bytes, size).unwrap_err();
    assert!(error.message().contains("cannot inflate to"), "{error}");
}

#[test]
fn nested_archives_are_bounded_by_the_size_of_the_outer_one() {
    let dbf = builder::dbf(&[("N", b'N', 1, 0)], &[b" 1"], 0);
    let mut inner = vec![0; 30 << 20];
    inner.extend(builder::zip(&[("t.dbf", &dbf)]));
    let names: Vec<String> = (0..8).map(|at| format!("{at}.zip")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), inner.as_slice())).collect();
    let bytes = builder::zip(&members);
    let error = bounded("zips in a zip", bytes, 8 << 20).unwrap_err();
    assert!(error.message().contains("unpack it"), "{error}");
}

#[test]
fn deep_or_long_sidecars_are_skipped() {
    let (shp, shx) = builder::shp(1, &[builder::point(1.0, 2.0)]);
    let dbf = builder::dbf(&[("N", b'N', 1, 0)], &[b" 1"], 0);
    let deep = "A[".repeat(1_000_000);
    let nested = "[".repeat(3_000_000);
    let long =
        format!("{{\"DataAttributes\":[{}{{\"Name\":\"N\"}}]}}", "{\"Name\":\"B\",\"Unit\":\"u\"},".repeat(120_000));
    let cpg = "9".repeat(60_000);
    for (what, prj, json, sidecar_code) in
        [("deep sidecars", &deep, &nested, "metadata-ignored"), ("long sidecars", &cpg, &long, "units-unmatched")]
    {
        let members: [(&str, &[u8]); 6] = [
            ("t.shp", &shp),
            ("t.shx", &shx),
            ("t.dbf", &dbf),
            ("t.prj", prj.as_bytes()),
            ("t.cpg", cpg.as_bytes()),
            ("t-Deere-Metadata.json", json.as_bytes()),
        ];
        let layer = bounded(what, builder::zip(&members), prj.len() + json.len()).unwrap();
        for code in ["crs-unknown", "cpg-ignored", sidecar_code] {
            assert!(codes(&layer).contains(&code), "{what}: {:?}", codes(&layer));
        }
    }
}

#[test]
fn columns_with_two_thousand_duplicate_names_are_read_in_time() {
    let fields: Vec<builder::Field<'_>> = (0..2_000).map(|_| ("SAMENAME", b'N', 2, 0)).collect();
    let record = [b" ".to_vec(), b" 7".repeat(2_000)].concat();
    let records: Vec<&[u8]> = vec![&record; 200];
    let dbf = builder::dbf(&fields, &records, 0);
    let layer = bounded("one name", builder::zip(&[("t.dbf", &dbf)]), dbf.len()).unwrap();
    assert_eq!((layer.schema().fields().len(), layer.len()), (2_000, 200));
}

#[test]
fn every_limit_applies_at_its_value_and_its_error_names_the_option() {
    let dbf = builder::dbf(&[("N", b'N', 1, 0)], &[b" 1"], 0);
    let long = "n".repeat(296) + ".dbf";
    let plain = builder::zip(&[("t.dbf", &dbf), ("readme.txt", b"x")]);
    let named = builder::zip(&[(&long, &dbf)]);
    let mut blank = dbf.clone();
    blank.resize(65 << 20, 0x1A);
    let bursting = builder::zip(&[("t.dbf", &blank)]);
    let nested = builder::zip(&[("inner.zip", &builder::zip(&[("inner.zip", &plain)]))]);
    let size = dbf.len() as u64;
    let ratio = {
        let directory = bursting.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
        (65 << 20) / u64::from(u32::from_le_bytes(bursting[directory + 20..directory + 24].try_into().unwrap()))
    };
    let open = Limits { ratio: u64::MAX, nesting: 9, ..Limits::default() };
    let members = |members| Limits { members, ..open };
    let bytes = |bytes| Limits { bytes, ..open };
    let ratio_of = |ratio| Limits { ratio, ..open };
    let nesting = |nesting| Limits { nesting, ..open };
    let name = |name| Limits { name, ..open };
    for (archive, holds, refuses, word) in [
        (&plain, vec![members(2), members(3)], members(1), "raise Limits(members=...)"),
        (&plain, vec![bytes(size), bytes(size + 1)], bytes(size - 1), "raise Limits(bytes=...)"),
        (&bursting, vec![ratio_of(ratio), ratio_of(ratio + 1)], ratio_of(ratio - 1), "raise Limits(ratio=...)"),
        (&nested, vec![nesting(2), nesting(3)], nesting(1), "raise Limits(nesting=...)"),
        (&named, vec![name(300), name(301)], name(299), "raise Limits(name=...)"),
    ] {
        let read =
            |limits| layer::read(&builder::source(archive.clone()), &ReadOptions { limits, ..ReadOptions::default() });
        for limits in holds {
            assert_eq!(read(limits).unwrap_or_else(|error| panic!("{word}: {error}")).len(), 1, "{word}");
        }
        let error = read(refuses).unwrap_err();
        assert!(error.message().contains(word), "{word}: {error}");
    }
}
