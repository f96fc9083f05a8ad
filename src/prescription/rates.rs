//! Rates of zones: rounding to a step, and the decimals that they are written with.

use super::merge::same_rate;

/// Most decimals that are written.
pub(super) const MOST_DECIMALS: usize = 6;

/// How far below a half a quotient counts as the half: 0.15 / 0.1 is 1.4999999999999998.
const HALF: f64 = 1e-9;

/// Rounds a rate to a multiple of a step, halves away from 0, as the decimal numbers that both are written as.
pub(super) fn round_to_step(rate: f64, step: f64) -> f64 {
    let steps = rate / step;
    let rounded = (steps + HALF.copysign(steps)).round() * step;
    // 3 x 0.1 is 0.30000000000000004.
    format!("{rounded:.9}").parse().unwrap_or(rounded)
}

/// The decimals that all rates need, at most 6, and the first row whose rate needs more.
pub(super) fn decimals(rates: impl Iterator<Item = f64>) -> (usize, Option<usize>) {
    let (mut most, mut rounded) = (0, None);
    for (row, rate) in rates.enumerate() {
        let text = format!("{rate:.MOST_DECIMALS$}");
        let written: f64 = text.parse().unwrap_or(f64::NAN);
        if !same_rate(written, rate) && (written - rate).abs() > 1e-9 * rate.abs().min(1.0) {
            rounded = rounded.or(Some(row));
        }
        let zeros = text.bytes().rev().take_while(|byte| *byte == b'0').count();
        most = most.max(MOST_DECIMALS.saturating_sub(zeros));
    }
    (most, rounded)
}
