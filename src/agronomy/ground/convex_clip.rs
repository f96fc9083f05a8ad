//! Small convex polygons without heap memory, their areas, separation and cuts by half-planes.

/// A location in a plane, in metres.
pub(crate) type Point = [f64; 2];

/// Vertices that a `Convex` holds.
const CAPACITY: usize = 12;

/// A cut adds at most one vertex to each side; one more is left for rounding.
const LARGEST_CUT: usize = CAPACITY - 2;

/// Distances from a line below this count as on the line, in metres; about a thousand times the rounding error of
/// coordinates of 10 km.
const EPSILON: f64 = 1e-9;

/// A convex polygon whose vertices are anticlockwise. Fewer than three vertices mean an empty polygon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convex {
    points: [Point; CAPACITY],
    len: usize,
}

impl Convex {
    pub(crate) const EMPTY: Self = Self { points: [[0.0; 2]; CAPACITY], len: 0 };

    /// The polygon of the given vertices; those beyond the capacity are ignored.
    pub(crate) fn from_points(points: &[Point]) -> Self {
        let mut polygon = Self::EMPTY;
        polygon.len = points.len().min(CAPACITY);
        polygon.points[..polygon.len].copy_from_slice(&points[..polygon.len]);
        polygon
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points[..self.len.min(CAPACITY)]
    }

    pub(crate) fn area(&self) -> f64 {
        area(self.points())
    }

    fn push(&mut self, point: Point) {
        if let Some(free) = self.points.get_mut(self.len) {
            *free = point;
            self.len += 1;
        }
    }

    /// Whether a cut could exceed the capacity, so that the polygon has to be split first.
    pub(crate) fn is_full(&self) -> bool {
        self.len > LARGEST_CUT
    }

    /// Splits the polygon along a diagonal into two with about half of the vertices.
    pub(crate) fn split(&self) -> [Self; 2] {
        let points = self.points();
        let middle = points.len() / 2;
        let mut second = Self::from_points(points.get(middle..).unwrap_or_default());
        if let Some(first) = points.first() {
            second.push(*first);
        }
        [Self::from_points(points.get(..=middle).unwrap_or_default()), second]
    }

    /// Cuts along the boundary of a half-plane into the parts outside and inside.
    ///
    /// A part without interior is empty. The polygon must not be full (`is_full`), else vertices can be lost.
    #[inline]
    pub(crate) fn cut(&self, half_plane: &HalfPlane, outside: &mut Self, inside: &mut Self) {
        let tolerance = half_plane.tolerance;
        let mut sides = [0.0; CAPACITY];
        let (mut is_outside, mut is_inside) = (false, false);
        for (side, point) in sides.iter_mut().zip(self.points()) {
            *side = half_plane.side(*point);
            is_outside |= *side < -tolerance;
            is_inside |= *side > tolerance;
        }
        outside.len = 0;
        inside.len = 0;
        if !is_outside || !is_inside {
            let kept = if is_outside { outside } else { inside };
            if is_outside || is_inside {
                kept.clone_from(self);
            }
            return;
        }
        let last = self.len.min(CAPACITY) - 1;
        let (mut before, mut side_before) = (self.points[last], sides[last]);
        for (point, side) in self.points().iter().zip(sides) {
            if (side_before > tolerance && side < -tolerance) || (side_before < -tolerance && side > tolerance) {
                let share = side_before / (side_before - side);
                let crossing = [before[0] + (point[0] - before[0]) * share, before[1] + (point[1] - before[1]) * share];
                outside.push(crossing);
                inside.push(crossing);
            }
            if side <= tolerance {
                outside.push(*point);
            }
            if side >= -tolerance {
                inside.push(*point);
            }
            (before, side_before) = (*point, side);
        }
    }
}

/// The plane left of a directed line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfPlane {
    from: Point,
    along: Point,
    tolerance: f64,
}

impl HalfPlane {
    /// The plane left of the line from one point to another.
    pub(crate) fn left_of(from: Point, to: Point) -> Self {
        Self::along(from, [to[0] - from[0], to[1] - from[1]])
    }

    /// The plane left of the line through a point in a direction of any length.
    pub(crate) fn along(from: Point, along: Point) -> Self {
        // The sum of the components is the length to a factor of 1.4, without a root.
        Self { from, along, tolerance: EPSILON * (along[0].abs() + along[1].abs()) }
    }

    /// Distance of a point from the line times the length of `along`; positive inside.
    #[inline]
    fn side(&self, point: Point) -> f64 {
        self.along[0] * (point[1] - self.from[1]) - self.along[1] * (point[0] - self.from[0])
    }
}

/// Area of a ring, positive if its vertices are anticlockwise.
pub(crate) fn area(points: &[Point]) -> f64 {
    // Relative to one vertex, else the area drowns in the rounding of large coordinates.
    let [origin, rest @ ..] = points else { return 0.0 };
    let mut twice = 0.0;
    for pair in rest.windows(2) {
        if let [a, b] = pair {
            twice += (a[0] - origin[0]) * (b[1] - origin[1]) - (b[0] - origin[0]) * (a[1] - origin[1]);
        }
    }
    twice / 2.0
}

/// The edges of a ring, each as its two ends.
pub(crate) fn edges(points: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    let last = points.last().copied().unwrap_or_default();
    points.iter().scan(last, |before, point| Some((std::mem::replace(before, *point), *point)))
}

/// Edges of a convex polygon that cut another one.
#[derive(Default)]
pub(crate) struct Cuts {
    /// Half-planes of the edges with the square of the other polygon's depth in them, least first.
    edges: Vec<(f64, HalfPlane)>,
}

impl Cuts {
    /// Finds the edges of a convex polygon that cut a piece, or none if an edge of either separates the two: they
    /// share no more than boundary.
    ///
    /// The edge that the piece reaches least far across comes first, so that most of the piece is left in one part.
    #[inline]
    pub(crate) fn find(&mut self, polygon: &[Point], piece: &[Point]) -> Option<&[(f64, HalfPlane)]> {
        self.edges.clear();
        // Most neighbours are separate, which the first point inside each edge disproves.
        if has_separating_edge(polygon, piece) || has_separating_edge(piece, polygon) {
            return None;
        }
        for (from, to) in edges(polygon) {
            let half_plane = HalfPlane::left_of(from, to);
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for point in piece {
                let side = half_plane.side(*point);
                least = if side < least { side } else { least };
                most = if side > most { side } else { most };
            }
            if least < -half_plane.tolerance {
                let [east, north] = half_plane.along;
                let depth = most * most / (east * east + north * north);
                let at = self.edges.iter().position(|(other, _)| depth < *other).unwrap_or(self.edges.len());
                self.edges.insert(at, (depth, half_plane));
            }
        }
        Some(&self.edges)
    }
}

/// Whether an edge of a convex polygon separates it from other points.
#[inline]
fn has_separating_edge(polygon: &[Point], points: &[Point]) -> bool {
    edges(polygon).any(|(from, to)| {
        let half_plane = HalfPlane::left_of(from, to);
        points.iter().all(|point| half_plane.side(*point) <= half_plane.tolerance)
    })
}

/// Smallest and largest coordinates: `[x, y, x, y]`.
pub(crate) type Extent = [f64; 4];

/// The extent of some points; not a number is ignored.
pub(crate) fn extent(points: &[Point]) -> Extent {
    let mut extent = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    // Comparisons take one instruction each, `min` and `max` take several.
    let lower = |one: f64, other: f64| if other < one { other } else { one };
    let upper = |one: f64, other: f64| if other > one { other } else { one };
    for [x, y] in points {
        extent = [lower(extent[0], *x), lower(extent[1], *y), upper(extent[2], *x), upper(extent[3], *y)];
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [Point; 4] = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];

    #[test]
    fn square_cut_by_a_line_keeps_its_area() {
        let (mut outside, mut inside) = (Convex::EMPTY, Convex::EMPTY);
        let square = Convex::from_points(&SQUARE);
        square.cut(&HalfPlane::left_of([0.5, 0.0], [0.5, 1.0]), &mut outside, &mut inside);
        assert!((outside.area() - 3.0).abs() < 1e-15 && (inside.area() - 1.0).abs() < 1e-15);
        square.cut(&HalfPlane::left_of([0.0, 0.0], [2.0, 2.0]), &mut outside, &mut inside);
        assert_eq!((outside.points().len(), inside.points().len()), (3, 3));
    }

    #[test]
    fn square_beside_a_line_is_on_one_side() {
        let (mut outside, mut inside) = (Convex::EMPTY, Convex::EMPTY);
        let square = Convex::from_points(&SQUARE);
        square.cut(&HalfPlane::left_of([2.0, 0.0], [2.0, 1.0]), &mut outside, &mut inside);
        assert_eq!((outside.points().len(), inside.points().len()), (0, 4));
        square.cut(&HalfPlane::left_of([0.0, 0.0], [0.0, 1.0]), &mut outside, &mut inside);
        assert_eq!((outside.points().len(), inside.points().len()), (4, 0));
    }

    #[test]
    fn squares_with_a_common_edge_are_separate() {
        let shifted = |by: f64| SQUARE.map(|[x, y]| [x + by, y]);
        let mut cuts = Cuts::default();
        assert!(cuts.find(&SQUARE, &shifted(2.0)).is_none());
        assert_eq!(cuts.find(&SQUARE, &shifted(2.0 - 1e-6)).unwrap().len(), 1);
    }

    #[test]
    fn split_polygon_keeps_its_area() {
        let angle = |k: u32| f64::from(k) * std::f64::consts::FRAC_PI_6;
        let points: Vec<Point> = (0..12).map(|k| [angle(k).cos(), angle(k).sin()]).collect();
        let polygon = Convex::from_points(&points);
        assert!(polygon.is_full());
        let [one, other] = polygon.split();
        assert!((one.area() + other.area() - polygon.area()).abs() < 1e-15);
    }
}
