//! Checks the direction of rings (RFC 7946, section 3.1.6): outer rings counter-clockwise, holes clockwise.

/// Whether a closed ring must be reversed.
pub(in crate::layer) fn is_reversed(xs: &[f64], ys: &[f64], is_outer: bool) -> bool {
    let (x0, y0) = (xs.first().copied().unwrap_or_default(), ys.first().copied().unwrap_or_default());
    // Twice the area, relative to the first vertex so that large coordinates lose no digits.
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
