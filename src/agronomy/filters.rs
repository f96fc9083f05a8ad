//! Tests of rows against the rows around them in their track: position, speed and moisture.

use super::derived::GAP;
use super::row_order::{RowOrder, SAME_LOCATION};
use super::row_ratios::median;
use super::track_rows::TrackRows;

/// Rows around a row whose median position is the usual one.
const POSITION_ROWS: usize = 9;

/// Rows around a row whose median moisture is the usual one.
const MOISTURE_ROWS: usize = 61;
/// Longest dropout in seconds that is interpolated.
const DROPOUT: f64 = 30.0;

/// Medians of windows of `count` rows around each index of `values`; null values take no part.
pub(super) fn running_median(values: &[f64], count: usize) -> Vec<f64> {
    let half = count / 2;
    let mut window: Vec<f64> = Vec::with_capacity(count + 1);
    let insert = |window: &mut Vec<f64>, value: f64| {
        if value.is_finite() {
            let place = window.partition_point(|other| *other < value);
            window.insert(place, value);
        }
    };
    for value in values.iter().take(half) {
        insert(&mut window, *value);
    }
    (0..values.len())
        .map(|index| {
            if let Some(value) = values.get(index + half) {
                insert(&mut window, *value);
            }
            if let Some(value) = index.checked_sub(half + 1).map(|gone| values[gone]).filter(|v| v.is_finite()) {
                let place = window.partition_point(|other| *other < value);
                window.remove(place);
            }
            if window.is_empty() { f64::NAN } else { window[window.len() / 2] }
        })
        .collect()
}

/// Part by which a distance may differ from that at the usual speed and from the step between positions.
const DISTANCE_JUMP: f64 = 0.45;
/// Rows around a row whose median speed is the usual one.
const DISTANCE_ROWS: usize = 15;
/// Steps between positions that replace a distance are at most this long, in metres.
const LONGEST_STEP: f64 = 30.0;
/// Widths are equal if they are within this many metres.
pub(super) const WIDTH_STEP: f64 = 0.001;

/// The distances, with the step between positions for those that are null, or that the speed of the rows around and the step
/// contradict. Columns are in the order of the layer.
pub(super) fn used_distances(
    order: &RowOrder,
    (x, y): (&[f64], &[f64]),
    interval: &[f64],
    mut distance: Vec<f64>,
) -> Vec<f64> {
    if order.fit.is_short() {
        return order.distances(x, y, interval);
    }
    for track in &order.tracks {
        let rows = &order.row[track.clone()];
        let speeds: Vec<f64> = rows.iter().map(|row| distance[*row] / interval[*row]).collect();
        let usual = running_median(&speeds, DISTANCE_ROWS);
        for (index, row) in rows.iter().enumerate() {
            let expected = usual[index] * interval[*row];
            let step = index.checked_sub(1).map_or(f64::NAN, |before| {
                let before = rows[before];
                let seconds = order.time.as_ref().map_or(0.0, |time| time[*row] - time[before]);
                let step = (x[*row] - x[before]).hypot(y[*row] - y[before]);
                if seconds <= GAP * interval[*row].max(0.1) && step < LONGEST_STEP { step } else { f64::NAN }
            });
            let is_off = |other: f64| (distance[*row] / other - 1.0).abs() > DISTANCE_JUMP;
            if distance[*row].is_nan() {
                distance[*row] = if step.is_nan() { expected } else { step };
            } else if is_off(expected) && is_off(step) && step.is_finite() {
                distance[*row] = step;
            }
        }
    }
    distance
}

/// The widths, with the usual one of the track for those that are null.
pub(super) fn filled_widths(mut width: Vec<f64>, order: &RowOrder) -> Vec<f64> {
    for track in &order.tracks {
        let rows = &order.row[track.clone()];
        if rows.iter().any(|row| width[*row].is_nan()) {
            let usual = usual_width(rows.iter().map(|row| width[*row]));
            for row in rows {
                if width[*row].is_nan() {
                    width[*row] = usual;
                }
            }
        }
    }
    width
}

/// The most frequent width above 0; of equally frequent ones, the largest. Not a number without any.
pub(super) fn usual_width(widths: impl Iterator<Item = f64>) -> f64 {
    let mut widths: Vec<f64> = widths.filter(|width| *width > 0.0).map(|width| (width / WIDTH_STEP).round()).collect();
    widths.sort_by(f64::total_cmp);
    let most = widths.chunk_by(|a, b| a.total_cmp(b).is_eq()).max_by_key(|same| same.len());
    most.and_then(<[f64]>::first).map_or(f64::NAN, |width| width * WIDTH_STEP)
}

/// Rows whose position is further from the median of the rows around it than some metres and median steps.
pub(super) fn jumped_positions(rows: &TrackRows, [metres, steps]: [f64; 2]) -> Vec<bool> {
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
    }
    jumped
}

/// Rows that are slower than the first limit in m/s, or faster than the second one in medians of the machine.
pub(super) fn wrong_speeds(
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
pub(super) fn plausible_moisture(
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
