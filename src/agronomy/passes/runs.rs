//! Passes: runs of rows in which the machine works and does not turn.

use std::ops::Range;

use crate::columns::derived::GAP;
use crate::rows::shifted_values::first_after;
use crate::rows::track_rows::{TrackRows, turn};

/// A pass has at least this many rows, or lasts as many seconds.
pub(crate) const LEAST_ROWS: usize = 10;
const LEAST_SECONDS: f64 = 15.0;
/// Seconds before and after a row between which the heading may change by less than a turn.
const WINDOW: f64 = 3.0;
/// And at least this many intervals.
const WINDOW_ROWS: f64 = 1.5;
/// With a logged working state, it suffices that the heading changes by less than this many turns within a wider window.
const WIDE_WINDOW: f64 = 6.0;
const WIDE_TURN: f64 = 1.6;

/// What makes a pass.
#[derive(Clone, Copy)]
pub(crate) enum PassRule {
    /// Straight rows of a combine: a heading that changes by as many degrees within 6 s is a turn.
    Straight(f64),
    /// All rows that work: sprayers and planters work in bends.
    Working,
}

/// Number of the pass of each row, from 1; 0 outside of passes. Sections of a machine share their passes.
pub(crate) fn find_passes(rows: &TrackRows, rule: PassRule) -> Vec<i32> {
    let mut passes = vec![0; rows.len()];
    let mut next = 1;
    for machine in rows.machine_positions() {
        let fixes = Fixes::new(rows, machine);
        let numbers = match rule {
            PassRule::Straight(degrees) => fixes.straight_passes(&mut next, degrees.to_radians()),
            PassRule::Working => fixes.working_passes(&mut next),
        };
        for (k, fix) in fixes.of_row {
            let is_working = rows.working.as_ref().is_none_or(|working| working[k]);
            passes[k] = if is_working { numbers[fix] } else { 0 };
        }
    }
    passes
}

/// Rows of each pass in a track.
pub(crate) fn pass_runs(track: &Range<usize>, passes: &[i32]) -> Vec<Range<usize>> {
    runs(track.clone(), |k| passes[k] > 0, |k| passes[k] == passes[k - 1])
}

/// Runs of successive indices of `range` that `is_in` accepts and that are linked to the index before.
pub(crate) fn runs(
    range: Range<usize>,
    is_in: impl Fn(usize) -> bool,
    is_linked: impl Fn(usize) -> bool,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for k in range {
        if !is_in(k) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == k && is_linked(k) => last.end = k + 1,
            _ => found.push(k..k + 1),
        }
    }
    found
}

/// Locations of a machine in order of time: rows of one time are one fix.
struct Fixes {
    time: Vec<f64>,
    heading: Vec<f64>,
    interval: Vec<f64>,
    is_working: Option<Vec<bool>>,
    /// Row and its fix.
    of_row: Vec<(usize, usize)>,
}

impl Fixes {
    fn new(rows: &TrackRows, machine: u32) -> Self {
        let mut order: Vec<usize> = (0..rows.len()).filter(|k| rows.machine[*k] == machine).collect();
        order.sort_unstable_by(|a, b| rows.time[*a].total_cmp(&rows.time[*b]).then(a.cmp(b)));
        let mut fixes = Self {
            time: Vec::new(),
            heading: Vec::new(),
            interval: Vec::new(),
            is_working: rows.working.as_ref().map(|_| Vec::new()),
            of_row: Vec::with_capacity(order.len()),
        };
        let (mut east, mut north) = (0.0, 0.0);
        for k in order {
            // Rows without a time are fixes of their own.
            if fixes.time.last().is_none_or(|time| time.total_cmp(&rows.time[k]).is_ne()) {
                fixes.time.push(rows.time[k]);
                fixes.heading.push(f64::NAN);
                fixes.interval.push(rows.interval[k]);
                if let Some(working) = &mut fixes.is_working {
                    working.push(false);
                }
                (east, north) = (0.0, 0.0);
            }
            let fix = fixes.time.len() - 1;
            if rows.heading[k].is_finite() {
                (east, north) = (east + rows.heading[k].cos(), north + rows.heading[k].sin());
                fixes.heading[fix] = north.atan2(east);
            }
            if let (Some(fixes), Some(rows)) = (&mut fixes.is_working, &rows.working) {
                fixes[fix] |= rows[k];
            }
            fixes.of_row.push((k, fix));
        }
        fixes
    }

    fn is_working(&self, fix: usize) -> bool {
        self.is_working.as_ref().is_none_or(|working| working[fix])
    }

    /// Whether a fix follows the one before without a gap.
    fn follows(&self, fix: usize) -> bool {
        self.time[fix] - self.time[fix - 1] <= GAP * self.interval[fix].max(0.1)
    }

    /// Numbers of the passes: runs of working fixes.
    fn working_passes(&self, next: &mut i32) -> Vec<i32> {
        let mut numbers = vec![0; self.time.len()];
        for run in runs(0..self.time.len(), |fix| self.is_working(fix), |fix| self.follows(fix)) {
            numbers[run].fill(*next);
            *next += 1;
        }
        numbers
    }

    /// Numbers of the passes: runs of working fixes that are no turn, if they are long enough.
    fn straight_passes(&self, next: &mut i32, largest: f64) -> Vec<i32> {
        let count = self.time.len();
        let mut is_straight = vec![false; count];
        for run in runs(0..count, |fix| self.is_working(fix), |fix| self.follows(fix)) {
            for fix in run.clone() {
                is_straight[fix] = self.change(&run, fix, WINDOW) < largest
                    || (self.is_working.is_some() && self.change(&run, fix, WIDE_WINDOW) < WIDE_TURN * largest);
            }
            if self.is_working.is_none() {
                let straight = is_straight.clone();
                for fix in run.clone() {
                    let window = self.window(&run, fix, WINDOW);
                    let count = straight[window.clone()].iter().filter(|is_straight| **is_straight).count();
                    is_straight[fix] = 2 * count > window.len();
                }
            }
        }
        let mut numbers = vec![0; count];
        for run in runs(0..count, |fix| self.is_working(fix) && is_straight[fix], |fix| self.follows(fix)) {
            let seconds = self.time[run.end - 1] - self.time[run.start];
            if run.len() >= LEAST_ROWS || seconds >= LEAST_SECONDS {
                numbers[run].fill(*next);
                *next += 1;
            }
        }
        numbers
    }

    fn window(&self, run: &Range<usize>, fix: usize, seconds: f64) -> Range<usize> {
        let first = first_after(&self.time, run, fix, |time| time < self.time[fix] - seconds - 1e-6);
        let last = first_after(&self.time, run, fix, |time| time <= self.time[fix] + seconds + 1e-6);
        // A row without a time is alone in its window.
        first.min(fix)..last.max(fix + 1)
    }

    /// Change of the heading over a window around a fix, within its run. A log of few rows needs a wider one.
    fn change(&self, run: &Range<usize>, fix: usize, seconds: f64) -> f64 {
        let widening = (WINDOW_ROWS * self.interval[fix] / WINDOW).max(1.0);
        let window = self.window(run, fix, seconds * widening);
        let (before, after) = (self.heading[window.start], self.heading[window.end - 1]);
        // The change is the sum of both halves, so that a half turn is no small change.
        let halves = turn(before, self.heading[fix]) + turn(self.heading[fix], after);
        if halves.is_nan() { 0.0 } else { halves.abs() }
    }
}
