//! Rounds the rates of zones to a step, and counts the decimals that they are written with.

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

/// The number that a rate is written as; -0 is 0.
pub(super) fn as_written(rate: f64) -> f64 {
    let written: f64 = format!("{rate:.MOST_DECIMALS$}").parse().unwrap_or(rate);
    written + 0.0
}

/// Whether a rate and the number that it is written as differ by more than the error of arithmetic: 0.1 + 0.2 is 0.3.
pub(super) fn is_changed(rate: f64, written: f64) -> bool {
    (written - rate).abs() > 1e-9 * rate.abs().min(1.0)
}

/// The decimals that all written rates need, at most 6.
pub(super) fn decimals(rates: impl Iterator<Item = f64>) -> usize {
    let needed = |rate: f64| {
        let zeros = format!("{rate:.MOST_DECIMALS$}").bytes().rev().take_while(|byte| *byte == b'0').count();
        MOST_DECIMALS.saturating_sub(zeros)
    };
    rates.map(needed).max().unwrap_or(0)
}
