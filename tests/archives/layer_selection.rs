//! Tests which layer is read where a source has several.

use headland::archive::{ReadOptions, Source};
use headland::error::Kind;
use headland::layer;

use crate::builder;
use crate::sources::{members, named, zipped};

#[test]
fn several_layers_without_a_selection_are_an_error() {
    let mut members = named("a/");
    members.extend(named("b/"));
    let zip = zipped(&members, zip::CompressionMethod::Deflated);
    let source = builder::source(zip);
    assert_eq!(headland::archive::layers(&source, &ReadOptions::default()).unwrap(), ["a/t", "b/t"]);
    let error = layer::read(&source, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Archive);
    assert!(error.message().contains("`a/t`, `b/t`"), "{error}");
    let chosen =
        |layer: &str| layer::read(&source, &ReadOptions { layer: Some(layer.to_owned()), ..ReadOptions::default() });
    assert_eq!(chosen("b/t").unwrap().name(), "b/t");
    assert_eq!(chosen("c").unwrap_err().kind(), Kind::Value);
}

#[test]
fn table_next_to_shapes_is_a_layer_when_selected() {
    let table = builder::dbf(&[("CODE", b'N', 2, 0)], &[b"  7"], 0);
    let mut with_table = named("a/");
    with_table.push(("legend.dbf".to_owned(), table.clone()));
    let zip = builder::source(zipped(&with_table, zip::CompressionMethod::Deflated));
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("legend.dbf"), &table).unwrap();
    for source in [zip, Source::Path(folder.path().to_owned())] {
        assert_eq!(headland::archive::layers(&source, &ReadOptions::default()).unwrap(), ["t", "legend"]);
        for strict in [true, false] {
            let options = ReadOptions { strict, ..ReadOptions::default() };
            let error = layer::read(&source, &options).unwrap_err();
            assert_eq!(error.kind(), Kind::Archive);
            assert!(error.message().contains("2 layers") && error.message().contains("`t`, `legend`"), "{error}");
            let opened = layer::Stream::open(&source, &options, &layer::TypePolicy::Header, 10).err().unwrap();
            assert_eq!(opened.message(), error.message());
            for (name, rows) in [("t", 2), ("legend", 1)] {
                let options = ReadOptions { layer: Some(name.to_owned()), ..options.clone() };
                assert_eq!(layer::read(&source, &options).unwrap().len(), rows, "{name}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn exact_file_name_selects_a_layer_if_another_differs_only_in_case() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let table = builder::dbf(&[("CODE", b'N', 2, 0)], &[b"  7"], 0);
    std::fs::write(folder.path().join("T.DBF"), table).unwrap();
    for (file, name, rows) in [("t.shp", "t", 2), ("t.dbf", "t", 2), ("t.shx", "t", 2), ("T.DBF", "T", 1)] {
        let source = Source::Path(folder.path().join(file));
        assert_eq!(headland::archive::layers(&source, &ReadOptions::default()).unwrap(), [name], "{file}");
        assert_eq!(layer::read(&source, &ReadOptions::default()).unwrap().len(), rows, "{file}");
    }
}

/// The layers of a source: the names that `layers` and the error list, and the rows of each.
fn each(source: &Source) -> Vec<(String, usize)> {
    let names = headland::archive::layers(source, &ReadOptions::default()).unwrap();
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let error = layer::read(source, &ReadOptions::default()).unwrap_err();
    assert!(error.message().ends_with(&format!("choose one with `layer`: {}", listed.join(", "))), "{error}");
    let chosen = |name: String| {
        let options = ReadOptions { layer: Some(name.clone()), ..ReadOptions::default() };
        let layer = layer::read(source, &options).unwrap();
        assert_eq!(layer.name(), name);
        (name, layer.len())
    };
    names.into_iter().map(chosen).collect()
}

fn table(rows: usize) -> Vec<u8> {
    builder::dbf(&[("CODE", b'N', 2, 0)], &vec![&b"  7"[..]; rows], 0)
}

fn zip_of(shapes: &str, others: &[(&str, Vec<u8>)]) -> Source {
    let mut all = named(shapes);
    all.extend(others.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.clone())));
    builder::source(zipped(&all, zip::CompressionMethod::Deflated))
}

#[test]
fn layers_with_duplicate_names_are_selected_by_file_name() {
    let of = |expected: &[(&str, usize)]| -> Vec<(String, usize)> {
        expected.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect()
    };
    assert_eq!(each(&zip_of("", &[("t.DBF", table(1))])), of(&[("t.shp", 2), ("t.DBF", 1)]));
    let (shp, _) = builder::shp(1, &[builder::point(10.0, 50.0), builder::point(11.0, 50.0)]);
    assert_eq!(each(&zip_of("", &[("t.SHP", shp)])), of(&[("t.shp", 2), ("t.SHP", 2)]));
    // Only duplicate names get a suffix, and a folder only where it is needed.
    let folders = zip_of("a/", &[("a/t.DBF", table(1)), ("legend.dbf", table(3))]);
    assert_eq!(each(&folders), of(&[("t.shp", 2), ("t.DBF", 1), ("legend", 3)]));
    let twice = zip_of("a/", &[("a/t.DBF", table(1)), ("b/t.dbf", table(3))]);
    assert_eq!(each(&twice), of(&[("t.shp", 2), ("t.DBF", 1), ("b/t", 3)]));
    let odd = zip_of("", &[("t.DBF", table(1)), ("t.shp.dbf", table(3))]);
    assert_eq!(each(&odd), of(&[("t.shp", 2), ("t.DBF", 1), ("t.shp.dbf", 3)]));
}

#[test]
fn nested_archives_next_to_layers_are_reported_by_name() {
    let inner = zipped(&named(""), zip::CompressionMethod::Deflated);
    let beside = zip_of("", &[("more/z.zip", inner.clone()), ("y.zip", inner.clone())]);
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::create_dir(folder.path().join("more")).unwrap();
    for name in ["more/z.zip", "y.zip"] {
        std::fs::write(folder.path().join(name), &inner).unwrap();
    }
    for source in [beside, Source::Path(folder.path().to_owned())] {
        assert_eq!(headland::archive::layers(&source, &ReadOptions::default()).unwrap(), ["t"]);
        let layer = layer::read(&source, &ReadOptions::default()).unwrap();
        let stream = layer::Stream::open(&source, &ReadOptions::default(), &layer::TypePolicy::Header, 10).unwrap();
        for notes in [layer.diagnostics().to_vec(), stream.diagnostics()] {
            let notes: Vec<_> = notes.iter().filter(|note| note.code.as_str() == "nested-archive").collect();
            assert_eq!(notes.len(), 1);
            let words = "not read: `more/z.zip`, `y.zip`; to read them, unpack them and open each one separately";
            assert!(notes[0].message.contains(words), "{}", notes[0].message);
            assert_eq!(notes[0].member.as_deref(), Some("more/z.zip"));
        }
    }
    // A nested archive that is read is not reported as skipped.
    let followed = layer::read(&builder::source(builder::zip(&[("z.zip", &inner)])), &ReadOptions::default()).unwrap();
    assert!(followed.diagnostics().iter().all(|note| note.code.as_str() != "nested-archive"));
    let mut many: Vec<(String, Vec<u8>)> = (0..12).map(|number| (format!("{number:02}.zip"), inner.clone())).collect();
    many.extend(named(""));
    let layer = layer::read(&builder::source(zipped(&many, zip::CompressionMethod::Deflated)), &ReadOptions::default())
        .unwrap();
    let note = layer.diagnostics().iter().find(|note| note.code.as_str() == "nested-archive").unwrap();
    assert!(note.message.contains("`08.zip`, `09.zip` and 2 more;"), "{}", note.message);
}
