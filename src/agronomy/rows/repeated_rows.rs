//! Rows that are in a layer twice with the same values, as after a join.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use crate::columns::canonical::CANONICAL;
use crate::columns::derived::Rows;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// One of this many rows is there twice before it is said.
const LEAST: usize = 20;
/// Metres of a row without a time: a machine that stands logs the same again.
const MOVING: f64 = 0.1;

/// A diagnostic if rows are there twice, whose masses and areas the sums of harmonised columns count twice.
pub(crate) fn repeated_rows(layer: &Layer, rows: &Rows) -> Option<Diagnostic> {
    let places = row_places(layer, rows);
    let repeated = repeats(places.clone());
    if repeated * LEAST <= places.len() || !rows.is_further.is_empty() {
        return None;
    }
    // Only now all columns are read: most layers have no two rows of one moment and place.
    let mut hashes = places;
    for values in CANONICAL.iter().filter_map(|column| rows.get(column.name)) {
        for ((_, hash), value) in hashes.iter_mut().zip(values) {
            *hash = hash_of(&(*hash, value.to_bits()));
        }
    }
    let all = hashes.len();
    let repeated = repeats(hashes);
    (repeated * LEAST > all).then(|| {
        let message = format!(
            "{repeated} of {all} rows are there twice with the same values, as after a join: sums of the columns and `area()` count \
             them twice; `clean`, `grid` and `field_means` count them once"
        );
        Diagnostic::new(Code::JobTwice, message)
    })
}

/// Whether some rows have the time and place of another one.
pub(crate) fn has_repeats(layer: &Layer, rows: &Rows) -> bool {
    rows.times.is_some() && repeats(row_places(layer, rows)) > 0
}

/// Whether a row is one of a moment or a step, and a hash of its time and geometry.
fn row_places(layer: &Layer, rows: &Rows) -> Vec<(bool, u64)> {
    let distance = rows.get("distance").unwrap_or_default();
    let row = |(row, wkb): (usize, Option<&[u8]>)| {
        let time = rows.times.as_ref().and_then(|times| times.get(row).copied().flatten());
        let is_step = time.is_some() || distance.get(row).is_some_and(|metres| *metres > MOVING);
        (is_step && wkb.is_some(), hash_of(&(time, wkb)))
    };
    layer.geometries().enumerate().map(row).collect()
}

/// How many rows have the hash of another row, but for one of each.
fn repeats(mut hashes: Vec<(bool, u64)>) -> usize {
    hashes.retain(|(is_step, _)| *is_step);
    hashes.sort_unstable();
    hashes.windows(2).filter(|pair| pair.first() == pair.last()).count()
}

fn hash_of(values: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.hash(&mut hasher);
    hasher.finish()
}
