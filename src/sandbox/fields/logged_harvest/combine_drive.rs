//! Simulates the drive of a combine along its passes: speeds, wandering, and turns with the header up.

use std::f64::consts::TAU;

use super::grain_transport::STEP;
use super::passes::{Event, PlannedPass};
use crate::fields::deterministic_math::{sin_cos, usize_to_f64};
use crate::fields::plane::Point;
use crate::fields::rng::{noise, uniform};

/// Acceleration and braking in m/s².
const ACCELERATION: f64 = 0.6;
const BRAKING: f64 = 1.1;

/// Speed in turns, and after lowering the header, in m/s.
const TURN_SPEED: f64 = 1.7;
const ENTRY_SPEED: f64 = 1.1;

/// Pieces of the polyline of a turn.
const PIECES: usize = 200;

/// Seconds of a standstill or a creep.
const EVENT_SECONDS: f64 = 7.0;

/// Motion of a machine in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Middle of the cutter bar at the end of the step.
    pub(super) cutter: Point,
    pub(super) direction: Point,
    /// Metres driven in the step.
    pub(super) length: f64,
    /// Number of the pass. A turn has the number of the pass before it.
    pub(super) pass: u16,
    /// Whether the header cuts.
    pub(super) is_cutting: bool,
    /// Whether the display logs the header as down, which may also be the case in a turn.
    pub(super) is_header_down: bool,
}

/// Lateral deviation from a planned pass: two waves.
#[derive(Clone, Copy, Debug)]
struct Wander([(f64, f64, f64); 2]);

impl Wander {
    fn new(rng: &mut fastrand::Rng) -> Self {
        Self([(0.12, 90.0), (0.06, 37.0)].map(|(height, wave)| {
            (height * uniform(rng, 0.4, 1.3), TAU / (wave * uniform(rng, 0.8, 1.25)), rng.f64() * TAU)
        }))
    }

    /// Returns the deviation to the left and its slope.
    fn value_at(&self, distance: f64) -> (f64, f64) {
        self.0.iter().fold((0.0, 0.0), |(offset, slope), (height, rate, phase)| {
            let (sine, cosine) = sin_cos(distance * rate + phase);
            (offset + height * sine, slope + height * rate * cosine)
        })
    }
}

/// A machine on its way.
struct Drive<'a> {
    rng: &'a mut fastrand::Rng,
    steps: Vec<Step>,
    /// Speed in m/s.
    speed: f64,
    /// Slow variation of the speed.
    drift: f64,
    /// Usual speed in m/s.
    usual: f64,
    /// Steps between two rows of the log.
    steps_in_row: usize,
}

/// Drives along `passes`, numbered from `first_number`. Passes begin and end with a row of the log. The drive ends with
/// 40 seconds off the field, in which the machine empties.
pub(super) fn drive(
    rng: &mut fastrand::Rng,
    passes: &[PlannedPass],
    first_number: u16,
    usual: f64,
    steps_in_row: usize,
) -> Vec<Step> {
    let wanders: Vec<Wander> = passes.iter().map(|_| Wander::new(rng)).collect();
    let mut drive = Drive { rng, steps: Vec::new(), speed: ENTRY_SPEED, drift: 0.0, usual, steps_in_row };
    for (index, ((pass, wander), number)) in passes.iter().zip(&wanders).zip(first_number..).enumerate() {
        drive.work(pass, wander, number);
        match passes.get(index + 1).zip(wanders.get(index + 1)) {
            Some((next, next_wander)) => {
                let (start, direction) = pose(next, next_wander, 0.0);
                // The operator forgets to lift the header in some turns.
                drive.turn(start, direction, number, index % 9 == 4);
            }
            None => {
                if let Some(last) = drive.steps.last().copied() {
                    drive.turn(last.cutter.moved(last.direction, 40.0 * TURN_SPEED), last.direction, number, false);
                }
            }
        }
    }
    drive.steps
}

/// Returns location and direction of the header on a pass.
fn pose(pass: &PlannedPass, wander: &Wander, distance: f64) -> (Point, Point) {
    let (offset, slope) = wander.value_at(distance);
    let left = pass.direction.left();
    (pass.start.moved(pass.direction, distance).moved(left, offset), pass.direction.moved(left, slope).unit())
}

impl Drive<'_> {
    fn accelerate(&mut self, target: f64) {
        self.speed += (target - self.speed).clamp(-BRAKING * STEP, ACCELERATION * STEP);
    }

    fn is_at_row_end(&self) -> bool {
        self.steps.len().is_multiple_of(self.steps_in_row)
    }

    /// Harvests a pass.
    fn work(&mut self, pass: &PlannedPass, wander: &Wander, number: u16) {
        let event_start = pass.length * uniform(self.rng, 0.4, 0.6);
        let event_speed = if pass.event == Event::Stands { 0.0 } else { uniform(self.rng, 0.15, 0.25) };
        let mut event_seconds = if pass.event == Event::None { 0.0 } else { EVENT_SECONDS };
        let mut driven = 0.0;
        let mut is_cutting = false;
        while driven < pass.length || !self.is_at_row_end() {
            // The header is lowered when a row of the log ends.
            is_cutting |= self.is_at_row_end();
            self.drift = 0.97 * self.drift + 0.012 * noise(self.rng);
            let target = if driven >= event_start && event_seconds > 0.0 {
                if self.speed <= event_speed {
                    event_seconds -= STEP;
                }
                event_speed
            } else if pass.length - driven < 3.0 {
                ENTRY_SPEED
            } else {
                self.usual * (1.0 + self.drift)
            };
            self.accelerate(target);
            driven += self.speed * STEP;
            let (cutter, direction) = pose(pass, wander, driven);
            let length = self.speed * STEP;
            self.steps.push(Step { cutter, direction, length, pass: number, is_cutting, is_header_down: is_cutting });
        }
    }

    /// Drives a smooth curve to the start of the next pass.
    fn turn(&mut self, end: Point, end_direction: Point, pass: u16, is_header_down: bool) {
        let Some(Step { cutter: start, direction: start_direction, .. }) = self.steps.last().copied() else { return };
        let chord = end.minus(start).length();
        let reach = (0.4 * chord).max(if start_direction.dot(end_direction) < 0.0 { 15.0 } else { 4.0 });
        let (leave, arrive) = (start.moved(start_direction, reach), end.moved(end_direction, -reach));
        let curve = |share: f64| {
            let rest = 1.0 - share;
            let weights =
                [rest * rest * rest, 3.0 * rest * rest * share, 3.0 * rest * share * share, share * share * share];
            [start, leave, arrive, end]
                .iter()
                .zip(weights)
                .fold(Point::new(0.0, 0.0), |sum, (point, weight)| sum.moved(*point, weight))
        };
        // The curve is approximated by a polyline.
        let corners: Vec<Point> = (0..=PIECES).map(|piece| curve(usize_to_f64(piece) / usize_to_f64(PIECES))).collect();
        let mut remaining: f64 = 0.0;
        let mut length = 0.0;
        for (from, to) in corners.iter().zip(corners.iter().skip(1)) {
            let way = to.minus(*from);
            let piece = way.length();
            if piece <= 0.0 {
                continue;
            }
            let direction = way.unit();
            let mut along = remaining;
            while along <= piece {
                if length > 0.0 {
                    let cutter = from.moved(direction, along);
                    self.steps.push(Step { cutter, direction, length, pass, is_cutting: false, is_header_down });
                }
                self.accelerate(TURN_SPEED);
                length = self.speed * STEP;
                along += length.max(0.05);
            }
            remaining = along - piece;
        }
        self.speed = self.speed.min(ENTRY_SPEED);
    }
}
