//! Cuts boundaries of polygons into chains of edges that rise through horizontal bands.

use std::collections::HashMap;

use crate::ground::convex_clip::Point;
use crate::ground::logged_shapes::Shapes;

/// Height of a band in mean heights of edges: few chains are cut, and few share a cluster.
const EDGES_A_BAND: f64 = 16.0;

/// No band is lower, in metres: edges that are not separate there have a common line.
pub(crate) const LEAST_HEIGHT: f64 = 1e-9;

const NONE: u32 = u32::MAX;

/// Successive vertices of a ring that rise or fall, in one band.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) band: u32,
    /// The lowest and the highest vertex.
    low: u32,
    high: u32,
    pub(crate) rank: u32,
    /// What the winding number changes by from west to east of it.
    pub(crate) sign: i32,
}

impl Run {
    /// The vertices from south to north.
    pub(crate) fn vertices<'a>(&self, shapes: &'a Shapes) -> impl Iterator<Item = Point> + use<'a> {
        let (low, high) = (self.low as usize, self.high as usize);
        let vertices = &shapes.vertices()[low.min(high)..=low.max(high)];
        let is_rising = low < high;
        let last = vertices.len() - 1;
        (0..=last).map(move |at| vertices[if is_rising { at } else { last - at }])
    }
}

/// Runs by band.
pub(crate) struct BandItems {
    pub(crate) sorted: Vec<Run>,
    pub(crate) south: f64,
    height: f64,
    pub(crate) vertices: usize,
}

impl BandItems {
    pub(crate) fn new(shapes: &Shapes, order: &[u32]) -> Self {
        let (mut south, mut north, mut rise, mut vertices) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64, 0_usize);
        for row in order {
            for ring in shapes.rings(*row) {
                let mut before = f64::NAN;
                for [_, y] in &shapes.vertices()[ring.range.clone()] {
                    (south, north) = (south.min(*y), north.max(*y));
                    let step = (y - before).abs();
                    rise += if step.is_nan() { 0.0 } else { step };
                    before = *y;
                }
                vertices += ring.range.len();
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let count = vertices.max(1) as f64;
        let height = (EDGES_A_BAND * rise / count).max((north - south) / count).max(LEAST_HEIGHT);
        let mut items = Self { sorted: Vec::new(), south, height, vertices };
        let mut seen: HashMap<[u64; 3], u32> = HashMap::new();
        for (rank, row) in (0_u32..).zip(order) {
            // A polygon that is there twice, such as for two products, owns nothing the second time.
            let vertices = shapes.row_vertices(*row);
            let [x, y] = vertices.get(1).copied().unwrap_or_default();
            let key = [x.to_bits(), y.to_bits(), shapes.area(*row as usize).to_bits()];
            let first = *seen.entry(key).or_insert(*row);
            if first != *row && shapes.row_vertices(first) == vertices {
                continue;
            }
            for ring in shapes.rings(*row) {
                items.push_ring(shapes.vertices(), ring.range, rank, ring.sign);
            }
        }
        items.sorted.sort_by_key(|run| run.band);
        items
    }

    /// South and north of a band.
    pub(crate) fn range(&self, band: u32) -> [f64; 2] {
        [self.south + f64::from(band) * self.height, self.south + (f64::from(band) + 1.0) * self.height]
    }

    fn push_ring(&mut self, vertices: &[Point], ring: std::ops::Range<usize>, rank: u32, sign: i32) {
        let (mut start, mut rises) = (ring.start, None);
        for at in ring.start..ring.end.saturating_sub(1) {
            let (y, next) = (vertices[at][1], vertices[at + 1][1]);
            #[expect(clippy::float_cmp, reason = "an edge has no height only if its ends are at one height")]
            if y == next {
                continue;
            }
            if rises.is_some_and(|rises| rises != (next > y)) {
                self.push_run(vertices, start, at, rank, sign);
                start = at;
            }
            rises = Some(next > y);
        }
        if rises.is_some() {
            self.push_run(vertices, start, ring.end - 1, rank, sign);
        }
    }

    /// Cuts a run from one vertex to another into bands.
    fn push_run(&mut self, vertices: &[Point], start: usize, end: usize, rank: u32, sign: i32) {
        let is_rising = vertices[start][1] < vertices[end][1];
        // Crossing a rising edge of an anticlockwise ring eastwards leaves it.
        let (low, high, sign) = if is_rising { (start, end, -sign) } else { (end, start, sign) };
        let next = |at: usize| if is_rising { at + 1 } else { at - 1 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of vertices")]
        let band_of = |y: f64| ((y - self.south) / self.height) as u32;
        let index = |at: usize| u32::try_from(at).unwrap_or(NONE);
        let (mut from, top) = (low, vertices[high][1]);
        for band in band_of(vertices[low][1])..=band_of(top) {
            let [south, north] = self.range(band);
            while from != high && vertices[next(from)][1] <= south {
                from = next(from);
            }
            let mut to = from;
            while to != high && vertices[to][1] < north {
                to = next(to);
            }
            if vertices[to][1] > south && vertices[from][1] < north && to != from {
                self.sorted.push(Run { band, low: index(from), high: index(to), rank, sign });
            }
        }
    }
}

/// A run cut at the south and the north of a band.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    /// Its points.
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) rank: u32,
    pub(crate) sign: i32,
    pub(crate) west: f64,
    pub(crate) east: f64,
    pub(crate) south: f64,
    pub(crate) north: f64,
}

/// Appends the part of rising vertices in a band as a chain, if it has a height.
pub(crate) fn push_chain(
    vertices: impl Iterator<Item = Point>,
    [south, north]: [f64; 2],
    [rank, sign]: [u32; 2],
    points: &mut Vec<Point>,
    chains: &mut Vec<Chain>,
) {
    let first = points.len();
    let (mut west, mut east) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut push = |point: Point| {
        west = if point[0] < west { point[0] } else { west };
        east = if point[0] > east { point[0] } else { east };
        points.push(point);
    };
    let mut before: Option<Point> = None;
    for point in vertices {
        if point[1] > south
            && let Some(before) = before.filter(|before| before[1] < south)
        {
            push([x_at(before, point, south), south]);
        }
        if point[1] > north {
            if let Some(before) = before.filter(|before| before[1] < north) {
                push([x_at(before, point, north), north]);
            }
            break;
        }
        if point[1] >= south {
            push(point);
        }
        before = Some(point);
    }
    let (Some([_, low]), Some([_, high])) = (points.get(first).copied(), points.last().copied()) else { return };
    if low < high {
        let [first, end] = [first, points.len()].map(|at| u32::try_from(at).unwrap_or(NONE));
        chains.push(Chain { first, end, rank, sign: sign.cast_signed(), west, east, south: low, north: high });
    } else {
        points.truncate(first);
    }
}

/// Where an edge with a height is at a height.
#[inline]
pub(crate) fn x_at(from: Point, to: Point, y: f64) -> f64 {
    from[0] + (to[0] - from[0]) * ((y - from[1]) / (to[1] - from[1]))
}
