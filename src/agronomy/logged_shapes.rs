//! Turns logged polygons of rows into convex polygons with few corners.

use super::convex_clip::{Point, area};

/// Largest number of corners of a swath.
pub(super) const SWATH_CORNERS: usize = 8;

/// A convex polygon stands for a logged one if their areas differ by less than this share.
const LARGEST_DIFFERENCE: f64 = 0.02;

/// Memory for the conversion, used again for each polygon.
#[derive(Default)]
pub(super) struct Shapes {
    sorted: Vec<Point>,
    hull: Vec<Point>,
}

impl Shapes {
    /// The convex hull of a ring, anticlockwise; none if its area differs by more than 2 % or it is too complex.
    ///
    /// The hull of a convex ring is the ring itself without repeated vertices and vertices on straight lines.
    pub(super) fn convex(&mut self, ring: &[Point]) -> Option<&[Point]> {
        self.sorted.clear();
        self.sorted.extend_from_slice(ring);
        if ring.iter().flatten().any(|coordinate| !coordinate.is_finite()) {
            return None;
        }
        self.sorted.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        self.hull.clear();
        for point in &self.sorted {
            append(&mut self.hull, *point, 0);
        }
        let lower = self.hull.len().saturating_sub(1);
        for point in self.sorted.iter().rev().skip(1) {
            append(&mut self.hull, *point, lower);
        }
        self.hull.pop();
        while self.hull.len() > SWATH_CORNERS {
            remove_flattest(&mut self.hull);
        }
        let logged = area(ring).abs();
        let is_close = (area(&self.hull) - logged).abs() <= LARGEST_DIFFERENCE * logged;
        (self.hull.len() > 2 && is_close).then_some(&self.hull)
    }
}

/// Appends a vertex to a chain that begins at `start`, without vertices that are then on or inside a straight line.
fn append(chain: &mut Vec<Point>, point: Point, start: usize) {
    while let [.., a, b] = chain.get(start..).unwrap_or_default() {
        let (along, to) = ([b[0] - a[0], b[1] - a[1]], [point[0] - a[0], point[1] - a[1]]);
        let scale = (along[0].abs() + along[1].abs()) * (to[0].abs() + to[1].abs());
        if along[0] * to[1] - along[1] * to[0] > 1e-9 * scale {
            break;
        }
        chain.pop();
    }
    chain.push(point);
}

/// Removes the vertex whose triangle with its two neighbours is smallest.
fn remove_flattest(hull: &mut Vec<Point>) {
    let len = hull.len();
    let triangle = |at: usize| area(&[hull[(at + len - 1) % len], hull[at], hull[(at + 1) % len]]);
    let flattest = (0..len).min_by(|a, b| triangle(*a).total_cmp(&triangle(*b)));
    if let Some(at) = flattest {
        hull.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convex_area(ring: &[Point]) -> Option<f64> {
        Shapes::default().convex(ring).map(area)
    }

    #[test]
    fn closed_clockwise_ring_with_repeated_vertices_is_put_in_order() {
        let ring = [[0.0, 0.0], [0.0, 2.0], [0.0, 2.0], [1.0, 2.0], [3.0, 2.0], [3.0, 0.0], [0.0, 0.0]];
        let mut shapes = Shapes::default();
        assert_eq!(shapes.convex(&ring).unwrap(), [[0.0, 0.0], [3.0, 0.0], [3.0, 2.0], [0.0, 2.0]]);
    }

    #[test]
    fn dent_of_one_percent_is_filled_and_a_larger_one_is_refused() {
        let dent = |depth: f64| [[0.0, 0.0], [5.0, depth], [10.0, 0.0], [10.0, 2.0], [0.0, 2.0]];
        assert_eq!(convex_area(&dent(0.04)), Some(20.0));
        assert_eq!(convex_area(&dent(0.5)), None);
    }

    #[test]
    fn ring_without_area_or_with_crossing_edges_is_refused() {
        assert_eq!(convex_area(&[[0.0, 0.0], [1.0, 1.0]]), None);
        assert_eq!(convex_area(&[[0.0, 0.0]]), None);
        assert_eq!(convex_area(&[]), None);
        assert_eq!(convex_area(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), None);
        assert_eq!(convex_area(&[[0.0, 0.0], [1.0, f64::NAN], [1.0, 1.0]]), None);
    }
}
