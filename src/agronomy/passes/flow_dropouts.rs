//! Fills dropouts of the flow: single rows without a value between others that have one.

use std::ops::Range;

use crate::columns::row_ratios::{median, running_median};
use crate::rows::track_rows::TrackRows;

/// Rows in succession that a sensor drops out at most; longer runs have no grain.
const LONGEST: usize = 4;
/// Rows around a row whose median flow is the usual one, and of that, what a row on both sides of a dropout has.
const AROUND: usize = 9;
const LEAST_BESIDE: f64 = 0.4;

/// Interpolates null and zero flows of at most a few rows between rows with grain, in time, and returns their number. A zero of
/// a section is one that cuts nothing.
pub(crate) fn fill_dropouts(rows: &TrackRows, flow: &mut [f64]) -> usize {
    let usual = median(flow.iter().copied().filter(|value| *value > 0.0).collect());
    let mut filled = 0;
    for track in &rows.tracks {
        let own = |other: &&Range<usize>| rows.machine[other.start] == rows.machine[track.start];
        let is_only = rows.tracks.iter().filter(own).nth(1).is_none();
        let is_missing = |flow: f64| flow.is_nan() || (is_only && flow <= 0.0);
        let mut k = track.start;
        while k < track.end {
            if !is_missing(flow[k]) {
                k += 1;
                continue;
            }
            let start = k;
            while k < track.end && is_missing(flow[k]) {
                k += 1;
            }
            let has_grain = |row: usize| flow[row] > LEAST_BESIDE * usual;
            let is_linked = (start..=k).all(|row| row < track.end && row > track.start && rows.follows(row));
            if k - start > LONGEST || !is_linked || !has_grain(start - 1) || !has_grain(k) {
                continue;
            }
            let (before, after) = (start - 1, k);
            let span = rows.time[after] - rows.time[before];
            for row in start..after {
                let share = if span > 0.0 { (rows.time[row] - rows.time[before]) / span } else { 0.5 };
                flow[row] = (1.0 - share) * flow[before] + share * flow[after];
            }
            filled += after - start;
        }
    }
    filled
}

/// The flow for the search of a delay: without values far from those of the rows around, which would move it.
pub(crate) fn without_outliers(rows: &TrackRows, flow: &[f64]) -> Vec<f64> {
    let mut kept = flow.to_vec();
    for track in &rows.tracks {
        let usual = running_median(&flow[track.clone()], AROUND);
        for (k, usual) in track.clone().zip(usual) {
            if !(0.5..=2.0).contains(&(flow[k] / usual)) {
                kept[k] = f64::NAN;
            }
        }
    }
    kept
}
