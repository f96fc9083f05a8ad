//! Tests layers read batch by batch: rows, messages and errors equal those of a whole read (design, sections 2 and 5).

use std::path::Path;

use headland::archive::{Diagnostic, ReadOptions, Source};
use headland::error::{Error, Kind, Result};
use headland::layer::crs::Crs;
use headland::layer::{self, ColumnType, Layer, Stream, TypePolicy};

use crate::{builder, corpus, grain_carts};

const SIZES: [usize; 5] = [1, 2, 7, 1000, 65_536];

/// All batches, the diagnostics after the last, and the error if there is one.
pub(crate) fn batches(
    source: &Source,
    options: &ReadOptions,
    types: &TypePolicy,
    size: usize,
) -> (Vec<Layer>, Vec<Diagnostic>, Option<Error>) {
    let mut stream = match Stream::open(source, options, types, size) {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Vec::new(), Some(error)),
    };
    let mut all = Vec::new();
    let error = loop {
        match stream.next_batch() {
            Ok(Some(batch)) => {
                assert!(!batch.is_empty() && batch.len() <= size);
                assert_eq!(batch.schema(), stream.head().schema(), "the schema stands before the first row");
                all.push(batch);
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(stream.next_batch().unwrap().is_none(), "nothing comes after the end");
    (all, stream.diagnostics(), error)
}

pub(crate) fn messages(notes: &[Diagnostic]) -> Vec<String> {
    let mut messages: Vec<String> = notes.iter().map(|note| format!("{note:?}")).collect();
    messages.sort();
    messages
}

/// Asserts that batches and diagnostics equal those of the whole layer.
pub(crate) fn same(read: Result<Layer>, source: &Source, options: &ReadOptions, size: usize, what: &str) {
    let (all, notes, error) = batches(source, options, &TypePolicy::Scan, size);
    let layer = match read {
        Ok(layer) => layer,
        Err(read) => {
            let error = error.unwrap_or_else(|| panic!("{what}: only the whole read fails: {read}"));
            assert_eq!((error.kind(), error.to_string()), (read.kind(), read.to_string()), "{what}");
            return;
        }
    };
    assert!(error.is_none(), "{what}: {error:?}");
    let rows: usize = all.iter().map(Layer::len).sum();
    assert_eq!(rows, layer.len(), "{what}");
    let whole = &layer.batches()[0];
    let mut first = 0;
    for batch in all.iter().flat_map(Layer::batches) {
        assert!(batch == &whole.slice(first, batch.num_rows()), "{what}: rows from {first}");
        first += batch.num_rows();
    }
    assert_eq!(notes, layer.diagnostics(), "{what}: the same messages in the same order");
}

/// The same with every batch size and on one thread and two.
fn same_in_every_way(members: &[(&str, &[u8])], strict: bool, what: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let deflated = builder::zip(members);
    let path = folder.path().join("all.zip");
    std::fs::write(&path, &deflated).unwrap();
    let sources = [
        builder::source(deflated),
        builder::source(builder::zip_with(members, zip::CompressionMethod::Stored)),
        Source::Path(path),
        Source::Path(folder.path().join(members[0].0)),
    ];
    for source in sources {
        for threads in [1, 2] {
            let options = ReadOptions { threads: Some(threads), strict, ..ReadOptions::default() };
            for size in SIZES {
                let what = format!("{what}, {threads} threads, batches of {size}, {}", source.name());
                same(layer::read(&source, &options), &source, &options, size, &what);
            }
        }
    }
}

const FIELDS: [builder::Field<'static>; 5] =
    [("N", b'N', 6, 2), ("I", b'N', 4, 0), ("D", b'D', 8, 0), ("L", b'L', 1, 0), ("C", b'C', 5, 0)];

/// Records of all types, every eleventh deleted, with null and invalid cells.
pub(crate) fn records(count: usize) -> Vec<Vec<u8>> {
    let record = |row: usize| {
        let mark = if row % 11 == 3 { '*' } else { ' ' };
        let number = if row % 7 == 2 { "  x.y?".to_owned() } else { format!("{:6.2}", row % 1000) };
        let integer = if row.is_multiple_of(5) { "    ".to_owned() } else { format!("{:4}", row % 9999) };
        let date = ["20240229", "        ", "20239999"][row % 3];
        let logical = ['T', 'f', ' ', '1'][row % 4];
        let text = ["ab   ", " b   ", "     ", "é   "][row % 4];
        format!("{mark}{number}{integer}{date}{logical}{text}").into_bytes()
    };
    (0..count).map(record).collect()
}

pub(crate) fn dbf(records: &[Vec<u8>]) -> Vec<u8> {
    builder::dbf(&FIELDS, records, 0)
}

pub(crate) fn points(count: usize) -> Vec<Vec<u8>> {
    let point =
        |row: u32| if row % 13 == 5 { vec![0; 4] } else { builder::point(f64::from(row), f64::from(row) / 3.0) };
    (0..u32::try_from(count).unwrap()).map(point).collect()
}

#[test]
fn batches_are_the_rows_of_the_whole_layer() {
    let count = 120;
    let (shp, shx) = builder::shp(1, &points(count));
    let dbf = dbf(&records(count));
    let prj = builder::UTM_12.as_bytes();
    same_in_every_way(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf), ("t.prj", prj)], true, "points");
    same_in_every_way(&[("t.shp", &shp), ("t.dbf", &dbf)], true, "no index");
    same_in_every_way(&[("t.dbf", &dbf)], true, "a table");
    same_in_every_way(&[("t.shp", &shp), ("t.shx", &shx)], true, "shapes alone");
    let mut jumping = shx.clone();
    for (one, other) in [(0, 100), (17, 90), (50, 51)] {
        for byte in 0..8 {
            jumping.swap(100 + 8 * one + byte, 100 + 8 * other + byte);
        }
    }
    same_in_every_way(&[("t.shp", &shp), ("t.shx", &jumping), ("t.dbf", &dbf)], true, "out of order");
    let all_deleted: Vec<Vec<u8>> = records(count).into_iter().map(|record| [b"*", &record[1..]].concat()).collect();
    same_in_every_way(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &self::dbf(&all_deleted))], true, "all deleted");
    let empty = builder::shp(1, &[]);
    same_in_every_way(&[("t.shp", &empty.0), ("t.shx", &empty.1), ("t.dbf", &self::dbf(&[]))], true, "no rows");
}

#[test]
fn m_of_a_late_record_is_in_every_batch() {
    let mut all: Vec<Vec<u8>> = (0..100).map(|row| builder::point_z(f64::from(row), 2.0, 3.0, None)).collect();
    all.push(builder::point_z(1.0, 2.0, 3.0, Some(4.0)));
    let (shp, shx) = builder::shp(11, &all);
    same_in_every_way(&[("t.shp", &shp), ("t.shx", &shx)], true, "late M");
}

/// Ordinates that a header of points does not declare are kept in the records that have them, in every kind of read.
#[test]
fn undeclared_z_and_m_are_kept_and_reported() {
    let measured = [&21_i32.to_le_bytes()[..], &1.0_f64.to_le_bytes(), &2.0_f64.to_le_bytes(), &4.0_f64.to_le_bytes()];
    let shapes =
        [builder::point(1.0, 1.0), builder::point(2.0, 2.0), measured.concat(), builder::point_z(3.0, 3.0, 9.5, None)];
    let (shp, shx) = builder::shp(1, &shapes);
    let members: [(&str, &[u8]); 2] = [("t.shp", &shp), ("t.shx", &shx)];
    same_in_every_way(&members, true, "undeclared Z and M");
    let layer = layer::read(&builder::source(builder::zip(&members)), &ReadOptions::default()).unwrap();
    let wkb: Vec<Vec<u8>> = layer.geometries().map(|wkb| wkb.unwrap().to_vec()).collect();
    let codes: Vec<u32> = wkb.iter().map(|wkb| u32::from_le_bytes(wkb[1..5].try_into().unwrap())).collect();
    assert_eq!(codes, [1, 1, 2001, 1001]);
    assert_eq!([&wkb[2][21..], &wkb[3][21..]], [4.0_f64.to_le_bytes(), 9.5_f64.to_le_bytes()]);
    let note = layer.diagnostics().iter().find(|note| note.code.as_str() == "mixed-shapes").unwrap();
    assert!(note.message.contains("kept, with their own Z and M (2 times, first at record 2)"), "{note:?}");
    // A declared ordinate that a record lacks is 0.
    let (shp, shx) = builder::shp(11, &[builder::point_z(3.0, 3.0, 9.5, None), builder::point(1.0, 1.0)]);
    let layer =
        layer::read(&builder::source(builder::zip(&[("t.shp", &shp), ("t.shx", &shx)])), &ReadOptions::default())
            .unwrap();
    assert_eq!(layer.geometries().last().unwrap().unwrap()[21..], 0.0_f64.to_le_bytes());
    assert!(layer.diagnostics().iter().any(|note| note.code.as_str() == "missing-z" && note.record == Some(1)));
}

/// Deleted records, and shapes without a row, are skipped, so no diagnostic covers them.
#[test]
fn diagnostics_of_shapes_count_only_returned_rows() {
    let open = |x: f64| builder::parts(5, &[0], &[(x, 0.0), (x, 1.0), (x + 1.0, 1.0), (x + 1.0, 0.0)]);
    let shapes: Vec<Vec<u8>> = (0..9).map(|at| open(f64::from(at))).collect();
    let (shp, shx) = builder::shp(5, &shapes);
    let rows: Vec<&[u8]> = vec![b"* 1", b"  2", b"  3", b"* 4", b"  5", b"* 6", b"  7"];
    let table = |rows: &[&[u8]]| builder::dbf(&[("N", b'N', 2, 0)], rows, 0);
    for (rows, strict, given) in [(&[rows.clone(), vec![b"* 8", b"  9"]].concat(), true, 5), (&rows, false, 4)] {
        let dbf = table(rows);
        let members: [(&str, &[u8]); 3] = [("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf)];
        same_in_every_way(&members, strict, "open rings");
        let options = ReadOptions { strict, ..ReadOptions::default() };
        let layer = layer::read(&builder::source(builder::zip(&members)), &options).unwrap();
        let note = layer.diagnostics().iter().find(|note| note.code.as_str() == "open-ring").unwrap();
        assert!(note.message.contains(&format!("({given} times, first at record 1)")), "{note:?}");
    }
    let gone: Vec<&[u8]> = vec![b"* 1"; 9];
    let all = builder::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &table(&gone))]);
    let layer = layer::read(&builder::source(all), &ReadOptions::default()).unwrap();
    assert!(layer.diagnostics().iter().all(|note| note.code.as_str() != "open-ring"), "{:?}", layer.diagnostics());
}

/// A table of integers with one cell that has decimals.
fn fractions(count: usize, at: usize) -> Source {
    let record = |row: usize| if row == at { b"   1.5  7".to_vec() } else { format!(" {row:5}  7").into_bytes() };
    let records: Vec<Vec<u8>> = (0..count).map(record).collect();
    builder::source(builder::zip(&[("t.dbf", &builder::dbf(&[("N", b'N', 5, 0), ("I", b'N', 3, 0)], &records, 0))]))
}

#[test]
fn decimals_in_an_integer_column_are_an_error_with_a_next_step() {
    let source = fractions(50, 37);
    let options = ReadOptions::default();
    let (all, _, error) = batches(&source, &options, &TypePolicy::Header, 10);
    let error = error.unwrap();
    assert_eq!(all.iter().map(Layer::len).sum::<usize>(), 30, "the batches before it were given");
    let facts = error.facts();
    assert_eq!((facts.member.as_deref(), facts.record, facts.field.as_deref()), (Some("t.dbf"), Some(37), Some("N")));
    for word in ["`1.5`", "column `N`", "Int32", "types={\"N\": \"float64\"}", "types=\"scan\""] {
        assert!(error.message().contains(word), "{error}");
    }
    for types in [TypePolicy::Scan, TypePolicy::Named(vec![("N".to_owned(), ColumnType::Float64)])] {
        let (all, notes, error) = batches(&source, &options, &types, 10);
        assert!(error.is_none(), "{error:?}");
        let types: Vec<String> = all[0].schema().fields().iter().map(|field| field.data_type().to_string()).collect();
        assert_eq!(types, ["Float64", "Int32"]);
        assert_eq!(all.iter().map(Layer::len).sum::<usize>(), 50);
        assert!(notes.iter().all(|note| matches!(note.code.as_str(), "integer-with-decimals" | "no-shp")), "{notes:?}");
    }
    for size in SIZES {
        same(layer::read(&source, &options), &source, &options, size, "fractions");
    }
}

#[test]
fn stream_without_strict_keeps_the_cells_of_a_whole_read() {
    let dbf = builder::dbf(&[("N", b'N', 6, 0), ("M", b'N', 2, 0)], &[b"      7 1", b"  125e9 2", b" ****** 3"], 0);
    let source = builder::source(builder::zip(&[("t.dbf", &dbf)]));
    let options = ReadOptions { strict: false, ..ReadOptions::default() };
    let whole = layer::read(&source, &options).unwrap();
    let (all, notes, error) = batches(&source, &options, &TypePolicy::Header, 2);
    assert!(error.is_none(), "{error:?}");
    let text = |layer: &Layer, row| crate::canonical_text::text(layer.batches()[0].column(0), row);
    assert_eq!(
        (text(&all[0], 0), text(&all[0], 1), text(&all[1], 0)),
        ("7.0".into(), "125000000000.0".into(), "\\N".into())
    );
    assert_eq!(all[0].schema().fields(), whole.schema().fields());
    let wide = notes.iter().find(|note| note.code.as_str() == "integer-with-decimals").unwrap();
    assert!(wide.record == Some(1) && whole.diagnostics().contains(wide), "{notes:?}");
    // With a requested type for one column, the others keep the types of their headers.
    let types = TypePolicy::Named(vec![("M".to_owned(), ColumnType::String)]);
    assert!(batches(&source, &options, &types, 2).2.is_some_and(|error| error.message().contains("125e9")));
}

#[test]
fn requested_types_apply_and_unknown_names_are_an_error_before_reading() {
    let dbf = builder::dbf(
        &[("N", b'N', 10, 0), ("C", b'C', 8, 0), ("D", b'D', 8, 0)],
        &[b"          720240229 2023010", b" 999999999912      20240101"],
        0,
    );
    let source = builder::source(builder::zip(&[("t.dbf", &dbf)]));
    let named = |types: &[(&str, ColumnType)]| {
        TypePolicy::Named(types.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect())
    };
    let read = |types: &TypePolicy| batches(&source, &ReadOptions::default(), types, 10);
    let chosen = named(&[("N", ColumnType::String), ("C", ColumnType::Date), ("D", ColumnType::Int64)]);
    let error = read(&chosen).2.unwrap();
    assert_eq!((error.facts().record, error.facts().field.as_deref()), (Some(1), Some("C")), "{error}");
    assert!(error.message().starts_with("`12` is not a date in column `C`"), "{error}");
    let (all, notes, _) = batches(&source, &ReadOptions { strict: false, ..ReadOptions::default() }, &chosen, 10);
    assert!(notes.iter().any(|note| note.code.as_str() == "bad-date" && note.record == Some(1)), "{notes:?}");
    let text =
        |column: &str, row| crate::canonical_text::text(all[0].batches()[0].column_by_name(column).unwrap(), row);
    assert_eq!((text("N", 0), text("C", 0), text("D", 1)), ("7".into(), "2024-02-29".into(), "20240101".into()));
    let (_, _, error) = read(&named(&[("N", ColumnType::Int32)]));
    let error = error.unwrap();
    assert_eq!((error.facts().record, error.facts().field.as_deref()), (Some(1), Some("N")), "{error}");
    let (_, _, error) = read(&named(&[("YIELD", ColumnType::Int32)]));
    let error = error.unwrap();
    assert_eq!(error.kind(), Kind::Value);
    assert!(error.message().contains("`YIELD`") && error.message().contains("N, C, D"), "{error}");
}

#[test]
fn damage_ends_the_stream_with_the_error_of_a_whole_read() {
    let count = 3000;
    let (shp, shx) = builder::shp(1, &points(count));
    let dbf = dbf(&records(count));
    let cut = |bytes: &[u8], at: usize| bytes[..at].to_vec();
    let mut lying = shp.clone();
    let at = shp.len() - 24;
    lying[at..at + 4].copy_from_slice(&i32::MAX.to_be_bytes());
    for strict in [true, false] {
        let what = |what: &str| format!("{what}, strict {strict}");
        let same = |shp: &[u8], dbf: &[u8], name: &str| {
            let source = builder::source(builder::zip(&[("t.shp", shp), ("t.dbf", dbf)]));
            for size in [7, 1000, 65_536] {
                let options = ReadOptions { strict, ..ReadOptions::default() };
                super::stream::same(layer::read(&source, &options), &source, &options, size, &what(name));
            }
        };
        same(&cut(&shp, shp.len() / 2), &dbf, "a cut .shp");
        same(&shp, &cut(&dbf, dbf.len() / 2), "a cut .dbf");
        same(&lying, &dbf, "a lying length");
        same(&shp, &self::dbf(&records(count - 5)), "fewer records");
        same(&shp, &self::dbf(&records(count + 5)), "more records");
        same(b"rubbish", &dbf, "no .shp at all");
        same(&shp, b"rubbish", "no .dbf at all");
    }
    let source =
        builder::source(builder::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &self::dbf(&records(count - 5)))]));
    let error = Stream::open(&source, &ReadOptions::default(), &TypePolicy::Header, 10).err().unwrap();
    assert!(error.message().contains("do not belong together"), "index and header tell it at once: {error}");
}

#[test]
fn transformed_coordinates_and_selected_columns_work_in_batches() {
    let count = 50;
    let (shp, shx) = builder::shp(1, &(0..50).map(|row| builder::point(4e5 + f64::from(row), 5e6)).collect::<Vec<_>>());
    let dbf = dbf(&records(count));
    let zip = builder::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf), ("t.prj", builder::UTM_12.as_bytes())]);
    let columns = Some(vec!["C".to_owned(), "I".to_owned()]);
    let options = ReadOptions { to_crs: Some("EPSG:4326".to_owned()), columns, ..ReadOptions::default() };
    let source = builder::source(zip);
    let stream = Stream::open(&source, &options, &TypePolicy::Header, 7).unwrap();
    assert_eq!(stream.head().crs().and_then(Crs::epsg), Some(4326));
    assert_eq!((stream.head().name(), stream.head().len()), ("t", 0));
    for size in SIZES {
        same(layer::read(&source, &options), &source, &options, size, "WGS 84");
    }
}

#[test]
fn grain_cart_is_read_in_batches() {
    let source = builder::source(grain_carts::file(&[grain_carts::FIRST, grain_carts::SECOND]).into_bytes());
    for size in SIZES {
        same(layer::read(&source, &ReadOptions::default()), &source, &ReadOptions::default(), size, "a grain cart");
    }
    let types = TypePolicy::Named(vec![("Weight".to_owned(), ColumnType::String)]);
    let (_, _, error) = batches(&source, &ReadOptions::default(), &types, 10);
    assert_eq!(error.map(|error| error.kind()), Some(Kind::Value));
}

/// Every file of a folder of the corpus that can be a source of its own.
fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        if path.is_dir() {
            sources(&path, found);
        } else if matches!(&*ending, "zip" | "shp" | "dbf") {
            found.push(path);
        }
    }
}

#[test]
fn every_corpus_file_streams_as_a_whole_read() {
    let Some(corpus) = corpus::folder() else { return };
    let mut files = Vec::new();
    for set in ["ag", "conformance"] {
        sources(&corpus.join(set), &mut files);
    }
    files.sort();
    assert!(files.len() > 100, "{} files", files.len());
    for path in files {
        let source = Source::Path(path.clone());
        let names = headland::archive::layers(&source, &ReadOptions::default()).unwrap_or_default();
        for layer in if names.len() > 1 { names.into_iter().map(Some).collect() } else { vec![None] } {
            // The largest files are valid, so `strict` makes no difference.
            let is_large = std::fs::metadata(&path).is_ok_and(|meta| meta.len() > 1 << 20);
            for strict in if is_large { vec![true] } else { vec![true, false] } {
                let options = ReadOptions { layer: layer.clone(), strict, ..ReadOptions::default() };
                same(layer::read(&source, &options), &source, &options, 1000, &format!("{} {strict}", path.display()));
            }
        }
    }
}
