//! Rows that harvest ground and whose mass was not logged, which is not the same as none.

use crate::cleaning::clean_rows::CleanRows;
use crate::passes::runs::pass_runs;

/// Seconds at the beginning of a pass in which no grain has reached the sensor yet, at most.
const FIRST_GRAIN: f64 = 20.0;

/// Marks the rows of passes whose mass is unknown, in the order of the layer: it is null, or a zero that the cleaning takes for
/// a dropout of the sensor. `kg` are the harmonised masses in that order.
///
/// A row without a mass is harvested by another if a section of its moment has one: the flow of a machine is logged once.
/// At the beginning of a pass some displays log no flow until the grain arrives, which they log after the end of the pass.
pub(super) fn rows_without_mass(rows: &CleanRows, kg: &[f64]) -> Vec<bool> {
    let tracks = &rows.rows;
    if kg.len() != tracks.row.len() {
        return Vec::new();
    }
    let kg = tracks.sorted(kg);
    let is_filled = |k: usize| kg[k] <= 0.0 && rows.masses.logged.as_ref().is_some_and(|logged| logged[k] > 0.0);
    let mut is_without: Vec<bool> =
        (0..kg.len()).map(|k| rows.passes.number[k] > 0 && (kg[k].is_nan() || is_filled(k))).collect();
    if !is_without.contains(&true) {
        return is_without;
    }
    tracks.visit_moments(|moment| {
        if moment.iter().any(|k| kg[*k] > 0.0) {
            for k in moment {
                is_without[*k] = false;
            }
        }
    });
    for run in tracks.tracks.iter().flat_map(|track| pass_runs(track, &rows.passes.number)) {
        let start = run.start;
        let first = run.take_while(|k| is_without[*k]).count();
        if first > 0 && tracks.time[start + first - 1] - tracks.time[start] < FIRST_GRAIN {
            is_without[start..start + first].fill(false);
        }
    }
    tracks.unsorted(&is_without)
}
