//! Mixing in the combine: grain that was cut at one time reaches the sensor over some seconds.
//!
//! Combines are modelled as a transport delay with two well-mixed stages: threshing and cleaning, then the elevator
//! (Searcy et al. 1989; Birrell et al. 1996). The time constant of the stages follows from the ends of passes, where
//! the cut ground begins and ends abruptly.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of rows around a row"
)]

use super::passes::pass_runs;
use super::row_ratios::median;
use super::track_rows::TrackRows;

/// Time constants that are tried: multiples of this many seconds.
const STEP: f64 = 0.25;
const STEPS: u32 = 16;
/// Seconds of the shortest pass that is used, and of its rows from an end on.
const LEAST_PASS: f64 = 60.0;
const NEAR_END: f64 = 10.0;
/// Seconds behind an end in which the rate is steady.
const STEADY: std::ops::RangeInclusive<f64> = 14.0..=30.0;
/// Passes that an estimate needs.
const LEAST_PASSES: usize = 5;
/// Deviations count up to this part of the steady flow.
const MOST_DEVIATION: f64 = 0.5;

/// How much of the grain of the rows around a row is in its shifted flow.
#[derive(Clone, Debug)]
pub(super) struct Mixing {
    /// Seconds.
    pub(super) constant: f64,
    /// Seconds between rows.
    interval: f64,
    /// Rows after the row, whose grain arrives early.
    ahead: usize,
    /// Weights, from the last row ahead to the earliest one.
    weights: Vec<f64>,
}

impl Mixing {
    /// The mixing of two stages of one time constant, for rows of an interval.
    pub(super) fn new(constant: f64, interval: f64) -> Self {
        if constant.is_nan() || constant <= 0.0 || interval.is_nan() || interval <= 0.0 {
            return Self { constant: 0.0, interval, ahead: 0, weights: vec![1.0] };
        }
        let arrived = |seconds: f64| {
            let stages = (seconds / constant + 2.0).max(0.0);
            1.0 - (1.0 + stages) * (-stages).exp()
        };
        let ahead = (2.0 * constant / interval + 0.5).floor().clamp(0.0, 30.0) as usize;
        let behind = (7.0 * constant / interval).ceil().clamp(0.0, 60.0) as usize;
        let share = |index: usize| {
            let rows = index as f64 - ahead as f64;
            arrived((rows + 0.5) * interval) - arrived((rows - 0.5) * interval)
        };
        let weights: Vec<f64> = (0..=ahead + behind).map(share).collect();
        let sum: f64 = weights.iter().sum();
        Self { constant, interval, ahead, weights: weights.into_iter().map(|weight| weight / sum).collect() }
    }

    /// The ground in m2/s whose grain is in the shifted flow of a row: rows outside of its pass have none.
    fn ground_of(&self, rows: &TrackRows, passes: &[i32], ground: &[f64], k: usize) -> f64 {
        let track = &rows.tracks[rows.track[k] as usize];
        let mut sum = 0.0;
        for (index, weight) in self.weights.iter().enumerate() {
            let Some(other) = (k + self.ahead).checked_sub(index).filter(|other| track.contains(other)) else {
                continue;
            };
            if passes[other] == passes[k] && ground[other].is_finite() {
                sum += weight * ground[other];
            }
        }
        sum
    }

    /// The ground in m2/s whose grain is in the shifted flow of each row; 0 outside of passes.
    pub(super) fn mixed_ground(&self, rows: &TrackRows, passes: &[i32], ground: &[f64]) -> Vec<f64> {
        let of = |k: usize| if passes[k] > 0 { self.ground_of(rows, passes, ground, k) } else { 0.0 };
        (0..rows.len()).map(of).collect()
    }

    /// Seconds at the start and at the end of a pass in which the flow has not reached this part of that of steady ground.
    pub(super) fn ends(&self, risen: f64) -> [f64; 2] {
        let longest = self.weights.len();
        // A row at the start has no ground behind it, one at the end none ahead.
        let start =
            (0..longest).find(|row| self.weights[..(self.ahead + row + 1).min(longest)].iter().sum::<f64>() > risen);
        let end = (0..longest).find(|row| self.weights[self.ahead.saturating_sub(*row)..].iter().sum::<f64>() > risen);
        [start, end].map(|rows| rows.unwrap_or(longest) as f64 * self.interval)
    }
}

/// Estimates the mixing. `flow` is the shifted flow and `ground` the new ground in m2/s, both by row. Rows that
/// `is_bad` marks are not compared.
pub(super) fn estimate(
    rows: &TrackRows,
    passes: &[i32],
    is_bad: &[bool],
    flow: &[f64],
    ground: &[f64],
) -> Option<Mixing> {
    let mut compared: Vec<(usize, f64, f64)> = Vec::new();
    let mut counted = 0;
    for track in &rows.tracks {
        for run in pass_runs(track, passes) {
            let (first, last) = (rows.time[run.start], rows.time[run.end - 1]);
            if last - first < LEAST_PASS {
                continue;
            }
            counted += 1;
            for is_start in [true, false] {
                let seconds = |k: usize| if is_start { rows.time[k] - first } else { last - rows.time[k] };
                let good = || run.clone().filter(|k| !is_bad[*k] && flow[*k].is_finite());
                let steady = || good().filter(|k| STEADY.contains(&seconds(*k)) && ground[*k] > 0.0);
                let rate = median(steady().map(|k| flow[k] / ground[k]).collect());
                let usual = median(steady().map(|k| ground[k]).collect());
                if rate > 0.0 && usual > 0.0 {
                    compared.extend(good().filter(|k| seconds(*k) < NEAR_END).map(|k| (k, flow[k] / rate, usual)));
                }
            }
        }
    }
    if counted < LEAST_PASSES || compared.is_empty() {
        return None;
    }
    let interval = median(compared.iter().map(|(k, ..)| rows.interval[*k]).collect());
    let tried = (0..=STEPS).map(|step| {
        let mixing = Mixing::new(STEP * f64::from(step), interval);
        let deviation = |(k, flow, usual): &(usize, f64, f64)| {
            ((flow - mixing.ground_of(rows, passes, ground, *k)) / usual).abs().min(MOST_DEVIATION)
        };
        (compared.iter().map(deviation).sum::<f64>(), mixing)
    });
    let best = tried.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, mixing)| mixing);
    // At the end of the range, nothing was found.
    best.filter(|mixing| mixing.constant < STEP * f64::from(STEPS))
}
