//! Every data set of the corpus against GDAL's reading of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use headland::archive::{Limits, Options, Source};
use headland::layer::{self, Layer};
use serde_json::Value;

use crate::canon;

/// The folder of the corpus; where there is none, the test says so.
pub(crate) fn folder() -> Option<PathBuf> {
    let place = std::env::var_os("HEADLAND_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    if place.join("expected").is_dir() {
        return Some(place);
    }
    println!("skipped: there is no corpus at {} (HEADLAND_CORPUS names another place)", place.display());
    None
}

/// What became of one set.
#[derive(Debug, PartialEq)]
enum Outcome {
    Equal,
    Justified(String),
    Different(String),
}

#[test]
fn every_agricultural_archive_is_read_as_gdal_reads_it() {
    let Some(corpus) = folder() else { return };
    let outcomes = compare(&corpus, "ag");
    report("ag", &outcomes);
    assert_eq!(outcomes.len(), 23, "the sets of the corpus that have an expected reading");
    for (file, outcome) in &outcomes {
        assert!(!matches!(outcome, Outcome::Different(_)), "{file}: {outcome:?}");
    }
}

#[test]
fn conformance_files_are_read_as_gdal_reads_them() {
    let Some(corpus) = folder() else { return };
    let outcomes = compare(&corpus, "conformance");
    report("conformance", &outcomes);
    for (file, outcome) in &outcomes {
        if let Outcome::Different(what) = outcome {
            assert!(KNOWN.iter().any(|(known, _)| file.ends_with(known)), "{file}: {what}");
        }
    }
}

/// Files that are not read as GDAL reads them, with no diagnostic that would say why, and the verdict.
const KNOWN: &[(&str, &str)] = &[
    ("misc/unicody.shp", "its driver byte 0x57 means the code page of Windows, read as cp1252; GDAL takes Latin-1"),
    ("test/data/codepage.shp", "its .cpg says `ANSI 1250`, which GDAL does not know: its text is no UTF-8"),
];

fn compare(corpus: &Path, set: &str) -> BTreeMap<String, Outcome> {
    let mut outcomes = BTreeMap::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(corpus.join("expected")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let expected: Value =
            serde_json::from_str(&without_lone_surrogates(&std::fs::read_to_string(&file).unwrap())).unwrap();
        let name = expected["file"].as_str().unwrap();
        if name.starts_with(&format!("{set}/")) {
            outcomes.insert(name.to_owned(), outcome(&corpus.join(name), &expected));
        }
    }
    outcomes
}

/// GDAL's text may be no UTF-8, and the corpus keeps such bytes as halves of surrogate pairs, which no JSON reader takes.
fn without_lone_surrogates(json: &str) -> String {
    let mut parts = json.split("\\udc");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_pair = text.len() >= 6 && text.get(text.len() - 6..).is_some_and(|before| before.starts_with("\\ud8"));
        text.push_str(if is_pair { "\\udc" } else { "\\uff" });
        text.push_str(part);
    }
    text
}

fn report(set: &str, outcomes: &BTreeMap<String, Outcome>) {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.values().filter(|outcome| wanted(outcome)).count();
    println!(
        "{set}: {} sets read, {} equal, {} justified, {} different",
        outcomes.len(),
        count(|outcome| *outcome == Outcome::Equal),
        count(|outcome| matches!(outcome, Outcome::Justified(_))),
        count(|outcome| matches!(outcome, Outcome::Different(_))),
    );
    for (file, outcome) in outcomes {
        if *outcome != Outcome::Equal {
            println!("  {file}: {outcome:?}");
        }
    }
}

fn outcome(path: &Path, expected: &Value) -> Outcome {
    let source = Source::Path(path.to_owned());
    let layers = expected["layers"].as_array().unwrap();
    let mut justified = Vec::new();
    let mut different = Vec::new();
    if layers.len() > 1 {
        let names = headland::archive::layers(&source, &Limits::default()).unwrap_or_default();
        if names.len() != layers.len() {
            different.push(format!("{} layers, not {}: {names:?}", names.len(), layers.len()));
        }
    }
    for expected in layers {
        let layer = (layers.len() > 1).then(|| expected["layer_name"].as_str().unwrap().to_owned());
        match layer::read(&source, &Options { layer, ..Options::default() }) {
            Ok(layer) => differences(&layer, expected, &mut justified, &mut different),
            Err(error) => different.push(format!("error: {error}")),
        }
    }
    if !different.is_empty() {
        Outcome::Different(different.join("; "))
    } else if !justified.is_empty() {
        Outcome::Justified(justified.join("; "))
    } else {
        Outcome::Equal
    }
}

/// Diagnostics that justify another column than GDAL's (corpus README, deviations a to d, k, l).
const COLUMN: &[&str] = &[
    "bad-number",
    "integer-with-decimals",
    "bad-date",
    "blank-logical",
    "logical-digit",
    "bad-logical",
    "leading-blanks",
    "text-recoded",
    "text-undeclared",
    "binary-column",
];

/// Diagnostics that justify another geometry than GDAL's (deviations e, f, j).
const GEOMETRY: &[&str] = &["open-ring", "part-start", "missing-m", "no-data-m"];

fn differences(layer: &Layer, expected: &Value, justified: &mut Vec<String>, different: &mut Vec<String>) {
    let rows = usize::try_from(expected["row_count"].as_u64().unwrap()).unwrap();
    if layer.len() != rows {
        different.push(format!("{} rows, not {rows}", layer.len()));
        return;
    }
    let batch = &layer.batches()[0];
    let schema = layer.schema();
    let columns: Vec<_> = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .filter(|(field, _)| Some(field.name().as_str()) != layer.geometry_column())
        .collect();
    let wanted = expected["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|(field, _)| field.name().as_str()).collect();
    let wanted_names: Vec<&str> = wanted.iter().map(|column| column["name"].as_str().unwrap()).collect();
    if names != wanted_names {
        different.push(format!("columns {names:?}, not {wanted_names:?}"));
        return;
    }
    for ((field, array), wanted) in columns.iter().zip(wanted) {
        let mut found = Vec::new();
        let mut check = |what: &str, mine: String, theirs: String| {
            if mine != theirs {
                found.push(format!("{what} {mine}, not {theirs}"));
            }
        };
        check(
            "type",
            canon::type_name(field.data_type()).to_owned(),
            wanted["arrow_type"].as_str().unwrap().to_owned(),
        );
        check("nulls", array.null_count().to_string(), wanted["null_count"].to_string());
        check("sha256", canon::sha256(array), wanted["sha256"].as_str().unwrap().to_owned());
        if let (Some(values), Some(sum)) = (canon::numbers(array), wanted["sum"].as_f64()) {
            let extreme = |best: fn(f64, f64) -> f64| values.iter().copied().reduce(best);
            check("sum", canon::repr(canon::exact_sum(&values)), canon::repr(sum));
            check("min", format!("{:?}", extreme(f64::min)), format!("{:?}", wanted["min"].as_f64()));
            check("max", format!("{:?}", extreme(f64::max)), format!("{:?}", wanted["max"].as_f64()));
        }
        if !found.is_empty() {
            let place = format!("column `{}`", field.name());
            let told = layer
                .diagnostics()
                .iter()
                .find(|note| COLUMN.contains(&note.code) && note.message.starts_with(&format!("{place}: ")));
            match told {
                // GDAL trims both ends: without the blanks that are kept, nothing may differ.
                Some(note) if note.code == "leading-blanks" && !text_recoded(layer, &place) => {
                    let mine = canon::sha256_trimmed(array);
                    let theirs = wanted["sha256"].as_str().unwrap();
                    if mine == theirs {
                        justified.push(format!("{place} ({})", note.code));
                    } else {
                        different.push(format!("{place}: differs by more than leading blanks"));
                    }
                }
                Some(note) => justified.push(format!("{place} ({})", note.code)),
                None => different.push(format!("{place}: {}", found.join(", "))),
            }
        }
    }
    geometry(layer, expected, justified, different);
}

fn text_recoded(layer: &Layer, place: &str) -> bool {
    layer
        .diagnostics()
        .iter()
        .any(|note| note.code == "text-recoded" && note.message.starts_with(&format!("{place}: ")))
}

fn geometry(layer: &Layer, expected: &Value, justified: &mut Vec<String>, different: &mut Vec<String>) {
    let column = layer.geometry_column().and_then(|name| layer.batches()[0].column_by_name(name));
    let wanted = &expected["geometry"];
    match (column, wanted.as_object()) {
        (None, None) => {}
        (Some(column), Some(_)) => {
            let same_nulls = column.null_count() as u64 == wanted["null_count"].as_u64().unwrap();
            if !same_nulls || canon::sha256(column) != wanted["wkb_sha256"].as_str().unwrap() {
                match layer.diagnostics().iter().find(|note| GEOMETRY.contains(&note.code)) {
                    Some(note) => justified.push(format!("geometry ({})", note.code)),
                    None => different.push(format!(
                        "geometry: {} nulls, not {}; types {}",
                        column.null_count(),
                        wanted["null_count"],
                        wanted["types"]
                    )),
                }
            }
        }
        (Some(column), None) if column.null_count() == column.len() => {}
        (mine, theirs) => different.push(format!("a geometry column: {}, not {}", mine.is_some(), theirs.is_some())),
    }
}
