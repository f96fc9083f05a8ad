//! The side of a line on which a point is, exactly, as GEOS has it.

pub(super) type Point = [f64; 2];

/// Above this share of its terms, the sign of the determinant in plain arithmetic is certain (Shewchuk 1997, `ccwerrboundA`,
/// <https://doi.org/10.1007/PL00009321>).
const CERTAIN: f64 = 4e-16;

/// 1 if `c` is left of the line from `a` to `b`, -1 if right of it, 0 if on it.
pub(super) fn side(a: Point, b: Point, c: Point) -> f64 {
    let (left, right) = ((b[0] - a[0]) * (c[1] - a[1]), (b[1] - a[1]) * (c[0] - a[0]));
    let doubled = left - right;
    if doubled.abs() > CERTAIN * (left.abs() + right.abs()) {
        return doubled.signum();
    }
    // Differences and products with their rounding errors, as in `CGAlgorithmsDD` of GEOS.
    let left = product(difference(b[0], a[0]), difference(c[1], a[1]));
    let right = product(difference(b[1], a[1]), difference(c[0], a[0]));
    let (high, low) = difference(left.0, right.0);
    let doubled = high + (low + (left.1 - right.1));
    if doubled == 0.0 { 0.0 } else { doubled.signum() }
}

/// A difference and its rounding error.
fn difference(one: f64, other: f64) -> (f64, f64) {
    let high = one - other;
    let back = high - one;
    (high, (one - (high - back)) - (other + back))
}

/// A product of two numbers with rounding errors.
fn product(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    let high = one.0 * other.0;
    (high, one.0.mul_add(other.0, -high) + (one.0 * other.1 + one.1 * other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_exact_where_plain_arithmetic_is_not() {
        let (a, b) = ([0.0, 0.0], [0.3, 0.7]);
        assert!(side(a, b, [0.0, 1.0]) > 0.0 && side(a, b, [1.0, 0.0]) < 0.0);
        // Half of a vector is on its line, and the numbers next to it are not.
        assert!(side(a, b, [0.15, 0.35]).abs() < 0.5);
        assert!(side(a, b, [0.15, 0.35_f64.next_up()]) > 0.0 && side(a, b, [0.15, 0.35_f64.next_down()]) < 0.0);
        assert!(side(a, b, [0.15_f64.next_up(), 0.35]) < 0.0 && side(b, a, [0.15_f64.next_up(), 0.35]) > 0.0);
    }
}
