//! Merges neighbouring zones of one rate by their shared edges, without arithmetic on coordinates.

use std::collections::BTreeMap;

use super::disjoint_sets::DisjointSets;
use super::lattice::{Part, Ring, Vertex, doubled_area, edges};

/// A zone as written: the rows that it comes from, its rate, and polygons of rings.
#[derive(Debug)]
pub(super) struct Zone {
    pub(super) rows: Vec<usize>,
    pub(super) rate: f64,
    pub(super) polygons: Vec<Vec<Ring>>,
}

/// Parts that share an edge, each pair once, with the length of the edges in metres.
pub(super) fn neighbours(parts: &[Part]) -> BTreeMap<(usize, usize), f64> {
    let mut sides: Vec<(Vertex, Vertex, usize)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        for (from, to) in part.rings.iter().flat_map(|ring| edges(ring)) {
            sides.push((from.min(to), from.max(to), number));
        }
    }
    sides.sort_unstable();
    let mut found = BTreeMap::new();
    for pair in sides.windows(2) {
        if let [(from, to, one), (u, v, other)] = pair
            && (from, to) == (u, v)
            && one != other
        {
            *found.entry((*one.min(other), *one.max(other))).or_insert(0.0) += metres(*from, *to);
        }
    }
    found
}

/// The length of an edge in metres, to a percent.
fn metres(from: Vertex, to: Vertex) -> f64 {
    const UNIT: f64 = 0.011_132;
    let [[x, y], [u, v]] = [from, to].map(super::lattice::to_degrees);
    let scale = super::lattice::SCALE * UNIT;
    ((u - x) * scale * v.to_radians().cos()).hypot((v - y) * scale)
}

/// Merges the parts of each group of one rate. Parts of one row that have its rate stay one zone.
pub(super) fn merge(parts: &[Part], rates: &[f64], shared: &BTreeMap<(usize, usize), f64>) -> Vec<Zone> {
    let mut sets = DisjointSets::new(parts.len());
    for (one, other) in shared.keys() {
        if is_equal(parts, *one, *other) {
            sets.union(*one, *other);
        }
    }
    let mut first_of_row: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        if rates.get(part.row).is_some_and(|rate| same_rate(*rate, part.rate)) {
            sets.union(*first_of_row.entry(part.row).or_insert(number), number);
        }
    }
    let mut members: BTreeMap<usize, Vec<&Part>> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        members.entry(sets.find(number)).or_default().push(part);
    }
    members.into_values().flat_map(|members| zones(&members)).collect()
}

fn is_equal(parts: &[Part], one: usize, other: usize) -> bool {
    parts.get(one).zip(parts.get(other)).is_some_and(|(one, other)| same_rate(one.rate, other.rate))
}

pub(super) fn same_rate(one: f64, other: f64) -> bool {
    (one - other).abs() == 0.0
}

/// The zone of a group, or the rows of the group one by one if they overlap.
fn zones(members: &[&Part]) -> Vec<Zone> {
    let mut rows: Vec<usize> = members.iter().map(|part| part.row).collect();
    rows.dedup();
    let rate = members.first().map_or(0.0, |part| part.rate);
    let plain = |rows: Vec<usize>, parts: &mut dyn Iterator<Item = &&Part>| Zone {
        rows,
        rate,
        polygons: parts.map(|part| part.rings.clone()).collect(),
    };
    if rows.len() <= 1 {
        // Spikes and sides that polygons of a zone share go, and rings that touch themselves are divided.
        let polygons = if is_one_loop(members) { None } else { dissolve(members) };
        return match polygons {
            // A zone whose holes leave no ground stays, and the check reports it.
            Some(polygons) if !polygons.is_empty() => vec![Zone { rows, rate, polygons }],
            _ => vec![plain(rows, &mut members.iter())],
        };
    }
    rows.sort_unstable();
    rows.dedup();
    match dissolve(members) {
        Some(polygons) => vec![Zone { rows, rate, polygons }],
        None => rows.iter().map(|row| plain(vec![*row], &mut members.iter().filter(|part| part.row == *row))).collect(),
    }
}

/// Whether parts are one ring that passes no vertex twice.
fn is_one_loop(members: &[&Part]) -> bool {
    let [Part { rings, .. }] = members else { return false };
    let [ring] = rings.as_slice() else { return false };
    let mut sorted = ring.clone();
    sorted.sort_unstable();
    !sorted.windows(2).any(|pair| pair.first() == pair.last())
}

/// The union of parts that share edges; `None` if an edge occurs twice in one direction, so that parts overlap.
fn dissolve(members: &[&Part]) -> Option<Vec<Vec<Ring>>> {
    let mut all: Vec<(Vertex, Vertex)> =
        members.iter().flat_map(|part| &part.rings).flat_map(|ring| edges(ring)).collect();
    all.sort_unstable();
    if all.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
        return None;
    }
    let is_outer = |(from, to): &(Vertex, Vertex)| all.binary_search(&(*to, *from)).is_err();
    let mut ends: BTreeMap<Vertex, Vec<Vertex>> = BTreeMap::new();
    for (from, to) in all.iter().filter(|edge| is_outer(edge)) {
        ends.entry(*from).or_default().push(*to);
    }
    let mut rings = Vec::new();
    while let Some((start, _)) = ends.first_key_value() {
        let path = walk(*start, &mut ends)?;
        split(path, &mut rings);
    }
    assign_holes(rings)
}

/// Follows edges from a vertex until it is reached again along the first edge's ground.
fn walk(start: Vertex, ends: &mut BTreeMap<Vertex, Vec<Vertex>>) -> Option<Ring> {
    let mut path = vec![start];
    let (mut before, mut here) = (None, start);
    loop {
        let choices = ends.get_mut(&here)?;
        let position = match before {
            Some(before) => leftmost(before, here, choices),
            None => 0,
        };
        let next = choices.remove(position);
        if choices.is_empty() {
            ends.remove(&here);
        }
        (before, here) = (Some(here), next);
        if here == start {
            return Some(path);
        }
        path.push(here);
    }
}

/// The choice that turns left most, so that polygons that touch at a vertex stay apart.
fn leftmost(before: Vertex, here: Vertex, choices: &[Vertex]) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "lengths of edges")]
    let angle = |to: Vertex| ((to[1] - here[1]) as f64).atan2((to[0] - here[0]) as f64);
    let back = angle(before);
    let clockwise = |to: Vertex| (back - angle(to)).rem_euclid(std::f64::consts::TAU);
    let order = |one: &Vertex, other: &Vertex| clockwise(*one).total_cmp(&clockwise(*other));
    let best = choices.iter().enumerate().min_by(|(_, one), (_, other)| order(one, other));
    best.map_or(0, |(position, _)| position)
}

/// Splits a path at vertices that it passes twice.
fn split(path: Ring, rings: &mut Vec<Ring>) {
    let mut positions: BTreeMap<Vertex, usize> = BTreeMap::new();
    let mut open = Ring::new();
    for vertex in path {
        if let Some(position) = positions.get(&vertex).copied() {
            let ring = open.split_off(position);
            for passed in &ring {
                positions.remove(passed);
            }
            rings.push(ring);
        }
        positions.insert(vertex, open.len());
        open.push(vertex);
    }
    rings.push(open);
}

/// Assigns holes to the smallest outer ring around them.
fn assign_holes(rings: Vec<Ring>) -> Option<Vec<Vec<Ring>>> {
    let (mut outer, holes): (Vec<Ring>, Vec<Ring>) = rings.into_iter().partition(|ring| doubled_area(ring) > 0);
    outer.sort_by_cached_key(|ring| doubled_area(ring));
    let mut polygons: Vec<Vec<Ring>> = outer.into_iter().map(|ring| vec![ring]).collect();
    for hole in holes {
        let position = polygons.iter().position(|rings| rings.first().is_some_and(|ring| is_around(ring, &hole)))?;
        polygons.get_mut(position)?.push(hole);
    }
    polygons.sort();
    Some(polygons)
}

/// Whether the middle of the first edge of a hole is inside of a ring, whose edges differ from those of the hole.
fn is_around(ring: &[Vertex], hole: &[Vertex]) -> bool {
    let Some(([x, y], [u, v])) = edges(hole).next() else { return false };
    let middle = [x + u, y + v];
    let twice = |vertex: Vertex| vertex.map(|value| 2 * value);
    let crosses = |(from, to): &(Vertex, Vertex)| {
        let (low, high) = if from[1] < to[1] { (twice(*from), twice(*to)) } else { (twice(*to), twice(*from)) };
        low[1] <= middle[1] && middle[1] < high[1] && super::lattice::turn(low, high, middle) > 0
    };
    edges(ring).filter(crosses).count() % 2 == 1
}
