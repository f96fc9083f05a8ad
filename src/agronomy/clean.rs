//! Cleans the rows of a job: passes, delays of sensors, ground counted once, and the reasons why rows mislead.

use super::clean_delays::{MachineDelay, machine_delays, set_delays, shift};
use super::clean_masses::{Drying, Masses};
use super::clean_steps::{LoggedFaults, Middle, Moisture, OutlierGround, mark_ends, mark_limits, mark_outliers};
use super::columns::JobKind;
use super::coverage::Coverage;
use super::field_rows::{FieldRows, LOGGED_FLOW};
use super::flow_delay::{Delay, Sensor, estimate};
use super::flow_dropouts::fill_dropouts;
use super::market_moisture::basis_of;
use super::pass_gaps::{PassEdges, PassGaps, track_distance};
use super::reasons::{self, mark};
use super::recipe::{Parameters, Recipe};
use super::section_mass::SharedFlow;
use super::shifted_values::value_later;
use super::swaths::Swaths;
use super::track_rows::TrackRows;
use super::worked_ground::{
    GroundOptions, IdleRuns, LONGEST_DELAY, WorkedGround, ground_per_second, join_bends, leave_ends,
};
use crate::error::Result;
use crate::layer::Polygons;
use crate::layer::crs::LocalPlane;

/// Metres from the boundary, unless the recipe states them (Vega et al. 2019).
const EDGE: f64 = 10.0;

/// Rows of a job after cleaning, in the order of the tracks. NaN is null.
pub(super) struct CleanRows {
    pub(super) kind: JobKind,
    pub(super) plane: LocalPlane,
    pub(super) rows: TrackRows,
    /// Number of the pass, 0 outside of passes.
    pub(super) pass: Vec<i32>,
    pub(super) reasons: Vec<u32>,
    pub(super) used: Vec<bool>,
    pub(super) swaths: Swaths,
    pub(super) coverage: Coverage,
    /// Share of the swath that was covered before.
    pub(super) share: Vec<f64>,
    /// Kilograms as logged, without a shift: dry ones if those are known.
    pub(super) logged_kg: Option<Vec<f64>>,
    /// Wet kilograms of the ground of a row in a pass; `None` without a flow.
    pub(super) kg: Option<Vec<f64>>,
    /// Kilograms at the market moisture.
    pub(super) kg_dry: Option<Vec<f64>>,
    pub(super) flow_shifted: Option<Vec<f64>>,
    /// The columns that the flow comes from.
    pub(super) flow_rule: &'static str,
    /// Whether the sections of a moment have one flow per ground.
    pub(super) is_shared: bool,
    pub(super) moisture_shifted: Option<Vec<f64>>,
    /// Kilograms, litres or seeds of other jobs.
    pub(super) amount: Option<Vec<f64>>,
    pub(super) amount_unit: &'static str,
    /// Percent of water of `kg_dry`, or `several`.
    pub(super) dry_basis: Option<String>,
    pub(super) delays: Vec<MachineDelay>,
    pub(super) moisture_delays: Vec<MachineDelay>,
    pub(super) recipe: Recipe,
    /// Gaps and overlaps between passes.
    pub(super) gaps: PassGaps,
    /// Width of the machine, and the distance to the next parallel track, in metres.
    pub(super) track_distance: Option<(f64, f64)>,
    /// Square metres that were driven with the header down without grain for longer than any delay.
    pub(super) without_grain: f64,
    /// Rows whose flow is interpolated.
    pub(super) dropouts: usize,
    /// Rows that another row repeats at a slightly other position.
    pub(super) twins: usize,
    /// Machines whose headings the motion contradicts, with their rows and the median difference in radians.
    pub(super) headings: Vec<(i64, usize, f64)>,
}

impl CleanRows {
    /// Whether enough of the swath of a row is new ground for a rate.
    pub(super) fn has_rate(&self, k: usize) -> bool {
        self.coverage.has_rate(k)
    }
}

/// Cleans rows. `boundary` is that of the field, in the plane of the rows.
pub(super) fn clean_rows(mut field: FieldRows, mut recipe: Recipe, boundary: &[Polygons]) -> Result<CleanRows> {
    let parameters = recipe.parameters.clone();
    let is_harvest = field.kind == JobKind::Yield;
    let mut rows = TrackRows::new(&mut field);
    let count = rows.len();
    let (mut pass, faults) = LoggedFaults::find(&mut rows, &field, &parameters);
    let middle = Middle::new(&rows, field.shapes.is_none().then_some(parameters.antenna));
    let sensor = Sensor { rows: &rows, pass: &pass, is_bad: &faults.any, location: middle.location() };

    let mut flow = field.flow.take().filter(|_| is_harvest).map(|flow| rows.sorted(&flow));
    let dropouts = flow.as_mut().map_or(0, |flow| fill_dropouts(&rows, flow));
    let delays = machine_delays("delay", &parameters.delay, (&rows, &field.jobs), |machine| {
        let flow = flow.as_deref().ok_or("no column gives a flow or a yield")?;
        let flow = rows.has_time.then_some(flow).ok_or("no time was logged")?;
        Ok(estimate_of_job(&sensor, machine, flow))
    })?;
    let flow_shifted: Option<Vec<f64>> =
        flow.as_ref().map(|flow| (0..count).map(|k| value_later(&rows, flow, k, shift(&delays, &rows, k))).collect());
    // A display that computes yields has placed the grain itself.
    let is_placed =
        |k: usize| field.flow_rule != LOGGED_FLOW || delays[rows.machine[k] as usize].delay.seconds.is_some();
    let idle = flow_shifted.as_ref().map_or(IdleRuns::NONE, |flow| {
        join_bends(&rows, flow, |k| is_placed(k) && !faults.excluded[k], &mut pass);
        IdleRuns::new(&rows, flow, &pass, is_placed)
    });
    // The ground of logged polygons is known.
    let edges = field.shapes.is_none().then(|| PassEdges::new(&rows, &pass, &faults.excluded, middle.location()));
    let (gaps, extra) = edges.flatten().map(|edges| edges.shared(is_harvest)).unwrap_or_default();
    let track_distance = track_distance(&rows, &pass, &faults.excluded, is_harvest);
    let ground = count_ground(&field, &rows, &mut pass, &faults, (&idle, &extra), &parameters);
    let WorkedGround { swaths, coverage, share, nominal, is_narrow } = ground;

    let without_grain = ground_without_grain(&rows, &idle, &pass);
    let mut bits = faults.reasons(&pass);
    mark(&mut bits, reasons::SWATH, |k| is_narrow[k]);
    mark(&mut bits, reasons::OVERLAP, |k| pass[k] > 0 && share[k] > parameters.overlap);
    let per_second = ground_per_second(&rows, &pass, &nominal, &faults.excluded);
    if is_harvest {
        mark_ends(&rows, &pass, parameters.ends, &mut bits);
    }

    let sensor = Sensor { rows: &rows, pass: &pass, is_bad: &faults.any, location: middle.location() };
    let shifted =
        |logged: Vec<f64>| Moisture::shift(&rows, &pass, &rows.sorted(&logged), (&delays, &field.jobs), &parameters);
    let moisture = field.moisture.take().filter(|_| is_harvest).map(shifted).transpose()?;
    if let Some(moisture) = &moisture {
        mark(&mut bits, reasons::MOISTURE, |k| pass[k] > 0 && moisture.is_filled[k]);
    }
    let shared = flow.as_ref().and_then(|flow| SharedFlow::find(&rows, flow));
    let flows = flow.as_deref().zip(flow_shifted.as_deref());
    if let Some(flows) = flows {
        let ground = OutlierGround { coverage: &coverage, per_second: &per_second, shared: shared.as_ref() };
        mark_outliers(&sensor, &ground, flows, &delays, &parameters, &mut bits);
    }

    // A table with several crops is dried by row.
    let stated = parameters.market_moisture.map(|percent| vec![percent; count]);
    let market = stated.or_else(|| field.market.take().map(|market| rows.sorted(&market)));
    let dry_basis = market.as_deref().and_then(basis_of);
    recipe.set_market_moisture(dry_basis.as_ref().and_then(|basis| basis.parse().ok()));
    let drying = Drying { moisture: moisture.as_ref(), market: market.as_deref(), expand: parameters.expand };
    let is_cut = |k: usize| pass[k] > 0 && !faults.duplicate[k];
    let Masses { wet: kg, dry: kg_dry, logged: logged_kg } = flows.map_or_else(Masses::default, |flows| {
        Masses::new(&rows, flows, is_cut, shared.as_ref(), &coverage.fresh, &drying)
    });
    if let Some(kg) = kg_dry.as_ref().or(kg.as_ref()) {
        mark_limits(&coverage, kg, parameters.limits, &mut bits);
    }
    middle.mark_edge(&pass, boundary, parameters.edge.unwrap_or(EDGE), &mut bits);

    let allowed = allowed_bits(is_harvest, &recipe);
    let used: Vec<bool> = (0..count).map(|k| pass[k] > 0 && bits[k] & !allowed == 0).collect();
    let (moisture_shifted, moisture_delays) =
        moisture.map_or_else(|| (None, Vec::new()), |moisture| (Some(moisture.shifted), moisture.delays));
    if is_harvest {
        set_delays(&mut recipe, &delays);
    }
    Ok(CleanRows {
        kind: field.kind,
        plane: field.plane,
        amount: field.amount.take().map(|amount| rows.sorted(&amount)),
        amount_unit: field.amount_unit,
        rows,
        pass,
        reasons: bits,
        used,
        swaths,
        coverage,
        share,
        logged_kg,
        kg,
        kg_dry,
        flow_shifted,
        flow_rule: field.flow_rule,
        is_shared: shared.is_some(),
        moisture_shifted,
        dry_basis,
        delays: if is_harvest { delays } else { Vec::new() },
        moisture_delays,
        recipe,
        gaps,
        track_distance,
        without_grain,
        dropouts,
        headings: faults.headings,
        twins: faults.twins,
    })
}

/// The delay of a machine in a job. A job that says too little has that of the machine in the season.
fn estimate_of_job(sensor: &Sensor<'_>, machine: u32, flow: &[f64]) -> Delay {
    let machines = &sensor.rows.machines;
    let own = estimate(sensor, |other| other == machine, flow);
    let number = |machine: u32| machines[machine as usize].1;
    let has_others = machines.iter().filter(|(_, other)| *other == number(machine)).nth(1).is_some();
    let in_season = || estimate(sensor, |other| number(other) == number(machine), flow);
    let season = (own.seconds.is_none() && has_others).then(in_season);
    season.filter(|delay| delay.seconds.is_some()).unwrap_or(own)
}

/// Bits of the reasons that do not exclude a row: leaving rows out whose ground, moisture or width was settled made maps
/// worse, and a product that was applied at a wrong speed was applied.
pub(super) fn allowed_bits(is_harvest: bool, recipe: &Recipe) -> u32 {
    let speed = if is_harvest { 0 } else { reasons::SPEED };
    reasons::OVERLAP | reasons::MOISTURE | reasons::SWATH | speed | recipe.kept_bits()
}

/// Square metres of long runs that were driven with the header down without grain.
fn ground_without_grain(rows: &TrackRows, idle: &IdleRuns, pass: &[i32]) -> f64 {
    let is_driven = |k: &usize| pass[*k] == 0 && rows.working.as_ref().is_some_and(|working| working[*k]);
    let long = idle.empty.iter().filter(|run| rows.seconds(run) > LONGEST_DELAY);
    let driven = long.flat_map(|run| run.clone().filter(is_driven)).map(|k| rows.distance[k] * rows.width[k]);
    driven.filter(|m2| *m2 > 0.0).sum()
}

/// Counts the ground of rows in passes. Rows that only drive leave their pass.
fn count_ground(
    field: &FieldRows,
    rows: &TrackRows,
    pass: &mut [i32],
    faults: &LoggedFaults,
    (idle, extra): (&IdleRuns, &[[f64; 2]]),
    parameters: &Parameters,
) -> WorkedGround {
    leave_ends(rows, &idle.empty, pass);
    // Where a state is logged, a hollow or a dropout of the sensor has a short run of its own.
    for run in idle.empty.iter().filter(|run| rows.working.is_none() || rows.seconds(run) > LONGEST_DELAY) {
        pass[run.clone()].fill(0);
    }
    let options = GroundOptions {
        antenna: parameters.antenna,
        full_width: (field.kind == JobKind::Yield).then_some(parameters.full_width),
        excluded: &faults.excluded,
        extra,
        idle,
        shapes: field.shapes.as_ref(),
    };
    let ground = WorkedGround::new(rows, pass, &options);
    if ground.leave_worked_elsewhere(&idle.empty, pass) { WorkedGround::new(rows, pass, &options) } else { ground }
}
