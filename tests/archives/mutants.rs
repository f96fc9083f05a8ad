//! Reads thousands of damaged sets: each reads as before, or a diagnostic reports the difference, or it is an error.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Array;
use fastrand::Rng;
use headland::archive::{ReadOptions, Source};
use headland::error::Kind;
use headland::layer::{self, Layer};
use proptest::prelude::*;

use crate::builder::{self, Files};
use crate::canonical_text;
use crate::mutator::{cart, damage, sets};
use crate::series::cases;
use crate::wkt;

/// The visible content of a layer.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    /// Names, types and values of the columns, without the geometry.
    columns: Vec<(String, String, Vec<String>)>,
    /// The geometries, where there is such a column.
    shapes: Option<Vec<Option<Vec<u8>>>>,
    rows: usize,
    crs: Option<String>,
    diagnostics: BTreeSet<String>,
}

fn see(layer: &Layer) -> Seen {
    let batch = &layer.batches()[0];
    let schema = layer.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    let columns = fields
        .filter(|(field, _)| Some(field.name().as_str()) != layer.geometry_column())
        .map(|(field, array)| {
            let values = (0..array.len()).map(|row| canonical_text::text(array, row)).collect();
            (field.name().clone(), canonical_text::type_name(field.data_type()).to_owned(), values)
        })
        .collect();
    Seen {
        columns,
        shapes: layer.geometry_column().map(|_| layer.geometries().map(|wkb| wkb.map(<[u8]>::to_vec)).collect()),
        rows: layer.len(),
        crs: layer.crs_wkt().map(str::to_owned),
        diagnostics: layer
            .diagnostics()
            .iter()
            .map(|note| format!("{} {}", note.code.as_str(), note.message))
            .collect(),
    }
}

impl Seen {
    fn has_same_data(&self, other: &Self) -> bool {
        (&self.columns, &self.shapes, self.rows, &self.crs) == (&other.columns, &other.shapes, other.rows, &other.crs)
    }

    /// What the original had and this layer lacks: rows, columns, geometries, vertices, the coordinate system.
    fn lacks(&self, original: &Self) -> Option<String> {
        if self.rows < original.rows {
            return Some(format!("{} of {} rows", self.rows, original.rows));
        }
        if self.columns.len() < original.columns.len() {
            return Some(format!("{} of {} columns", self.columns.len(), original.columns.len()));
        }
        if self.crs.is_none() && original.crs.is_some() {
            return Some("no coordinate system".to_owned());
        }
        let (Some(before), Some(now)) = (&original.shapes, &self.shapes) else {
            return (original.shapes.is_some() && self.shapes.is_none()).then(|| "no geometries".to_owned());
        };
        let vertices = |wkb: &Option<Vec<u8>>| wkb.as_deref().map_or(0, wkt::vertices);
        let total = |shapes: &[Option<Vec<u8>>]| shapes.iter().map(vertices).sum::<usize>();
        if total(now) < total(before) {
            return Some(format!("{} of {} vertices", total(now), total(before)));
        }
        // A deleted row that is kept shifts the others.
        let mut pairs = before.iter().zip(now).filter(|_| self.rows == original.rows);
        let row = pairs.position(|(before, now)| vertices(now) < vertices(before))?;
        Some(format!("the geometry of row {row} has fewer vertices"))
    }
}

/// Outcome of one mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Equal,
    Diagnostic,
    Error,
    /// Another digit, letter or name in a loose file; its length and its kind are still valid.
    ChangedDigit,
}

fn read(source: &Source, strict: bool) -> headland::error::Result<Layer> {
    layer::read(source, &ReadOptions { strict, ..ReadOptions::default() })
}

/// The outcome of reading a mutant, or the silent loss.
fn classify(source: &Source, original: &Seen, is_checked: bool) -> Result<Outcome, String> {
    let strict = read(source, true);
    let lenient = read(source, false);
    let layer = match strict {
        Ok(layer) => layer,
        Err(error) => {
            if !matches!(error.kind(), Kind::Archive) {
                return Err(format!("an error of the kind {:?}: {error}", error.kind()));
            }
            return match lenient.map(|layer| see(&layer)) {
                Ok(seen) if seen.diagnostics.is_subset(&original.diagnostics) => {
                    Err(format!("saved silently, next to `{error}`"))
                }
                _ => Ok(Outcome::Error),
            };
        }
    };
    let seen = see(&layer);
    match lenient.map(|layer| see(&layer)) {
        Ok(lenient) if lenient == seen => {}
        other => return Err(format!("without strict it is another layer: {other:?}")),
    }
    if seen.has_same_data(original) {
        return Ok(Outcome::Equal);
    }
    if !seen.diagnostics.is_subset(&original.diagnostics) {
        return Ok(Outcome::Diagnostic);
    }
    match seen.lacks(original) {
        Some(lost) => Err(format!("lost in silence: {lost}")),
        None if is_checked => Err("the data differ in silence, though they have a checksum".to_owned()),
        None => Ok(Outcome::ChangedDigit),
    }
}

/// The files in a zip with valid checksums: equal to loose files, without writing them.
fn wrapped(files: &Files, method: zip::CompressionMethod) -> Vec<u8> {
    builder::zip_with(&builder::lend(files), method)
}

/// Damages one file of a set, swaps two or loses one.
fn damage_files(files: &mut Files, rng: &mut Rng) -> String {
    let at = rng.usize(..files.len());
    match rng.u8(..20) {
        0 if files.len() > 1 => {
            let other = rng.usize(..files.len());
            let (one, two) = (files[at].1.clone(), files[other].1.clone());
            (files[at].1, files[other].1) = (two, one);
            format!("{} and {} swapped", files[at].0, files[other].0)
        }
        1 if files.len() > 1 => format!("{} lost", files.remove(at).0),
        _ => {
            let (name, bytes) = &mut files[at];
            let mut how = format!("{name}: {}", damage(name, bytes, rng));
            if rng.u8(..10) == 0 {
                how = format!("{how}; {}", damage(name, bytes, rng));
            }
            how
        }
    }
}

fn report(what: &str, outcomes: &BTreeMap<Outcome, usize>, faults: &[String]) {
    let total: usize = outcomes.values().sum::<usize>() + faults.len();
    println!("{what}: {total} mutants, {outcomes:?}, {} lost in silence", faults.len());
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

#[test]
fn damaged_loose_files_lose_nothing_silently() {
    let (mut outcomes, mut faults) = (BTreeMap::new(), Vec::new());
    for (name, files) in sets() {
        let source = |files: &Files| builder::source(wrapped(files, zip::CompressionMethod::Stored));
        let original = see(&read(&source(&files), true).unwrap());
        for seed in 0..u64::from(cases(250)) {
            let mut mutant = files.clone();
            let how = damage_files(&mut mutant, &mut Rng::with_seed(seed));
            match classify(&source(&mutant), &original, false) {
                Ok(outcome) => *outcomes.entry(outcome).or_insert(0) += 1,
                Err(fault) => faults.push(format!("{name}, seed {seed}, {how}: {fault}")),
            }
        }
    }
    report("loose files", &outcomes, &faults);
}

#[test]
fn damaged_files_on_disk_end_as_in_memory() {
    let (mut outcomes, mut faults) = (BTreeMap::new(), Vec::new());
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in sets().into_iter().filter(|(_, files)| files.len() > 3) {
        let write = |files: &Files| {
            let set = folder.path().join("set");
            let _ = std::fs::remove_dir_all(&set);
            std::fs::create_dir(&set).unwrap();
            for (name, bytes) in files {
                std::fs::write(set.join(name), bytes).unwrap();
            }
            Source::Path(set)
        };
        let original = see(&read(&write(&files), true).unwrap());
        for seed in 0..u64::from(cases(30)) {
            let mut mutant = files.clone();
            let how = damage_files(&mut mutant, &mut Rng::with_seed(10_000_000 + seed));
            match classify(&write(&mutant), &original, false) {
                Ok(outcome) => *outcomes.entry(outcome).or_insert(0) += 1,
                Err(fault) => faults.push(format!("{name}, seed {seed}, {how}: {fault}")),
            }
        }
    }
    report("files on the disk", &outcomes, &faults);
}

#[test]
fn every_change_in_a_zip_is_detected() {
    let (mut outcomes, mut faults) = (BTreeMap::new(), Vec::new());
    for (name, files) in sets() {
        for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
            let whole = wrapped(&files, method);
            let original = see(&read(&builder::source(whole.clone()), true).unwrap());
            for seed in 0..u64::from(cases(120)) {
                let mut mutant = whole.clone();
                let how = damage("t.zip", &mut mutant, &mut Rng::with_seed(seed));
                match classify(&builder::source(mutant), &original, true) {
                    Ok(outcome) => *outcomes.entry(outcome).or_insert(0) += 1,
                    Err(fault) => faults.push(format!("{name}, {method:?}, seed {seed}, {how}: {fault}")),
                }
            }
        }
    }
    report("zips", &outcomes, &faults);
}

#[test]
fn truncated_damaged_zip_is_an_error_and_saved_rows_are_reported() {
    let (mut outcomes, mut faults, mut saved) = (BTreeMap::new(), Vec::new(), 0);
    for (name, files) in sets() {
        for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
            for whole in [wrapped(&files, method), builder::streamed(&builder::lend(&files), method)] {
                let original = see(&read(&builder::source(whole.clone()), true).unwrap());
                for seed in 0..u64::from(cases(40)) {
                    let mut rng = Rng::with_seed(seed);
                    let mut mutant = whole.clone();
                    mutant.truncate(rng.usize(40..whole.len() - 22));
                    let cut = mutant.len();
                    let how = if rng.u8(..4) == 0 { String::new() } else { damage("t.zip", &mut mutant, &mut rng) };
                    let source = builder::source(mutant);
                    saved += usize::from(read(&source, false).is_ok());
                    match classify(&source, &original, true) {
                        Ok(outcome) => *outcomes.entry(outcome).or_insert(0) += 1,
                        Err(fault) => {
                            faults.push(format!("{name}, {method:?}, seed {seed}, cut at {cut}, {how}: {fault}"));
                        }
                    }
                }
            }
        }
    }
    println!("cut zips: something is saved of {saved}");
    report("cut zips", &outcomes, &faults);
}

#[test]
fn damaged_grain_carts_lose_no_load_silently() {
    let (mut outcomes, mut faults) = (BTreeMap::new(), Vec::new());
    let whole = cart();
    let original = see(&read(&builder::source(whole.clone()), true).unwrap());
    for seed in 0..u64::from(cases(300)) {
        let mut mutant = whole.clone();
        let how = damage("t.grc", &mut mutant, &mut Rng::with_seed(seed));
        let source = builder::source(builder::zip(&[("t.grc", &mutant)]));
        match classify(&source, &original, false) {
            Ok(outcome) => *outcomes.entry(outcome).or_insert(0) += 1,
            Err(fault) => faults.push(format!("seed {seed}, {how}: {fault}")),
        }
    }
    report("grain carts", &outcomes, &faults);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300), zip in any::<bool>()) {
        let mut bytes = bytes;
        if zip {
            bytes.splice(0..0, *b"PK\x03\x04");
            bytes.extend(*b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x2e\0\0\0\0\0\0\0\0\0");
        }
        for strict in [true, false] {
            prop_assert!(read(&builder::source(bytes.clone()), strict).is_err());
        }
    }
}

#[test]
fn wrong_length_allocates_nothing() {
    let (mut shp, shx) = builder::shp(1, &[builder::point(1.0, 1.0)]);
    shp[104..108].copy_from_slice(&i32::MAX.to_be_bytes());
    let zip = builder::zip(&[("t.shp", &shp), ("t.shx", &shx)]);
    let error = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.facts().record, Some(0));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.shp"), &shp).unwrap();
    assert!(layer::read(&Source::Path(folder.path().join("t.shp")), &ReadOptions::default()).is_err());
}
