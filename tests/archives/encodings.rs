//! Tests encodings that archives declare: names of iconv, .cst files, UTF-8 labelled as Windows-1252.

use arrow_array::cast::AsArray;
use headland::archive::ReadOptions;
use headland::layer::{self, Layer};

use crate::builder;
use crate::support::found;

fn read(members: &[(&str, &[u8])], encoding: Option<&str>) -> Layer {
    let options = ReadOptions { encoding: encoding.map(str::to_owned), ..ReadOptions::default() };
    layer::read(&builder::source(builder::zip(members)), &options).unwrap()
}

fn cells(layer: &Layer) -> Vec<String> {
    let column = layer.batches()[0].column(0).as_string::<i64>();
    column.iter().map(|cell| cell.unwrap_or_default().to_owned()).collect()
}

#[test]
fn utf8_declared_as_ansi_is_reported_with_the_number_of_cells() {
    let records: [&[u8]; 4] = ["  Acker  ".as_bytes(), " größe ".as_bytes(), " Áéé   ".as_bytes(), b" gr\xf6\xdfe   "];
    let records = records.map(|record| [record, b"          "].concat()[..10].to_vec());
    for driver in [0x03, 0x57, 0x58] {
        let dbf = builder::dbf(&[("NAME", b'C', 9, 0)], &records, driver);
        let layer = read(&[("t.dbf", &dbf)], None);
        assert_eq!(cells(&layer)[1..], ["grÃ¶ÃŸe", "Ã\u{81}Ã©Ã©", "größe"], "cells are read as declared");
        let [found] = found(&layer, "utf8-declared-ansi")[..] else { panic!("{:?}", layer.diagnostics()) };
        assert!(found.message.contains("2 times, first at record 1"), "{}", found.message);
        assert!(found.message.contains("`encoding=\"utf-8\"`") && found.record == Some(1), "{}", found.message);
        let named = read(&[("t.dbf", &dbf)], Some("cp1252"));
        assert!(
            crate::support::found(&named, "utf8-declared-ansi").is_empty(),
            "the user has said which encoding it is"
        );
        assert_eq!(cells(&read(&[("t.dbf", &dbf)], Some("utf-8")))[1..3], ["größe", "Áéé"]);
    }
}

#[test]
fn utf8_declared_as_latin_1_is_reported_too() {
    let dbf = builder::dbf(&[("NAME", b'C', 8, 0)], &[" M\u{fc}ller ".as_bytes()], 0);
    let layer = read(&[("t.dbf", &dbf), ("t.cpg", b"ISO-8859-1")], None);
    assert_eq!(cells(&layer), ["M\u{c3}\u{bc}ller"]);
    assert_eq!(found(&layer, "utf8-declared-ansi").len(), 1, "{:?}", layer.diagnostics());
}

#[test]
fn bytes_that_windows_1252_leaves_undefined_are_reported_as_such() {
    let dbf = builder::dbf(&[("NAME", b'C', 4, 0)], &[b" a\x81b "], 0x57);
    let layer = read(&[("t.dbf", &dbf)], None);
    assert_eq!(cells(&layer), ["a\u{81}b"]);
    let [found] = found(&layer, "text-recoded")[..] else { panic!("{:?}", layer.diagnostics()) };
    assert!(found.message.contains("undefined") && !found.message.contains("UTF-8"), "{}", found.message);
}

#[test]
fn driver_0x57_is_windows_1252_where_gdal_takes_latin_1() {
    let dbf = builder::dbf(&[("NAME", b'C', 4, 0)], &[b" \x80uro"], 0x57);
    assert_eq!(cells(&read(&[("t.dbf", &dbf)], None)), ["€uro"]);
}

#[test]
fn names_of_iconv_in_a_cpg_or_cst_are_known() {
    for (name, bytes, expected) in [
        ("Big-5", &b"\xa7\x41"[..], "你"),
        ("BIG5", b"\xa7\x41", "你"),
        ("UHC", b"\xb0\xa1", "가"),
        ("koi8r", b"\xd0\xcf", "по"),
        ("KOI8-U", b"\xd0\xcf", "по"),
        ("eucJP", b"\xc6\xfc", "日"),
        ("EUC_KR", b"\xb0\xa1", "가"),
        ("euc-cn", b"\xc4\xe3", "你"),
    ] {
        let record = [b" ", bytes].concat();
        let dbf = builder::dbf(&[("NAME", b'C', 2, 0)], &[&record], 0x57);
        for sidecar in ["t.cpg", "T.CST"] {
            let layer = read(&[("t.dbf", &dbf), (sidecar, name.as_bytes())], None);
            assert_eq!(cells(&layer), [expected], "{name} in {sidecar}");
            assert!(
                layer.diagnostics().iter().all(|found| found.code.as_str() == "no-shp"),
                "{:?}",
                layer.diagnostics()
            );
        }
    }
}

#[test]
fn cpg_comes_before_cst() {
    let dbf = builder::dbf(&[("NAME", b'C', 1, 0)], &[b" \xcf"], 0);
    let layer = read(&[("t.dbf", &dbf), ("t.cst", b"ISO-8859-1"), ("t.cpg", b"windows-1251")], None);
    assert_eq!(cells(&layer), ["П"]);
}

#[test]
fn column_name_with_control_characters_is_reported() {
    let dbf = builder::dbf(&[("A\x1b[2J", b'C', 1, 0), ("B\u{202e}", b'C', 1, 0)], &[b" xy"], 0);
    let layer = read(&[("t.dbf", &dbf)], None);
    assert_eq!(layer.schema().field(0).name(), "A\u{1b}[2J", "the name stays as it is");
    let [found, turned] = found(&layer, "control-in-name")[..] else { panic!("{:?}", layer.diagnostics()) };
    assert!(turned.message.contains("`B\\u{202e}`"), "{}", turned.message);
    assert!(found.message.contains("`A\\u{1b}[2J`") && !found.message.contains('\u{1b}'), "{}", found.message);
}

#[test]
fn layer_is_found_by_its_file_name() {
    let dbf = builder::dbf(&[("NAME", b'C', 1, 0)], &[b" x"], 0);
    let (shp, shx) = builder::shp(1, &[builder::point(1.0, 2.0)]);
    let zip = builder::zip(&[
        ("a/poly.shp", &shp),
        ("a/poly.shx", &shx),
        ("a/poly.dbf", &dbf),
        ("a/other.dbf", &dbf),
        ("b/other.dbf", &dbf),
    ]);
    let read = |name: &str| {
        let options = ReadOptions { layer: Some(name.to_owned()), ..ReadOptions::default() };
        layer::read(&builder::source(zip.clone()), &options).map(|layer| layer.name().to_owned())
    };
    for name in ["poly", "poly.shp", "a/poly.shp"] {
        assert_eq!(read(name).unwrap(), "poly", "{name}");
    }
    assert_eq!(read("a/other.dbf").unwrap(), "a/other");
    let error = read("other.dbf").unwrap_err();
    assert!(error.message().contains("`a/other`, `b/other`"), "two files have this name: {error}");
    assert!(read("poly.shx").is_err(), "only the main file names a layer");
    let twins = builder::zip(&[("poly.dbf", &dbf), ("x/poly.dbf", &dbf)]);
    let options = ReadOptions { layer: Some("poly.dbf".to_owned()), ..ReadOptions::default() };
    assert_eq!(layer::read(&builder::source(twins), &options).unwrap().name(), "poly", "the whole name comes first");
}
