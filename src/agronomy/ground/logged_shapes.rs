//! Logged polygons of rows, of any shape: their rings in the plane and their areas.

use std::ops::Range;

use crate::ground::convex_clip::{Point, area, edges, extent};
use headland_reader::layer::Polygons;

/// Coordinates beyond this are not in a local plane of a field, in metres.
pub(crate) const LARGEST_COORDINATE: f64 = 1e7;

/// Smaller polygons are no ground, in m2.
const LEAST_AREA: f64 = 1e-6;

/// Largest part of a valid polygon that is wound around other than once.
const TOLERANCE: f64 = 1e-6;

/// Polygons of rows, each any number of rings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    /// Vertices of the rings, each ring with its first vertex again at the end.
    vertices: Vec<Point>,
    /// End of the vertices of each ring, and its sign.
    rings: Vec<(u32, i32)>,
    /// End of the rings of each row.
    ends: Vec<u32>,
    /// Area of each row in m2.
    areas: Vec<f64>,
    /// Rows that have polygons, but no ground.
    pub(crate) lost: Vec<u32>,
}

/// A ring of a shape.
pub(crate) struct Ring {
    /// Its vertices.
    pub(crate) range: Range<usize>,
    /// 1 if an anticlockwise ring is ground and a clockwise one is a hole, else -1.
    pub(crate) sign: i32,
}

impl Shapes {
    /// Appends the polygons of a row, and returns whether any is ground.
    ///
    /// Ground is what a ring winds around, so that a swath that crosses itself in a turn keeps both sides. A shape with a
    /// vertex that is no location is none. `owned_area` measures a row that may cover ground more than once.
    pub(crate) fn push(&mut self, polygons: &Polygons, owned_area: fn(&Self, u32) -> f64) -> bool {
        let is_valid = |point: &Point| point.iter().all(|coordinate| coordinate.abs() <= LARGEST_COORDINATE);
        let row = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let (rings, vertices) = (self.rings.len(), self.vertices.len());
        let mut total = 0.0;
        let is_known = polygons.iter().flatten().flatten().all(is_valid);
        for (number, ring) in polygons.iter().filter(|_| is_known).flat_map(|rings| rings.iter().enumerate()) {
            let size = area(ring);
            let is_ground = number == 0;
            total += if is_ground { size.abs() } else { -size.abs() };
            self.vertices.extend_from_slice(ring);
            self.vertices.extend(ring.first());
            let end = u32::try_from(self.vertices.len()).unwrap_or(u32::MAX);
            self.rings.push((end, if (size > 0.0) == is_ground { 1 } else { -1 }));
        }
        self.ends.push(u32::try_from(self.rings.len()).unwrap_or(u32::MAX));
        self.areas.push(total);
        let is_simple = matches!(polygons.as_slice(), [rings] if matches!(rings.as_slice(), [ring] if is_star(ring)));
        if is_known && !is_simple {
            self.areas[row as usize] = owned_area(self, row);
        }
        if !is_known || self.areas[row as usize] < LEAST_AREA {
            self.rings.truncate(rings);
            self.vertices.truncate(vertices);
            self.ends[row as usize] = u32::try_from(rings).unwrap_or(u32::MAX);
            self.areas[row as usize] = 0.0;
            self.lost.extend((!polygons.is_empty()).then_some(row));
        }
        self.areas[row as usize] > 0.0
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Area of a row in m2; 0 if it has no ground.
    pub(crate) fn area(&self, row: usize) -> f64 {
        self.areas.get(row).copied().unwrap_or(0.0)
    }

    /// All vertices.
    pub(crate) fn vertices(&self) -> &[Point] {
        &self.vertices
    }

    /// The vertices of all rings of a row.
    pub(crate) fn row_vertices(&self, row: u32) -> &[Point] {
        let mut rings = self.rings(row);
        let Some(first) = rings.next() else { return &[] };
        let end = rings.last().map_or(first.range.end, |last| last.range.end);
        &self.vertices[first.range.start..end]
    }

    /// The rings of a row.
    pub(crate) fn rings(&self, row: u32) -> impl Iterator<Item = Ring> + use<'_> {
        let row = row as usize;
        let end = |ends: &[u32], at: Option<usize>| at.and_then(|at| ends.get(at).copied()).unwrap_or(0) as usize;
        let (first, last) = (end(&self.ends, row.checked_sub(1)), end(&self.ends, Some(row)));
        (first..last).map(move |ring| {
            let start = ring.checked_sub(1).map_or(0, |before| self.rings[before].0 as usize);
            let (end, sign) = self.rings[ring];
            Ring { range: start..end as usize, sign }
        })
    }

    /// The polygons of a row without the closing vertices.
    pub(crate) fn polygons(&self, row: u32) -> Polygons {
        let mut polygons: Polygons = Vec::new();
        for ring in self.rings(row) {
            let is_hole = (area(&self.vertices[ring.range.clone()]) > 0.0) != (ring.sign > 0);
            let points = self.vertices[ring.range.start..ring.range.end - 1].to_vec();
            match polygons.last_mut().filter(|_| is_hole) {
                Some(rings) => rings.push(points),
                None => polygons.push(vec![points]),
            }
        }
        polygons
    }

    /// Whether the polygons of a row are valid: no ring crosses itself or another one, and holes are inside.
    ///
    /// Then ground is wound around once, so that the areas of the rings add up to it.
    pub(crate) fn is_valid(&self, row: u32) -> bool {
        let signed = |ring: Ring| f64::from(ring.sign) * area(&self.vertices[ring.range]);
        let total: f64 = self.rings(row).map(signed).sum();
        let own = self.area(row as usize);
        (total - own).abs() <= TOLERANCE * own
    }
}

/// Whether all vertices of a ring are seen from its middle, in their order: then it does not cross itself.
fn is_star(ring: &[Point]) -> bool {
    let Some(first) = ring.first() else { return false };
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let count = ring.len() as f64;
    let sum = ring.iter().fold([0.0; 2], |sum, point| [sum[0] + point[0] - first[0], sum[1] + point[1] - first[1]]);
    let middle = [first[0] + sum[0] / count, first[1] + sum[1] / count];
    let (mut signs, mut turns) = ([false; 2], 0);
    let mut before = ring.last().map_or([0.0; 2], |last| [last[0] - middle[0], last[1] - middle[1]]);
    for point in ring {
        let next = [point[0] - middle[0], point[1] - middle[1]];
        let cross = before[0] * next[1] - before[1] * next[0];
        signs = [signs[0] || cross > 0.0, signs[1] || cross < 0.0];
        turns += u32::from((before[1] < 0.0) != (next[1] < 0.0));
        before = next;
    }
    signs[0] != signs[1] && turns == 2
}

/// Whether each location is in polygons: a line from it to the east crosses an odd number of edges.
pub(crate) fn are_inside(polygons: &[Polygons], places: impl Iterator<Item = Point>) -> impl Iterator<Item = bool> {
    let rings: Vec<&[Point]> = polygons.iter().flatten().flatten().map(Vec::as_slice).collect();
    let all = rings.iter().copied().flatten().copied().collect::<Vec<Point>>();
    let [west, south, east, north] = extent(&all);
    let crosses = |x: f64, y: f64, [ax, ay]: Point, [bx, by]: Point| {
        (ay <= y) != (by <= y) && x < ax + (bx - ax) * ((y - ay) / (by - ay))
    };
    places.map(move |[x, y]| {
        (west..=east).contains(&x)
            && (south..=north).contains(&y)
            && rings.iter().flat_map(|ring| edges(ring)).filter(|(a, b)| crosses(x, y, *a, *b)).count() % 2 == 1
    })
}
