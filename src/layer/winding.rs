//! The direction of rings, as RFC 7946 wants it: outer rings counter-clockwise, holes clockwise.

/// Whether a closed ring has to be turned round.
pub(super) fn is_wrong(ring: &[(f64, f64)], is_outer: bool) -> bool {
    let (x0, y0) = ring.first().copied().unwrap_or_default();
    let doubled: f64 = ring
        .windows(2)
        .map(|pair| match pair {
            [(ax, ay), (bx, by)] => (ax - x0) * (by - y0) - (bx - x0) * (ay - y0),
            _ => 0.0,
        })
        .sum();
    if is_outer { doubled < 0.0 } else { doubled > 0.0 }
}
