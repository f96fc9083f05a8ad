//! Tests whether the steps between rows are those of a log: along tracks, and as long as their distances.

use std::ops::Range;

use crate::columns::row_ratios::median;
use crate::rows::calibration::distance_ratio;
use crate::rows::logged_rows::{LoggedRows, SAME_LOCATION};

/// Steps longer than this many distances miss rows, or are no steps.
pub(crate) const LONG_STEP: f64 = 1.5;
/// Cosine of the turn between two steps in one direction.
const STRAIGHT: f64 = 0.9;
/// Of all steps, those that fit the order of a log at least. At random, one in seven continues in the direction before.
const LEAST_FIT: f64 = 0.6;
/// Of all steps, those over missing rows at most; healthy logs have 0.06.
const MOST_MISSING: f64 = 0.15;
/// Of the way, what is missing at most: a few long gaps.
const MOST_MISSING_WAY: f64 = 0.25;
/// Metres of distances for a metre of steps along the track, at most.
const MOST_DISTANCE: f64 = 1.12;
/// Of all steps, those that are longer than their distances where one of both has another unit.
const NEARLY_ALL: f64 = 0.9;
/// Different distances of most rows, of which more are no rough ones.
const FEW_DISTANCES: usize = 3;
/// Part by which rough distances differ from the steps in the median: more than positions wander in a second.
const ROUGH: f64 = 0.05;
/// Of how many rows of a log one was kept, and the part by which the ratio of steps to distances may differ from that.
const THINNED: std::ops::RangeInclusive<f64> = 2.0..=20.0;
const WHOLE: f64 = 0.03;
/// Steps that a test needs.
pub(crate) const LEAST_STEPS: usize = 30;

/// How the steps between positions fit the order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fit {
    /// Steps that were tested.
    pub(crate) steps: usize,
    /// Of them, those that go on along the track.
    pub(crate) fitting: usize,
    /// Of them, those that go on along the track, but over more than their distance.
    pub(crate) missing: usize,
    /// Of them, those along the track over much less than their distance.
    pub(crate) short: usize,
    /// Metres of the steps along the track, and of their distances.
    along: [f64; 2],
    /// Metres of all distances, and of the steps along the track beyond their distances.
    way: f64,
    missing_way: f64,
    /// Whether the distance of a row is that of the step after it.
    pub(crate) is_ahead: bool,
    /// Whether the distances are too rough to be those of the steps.
    pub(crate) is_rough: bool,
    /// The distances as a part of the steps, if that is one ratio that is not 1.
    pub(crate) ratio: Option<f64>,
    /// Whether the positions have the scale of the ground.
    is_geographic: bool,
    /// Of how many rows of a log one is there, if the steps are as many times as long as the distances.
    pub(crate) thinned: Option<f64>,
}

impl Fit {
    /// Counts a step with the distance that is logged for it.
    fn add(&mut self, length: f64, distance: Option<f64>, is_straight: bool) {
        let is_short = distance.is_some_and(|distance| length <= LONG_STEP * distance.max(0.2));
        self.steps += 1;
        self.fitting += usize::from(is_short || is_straight);
        if let Some(distance) = distance {
            self.way += distance;
            if is_straight {
                self.along[0] += length;
                self.along[1] += distance;
            }
            if !is_short && is_straight {
                self.missing += 1;
                self.missing_way += length - distance;
            }
        }
        self.short += usize::from(is_straight && distance.is_some_and(|distance| distance > LONG_STEP * length));
    }

    /// Whether the rows are in no order of a log.
    pub(crate) fn is_random(self) -> bool {
        self.steps >= LEAST_STEPS && as_f64(self.fitting) < LEAST_FIT * as_f64(self.steps)
    }

    /// Whether the rows are in the order of a log, and none are missing.
    pub(crate) fn is_whole(self) -> bool {
        !self.is_random() && self.ratio.is_none() && self.missing_shares().is_none()
    }

    /// Whether the steps along the track are shorter than the distances, which have another unit or are no distances then.
    pub(crate) fn is_short(self) -> bool {
        let [steps, distances] = self.along;
        self.steps >= LEAST_STEPS && (2 * self.short > self.steps || distances > MOST_DISTANCE * steps)
    }

    /// Whether the steps between positions are used in place of the distances.
    pub(crate) fn uses_steps(self) -> bool {
        let is_proven = self.is_geographic || self.thinned.is_some();
        self.is_rough || self.is_short() || (self.ratio.is_some() && is_proven)
    }

    /// Whether nearly all steps are much longer than their distances.
    pub(crate) fn is_long(self) -> bool {
        as_f64(self.missing) > NEARLY_ALL * as_f64(self.steps)
    }

    /// Of the steps, those over missing rows, and of the way, what they are over, if they are too many.
    pub(crate) fn missing_shares(self) -> Option<[f64; 2]> {
        let share = as_f64(self.missing) / as_f64(self.steps);
        let of_way = self.missing_way / (self.way + self.missing_way).max(f64::MIN_POSITIVE);
        let is_missing =
            self.ratio.is_none() && self.steps >= LEAST_STEPS && (share > MOST_MISSING || of_way > MOST_MISSING_WAY);
        is_missing.then_some([share, of_way])
    }
}

#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
pub(crate) fn as_f64(count: usize) -> f64 {
    count as f64
}

/// Tests the steps along the tracks: each is no longer than its distance, or continues in the direction of the step before. Some
/// displays log the position at the start of a row, whose distance is that of the step after it.
pub(crate) fn fit(logged: &LoggedRows<'_>, row: &[usize], tracks: &[Range<usize>]) -> Fit {
    let is_rough = is_rough(logged, row, tracks);
    let distances = if is_rough { &[] } else { logged.distance };
    let is_geographic = logged.is_geographic;
    let mut fits = [false, true].map(|is_ahead| Fit { is_ahead, is_rough, is_geographic, ..Fit::default() });
    for track in tracks {
        let rows = &row[track.clone()];
        let mut before = (0.0, 0.0, 0.0);
        for pair in rows.windows(2) {
            let (east, north) = (logged.x[pair[1]] - logged.x[pair[0]], logged.y[pair[1]] - logged.y[pair[0]]);
            let length = east.hypot(north);
            if length.is_nan() || length < SAME_LOCATION {
                continue;
            }
            let is_straight = (east * before.0 + north * before.1) / (length * before.2) > STRAIGHT;
            for (fit, own) in fits.iter_mut().zip([pair[1], pair[0]]) {
                fit.add(length, distances.get(own).copied().filter(|own| *own > 0.0), is_straight);
            }
            before = (east, north, length);
        }
    }
    let [behind, ahead] = fits;
    let found = if ahead.missing * 2 < behind.missing { ahead } else { behind };
    let ratio = if is_rough { None } else { distance_ratio(logged, row, tracks, found.is_ahead) };
    let is_whole = |times: &f64| THINNED.contains(&times.round()) && (times / times.round() - 1.0).abs() < WHOLE;
    let thinned = ratio.map(f64::recip).filter(|times| logged.time.is_some() && is_whole(times)).map(f64::round);
    Fit { ratio, thinned, ..found }
}

/// Whether the distances are in whole metres or constant, so that they miss the steps between positions.
fn is_rough(logged: &LoggedRows<'_>, row: &[usize], tracks: &[Range<usize>]) -> bool {
    let mut known: Vec<f64> = logged.distance.iter().copied().filter(|metres| *metres > 0.0).collect();
    let count = known.len();
    if count < LEAST_STEPS {
        return false;
    }
    // The lowest and the highest tenth are not among most.
    known.select_nth_unstable_by(count / 10, f64::total_cmp);
    let above = &mut known[count / 10..];
    let most = count - 2 * (count / 10);
    if most < above.len() {
        above.select_nth_unstable_by(most, f64::total_cmp);
    }
    let mut different: Vec<u64> = Vec::new();
    for metres in &above[..most] {
        if !different.contains(&metres.to_bits()) {
            different.push(metres.to_bits());
        }
        if different.len() > FEW_DISTANCES {
            return false;
        }
    }
    let steps = tracks.iter().flat_map(|track| row[track.clone()].windows(2));
    let differences = steps.filter_map(|pair| {
        let step = (logged.x[pair[1]] - logged.x[pair[0]]).hypot(logged.y[pair[1]] - logged.y[pair[0]]);
        let own = logged.distance.get(pair[1]).copied().filter(|own| *own > 0.0 && step > SAME_LOCATION)?;
        (step < LONG_STEP * LONG_STEP * own).then(|| (own / step).ln().abs())
    });
    median(differences.collect()) > ROUGH
}
