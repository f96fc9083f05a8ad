//! Where a machine is at any time: back and forth over one of its fields, then parked until it moves to the next.

use std::sync::Arc;

use super::boundaries::Field;
use super::deterministic_math::{heading, real, whole};
use super::plane::{Point, System};

/// Seconds that a machine spends with one field, and those of them in which it works.
pub(crate) const TURN: i64 = 7_200;
pub(crate) const WORK: i64 = 6_000;

/// Metres a second while it works, and between two passes.
const SPEED: f64 = 2.5;
const SWATH: f64 = 12.0;

/// The fields that a machine drives over, in turn.
#[derive(Clone, Debug)]
pub struct Track(Vec<Arc<Field>>);

/// Where a machine is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Degrees.
    pub lat: f64,
    /// Degrees.
    pub lon: f64,
    /// Metres above the sea.
    pub alt: i64,
    /// Kilometres an hour.
    pub speed: i64,
    /// Degrees clockwise from north.
    pub direction: i64,
}

impl Track {
    pub(super) const fn new(fields: Vec<Arc<Field>>) -> Self {
        Self(fields)
    }

    /// Where the machine is `seconds` after the start of time.
    #[must_use]
    pub fn at(&self, seconds: i64) -> Place {
        let turn = usize::try_from(seconds.div_euclid(TURN).rem_euclid(1 << 30)).unwrap_or(0);
        let Some(field) = turn.checked_rem(self.0.len()).and_then(|index| self.0.get(index)) else {
            return Place { lat: 0.0, lon: 0.0, alt: 0, speed: 0, direction: 0 };
        };
        let inside = seconds.rem_euclid(TURN);
        let driven = SPEED * real(inside.min(WORK));
        // A square around the middle that lies within every boundary of that area.
        let half = field.area.sqrt() / 4.0;
        let passes = (2.0 * half / SWATH).floor().max(1.0);
        let pass = (driven / (2.0 * half)).floor();
        let along = driven - pass * 2.0 * half - half;
        let is_back = whole(pass) % 2 == 1;
        let forth = if is_back { -1.0 } else { 1.0 };
        let across = (pass - passes * (pass / passes).floor()) * SWATH - half;
        let place = Point::new(0.0, 0.0).moved(field.rows, along * forth).moved(field.rows.left(), across);
        let (lon, lat) = field.plane.coordinates(place, System::Geographic);
        let works = inside < WORK;
        Place {
            lat,
            lon,
            alt: whole(field.lowest * field.relief.at(place)),
            speed: if works { whole(SPEED * 3.6) } else { 0 },
            direction: whole(heading(field.rows.east * forth, field.rows.north * forth)).rem_euclid(360),
        }
    }

    /// Hectometres driven until then, as an odometer counts them.
    #[must_use]
    pub fn driven(seconds: i64) -> i64 {
        let turns = seconds.div_euclid(TURN).saturating_mul(WORK);
        whole(real(turns.saturating_add(seconds.rem_euclid(TURN).min(WORK))) * SPEED / 100.0)
    }

    /// How many fields there are.
    #[must_use]
    pub fn fields(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::fields::boundaries::fields;

    fn is_inside(boundary: &[Point], place: Point) -> bool {
        let next = boundary.iter().cycle().skip(1);
        boundary.iter().zip(next).filter(|(a, b)| (a.north > place.north) != (b.north > place.north)).fold(
            false,
            |inside, (a, b)| {
                let east = a.east + (place.north - a.north) / (b.north - a.north) * (b.east - a.east);
                inside != (place.east < east)
            },
        )
    }

    #[test]
    fn machines_stay_on_their_fields_and_take_them_in_turn() {
        for seed in 0..20 {
            let fields = fields(seed);
            let track = Track::new(fields.clone());
            for seconds in (0..TURN * 6).step_by(90) {
                let field = &fields[usize::try_from(seconds / TURN).unwrap()];
                let place = track.at(seconds);
                let (east, north) = {
                    let origin = field.plane.coordinates(Point::new(0.0, 0.0), System::Geographic);
                    let metre = field.plane.coordinates(Point::new(1_000.0, 1_000.0), System::Geographic);
                    (
                        (place.lon - origin.0) / (metre.0 - origin.0) * 1_000.0,
                        (place.lat - origin.1) / (metre.1 - origin.1) * 1_000.0,
                    )
                };
                assert!(is_inside(&field.boundary, Point::new(east, north)), "seed {seed}, {seconds} s: {place:?}");
                assert_eq!(place.speed == 0, seconds % TURN >= WORK);
                assert!((0..360).contains(&place.direction));
            }
        }
    }

    #[test]
    fn an_odometer_never_runs_back() {
        let driven: Vec<i64> = (0..20_000).step_by(30).map(Track::driven).collect();
        assert!(driven.is_sorted() && driven.last() > driven.first());
    }
}
