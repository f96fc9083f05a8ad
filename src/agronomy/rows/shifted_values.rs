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

/// The first index of a range of sorted times that is not before a time: the partition point of `is_before`. It is looked for
/// from `near` on, in steps that double, since it is mostly a few rows away.
pub(crate) fn first_after(times: &[f64], range: &Range<usize>, near: usize, is_before: impl Fn(f64) -> bool) -> usize {
    let mut step = 1;
    if near < range.end && is_before(times[near]) {
        let mut low = near + 1;
        loop {
            let high = (low + step).min(range.end);
            if high == range.end || !is_before(times[high - 1]) {
                return low + times[low..high].partition_point(|time| is_before(*time));
            }
            (low, step) = (high, 2 * step);
        }
    }
    let mut high = near;
    loop {
        let low = high.saturating_sub(step).max(range.start);
        if low == range.start || is_before(times[low]) {
            return low + times[low..high].partition_point(|time| is_before(*time));
        }
        (high, step) = (low, 2 * step);
    }
}

/// A value at `seconds` after row `k`, with the rows and the weight of the later one.
pub(crate) fn value_later(rows: &TrackRows, values: &[f64], k: usize, seconds: f64) -> f64 {
    let track = &rows.tracks[rows.track[k] as usize];
    let time = rows.time[k] + seconds;
    let after = first_after(&rows.time, track, k, |other| other < time - 1e-9);
    interpolate(rows, track, values, after, time)
}

/// Whether the value at `seconds` after row `k` uses a row that is marked.
pub(crate) fn touches(rows: &TrackRows, marked: &[bool], k: usize, seconds: f64) -> bool {
    let track = &rows.tracks[rows.track[k] as usize];
    let time = rows.time[k] + seconds;
    // The estimate is not exact, so that a value may use one row more.
    let reach = rows.interval[k] + UNCERTAIN;
    let first = first_after(&rows.time, track, k, |other| other <= time - reach);
    (first..track.end).take_while(|other| rows.time[*other] < time + reach).any(|other| marked[other])
}
