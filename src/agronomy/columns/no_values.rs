//! Makes values null that no sensor measures: codes of a format, and values below 0 or far above all others.

use crate::columns::canonical::YIELDS;

/// Columns besides yields of which values above [`MOST_TIMES`] times their 90th percentile are none.
const LIMITED: &[&str] = &["swath_width", "flow"];
/// Columns besides those of which only negative values are none.
const NOT_NEGATIVE: &[&str] = &["interval", "distance", "speed", "target_rate", "applied_rate", "control_rate"];
const MOST_TIMES: f64 = 10.0;
/// Percent of water above which a moisture is no share.
const LEAST_PERCENT: f64 = 3.0;

/// Times that a code of no value is there at least, and of the next lower value what it has at least.
const LEAST_REPEATED: usize = 3;
const ALONE: f64 = 1.5;

/// Makes codes of no value null that are too low for [`MOST_TIMES`], and returns their number: the largest value of grain or of
/// moisture, if it is one that a format has for this, such as 65,535 or 999.9, is there exactly several times, and no other
/// value is near it.
pub(crate) fn discard_codes(name: &str, values: &mut [f64]) -> usize {
    if !["flow", "moisture"].contains(&name) && !YIELDS.contains(&name) {
        return 0;
    }
    let largest = |below: f64| values.iter().copied().filter(|value| *value < below).fold(0.0, f64::max);
    let (most, is_most) = (largest(f64::INFINITY), |value: &f64, most: f64| value.total_cmp(&most).is_eq());
    let count = values.iter().filter(|value| is_most(value, most)).count();
    if !is_code(most) || count < LEAST_REPEATED || most < ALONE * largest(most) || largest(most) <= 0.0 {
        return 0;
    }
    values.iter_mut().filter(|value| is_most(value, most)).for_each(|value| *value = f64::NAN);
    // One column can have several codes.
    discard_codes(name, values).saturating_add(count)
}

/// Whether a number has nines only, or all bits of a byte or more.
pub(crate) fn is_code(value: f64) -> bool {
    let text = value.to_string();
    let nines = text.bytes().filter(|byte| *byte == b'9').count();
    let is_nines = nines > 2 && text.bytes().all(|byte| [b'9', b'.'].contains(&byte));
    is_nines
        || [8, 10, 12, 14, 15, 16, 31, 32].into_iter().any(|bits| value.total_cmp(&(2.0_f64.powi(bits) - 1.0)).is_eq())
}

/// Makes values null that no sensor measures, and returns their number: infinite ones, those below 0, and of grain
/// and widths those far above all others, such as 65,535.
pub(crate) fn discard_no_values(name: &str, values: &mut [f64]) -> usize {
    let mut most = f64::INFINITY;
    let mut least = 0.0;
    let is_limited = LIMITED.contains(&name) || YIELDS.contains(&name);
    if name == "moisture" {
        most = 100.0;
        // A sensor that is off logs 0, and no grain is as dry as the shares that some rows have instead of percent.
        let wet = values.iter().copied().filter(|value| *value > 0.0 && *value <= most);
        least = match is_high(wet, |usual| usual > LEAST_PERCENT) {
            None => f64::MIN_POSITIVE,
            Some(is_percent) => f64::from(u8::from(is_percent)),
        };
    } else if !is_limited && !NOT_NEGATIVE.contains(&name) {
        return 0;
    }
    if is_limited {
        let known = || values.iter().copied().filter(|value| *value > 0.0 && value.is_finite());
        let largest = values.iter().copied().fold(0.0, f64::max);
        // Mostly the largest one is not far above the others, so that they need not be sorted.
        if is_high(known(), |usual| MOST_TIMES * usual >= largest) == Some(false) {
            most = high(known().collect()).map_or(most, |usual| MOST_TIMES * usual);
        }
    }
    let mut count = 0_usize;
    for value in values.iter_mut().filter(|value| **value < least || **value > most || value.is_infinite()) {
        *value = f64::NAN;
        count = count.saturating_add(1);
    }
    count
}

/// Whether the 90th percentile has a property that all larger values have, too; `None` without a value.
fn is_high(values: impl Iterator<Item = f64>, has: impl Fn(f64) -> bool) -> Option<bool> {
    let (mut count, mut without) = (0_usize, 0_usize);
    for value in values {
        count = count.saturating_add(1);
        without = without.saturating_add(usize::from(!has(value)));
    }
    Some(without <= count.checked_sub(1)?.saturating_mul(9) / 10)
}

/// The 90th percentile.
fn high(mut values: Vec<f64>) -> Option<f64> {
    let index = values.len().checked_sub(1)?.saturating_mul(9) / 10;
    Some(*values.select_nth_unstable_by(index, f64::total_cmp).1)
}
