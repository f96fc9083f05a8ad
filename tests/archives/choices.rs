//! Which layer is meant, where a source holds several.

use headland::archive::{Options, Source};
use headland::error::Kind;
use headland::layer;

use crate::make;
use crate::sources::{members, named, zipped};

#[test]
fn several_layers_need_a_choice() {
    let mut members = named("a/");
    members.extend(named("b/"));
    let zip = zipped(&members, zip::CompressionMethod::Deflated);
    let source = make::source(zip);
    assert_eq!(headland::archive::layers(&source, &Options::default()).unwrap(), ["a/t", "b/t"]);
    let error = layer::read(&source, &Options::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Archive);
    assert!(error.message().contains("`a/t`, `b/t`"), "{error}");
    let chosen = |layer: &str| layer::read(&source, &Options { layer: Some(layer.to_owned()), ..Options::default() });
    assert_eq!(chosen("b/t").unwrap().name(), "b/t");
    assert_eq!(chosen("c").unwrap_err().kind(), Kind::Value);
}

#[test]
fn a_table_beside_shapes_is_a_layer_for_whoever_asks() {
    let table = make::dbf(&[("CODE", b'N', 2, 0)], &[b"  7"], 0);
    let mut with_table = named("a/");
    with_table.push(("legend.dbf".to_owned(), table.clone()));
    let zip = make::source(zipped(&with_table, zip::CompressionMethod::Deflated));
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("legend.dbf"), &table).unwrap();
    for source in [zip, Source::Path(folder.path().to_owned())] {
        assert_eq!(headland::archive::layers(&source, &Options::default()).unwrap(), ["t", "legend"]);
        for strict in [true, false] {
            let options = Options { strict, ..Options::default() };
            let error = layer::read(&source, &options).unwrap_err();
            assert_eq!(error.kind(), Kind::Archive);
            assert!(error.message().contains("2 layers") && error.message().contains("`t`, `legend`"), "{error}");
            let opened = layer::Stream::open(&source, &options, &layer::Types::Header, 10).err().unwrap();
            assert_eq!(opened.message(), error.message());
            for (name, rows) in [("t", 2), ("legend", 1)] {
                let options = Options { layer: Some(name.to_owned()), ..options.clone() };
                assert_eq!(layer::read(&source, &options).unwrap().len(), rows, "{name}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_named_is_a_choice_though_another_differs_in_case_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let table = make::dbf(&[("CODE", b'N', 2, 0)], &[b"  7"], 0);
    std::fs::write(folder.path().join("T.DBF"), table).unwrap();
    for (file, name, rows) in [("t.shp", "t", 2), ("t.dbf", "t", 2), ("t.shx", "t", 2), ("T.DBF", "T", 1)] {
        let source = Source::Path(folder.path().join(file));
        assert_eq!(headland::archive::layers(&source, &Options::default()).unwrap(), [name], "{file}");
        assert_eq!(layer::read(&source, &Options::default()).unwrap().len(), rows, "{file}");
    }
}
