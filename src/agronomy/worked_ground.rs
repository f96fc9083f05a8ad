//! The ground that rows work: usual widths, swaths, ground counted once, and rows that only drive.

use std::ops::Range;
use std::sync::Arc;

use super::coverage::{Coverage, cover};
use super::flow_delay::ends_of_passes;
use super::logged_shapes::Shapes;
use super::passes::{LEAST_ROWS, runs};
use super::row_lengths::usual_width;
use super::row_ratios::median;
use super::swaths::{SwathRows, Swaths, build_swaths};
use super::track_rows::TrackRows;

/// Nothing is harvested at a shifted flow per metre below this part of the usual one, in this many successive rows.
const IDLE_FLOW: f64 = 0.08;
const IDLE_ROWS: usize = 4;

/// Flow per metre, as a part of the usual one, of rows that may only drive, and of rows that harvest in a bend.
const LOW_FLOW: f64 = 0.25;
const BEND_FLOW: f64 = 0.5;

/// Longest delay of a sensor in seconds.
pub(super) const LONGEST_DELAY: f64 = 25.0;

/// No header is wider, and no boom or toolbar, in metres.
const WIDEST_HEADER: f64 = 60.0;
const WIDEST_BOOM: f64 = 200.0;

/// Of idle ground, the part that other rows work: then the machine only drove there.
const WORKED_ELSEWHERE: f64 = 0.5;

/// Ground of the rows in the order of the tracks.
pub(super) struct WorkedGround {
    pub(super) swaths: Swaths,
    pub(super) coverage: Coverage,
    /// Share of the swath that was covered before; not a number without a swath.
    pub(super) share: Vec<f64>,
    /// New ground in m2 by distance and width: quieter than that of swaths, which take up the jitter of positions.
    pub(super) nominal: Vec<f64>,
    /// Rows whose width is too narrow.
    pub(super) is_narrow: Vec<bool>,
}

/// What the ground of rows depends on, besides the rows.
pub(super) struct GroundOptions<'a> {
    /// Metres from the antenna forward to the cutter bar.
    pub(super) antenna: f64,
    /// Of the usual width, what is not narrow. `None` for jobs whose sections switch, so that widths are true.
    pub(super) full_width: Option<f64>,
    /// Rows that cover nothing.
    pub(super) excluded: &'a [bool],
    /// Metres beyond half the width on both sides of rows, since passes share their edges; empty for none.
    pub(super) extra: &'a [[f64; 2]],
    /// Rows that may only drive, which cover only what no other row covers.
    pub(super) idle: &'a IdleRuns,
    /// Logged polygons.
    pub(super) shapes: Option<&'a Arc<Shapes>>,
}

impl WorkedGround {
    /// Counts the ground of rows in passes once, in order of time.
    ///
    /// A combine that runs half over cut ground logs half its width on many displays, in the middle of the header. Its
    /// grain comes from the other half, so the swath has the full width and the ground that was cut before is counted
    /// there. Narrow rows on new ground have a wrong width.
    pub(super) fn new(rows: &TrackRows, pass: &[i32], options: &GroundOptions<'_>) -> Self {
        let usual_width = usual_widths(rows, pass);
        let limit = options.full_width.unwrap_or(0.0);
        let is_reduced = |k: usize| pass[k] > 0 && rows.width[k] > 0.0 && rows.width[k] < limit * usual_width[k];
        let width: Vec<f64> =
            (0..rows.len()).map(|k| if is_reduced(k) { usual_width[k] } else { rows.width[k] }).collect();
        let distance = &rows.distance;
        let swaths = build_swaths(&SwathRows {
            x: &rows.x,
            y: &rows.y,
            heading: &rows.heading,
            distance,
            width: &width,
            extra: options.extra,
            track: &rows.track,
            pass,
            time: &rows.time,
            antenna: options.antenna,
            most_width: if options.full_width.is_some() { WIDEST_HEADER } else { WIDEST_BOOM },
            shapes: options.shapes.map(|shapes| (shapes, rows.row.as_slice())),
        });
        let mut is_idle = vec![false; rows.len()];
        for run in options.idle.empty.iter().chain(&options.idle.low) {
            is_idle[run.clone()].fill(true);
        }
        let mut by_time: Vec<u32> = (0_u32..).take(rows.len()).collect();
        let key = |row: &u32| (is_idle[*row as usize], rows.time[*row as usize]);
        by_time.sort_unstable_by(|a, b| {
            let ((idle_a, time_a), (idle_b, time_b)) = (key(a), key(b));
            idle_a.cmp(&idle_b).then(time_a.total_cmp(&time_b)).then(a.cmp(b))
        });
        let coverage = cover(&swaths, &by_time, options.excluded);
        let share: Vec<f64> =
            coverage.fresh.iter().zip(&coverage.full).map(|(fresh, full)| 1.0 - fresh / full).collect();
        let nominal = (0..rows.len()).map(|k| {
            let has_shape = options.shapes.is_some_and(|shapes| shapes.area(rows.row[k]) > 0.0);
            let [left, right] = options.extra.get(k).copied().unwrap_or_default();
            let whole = if has_shape { coverage.full[k] } else { distance[k] * (width[k] + left + right) };
            if coverage.fresh[k] > 0.0 { whole * (1.0 - share[k]) } else { 0.0 }
        });
        let nominal = nominal.collect();
        let narrowing = |k: usize| 1.0 - rows.width[k] / usual_width[k];
        let is_narrow = (0..rows.len()).map(|k| is_reduced(k) && share[k] < 0.5 * narrowing(k)).collect();
        Self { swaths, coverage, share, nominal, is_narrow }
    }

    /// Takes runs without flow out of their pass if other rows work their ground. Returns whether there are any.
    pub(super) fn leave_worked_elsewhere(&self, idle: &[Range<usize>], pass: &mut [i32]) -> bool {
        let sum = |values: &[f64], run: &Range<usize>| values[run.clone()].iter().sum::<f64>();
        let mut is_any = false;
        for run in idle {
            let is_elsewhere = sum(&self.coverage.fresh, run) < WORKED_ELSEWHERE * sum(&self.coverage.full, run);
            if pass[run.start] > 0 && is_elsewhere {
                pass[run.clone()].fill(0);
                is_any = true;
            }
        }
        is_any
    }
}

/// New ground in m2/s. Rows without ground of their own, since they repeat another one or are at a wrong place, log the flow
/// of the ground before them.
pub(super) fn ground_per_second(rows: &TrackRows, pass: &[i32], nominal: &[f64], excluded: &[bool]) -> Vec<f64> {
    let mut ground: Vec<f64> = nominal.iter().zip(&rows.interval).map(|(m2, seconds)| m2 / seconds).collect();
    for k in (1..ground.len()).filter(|k| excluded[*k] && pass[*k] == pass[*k - 1] && rows.follows(*k)) {
        ground[k] = ground[k - 1];
    }
    ground
}

/// Takes runs without flow at an end of a pass out of it, with what is left of the pass beyond them: the machine only
/// drives there with the header down.
pub(super) fn leave_ends(rows: &TrackRows, idle: &[Range<usize>], pass: &mut [i32]) {
    let mut leaving = Vec::new();
    for run in idle {
        let is_same = |k: &usize| pass[*k] == pass[run.start] && rows.track[*k] == rows.track[run.start];
        let before = (0..run.start).rev().take(LEAST_ROWS).take_while(is_same).count();
        let after = (run.end..rows.len()).take(LEAST_ROWS).take_while(is_same).count();
        // What is left beyond the run is too short for a pass of its own.
        let start = if before < LEAST_ROWS { run.start - before } else { run.start };
        let end = if after < LEAST_ROWS { run.end + after } else { run.end };
        if before < LEAST_ROWS || after < LEAST_ROWS {
            leaving.push(start..end);
        }
    }
    for run in leaving {
        pass[run].fill(0);
    }
}

/// Runs of rows in passes in which the machine only drives.
pub(super) struct IdleRuns {
    /// Shifted flow per metre is nearly zero.
    pub(super) empty: Vec<Range<usize>>,
    /// It is low for longer than any delay: the ground belongs to other rows that work it, if there are any.
    pub(super) low: Vec<Range<usize>>,
}

impl IdleRuns {
    pub(super) const NONE: Self = Self { empty: Vec::new(), low: Vec::new() };

    /// Finds the runs by the shifted flow. Rows of a machine without a delay are not placed: in the first seconds of a pass
    /// they may have the flow of the turn before it.
    pub(super) fn new(rows: &TrackRows, flow: &[f64], pass: &[i32], is_placed: impl Fn(usize) -> bool) -> Self {
        let share = flow_shares(rows, flow, pass);
        let ends = ends_of_passes(rows, pass);
        let is_late = |k: usize| is_placed(k) || rows.time[k] - ends[k].0 > LONGEST_DELAY;
        let of_limit = |limit: f64| {
            let is_idle = |k: usize| pass[k] > 0 && share[k] < limit && is_late(k);
            let of_track = |track: &Range<usize>| runs(track.clone(), is_idle, |k| pass[k] == pass[k - 1]);
            rows.tracks.iter().flat_map(of_track).collect::<Vec<_>>()
        };
        let empty = of_limit(IDLE_FLOW).into_iter().filter(|run| run.len() >= IDLE_ROWS).collect();
        let low = of_limit(LOW_FLOW).into_iter().filter(|run| rows.seconds(run) > LONGEST_DELAY).collect();
        Self { empty, low }
    }
}

/// Takes rows into the pass next to them that harvest in a bend: working rows outside of passes with the flow of the
/// passes. The flow of a turn with the header up is none, once it is shifted.
pub(super) fn join_bends(rows: &TrackRows, flow: &[f64], can_join: impl Fn(usize) -> bool, pass: &mut [i32]) {
    let share = flow_shares(rows, flow, pass);
    let is_working = |k: usize| rows.working.as_ref().is_none_or(|working| working[k]);
    let is_bend = |k: usize| pass[k] == 0 && is_working(k) && can_join(k) && share[k] >= BEND_FLOW;
    let bends: Vec<Range<usize>> =
        rows.tracks.iter().flat_map(|track| runs(track.clone(), is_bend, |k| rows.follows(k))).collect();
    for run in bends.into_iter().filter(|run| run.len() >= IDLE_ROWS) {
        let before = run.start.checked_sub(1).filter(|k| rows.follows(run.start) && pass[*k] > 0);
        let after = Some(run.end).filter(|k| *k < rows.len() && rows.follows(*k) && pass[*k] > 0);
        if let Some(neighbour) = before.or(after) {
            let number = pass[neighbour];
            pass[run].fill(number);
        }
    }
}

/// Shifted flow per metre of rows that move, as a part of the usual one in passes; not a number if that is not above 0.
fn flow_shares(rows: &TrackRows, flow: &[f64], pass: &[i32]) -> Vec<f64> {
    let per_metre = |k: usize| if rows.speed(k) > 0.0 { flow[k] / rows.speed(k) } else { f64::NAN };
    let usual = median((0..rows.len()).filter(|k| pass[*k] > 0).map(per_metre).collect());
    let usual = if usual > 0.0 { usual } else { f64::NAN };
    (0..rows.len()).map(|k| per_metre(k) / usual).collect()
}

/// The most frequent width of rows in passes, for each row by its track.
fn usual_widths(rows: &TrackRows, pass: &[i32]) -> Vec<f64> {
    let mut usual = vec![f64::NAN; rows.len()];
    for track in &rows.tracks {
        usual[track.clone()].fill(usual_width(track.clone().filter(|k| pass[*k] > 0).map(|k| rows.width[k])));
    }
    usual
}
