//! Logs the rows of a combine: what its display writes each interval, with the reasons that the drive itself gives a row.

use super::combine_drive::Step;
use super::cut_crop::MachineDrive;
use super::grain_transport::{STEP, Transport, rows_in, shifted, sums};
use crate::fields::deterministic_math::{i64_to_f64, usize_to_f64};
use crate::fields::plane::Point;
use crate::fields::rng::noise;

/// Bits of the reasons.
pub(super) mod reason {
    /// The header is up or the machine turns.
    pub(in crate::fields) const NOT_WORKING: u32 = 1;
    /// The flow at the sensor has not reached 93 % of a steady flow, or has fallen below it.
    pub(in crate::fields) const ENDS: u32 = 1 << 1;
    /// Slower than 0.32 m/s, faster than twice the median, or a wrong distance.
    pub(in crate::fields) const SPEED: u32 = 1 << 2;
    /// The position jumped.
    pub(in crate::fields) const POSITION: u32 = 1 << 3;
    /// The row was logged twice, or the machine stands.
    pub(in crate::fields) const DUPLICATE: u32 = 1 << 4;
    /// The logged width is too narrow on fresh ground.
    pub(in crate::fields) const SWATH: u32 = 1 << 5;
    /// More than a third of the ground under the header was cut before.
    pub(in crate::fields) const OVERLAP: u32 = 1 << 6;
    /// The moisture is missing or implausible.
    pub(in crate::fields) const MOISTURE: u32 = 1 << 7;
    /// The flow is below 0.4 or above 1.9 times that of the ground.
    pub(in crate::fields) const SPIKE: u32 = 1 << 8;
    /// The flow differs from that of the ground by more than 20 % (in logarithms).
    pub(in crate::fields) const LOCAL: u32 = 1 << 9;
    /// Reasons that exclude further ones.
    pub(in crate::fields) const FIRST: u32 = NOT_WORKING | ENDS | SPEED | POSITION | DUPLICATE;
}

/// Properties of the machines of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct MachineSetup {
    /// Seconds between two rows.
    pub(super) interval: i64,
    pub(super) grain: Transport,
    pub(super) moisture: Transport,
    /// Metres from the antenna forward to the cutter bar.
    pub(super) antenna: f64,
    /// Width of the header in metres.
    pub(super) width: f64,
    /// Whether the display logs a narrower swath on ground that was cut before.
    pub(super) narrows: bool,
}

/// A logged row, before rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Seconds since the start of the job.
    pub(super) seconds: i64,
    /// Number of the machine, from 1.
    pub(super) machine: i64,
    pub(super) pass: u16,
    /// Location of the antenna.
    pub(super) location: Point,
    pub(super) direction: Point,
    /// Metres driven in the interval.
    pub(super) distance: f64,
    /// Logged width in metres.
    pub(super) width: f64,
    /// Wet flow at the sensor in kg/s.
    pub(super) flow: f64,
    pub(super) moisture: Option<f64>,
    pub(super) is_header_down: bool,
    /// Share of the ground under the header that was not cut before.
    pub(super) fresh_share: f64,
    /// Bits of the reasons, for the ground that the row covers.
    pub(super) reasons: u32,
}

/// Logs the rows of a machine.
pub(super) fn log_rows(
    rng: &mut fastrand::Rng,
    setup: &MachineSetup,
    drive: &MachineDrive,
    number: i64,
    usual_moisture: f64,
) -> Vec<Row> {
    let size = steps_in_row(setup.interval);
    let in_rows = |transport: &Transport, steps: &[f64]| sums(&transport.apply(steps), size);
    let grain = in_rows(&setup.grain, &drive.cut.wet);
    let (chamber, water) = (in_rows(&setup.moisture, &drive.cut.wet), in_rows(&setup.moisture, &drive.cut.water));
    let (swept, fresh) = (sums(&drive.cut.swept, size), sums(&drive.cut.fresh, size));
    let full = chamber.iter().copied().fold(0.0, f64::max);
    let seconds = |row: i64| {
        let start = usize_to_f64(drive.first_step) * STEP;
        crate::fields::deterministic_math::round_to_i64(start).saturating_add((row + 1).saturating_mul(setup.interval))
    };
    let (mut drift, mut fix) = (Point::new(0.0, 0.0), Point::new(0.0, 0.0));
    let mut moisture = usual_moisture;
    let mut rows = Vec::with_capacity(grain.len());
    let measured = grain.iter().zip(&chamber).zip(&water).zip(&swept).zip(&fresh);
    for ((number_of_row, steps), ((((grain, chamber), water), swept), fresh)) in
        (0..).zip(drive.steps.chunks_exact(size)).zip(measured)
    {
        let Some(last) = steps.last() else { continue };
        let distance: f64 = steps.iter().map(|step| step.length).sum();
        if distance > 0.0 {
            drift = Point::new(0.97 * drift.east + 0.012 * noise(rng), 0.97 * drift.north + 0.012 * noise(rng));
            fix = Point::new(drift.east + 0.015 * noise(rng), drift.north + 0.015 * noise(rng));
        }
        // The chamber keeps its last sample while no grain moves.
        if *chamber > 0.02 * full {
            moisture = water / chamber * 100.0;
        }
        let fresh_share = if *swept > 0.0 { fresh / swept } else { 1.0 };
        let flow = grain / i64_to_f64(setup.interval) * (1.0 + 0.04 * noise(rng));
        let antenna = last.cutter.moved(last.direction, -setup.antenna);
        rows.push(Row {
            seconds: seconds(number_of_row),
            machine: number,
            pass: last.pass,
            location: Point::new(antenna.east + fix.east, antenna.north + fix.north),
            direction: last.direction,
            distance,
            width: setup.width * logged_share(setup, last, fresh_share),
            flow,
            // The sensor has dropouts.
            moisture: (rng.u16(..) > 260).then(|| moisture * (1.0 + 0.015 * noise(rng))),
            is_header_down: last.is_header_down,
            fresh_share,
            reasons: if last.is_cutting { 0 } else { reason::NOT_WORKING },
        });
    }
    add_drive_reasons(setup, drive, &mut rows);
    rows
}

/// Number of steps between two rows.
pub(super) fn steps_in_row(interval: i64) -> usize {
    usize::try_from(interval).unwrap_or(1).saturating_mul(2).max(1)
}

/// Returns the logged share of the width: sections of a quarter switch off on cut ground, if the display does that.
fn logged_share(setup: &MachineSetup, step: &Step, fresh_share: f64) -> f64 {
    if setup.narrows && step.is_cutting { ((4.0 * fresh_share).ceil() / 4.0).clamp(0.25, 1.0) } else { 1.0 }
}

/// Adds the reasons that follow from the drive and the model of transport.
fn add_drive_reasons(setup: &MachineSetup, drive: &MachineDrive, rows: &mut [Row]) {
    let size = steps_in_row(setup.interval);
    let shift = rows_in(setup.grain.delay(), setup.interval);
    let in_rows = |steps: &[f64]| sums(&setup.grain.apply(steps), size);
    let (response, smeared) = (in_rows(&drive.cut.working), in_rows(&drive.cut.fresh));
    let fresh = sums(&drive.cut.fresh, size);
    let speed = |row: &Row| row.distance / i64_to_f64(setup.interval);
    let fast = 2.0 * median(rows.iter().filter(|row| row.reasons == 0).map(speed).collect());
    for ((index, row), fresh) in rows.iter_mut().enumerate().zip(&fresh) {
        if row.reasons & reason::NOT_WORKING != 0 {
            continue;
        }
        let share = shifted(&response, index, shift).map_or(0.0, |steps| steps / usize_to_f64(size));
        if share < 0.93 {
            row.reasons |= reason::ENDS;
        }
        if speed(row) < 0.32 || speed(row) > fast {
            row.reasons |= reason::SPEED;
        }
        if row.distance <= 0.0 {
            row.reasons |= reason::DUPLICATE;
        }
        if row.fresh_share < 2.0 / 3.0 {
            row.reasons |= reason::OVERLAP;
        }
        // Mixing spreads the grain of a row over its neighbours, which shows where speed or width change quickly.
        let ratio = shifted(&smeared, index, shift).unwrap_or(0.0) / fresh.max(1e-9);
        if row.reasons & reason::FIRST == 0 && row.fresh_share > 0.25 {
            if !(0.4..=1.9).contains(&ratio) {
                row.reasons |= reason::SPIKE;
            } else if !(0.818_730_753..=1.221_402_758).contains(&ratio) {
                row.reasons |= reason::LOCAL;
            }
        }
    }
}

/// Returns the median; 0 without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
