//! Gives each piece of ground to the first of many polygons of any shape that covers it.
//!
//! The plane is cut into horizontal bands. In a band, the boundaries of polygons are chains of edges that rise from south
//! to north. Chains whose west-east extents overlap form a cluster, and between clusters one polygon owns the ground. A
//! cluster of few chains is cut into strips in which no edge begins, ends or crosses another one; a larger one is cut
//! into two bands of half the height. Chains below an earlier polygon are left out, so what is hidden costs little. The
//! work grows with the number of vertices and of visible crossings, however long or concave the polygons are.

use crate::ground::boundary_bands::{BandItems, Chain, LEAST_HEIGHT, Run, push_chain, x_at};
use crate::ground::convex_clip::Point;
use crate::ground::logged_shapes::Shapes;
use crate::ground::sweep_state::{NONE, Owned, SweepState, Visit};
use crate::ground::sweep_strips::Strips;

/// Larger clusters are cut into two bands of half the height.
const MOST_CHAINS: usize = 12;

/// Edges of strips for each vertex on average, and for few vertices. Beyond them, clusters are not cut any more.
const MEAN_WORK: usize = 200;
const LEAST_WORK: usize = 400_000_000;

/// With this many vertices, bands are swept in shares at the same time.
const SHARED_VERTICES: usize = 100_000;
const SHARES: usize = 8;

/// Clusters are searched for hidden chains this many times.
const MOST_DEPTH: usize = 50;

/// Gives each piece of ground to the first row in `order` that covers it.
///
/// Without a visitor, shares of many bands are swept at the same time. They are the same on every machine, so that sums are
/// rounded alike.
pub(crate) fn first_owner(shapes: &Shapes, order: &[u32], visit: Option<Visit<'_>>) -> Owned {
    let items = BandItems::new(shapes, order);
    let work = items.vertices.saturating_mul(MEAN_WORK).saturating_add(LEAST_WORK);
    if visit.is_some() || items.vertices < SHARED_VERTICES {
        return sweep_bands(shapes, &items, &items.sorted, Sweep::new(order.len(), visit, work));
    }
    let mut rest = items.sorted.as_slice();
    let mut parts = Vec::with_capacity(SHARES);
    for left in (1..=SHARES).rev() {
        let last = rest.get((rest.len() / left).saturating_sub(1)).map_or(0, |run| run.band);
        let share;
        (share, rest) = rest.split_at(rest.partition_point(|run| run.band <= last));
        parts.push(share);
    }
    let sweep = |share| sweep_bands(shapes, &items, share, Sweep::new(order.len(), None, work / SHARES));
    let mut owned = Owned { areas: vec![0.0; order.len()], is_limited: vec![false; order.len()] };
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts.iter().map(|share| scope.spawn(|| sweep(share))).collect();
        for (thread, share) in threads.into_iter().zip(&parts) {
            let found = thread.join().unwrap_or_else(|_| sweep(share));
            for (sum, area) in owned.areas.iter_mut().zip(found.areas) {
                *sum += area;
            }
            for (sum, is_limited) in owned.is_limited.iter_mut().zip(found.is_limited) {
                *sum |= is_limited;
            }
        }
    });
    owned
}

/// The ground of one row in m2, however often its polygons cover it.
pub(crate) fn owned_area(shapes: &Shapes, row: u32) -> f64 {
    first_owner(shapes, &[row], None).areas.first().copied().unwrap_or(0.0)
}

fn sweep_bands(shapes: &Shapes, items: &BandItems, sorted: &[Run], mut sweep: Sweep<'_>) -> Owned {
    let (mut points, mut chains) = (Vec::new(), Vec::new());
    for runs in sorted.chunk_by(|one, next| one.band == next.band) {
        let range = items.range(runs[0].band);
        points.clear();
        chains.clear();
        for run in runs {
            push_chain(run.vertices(shapes), range, [run.rank, run.sign.cast_unsigned()], &mut points, &mut chains);
        }
        sweep.band(&points, &mut chains, range, [f64::NAN; 2]);
    }
    sweep.state.owned
}

/// The polygons that cover a location, which moves from west to east.
struct Sweep<'a> {
    state: SweepState<'a>,
    /// Polygons with a winding number other than 0, in ascending order.
    active: Vec<u32>,
    /// The last cluster that each polygon has a chain in.
    stamps: Vec<u32>,
    stamp: u32,
    strips: Strips,
    depth: usize,
}

impl<'a> Sweep<'a> {
    fn new(rows: usize, visit: Option<Visit<'a>>, work: usize) -> Self {
        let owned = Owned { areas: vec![0.0; rows], is_limited: vec![false; rows] };
        Self {
            state: SweepState { visit, winding: vec![0; rows], owned, work },
            active: Vec::new(),
            stamps: vec![0; rows],
            stamp: 0,
            strips: Strips::default(),
            depth: 0,
        }
    }

    /// Sweeps a band, or the part of it between two x coordinates.
    fn band(&mut self, points: &[Point], chains: &mut [Chain], ys: [f64; 2], [west, east]: [f64; 2]) {
        chains.sort_unstable_by(|a, b| a.west.total_cmp(&b.west));
        let (mut x, mut at) = (west, 0);
        while let Some(first) = chains.get(at) {
            let (start, mut end, mut next) = (first.west, first.east, at + 1);
            while let Some(chain) = chains.get(next).filter(|chain| chain.west <= end) {
                end = end.max(chain.east);
                next += 1;
            }
            self.rectangle(ys, [x, start]);
            self.cluster(points, &mut chains[at..next], ys, [start, end]);
            (x, at) = (end, next);
        }
        self.rectangle(ys, [x, east]);
    }

    /// Passes the ground between clusters.
    fn rectangle(&mut self, [south, north]: [f64; 2], [west, east]: [f64; 2]) {
        if let (Some(visit), Some(owner)) = (&mut self.state.visit, self.active.first())
            && west < east
        {
            let corners = [[west, south], [east, south], [east, north], [west, north]];
            visit(*owner, &corners);
        }
    }

    fn turn(&mut self, rank: u32, sign: i32) {
        let winding = &mut self.state.winding[rank as usize];
        let before = std::mem::replace(winding, *winding + sign);
        let place = self.active.partition_point(|active| *active < rank);
        if before == 0 {
            self.active.insert(place, rank);
        } else if *winding == 0 {
            self.active.remove(place);
        }
    }

    /// Moves the location across chains at a height, which is any of theirs.
    fn pass(&mut self, chains: &[Chain], height: f64, sign: i32) {
        for chain in chains.iter().filter(|chain| chain.south <= height && height < chain.north) {
            self.turn(chain.rank, sign * chain.sign);
        }
    }

    fn cluster(&mut self, points: &[Point], chains: &mut [Chain], ys: [f64; 2], xs: [f64; 2]) {
        let middle = f64::midpoint(ys[0], ys[1]);
        self.stamp += 1;
        for chain in &*chains {
            self.stamps[chain.rank as usize] = self.stamp;
        }
        let is_outside = |rank: &&u32| self.stamps[**rank as usize] != self.stamp;
        let hidden = self.active.iter().find(is_outside).copied().unwrap_or(NONE);
        if self.depth < MOST_DEPTH && chains.iter().any(|chain| chain.rank > hidden) {
            // The others may be apart without those.
            let mut kept = 0;
            for at in 0..chains.len() {
                if chains[at].rank < hidden {
                    chains.swap(at, kept);
                    kept += 1;
                }
            }
            let (chains, below) = chains.split_at_mut(kept);
            self.pass(below, middle, 1);
            self.depth += 1;
            self.band(points, chains, ys, xs);
            self.depth -= 1;
            return;
        }
        let is_exact = self.state.work > 0;
        let height = ys[1] - ys[0];
        if let ([chain], None) = (&*chains, &self.state.visit) {
            self.pass_alone(points, *chain, hidden);
        } else if chains.len() > MOST_CHAINS && is_exact && height > LEAST_HEIGHT {
            self.halves(points, chains, ys, xs);
        } else if chains.len() > MOST_CHAINS || !is_exact {
            for chain in chains.iter() {
                self.state.owned.is_limited[chain.rank as usize] |= !is_exact;
            }
            self.flat(points, chains, ys, xs);
        } else {
            self.strips.cut(&mut self.state, (points, chains), hidden, ys, xs);
            self.pass(chains, middle, 1);
        }
    }

    /// Adds the ground beside the only chain of a cluster.
    fn pass_alone(&mut self, points: &[Point], chain: Chain, hidden: u32) {
        let owner = |winding: i32| if winding == 0 { hidden } else { chain.rank.min(hidden) };
        let winding = self.state.winding[chain.rank as usize];
        let (west, east) = (owner(winding), owner(winding + chain.sign));
        if west != east {
            let points = &points[chain.first as usize..chain.end as usize];
            let twice: f64 = points.windows(2).map(|edge| (edge[0][0] + edge[1][0]) * (edge[1][1] - edge[0][1])).sum();
            self.state.add(west, twice / 2.0);
            self.state.add(east, -twice / 2.0);
        }
        self.turn(chain.rank, chain.sign);
    }

    /// Sweeps the southern and the northern half of a cluster.
    fn halves(&mut self, points: &[Point], chains: &[Chain], [south, north]: [f64; 2], xs: [f64; 2]) {
        let middle = f64::midpoint(south, north);
        let (mut own, mut cut) = (Vec::with_capacity(points.len().min(4 * chains.len())), Vec::new());
        for (half, is_first) in [([south, middle], true), ([middle, north], false)] {
            own.clear();
            cut.clear();
            for chain in chains {
                let vertices = points[chain.first as usize..chain.end as usize].iter().copied();
                push_chain(vertices, half, [chain.rank, chain.sign.cast_unsigned()], &mut own, &mut cut);
            }
            self.state.work = self.state.work.saturating_sub(own.len());
            self.band(&own, &mut cut, half, xs);
            if is_first {
                self.pass(&cut, f64::midpoint(south, middle), -1);
            }
        }
    }

    /// Takes all chains of a cluster as upright where they are in the middle of the band.
    fn flat(&mut self, points: &[Point], chains: &mut [Chain], ys: [f64; 2], [west, east]: [f64; 2]) {
        let (middle, height) = (f64::midpoint(ys[0], ys[1]), ys[1] - ys[0]);
        let is_there = |chain: &&mut Chain| chain.south <= middle && middle < chain.north;
        let mut upright: Vec<(f64, u32, i32)> = Vec::new();
        for chain in chains.iter_mut().filter(is_there) {
            let points = &points[chain.first as usize..chain.end as usize];
            let at = points.partition_point(|point| point[1] <= middle).clamp(1, points.len() - 1);
            upright.push((x_at(points[at - 1], points[at], middle), chain.rank, chain.sign));
        }
        upright.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut from = west;
        for (x, rank, sign) in upright {
            self.rectangle(ys, [from, x]);
            let owner = self.active.first().copied().unwrap_or(NONE);
            self.turn(rank, sign);
            let next = self.active.first().copied().unwrap_or(NONE);
            if owner != next {
                self.state.add(owner, x * height);
                self.state.add(next, -x * height);
            }
            from = x;
        }
        self.rectangle(ys, [from, east]);
    }
}
