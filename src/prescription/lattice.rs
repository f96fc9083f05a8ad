//! Polygons of zones on the lattice of written coordinates, which are degrees with 7 decimals.

use std::collections::HashMap;

use headland_reader::layer::Polygons;

/// Lattice units of a degree. One unit is about 11 mm of latitude.
pub(super) const SCALE: f64 = 1e7;

/// Longitude and latitude in lattice units.
pub(super) type Vertex = [i64; 2];

/// A ring without the closing vertex.
pub(super) type Ring = Vec<Vertex>;

/// One polygon of a zone: the outer ring runs anticlockwise, holes clockwise.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The row that it comes from.
    pub(super) row: usize,
    pub(super) rate: f64,
    pub(super) rings: Vec<Ring>,
}

/// Rounds polygons of rows in degrees to the lattice. Also returns rows of which a ring has no area there.
pub(super) fn round(rows: &[Polygons], rates: &[f64]) -> (Vec<Part>, Vec<usize>) {
    let mut snapped = HashMap::new();
    let (mut parts, mut lost) = (Vec::new(), Vec::new());
    for (row, (polygons, rate)) in rows.iter().zip(rates).enumerate() {
        for polygon in polygons {
            let rings: Vec<Option<Ring>> =
                polygon.iter().enumerate().map(|(number, ring)| round_ring(ring, number == 0, &mut snapped)).collect();
            if rings.first().is_some_and(Option::is_some) {
                parts.push(Part { row, rate: *rate, rings: rings.into_iter().flatten().collect() });
            } else if lost.last() != Some(&row) {
                lost.push(row);
            }
        }
    }
    (parts, lost)
}

/// A ring on the lattice, in its direction; `None` without an area.
fn round_ring(ring: &[[f64; 2]], is_outer: bool, snapped: &mut HashMap<Vertex, Vertex>) -> Option<Ring> {
    let mut vertices: Ring = ring.iter().map(|[x, y]| snap([to_lattice(*x), to_lattice(*y)], snapped)).collect();
    vertices.dedup();
    while vertices.len() > 1 && vertices.first() == vertices.last() {
        vertices.pop();
    }
    let doubled = doubled_area(&vertices);
    if doubled == 0 {
        // A figure of eight can have areas that cancel, and is reported later.
        let is_line = vertices.len() < 4 || vertices.iter().all(|vertex| is_straight(&vertices, *vertex));
        return if is_line { None } else { Some(vertices) };
    }
    if (doubled > 0) != is_outer {
        vertices.reverse();
    }
    Some(vertices)
}

/// Whether a vertex is on the line of the first edge.
fn is_straight(ring: &[Vertex], vertex: Vertex) -> bool {
    ring.first_chunk::<2>().is_none_or(|[first, second]| turn(*first, *second, vertex) == 0)
}

/// A vertex within one unit of an earlier one becomes that one. Equal corners can differ in their last bit, and would be
/// rounded apart otherwise.
fn snap(vertex: Vertex, snapped: &mut HashMap<Vertex, Vertex>) -> Vertex {
    if let Some(known) = snapped.get(&vertex) {
        return *known;
    }
    let [x, y] = vertex;
    let near = (-1..=1).flat_map(|east| (-1..=1).map(move |north| [x + east, y + north]));
    let known = near.into_iter().find(|other| snapped.get(other) == Some(other)).unwrap_or(vertex);
    snapped.insert(vertex, known);
    known
}

#[expect(clippy::cast_possible_truncation, reason = "degrees are at most 360, and casts saturate")]
fn to_lattice(degrees: f64) -> i64 {
    (degrees * SCALE).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "at most 3.6e9")]
pub(super) fn to_degrees([x, y]: Vertex) -> [f64; 2] {
    [x as f64 / SCALE, y as f64 / SCALE]
}

/// Twice the area of a ring, which is positive if it runs anticlockwise.
pub(super) fn doubled_area(ring: &[Vertex]) -> i128 {
    edges(ring).map(|([x, y], [u, v])| i128::from(x) * i128::from(v) - i128::from(u) * i128::from(y)).sum()
}

/// Twice the area of a triangle: positive if it turns left at `b`.
pub(super) fn turn(a: Vertex, b: Vertex, c: Vertex) -> i128 {
    let [bx, by] = [i128::from(b[0] - a[0]), i128::from(b[1] - a[1])];
    bx * i128::from(c[1] - a[1]) - by * i128::from(c[0] - a[0])
}

/// The edges of a ring without its closing vertex.
pub(super) fn edges(ring: &[Vertex]) -> impl Iterator<Item = (Vertex, Vertex)> + '_ {
    ring.iter().copied().zip(ring.iter().copied().cycle().skip(1))
}
