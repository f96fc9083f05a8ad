//! Overlays convex pieces with plots of any shape: areas inside each plot, and outside all of them.

use crate::ground::convex_clip::{Convex, Extent, HalfPlane, Point, extent};
use crate::rows::neighbours::ExtentGrid;

/// Pieces with more corners are split, so that cuts do not exceed the capacity.
const MOST_CORNERS: usize = 7;

/// Edges near one piece, up to which their crossings are searched. Valid plots that do not overlap have none.
const MOST_CROSSING: usize = 1_000;

/// Coordinates beyond this are moved here, in metres, so that differences and products stay finite.
const FAR: f64 = 1e9;

/// Largest number of bins of a plot.
const MOST_BINS: f64 = 4_096.0;

/// An edge, its lower end first. A horizontal one crosses no height, but its ends count.
#[derive(Clone, Copy)]
struct Edge {
    low: Point,
    high: Point,
}

impl Edge {
    fn west(&self) -> f64 {
        self.low[0].min(self.high[0])
    }

    fn east(&self) -> f64 {
        self.low[0].max(self.high[0])
    }

    fn spans(&self, y: f64) -> bool {
        self.low[1] <= y && y < self.high[1]
    }

    fn x(&self, y: f64) -> f64 {
        let share = (y - self.low[1]) / (self.high[1] - self.low[1]);
        self.low[0] + (self.high[0] - self.low[0]) * share
    }
}

/// The edges of a plot in bins of equal height.
struct Plot {
    edges: Vec<Edge>,
    south: f64,
    /// Bins a metre.
    scale: f64,
    /// Start of the edges of each bin, and the end of the last one.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Plot {
    fn new(polygons: &[Vec<Vec<Point>>]) -> Self {
        let mut edges = Vec::new();
        for ring in polygons.iter().flatten() {
            let points = ring.iter().filter(|point| point[0].is_finite() && point[1].is_finite());
            let points = points.map(|point| point.map(|coordinate| coordinate.clamp(-FAR, FAR)));
            let mut before = points.clone().next_back().unwrap_or_default();
            for point in points {
                let (low, high) = if before[1] < point[1] { (before, point) } else { (point, before) };
                edges.push(Edge { low, high });
                before = point;
            }
        }
        let ends = |edge: &Edge| [edge.low[1], edge.high[1]];
        let south = edges.iter().flat_map(ends).fold(f64::INFINITY, f64::min);
        let north = edges.iter().flat_map(ends).fold(f64::NEG_INFINITY, f64::max);
        // With bins as high as the mean edge, an edge is in two bins on average.
        let heights: f64 = edges.iter().map(|edge| edge.high[1] - edge.low[1]).sum();
        #[expect(clippy::cast_precision_loss, reason = "a mean")]
        let bins = (edges.len() as f64 * (north - south) / heights).clamp(1.0, MOST_BINS);
        let mut plot = Self { edges, south, scale: bins / (north - south), starts: Vec::new(), items: Vec::new() };
        plot.fill(bins);
        plot
    }

    fn fill(&mut self, bins: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 4096")]
        let bins = if bins.is_nan() { 1 } else { bins as usize + 1 };
        let mut counts = vec![0_u32; bins + 1];
        let range = |edge: &Edge| [self.bin(edge.low[1], bins), self.bin(edge.high[1], bins)];
        for edge in &self.edges {
            let [first, last] = range(edge);
            counts[first..=last].iter_mut().for_each(|count| *count += 1);
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += std::mem::replace(count, sum);
        }
        let mut next = counts.clone();
        let mut items = vec![0; sum as usize];
        for (item, edge) in (0_u32..).zip(&self.edges) {
            let [first, last] = range(edge);
            for next in &mut next[first..=last] {
                items[*next as usize] = item;
                *next += 1;
            }
        }
        (self.starts, self.items) = (counts, items);
    }

    fn bin(&self, y: f64, bins: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let bin = ((y - self.south) * self.scale) as usize;
        bin.min(bins - 1)
    }

    fn edges(&self, bin: usize) -> impl Iterator<Item = &Edge> {
        let items = &self.items[self.starts[bin] as usize..self.starts[bin + 1] as usize];
        items.iter().map(|item| &self.edges[*item as usize])
    }

    /// Passes the edges at the heights of an extent that are not entirely east of it, each once, and whether they are
    /// entirely west of it.
    fn visit_near(&self, near: &Extent, mut visit: impl FnMut(&Edge, bool)) {
        let bins = self.starts.len() - 1;
        let [first, last] = [self.bin(near[1], bins), self.bin(near[3], bins)];
        for bin in first..=last {
            for edge in self.edges(bin) {
                let is_near = edge.low[1] <= near[3] && edge.high[1] >= near[1] && edge.west() <= near[2];
                if is_near && self.bin(edge.low[1], bins).max(first) == bin {
                    visit(edge, edge.east() < near[0]);
                }
            }
        }
    }
}

/// Plots and their extents.
pub(crate) struct Plots {
    plots: Vec<Plot>,
    extents: Vec<Extent>,
}

impl Plots {
    /// Prepares plots, each of polygons of rings. Vertices that are not finite are ignored; rings need not be closed.
    pub(crate) fn new(polygons: &[Vec<Vec<Vec<Point>>>]) -> Self {
        let plots: Vec<Plot> = polygons.iter().map(|polygons| Plot::new(polygons)).collect();
        let extents = plots
            .iter()
            .map(|plot| {
                let ends: Vec<Point> = plot.edges.iter().flat_map(|edge| [edge.low, edge.high]).collect();
                if ends.is_empty() { [0.0; 4] } else { extent(&ends) }
            })
            .collect();
        Self { plots, extents }
    }
}

/// Memory of the overlay, used again for each piece.
pub(crate) struct Overlay<'a> {
    plots: &'a Plots,
    grid: ExtentGrid<'a>,
    /// Plots whose extent meets that of the piece.
    near: Vec<u32>,
    /// Whether an odd number of edges that span the heights of the piece is west of it, for each of these plots.
    is_odd: Vec<bool>,
    /// Whether the location that the sweep reached is in each of these plots.
    is_in: Vec<bool>,
    /// Area in each of these plots.
    areas: Vec<f64>,
    /// Edges near the piece, with the position of their plot in `near`.
    edges: Vec<(Edge, usize)>,
    /// Edges west of the piece that begin or end at one of its heights.
    western: Vec<(Edge, usize)>,
    heights: Vec<f64>,
    /// Edges of a strip by x.
    crossed: Vec<(f64, usize)>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(plots: &'a Plots) -> Self {
        let mut grid = ExtentGrid::new(&plots.extents);
        (0_u32..).zip(&plots.plots).filter(|(_, plot)| !plot.edges.is_empty()).for_each(|(item, _)| grid.insert(item));
        Self {
            plots,
            grid,
            near: Vec::new(),
            is_odd: Vec::new(),
            is_in: Vec::new(),
            areas: Vec::new(),
            edges: Vec::new(),
            western: Vec::new(),
            heights: Vec::new(),
            crossed: Vec::new(),
        }
    }

    /// Passes the area of a convex piece in each plot, and returns the area in none.
    pub(crate) fn spread(&mut self, piece: &[Point], mut visit: impl FnMut(u32, f64)) -> f64 {
        let piece = Convex::from_points(piece);
        let around = extent(piece.points());
        self.grid.near(&around, &mut self.near);
        self.near.sort_unstable();
        self.near.dedup();
        self.find_edges(&around);
        let area = piece.area();
        if self.edges.is_empty() {
            self.start(f64::midpoint(around[1], around[3]));
            let plots = self.near.iter().zip(&self.is_in).filter(|(_, is_in)| **is_in);
            plots.for_each(|(plot, _)| visit(*plot, area));
            return if self.is_in.contains(&true) { 0.0 } else { area };
        }
        self.areas.clear();
        self.areas.resize(self.near.len(), 0.0);
        let [outside, measured] = self.cut(&piece, &around);
        if measured <= 0.0 {
            // A sliver that is thinner than the tolerance of cuts.
            return area;
        }
        let scale = area / measured;
        for (plot, area) in self.near.iter().zip(&self.areas) {
            if *area > 0.0 {
                visit(*plot, area * scale);
            }
        }
        outside * scale
    }

    /// Finds the edges near an extent, and those west of it.
    fn find_edges(&mut self, around: &Extent) {
        self.edges.clear();
        self.western.clear();
        self.is_odd.clear();
        self.is_odd.resize(self.near.len(), false);
        for (position, (plot, is_odd)) in self.near.iter().zip(&mut self.is_odd).enumerate() {
            self.plots.plots[*plot as usize].visit_near(around, |edge, is_west| {
                if !is_west {
                    self.edges.push((*edge, position));
                } else if edge.low[1] <= around[1] && around[3] < edge.high[1] {
                    *is_odd ^= true;
                } else {
                    self.western.push((*edge, position));
                }
            });
        }
    }

    /// Finds the plots that the west end of a height is in.
    fn start(&mut self, height: f64) {
        self.is_in.clear();
        self.is_in.extend_from_slice(&self.is_odd);
        for (_, plot) in self.western.iter().filter(|(edge, _)| edge.spans(height)) {
            self.is_in[*plot] ^= true;
        }
    }

    /// Adds the areas of a piece in each plot, and returns the area in none and that of all parts.
    fn cut(&mut self, piece: &Convex, around: &Extent) -> [f64; 2] {
        if piece.points().len() > MOST_CORNERS {
            let [one, other] = piece.split().map(|half| self.cut(&half, around));
            return [one[0] + other[0], one[1] + other[1]];
        }
        self.find_heights(around);
        let heights = std::mem::take(&mut self.heights);
        let (mut rest, mut strip, mut above) = (*piece, Convex::EMPTY, Convex::EMPTY);
        let (mut south, mut sum) = (around[1], [0.0; 2]);
        for north in &heights {
            rest.cut(&HalfPlane::along([0.0, *north], [-1.0, 0.0]), &mut above, &mut strip);
            std::mem::swap(&mut rest, &mut above);
            if !strip.points().is_empty() {
                let areas = self.cut_strip(strip, f64::midpoint(south, north.min(around[3])));
                sum = [sum[0] + areas[0], sum[1] + areas[1]];
            }
            south = *north;
        }
        self.heights = heights;
        sum
    }

    /// Finds the heights between which the edges near a piece neither begin, end nor cross.
    fn find_heights(&mut self, around: &Extent) {
        self.heights.clear();
        self.heights.extend(self.edges.iter().flat_map(|(edge, _)| [edge.low[1], edge.high[1]]));
        if self.edges.len() <= MOST_CROSSING {
            for (position, (one, _)) in self.edges.iter().enumerate() {
                for (other, _) in &self.edges[..position] {
                    let (south, north) = (one.low[1].max(other.low[1]), one.high[1].min(other.high[1]));
                    let (before, after) = (one.x(south) - other.x(south), one.x(north) - other.x(north));
                    if south < north && before * after < 0.0 {
                        self.heights.push(south + (north - south) * (before / (before - after)));
                    }
                }
            }
        }
        let [_, south, _, north] = *around;
        self.heights.retain(|height| south < *height && *height < north);
        // Above the piece, so that rounding leaves nothing over.
        self.heights.push(north + 1.0);
        self.heights.sort_unstable_by(f64::total_cmp);
        self.heights.dedup();
    }

    /// Cuts a strip along its edges from west to east.
    fn cut_strip(&mut self, strip: Convex, height: f64) -> [f64; 2] {
        self.start(height);
        self.crossed.clear();
        let spanning = self.edges.iter().enumerate().filter(|(_, (edge, _))| edge.spans(height));
        self.crossed.extend(spanning.map(|(position, (edge, _))| (edge.x(height), position)));
        self.crossed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut rest, mut left, mut right) = (strip, Convex::EMPTY, Convex::EMPTY);
        let mut sum = [0.0; 2];
        for position in 0..=self.crossed.len() {
            let edge = self.crossed.get(position).map(|(_, edge)| self.edges[*edge]);
            if let Some((edge, _)) = edge {
                rest.cut(&HalfPlane::left_of(edge.low, edge.high), &mut right, &mut left);
            } else {
                left = rest;
            }
            let area = left.area().max(0.0);
            let mut is_outside = true;
            for (sum, is_in) in self.areas.iter_mut().zip(&self.is_in) {
                *sum += if *is_in { area } else { 0.0 };
                is_outside &= !is_in;
            }
            sum = [sum[0] + if is_outside { area } else { 0.0 }, sum[1] + area];
            if let Some((_, plot)) = edge {
                self.is_in[plot] ^= true;
                std::mem::swap(&mut rest, &mut right);
            }
        }
        sum
    }
}
