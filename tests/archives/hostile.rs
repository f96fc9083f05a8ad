//! Every hostile input of the corpus: it ends in a table or a clear error, never in a panic, and the report says which.

use std::time::{Duration, Instant};

use headland::archive::{Options, Source};
use headland::error::Kind;
use headland::layer;

use crate::corpus::folder;

#[test]
fn every_hostile_input_ends_in_a_table_or_a_clear_error() {
    let Some(corpus) = folder() else { return };
    let mut inputs = Vec::new();
    for set in std::fs::read_dir(corpus.join("hostile/sets")).unwrap() {
        inputs.push(set.unwrap().path());
    }
    for place in ["hostile/archives", "zips"] {
        files(&corpus.join(place), &mut inputs);
    }
    inputs.sort();
    let (mut tables, mut errors) = (0, 0);
    for input in &inputs {
        for strict in [true, false] {
            let before = Instant::now();
            let result = layer::read(&Source::Path(input.clone()), &Options { strict, ..Options::default() });
            assert!(before.elapsed() < Duration::from_secs(20), "{} took {:?}", input.display(), before.elapsed());
            let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match result {
                Ok(layer) => {
                    let codes: Vec<&str> = layer.diagnostics().iter().map(|note| note.code).collect();
                    println!("{name} strict={strict}: {} rows {codes:?}", layer.len());
                    tables += u32::from(strict);
                }
                Err(error) => {
                    assert!(matches!(error.kind(), Kind::Archive | Kind::Value), "{name}: {error:?}");
                    println!("{name} strict={strict}: {error}");
                    errors += u32::from(strict);
                }
            }
        }
    }
    println!("hostile: {} inputs, {tables} tables, {errors} errors", inputs.len());
}

fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}
