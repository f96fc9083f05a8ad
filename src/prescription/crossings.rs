//! Finds polygons whose edges cross, such as a figure of eight.

type Point = [f64; 2];

/// Whether two edges of the rings of a polygon cross each other. Edges that only touch do not.
pub(super) fn crosses_itself(rings: &[Vec<Point>]) -> bool {
    let mut edges: Vec<(Point, Point)> = rings
        .iter()
        .flat_map(|ring| ring.iter().zip(ring.iter().cycle().skip(1)))
        .map(|(from, to)| if from[1] < to[1] { (*from, *to) } else { (*to, *from) })
        .collect();
    edges.sort_by(|one, other| one.0[1].total_cmp(&other.0[1]));
    let mut active: Vec<(Point, Point)> = Vec::new();
    for edge in edges {
        active.retain(|other| other.1[1] > edge.0[1]);
        if active.iter().any(|other| cross(edge, *other)) {
            return true;
        }
        active.push(edge);
    }
    false
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
