//! Simulates a harvest as machines log it: drive, transport of grain, sensors and faults, with the truth of all of it.
//!
//! The order is that of a real harvest. Passes are planned and driven, the crop is cut once, the grain reaches the
//! sensors later and mixed, and the display logs a row each second or every two. The ranges of the delays are those of
//! Beal & Tian (2001): 8 to 14 s of raw delay. Faults are planted last. Truth and archive come from the same model, and
//! no function that filters such data takes part.

mod combine_drive;
mod cut_crop;
mod cut_raster;
mod grain_transport;
mod log_rows;
mod passes;
mod plant_faults;
mod truth;
mod yield_surface;

use self::combine_drive::drive;
use self::cut_crop::{CutSteps, MachineDrive, cut_crop};
use self::cut_raster::CutGround;
use self::grain_transport::Transport;
use self::log_rows::{MachineSetup, Row, log_rows, steps_in_row};
use self::passes::plan_passes;
use self::plant_faults::{merge, plant_faults};
pub(super) use self::truth::HarvestLog;
pub use self::truth::{HarvestGrid, HarvestTruth};
use self::yield_surface::{CropMeans, YieldSurface, reach};
use crate::fields::deterministic_math::{i64_to_f64, round_to_i64, scaled};
use crate::fields::harvest::FLOW;
use crate::fields::job_spec::{JobLog, JobSpec};
use crate::fields::rng::{stream, uniform};
use crate::fields::swaths::{LENGTH_DECIMALS, LoggedPoint, SwathLog};

/// Smallest field with two machines, in m².
const TWO_MACHINES: f64 = 300_000.0;

/// Simulates the harvest of a job.
pub(super) fn simulate(spec: &JobSpec) -> JobLog {
    let mut rng = stream(spec.seed, &[20]);
    let field = &spec.field;
    let setup = draw_setup(&mut rng, spec);
    let count = if field.area > TWO_MACHINES { 2 } else { 1 };
    let size = steps_in_row(setup.interval);
    let mut first_number = 1;
    let mut machines = Vec::new();
    for (passes, later) in plan_passes(&mut rng, field, setup.width, count).iter().zip([0, 1]) {
        let first_step = later * rng.usize(60..200) * size;
        let steps = drive(&mut rng, passes, first_number, spec.swath_options.speed, size);
        first_number = first_number.saturating_add(u16::try_from(passes.len()).unwrap_or(u16::MAX));
        machines.push(MachineDrive { first_step, steps, cut: CutSteps::default() });
    }
    let means = CropMeans { dry: spec.crop.grain, moisture: spec.crop.moisture, market: spec.crop.market_moisture };
    let surface = YieldSurface::new(spec.seed, &field.soil, means, reach(&field.boundary));
    let mut ground = CutGround::new(&field.boundary, field.rows, 25.0);
    let dry_mass = cut_crop(&mut ground, &surface, setup.width, &mut machines);
    let logs = (1..).zip(&machines).map(|(number, machine)| {
        let mut rows = log_rows(&mut rng, &setup, machine, number, spec.crop.moisture);
        plant_faults(&mut rng, &setup, &mut rows);
        rows
    });
    let rows = merge(logs.collect());
    let truth = HarvestTruth {
        delay: setup.grain.delay(),
        moisture_delay: setup.moisture.delay(),
        antenna: setup.antenna,
        covered_area: ground.area(),
        dry_mass,
        moisture_basis: spec.crop.market_moisture,
        reasons: rows.iter().map(|row| row.reasons).collect(),
        utm_zone: field.plane.zone(),
    };
    let harvest = HarvestLog {
        moisture: rows.iter().map(|row| row.moisture.map(|moisture| scaled(moisture, 2))).collect(),
        is_header_down: rows.iter().map(|row| row.is_header_down).collect(),
        machines: if count > 1 { rows.iter().map(|row| row.machine).collect() } else { Vec::new() },
        truth,
        ground,
        surface,
    };
    let metre = spec.units.length.1;
    let swaths = SwathLog {
        points: rows.iter().map(|row| to_point(row, metre)).collect(),
        swath: scaled(setup.width / metre, LENGTH_DECIMALS),
        cycle: setup.interval.saturating_mul(100),
    };
    let measured = rows.iter().map(|row| scaled(row.flow / spec.units.mass.1, FLOW)).collect();
    JobLog { swaths, target: Vec::new(), measured, added: Vec::new(), harvest: Some(harvest) }
}

/// Draws the properties of the machines; two machines of a job are of one model.
fn draw_setup(rng: &mut fastrand::Rng, spec: &JobSpec) -> MachineSetup {
    let interval = if rng.u8(..) < 64 { 2 } else { 1 };
    // Two decimals, so that the written truth is exact.
    let mut draw = |low: f64, high: f64| i64_to_f64(round_to_i64(uniform(rng, low, high) * 100.0)) / 100.0;
    let grain = Transport::new(draw(8.0, 14.0), [draw(0.7, 1.3), draw(0.7, 1.5)]);
    let moisture = Transport::new(draw(9.0, 16.0), [draw(0.7, 1.3), draw(1.5, 3.0)]);
    // Most antennas are on the cab; some are on a boom ahead of the header.
    let antenna = if draw(0.0, 1.0) < 0.8 { draw(2.0, 4.5) } else { -draw(0.3, 1.2) };
    MachineSetup { interval, grain, moisture, antenna, width: spec.swath_options.width, narrows: draw(0.0, 1.0) < 0.4 }
}

fn to_point(row: &Row, metre: f64) -> LoggedPoint {
    LoggedPoint {
        location: row.location,
        direction: row.direction,
        pass: i64::from(row.pass),
        section: 1,
        from_end: 0,
        seconds: i64_to_f64(row.seconds),
        distance: scaled(row.distance / metre, LENGTH_DECIMALS),
        swath: scaled(row.width / metre, LENGTH_DECIMALS),
    }
}
