//! Plants faults of sensors, receivers and operators into the rows of a combine, and their reasons at the right rows.
//!
//! A fault of a sensor is logged some seconds after the ground was cut. Its reason belongs to the one or two rows of
//! that ground whose shifted value uses the faulty row.

use std::f64::consts::TAU;
use std::ops::Range;

use super::grain_transport::{places, rows_in};
use super::log_rows::{MachineSetup, Row, reason};
use crate::fields::deterministic_math::{round_to_i64, sin_cos};
use crate::fields::plane::Point;
use crate::fields::rng::uniform;

/// Seconds without another planted fault on both sides of one, and without an end of the pass.
const MARGIN: i64 = 12;

/// Seconds of a working width that was set wrong.
const NARROW: i64 = 14;

/// A kind of fault.
#[derive(Clone, Copy, Debug)]
enum Fault {
    HighFlow,
    NoFlow,
    NegativeFlow,
    DeviatingFlow,
    HighMoisture,
    LowMoisture,
    DeviatingMoisture,
    MissingMoisture,
    Position,
    Duplicate,
    Distance,
    Swath,
}

const FAULTS: [Fault; 12] = [
    // The longest is planted first.
    Fault::Swath,
    Fault::HighFlow,
    Fault::NoFlow,
    Fault::NegativeFlow,
    Fault::DeviatingFlow,
    Fault::HighMoisture,
    Fault::LowMoisture,
    Fault::DeviatingMoisture,
    Fault::MissingMoisture,
    Fault::Position,
    Fault::Duplicate,
    Fault::Distance,
];

/// Plants every kind of fault at several random places of a machine's log.
pub(super) fn plant_faults(rng: &mut fastrand::Rng, setup: &MachineSetup, rows: &mut Vec<Row>) {
    mark_missing_moisture(setup, rows);
    let mut free: Vec<bool> = rows.iter().map(|row| row.reasons == 0 && row.fresh_share > 0.95).collect();
    let mut duplicates = Vec::new();
    let in_rows = |seconds: i64| usize::try_from(seconds / setup.interval.max(1)).unwrap_or(1);
    for _ in 0..=rows.len() / 2_500 {
        for fault in FAULTS {
            let length = if matches!(fault, Fault::Swath) { in_rows(NARROW) } else { 1 };
            if let Some(place) = free_place(rng, &mut free, length, in_rows(MARGIN)) {
                plant(rng, setup, rows, fault, place.clone());
                if matches!(fault, Fault::Duplicate) {
                    duplicates.push(place.start);
                }
            }
        }
    }
    duplicates.sort_unstable();
    for index in duplicates.into_iter().rev() {
        if let Some(row) = rows.get(index).copied() {
            rows.insert(index + 1, Row { reasons: row.reasons | reason::DUPLICATE, ..row });
        }
    }
}

/// Marks the rows whose moisture is interpolated over a dropout of the sensor.
fn mark_missing_moisture(setup: &MachineSetup, rows: &mut [Row]) {
    let missing: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| row.moisture.is_none()).map(|(index, _)| index).collect();
    for logged in missing {
        mark(rows, places(logged, rows_in(setup.moisture.delay(), setup.interval)), reason::MOISTURE);
    }
}

/// Adds a reason to the rows that are in a pass.
fn mark(rows: &mut [Row], places: impl Iterator<Item = usize>, reason: u32) {
    for place in places {
        if let Some(row) = rows.get_mut(place).filter(|row| row.reasons & reason::NOT_WORKING == 0) {
            row.reasons |= reason;
        }
    }
}

/// Finds `length` rows whose surroundings have no fault, and reserves them.
fn free_place(rng: &mut fastrand::Rng, free: &mut [bool], length: usize, margin: usize) -> Option<Range<usize>> {
    let last = free.len().checked_sub(length + 2 * margin)?;
    for _ in 0..400 {
        let first = rng.usize(..=last);
        let around = free.get_mut(first..first + length + 2 * margin)?;
        if around.iter().all(|is_free| *is_free) {
            around.iter_mut().skip(margin / 2).take(length + margin).for_each(|is_free| *is_free = false);
            return Some(first + margin..first + margin + length);
        }
    }
    None
}

/// Plants a fault at the rows of the ground; that of a sensor is logged later.
fn plant(rng: &mut fastrand::Rng, setup: &MachineSetup, rows: &mut [Row], fault: Fault, ground: Range<usize>) {
    let later = |delay: f64| ground.start + usize::try_from(round_to_i64(rows_in(delay, setup.interval))).unwrap_or(0);
    let flow_places = || places(later(setup.grain.delay()), rows_in(setup.grain.delay(), setup.interval));
    let moisture_places = || places(later(setup.moisture.delay()), rows_in(setup.moisture.delay(), setup.interval));
    match fault {
        Fault::HighFlow | Fault::NoFlow | Fault::NegativeFlow => {
            let factor = match fault {
                Fault::HighFlow => uniform(rng, 2.6, 4.0),
                Fault::NoFlow => 0.0,
                _ => -uniform(rng, 0.02, 0.1),
            };
            scale_flow(rows, later(setup.grain.delay()), factor);
            mark(rows, flow_places(), reason::SPIKE);
        }
        Fault::DeviatingFlow => {
            let factor = if rng.bool() { uniform(rng, 1.5, 1.75) } else { uniform(rng, 0.5, 0.62) };
            scale_flow(rows, later(setup.grain.delay()), factor);
            mark(rows, flow_places(), reason::LOCAL);
        }
        Fault::HighMoisture | Fault::LowMoisture | Fault::DeviatingMoisture | Fault::MissingMoisture => {
            if let Some(row) = rows.get_mut(later(setup.moisture.delay())) {
                row.moisture = match fault {
                    Fault::HighMoisture => Some(uniform(rng, 40.0, 60.0)),
                    Fault::LowMoisture => Some(uniform(rng, 0.0, 3.5)),
                    Fault::DeviatingMoisture => row.moisture.map(|moisture| moisture + uniform(rng, 6.0, 9.0)),
                    _ => None,
                };
            }
            mark(rows, moisture_places(), reason::MOISTURE);
        }
        Fault::Position => {
            let (sine, cosine) = sin_cos(rng.f64() * TAU);
            let away = uniform(rng, 30.0, 80.0);
            if let Some(row) = rows.get_mut(ground.start) {
                row.location = row.location.moved(Point::new(cosine, sine), away);
            }
            mark(rows, ground, reason::POSITION);
        }
        // The second row is inserted when all rows have their place.
        Fault::Duplicate => {}
        Fault::Distance => {
            let factor = if rng.bool() { uniform(rng, 1.8, 2.6) } else { uniform(rng, 0.25, 0.45) };
            if let Some(row) = rows.get_mut(ground.start) {
                row.distance *= factor;
            }
            mark(rows, ground, reason::SPEED);
        }
        Fault::Swath => {
            let share = if rng.bool() { 0.5 } else { 0.75 };
            for row in rows.get_mut(ground.clone()).unwrap_or_default() {
                row.width = setup.width * share;
            }
            mark(rows, ground, reason::SWATH);
        }
    }
}

fn scale_flow(rows: &mut [Row], logged: usize, factor: f64) {
    if let Some(row) = rows.get_mut(logged) {
        row.flow *= factor;
    }
}

/// Sorts the rows of all machines by time.
pub(super) fn merge(machines: Vec<Vec<Row>>) -> Vec<Row> {
    let mut rows: Vec<Row> = machines.into_iter().flatten().collect();
    rows.sort_by_key(|row| (row.seconds, row.machine));
    rows
}
