//! Finds zones whose rings are invalid by OGC Simple Features, as GEOS does: rings that cross, touch themselves, share a
//! side or divide the ground.
//!
//! The shapefile specification has the same rules: rings may touch at vertices, and collinear segments are considered
//! intersecting (ESRI Shapefile Technical Description, 1998, `Polygon`). Holes outside of their ring, and polygons in
//! others, have no such fault and are found by their ground.

use super::disjoint_sets::DisjointSets;
use super::orientation::{Point, side};
use headland_reader::archive::Code;

/// Most comparisons of edges in a file, which take a second. Ordinary zones need a few for each edge, and polygons made
/// to be slow the square of their edges.
const MOST_COMPARISONS: usize = 100_000_000;

/// Why the rings of a zone are invalid, or not known to be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RingFault {
    /// Two sides cross.
    Crossing,
    /// A ring has no area.
    Flat,
    /// A hole is not in its outer ring, or a polygon is in another one.
    Astray,
    /// Two sides are on each other, of two rings or of a spike.
    SharedSide,
    /// A ring passes through a point twice.
    Touching,
    /// Rings of a polygon touch at several points, so that its ground is in pieces.
    Pieces,
    /// There are too many sides to find out.
    NotChecked,
}

impl RingFault {
    /// The code, what is wrong, and what to do.
    pub(super) fn words(self) -> (Code, &'static str, &'static str) {
        let what = match self {
            Self::NotChecked => {
                let what = "there are too many edges to find out whether they cross";
                return (Code::GeometryNotChecked, what, "simplify the zones");
            }
            Self::Flat => return (Code::RxInvalidRing, "a ring has no area", "delete it"),
            Self::Crossing => "a ring crosses itself or another ring",
            Self::Astray => {
                "a hole is outside of its outer ring or in another hole, or leaves no ground, or a polygon is in another"
            }
            Self::SharedSide => "two sides are on each other, of two rings or of a spike",
            Self::Touching => "a ring touches itself",
            Self::Pieces => "rings touch at several points, so that the ground is in pieces",
        };
        (Code::RxInvalidRing, what, "repair it (`make_valid` of shapely)")
    }
}

/// Finds faults until too many edges were compared. The buffers are those of the last zone.
#[derive(Default)]
pub(super) struct RingFaults {
    compared: usize,
    vertices: Vec<Vertex>,
    edges: Vec<Edge>,
    active: Vec<Edge>,
    touches: Vec<Touch>,
}

#[derive(Clone, Copy)]
struct Vertex {
    at: Point,
    /// The numbers of the neighbours in its ring.
    before: usize,
    after: usize,
    ring: usize,
    polygon: usize,
}

/// The edge from the vertex with this number to the next one, by its extent.
#[derive(Clone, Copy)]
struct Edge {
    low: Point,
    high: Point,
    number: usize,
}

/// The polygon, the point, and a ring of the polygon that touches another one of it there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Touch {
    polygon: usize,
    at: Point,
    ring: usize,
}

impl RingFaults {
    /// The first fault of a zone. Rings are without the closing vertex, and have no fault with fewer than three vertices.
    pub(super) fn find(&mut self, polygons: &[Vec<Vec<Point>>]) -> Option<RingFault> {
        self.vertices.clear();
        self.edges.clear();
        self.touches.clear();
        let mut rings = 0;
        for (polygon, own) in polygons.iter().enumerate() {
            for ring in own {
                self.add_ring(ring, rings, polygon);
                rings += 1;
            }
        }
        let found = self.compare_edges();
        if found.is_none() && has_pieces(&mut self.touches, rings) { Some(RingFault::Pieces) } else { found }
    }

    /// Adds the vertices of a ring, without repeated ones, and its edges.
    fn add_ring(&mut self, ring: &[Point], number: usize, polygon: usize) {
        let start = self.vertices.len();
        let mut last = ring.last();
        for at in ring {
            if last.replace(at) != Some(at) {
                let here = self.vertices.len();
                self.vertices.push(Vertex {
                    at: *at,
                    before: here.wrapping_sub(1),
                    after: here + 1,
                    ring: number,
                    polygon,
                });
            }
        }
        let end = self.vertices.len();
        let Some(own) = self.vertices.get_mut(start..).filter(|own| own.len() >= 3) else {
            return self.vertices.truncate(start);
        };
        if let [first, .., last] = own {
            (first.before, last.after) = (end - 1, start);
        }
        for (here, (from, to)) in own.iter().zip(own.iter().cycle().skip(1)).enumerate() {
            let ([x, y], [u, v]) = (from.at, to.at);
            self.edges.push(Edge { low: [x.min(u), y.min(v)], high: [x.max(u), y.max(v)], number: start + here });
        }
    }

    /// Compares edges whose extents meet, from south to north.
    fn compare_edges(&mut self) -> Option<RingFault> {
        self.edges.sort_unstable_by(|one, other| one.low[1].total_cmp(&other.low[1]));
        self.active.clear();
        for edge in &self.edges {
            self.compared += self.active.len();
            if self.compared > MOST_COMPARISONS {
                return Some(RingFault::NotChecked);
            }
            self.active.retain(|other| other.high[1] >= edge.low[1]);
            for other in &self.active {
                if other.high[0] >= edge.low[0]
                    && other.low[0] <= edge.high[0]
                    && let Some(fault) = compare(&self.vertices, *edge, *other, &mut self.touches)
                {
                    return Some(fault);
                }
            }
            self.active.push(*edge);
        }
        None
    }
}

/// The fault of two edges whose extents meet. Points where two rings of a polygon touch are added to `touches`.
fn compare(vertices: &[Vertex], one: Edge, other: Edge, touches: &mut Vec<Touch>) -> Option<RingFault> {
    let ends = |edge: Edge| {
        let from = vertices.get(edge.number)?;
        Some((from, vertices.get(from.after)?))
    };
    let ((a, b), (c, d)) = (ends(one)?, ends(other)?);
    let sides = [side(a.at, b.at, c.at), side(a.at, b.at, d.at), side(c.at, d.at, a.at), side(c.at, d.at, b.at)];
    let is_one_ring = a.ring == c.ring;
    if sides.iter().all(|side| *side == 0.0) {
        let axis =
            if one.high[1] - one.low[1] > one.high[0] - one.low[0] { |[_, y]: Point| y } else { |[x, _]: Point| x };
        if axis(one.high).min(axis(other.high)) > axis(one.low).max(axis(other.low)) {
            return Some(RingFault::SharedSide);
        }
    } else if sides[0] * sides[1] < 0.0 && sides[2] * sides[3] < 0.0 {
        return Some(RingFault::Crossing);
    }
    if is_one_ring && (a.after == other.number || c.after == one.number) {
        return None;
    }
    let is_on = |edge: Edge, at: Point| {
        let is_in = |low: f64, at: f64, high: f64| low <= at && at <= high;
        is_in(edge.low[0], at[0], edge.high[0]) && is_in(edge.low[1], at[1], edge.high[1])
    };
    for (vertex, edge, side) in [(c, one, sides[0]), (d, one, sides[1]), (a, other, sides[2]), (b, other, sides[3])] {
        if side != 0.0 || !is_on(edge, vertex.at) {
            continue;
        }
        if is_one_ring {
            return Some(RingFault::Touching);
        }
        // Zeros of both signs are one point.
        let at = vertex.at.map(|value| value + 0.0);
        if passes_through(vertices, at, (a, b), (c, d))? {
            return Some(RingFault::Crossing);
        }
        if a.polygon == c.polygon {
            touches.extend([a.ring, c.ring].map(|ring| Touch { polygon: a.polygon, at, ring }));
        }
    }
    None
}

/// Whether two rings that touch at a point of two of their edges cross each other there.
fn passes_through(vertices: &[Vertex], at: Point, one: (&Vertex, &Vertex), other: (&Vertex, &Vertex)) -> Option<bool> {
    let around = |(from, to): (&Vertex, &Vertex)| {
        let before = if is_same(from.at, at) { vertices.get(from.before)? } else { from };
        let after = if is_same(to.at, at) { vertices.get(to.after)? } else { to };
        Some([before.at, after.at])
    };
    let ([before, after], [from, to]) = (around(one)?, around(other)?);
    // Sides on each other are found where they are compared.
    let is_along = |ray: Point, point: Point| {
        let ahead = (ray[0] - at[0]) * (point[0] - at[0]) + (ray[1] - at[1]) * (point[1] - at[1]);
        side(at, ray, point) == 0.0 && ahead > 0.0
    };
    if [from, to].iter().any(|point| is_along(before, *point) || is_along(after, *point)) {
        return Some(false);
    }
    let turn = side(before, at, after);
    let is_left = |point: Point| {
        let (first, second) = (side(before, at, point) > 0.0, side(at, after, point) > 0.0);
        if turn < 0.0 { first || second } else { first && second }
    };
    Some(is_left(from) != is_left(to))
}

fn is_same(one: Point, other: Point) -> bool {
    one.iter().zip(other).all(|(one, other)| one - other == 0.0)
}

/// Whether rings of one polygon and the points where they touch form a cycle, which divides the ground.
fn has_pieces(touches: &mut Vec<Touch>, rings: usize) -> bool {
    let point = |touch: &Touch| (touch.polygon, touch.at.map(f64::to_bits));
    touches.sort_unstable_by_key(|touch| (point(touch), touch.ring));
    touches.dedup();
    let mut sets = DisjointSets::new(rings + touches.len());
    let mut first_at_point = 0;
    let mut last = None;
    for (number, touch) in touches.iter().enumerate() {
        if last.replace(point(touch)) != Some(point(touch)) {
            first_at_point = rings + number;
        }
        if sets.find(touch.ring) == sets.find(first_at_point) {
            return true;
        }
        sets.union(touch.ring, first_at_point);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(west: f64, south: f64, size: f64) -> Vec<Point> {
        vec![[west, south], [west + size, south], [west + size, south + size], [west, south + size]]
    }

    fn fault(polygons: &[Vec<Vec<Point>>]) -> Option<RingFault> {
        RingFaults::default().find(polygons)
    }

    #[test]
    fn rings_that_touch_at_a_point_are_valid_unless_they_divide_the_ground() {
        let outer = square(0.0, 0.0, 10.0);
        let corner = vec![[0.0, 0.0], [4.0, 8.0], [8.0, 4.0]];
        assert_eq!(fault(&[vec![outer.clone(), corner]]), None);
        let across = vec![[0.0, 5.0], [5.0, 6.0], [10.0, 5.0], [5.0, 4.0]];
        assert_eq!(fault(&[vec![outer.clone(), across]]), Some(RingFault::Pieces));
        let [west, north, south] = [[1.0, 1.0], [5.0, 9.0], [9.0, 1.0]].map(|[x, y]| {
            let ends = [[5.0, 5.0], [x, y], [x + 0.5, y]];
            ends.to_vec()
        });
        assert_eq!(fault(&[vec![outer.clone(), west.clone(), north, south]]), None, "three holes at one point");
        let chain = vec![[1.0, 1.0], [1.0, 0.5], [2.0, 0.0], [3.0, 0.5]];
        assert_eq!(fault(&[vec![outer.clone(), west.clone(), chain]]), None);
        let twice = vec![[5.0, 5.0], [4.0, 2.0], [1.5, 1.0], [6.0, 0.5]];
        assert_eq!(fault(&[vec![outer.clone(), west, twice]]), Some(RingFault::Pieces));
        assert_eq!(fault(&[vec![outer], vec![square(10.0, 10.0, 1.0)]]), None, "two polygons at a corner");
    }

    #[test]
    fn rings_have_their_faults() {
        let spike = vec![[0.0, 0.0], [2.0, 0.0], [3.0, 0.0], [2.0, 0.0], [2.0, 2.0]];
        let eight = vec![[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]];
        let inverted = vec![[0.0, 0.0], [4.0, 0.0], [2.0, 2.0], [4.0, 4.0], [0.0, 4.0], [2.0, 2.0]];
        let on_side = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 0.0], [0.0, 4.0]];
        let into_ground = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 4.0], [2.0, 1.0], [2.0, 3.0]];
        for (ring, expected) in [
            (spike, [RingFault::SharedSide, RingFault::Touching]),
            (into_ground, [RingFault::SharedSide, RingFault::Touching]),
            (eight, [RingFault::Crossing; 2]),
            (inverted, [RingFault::Touching; 2]),
            (on_side, [RingFault::Touching; 2]),
        ] {
            for start in 0..ring.len() {
                let mut ring = ring.clone();
                ring.rotate_left(start);
                let found = fault(&[vec![ring.clone()]]);
                assert!(found.is_some_and(|found| expected.contains(&found)), "{found:?}: {ring:?}");
                ring.reverse();
                ring.push(ring[ring.len() - 1]);
                let found = fault(&[vec![ring.clone()]]);
                assert!(found.is_some_and(|found| expected.contains(&found)), "{found:?}: {ring:?}");
            }
        }
        let parts = [vec![square(0.0, 0.0, 2.0)], vec![square(2.0, 1.0, 2.0)]];
        assert_eq!(fault(&parts), Some(RingFault::SharedSide));
        let holes = vec![square(0.0, 0.0, 9.0), square(1.0, 1.0, 2.0), square(3.0, 1.0, 2.0)];
        assert_eq!(fault(&[holes]), Some(RingFault::SharedSide));
        assert_eq!(fault(&[vec![square(0.0, 0.0, 2.0), square(0.0, 0.5, 0.5)]]), Some(RingFault::SharedSide));
        let through_corners = vec![[-1.0, -1.0], [1.0, 1.0], [-1.0, 3.0]];
        assert_eq!(fault(&[vec![square(0.0, 0.0, 2.0)], vec![through_corners]]), Some(RingFault::Crossing));
    }
}
