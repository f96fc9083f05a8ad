//! Measures the ground of zones, their overlaps, and gaps and overhangs of a boundary, along lines from west to east.
//!
//! Between two neighbouring heights of vertices, edges neither begin nor end, so that the length on the line in the middle
//! times the height is the area, exactly unless edges cross there. High strips are divided, so that crossings change
//! areas by less than 1e-6 of the extent. No polygon is built, and any polygon is accepted: the line is in a ring or not
//! by parity, in a polygon if it is in the outer ring and in no hole, and in a zone if it is in any of its polygons.

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
    /// Each zone by itself, and the boundary behind them.
    pub(super) own: Vec<OwnGround>,
}

/// The ground of one zone, in square degrees.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnGround {
    /// Ground in the zone, counted once.
    pub(super) once: f64,
    /// Ground in several of its polygons.
    pub(super) twice: f64,
    /// Its outer rings, each by itself.
    pub(super) outer: f64,
    /// Ground of holes that is outside of their outer ring or in another hole of it.
    pub(super) astray: f64,
}

/// A ring of the zone with this number; the number of zones is the boundary.
struct RingOf {
    zone: usize,
    /// The number of its polygon among those of all zones.
    polygon: usize,
    is_hole: bool,
}

/// An edge of the ring with this number: its lower end, the longitude per latitude, and the height of its upper end.
#[derive(Clone, Copy)]
struct Edge {
    low: [f64; 2],
    slope: f64,
    north: f64,
    ring: usize,
}

/// Measures zones and a boundary, in the same coordinates.
pub(super) fn measure(zones: &[Polygons], boundary: Option<&Polygons>) -> Coverage {
    let (mut edges, mut rings, mut polygon) = (Vec::new(), Vec::new(), 0);
    for (zone, polygons) in zones.iter().chain(boundary).enumerate() {
        for parts in polygons {
            for (number, ring) in parts.iter().enumerate() {
                for (from, to) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                    let (low, high) = if from[1] < to[1] { (*from, *to) } else { (*to, *from) };
                    if low[1] < high[1] {
                        let slope = (high[0] - low[0]) / (high[1] - low[1]);
                        edges.push(Edge { low, slope, north: high[1], ring: rings.len() });
                    }
                }
                rings.push(RingOf { zone, polygon, is_hole: number > 0 });
            }
            polygon += 1;
        }
    }
    edges.sort_by(|one, other| one.low[1].total_cmp(&other.low[1]));
    let heights = strips(&edges);
    let mut sweep = Sweep::new(rings, zones.len());
    let (mut active, mut waiting): (Vec<(f64, Edge)>, _) = (Vec::new(), edges.iter().peekable());
    for (south, north) in heights.iter().zip(heights.iter().skip(1)) {
        let middle = f64::midpoint(*south, *north);
        active.retain(|(_, edge)| edge.north > middle);
        while let Some(edge) = waiting.next_if(|edge| edge.low[1] <= middle) {
            if edge.north > middle {
                active.push((0.0, *edge));
            }
        }
        for (x, edge) in &mut active {
            *x = edge.low[0] + edge.slope * (middle - edge.low[1]);
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
    let mut heights: Vec<f64> = edges.iter().flat_map(|edge| [edge.low[1], edge.north]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    heights.dedup();
    let (Some(south), Some(north)) = (heights.first().copied(), heights.last().copied()) else { return heights };
    let place = |height: f64| heights.partition_point(|known| *known < height);
    let lengths: usize = edges.iter().map(|edge| place(edge.north) - place(edge.low[1])).sum();
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

/// Where the line is in a polygon, and the positions at which it entered the outer ring and a misplaced hole.
#[derive(Clone, Copy, Default)]
struct InPolygon {
    is_in_outer: bool,
    holes: usize,
    outer_since: f64,
    astray_since: f64,
}

impl InPolygon {
    fn is_ground(self) -> bool {
        self.is_in_outer && self.holes == 0
    }

    fn is_astray(self) -> bool {
        self.holes > usize::from(self.is_in_outer)
    }
}

/// The polygons of a zone on whose ground the line is, and the positions since which these are one and several.
#[derive(Clone, Copy, Default)]
struct InZone {
    polygons: usize,
    once_since: f64,
    twice_since: f64,
}

/// Adds the area of a span where it ends.
fn add_span(sum: &mut f64, since: &mut f64, was_in: bool, is_in: bool, x: f64, height: f64) {
    match (was_in, is_in) {
        (false, true) => *since = x,
        (true, false) => *sum += (x - *since) * height,
        _ => {}
    }
}

struct Sweep {
    rings: Vec<RingOf>,
    /// Whether the line is in each ring, and the number of those.
    is_inside: Vec<bool>,
    inside: usize,
    in_polygons: Vec<InPolygon>,
    /// The boundary is behind the zones.
    in_zones: Vec<InZone>,
    /// Zones on whose ground the line is.
    covering: Vec<usize>,
    zones: usize,
    sums: Coverage,
    pairs: BTreeMap<(usize, usize), f64>,
}

impl Sweep {
    fn new(rings: Vec<RingOf>, zones: usize) -> Self {
        Self {
            is_inside: vec![false; rings.len()],
            inside: 0,
            in_polygons: vec![InPolygon::default(); rings.last().map_or(0, |ring| ring.polygon + 1)],
            in_zones: vec![InZone::default(); zones + 1],
            covering: Vec::new(),
            zones,
            sums: Coverage { own: vec![OwnGround::default(); zones + 1], ..Coverage::default() },
            pairs: BTreeMap::new(),
            rings,
        }
    }

    fn add_line(&mut self, edges: &[(f64, Edge)], height: f64) {
        if self.inside > 0 {
            // A ring with a coordinate that is not finite did not end on the last line.
            self.inside = 0;
            self.is_inside.fill(false);
            self.in_polygons.fill(InPolygon::default());
            self.in_zones.fill(InZone::default());
            self.covering.clear();
        }
        let mut west = f64::NAN;
        for (x, edge) in edges {
            if *x > west && self.inside > 0 {
                self.add((x - west) * height);
            }
            self.cross(edge.ring, *x, height);
            west = *x;
        }
    }

    /// Enters or leaves a ring.
    fn cross(&mut self, number: usize, x: f64, height: f64) {
        let (Some(ring), Some(is_inside)) = (self.rings.get(number), self.is_inside.get_mut(number)) else { return };
        let (Some(polygon), Some(zone), Some(own)) = (
            self.in_polygons.get_mut(ring.polygon),
            self.in_zones.get_mut(ring.zone),
            self.sums.own.get_mut(ring.zone),
        ) else {
            return;
        };
        *is_inside = !*is_inside;
        self.inside = if *is_inside { self.inside + 1 } else { self.inside.saturating_sub(1) };
        let (was, before) = (*polygon, zone.polygons);
        match (ring.is_hole, *is_inside) {
            (false, enters) => polygon.is_in_outer = enters,
            (true, true) => polygon.holes += 1,
            (true, false) => polygon.holes = polygon.holes.saturating_sub(1),
        }
        let is = *polygon;
        add_span(&mut own.outer, &mut polygon.outer_since, was.is_in_outer, is.is_in_outer, x, height);
        add_span(&mut own.astray, &mut polygon.astray_since, was.is_astray(), is.is_astray(), x, height);
        let after = (before + usize::from(is.is_ground())).saturating_sub(usize::from(was.is_ground()));
        zone.polygons = after;
        add_span(&mut own.once, &mut zone.once_since, before > 0, after > 0, x, height);
        add_span(&mut own.twice, &mut zone.twice_since, before > 1, after > 1, x, height);
        if ring.zone == self.zones || (before > 0) == (after > 0) {
            return;
        }
        match self.covering.iter().position(|zone| *zone == ring.zone) {
            Some(position) => {
                self.covering.swap_remove(position);
            }
            None => self.covering.push(ring.zone),
        }
    }

    fn add(&mut self, area: f64) {
        let is_in_boundary = self.in_zones.last().is_some_and(|boundary| boundary.polygons > 0);
        if is_in_boundary {
            self.sums.boundary += area;
        }
        match *self.covering {
            [] if is_in_boundary => self.sums.gap += area,
            [] => {}
            [_] => self.sums.zones += area,
            [one, other, ..] => {
                self.sums.zones += area;
                self.sums.overlap += area;
                *self.pairs.entry((one.min(other), one.max(other))).or_default() += area;
            }
        }
        if !self.covering.is_empty() && !is_in_boundary {
            self.sums.overhang += area;
        }
    }
}
