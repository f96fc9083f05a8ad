//! The direction of rings, as RFC 7946 wants it: outer rings counter-clockwise, holes clockwise.

/// Whether a closed ring has to be turned round.
pub(super) fn is_reversed(xs: &[f64], ys: &[f64], is_outer: bool) -> bool {
    let (x0, y0) = (xs.first().copied().unwrap_or_default(), ys.first().copied().unwrap_or_default());
    // Twice the area, from the first corner so that large coordinates lose no digits.
    let doubled: f64 = xs
        .windows(2)
        .zip(ys.windows(2))
        .map(|(xs, ys)| match (xs, ys) {
            ([ax, bx], [ay, by]) => (ax - x0) * (by - y0) - (bx - x0) * (ay - y0),
            _ => 0.0,
        })
        .sum();
    if is_outer { doubled < 0.0 } else { doubled > 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_rings_are_counter_clockwise_and_holes_clockwise() {
        let (xs, ys) = ([0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]);
        assert!(!is_reversed(&xs, &ys, true));
        assert!(is_reversed(&xs, &ys, false));
    }
}
