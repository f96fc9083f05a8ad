//! Delay of a sensor behind the cutter bar: the shift at which neighbouring passes in opposite directions agree.
//!
//! Grain reaches a sensor seconds after it was cut. With the right shift, passes that run next to each other show the
//! same pattern; with a wrong one, the pattern moves apart, since the directions are opposite (Chung et al. 2002; Lee et
//! al. 2012).

#![expect(clippy::cast_precision_loss, reason = "indices of shifts and counts of rows are far below 2^53")]

use crate::columns::row_ratios::median;
use crate::passes::flow_dropouts::without_outliers;
use crate::passes::runs::pass_runs;
use crate::rows::neighbours::Neighbours;
use crate::rows::shifted_values::interpolate;
use crate::rows::track_rows::TrackRows;

/// Seconds of the shifts that are tried. Displays may have shifted already, so that negative ones occur.
const FIRST: f64 = -5.0;
const STEP: f64 = 0.5;
const SHIFTS: usize = 61;
/// Seconds at the ends of passes without candidates.
const ENDS: f64 = 8.0;
/// Speeds of candidates, as parts of the median.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.6..=1.6;
/// Pairs are at most this many swath widths apart and run in opposite directions.
const REACH: f64 = 4.2;
const OPPOSITE: f64 = -0.8;
/// Swath widths within which direct neighbours are.
const NEAR: f64 = 1.5;
/// At most about this many candidates look for partners, evenly thinned.
const MOST_CANDIDATES: usize = 8_000;
/// An estimate needs this many pairs and this contrast.
const LEAST_PAIRS: usize = 200;
const LEAST_CONTRAST: f64 = 0.08;
/// Seconds by which the halves may differ, if no interval is longer.
const HALVES: f64 = 1.5;
/// Scores on each side of the minimum that the parabola is fitted to.
const FITTED: usize = 2;
/// Values below this part of the usual one are those of an idle machine, and take no part.
const IDLE: f64 = 0.25;
/// Differences of logarithms count up to this.
const MOST_DIFFERENCE: f64 = 1.0;
/// Weights of the rows around a row, for the search only. Without them, interpolated shifts would be smoother than whole
/// ones and win or lose for that.
const SMOOTH: [f64; 5] = [1.0, 2.0, 3.0, 2.0, 1.0];

/// The delay of a sensor of one machine.
#[derive(Clone, Debug)]
pub struct Delay {
    /// Seconds; `None` if there is no estimate.
    pub seconds: Option<f64>,
    /// Shifts and scores.
    pub curve: Vec<(f64, f64)>,
    /// Number of pairs of rows that were compared.
    pub pairs: usize,
    /// (median - minimum) / median of the curve.
    pub contrast: f64,
    /// Estimates from passes with even and with odd numbers.
    pub halves: [f64; 2],
    /// Why there is no estimate.
    pub reason: Option<String>,
    /// Whether it was looked for, rather than given.
    pub is_estimated: bool,
}

/// Rows whose sensors are compared.
#[derive(Clone, Copy)]
pub(crate) struct Sensor<'a> {
    pub(crate) rows: &'a TrackRows,
    /// Number of the pass, 0 outside of passes.
    pub(crate) pass: &'a [i32],
    /// Rows that take no part.
    pub(crate) is_bad: &'a [bool],
    /// Middle of the ground of each row in metres.
    pub(crate) location: (&'a [f64], &'a [f64]),
}

/// Estimates the delay of the machines that `is_own` selects from their flow in the order of the tracks.
pub(crate) fn estimate(sensor: &Sensor<'_>, is_own: impl Fn(u32) -> bool, values: &[f64]) -> Delay {
    let Sensor { rows, pass: passes, is_bad, location } = *sensor;
    let candidates = candidates(rows, passes, is_bad, is_own, values);
    let pairs = pairs(rows, passes, &candidates, location);
    if pairs.len() < LEAST_PAIRS {
        return Delay::refused(
            pairs.len(),
            format!(
                "{} pairs of rows in neighbouring passes of opposite directions; {LEAST_PAIRS} are needed",
                pairs.len()
            ),
        );
    }
    let mut smooth = smoothed(rows, &without_outliers(rows, values));
    let usual = median(candidates.iter().map(|k| smooth[*k]).collect());
    smooth.iter_mut().filter(|value| **value < IDLE * usual).for_each(|value| *value = f64::NAN);
    let pairs_compared = pairs.len();
    let [even, odd] = differences(rows, passes, &smooth, &pairs);
    let both = even.plus(&odd);
    let curve = both.curve();
    let Some((least, seconds)) = vertex(&curve) else {
        let reason = "no shift has two values above 0 to compare: the sensor logged nothing, or the same everywhere";
        return Delay::refused(pairs_compared, reason.to_owned());
    };
    let halves = [even, odd].map(|half| vertex(&half.curve()).map_or(f64::NAN, |(_, seconds)| seconds));
    // Where only rows at random differ less by a shift, which has rows of the middle of passes alone, there is no pattern.
    let near: Vec<f64> = (0..SHIFTS).map(|shift| mean(&both.near, shift)).collect();
    let depth = contrast(&curve, least).min(contrast(&near, least));
    let contrast = contrast(&curve, least);
    let interval = median(candidates.iter().map(|k| rows.interval[*k]).collect());
    let apart = [halves[0] - halves[1], halves[0] - seconds, halves[1] - seconds].map(f64::abs);
    let apart = if apart.iter().any(|apart| apart.is_nan()) { f64::NAN } else { apart.into_iter().fold(0.0, f64::max) };
    let reason = if depth.is_nan() || depth < LEAST_CONTRAST {
        Some(format!(
            "the curve, or that of neighbours alone, has a contrast of {depth:.3}; {LEAST_CONTRAST} is needed: no pattern"
        ))
    } else if least == 0 || least == SHIFTS - 1 {
        Some(format!("the best shift, {} s, is at the end of the range", shift(least)))
    } else if apart.is_nan() || apart > HALVES.max(interval) {
        let [even, odd] = halves;
        Some(format!("even and odd passes disagree: {even:.1} s and {odd:.1} s, together {seconds:.1} s"))
    } else {
        None
    };
    Delay {
        seconds: reason.is_none().then_some(seconds),
        curve: curve.iter().enumerate().map(|(index, score)| (shift(index), *score)).collect(),
        pairs: pairs_compared,
        contrast,
        halves,
        is_estimated: true,
        reason,
    }
}

impl Delay {
    /// A delay that is given, without a curve.
    pub(crate) fn given(seconds: Option<f64>) -> Self {
        let reason = seconds.is_none().then(|| "no shift was asked for".to_owned());
        Self { is_estimated: false, seconds, reason, ..Self::refused(0, String::new()) }
    }

    pub(crate) fn refused(pairs: usize, reason: String) -> Self {
        Self {
            seconds: None,
            curve: Vec::new(),
            pairs,
            contrast: f64::NAN,
            halves: [f64::NAN; 2],
            is_estimated: true,
            reason: Some(reason),
        }
    }
}

fn shift(index: usize) -> f64 {
    FIRST + STEP * index as f64
}

/// Rows in a pass, away from its ends, at a usual speed.
fn candidates(
    rows: &TrackRows,
    passes: &[i32],
    is_bad: &[bool],
    is_own: impl Fn(u32) -> bool,
    values: &[f64],
) -> Vec<usize> {
    let inside: Vec<usize> = (0..rows.len())
        .filter(|k| is_own(rows.machine[*k]) && passes[*k] > 0 && !is_bad[*k] && values[*k].is_finite())
        .collect();
    let usual = median(inside.iter().map(|k| rows.speed(*k)).collect());
    let ends = ends_of_passes(rows, passes);
    inside
        .into_iter()
        .filter(|k| {
            let (first, last) = ends[*k];
            rows.time[*k] - first > ENDS && last - rows.time[*k] > ENDS && SPEEDS.contains(&(rows.speed(*k) / usual))
        })
        .collect()
}

/// First and last time of the pass of each row in its track; not a number outside of passes.
pub(crate) fn ends_of_passes(rows: &TrackRows, passes: &[i32]) -> Vec<(f64, f64)> {
    let mut ends = vec![(f64::NAN, f64::NAN); rows.len()];
    for track in &rows.tracks {
        for run in pass_runs(track, passes) {
            let pair = (rows.time[run.start], rows.time[run.end - 1]);
            ends[run].fill(pair);
        }
    }
    ends
}

/// Each candidate, evenly thinned, with the nearest candidates of other passes in the opposite direction to its left and
/// to its right.
fn pairs(rows: &TrackRows, passes: &[i32], candidates: &[usize], (xs, ys): (&[f64], &[f64])) -> Vec<(usize, usize)> {
    let reach = REACH * median(candidates.iter().map(|k| rows.width[*k]).collect());
    if reach.is_nan() || reach <= 0.0 {
        return Vec::new();
    }
    let at = |column: &[f64]| candidates.iter().map(|k| column[*k]).collect::<Vec<f64>>();
    let (px, py) = (at(xs), at(ys));
    let points = Neighbours::new(&px, &py, reach / 3.0);
    let stride = candidates.len().div_ceil(MOST_CANDIDATES).max(1);
    let mut near = Vec::new();
    let mut pairs = Vec::new();
    for i in (0..candidates.len()).step_by(stride) {
        let a = candidates[i];
        let (north, east) = rows.heading[a].sin_cos();
        let mut best = [(f64::INFINITY, usize::MAX); 2];
        // The neighbours on both sides are mostly direct ones.
        for radius in [NEAR / REACH * reach, reach] {
            points.within(px[i], py[i], radius, &mut near);
            for j in near.iter().map(|j| *j as usize) {
                let (b, dx, dy) = (candidates[j], px[j] - px[i], py[j] - py[i]);
                let side = usize::from(east * dy - north * dx > 0.0);
                let distance = (dx * dx + dy * dy, b);
                let is_opposite = || (rows.heading[a] - rows.heading[b]).cos() < OPPOSITE;
                if distance < best[side] && passes[a] != passes[b] && is_opposite() {
                    best[side] = distance;
                }
            }
            if best.iter().all(|best| best.1 != usize::MAX) {
                break;
            }
        }
        pairs.extend(best.iter().filter(|best| best.1 != usize::MAX).map(|best| (a, best.1)));
    }
    pairs
}

/// Values smoothed over successive rows of a track; null values take no part.
fn smoothed(rows: &TrackRows, values: &[f64]) -> Vec<f64> {
    let mut smooth = vec![f64::NAN; values.len()];
    for track in &rows.tracks {
        for k in track.clone() {
            let (mut sum, mut weights) = (0.0, 0.0);
            for (offset, weight) in (-2_isize..=2).zip(SMOOTH) {
                let Some(other) = k.checked_add_signed(offset).filter(|other| track.contains(other)) else { continue };
                if values[other].is_finite() {
                    sum += weight * values[other];
                    weights += weight;
                }
            }
            smooth[k] = sum / weights;
        }
    }
    smooth
}

/// Logarithms of the value that each shift gives a row.
fn shifted_logs(rows: &TrackRows, values: &[f64], k: usize) -> [f64; SHIFTS] {
    let track = &rows.tracks[rows.track[k] as usize];
    let times = &rows.time[track.clone()];
    let ground = rows.speed(k) * rows.width[k];
    let mut after = track.start + times.partition_point(|time| *time < rows.time[k] + FIRST);
    std::array::from_fn(|index| {
        let time = rows.time[k] + shift(index);
        while after < track.end && rows.time[after] < time {
            after += 1;
        }
        let value = interpolate(rows, track, values, after, time);
        (value / ground).ln()
    })
}

/// Sums of differences at each shift, of neighbouring rows and of the same rows paired at random.
#[derive(Clone)]
struct Differences {
    near: [[f64; SHIFTS]; 2],
    random: [[f64; SHIFTS]; 2],
}

impl Differences {
    const ZERO: Self = Self { near: [[0.0; SHIFTS]; 2], random: [[0.0; SHIFTS]; 2] };

    fn plus(&self, other: &Self) -> Self {
        let add = |one: &[[f64; SHIFTS]; 2], other: &[[f64; SHIFTS]; 2]| {
            std::array::from_fn(|part| std::array::from_fn(|shift| one[part][shift] + other[part][shift]))
        };
        Self { near: add(&self.near, &other.near), random: add(&self.random, &other.random) }
    }

    /// Mean difference of neighbouring rows at each shift, as a part of that of rows at random.
    fn curve(&self) -> Vec<f64> {
        (0..SHIFTS).map(|shift| mean(&self.near, shift) / mean(&self.random, shift)).collect()
    }
}

/// How far the best shift is below the others.
fn contrast(curve: &[f64], least: usize) -> f64 {
    let middle = median(curve.to_vec());
    (middle - curve[least]) / middle
}

/// Mean difference at a shift.
fn mean([sums, counts]: &[[f64; SHIFTS]; 2], shift: usize) -> f64 {
    sums[shift] / counts[shift]
}

/// Adds the differences of two rows: sums in the first array, counts in the second.
fn add_differences(one: &[f64; SHIFTS], other: &[f64; SHIFTS], [sums, counts]: &mut [[f64; SHIFTS]; 2]) {
    for (((one, other), sum), count) in one.iter().zip(other).zip(sums).zip(counts) {
        let difference = (one - other).abs();
        if difference.is_finite() {
            *sum += difference.min(MOST_DIFFERENCE);
            *count += 1.0;
        }
    }
}

/// Differences of the pairs whose first row is in a pass with an even and with an odd number.
fn differences(rows: &TrackRows, passes: &[i32], values: &[f64], pairs: &[(usize, usize)]) -> [Differences; 2] {
    let mut used: Vec<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    used.sort_unstable();
    used.dedup();
    let logs: Vec<[f64; SHIFTS]> = used.iter().map(|k| shifted_logs(rows, values, *k)).collect();
    let logs_of = |k: usize| used.binary_search(&k).ok().map(|index| &logs[index]);
    let mut halves = [Differences::ZERO, Differences::ZERO];
    // The golden section of the list: half of it away, a header of two sections has the same place in the other section.
    let away = pairs.len().saturating_mul(618) / 1_000;
    for (index, (a, b)) in pairs.iter().enumerate() {
        let random = pairs[(index + away) % pairs.len()].1;
        let (Some(one), Some(near), Some(random)) = (logs_of(*a), logs_of(*b), logs_of(random)) else { continue };
        let half = &mut halves[usize::from(passes[*a] % 2 != 0)];
        add_differences(one, near, &mut half.near);
        add_differences(one, random, &mut half.random);
    }
    halves
}

/// Index of the minimum of a curve, and the shift of the vertex of the parabola through the scores around it.
fn vertex(curve: &[f64]) -> Option<(usize, f64)> {
    let finite = curve.iter().enumerate().filter(|(_, score)| score.is_finite());
    let (least, low) = finite.min_by(|a, b| a.1.total_cmp(b.1)).map(|(index, score)| (index, *score))?;
    let reach = FITTED.min(least).min(curve.len() - 1 - least);
    let (mut count, mut squares, mut fourths) = (0.0, 0.0, 0.0);
    let (mut sum, mut slope, mut bend) = (0.0, 0.0, 0.0);
    for (steps, score) in curve[least - reach..=least + reach].iter().enumerate() {
        let (x, y) = (steps as f64 - reach as f64, score - low);
        count += 1.0;
        squares += x * x;
        fourths += x.powi(4);
        sum += y;
        slope += x * y;
        bend += x * x * y;
    }
    let curvature = (count * bend - squares * sum) / (count * fourths - squares * squares);
    let offset = if reach > 0 && curvature > 0.0 { -slope / squares / (2.0 * curvature) } else { 0.0 };
    Some((least, shift(least) + STEP * offset.clamp(-(reach as f64), reach as f64)))
}
