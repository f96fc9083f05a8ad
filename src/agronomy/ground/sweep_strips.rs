//! Cuts clusters of chains into strips in which no edge begins, ends or crosses another one.

use crate::ground::boundary_bands::Chain;
use crate::ground::convex_clip::Point;
use crate::ground::sweep_state::{NONE, SweepState};

/// Edges that cross by less are on a common line, in metres.
const EPSILON: f64 = 1e-9;

/// An edge in a strip.
#[derive(Clone, Copy)]
struct Edge {
    /// Where it is at the south and at the north of the strip.
    xs: [f64; 2],
    /// Position of its polygon in the cluster.
    place: usize,
    sign: i32,
}

/// The edge of a chain that a strip meets.
#[derive(Clone, Copy)]
struct ChainEdge {
    /// Its upper end.
    next: usize,
    from: Point,
    /// Metres eastwards a metre north.
    slope: f64,
}

impl ChainEdge {
    fn new(points: &[Point], next: usize) -> Self {
        let (from, to) = (points[next - 1], points[next]);
        Self { next, from, slope: (to[0] - from[0]) / (to[1] - from[1]) }
    }

    #[inline]
    fn x_at(&self, y: f64) -> f64 {
        self.from[0] + self.slope * (y - self.from[1])
    }
}

/// Memory for the strips of a cluster, used again for each.
#[derive(Default)]
pub(crate) struct Strips {
    ranks: Vec<u32>,
    /// Winding numbers of `ranks` west of the cluster, and at the location.
    before: Vec<i32>,
    winding: Vec<i32>,
    /// Position of the polygon of each chain in `ranks`.
    places: Vec<usize>,
    /// The edge of each chain at the strip.
    edge: Vec<ChainEdge>,
    heights: Vec<f64>,
    edges: Vec<Edge>,
    crossings: Vec<f64>,
}

impl Strips {
    /// Cuts a cluster into strips, and adds the ground of each polygon. `hidden` covers all of it.
    pub(crate) fn cut(
        &mut self,
        sweep: &mut SweepState<'_>,
        (points, chains): (&[Point], &[Chain]),
        hidden: u32,
        [south, north]: [f64; 2],
        xs: [f64; 2],
    ) {
        self.ranks.clear();
        self.ranks.extend(chains.iter().map(|chain| chain.rank));
        self.ranks.sort_unstable();
        self.ranks.dedup();
        self.before.clear();
        self.before.extend(self.ranks.iter().map(|rank| sweep.winding[*rank as usize]));
        self.places.clear();
        self.places.extend(chains.iter().map(|chain| self.ranks.partition_point(|rank| *rank < chain.rank)));
        self.edge.clear();
        self.edge.extend(chains.iter().map(|chain| ChainEdge::new(points, chain.first as usize + 1)));
        self.heights.clear();
        self.heights.extend([south, north]);
        for chain in chains {
            self.heights.extend(points[chain.first as usize..chain.end as usize].iter().map(|point| point[1]));
        }
        self.heights.sort_unstable_by(f64::total_cmp);
        self.heights.dedup();
        let heights = std::mem::take(&mut self.heights);
        for ys in heights.windows(2) {
            let (low, high) = (ys[0], ys[1]);
            self.edges.clear();
            for ((chain, place), edge) in chains.iter().zip(&self.places).zip(&mut self.edge) {
                if chain.south > low || chain.north < high {
                    continue;
                }
                while edge.next + 1 < chain.end as usize && points[edge.next][1] <= low {
                    *edge = ChainEdge::new(points, edge.next + 1);
                }
                let to = points[edge.next];
                let xs = [edge.x_at(low), if to[1] > high { edge.x_at(high) } else { to[0] }];
                self.edges.push(Edge { xs, place: *place, sign: chain.sign });
            }
            sweep.work = sweep.work.saturating_sub(self.edges.len());
            sort(&mut self.edges);
            if self.edges.windows(2).any(|pair| crosses(&pair[0], &pair[1])) {
                self.cross(sweep, hidden, [low, high], xs);
            } else {
                self.walk(sweep, hidden, [low, high], xs);
            }
        }
        self.heights = heights;
    }

    /// Cuts a strip where edges cross.
    fn cross(&mut self, sweep: &mut SweepState<'_>, hidden: u32, [low, high]: [f64; 2], xs: [f64; 2]) {
        self.crossings.clear();
        self.crossings.extend([0.0, 1.0]);
        for (at, one) in self.edges.iter().enumerate() {
            for other in &self.edges[..at] {
                let apart = [one.xs[0] - other.xs[0], one.xs[1] - other.xs[1]];
                if apart[0] * apart[1] < 0.0 {
                    self.crossings.push(apart[0] / (apart[0] - apart[1]));
                }
            }
        }
        self.crossings.sort_unstable_by(f64::total_cmp);
        let edges = self.edges.clone();
        let crossings = std::mem::take(&mut self.crossings);
        sweep.work = sweep.work.saturating_sub(crossings.len() * edges.len());
        for shares in crossings.windows(2) {
            let share = [shares[0], shares[1]];
            for (edge, whole) in self.edges.iter_mut().zip(&edges) {
                let xs = share.map(|share| whole.xs[0] + (whole.xs[1] - whole.xs[0]) * share);
                *edge = Edge { xs, ..*whole };
            }
            sort(&mut self.edges);
            self.walk(sweep, hidden, share.map(|share| low + (high - low) * share), xs);
        }
        self.crossings = crossings;
    }

    /// Walks from west to east through a strip whose edges are in this order.
    fn walk(&mut self, sweep: &mut SweepState<'_>, hidden: u32, [low, high]: [f64; 2], [west, east]: [f64; 2]) {
        self.winding.clear();
        self.winding.extend_from_slice(&self.before);
        let mut owner = self.owner(hidden);
        let mut from = [west; 2];
        for edge in &self.edges {
            self.winding[edge.place] += edge.sign;
            let next = self.owner(hidden);
            if next == owner {
                continue;
            }
            let area = (edge.xs[0] + edge.xs[1]) * (high - low) / 2.0;
            sweep.add(owner, area);
            sweep.add(next, -area);
            trapezoid(sweep, owner, [low, high], from, edge.xs);
            (owner, from) = (next, edge.xs);
        }
        trapezoid(sweep, owner, [low, high], from, [east; 2]);
    }

    #[inline]
    fn owner(&self, hidden: u32) -> u32 {
        let found = self.winding.iter().zip(&self.ranks).find(|(winding, _)| **winding != 0);
        found.map_or(hidden, |(_, rank)| hidden.min(*rank))
    }
}

/// Sorts edges by where they are in the middle of a strip. Those of the strip below were in nearly this order.
fn sort(edges: &mut [Edge]) {
    let key = |edge: &Edge| edge.xs[0] + edge.xs[1];
    for end in 1..edges.len() {
        let mut at = end;
        while at > 0 && key(&edges[at - 1]) > key(&edges[at]) {
            edges.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Whether two edges cross in a strip, the first of which is west in the middle.
fn crosses(one: &Edge, next: &Edge) -> bool {
    one.xs[0] > next.xs[0] + EPSILON || one.xs[1] > next.xs[1] + EPSILON
}

/// Passes a piece of a strip.
fn trapezoid(sweep: &mut SweepState<'_>, owner: u32, [low, high]: [f64; 2], west: [f64; 2], east: [f64; 2]) {
    let Some(visit) = &mut sweep.visit else { return };
    if owner != NONE && east[0] - west[0] + east[1] - west[1] > 0.0 {
        visit(owner, &[[west[0], low], [east[0], low], [east[1], high], [west[1], high]]);
    }
}
