//! The title of a map: the name of the job, else what the layer or its rows are called.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray;

use crate::columns::canonical::JobKind;
use crate::columns::provenance as keys;
use crate::maps::column_words::capitalized;
use crate::maps::shown_column::{column_label, shown_column};
use headland_reader::layer::Layer;

/// A title with more names states their number.
const MAX_NAMES: usize = 3;

/// The title of a map of a column; without the name of a column, of the one that a map shows by default.
///
/// Rows of several jobs name their jobs. A table of Python and a concatenation have no name of their own: theirs is the
/// name of a type or a function, so their rows or their content are the title.
#[must_use]
pub fn map_title(layer: &Layer, column: Option<&str>) -> String {
    let own = || (layer.name() != layer.source()).then(|| layer.name().to_owned());
    let shown = || {
        let index = shown_column(layer, column).ok().flatten()?;
        column_label(layer, index).or_else(|| layer.schema().fields().get(index).map(|field| field.name().clone()))
    };
    names(layer, "job_name", "jobs")
        .or_else(|| entry(layer, keys::JOB_NAME).map(str::to_owned))
        .or_else(own)
        .or_else(|| names(layer, "field", "fields"))
        .or_else(|| content(layer))
        .or_else(shown)
        .unwrap_or_else(|| "Locations".to_owned())
}

/// Crop and kind of a harmonised layer, such as `Corn harvest`.
fn content(layer: &Layer) -> Option<String> {
    let kind = entry(layer, keys::KIND).and_then(JobKind::find).map(|kind| match kind {
        JobKind::Yield => "harvest",
        JobKind::AsApplied => "application",
        JobKind::Planting => "planting",
    });
    let words: Vec<&str> = entry(layer, keys::CROP).into_iter().chain(kind).collect();
    (!words.is_empty()).then(|| capitalized(&words.join(" ")))
}

/// The distinct texts of a column in alphabetical order, or their number and what they are.
fn names(layer: &Layer, column: &str, what: &str) -> Option<String> {
    let index = layer.schema().index_of(column).ok()?;
    let mut found = BTreeSet::new();
    for cells in layer.batches().iter().filter_map(|batch| batch.columns().get(index)?.as_string_opt::<i64>()) {
        found.extend(cells.iter().flatten().filter(|name| !name.trim().is_empty()));
    }
    (!found.is_empty()).then(|| joined(&found, what))
}

/// The titles of several layers, or their number.
pub(crate) fn joined_titles(titles: impl Iterator<Item = String>) -> String {
    let titles: BTreeSet<String> = titles.collect();
    joined(&titles.iter().map(String::as_str).collect(), "layers")
}

fn joined(names: &BTreeSet<&str>, what: &str) -> String {
    match names.len() {
        ..=MAX_NAMES => names.iter().copied().collect::<Vec<_>>().join(", "),
        count => format!("{count} {what}"),
    }
}

fn entry<'a>(layer: &'a Layer, key: &str) -> Option<&'a str> {
    layer.metadata().iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}
