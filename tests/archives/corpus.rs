//! Reads every data set of the corpus and compares it with GDAL's reading: equal, or a deviation that is undone in each
//! cell.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use headland::archive::{ReadOptions, Source};
use headland::layer;
use serde_json::Value;

use crate::contested::{Decision, decision};
use crate::expected;

/// Folder of the corpus; where there is none, the test prints a message.
pub(crate) fn folder() -> Option<PathBuf> {
    let place = std::env::var_os("HEADLAND_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"), PathBuf::from);
    if place.join("expected").is_dir() {
        return Some(place);
    }
    println!("skipped: there is no corpus at {} (HEADLAND_CORPUS names another place)", place.display());
    None
}

/// One data set of the corpus, and GDAL's reading of it.
pub(crate) struct Set {
    pub(crate) file: String,
    pub(crate) path: PathBuf,
    pub(crate) trust: String,
    pub(crate) layers: Vec<Value>,
}

impl Set {
    /// Options that select one of its layers.
    pub(crate) fn options(&self, layer: &Value) -> ReadOptions {
        let several = self.layers.len() > 1;
        ReadOptions {
            layer: several.then(|| layer["layer_name"].as_str().unwrap().to_owned()),
            ..ReadOptions::default()
        }
    }
}

/// All data sets with an expected reading, by name.
pub(crate) fn sets(corpus: &Path) -> Vec<Set> {
    let mut sets: Vec<Set> = std::fs::read_dir(corpus.join("expected"))
        .unwrap()
        .map(|entry| {
            let text = without_lone_surrogates(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
            let expected: Value = serde_json::from_str(&text).unwrap();
            let file = expected["file"].as_str().unwrap().to_owned();
            Set {
                path: corpus.join(&file),
                file,
                trust: expected["trust"].as_str().unwrap().to_owned(),
                layers: expected["layers"].as_array().unwrap().clone(),
            }
        })
        .collect();
    sets.sort_by(|one, other| one.file.cmp(&other.file));
    sets
}

/// GDAL's text may be invalid UTF-8. The corpus stores such bytes as lone surrogates, which JSON readers reject.
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

/// Outcome of one set; an unexplained difference fails the test instead.
#[derive(Debug)]
enum Outcome {
    Equal,
    /// The deviations, each undone: GDAL's values follow from the raw bytes, and all else is equal.
    Justified(Vec<String>),
    /// Readers disagree about the file: the decision, and the deviations that it allows.
    Contested(&'static str, Vec<String>),
}

#[test]
fn every_set_is_equal_or_justified_or_contested_with_a_decision() {
    let Some(corpus) = folder() else { return };
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    let mut faults = Vec::new();
    for set in sets(&corpus) {
        match outcome(&set) {
            Ok(outcome) => drop(outcomes.insert(set.file, outcome)),
            Err(found) => faults.push(format!("{}: {}", set.file, found.join("; "))),
        }
    }
    let mut counts = [0; 4];
    for (file, outcome) in &outcomes {
        counts[0] += 1;
        match outcome {
            Outcome::Equal => counts[1] += 1,
            Outcome::Justified(what) => {
                counts[2] += 1;
                println!("justified {file}: {}", what.join("; "));
            }
            Outcome::Contested(decision, what) => {
                counts[3] += 1;
                let what = if what.is_empty() { "equal to GDAL".to_owned() } else { what.join("; ") };
                println!("contested {file}: {what}. Decision: {decision}");
            }
        }
    }
    let [read, equal, justified, contested] = counts;
    println!("corpus: {read} sets read, {equal} equal, {justified} justified, {contested} contested with a decision");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!((read, contested), (225, 24), "the sets that have an expected reading, and those that are contested");
    let in_ag = |outcome: &Outcome| matches!(outcome, Outcome::Equal);
    let ag: Vec<&String> = outcomes
        .iter()
        .filter(|(file, found)| file.starts_with("ag/") && !in_ag(found))
        .map(|(file, _)| file)
        .collect();
    assert!(ag.is_empty(), "real machine data need no excuse: {ag:?}");
}

fn outcome(set: &Set) -> Result<Outcome, Vec<String>> {
    let source = Source::Path(set.path.clone());
    let mut faults = Vec::new();
    let mut deviations = Vec::new();
    let names = headland::archive::layers(&source, &ReadOptions::default()).unwrap_or_default();
    if set.layers.len() > 1 && names.len() != set.layers.len() {
        faults.push(format!("{} layers, not {}: {names:?}", names.len(), set.layers.len()));
    }
    for expected in &set.layers {
        match layer::read(&source, &set.options(expected)) {
            Ok(layer) => expected::compare(&layer, expected, set, &mut deviations, &mut faults),
            Err(error) => faults.push(format!("error: {error}")),
        }
    }
    let contested = set.trust.starts_with("contested");
    match (decision(&set.file), deviations.is_empty()) {
        _ if !faults.is_empty() => Err(faults),
        (None, true) if !contested => Ok(Outcome::Equal),
        // An encoding that differs from GDAL's needs a decision, since no diagnostic reports it.
        (None, false) if !contested && !deviations.iter().any(|text| text.contains("declared")) => {
            Ok(Outcome::Justified(deviations))
        }
        (None, _) => Err(vec![format!("contested without a decision: {deviations:?}")]),
        (Some(Decision { allows, words }), _) => {
            if deviations == allows {
                Ok(Outcome::Contested(words, deviations))
            } else {
                Err(vec![format!("its decision allows {allows:?}, found are {deviations:?}")])
            }
        }
    }
}
