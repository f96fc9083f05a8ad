//! Rows whose rate differs from that of their surroundings: spikes and local deviations.
//!
//! A fault of the sensor is logged at a row, but belongs to the ground that was cut before. Logged rows are therefore
//! compared with the flow that neighbouring rows of their ground predict, and a fault marks all rows that use the
//! logged one.

use std::borrow::Cow;

use crate::columns::row_ratios::median;
use crate::passes::runs::pass_runs;
use crate::rows::neighbours::Neighbours;
use crate::rows::shifted_values::UNCERTAIN;
use crate::rows::track_rows::TrackRows;

/// Trusted rows that are compared, at least and at most, within this many swath widths.
const MOST: usize = 12;
const LEAST: usize = 5;
const REACH: f64 = 2.5;
/// Metres between rows of a track that are compared.
const APART: f64 = 1.5;
/// Standard deviations of a normal distribution in a median absolute deviation.
const MAD: f64 = 1.4826;

/// What the flow of rows is judged by.
pub(crate) struct Flows<'a> {
    /// In kg/s, as logged.
    pub(crate) logged: Cow<'a, [f64]>,
    /// In kg/s, of the ground of the row.
    pub(crate) shifted: Cow<'a, [f64]>,
    /// New ground in m2/s.
    pub(crate) per_second: Cow<'a, [f64]>,
    /// Middle of the ground in metres.
    pub(crate) x: Cow<'a, [f64]>,
    pub(crate) y: Cow<'a, [f64]>,
    /// Seconds between cut and log.
    pub(crate) delay: Vec<f64>,
    /// Number of the pass, 0 outside of passes.
    pub(crate) pass: Cow<'a, [i32]>,
    /// Whether enough of the ground is new for a rate.
    pub(crate) has_rate: Vec<bool>,
    /// Whether others are compared with the row.
    pub(crate) is_trusted: Vec<bool>,
    /// Whether the row has no other fault, because of which it deviates.
    pub(crate) is_first: Vec<bool>,
}

/// Trusted rows around each row; not a number with too few of them.
struct Surroundings {
    /// Median rate.
    rate: Vec<f64>,
    /// Standard deviation of the logarithms of the rates, by their median absolute deviation.
    spread: Vec<f64>,
}

impl Surroundings {
    /// Finds the nearest trusted rows of the rows with a rate. `location` is the middle of the ground of the rows.
    fn new(rows: &TrackRows, rate: &[f64], is_trusted: &[bool], location: (&[f64], &[f64])) -> Self {
        let is_asked = |k: usize| rate[k].is_finite();
        let mut around = Self { rate: vec![f64::NAN; rows.len()], spread: vec![f64::NAN; rows.len()] };
        let trusted = thinned(rows, (0..rows.len()).filter(|k| is_trusted[*k] && rate[*k] > 0.0));
        let reach = REACH * median(trusted.iter().map(|k| rows.width[*k]).collect());
        if reach.is_nan() || reach <= 0.0 {
            return around;
        }
        let at = |column: &[f64]| trusted.iter().map(|k| column[*k]).collect::<Vec<f64>>();
        let (xs, ys) = (at(location.0), at(location.1));
        let logs: Vec<f64> = trusted.iter().map(|k| rate[*k].ln()).collect();
        let points = Neighbours::new(&xs, &ys, reach / 3.0);
        let (mut found, mut near, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut usual = 0.5 * reach;
        for k in (0..rows.len()).filter(|k| is_asked(*k)) {
            let (x, y) = (location.0[k], location.1[k]);
            // The nearest rows are mostly little further away than those of the row before, else within half of the reach.
            for radius in [usual.min(0.5 * reach), 0.5 * reach, reach] {
                points.within(x, y, radius, &mut found);
                if found.len() > MOST {
                    break;
                }
            }
            near.clear();
            let others = found.iter().map(|index| *index as usize).filter(|index| trusted[*index] != k);
            near.extend(others.map(|index| ((xs[index] - x).powi(2) + (ys[index] - y).powi(2), index)));
            if near.len() > MOST {
                let furthest =
                    near.select_nth_unstable_by(MOST - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).1.0;
                usual = 1.1 * furthest.sqrt();
                near.truncate(MOST);
            }
            if near.len() < LEAST {
                continue;
            }
            values.clear();
            values.extend(near.iter().map(|(_, index)| logs[*index]));
            let middle = middle_of(&mut values);
            for value in &mut values {
                *value = (*value - middle).abs();
            }
            around.rate[k] = middle.exp();
            around.spread[k] = MAD * middle_of(&mut values);
        }
        around
    }
}

/// Rows of a track that are further apart than [`APART`]: else a display that logs five times a second would compare a
/// row with the same few metres.
fn thinned(rows: &TrackRows, all: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for k in all {
        let is_near = kept.last().is_some_and(|last| {
            rows.track[*last] == rows.track[k]
                && (rows.time[k] - rows.time[*last]).abs() < 1.0
                && (rows.x[k] - rows.x[*last]).hypot(rows.y[k] - rows.y[*last]) < APART
        });
        if !is_near {
            kept.push(k);
        }
    }
    kept
}

fn middle_of(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    let upper = *values.select_nth_unstable_by(half, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..half].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * (lower + upper)
}

/// Limits of deviations.
pub(crate) struct Limits {
    /// Ratios of the flow to the expected one; others are spikes.
    pub(crate) spike: [f64; 2],
    /// Logarithm of the ratio, and its size in standard deviations of the surroundings, or of the field.
    pub(crate) local: [f64; 2],
}

/// How the flow of a row deviates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deviation {
    pub(crate) is_spike: bool,
    pub(crate) is_local: bool,
}

/// Finds the rows whose shifted flow uses a logged row that deviates from what neighbouring rows predict.
///
/// A deviation is local if it is above both limits.
pub(crate) fn deviations(rows: &TrackRows, flows: &Flows<'_>, limits: &Limits) -> Vec<Deviation> {
    let Limits { spike, local } = limits;
    let Flows { logged: flow, shifted, per_second, pass: passes, delay, .. } = flows;
    let rate = |k: usize| if flows.has_rate[k] { shifted[k] / per_second[k] } else { f64::NAN };
    let rate: Vec<f64> = (0..rows.len()).map(rate).collect();
    let around = Surroundings::new(rows, &rate, &flows.is_trusted, (&flows.x, &flows.y));
    let is_judged = |k: usize| flows.has_rate[k] && flows.is_first[k];
    let expected = |k: usize| if is_judged(k) { around.rate[k] * per_second[k] } else { f64::NAN };
    let expected: Vec<f64> = (0..rows.len()).map(expected).collect();
    let mut found = vec![Deviation::default(); rows.len()];
    let field = median(around.spread.clone());
    for track in &rows.tracks {
        let times = &rows.time[track.clone()];
        for run in pass_runs(track, passes) {
            let delay = delay[run.start];
            // Rows of the log that the rows of the pass use.
            let within = |time: f64| track.start + times.partition_point(|other| *other < time - 1e-9);
            let logged = within(rows.time[run.start] + delay)..within(rows.time[run.end - 1] + delay + 2e-9);
            for logged in logged {
                let time = rows.time[logged] - delay;
                let after = run.start + rows.time[run.clone()].partition_point(|other| *other < time - 1e-9);
                if after >= run.end {
                    continue;
                }
                let before = after.saturating_sub(1).max(run.start);
                let step = rows.time[after] - rows.time[before];
                let share = if step > 0.0 { ((rows.time[after] - time) / step).clamp(0.0, 1.0) } else { 0.0 };
                let mix = |a: f64, b: f64| if share < 1e-6 { b } else { share * a + (1.0 - share) * b };
                let ratio = flow[logged] / mix(expected[before], expected[after]);
                if ratio.is_nan() {
                    continue;
                }
                let spread = mix(around.spread[before], around.spread[after]).max(field);
                let is_spike = !(spike[0]..=spike[1]).contains(&ratio);
                let deviation = ratio.max(f64::MIN_POSITIVE).ln().abs();
                let is_local = deviation > local[0] && deviation > local[1] * spread;
                // The delay is not exact, so that a row more may use the logged one.
                let reach = rows.interval[after] + UNCERTAIN;
                let first = run.start + rows.time[run.clone()].partition_point(|other| *other <= time - reach);
                for k in (first..run.end).take_while(|k| rows.time[*k] < time + reach) {
                    found[k].is_spike |= is_spike;
                    found[k].is_local |= is_local;
                }
            }
        }
    }
    found
}
