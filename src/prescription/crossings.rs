//! Finds polygons whose edges cross, such as a figure of eight.

type Point = [f64; 2];

/// Most comparisons of edges in a file, which take a second. Ordinary zones need a few for each edge, and polygons made
/// to be slow the square of their edges.
const MOST_COMPARISONS: usize = 100_000_000;

/// Finds crossings until too many edges were compared.
pub(super) struct Crossings {
    left: usize,
}

impl Crossings {
    pub(super) fn new() -> Self {
        Self { left: MOST_COMPARISONS }
    }

    /// Whether two edges of the rings of a polygon cross each other; `None` if that takes too long.
    pub(super) fn find(&mut self, rings: &[Vec<Point>]) -> Option<bool> {
        crosses_itself(rings, &mut self.left)
    }
}

/// Edges that only touch do not cross.
fn crosses_itself(rings: &[Vec<Point>], left: &mut usize) -> Option<bool> {
    let mut edges: Vec<(Point, Point)> = rings
        .iter()
        .flat_map(|ring| ring.iter().zip(ring.iter().cycle().skip(1)))
        .map(|(from, to)| if from[1] < to[1] { (*from, *to) } else { (*to, *from) })
        .collect();
    edges.sort_by(|one, other| one.0[1].total_cmp(&other.0[1]));
    let mut active: Vec<(Point, Point)> = Vec::new();
    for edge in edges {
        *left = left.checked_sub(active.len())?;
        active.retain(|other| other.1[1] > edge.0[1]);
        if active.iter().any(|other| cross(edge, *other)) {
            return Some(true);
        }
        active.push(edge);
    }
    Some(false)
}

fn cross((a, b): (Point, Point), (c, d): (Point, Point)) -> bool {
    if a[0].max(b[0]) < c[0].min(d[0]) || c[0].max(d[0]) < a[0].min(b[0]) {
        return false;
    }
    turn(a, b, c) * turn(a, b, d) < 0.0 && turn(c, d, a) * turn(c, d, b) < 0.0
}

/// The direction in which the corner at `b` turns: 0 within a rounding error of straight.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    let (left, right) = ((b[0] - a[0]) * (c[1] - a[1]), (b[1] - a[1]) * (c[0] - a[0]));
    let doubled = left - right;
    if doubled.abs() <= 1e-12 * (left.abs() + right.abs()) { 0.0 } else { doubled.signum() }
}
