//! Tests of rows against the rows around them in their track: position, speed and moisture.

use crate::columns::row_ratios::{median, running_median};
use crate::passes::runs::runs;
use crate::rows::logged_rows::SAME_LOCATION;
use crate::rows::track_rows::TrackRows;

/// Rows around a row whose median position is the usual one.
const POSITION_ROWS: usize = 9;

/// Rows that are fewer than half of them.
const ALONE: usize = POSITION_ROWS / 2;

/// Rows around a row whose median moisture is the usual one.
const MOISTURE_ROWS: usize = 61;
/// Longest dropout in seconds that is interpolated.
const DROPOUT: f64 = 30.0;

/// Times the usual speed that a machine may drive between two rows, and seconds beyond which that would be anywhere.
const FASTEST: f64 = 2.0;
const LONGEST_WAY: f64 = 600.0;

/// Rows whose position is further from the median of the rows around it than some metres and median steps.
///
/// The rows around a few that are alone in time, as where a section works for some seconds, are elsewhere: such rows jumped
/// only if no machine drives there in the time between.
pub(crate) fn jumped_positions(rows: &TrackRows, [metres, steps]: [f64; 2]) -> Vec<bool> {
    let mut jumped = vec![false; rows.len()];
    for track in &rows.tracks {
        let step = |k: usize| (rows.x[k] - rows.x[k - 1]).hypot(rows.y[k] - rows.y[k - 1]);
        // Products of one mix are at one location.
        let usual = median(track.clone().skip(1).map(step).filter(|step| *step > SAME_LOCATION).collect());
        let limit = metres + steps * if usual.is_nan() { 0.0 } else { usual };
        let xs = running_median(&rows.x[track.clone()], POSITION_ROWS);
        let ys = running_median(&rows.y[track.clone()], POSITION_ROWS);
        for ((k, x), y) in track.clone().zip(xs).zip(ys) {
            let away = (rows.x[k] - x).hypot(rows.y[k] - y);
            // Rows without a time are in no order.
            jumped[k] = (away.is_nan() || away > limit) && !rows.time[k].is_nan();
        }
        let is_way = |a: usize, b: usize| {
            let steps = (rows.time[b] - rows.time[a]).min(LONGEST_WAY) / rows.interval[b].max(0.1);
            (rows.x[b] - rows.x[a]).hypot(rows.y[b] - rows.y[a]) <= limit + FASTEST * usual * steps
        };
        for run in runs(track.clone(), |_| true, |k| rows.follows(k)).into_iter().filter(|run| run.len() <= ALONE) {
            // With the row before and the one after it, which are in other runs.
            let chain = run.start.saturating_sub(1).max(track.start)..(run.end + 1).min(track.end);
            if chain.len() > run.len() && chain.clone().skip(1).all(|k| is_way(k - 1, k)) {
                jumped[run].fill(false);
            }
        }
    }
    jumped
}

/// Rows that are slower than the first limit in m/s, or faster than the second one in medians of the machine.
pub(crate) fn wrong_speeds(
    rows: &TrackRows,
    passes: &[i32],
    is_bad: &[bool],
    [slowest, fastest]: [f64; 2],
) -> Vec<bool> {
    let usual = |machine: u32| {
        let inside = (0..rows.len()).filter(|k| passes[*k] > 0 && rows.machine[*k] == machine && !is_bad[*k]);
        median(inside.map(|k| rows.speed(k)).collect())
    };
    let usual: Vec<f64> = rows.machine_positions().map(usual).collect();
    let is_wrong = |k: usize| {
        let speed = rows.speed(k);
        passes[k] > 0 && (speed < slowest || speed > fastest * usual[rows.machine[k] as usize])
    };
    (0..rows.len()).map(is_wrong).collect()
}

/// Moisture of each row, with null and implausible values filled, and the rows that were filled.
///
/// Plausible are values that differ by at most `jump` from the median of the rows around. A dropout of up to 30 s is
/// interpolated; beyond it, rows have the median of the field.
pub(crate) fn plausible_moisture(
    rows: &TrackRows,
    passes: &[i32],
    moisture: &[f64],
    jump: f64,
) -> (Vec<f64>, Vec<bool>) {
    let mut suspect = vec![false; rows.len()];
    for track in &rows.tracks {
        let values: Vec<f64> = track.clone().map(|k| moisture[k]).collect();
        let usual = running_median(&values, MOISTURE_ROWS);
        for ((k, value), usual) in track.clone().zip(values).zip(usual) {
            suspect[k] = (value - usual).is_nan() || (value - usual).abs() > jump;
        }
    }
    let good = |k: &usize| !suspect[*k];
    let usual = median((0..rows.len()).filter(|k| passes[*k] > 0 && good(k)).map(|k| moisture[k]).collect());
    let mut filled: Vec<f64> = moisture.to_vec();
    for track in &rows.tracks {
        let kept: Vec<usize> = track.clone().filter(good).collect();
        for k in track.clone().filter(|k| suspect[*k]) {
            let next = kept.partition_point(|other| *other < k);
            let around = next.checked_sub(1).map(|before| kept[before]).zip(kept.get(next).copied());
            let around = around.filter(|(before, after)| rows.time[*after] - rows.time[*before] <= DROPOUT);
            filled[k] = around.map_or(usual, |(before, after)| {
                let share = (rows.time[k] - rows.time[before]) / (rows.time[after] - rows.time[before]);
                let share = if share.is_finite() { share } else { 0.5 };
                moisture[before] + share * (moisture[after] - moisture[before])
            });
        }
    }
    (filled, suspect)
}
