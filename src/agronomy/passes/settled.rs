//! Passes of a job, settled: what the flow and the ground say of the passes that the rows alone show.

use std::ops::Range;

use crate::cleaning::delays::PlacedFlow;
use crate::cleaning::recipe::Parameters;
use crate::cleaning::steps::{LoggedFaults, Middle};
use crate::columns::canonical::JobKind;
use crate::columns::row_ratios::median;
use crate::ground::worked_ground::{GroundOptions, WorkedGround};
use crate::passes::flow_delay::ends_of_passes;
use crate::passes::gaps::{PassEdges, PassGaps, track_distance};
use crate::passes::runs::{LEAST_ROWS, runs};
use crate::rows::field_rows::FieldRows;
use crate::rows::track_rows::TrackRows;

/// Nothing is harvested at a shifted flow per metre below this part of the usual one, in this many successive rows.
const IDLE_FLOW: f64 = 0.08;
const IDLE_ROWS: usize = 4;

/// Flow per metre, as a part of the usual one, of rows that may only drive, and of rows that harvest in a bend.
const LOW_FLOW: f64 = 0.25;
const BEND_FLOW: f64 = 0.5;

/// Longest delay of a sensor in seconds.
const LONGEST_DELAY: f64 = 25.0;

/// Of idle ground, the part that other rows work: then the machine only drove there.
const WORKED_ELSEWHERE: f64 = 0.5;

/// The passes of a job.
pub(crate) struct Passes {
    /// Number of the pass of each row in the order of the tracks, 0 outside of passes.
    pub(crate) number: Vec<i32>,
    /// Gaps and overlaps between passes.
    pub(crate) gaps: PassGaps,
    /// Width of the machine, and the distance to the next parallel track, in metres.
    pub(crate) track_distance: Option<(f64, f64)>,
    /// Square metres that were driven with the header down without grain for longer than any delay.
    pub(crate) without_grain: f64,
}

impl Passes {
    /// Settles which rows are in passes, and counts their ground. Nothing changes a pass but this, in this order: bends with
    /// grain join the pass before or after them; runs without grain leave theirs if they are at its end, if they are long or no
    /// state is logged, or if other rows work their ground. Where a state is logged, a hollow or a dropout of the sensor has a
    /// short run of its own.
    pub(crate) fn settle(
        mut number: Vec<i32>,
        (rows, field): (&TrackRows, &FieldRows),
        faults: &LoggedFaults,
        flow: &PlacedFlow,
        middle: &Middle,
        parameters: &Parameters,
    ) -> (Self, WorkedGround) {
        let is_harvest = field.kind == JobKind::Yield;
        let idle = flow.shifted.as_ref().map_or_else(IdleRuns::default, |shifted| {
            join_bends(rows, shifted, |k| flow.is_placed(rows, k) && !faults.excluded[k], &mut number);
            IdleRuns::new(rows, shifted, &number, |k| flow.is_placed(rows, k))
        });
        // The ground of logged polygons is known.
        let edges = || PassEdges::new(rows, &number, &faults.excluded, middle.location());
        let edges = field.shapes.is_none().then(edges).flatten();
        let (gaps, extra) = edges.map(|edges| edges.shared(is_harvest)).unwrap_or_default();
        let track_distance = track_distance(rows, &number, &faults.excluded, is_harvest);
        let is_long = |run: &&Range<usize>| rows.seconds(run) > LONGEST_DELAY;

        leave_ends(rows, &idle.empty, &mut number);
        for run in idle.empty.iter().filter(|run| rows.working.is_none() || is_long(run)) {
            number[run.clone()].fill(0);
        }
        let mut is_idle = vec![false; rows.len()];
        for run in idle.empty.iter().chain(&idle.low) {
            is_idle[run.clone()].fill(true);
        }
        let options = GroundOptions {
            antenna: parameters.antenna,
            full_width: is_harvest.then_some(parameters.full_width),
            excluded: &faults.excluded,
            extra: &extra,
            is_idle: &is_idle,
            shapes: field.shapes.as_ref(),
        };
        let mut ground = WorkedGround::new(rows, &number, &options);
        if leave_worked_elsewhere(&ground, &idle.empty, &mut number) {
            // Two grounds of all rows would be the most memory of a cleaning.
            drop(ground);
            ground = WorkedGround::new(rows, &number, &options);
        }

        let is_driven = |k: &usize| number[*k] == 0 && rows.working.as_ref().is_some_and(|working| working[*k]);
        let driven = idle.empty.iter().filter(is_long).flat_map(|run| run.clone().filter(is_driven));
        let without_grain = driven.map(|k| rows.distance[k] * rows.width[k]).filter(|m2| *m2 > 0.0).sum();
        (Self { number, gaps, track_distance, without_grain }, ground)
    }
}

/// Takes runs without flow out of their pass if other rows work their ground. Returns whether there are any.
fn leave_worked_elsewhere(ground: &WorkedGround, idle: &[Range<usize>], pass: &mut [i32]) -> bool {
    let sum = |values: &[f64], run: &Range<usize>| values[run.clone()].iter().sum::<f64>();
    let mut is_any = false;
    for run in idle {
        let is_elsewhere = sum(&ground.coverage.fresh, run) < WORKED_ELSEWHERE * sum(&ground.coverage.full, run);
        if pass[run.start] > 0 && is_elsewhere {
            pass[run.clone()].fill(0);
            is_any = true;
        }
    }
    is_any
}

/// Takes runs without flow at an end of a pass out of it, with what is left of the pass beyond them: the machine only
/// drives there with the header down.
fn leave_ends(rows: &TrackRows, idle: &[Range<usize>], pass: &mut [i32]) {
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
#[derive(Default)]
pub(crate) struct IdleRuns {
    /// Shifted flow per metre is nearly zero.
    pub(crate) empty: Vec<Range<usize>>,
    /// It is low for longer than any delay: the ground belongs to other rows that work it, if there are any.
    pub(crate) low: Vec<Range<usize>>,
}

impl IdleRuns {
    /// Finds the runs by the shifted flow. Rows of a machine without a delay are not placed: in the first seconds of a pass
    /// they may have the flow of the turn before it.
    fn new(rows: &TrackRows, flow: &[f64], pass: &[i32], is_placed: impl Fn(usize) -> bool) -> Self {
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
fn join_bends(rows: &TrackRows, flow: &[f64], can_join: impl Fn(usize) -> bool, pass: &mut [i32]) {
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
