//! Inserts the vertices of other zones into the edges that they lie on, so that neighbours share all their vertices.
//!
//! A corner of a small cell lies on the side of a large one. After rounding it is up to a centimetre beside that side,
//! and a display would see a gap or an overlap there.

use std::collections::HashMap;

use super::lattice::{Part, Ring, SCALE, Vertex, edges, turn};

/// Largest distance of a rounded vertex from a rounded edge that it lies on, in lattice units.
const ROUNDING: f64 = 1.5;

/// Height of a lattice unit on the earth, divided by 8 of its radii: a straight side in a projected system bends by this
/// times the square of its length and the tangent of the latitude.
const BEND: f64 = 2.2e-10;

/// Largest bend that is followed, in lattice units.
const MAX_BEND: f64 = 50.0;

/// Inserts vertices into all edges.
pub(super) fn insert_vertices(parts: &mut [Part]) {
    let grid = Grid::new(parts);
    let mut near = Vec::new();
    for ring in parts.iter_mut().flat_map(|part| &mut part.rings) {
        let mut noded = Ring::with_capacity(ring.len());
        for (from, to) in edges(ring) {
            noded.push(from);
            grid.on_edge(from, to, &mut near);
            // Vertices of the ring itself must be on the edge exactly, or narrow corners would become spikes.
            let is_new = |vertex: &Vertex| !ring.contains(vertex) || turn(from, to, *vertex) == 0;
            noded.extend(near.iter().map(|(_, vertex)| *vertex).filter(is_new));
        }
        *ring = noded;
    }
}

/// All vertices, by square cells.
struct Grid {
    cell: i64,
    vertices: HashMap<[i64; 2], Vec<Vertex>>,
}

impl Grid {
    fn new(parts: &[Part]) -> Self {
        let rings = || parts.iter().flat_map(|part| &part.rings);
        // Cells as long as the mean edge: an edge meets a few, and each has a few vertices.
        let (mut length, mut count) = (0_i64, 0_i64);
        for ([x, y], [u, v]) in rings().flat_map(|ring| edges(ring)) {
            length += (u - x).abs().max((v - y).abs());
            count += 1;
        }
        let cell = (length / count.max(1)).max(16);
        let mut all: Vec<Vertex> = rings().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut vertices: HashMap<[i64; 2], Vec<Vertex>> = HashMap::new();
        for vertex in all {
            vertices.entry(vertex.map(|value| value.div_euclid(cell))).or_default().push(vertex);
        }
        Self { cell, vertices }
    }

    /// Finds the vertices on an edge, without its ends, in the order of the edge.
    fn on_edge(&self, from: Vertex, to: Vertex, near: &mut Vec<(f64, Vertex)>) {
        near.clear();
        let [dx, dy] = [difference(to[0], from[0]), difference(to[1], from[1])];
        let squared = dx * dx + dy * dy;
        let latitude = difference(to[1], 0) / SCALE;
        let bend = (squared * BEND * latitude.to_radians().tan().abs()).min(MAX_BEND);
        let tolerance = ROUNDING + bend;
        #[expect(clippy::cast_possible_truncation, reason = "at most 52")]
        let margin = tolerance.ceil() as i64;
        let cell = |value: i64| value.div_euclid(self.cell);
        for column in cell(from[0].min(to[0]) - margin)..=cell(from[0].max(to[0]) + margin) {
            let [south, north] = heights(from, to, column * self.cell - margin, (column + 1) * self.cell + margin);
            for row in cell(south - margin)..=cell(north + margin) {
                for vertex in self.vertices.get(&[column, row]).into_iter().flatten() {
                    let [x, y] = [difference(vertex[0], from[0]), difference(vertex[1], from[1])];
                    let along = (x * dx + y * dy) / squared;
                    let distance = (x * dy - y * dx).abs() / squared.sqrt();
                    if *vertex != from && *vertex != to && along > 0.0 && along < 1.0 && distance <= tolerance {
                        near.push((along, *vertex));
                    }
                }
            }
        }
        near.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        near.dedup_by_key(|(_, vertex)| *vertex);
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 7.2e9")]
fn difference(one: i64, other: i64) -> f64 {
    (one - other) as f64
}

/// The least and largest height of an edge between two positions of x.
fn heights(from: Vertex, to: Vertex, west: i64, east: i64) -> [i64; 2] {
    let width = difference(to[0], from[0]);
    if width == 0.0 {
        return [from[1].min(to[1]), from[1].max(to[1])];
    }
    #[expect(clippy::cast_possible_truncation, reason = "between the heights of the ends")]
    let [one, other] = [west, east].map(|x| {
        let share = (difference(x, from[0]) / width).clamp(0.0, 1.0);
        from[1] + (difference(to[1], from[1]) * share) as i64
    });
    [one.min(other) - 1, one.max(other) + 1]
}
