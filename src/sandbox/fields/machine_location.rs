//! Location of a machine as a function of time: parallel passes over one of its fields, then parked until it moves to
//! the next.

use std::sync::Arc;

use super::boundaries::Field;
use super::deterministic_math::{heading, i64_to_f64, round_to_i64};
use super::plane::{CoordinateSystem, Point};

/// Seconds that a machine spends on a field, and the working part of them.
pub(crate) const TURN_SECONDS: i64 = 7_200;
pub(crate) const WORK_SECONDS: i64 = 6_000;

/// Speed in metres per second while working, and the distance of two passes in metres.
const SPEED: f64 = 2.5;
const SWATH: f64 = 12.0;

/// Fields that a machine visits in turn.
#[derive(Clone, Debug)]
pub struct Track(Vec<Arc<Field>>);

/// Location and motion of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineState {
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// Metres above sea level.
    pub alt: i64,
    /// Kilometres per hour.
    pub speed: i64,
    /// Degrees clockwise from north.
    pub direction: i64,
}

impl Track {
    pub(super) const fn new(fields: Vec<Arc<Field>>) -> Self {
        Self(fields)
    }

    /// Returns the state `seconds` after the epoch.
    #[must_use]
    pub fn state_at(&self, seconds: i64) -> MachineState {
        let turn = usize::try_from(seconds.div_euclid(TURN_SECONDS).rem_euclid(1 << 30)).unwrap_or(0);
        let Some(field) = turn.checked_rem(self.0.len()).and_then(|index| self.0.get(index)) else {
            return MachineState { lat: 0.0, lon: 0.0, alt: 0, speed: 0, direction: 0 };
        };
        let inside = seconds.rem_euclid(TURN_SECONDS);
        let driven = SPEED * i64_to_f64(inside.min(WORK_SECONDS));
        // A square around the centre. It is inside every boundary of that area.
        let half = field.area.sqrt() / 4.0;
        let passes = (2.0 * half / SWATH).floor().max(1.0);
        let pass = (driven / (2.0 * half)).floor();
        let along = driven - pass * 2.0 * half - half;
        let is_back = round_to_i64(pass) % 2 == 1;
        let forth = if is_back { -1.0 } else { 1.0 };
        let across = (pass - passes * (pass / passes).floor()) * SWATH - half;
        let location = Point::new(0.0, 0.0).moved(field.rows, along * forth).moved(field.rows.left(), across);
        let (lon, lat) = field.plane.coordinates(location, CoordinateSystem::Geographic);
        let works = inside < WORK_SECONDS;
        MachineState {
            lat,
            lon,
            alt: round_to_i64(field.lowest * field.relief.value_at(location)),
            speed: if works { round_to_i64(SPEED * 3.6) } else { 0 },
            direction: round_to_i64(heading(field.rows.east * forth, field.rows.north * forth)).rem_euclid(360),
        }
    }

    /// Returns the odometer in hectometres.
    #[must_use]
    pub fn odometer(seconds: i64) -> i64 {
        let turns = seconds.div_euclid(TURN_SECONDS).saturating_mul(WORK_SECONDS);
        round_to_i64(
            i64_to_f64(turns.saturating_add(seconds.rem_euclid(TURN_SECONDS).min(WORK_SECONDS))) * SPEED / 100.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::boundaries::fields;

    fn is_inside(boundary: &[Point], location: Point) -> bool {
        let next = boundary.iter().cycle().skip(1);
        boundary.iter().zip(next).filter(|(a, b)| (a.north > location.north) != (b.north > location.north)).fold(
            false,
            |inside, (a, b)| {
                let east = a.east + (location.north - a.north) / (b.north - a.north) * (b.east - a.east);
                inside != (location.east < east)
            },
        )
    }

    #[test]
    fn machine_stays_inside_its_fields_in_turn() {
        for seed in 0..20 {
            let fields = fields(seed);
            let track = Track::new(fields.clone());
            for seconds in (0..TURN_SECONDS * 6).step_by(90) {
                let field = &fields[usize::try_from(seconds / TURN_SECONDS).unwrap()];
                let machine = track.state_at(seconds);
                let (east, north) = {
                    let origin = field.plane.coordinates(Point::new(0.0, 0.0), CoordinateSystem::Geographic);
                    let metre = field.plane.coordinates(Point::new(1_000.0, 1_000.0), CoordinateSystem::Geographic);
                    (
                        (machine.lon - origin.0) / (metre.0 - origin.0) * 1_000.0,
                        (machine.lat - origin.1) / (metre.1 - origin.1) * 1_000.0,
                    )
                };
                assert!(is_inside(&field.boundary, Point::new(east, north)), "seed {seed}, {seconds} s: {machine:?}");
                assert_eq!(machine.speed == 0, seconds % TURN_SECONDS >= WORK_SECONDS);
                assert!((0..360).contains(&machine.direction));
            }
        }
    }

    #[test]
    fn odometer_never_decreases() {
        let driven: Vec<i64> = (0..20_000).step_by(30).map(Track::odometer).collect();
        assert!(driven.is_sorted() && driven.last() > driven.first());
    }
}
