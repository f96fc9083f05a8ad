//! Arithmetic with the same bits on all machines. Results of the system's math library may differ in the last bit.
//! Angles are therefore computed from the four operations and square roots, which IEEE 754 defines exactly.

use std::f64::consts::{FRAC_PI_2, PI};

/// Returns sine and cosine of an angle in radians, for at most a few turns.
pub(super) fn sin_cos(angle: f64) -> (f64, f64) {
    let quarters = (angle / FRAC_PI_2).round();
    let rest = angle - quarters * FRAC_PI_2;
    let square = rest * rest;
    // Taylor series, innermost term first. |rest| is at most π/4, so the next term is below 1e-17.
    let mut sine = 1.0;
    let mut cosine = 1.0;
    for step in (1..=8).rev() {
        let twice = 2.0 * f64::from(step);
        sine = 1.0 - sine * square / (twice * (twice + 1.0));
        cosine = 1.0 - cosine * square / (twice * (twice - 1.0));
    }
    sine *= rest;
    match round_to_i64(quarters).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Returns the heading of a direction: degrees clockwise from north, in 0..360.
pub(super) fn heading(east: f64, north: f64) -> f64 {
    let angle = if north == 0.0 {
        FRAC_PI_2 * east.signum()
    } else if north < 0.0 {
        PI + arc_tangent(east / north)
    } else {
        arc_tangent(east / north)
    };
    let degrees = angle.to_degrees();
    if degrees < 0.0 { degrees + 360.0 } else { degrees }
}

fn arc_tangent(tangent: f64) -> f64 {
    // Three halvings of the angle leave a tangent below 0.2. Ten terms of the series are then exact.
    let half = |tangent: f64| tangent / (1.0 + (1.0 + tangent * tangent).sqrt());
    let small = half(half(half(tangent)));
    let square = small * small;
    let series = (0..=10).rev().fold(0.0, |sum, term| 1.0 / (2.0 * f64::from(term) + 1.0) - square * sum);
    8.0 * small * series
}

/// Rounds to the nearest integer.
#[expect(clippy::cast_possible_truncation, reason = "every quantity of a field is far below 2^53")]
pub(super) fn round_to_i64(value: f64) -> i64 {
    value.round() as i64
}

/// Converts an integer to a float.
#[expect(clippy::cast_precision_loss, reason = "every count of the generator is far below 2^53")]
pub(super) fn i64_to_f64(value: i64) -> f64 {
    value as f64
}

/// Converts a count to a float.
#[expect(clippy::cast_precision_loss, reason = "every count of the generator is far below 2^53")]
pub(super) fn usize_to_f64(value: usize) -> f64 {
    value as f64
}

/// Rounds `value` to `decimals` decimals and returns it in units of the last decimal.
pub(super) fn scaled(value: f64, decimals: u8) -> i64 {
    round_to_i64(value * power_of_ten(decimals))
}

/// Returns the double nearest to the decimal text of `value` units of the last decimal.
pub(super) fn unscaled(value: i64, decimals: u8) -> f64 {
    i64_to_f64(value) / power_of_ten(decimals)
}

fn power_of_ten(decimals: u8) -> f64 {
    (0..decimals).fold(1.0, |power, _| power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_cosine_and_heading_agree_with_std() {
        for tenth in -70..=70 {
            let angle = f64::from(tenth) / 10.0;
            let (sine, cosine) = sin_cos(angle);
            assert!((sine - angle.sin()).abs() < 1e-15, "sine of {angle}");
            assert!((cosine - angle.cos()).abs() < 1e-15, "cosine of {angle}");
            let expected = angle.sin().atan2(angle.cos()).to_degrees().rem_euclid(360.0);
            assert!((heading(sine, cosine) - expected).abs() < 1e-9, "heading of {angle}");
        }
        assert_eq!((heading(0.0, 1.0), heading(1.0, 0.0), heading(-1.0, 0.0)), (0.0, 90.0, 270.0));
    }
}
