//! Causes of rates that are off target: steps of the target, acceleration, ends of passes and double coverage.

use std::ops::Range;

use crate::cleaning::clean_rows::CleanRows;
use crate::columns::derived::GAP;
use crate::passes::runs::pass_runs;
use crate::rows::track_rows::TrackRows;

/// The target changed by more than a tenth in the last 5 s.
pub(super) const STEP: u8 = 1;
/// The machine sped up or slowed down by more than 0.2 m/s2 over 3 s.
pub(super) const SPEEDING: u8 = 1 << 1;
/// Within 5 s of an end of the pass.
pub(super) const ENDS: u8 = 1 << 2;
/// Ground that was covered before, by more than the tolerance.
pub(super) const DOUBLE: u8 = 1 << 3;

/// Names of the causes.
pub(super) const ALL: [(&str, u8); 4] = [("step", STEP), ("speeding", SPEEDING), ("ends", ENDS), ("double", DOUBLE)];

const STEP_SECONDS: f64 = 5.0;
/// Change of the target, as a part of the one before, that is a step.
pub(super) const LEAST_STEP: f64 = 0.10;
const SPEEDING_SECONDS: f64 = 3.0;
/// In m/s2.
const LEAST_ACCELERATION: f64 = 0.2;
const END_SECONDS: f64 = 5.0;
/// Rounding of times.
const MOMENT: f64 = 1e-6;

/// Whether a target differs from the one before by a step. An unknown one does not.
pub(super) fn is_step(before: f64, now: f64) -> bool {
    (now - before).abs() > LEAST_STEP * before + 1e-9
}

/// The causes of each row, in the order of the tracks. `target` is in this order, too.
pub(super) fn causes(clean: &CleanRows, target: &[f64], tolerance: f64) -> Vec<u8> {
    let rows = &clean.rows;
    let mut bits = vec![0; rows.len()];
    for track in &rows.tracks {
        for k in track.clone() {
            if clean.passes.number[k] == 0 {
                continue;
            }
            if earlier(rows, track, k, STEP_SECONDS).is_some_and(|before| is_step(target[before], target[k])) {
                bits[k] |= STEP;
            }
            let acceleration = earlier(rows, track, k, SPEEDING_SECONDS)
                .map_or(f64::NAN, |before| (rows.speed(k) - rows.speed(before)) / (rows.time[k] - rows.time[before]));
            if acceleration.abs() > LEAST_ACCELERATION {
                bits[k] |= SPEEDING;
            }
            if clean.ground.share[k] > tolerance {
                bits[k] |= DOUBLE;
            }
        }
        for run in pass_runs(track, &clean.passes.number) {
            let (start, end) = (rows.time[run.start], rows.time[run.end - 1]);
            for k in run {
                if rows.time[k] - start < END_SECONDS - MOMENT || end - rows.time[k] < END_SECONDS - MOMENT {
                    bits[k] |= ENDS;
                }
            }
        }
    }
    bits
}

/// The last row of a track that is as many seconds before, unless rows are missing there.
fn earlier(rows: &TrackRows, track: &Range<usize>, k: usize, seconds: f64) -> Option<usize> {
    let limit = rows.time[k] - seconds + MOMENT;
    let count = rows.time[track.start..k].partition_point(|time| *time <= limit);
    let found = track.start + count.checked_sub(1)?;
    (rows.time[k] - rows.time[found] <= seconds + GAP * rows.interval[k].max(0.1)).then_some(found)
}
