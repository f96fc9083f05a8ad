//! Assembles the rings of a polygon record into polygons: finds outer rings and assigns holes.

#![expect(clippy::float_cmp, reason = "corners are compared with the very numbers they were read from")]

use std::cell::OnceCell;

use super::ring_index::{BoxIndex, Slabs, WorkBudget};

/// The vertices of a ring in file order, open or closed.
#[derive(Debug)]
pub(super) struct Ring {
    points: Vec<(f64, f64)>,
    area: f64,
    clockwise: bool,
    bounds: [f64; 4],
    /// Edges by height, built on first use, since most rings need none.
    slabs: OnceCell<Box<Slabs>>,
}

impl Ring {
    /// Reads X and Y, 16 bytes per vertex. Closes the ring for the tests below.
    pub(super) fn new(xy: &[u8]) -> Self {
        let number =
            |bytes: Option<&[u8]>| bytes.and_then(|bytes| bytes.try_into().ok()).map_or(f64::NAN, f64::from_le_bytes);
        let mut points: Vec<(f64, f64)> =
            xy.chunks_exact(16).map(|point| (number(point.get(..8)), number(point.get(8..)))).collect();
        if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied())
            && first != last
        {
            points.push(first);
        }
        let mut bounds = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for (x, y) in &points {
            bounds = [bounds[0].min(*x), bounds[1].min(*y), bounds[2].max(*x), bounds[3].max(*y)];
        }
        let doubled = doubled_area(&points);
        let clockwise = turn_at_lowest(&points).unwrap_or(doubled) < 0.0;
        Self { area: doubled.abs() / 2.0, clockwise, bounds, points, slabs: OnceCell::new() }
    }

    fn has_enough_points(&self) -> bool {
        self.points.len() >= 4
    }

    fn bounds_contain(&self, other: &Self) -> bool {
        self.bounds[0] <= other.bounds[0]
            && self.bounds[1] <= other.bounds[1]
            && self.bounds[2] >= other.bounds[2]
            && self.bounds[3] >= other.bounds[3]
    }

    fn bounds_meet(&self, other: &Self) -> bool {
        self.bounds[0] <= other.bounds[2]
            && self.bounds[2] >= other.bounds[0]
            && self.bounds[1] <= other.bounds[3]
            && self.bounds[3] >= other.bounds[1]
    }

    fn edges(&self) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
        self.points.iter().copied().zip(self.points.iter().skip(1).copied())
    }

    /// The edges in the slab of a height.
    fn edges_near(&self, y: f64, budget: &WorkBudget) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
        let slabs = self.slabs.get_or_init(|| Box::new(Slabs::new(&self.points, self.bounds[1], self.bounds[3])));
        let starts = slabs.starts_at(y);
        budget.spend(starts.len());
        starts.iter().filter_map(|start| {
            let start = *start as usize;
            Some((*self.points.get(start)?, *self.points.get(start.checked_add(1)?)?))
        })
    }

    fn has_on_boundary(&self, (x, y): (f64, f64), budget: &WorkBudget) -> bool {
        self.edges_near(y, budget).any(|((ax, ay), (bx, by))| {
            let inside = x >= ax.min(bx) && x <= ax.max(bx) && y >= ay.min(by) && y <= ay.max(by);
            inside && (ax, ay) != (bx, by) && (x - ax) * (by - ay) - (y - ay) * (bx - ax) == 0.0
        })
    }

    /// Even-odd rule: whether a ray to the right crosses the ring an odd number of times.
    fn surrounds(&self, (x, y): (f64, f64), budget: &WorkBudget) -> bool {
        let mut crossings = 0_usize;
        for ((ax, ay), (bx, by)) in self.edges_near(y, budget) {
            if (ay > y) != (by > y) {
                let cross = (ax - x) * (by - y) - (bx - x) * (ay - y);
                if cross / (by - ay) > 0.0 {
                    crossings += 1;
                }
            }
        }
        crossings % 2 == 1
    }

    /// Whether this ring is inside `outer`. Tests the first vertex, else the first edge midpoint, that is not on the
    /// boundary of `outer`.
    fn is_inside(&self, outer: &Self, budget: &WorkBudget) -> bool {
        let corners = self.points.iter().copied();
        let middles = self.edges().map(|((ax, ay), (bx, by))| (f64::midpoint(ax, bx), f64::midpoint(ay, by)));
        corners
            .chain(middles)
            .take_while(|_| budget.is_left())
            .find(|point| !outer.has_on_boundary(*point, budget))
            .is_some_and(|point| outer.surrounds(point, budget))
    }

    fn extremes(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let most = |better: fn((f64, f64), (f64, f64)) -> bool| {
            self.points.iter().copied().reduce(|best, point| if better(point, best) { point } else { best })
        };
        [
            most(|(x, y), (bx, by)| x < bx || (x == bx && y < by)),
            most(|(x, y), (bx, by)| x > bx || (x == bx && y > by)),
            most(|(x, y), (bx, by)| y < by || (y == by && x > bx)),
            most(|(x, y), (bx, by)| y > by || (y == by && x < bx)),
        ]
        .into_iter()
        .flatten()
    }
}

/// Twice the area, positive for a counter-clockwise ring.
fn doubled_area(points: &[(f64, f64)]) -> f64 {
    let (x0, y0) = points.first().copied().unwrap_or_default();
    points
        .windows(2)
        .map(|pair| match pair {
            [(ax, ay), (bx, by)] => (ax - x0) * (by - y0) - (bx - x0) * (ay - y0),
            _ => 0.0,
        })
        .sum()
}

/// The turn at the lowest point, the rightmost of several. It gives the direction even of a self-crossing ring. `None`
/// if the point occurs twice or the ring does not turn there.
fn turn_at_lowest(points: &[(f64, f64)]) -> Option<f64> {
    let open = points.get(..points.len().checked_sub(1)?)?;
    let mut lowest = 0;
    let mut twice = false;
    for (index, point) in open.iter().enumerate().skip(1) {
        let best = open.get(lowest)?;
        if point.1 < best.1 || (point.1 == best.1 && point.0 > best.0) {
            lowest = index;
            twice = false;
        } else if point == best {
            twice = true;
        }
    }
    let point = open.get(lowest)?;
    let before = open.get(lowest.checked_sub(1).unwrap_or(open.len() - 1))?;
    let after = open.get((lowest + 1) % open.len())?;
    let cross = (after.0 - point.0) * (before.1 - point.1) - (before.0 - point.0) * (after.1 - point.1);
    (!twice && before != point && after != point && cross != 0.0).then_some(cross)
}

/// The rings of each polygon as indices: the outer ring first, then its holes, in file order. With Z or M the direction
/// is trusted. `None` if the work budget is exhausted by entangled rings.
pub(super) fn assemble_polygons(rings: &[Ring], has_z_or_m: bool) -> Option<Vec<Vec<usize>>> {
    let all: Vec<usize> = (0..rings.len()).collect();
    if let [_] = rings {
        return Some(vec![all]);
    }
    let budget = WorkBudget::new(rings.iter().map(|ring| ring.points.len()).sum());
    let by_direction = has_z_or_m || !is_misdirected(rings, &budget);
    let clockwise: Vec<usize> = all
        .iter()
        .copied()
        .filter(|ring| rings.get(*ring).is_some_and(|ring| ring.has_enough_points() && ring.clockwise))
        .collect();
    if by_direction && let [outer] = *clockwise {
        let holes = all.iter().copied().filter(|ring| *ring != outer);
        return budget.is_left().then(|| vec![std::iter::once(outer).chain(holes).collect()]);
    }
    if !rings.iter().all(Ring::has_enough_points) {
        return Some(all.into_iter().map(|ring| vec![ring]).collect());
    }
    let owner = find_owners(rings, by_direction, &budget);
    let mut polygons: Vec<Vec<usize>> = Vec::new();
    let mut position = vec![usize::MAX; rings.len()];
    for ring in &all {
        if owner.get(*ring).copied().flatten().is_none() {
            if let Some(position) = position.get_mut(*ring) {
                *position = polygons.len();
            }
            polygons.push(vec![*ring]);
        }
    }
    for ring in all {
        let polygon = owner.get(ring).copied().flatten().and_then(|owner| position.get(owner)).copied();
        if let Some(polygon) = polygon.and_then(|index| polygons.get_mut(index)) {
            polygon.push(ring);
        }
    }
    budget.is_left().then_some(polygons)
}

/// The owner of each hole: the smallest outer ring that surrounds it.
fn find_owners(rings: &[Ring], by_direction: bool, budget: &WorkBudget) -> Vec<Option<usize>> {
    let mut by_area: Vec<usize> = (0..rings.len()).collect();
    let area = |ring: &usize| rings.get(*ring).map_or(0.0, |ring| ring.area);
    by_area.sort_unstable_by(|one, other| area(other).total_cmp(&area(one)).then(one.cmp(other)));
    let mut owner: Vec<Option<usize>> = vec![None; rings.len()];
    let mut index = BoxIndex::default();
    for (rank, &inner) in (0_u32..).zip(&by_area) {
        let Some(ring) = rings.get(inner) else { continue };
        if !(by_direction && ring.clockwise) {
            // Starts at the smallest larger ring. Of rings of equal area, the first in the file wins.
            let mut found: Option<usize> = None;
            for outer_rank in index.candidates(ring.bounds).take_while(|_| budget.spend(1)) {
                let Some(&outer) = by_area.get(outer_rank) else { continue };
                if found.is_some_and(|found| area(&found) != area(&outer)) {
                    break;
                }
                let Some(candidate) = rings.get(outer).filter(|candidate| candidate.bounds_contain(ring)) else {
                    continue;
                };
                // The largest ring is the last candidate, so it owns a hole that is in no smaller ring.
                let is_last = by_direction && outer_rank == 0;
                if is_last || ring.is_inside(candidate, budget) {
                    found = Some(outer);
                }
            }
            // A ring inside a hole is an island, a separate polygon.
            let is_hole = |outer: &usize| owner.get(*outer).copied().flatten().is_none();
            let outer = found.filter(is_hole);
            if let Some(slot) = owner.get_mut(inner) {
                *slot = outer;
            }
        }
        if !by_direction || ring.clockwise {
            index.add(rank, ring.bounds);
        }
    }
    owner
}

/// Whether later rings have the direction of holes but are outside the first. Some writers do not reverse outer rings.
fn is_misdirected(rings: &[Ring], budget: &WorkBudget) -> bool {
    let Some((first, rest)) = rings.split_first() else { return false };
    if rest.iter().any(|ring| ring.clockwise) {
        return false;
    }
    rest.iter().any(|ring| !first.bounds_meet(ring) || !ring.extremes().any(|point| first.surrounds(point, budget)))
}

/// Whether a polygon begins with a ring in the direction of holes, while another ring has that of outer rings.
pub(super) fn has_outer_hole(rings: &[Ring], polygons: &[Vec<usize>]) -> bool {
    let is_clockwise = |ring: &usize| rings.get(*ring).is_some_and(|ring| ring.clockwise);
    let mut outer = polygons.iter().filter_map(|polygon| polygon.first());
    rings.iter().any(|ring| ring.clockwise) && outer.any(|ring| !is_clockwise(ring))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, size: f64, clockwise: bool) -> Ring {
        let mut corners = [(x, y), (x, y + size), (x + size, y + size), (x + size, y), (x, y)];
        if !clockwise {
            corners.reverse();
        }
        Ring::new(&corners.iter().flat_map(|(x, y)| [x.to_le_bytes(), y.to_le_bytes()].concat()).collect::<Vec<_>>())
    }

    #[test]
    fn hole_belongs_to_the_smallest_outer_ring_around_it() {
        let rings = [
            square(0.0, 0.0, 100.0, true),
            square(10.0, 10.0, 50.0, false),
            square(20.0, 20.0, 30.0, true),
            square(25.0, 25.0, 5.0, false),
            square(200.0, 0.0, 10.0, true),
        ];
        assert_eq!(assemble_polygons(&rings, false), Some(vec![vec![0, 1], vec![2, 3], vec![4]]));
    }

    /// GDAL makes the hole a separate polygon if a later outer ring of equal area crosses it, because it tests that
    /// ring before it is classified. Here the hole belongs to the ring around it.
    #[test]
    fn equal_outer_rings_the_first_takes_the_hole() {
        let triangle = |corners: [(f64, f64); 3]| {
            let bytes = |(x, y): (f64, f64)| [x.to_le_bytes(), y.to_le_bytes()].concat();
            Ring::new(&corners.into_iter().flat_map(bytes).collect::<Vec<_>>())
        };
        let twins = [
            square(0.0, 0.0, 10.0, true),
            square(4.0, 4.0, 2.0, false),
            square(0.0, 0.0, 10.0, true),
            square(50.0, 0.0, 20.0, true),
        ];
        assert_eq!(assemble_polygons(&twins, false), Some(vec![vec![0, 1], vec![2], vec![3]]));
        let crossed = [
            triangle([(6.0, 4.0), (4.0, 1.0), (1.0, 1.0)]),
            triangle([(3.0, 4.0), (6.0, 3.0), (6.0, 5.0)]),
            triangle([(2.0, 3.0), (6.0, 6.0), (3.0, 1.0)]),
            triangle([(6.0, 2.0), (0.0, 5.0), (2.0, 5.0)]),
        ];
        assert_eq!(assemble_polygons(&crossed, false), Some(vec![vec![0], vec![2, 1], vec![3]]));
    }

    #[test]
    fn single_outer_ring_takes_every_hole() {
        let rings = [square(10.0, 10.0, 5.0, false), square(0.0, 0.0, 100.0, true)];
        assert_eq!(assemble_polygons(&rings, false), Some(vec![vec![1, 0]]));
    }

    #[test]
    fn misdirected_outer_ring_is_found_by_position() {
        let rings = [square(0.0, 0.0, 10.0, true), square(20.0, 0.0, 10.0, false)];
        assert_eq!(assemble_polygons(&rings, false), Some(vec![vec![0], vec![1]]));
        assert_eq!(assemble_polygons(&rings, true), Some(vec![vec![0, 1]]));
        assert!(has_outer_hole(&rings, &[vec![0], vec![1]]) && !has_outer_hole(&rings, &[vec![0, 1]]));
        let reversed = [square(0.0, 0.0, 10.0, false), square(20.0, 0.0, 10.0, false)];
        assert_eq!(assemble_polygons(&reversed, false), Some(vec![vec![0], vec![1]]));
        assert!(!has_outer_hole(&reversed, &[vec![0], vec![1]]), "a writer with one direction for all rings");
    }

    #[test]
    fn island_in_a_hole_is_a_separate_polygon() {
        let rings = [
            square(0.0, 0.0, 10.0, true),
            square(100.0, 0.0, 100.0, false),
            square(110.0, 10.0, 80.0, false),
            square(120.0, 20.0, 30.0, false),
        ];
        assert_eq!(assemble_polygons(&rings, false), Some(vec![vec![0], vec![1, 2], vec![3]]));
    }
}
