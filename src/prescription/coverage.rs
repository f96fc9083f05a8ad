//! Measures overlaps of zones, and gaps and overhangs of a boundary, along lines from west to east.
//!
//! Between two neighbouring heights of vertices, edges neither begin nor end, so that the length on the line in the middle
//! times the height is the area, exactly unless edges cross there. High strips are divided, so that crossings change
//! areas by less than 1e-6 of the extent. No polygon is built, and any polygon is accepted: rings count by parity.

use std::collections::BTreeMap;

use headland_reader::layer::Polygons;

/// Most strips. Beyond, strips have equal heights, which measures areas to about 1e-4.
const MOST_STRIPS: usize = 20_000;

/// Most lengths of edges on strips that are added, which takes some seconds. Of more, there are fewer strips.
const MOST_LENGTHS: usize = 200_000_000;

/// Fewest strips of the extent.
const FEWEST_STRIPS: f64 = 1_000.0;

/// Areas in square degrees, of which only ratios have a meaning.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Ground in a zone.
    pub(super) zones: f64,
    /// Ground in several zones.
    pub(super) overlap: f64,
    /// The two zones with the largest overlap.
    pub(super) worst: Option<(usize, usize)>,
    pub(super) boundary: f64,
    /// Ground of the boundary in no zone.
    pub(super) gap: f64,
    /// Ground of zones outside of the boundary.
    pub(super) overhang: f64,
}

/// An edge, its lower end first. The owner is a zone, or the number of zones for the boundary.
#[derive(Clone, Copy)]
struct Edge {
    low: [f64; 2],
    high: [f64; 2],
    owner: usize,
}

impl Edge {
    fn x(&self, y: f64) -> f64 {
        let share = (y - self.low[1]) / (self.high[1] - self.low[1]);
        self.low[0] + (self.high[0] - self.low[0]) * share
    }
}

/// Measures zones and a boundary, in the same coordinates.
pub(super) fn measure(zones: &[Polygons], boundary: Option<&Polygons>) -> Coverage {
    let mut edges = Vec::new();
    for (owner, polygons) in zones.iter().chain(boundary).enumerate() {
        for ring in polygons.iter().flatten() {
            for (from, to) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                let (low, high) = if from[1] < to[1] { (*from, *to) } else { (*to, *from) };
                if low[1] < high[1] {
                    edges.push(Edge { low, high, owner });
                }
            }
        }
    }
    edges.sort_by(|one, other| one.low[1].total_cmp(&other.low[1]));
    let heights = strips(&edges);
    let mut sweep = Sweep { zones: zones.len(), sums: Coverage::default(), pairs: BTreeMap::new(), inside: Vec::new() };
    let (mut active, mut waiting): (Vec<(f64, Edge)>, _) = (Vec::new(), edges.iter().peekable());
    for (south, north) in heights.iter().zip(heights.iter().skip(1)) {
        let middle = f64::midpoint(*south, *north);
        active.retain(|(_, edge)| edge.high[1] > middle);
        while let Some(edge) = waiting.next_if(|edge| edge.low[1] <= middle) {
            if edge.high[1] > middle {
                active.push((0.0, *edge));
            }
        }
        for (x, edge) in &mut active {
            *x = edge.x(middle);
        }
        // Nearly sorted, since the order of the strip below is mostly that of this one.
        active.sort_by(|one, other| one.0.total_cmp(&other.0));
        sweep.add_line(&active, north - south);
    }
    let largest = sweep.pairs.iter().max_by(|one, other| one.1.total_cmp(other.1).then(other.0.cmp(one.0)));
    sweep.sums.worst = largest.map(|(pair, _)| *pair);
    sweep.sums
}

/// The heights between strips.
fn strips(edges: &[Edge]) -> Vec<f64> {
    let mut heights: Vec<f64> = edges.iter().flat_map(|edge| [edge.low[1], edge.high[1]]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    heights.dedup();
    let (Some(south), Some(north)) = (heights.first().copied(), heights.last().copied()) else { return heights };
    let place = |height: f64| heights.partition_point(|known| *known < height);
    let lengths: usize = edges.iter().map(|edge| place(edge.high[1]) - place(edge.low[1])).sum();
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    let divide = |from: f64, to: f64, count: f64| {
        (0..count as usize).map(move |number| from + (to - from) * (number as f64 / count)).collect::<Vec<f64>>()
    };
    let mut divided: Vec<f64> = if heights.len() > MOST_STRIPS || lengths > MOST_LENGTHS {
        // As many as the edges on a mean strip allow.
        let strips = MOST_LENGTHS.saturating_mul(heights.len()) / lengths.max(1);
        #[expect(clippy::cast_precision_loss, reason = "at most 20,000")]
        divide(south, north, strips.clamp(100, MOST_STRIPS) as f64)
    } else {
        let most = (north - south) / FEWEST_STRIPS;
        let pairs = heights.iter().zip(heights.iter().skip(1));
        pairs.flat_map(|(from, to)| divide(*from, *to, ((to - from) / most).ceil().max(1.0))).collect()
    };
    divided.push(north);
    divided
}

struct Sweep {
    zones: usize,
    sums: Coverage,
    pairs: BTreeMap<(usize, usize), f64>,
    /// Zones and boundary that the line is in.
    inside: Vec<usize>,
}

impl Sweep {
    fn add_line(&mut self, edges: &[(f64, Edge)], height: f64) {
        self.inside.clear();
        let mut west = f64::NAN;
        for (x, edge) in edges {
            if *x > west {
                self.add((x - west) * height);
            }
            match self.inside.iter().position(|owner| *owner == edge.owner) {
                Some(position) => {
                    self.inside.swap_remove(position);
                }
                None => self.inside.push(edge.owner),
            }
            west = *x;
        }
    }

    fn add(&mut self, area: f64) {
        let is_in_boundary = self.inside.contains(&self.zones);
        let mut zones = self.inside.iter().filter(|owner| **owner < self.zones);
        let (first, second) = (zones.next(), zones.next());
        if is_in_boundary {
            self.sums.boundary += area;
        }
        match (first, second) {
            (None, _) if is_in_boundary => self.sums.gap += area,
            (None, _) => {}
            (Some(_), None) => self.sums.zones += area,
            (Some(one), Some(other)) => {
                self.sums.zones += area;
                self.sums.overlap += area;
                *self.pairs.entry((*one.min(other), *one.max(other))).or_default() += area;
            }
        }
        if first.is_some() && !is_in_boundary {
            self.sums.overhang += area;
        }
    }
}
