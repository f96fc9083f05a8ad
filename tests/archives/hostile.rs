//! Reads every hostile input of the corpus and compares its end with `hostile_expected`: in time, in bounded memory,
//! without a file on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use headland::archive::{ReadOptions, Source};
use headland::error::{Error, Kind};
use headland::layer::{self, Layer};
use serde_json::Value;

use crate::alloc_counter;
use crate::canonical_text;
use crate::corpus::folder;
use crate::expected::differences;
use crate::hostile_expected::{EXPECTATIONS, Expectation};
use crate::wkt;

/// Memory limit of every input: 64 MiB and four times its size. `alloc_counter` has the time limit.
const MOST: usize = 64 << 20;

/// The column of logicals in most sets: GDAL reads its blank cell as false; null is right (deviation c).
const LOGICALS: (&str, &str) = ("OK", "true|false|\\N|\\N|true|false");

fn read(path: &Path, strict: bool, threads: usize) -> Result<Layer, Error> {
    let options = ReadOptions { strict, threads: Some(threads), ..ReadOptions::default() };
    layer::read(&Source::Path(path.to_owned()), &options)
}

/// The same read with one thread and with two, within the limits; memory can only be measured with one thread.
fn measured(path: &Path, strict: bool) -> Result<Layer, Error> {
    let size: u64 = if path.is_dir() {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    } else {
        path.metadata().unwrap().len()
    };
    let ((one, peak), took) = alloc_counter::time(|| alloc_counter::peak(|| read(path, strict, 1)));
    assert!(took < alloc_counter::LONGEST, "{} took {took:?}", path.display());
    let most = MOST + 4 * usize::try_from(size).unwrap();
    assert!(peak <= most, "{}: {peak} bytes of memory for {size}", path.display());
    let two = read(path, strict, 2);
    match (&one, &two) {
        (Ok(one), Ok(two)) => {
            assert_eq!(columns(one), columns(two), "{}: one thread and two", path.display());
            assert_eq!(one.diagnostics(), two.diagnostics(), "{}: one thread and two", path.display());
        }
        (Err(one), Err(two)) => assert_eq!(one.to_string(), two.to_string(), "{}", path.display()),
        _ => panic!("{}: one thread and two end differently: {one:?}, {two:?}", path.display()),
    }
    one
}

/// Names, types and values of all columns, with the geometry as text.
fn columns(layer: &Layer) -> Vec<(String, String, String)> {
    let batch = &layer.batches()[0];
    let schema = layer.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    fields
        .map(|(field, array)| {
            let is_geometry = Some(field.name().as_str()) == layer.geometry_column();
            let values: Vec<String> = if is_geometry {
                layer.geometries().map(|wkb| wkb.map_or("\\N".to_owned(), wkt::text)).collect()
            } else {
                (0..array.len()).map(|row| canonical_text::text(array, row)).collect()
            };
            (field.name().clone(), canonical_text::type_name(field.data_type()).to_owned(), values.join("|"))
        })
        .collect()
}

fn codes(layer: &Layer) -> Vec<&'static str> {
    layer.diagnostics().iter().map(|note| note.code.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// GDAL's reading of an input, as stored in the corpus.
fn expected(corpus: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(corpus.join(format!("expected_hostile/{name}.json"))).unwrap();
    // Bytes that are no text are stored as lone surrogates, which JSON readers reject.
    serde_json::from_str(&text.replace("\\udc", "\\uff")).unwrap()
}

/// Compares a layer with GDAL's reading of `whose`; the columns in `but` have other types and values.
fn check_table(name: &str, layer: &Layer, whose: &Value, but: &[(&str, &str, &str)]) {
    let wanted = &whose["layers"][0];
    let found = columns(layer);
    let geometry = layer.geometry_column();
    let rows = wanted["row_count"].as_u64().unwrap();
    assert_eq!(layer.len() as u64, rows, "{name}: rows");
    let names: Vec<&str> =
        found.iter().map(|(column, ..)| column.as_str()).filter(|column| Some(*column) != geometry).collect();
    let all = wanted["columns"].as_array().unwrap();
    // A column without a name is named by its position.
    let wanted_names: Vec<String> = (1..)
        .zip(all)
        .map(|(position, column)| match column["name"].as_str().unwrap() {
            "" => format!("field_{position}"),
            name => name.to_owned(),
        })
        .collect();
    assert_eq!(names, wanted_names, "{name}: the names of the columns");
    for (column, kind, values) in &found {
        if let Some((_, other_kind, other)) = but.iter().find(|(other, ..)| other == column) {
            assert_eq!((kind.as_str(), values.as_str()), (*other_kind, *other), "{name}: column `{column}`");
            continue;
        }
        let batch = &layer.batches()[0];
        let array = batch.column_by_name(column).unwrap();
        if Some(column.as_str()) == geometry {
            let wanted = &wanted["geometry"];
            assert_eq!(array.null_count() as u64, wanted["null_count"].as_u64().unwrap(), "{name}: null geometries");
            assert_eq!(
                canonical_text::sha256(array),
                wanted["wkb_sha256"].as_str().unwrap(),
                "{name}: geometry {values}"
            );
            continue;
        }
        let at = names.iter().position(|name| name == column).unwrap();
        assert_eq!(kind, all[at]["arrow_type"].as_str().unwrap(), "{name}: the type of `{column}`");
        if column == LOGICALS.0 && codes(layer).contains(&"blank-logical") {
            assert_eq!(values, LOGICALS.1, "{name}: column `{column}`");
            continue;
        }
        let different = differences(array, &all[at]);
        assert!(different.is_empty(), "{name}: column `{column}`: {}", different.join(", "));
    }
}

fn assert_codes(name: &str, layer: &Layer, wanted: &[&str]) {
    let wanted: Vec<&str> = wanted.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    assert_eq!(codes(layer), wanted, "{name}: {:?}", layer.diagnostics());
}

/// Compares one input with its expectation; returns a line that describes the outcome.
fn check(corpus: &Path, path: &Path, name: &str, expectation: &Expectation) -> String {
    let strict = measured(path, true);
    let lenient = measured(path, false);
    match expectation {
        Expectation::Table { whose, codes, but } => {
            let layer = strict.unwrap_or_else(|error| panic!("{name}: {error}"));
            let whose = expected(corpus, if whose.is_empty() { name } else { whose });
            check_table(name, &layer, &whose, but);
            assert_codes(name, &layer, codes);
            let lenient = lenient.unwrap_or_else(|error| panic!("{name} without strict: {error}"));
            assert_eq!(columns(&layer), columns(&lenient), "{name}: what is right is the same without strict");
            assert_eq!(layer.diagnostics(), lenient.diagnostics(), "{name}: without strict");
            format!("{} rows {codes:?}", layer.len())
        }
        Expectation::Error { member, record, offset, words, saved } => {
            let error = strict.err().unwrap_or_else(|| panic!("{name}: an error is expected"));
            assert_eq!(error.kind(), Kind::Archive, "{name}: {error:?}");
            let facts = error.facts();
            assert_eq!(
                (facts.member.as_deref(), facts.record, facts.offset),
                (*member, *record, *offset),
                "{name}: {error}"
            );
            assert!(error.message().contains(words), "{name}: `{words}` in: {error}");
            match (saved, lenient) {
                (None, Err(again)) => assert_eq!(again.kind(), Kind::Archive, "{name}: {again:?}"),
                (Some((rows, codes)), Ok(layer)) => {
                    assert_eq!(layer.len(), *rows, "{name}: rows that are saved");
                    assert_codes(name, &layer, codes);
                    assert!(!codes.is_empty(), "{name}: what is lost is said");
                }
                (saved, lenient) => panic!("{name} without strict: {saved:?} is expected, not {lenient:?}"),
            }
            let saved = saved.map_or(String::new(), |(rows, codes)| format!("; saved: {rows} rows {codes:?}"));
            format!("error: {error}{saved}")
        }
        Expectation::Layers(names) => {
            let error = strict.err().unwrap_or_else(|| panic!("{name}: a choice is expected"));
            let source = Source::Path(path.to_owned());
            assert_eq!(headland::archive::layers(&source, &ReadOptions::default()).unwrap(), *names, "{name}");
            let whole = expected(corpus, name);
            for (at, layer) in names.iter().enumerate() {
                assert!(error.message().contains(&format!("`{layer}`")), "{name}: {error}");
                let options = ReadOptions { layer: Some((*layer).to_owned()), ..ReadOptions::default() };
                let one = serde_json::json!({ "layers": [whole["layers"][at]] });
                check_table(name, &layer::read(&source, &options).unwrap(), &one, &[]);
            }
            format!("layers {names:?}")
        }
    }
}

#[test]
fn every_hostile_input_ends_as_expected() {
    let Some(corpus) = folder() else { return };
    let mut inputs: BTreeMap<String, PathBuf> = BTreeMap::new();
    for place in ["hostile/sets", "hostile/archives"] {
        for entry in std::fs::read_dir(corpus.join(place)).unwrap() {
            let path = entry.unwrap().path();
            inputs.insert(path.file_stem().unwrap().to_string_lossy().into_owned(), path);
        }
    }
    let before = tree(&corpus.join("hostile"));
    let names: BTreeSet<&str> = inputs.keys().map(String::as_str).collect();
    let expected_names: BTreeSet<&str> = EXPECTATIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected_names, "each input has an expectation, and each expectation an input");
    let (mut tables, mut diagnosed, mut errors) = (0, 0, 0);
    for (name, expectation) in EXPECTATIONS {
        match expectation {
            Expectation::Table { codes, .. } if codes.iter().any(|code| *code != "blank-logical") => diagnosed += 1,
            Expectation::Table { .. } | Expectation::Layers(_) => tables += 1,
            Expectation::Error { .. } => errors += 1,
        }
        println!("{name}: {}", check(&corpus, &inputs[*name], name, expectation));
    }
    assert_eq!(tree(&corpus.join("hostile")), before, "reading writes nothing");
    println!(
        "hostile: {} inputs, {tables} right tables, {diagnosed} right tables with a diagnostic, {errors} errors, 0 others",
        inputs.len()
    );
}

#[test]
fn zip_reader_test_archives_end_in_time_and_bounded_memory() {
    let Some(corpus) = folder() else { return };
    let mut inputs = Vec::new();
    files(&corpus.join("zips"), &mut inputs);
    inputs.sort();
    let before = tree(&corpus.join("zips"));
    let (mut tables, mut errors) = (0, 0);
    for input in &inputs {
        for strict in [true, false] {
            match measured(input, strict) {
                Ok(layer) => {
                    println!("{}: {} rows {:?}", input.display(), layer.len(), codes(&layer));
                    tables += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Archive, "{}: {error:?}", input.display());
                    println!("{}: {error}", input.display());
                    errors += 1;
                }
            }
        }
    }
    assert_eq!(tree(&corpus.join("zips")), before, "reading writes nothing");
    println!("zips: {} archives read twice, {tables} tables, {errors} errors", inputs.len());
}

/// Every file below a folder with its size and time.
fn tree(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    files(folder, &mut found);
    found.sort();
    let facts = |path: &PathBuf| path.metadata().map(|meta| (meta.len(), meta.modified().unwrap())).unwrap();
    found.into_iter().map(|path| (path.clone(), facts(&path).0, facts(&path).1)).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}
