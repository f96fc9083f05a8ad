//! Generates the swaths of a machine over a field: one pass around the headland, then parallel passes in alternating
//! direction. Each logged step becomes a point.

use super::boundaries::Field;
use super::deterministic_math::{heading, i64_to_f64, round_to_i64, scaled, unscaled, usize_to_f64};
use super::plane::Point;
use super::rng::{noise, stream, uniform};
use super::units::Units;

/// Decimals of widths and lengths in display units.
pub(super) const LENGTH_DECIMALS: u8 = 3;

/// A straight pass of the machine.
#[derive(Clone, Copy, Debug)]
struct Pass {
    start: Point,
    direction: Point,
    length: f64,
}

/// Parameters of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct SwathOptions {
    /// Working width in metres.
    pub(super) width: f64,
    /// Number of sections across the width, each with its own points.
    pub(super) sections: u8,
    /// Usual speed in metres per second.
    pub(super) speed: f64,
    /// Number of points to log. Sections that are off omit some.
    pub(super) points: usize,
}

/// A logged step of one section.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedPoint {
    /// Centre of the step.
    pub(super) location: Point,
    pub(super) direction: Point,
    /// Number of the pass, from 1.
    pub(super) pass: i64,
    /// Number of the section, from 1.
    pub(super) section: i64,
    /// Number of points between this point and the nearer end of the pass.
    pub(super) from_end: usize,
    /// Seconds since the start of the job.
    pub(super) seconds: f64,
    /// Length along the pass, in thousandths of the display's unit, as written.
    pub(super) distance: i64,
    /// Width, in the same form.
    pub(super) swath: i64,
}

/// Points of a job with their shared width and interval.
#[derive(Debug)]
pub(super) struct SwathLog {
    pub(super) points: Vec<LoggedPoint>,
    /// Full width of a point, in thousandths of the display's unit, as written.
    pub(super) swath: i64,
    /// Hundredths of a second between two points of a section.
    pub(super) cycle: i64,
}

impl SwathLog {
    /// Returns the area of a point in m², from the written numbers.
    pub(super) fn area(point: &LoggedPoint, units: &Units) -> f64 {
        let metres = |value| unscaled(value, LENGTH_DECIMALS) * units.length.1;
        metres(point.swath) * metres(point.distance)
    }

    /// Returns the speed at a point in metres per second.
    pub(super) fn speed(&self, point: &LoggedPoint, units: &Units) -> f64 {
        unscaled(point.distance, LENGTH_DECIMALS) * units.length.1 / unscaled(self.cycle, 2)
    }

    /// Returns the heading of a point in degrees.
    pub(super) fn heading(point: &LoggedPoint) -> f64 {
        heading(point.direction.east, point.direction.north)
    }

    /// Returns the corners of a point, clockwise.
    pub(super) fn corners(point: &LoggedPoint, units: &Units) -> [Point; 4] {
        let ahead = unscaled(point.distance, LENGTH_DECIMALS) * units.length.1 / 2.0;
        let aside = unscaled(point.swath, LENGTH_DECIMALS) * units.length.1 / 2.0;
        let corner = |along: f64, across: f64| {
            point.location.moved(point.direction, along * ahead).moved(point.direction.left(), across * aside)
        };
        [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)]
    }
}

/// Simulates the drive over the field.
pub(super) fn generate_swaths(field: &Field, options: SwathOptions, units: &Units, seed: u64) -> SwathLog {
    let mut rng = stream(seed, &[2]);
    let passes = passes(field, options.width);
    let total: f64 = passes.iter().map(|pass| pass.length).sum();
    let sections = usize::from(options.sections.max(1));
    let steps = options.points / sections;
    let cycle = round_to_i64(total / usize_to_f64(steps) / options.speed * 100.0).max(1);
    let swath = scaled(options.width / usize_to_f64(sections) / units.length.1, LENGTH_DECIMALS);
    let mut points = Vec::with_capacity(options.points);
    let (mut driven, mut seconds) = (0.0, 0.0);
    for (number, pass) in (1..).zip(&passes) {
        // Rounds the cumulative distance instead of each pass, so that the steps of all passes add up to `steps`.
        let before = round_to_i64(driven / total * usize_to_f64(steps));
        driven += pass.length;
        let here = usize::try_from(round_to_i64(driven / total * usize_to_f64(steps)) - before).unwrap_or(0);
        let first = LoggedPoint {
            location: pass.start,
            direction: pass.direction,
            pass: number,
            section: 1,
            from_end: 0,
            seconds: 0.0,
            distance: 0,
            swath,
        };
        for (length, from_end) in steps_of(&mut rng, pass.length, here) {
            let middle = first.location.moved(pass.direction, length.1);
            let distance = scaled(length.0 / units.length.1, LENGTH_DECIMALS);
            for section in 0..sections {
                // A section switches off where the ground is already covered.
                if sections > 1 && rng.u8(..) < 4 {
                    continue;
                }
                let aside =
                    (usize_to_f64(section) + 0.5 - usize_to_f64(sections) / 2.0) * unscaled(swath, LENGTH_DECIMALS);
                let location = middle.moved(pass.direction.left(), -aside * units.length.1);
                let section = round_to_i64(usize_to_f64(section)) + 1;
                points.push(LoggedPoint { location, section, from_end, seconds, distance, ..first });
            }
            seconds += i64_to_f64(cycle) / 100.0;
        }
        seconds += uniform(&mut rng, 15.0, 30.0);
    }
    SwathLog { points, swath, cycle }
}

/// Returns length, middle and number of steps to the nearer end, for each of `steps` steps of a pass. The machine is
/// slow after and before turns.
fn steps_of(rng: &mut fastrand::Rng, length: f64, steps: usize) -> Vec<((f64, f64), usize)> {
    const RAMP: [f64; 4] = [0.55, 0.72, 0.86, 0.95];
    let from_end = |step: usize| step.min(steps - 1 - step);
    let weights: Vec<f64> =
        (0..steps).map(|step| RAMP.get(from_end(step)).copied().unwrap_or(1.0) * (1.0 + 0.02 * noise(rng))).collect();
    let all: f64 = weights.iter().sum();
    let mut driven = 0.0;
    weights
        .iter()
        .enumerate()
        .map(|(step, weight)| {
            let step_length = weight / all * length;
            driven += step_length;
            ((step_length, driven - step_length / 2.0), from_end(step))
        })
        .collect()
}

fn passes(field: &Field, width: f64) -> Vec<Pass> {
    let mut passes = Vec::new();
    let ring = inset(&field.boundary, width / 2.0);
    for (from, to) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        let way = to.minus(*from);
        // The machine turns in the corner and does not work there.
        let length = way.length() - width;
        if length > width {
            let direction = way.unit();
            passes.push(Pass { start: from.moved(direction, width / 2.0), direction, length });
        }
    }
    let inner = inset(&field.boundary, width);
    let along = field.rows;
    let across = along.left();
    let levels = inner.iter().map(|vertex| vertex.dot(across));
    let (lowest, highest) = levels.fold((f64::MAX, f64::MIN), |(low, high), level| (low.min(level), high.max(level)));
    let mut back = false;
    let mut level = lowest + width / 2.0;
    while level < highest {
        for (from, to) in crossings(&inner, along, across, level) {
            if to - from > width {
                let (start, direction) = if back { (to, Point::new(-along.east, -along.north)) } else { (from, along) };
                let start = Point::new(0.0, 0.0).moved(along, start).moved(across, level);
                passes.push(Pass { start, direction, length: to - from });
            }
        }
        back = !back;
        level += width;
    }
    passes
}

/// Returns the polygon with each edge moved inwards by `distance`.
pub(super) fn inset(polygon: &[Point], distance: f64) -> Vec<Point> {
    let count = polygon.len();
    let vertex = |index: usize| polygon.get(index % count).copied().unwrap_or(Point::new(0.0, 0.0));
    (0..count)
        .map(|index| {
            let here = vertex(index);
            let before = here.minus(vertex(index + count - 1)).unit().left();
            let after = vertex(index + 1).minus(here).unit().left();
            // The moved edges intersect on the bisector. Sharper corners move further.
            let bisector = Point::new(before.east + after.east, before.north + after.north);
            here.moved(bisector, distance / (1.0 + before.dot(after)))
        })
        .collect()
}

/// Returns the intervals of the line at `level` that are inside the polygon, along the rows in ascending order.
pub(super) fn crossings(polygon: &[Point], along: Point, across: Point, level: f64) -> Vec<(f64, f64)> {
    let mut ends: Vec<f64> = polygon
        .iter()
        .zip(polygon.iter().cycle().skip(1))
        .filter_map(|(a, b)| {
            let (low, high) = (a.dot(across) - level, b.dot(across) - level);
            let share = low / (low - high);
            ((low < 0.0) != (high < 0.0)).then(|| a.dot(along) + share * b.minus(*a).dot(along))
        })
        .collect();
    ends.sort_unstable_by(f64::total_cmp);
    ends.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))).collect()
}
