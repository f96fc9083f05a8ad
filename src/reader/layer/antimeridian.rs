//! Longitudes across the antimeridian: continuous ones for areas and maps, and geometries cut in two for GeoJSON.
//!
//! Files state longitudes within 180 degrees, so a side across the antimeridian seems to go around the world. A step of
//! more than 180 degrees therefore takes the short way. An exception is a ring whose sides run along the antimeridian
//! itself, such as the box of a world map, for which both ways have the same ends.

use super::containment::{self, Polygons};
use super::winding;

/// Degrees within which a vertex is on the antimeridian.
const ON_SEAM: f64 = 1e-6;

/// Longitude, latitude and height.
pub(super) type Vertex = [f64; 3];
/// A shell and its holes, closed.
pub(super) type Rings = Vec<Vec<Vertex>>;

/// Longitudes without steps of more than 180 degrees. `None` if there are none, or if the steps are those of a map of the
/// world.
pub(super) fn unwrap(longitudes: &[f64]) -> Option<Vec<f64>> {
    let is_long = |step: f64| step.abs() > 180.0;
    let steps = longitudes.windows(2).map(|pair| if let [from, to] = pair { to - from } else { 0.0 });
    if !steps.clone().any(is_long) {
        return None;
    }
    let (mut turns, mut has_seam) = (0.0, false);
    let mut all = vec![longitudes.first().copied()?];
    for (step, longitude) in steps.zip(longitudes.iter().skip(1)) {
        if is_long(step) {
            has_seam |= step.abs() > 360.0 - ON_SEAM;
            turns -= 360.0 * step.signum();
        }
        all.push(longitude + turns);
    }
    let is_around = has_seam && turns != 0.0 && longitudes.first() == longitudes.last();
    let (low, high) = range(all.iter().copied());
    (!is_around && high - low > ON_SEAM).then_some(all)
}

/// The parts of a line on either side of the antimeridian.
pub(super) fn cut_line(line: &[Vertex]) -> Vec<Vec<Vertex>> {
    let Some(line) = unwrapped(line) else { return vec![line.to_vec()] };
    let mut parts: Vec<Vec<Vertex>> = Vec::new();
    let mut part: Vec<Vertex> = Vec::new();
    for pair in line.windows(2) {
        let [from, to] = pair else { continue };
        let (from_turn, to_turn) = (turns(from[0]), turns(to[0]));
        if part.is_empty() {
            part.push(shifted(*from, from_turn));
        }
        if from_turn < to_turn || to_turn < from_turn {
            let crossing = at(360.0 * from_turn.max(to_turn) - 180.0, *from, *to);
            part.push(shifted(crossing, from_turn));
            parts.push(std::mem::replace(&mut part, vec![shifted(crossing, to_turn)]));
        }
        part.push(shifted(*to, to_turn));
    }
    parts.push(part);
    for part in &mut parts {
        part.dedup();
    }
    parts.retain(|part| part.len() > 1);
    parts
}

/// The parts of a polygon on either side of the antimeridian, with rings in the directions of RFC 7946.
pub(super) fn cut_polygon(mut rings: Rings) -> Vec<Rings> {
    // The reader compares longitudes as they are, so of two rings that cross, it takes the inner one for the shell.
    let largest = rings.iter().enumerate().rev().max_by(|one, other| extent(one.1).total_cmp(&extent(other.1)));
    if let Some((index, _)) = largest {
        rings.swap(0, index);
    }
    let shell = rings.first().and_then(|shell| unwrapped(shell));
    let Some(mut shell) = shell else {
        direct(&mut rings);
        return vec![rings];
    };
    if let (Some(first), Some(last)) = (shell.first().copied(), shell.last().copied())
        && (last[0] - first[0]).abs() > 180.0
    {
        // The ring goes around a pole.
        let pole = 90.0_f64.copysign(first[1]);
        shell.extend([[last[0], pole, last[2]], [first[0], pole, first[2]], first]);
    }
    let (west, east) = range(shell.iter().map(|vertex| vertex[0]));
    for hole in rings.iter_mut().skip(1) {
        if let Some(unwrapped) = unwrapped(hole) {
            *hole = unwrapped;
        }
        let (low, high) = range(hole.iter().map(|vertex| vertex[0]));
        let away = ((f64::midpoint(west, east) - f64::midpoint(low, high)) / 360.0).round();
        for vertex in hole {
            *vertex = shifted(*vertex, -away);
        }
    }
    if let Some(first) = rings.first_mut() {
        *first = shell;
    }
    direct(&mut rings);
    let (mut parts, mut rest, mut number) = (Vec::new(), vec![rings], turns(west));
    while !rest.is_empty() {
        let side = 360.0 * number + 180.0;
        for rings in rest.iter().flat_map(|rings| half(rings, side, true)) {
            let back = |ring: Vec<Vertex>| ring.into_iter().map(|vertex| shifted(vertex, number)).collect();
            parts.push(rings.into_iter().map(back).collect());
        }
        rest = rest.iter().flat_map(|rings| half(rings, side, false)).collect();
        number += 1.0;
    }
    parts
}

/// Whether a ring in degrees is wider than 180 of them. A ring across the antimeridian seems to be.
#[must_use]
pub fn is_around_globe(ring: &[[f64; 2]]) -> bool {
    let (west, east) = range(ring.iter().map(|[x, _]| *x));
    east - west > 180.0 && east - west <= 360.0
}

/// Polygons on either side of the antimeridian (RFC 7946, section 3.1.9), from polygons whose rings have no closing
/// vertex. Maps of the world stay as they are.
#[must_use]
pub fn cut_at_antimeridian(polygons: Polygons) -> Polygons {
    if !polygons.iter().flatten().any(|ring| is_around_globe(ring)) {
        return polygons;
    }
    let closed = |ring: Vec<[f64; 2]>| ring.iter().chain(ring.first()).map(|[x, y]| [*x, *y, 0.0]).collect();
    let open = |mut ring: Vec<Vertex>| -> Vec<[f64; 2]> {
        ring.pop();
        ring.into_iter().map(|[x, y, _]| [x, y]).collect()
    };
    let cut = |rings: Vec<Vec<[f64; 2]>>| cut_polygon(rings.into_iter().map(closed).collect());
    polygons.into_iter().flat_map(cut).map(|rings| rings.into_iter().map(open).collect()).collect()
}

/// The degrees of longitude of a ring.
fn extent(ring: &[Vertex]) -> f64 {
    let unwrapped = unwrapped(ring);
    let (west, east) = range(unwrapped.as_deref().unwrap_or(ring).iter().map(|vertex| vertex[0]));
    east - west
}

/// Reverses rings whose direction is not that of RFC 7946.
fn direct(rings: &mut Rings) {
    for (index, ring) in rings.iter_mut().enumerate() {
        let (xs, ys): (Vec<f64>, Vec<f64>) = ring.iter().map(|vertex| (vertex[0], vertex[1])).unzip();
        if winding::is_reversed(&xs, &ys, index == 0) {
            ring.reverse();
        }
    }
}

/// The smallest and the largest value.
pub(super) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

fn unwrapped(vertices: &[Vertex]) -> Option<Vec<Vertex>> {
    let longitudes: Vec<f64> = vertices.iter().map(|vertex| vertex[0]).collect();
    let unwrapped = unwrap(&longitudes)?;
    Some(unwrapped.into_iter().zip(vertices).map(|(x, [_, y, z])| [x, *y, *z]).collect())
}

/// The number of full turns of a longitude.
fn turns(longitude: f64) -> f64 {
    ((longitude + 180.0) / 360.0).floor()
}

fn shifted(vertex: Vertex, turns: f64) -> Vertex {
    [vertex[0] - 360.0 * turns, vertex[1], vertex[2]]
}

/// The vertex of a side at a longitude.
fn at(longitude: f64, [from_x, from_y, from_z]: Vertex, [to_x, to_y, to_z]: Vertex) -> Vertex {
    let share = (longitude - from_x) / (to_x - from_x);
    [longitude, from_y + share * (to_y - from_y), from_z + share * (to_z - from_z)]
}

/// The parts of a polygon west or east of a longitude. The rings are split into chains where they cross it.
fn half(rings: &Rings, longitude: f64, is_west: bool) -> Vec<Rings> {
    let is_here = |vertex: &Vertex| (vertex[0] < longitude) == is_west;
    let (mut chains, mut whole): (Vec<Vec<Vertex>>, Rings) = (Vec::new(), Vec::new());
    for ring in rings {
        let sides = || ring.iter().zip(ring.iter().skip(1));
        let Some(start) = sides().position(|(from, to)| !is_here(from) && is_here(to)) else {
            whole.extend(ring.first().is_some_and(is_here).then(|| ring.clone()));
            continue;
        };
        let mut chain = Vec::new();
        for (from, to) in sides().cycle().skip(start).take(ring.len().saturating_sub(1)) {
            if is_here(from) != is_here(to) {
                chain.push(at(longitude, *from, *to));
            }
            if is_here(to) {
                chain.push(*to);
            } else if is_here(from) {
                chains.push(std::mem::take(&mut chain));
            }
        }
    }
    let mut parts: Vec<Rings> = joined(&chains).into_iter().map(|ring| vec![ring]).collect();
    let mut holes = whole.into_iter();
    if chains.is_empty() {
        parts.extend(holes.next().map(|shell| vec![shell]));
    }
    for hole in holes {
        let [x, y, _] = hole.first().copied().unwrap_or_default();
        let has_it = |rings: &&mut Rings| rings.first().is_some_and(|shell| ring_contains(shell, x, y));
        if let Some(part) = parts.iter_mut().find(has_it) {
            part.push(hole);
        }
    }
    parts
}

/// Joins chains that begin and end at one longitude to rings.
///
/// Between the first and the second end from the south, the third and the fourth, and so on, this longitude is inside
/// the polygon, so the sides there belong to its parts.
fn joined(chains: &[Vec<Vertex>]) -> Rings {
    let mut ends: Vec<(f64, usize, bool)> = Vec::new();
    for (index, chain) in chains.iter().enumerate() {
        ends.extend(chain.first().map(|vertex| (vertex[1], index, true)));
        ends.extend(chain.last().map(|vertex| (vertex[1], index, false)));
    }
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    let next_of = |index: usize| {
        let is_pair = |pair: &&[(f64, usize, bool)]| pair.iter().any(|end| (end.1, end.2) == (index, false));
        let pair = ends.chunks(2).find(is_pair).unwrap_or_default();
        // Rings that intersect themselves have other pairs.
        pair.iter().find(|end| end.2).map_or(index, |end| end.1)
    };
    let mut rings = Vec::new();
    let mut is_used = vec![false; chains.len()];
    for first in 0..chains.len() {
        let (mut index, mut ring) = (first, Vec::new());
        while let Some(used) = is_used.get_mut(index).filter(|used| !**used) {
            *used = true;
            ring.extend(chains.get(index).into_iter().flatten());
            index = next_of(index);
        }
        ring.extend(ring.first().copied());
        ring.dedup();
        let (low, high) = range(ring.iter().map(|vertex: &Vertex| vertex[0]));
        if high > low {
            rings.push(ring);
        }
    }
    rings
}

fn ring_contains(ring: &[Vertex], x: f64, y: f64) -> bool {
    let (xs, ys): (Vec<f64>, Vec<f64>) = ring.iter().map(|vertex| (vertex[0], vertex[1])).unzip();
    containment::crossings(&xs, &ys, x, y) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(vertices: &[(f64, f64)]) -> Vec<Vertex> {
        vertices.iter().chain(vertices.first()).map(|(x, y)| [*x, *y, 0.0]).collect()
    }

    fn size(rings: &Rings) -> f64 {
        let doubled = |ring: &Vec<Vertex>| -> f64 {
            ring.windows(2).map(|pair| pair[0][0] * pair[1][1] - pair[1][0] * pair[0][1]).sum()
        };
        rings.iter().map(doubled).sum::<f64>() / 2.0
    }

    #[test]
    fn parts_of_polygons_have_their_area_and_do_not_cross() {
        let square = [(179.0, 0.0), (-179.0, 0.0), (-179.0, 2.0), (179.0, 2.0)];
        let comb = [(179.0, 0.0), (-179.0, 0.0), (-179.0, 1.0), (179.5, 1.0), (179.5, 2.0), (-179.0, 2.0)];
        let comb: Vec<(f64, f64)> = comb.into_iter().chain([(-179.0, 3.0), (179.0, 3.0)]).collect();
        let pond = [(179.5, 0.5), (-179.5, 0.5), (-179.5, 1.5), (179.5, 1.5)];
        let east = [(-179.5, 0.5), (-179.25, 0.5), (-179.25, 1.5), (-179.5, 1.5)];
        let on_it = [(179.0, 0.0), (180.0, 0.0), (-180.0, 0.0), (-179.0, 1.0), (180.0, 2.0), (179.0, 2.0)];
        let cases = [
            (vec![square.to_vec()], 2, 4.0),
            (vec![square.iter().rev().copied().collect()], 2, 4.0),
            (vec![comb], 3, 4.5),
            (vec![square.to_vec(), pond.to_vec()], 2, 3.0),
            (vec![square.to_vec(), east.to_vec()], 2, 3.75),
            (vec![on_it.to_vec()], 2, 3.0),
        ];
        for (rings, count, expected) in cases {
            let parts = cut_polygon(rings.iter().map(|vertices| ring(vertices)).collect());
            assert_eq!(parts.len(), count, "{rings:?}: {parts:?}");
            assert!((parts.iter().map(size).sum::<f64>() - expected).abs() < 1e-9, "{rings:?}: {parts:?}");
            for part in parts.iter().flatten() {
                let (low, high) = range(part.iter().map(|vertex| vertex[0]));
                assert!(high - low < 2.0 && part.first() == part.last(), "{part:?}");
            }
        }
    }

    #[test]
    fn polygons_of_open_rings_are_cut_where_they_cross() {
        let ring = |west: f64, east: f64| vec![[west, 0.0], [east, 0.0], [east, 2.0], [west, 2.0]];
        let parts = cut_at_antimeridian(vec![vec![ring(10.0, 11.0)], vec![ring(179.0, -179.0)]]);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0], [ring(10.0, 11.0)]);
        assert!(parts.iter().flatten().all(|ring| ring.len() == 4 && !is_around_globe(ring)), "{parts:?}");
        let world = vec![vec![ring(-180.0, 180.0)]];
        assert_eq!(cut_at_antimeridian(world.clone()), world);
    }

    #[test]
    fn maps_of_the_world_are_not_cut() {
        let world = [(-180.0, -90.0), (180.0, -90.0), (180.0, 90.0), (-180.0, 90.0)];
        let south = [(-180.0, -70.0), (-180.0, -90.0), (180.0, -90.0), (180.0, -70.0), (0.0, -60.0)];
        for vertices in [&world[..], &south[..]] {
            assert_eq!(cut_polygon(vec![ring(vertices)]), [vec![ring(vertices)]]);
        }
        let cap = [(0.0, -70.0), (-120.0, -70.0), (120.0, -70.0)];
        let parts = cut_polygon(vec![ring(&cap)]);
        assert!((parts.iter().map(size).sum::<f64>() - 360.0 * 20.0).abs() < 1e-9, "{parts:?}");
    }

    #[test]
    fn lines_are_cut_where_they_cross() {
        let line = [[179.0, 0.0, 10.0], [-179.0, 2.0, 20.0], [-178.0, 2.0, 20.0], [178.0, 2.0, 20.0]];
        let parts = cut_line(&line);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0], [[179.0, 0.0, 10.0], [180.0, 1.0, 15.0]]);
        assert_eq!(parts[1].first(), Some(&[-180.0, 1.0, 15.0]));
        assert_eq!(parts[2].first(), Some(&[180.0, 2.0, 20.0]));
        assert_eq!(cut_line(&line[1..3]), [&line[1..3]]);
    }
}
