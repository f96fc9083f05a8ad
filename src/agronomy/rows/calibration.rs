//! Compares the logged distances with the way between positions, along stretches on which the machine goes straight ahead.
//!
//! One ratio for the whole job that is not 1 means another unit, a wheel of another size, every n-th row of a log, or
//! positions in another system. Healthy logs have 0.98 to 1.004, with quartiles within 0.003.

use std::ops::Range;

use crate::columns::row_ratios::{median, median_and_range};
use crate::rows::logged_rows::{LoggedRows, SAME_LOCATION};

/// Metres of a stretch, which is far more than positions wander, and its steps.
const STRETCH: f64 = 25.0;
const LEAST_STEPS: usize = 4;
/// Stretches that a ratio needs.
const LEAST_STRETCHES: usize = 12;
/// Cosine of the turn between both halves of a stretch.
const STRAIGHT: f64 = 0.995;
/// Longest step of a stretch in time, or for its distance, as a part of the shortest: no row is missing.
const EVEN: f64 = 1.6;
/// Part by which a ratio differs from 1 before it is said, in the median and in both quartiles, and what they spread at most.
const AGREEING: f64 = 0.04;
const LEAST_QUARTILE: f64 = 0.03;
const MOST_SPREAD: f64 = 0.1;

/// The distances as a part of the way between positions, if it is one ratio that is not 1.
pub(crate) fn distance_ratio(
    logged: &LoggedRows<'_>,
    row: &[usize],
    tracks: &[Range<usize>],
    is_ahead: bool,
) -> Option<f64> {
    let mut ratios = Vec::new();
    for track in tracks {
        let rows = &row[track.clone()];
        let mut start = 0;
        for end in 1..rows.len() {
            let step = between(logged, rows[end - 1], rows[end]);
            let own = distance(logged, rows, end, is_ahead);
            if !(own > 0.0 && step > SAME_LOCATION) {
                start = end;
            } else if end - start >= LEAST_STEPS && between(logged, rows[start], rows[end]) >= STRETCH {
                ratios.extend(ratio_of(logged, &rows[start..=end], is_ahead));
                start = end;
            }
        }
    }
    if ratios.len() < LEAST_STRETCHES {
        return None;
    }
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let (middle, spread) = median_and_range(logs.clone());
    let is_beyond = |log: &&f64| **log * middle.signum() > LEAST_QUARTILE;
    let beyond = logs.iter().filter(is_beyond).count();
    let is_one = middle.abs() > AGREEING && spread < MOST_SPREAD && 4 * beyond >= 3 * logs.len();
    is_one.then(|| median(ratios))
}

/// The distances of a stretch by its way, if it is straight and no row of it is missing.
fn ratio_of(logged: &LoggedRows<'_>, rows: &[usize], is_ahead: bool) -> Option<f64> {
    let (first, middle, last) = (*rows.first()?, *rows.get(rows.len() / 2)?, *rows.last()?);
    let [one, other] = [(first, middle), (middle, last)]
        .map(|(from, to)| (logged.x[to] - logged.x[from], logged.y[to] - logged.y[from]));
    let along = (one.0 * other.0 + one.1 * other.1) / (one.0.hypot(one.1) * other.0.hypot(other.1));
    let own = |end: usize| distance(logged, rows, end, is_ahead);
    let by_time =
        logged.time.is_some_and(|time| is_even((1..rows.len()).map(|end| time[rows[end]] - time[rows[end - 1]])));
    let is_whole =
        || by_time || is_even((1..rows.len()).map(|end| own(end) / between(logged, rows[end - 1], rows[end])));
    let sum: f64 = (1..rows.len()).map(own).sum();
    (along > STRAIGHT && is_whole()).then(|| sum / between(logged, first, last))
}

fn distance(logged: &LoggedRows<'_>, rows: &[usize], end: usize, is_ahead: bool) -> f64 {
    let own = if is_ahead { end.saturating_sub(1) } else { end };
    rows.get(own).and_then(|row| logged.distance.get(*row)).copied().unwrap_or(f64::NAN)
}

fn between(logged: &LoggedRows<'_>, from: usize, to: usize) -> f64 {
    (logged.x[to] - logged.x[from]).hypot(logged.y[to] - logged.y[from])
}

/// Whether the longest of some steps is about as long as the shortest.
fn is_even(steps: impl Iterator<Item = f64>) -> bool {
    let (least, most) = steps.fold((f64::INFINITY, 0.0_f64), |(least, most), step| (least.min(step), most.max(step)));
    least > 0.0 && most < EVEN * least
}
