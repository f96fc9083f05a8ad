//! Gaps and overlaps between neighbouring passes, which show how far positions wander, and the edges that passes share.
//!
//! A combine leaves no strip of crop between two passes. Where a job has both gaps and overlaps of neighbouring passes, its
//! positions are wrong by as much: passes that are about a width apart meet in the middle between their tracks.

use crate::columns::row_ratios::median;
use crate::rows::lengths::usual_width;
use crate::rows::neighbours::Neighbours;
use crate::rows::track_rows::TrackRows;

/// At most about this many rows look for the pass next to them, to measure gaps and overlaps.
const MOST_ROWS: usize = 4_000;
/// Cosine of the difference of the directions of passes that are parallel.
const PARALLEL: f64 = 0.97;
/// Metres of gaps on average, above which positions wander: more than with corrections by radio.
const LEAST_GAP: f64 = 0.05;
/// Of the overlaps, the gaps that an error of positions leaves at least. With fewer, a driver overlaps on purpose.
const LEAST_BALANCE: f64 = 0.25;
/// Of the width, the largest gap or overlap that an error of positions explains.
const LARGEST_WANDER: f64 = 0.15;
/// Metres along the track in which rows of the next pass are looked for, also if the distance of a row is wrong.
const LONGEST_STEP: f64 = 30.0;

/// Mean overlap and mean gap between neighbouring passes, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PassGaps {
    pub(crate) overlap: f64,
    pub(crate) gap: f64,
}

impl PassGaps {
    /// Whether positions wander.
    pub(crate) fn is_wandering(self) -> bool {
        self.overlap.min(self.gap) > LEAST_GAP && self.gap > LEAST_BALANCE * self.overlap
    }
}

/// Rows of full width in passes, and where the passes next to them are.
pub(crate) struct PassEdges<'a> {
    rows: &'a TrackRows,
    pass: &'a [i32],
    inside: Vec<usize>,
    xs: Vec<f64>,
    ys: Vec<f64>,
    points: Neighbours,
    width: f64,
}

impl<'a> PassEdges<'a> {
    /// `None` without a width. `location` is the middle of the ground of each row.
    pub(crate) fn new(
        rows: &'a TrackRows,
        pass: &'a [i32],
        excluded: &[bool],
        location: (&[f64], &[f64]),
    ) -> Option<Self> {
        let is_inside = |k: &usize| pass[*k] > 0 && !excluded[*k];
        let width = median((0..rows.len()).filter(is_inside).map(|k| rows.width[k]).collect());
        let is_usual = |k: &usize| is_inside(k) && (rows.width[*k] / width - 1.0).abs() < 0.01;
        let inside: Vec<usize> = (0..rows.len()).filter(is_usual).collect();
        let at = |column: &[f64]| inside.iter().map(|k| column[*k]).collect::<Vec<f64>>();
        let (xs, ys) = (at(location.0), at(location.1));
        let points = Neighbours::new(&xs, &ys, width);
        (width > 0.0).then_some(Self { rows, pass, inside, xs, ys, points, width })
    }

    /// Gaps and overlaps, and where positions of a harvest wander, metres by which each row works more than half its width
    /// to the left and to the right.
    pub(crate) fn shared(&self, is_harvest: bool) -> (PassGaps, Vec<[f64; 2]>) {
        let gaps = self.gaps();
        (gaps, if is_harvest && gaps.is_wandering() { self.extra() } else { Vec::new() })
    }

    /// Measures gaps and overlaps on both sides of some rows.
    fn gaps(&self) -> PassGaps {
        let (mut near, mut sums, mut count) = (Vec::new(), PassGaps::default(), 0.0);
        for i in (0..self.inside.len()).step_by(self.inside.len().div_ceil(MOST_ROWS).max(1)) {
            for across in self.across(i, &mut near).into_iter().flatten() {
                sums.overlap += (self.width - across).max(0.0);
                sums.gap += (across - self.width).max(0.0);
                count += 1.0;
            }
        }
        if count > 0.0 { PassGaps { overlap: sums.overlap / count, gap: sums.gap / count } } else { sums }
    }

    /// Half of the gap or overlap on both sides, in metres; overlaps are below 0.
    fn extra(&self) -> Vec<[f64; 2]> {
        let mut extra = vec![[0.0; 2]; self.rows.len()];
        let mut near = Vec::new();
        for (i, k) in self.inside.iter().enumerate() {
            extra[*k] =
                self.across(i, &mut near).map(|across| across.map_or(0.0, |across| 0.5 * (across - self.width)));
        }
        extra
    }

    /// Metres to the track of the next pass on the left and on the right of a row, level with it. `None` without a pass that
    /// is about a width apart, or with one that overlaps more.
    fn across(&self, i: usize, near: &mut Vec<u32>) -> [Option<f64>; 2] {
        let (rows, a) = (self.rows, self.inside[i]);
        let (north, east) = rows.heading[a].sin_cos();
        let longest = (1.5 * rows.distance[a]).min(LONGEST_STEP);
        let (least, most) = ((1.0 - LARGEST_WANDER) * self.width, (1.0 + LARGEST_WANDER) * self.width);
        self.points.within(self.xs[i], self.ys[i], most.hypot(longest), near);
        // The nearest rows behind and ahead, by side: metres along and across.
        let mut found = [[None::<(f64, f64)>; 2]; 2];
        let mut is_overlapped = [false; 2];
        for j in near.iter().map(|j| *j as usize) {
            let (dx, dy) = (self.xs[j] - self.xs[i], self.ys[j] - self.ys[i]);
            let (along, across) = (dx * east + dy * north, east * dy - north * dx);
            let b = self.inside[j];
            let is_parallel = || (rows.heading[a] - rows.heading[b]).cos().abs() > PARALLEL;
            if self.pass[b] == self.pass[a] || along.abs() > longest || across.abs() > most || !is_parallel() {
                continue;
            }
            let side = usize::from(across < 0.0);
            if across.abs() < least {
                is_overlapped[side] = true;
                continue;
            }
            let nearest = &mut found[side][usize::from(along > 0.0)];
            if nearest.is_none_or(|(other, _)| along.abs() < other.abs()) {
                *nearest = Some((along, across.abs()));
            }
        }
        std::array::from_fn(|side| match found[side] {
            _ if is_overlapped[side] => None,
            [Some((behind, one)), Some((ahead, other))] => Some(one + (other - one) * behind / (behind - ahead)),
            [one, other] => one.or(other).map(|(_, across)| across),
        })
    }
}

/// The width, as a part of the distances to the next parallel track, that agrees with it. Drivers overlap, but leave no strip.
pub(crate) const WIDTHS: std::ops::RangeInclusive<f64> = 0.95..=1.25;
/// The same of a stretch of the job, in which passes may be left out.
const STRETCH_WIDTHS: std::ops::RangeInclusive<f64> = 0.75..=1.25;
/// Stretches of the job whose distances are compared apart.
const STRETCHES: usize = 4;
/// Tracks that a comparison of widths needs to find next to rows.
const LEAST_FOUND: usize = 30;
/// Of the width, what a track is away at least: nearer ones overlap on purpose.
const NEAREST: f64 = 0.2;
/// Widths in which the next track is looked for.
const FURTHEST: f64 = 4.0;
/// Metres in which it is looked for where few rows have one within these widths: more than machines are wide. Tracks that are
/// as far apart show the width if most rows have one, and if they are about equally far.
const FAR: f64 = 60.0;
const EQUALLY: f64 = 1.5;

/// The usual width of the machine, all sections of a moment together, and the first decile of the distances to the next
/// parallel track, of a stretch in which nearly all contradict the width if there is one. `None` if few rows have one.
pub(crate) fn track_distance(
    rows: &TrackRows,
    pass: &[i32],
    excluded: &[bool],
    is_harvest: bool,
) -> Option<(f64, f64)> {
    let is_inside = |k: usize| pass[k] > 0 && !excluded[k] && rows.width[k] > 0.0 && rows.x[k].is_finite();
    // One location for each moment: the middle of its rows.
    let mut centres: Vec<(f64, f64, usize, f64)> = Vec::new();
    rows.visit_moments(|moment| {
        let (mut x, mut y, mut width, mut count) = (0.0, 0.0, 0.0, 0.0);
        let inside = || moment.iter().copied().filter(|k| is_inside(*k));
        for k in inside().filter(|k| !rows.is_mixed_in(*k)) {
            (x, y, width, count) = (x + rows.x[k], y + rows.y[k], width + rows.width[k], count + 1.0);
        }
        centres.extend(inside().next().map(|k| (x / count, y / count, k, width)));
    });
    let width = usual_width(centres.iter().map(|centre| centre.3));
    centres.retain(|centre| centre.3 > 0.95 * width);
    let xs: Vec<f64> = centres.iter().map(|centre| centre.0).collect();
    let ys: Vec<f64> = centres.iter().map(|centre| centre.1).collect();
    let step = centres.len().div_ceil(MOST_ROWS).max(1);
    let next_tracks = |reach: f64| {
        let points = Neighbours::new(&xs, &ys, reach / FURTHEST);
        let (mut near, mut found) = (Vec::new(), Vec::new());
        for (x, y, k, _) in centres.iter().step_by(step) {
            let (north, east) = rows.heading[*k].sin_cos();
            let longest = (1.5 * rows.distance[*k]).min(LONGEST_STEP);
            points.within(*x, *y, reach.hypot(longest), &mut near);
            let across = near.iter().filter_map(|j| {
                let (other_x, other_y, b, _) = centres[*j as usize];
                let (dx, dy) = (other_x - x, other_y - y);
                let (along, across) = (dx * east + dy * north, (east * dy - north * dx).abs());
                let is_parallel = || (rows.heading[*k] - rows.heading[b]).cos().abs() > PARALLEL;
                let is_beside = pass[b] != pass[*k] && along.abs() <= longest && across > NEAREST * width;
                (is_beside && is_parallel()).then_some(across)
            });
            found.extend(across.min_by(f64::total_cmp));
        }
        found
    };
    let found = next_tracks(FURTHEST * width);
    let sampled = centres.len().div_ceil(step);
    if found.len() < LEAST_FOUND.max(sampled / 4) && FURTHEST * width < FAR {
        let far = next_tracks(FAR);
        let is_most = far.len() >= LEAST_FOUND && 2 * far.len() > sampled;
        let tenths = is_most.then(|| [1, 5].map(|tenth| decile(far.clone(), tenth)));
        if let Some([low, middle]) = tenths.filter(|[low, middle]| middle / low < EQUALLY) {
            return Some((width, f64::midpoint(low, middle)));
        }
    }
    if found.len() < LEAST_FOUND {
        return None;
    }
    // Another header can have been mounted on the way, whose width the display does not know. Other machines skip passes.
    let stretch = found.chunks(found.len().div_ceil(STRETCHES));
    let stretch = stretch.filter(|stretch| is_harvest && stretch.len() >= LEAST_FOUND);
    let [nearer, farther] = [*STRETCH_WIDTHS.end(), *STRETCH_WIDTHS.start()].map(|ratio| width / ratio);
    let is_other = |[low, high]: &[f64; 2]| *low > farther || *high < nearer;
    let other = stretch.map(|stretch| [1, 9].map(|tenth| decile(stretch.to_vec(), tenth))).find(is_other);
    let usual = decile(found, 1);
    let apart = other.filter(|_| WIDTHS.contains(&(width / usual))).map_or(usual, |[low, _]| low);
    Some((width, apart))
}

fn decile(mut values: Vec<f64>, tenth: usize) -> f64 {
    let index = values.len().saturating_mul(tenth) / 10;
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}
