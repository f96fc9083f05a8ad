//! Values of a sensor at the time when it sees the grain of a row.

use std::ops::Range;

use crate::columns::derived::GAP;
use crate::rows::track_rows::TrackRows;

/// Seconds that an estimated delay may be off.
pub(crate) const UNCERTAIN: f64 = 0.1;

/// A value at a time, linear between the rows `after - 1` and `after`; not a number outside the log and in gaps.
pub(crate) fn interpolate(rows: &TrackRows, track: &Range<usize>, values: &[f64], after: usize, time: f64) -> f64 {
    if after >= track.end {
        return f64::NAN;
    }
    let span = rows.time[after] - time;
    if span == 0.0 {
        return values[after];
    }
    if after == track.start {
        return f64::NAN;
    }
    let step = rows.time[after] - rows.time[after - 1];
    if step.is_nan() || step > GAP * rows.interval[after].max(0.1) {
        return f64::NAN;
    }
    let share = span / step;
    share * values[after - 1] + (1.0 - share) * values[after]
}

/// A value at `seconds` after row `k`, with the rows and the weight of the later one.
pub(crate) fn value_later(rows: &TrackRows, values: &[f64], k: usize, seconds: f64) -> f64 {
    let track = &rows.tracks[rows.track[k] as usize];
    let time = rows.time[k] + seconds;
    let after = track.start + rows.time[track.clone()].partition_point(|other| *other < time - 1e-9);
    interpolate(rows, track, values, after, time)
}

/// Whether the value at `seconds` after row `k` uses a row that is marked.
pub(crate) fn touches(rows: &TrackRows, marked: &[bool], k: usize, seconds: f64) -> bool {
    let track = &rows.tracks[rows.track[k] as usize];
    let time = rows.time[k] + seconds;
    // The estimate is not exact, so that a value may use one row more.
    let reach = rows.interval[k] + UNCERTAIN;
    let first = track.start + rows.time[track.clone()].partition_point(|other| *other <= time - reach);
    (first..track.end).take_while(|other| rows.time[*other] < time + reach).any(|other| marked[other])
}
