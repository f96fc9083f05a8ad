//! Plans the passes of a combine: two rounds of the headland, then parallel passes that overlap and reach into it.

use crate::fields::boundaries::Field;
use crate::fields::plane::Point;
use crate::fields::rng::uniform;
use crate::fields::swaths::{crossings, inset};

/// Shortest pass in metres that a combine harvests on its own.
const SHORTEST: f64 = 40.0;

/// A planned pass of the middle of the header.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedPass {
    pub(super) start: Point,
    pub(super) direction: Point,
    pub(super) length: f64,
    pub(super) event: Event,
}

/// Something that slows a pass down half-way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    None,
    /// The machine creeps for some seconds, as in lodged crop.
    Creeps,
    /// The machine stands for some seconds.
    Stands,
}

/// Returns the passes of each machine in the order of work.
pub(super) fn plan_passes(
    rng: &mut fastrand::Rng,
    field: &Field,
    width: f64,
    machines: usize,
) -> Vec<Vec<PlannedPass>> {
    let rounds = [0.5 * width, 1.46 * width].map(|distance| round(field, distance, width));
    let inner = parallel_passes(rng, field, width);
    let mut planned = match machines {
        0 | 1 => vec![rounds.into_iter().flatten().chain(inner).collect::<Vec<_>>()],
        // Each machine drives one round and half of the field.
        _ => {
            let (first, second) = inner.split_at(inner.len() / 2);
            let [outer, next] = rounds;
            vec![[&outer, first].concat(), [&next, second].concat()]
        }
    };
    for passes in &mut planned {
        add_events(rng, passes);
    }
    planned
}

/// Returns the passes of a round of the headland. The machine lifts the header and turns in each corner.
fn round(field: &Field, distance: f64, width: f64) -> Vec<PlannedPass> {
    let ring = inset(&field.boundary, distance);
    let sides = ring.iter().zip(ring.iter().cycle().skip(1));
    sides
        .filter_map(|(from, to)| {
            let way = to.minus(*from);
            let (direction, length) = (way.unit(), way.length() - width);
            let start = from.moved(direction, width / 2.0);
            (length > SHORTEST).then_some(PlannedPass { start, direction, length, event: Event::None })
        })
        .collect()
}

fn parallel_passes(rng: &mut fastrand::Rng, field: &Field, width: f64) -> Vec<PlannedPass> {
    let inner = inset(&field.boundary, 1.92 * width);
    let along = field.rows;
    let across = along.left();
    let levels = inner.iter().map(|vertex| vertex.dot(across));
    let (lowest, highest) = levels.fold((f64::MAX, f64::MIN), |(low, high), level| (low.min(level), high.max(level)));
    let spacing = width * uniform(rng, 0.95, 0.985);
    // One pass overlaps its neighbour by nearly half.
    let count = ((highest - lowest) / spacing).max(3.0);
    let close_level = lowest + spacing * (count * uniform(rng, 0.2, 0.8)).floor();
    let mut passes = Vec::new();
    let mut level = lowest + width * 0.48;
    let (mut is_back, mut is_close_pending) = (false, true);
    // The last pass is narrower than the header: part of it is on the headland.
    while level < highest + 0.3 * width {
        for (from, to) in spans(&inner, along, across, level, width) {
            if to - from > SHORTEST {
                let (start, direction) =
                    if is_back { (to, Point::new(-along.east, -along.north)) } else { (from, along) };
                let start = Point::new(0.0, 0.0).moved(along, start).moved(across, level);
                passes.push(PlannedPass { start, direction, length: to - from, event: Event::None });
            }
        }
        is_back = !is_back;
        let is_close = is_close_pending && level > close_level;
        is_close_pending &= !is_close;
        level += if is_close { 0.55 * width } else { spacing };
    }
    passes
}

/// Returns the spans of a pass along the rows. It starts and ends where the whole header is on the headland, so that
/// its ends are point rows where the headland is oblique. The extension is limited at acute corners.
fn spans(inner: &[Point], along: Point, across: Point, level: f64, width: f64) -> Vec<(f64, f64)> {
    let half = 0.5 * width;
    let edges: Vec<(f64, f64)> =
        [-half, half].into_iter().flat_map(|aside| crossings(inner, along, across, level + aside)).collect();
    let mut middle = crossings(inner, along, across, level);
    if middle.is_empty() {
        middle.clone_from(&edges);
        middle.truncate(1);
    }
    for (from, to) in &mut middle {
        let (first, last) = (*from, *to);
        for edge in edges.iter().filter(|edge| edge.0 < last && edge.1 > first) {
            *from = from.min(edge.0.max(first - 2.0 * width));
            *to = to.max(edge.1.min(last + 2.0 * width));
        }
    }
    middle
}

/// Slows down a few of the longer passes: at least one of each kind, if there are two.
fn add_events(rng: &mut fastrand::Rng, passes: &mut [PlannedPass]) {
    let mut long: Vec<&mut PlannedPass> = passes.iter_mut().filter(|pass| pass.length > 160.0).collect();
    rng.shuffle(&mut long);
    for (number, pass) in long.iter_mut().enumerate() {
        pass.event = match number % 12 {
            0 => Event::Creeps,
            1 => Event::Stands,
            _ => Event::None,
        };
    }
}
