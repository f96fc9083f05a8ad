//! Finds the basis of a reported yield: wet, or dried to a moisture that the rows imply.

use crate::columns::row_ratios::median_and_range;

/// Fewer rows imply no moisture.
const MIN_ROWS: usize = 50;
/// A ratio this close to 1 is 1: displays round.
const EXACT: f64 = 0.01;
/// The median ratio of a wet yield: grain dried by a fifth of a percent of water is apart from it.
const CENTRED: f64 = 0.002;
/// The interquartile range in percent of water that implied moistures of one basis have.
const MAX_RANGE: f64 = 0.3;
/// Displays dry to halves of a percent; an implied moisture this close to one is that.
const SNAP: f64 = 0.05;

/// The basis of a yield.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum YieldBasis {
    /// As harvested.
    Wet,
    /// At a percentage of water, which is unknown where the rows imply none exactly. Drier rows may be as harvested.
    Dry(Option<f64>),
}

/// The basis that the rows imply: the ratio of the reported to the wet mass, and the moisture.
///
/// Displays report the wet mass, or (100 - M)/(100 - M0) of it, some only where M is above M0.
pub(crate) fn yield_basis(rows: &[(f64, f64)]) -> Option<YieldBasis> {
    let share = |count: usize, of: usize| count.saturating_mul(100).checked_div(of).unwrap_or(0);
    let is_one = |ratio: f64| (ratio - 1.0).abs() <= EXACT;
    let ones = rows.iter().filter(|(ratio, _)| is_one(*ratio)).count();
    let middle = median_and_range(rows.iter().map(|(ratio, _)| *ratio).collect()).0;
    if share(ones, rows.len()) >= 98 && (middle - 1.0).abs() < CENTRED {
        return Some(YieldBasis::Wet);
    }
    let implied = |(ratio, moisture): &(f64, f64)| 100.0 - (100.0 - moisture) / ratio;
    let all: Vec<f64> = rows.iter().map(implied).collect();
    let (middle, range) = median_and_range(all);
    if rows.len() >= MIN_ROWS && range < MAX_RANGE {
        return Some(YieldBasis::Dry(snapped(middle)));
    }
    let reduced: Vec<f64> = rows.iter().filter(|(ratio, _)| *ratio < 1.0 - EXACT / 2.0).map(implied).collect();
    let count = reduced.len();
    let (middle, range) = median_and_range(reduced);
    let drier = || rows.iter().filter(|(_, moisture)| *moisture < middle - MAX_RANGE);
    let kept = drier().filter(|(ratio, _)| is_one(*ratio)).count();
    (count >= MIN_ROWS && range < MAX_RANGE && share(kept, drier().count()) >= 95)
        .then(|| YieldBasis::Dry(snapped(middle)))
}

fn snapped(percent: f64) -> Option<f64> {
    let half = (percent * 2.0).round() / 2.0;
    ((percent - half).abs() < SNAP).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(share: impl Fn(f64) -> f64, noise: f64) -> Vec<(f64, f64)> {
        let steps = (0..400).map(|row| f64::from(row % 100) / 100.0);
        steps
            .enumerate()
            .map(|(row, step)| {
                let moisture = 10.0 + 10.0 * step;
                let sign = if row % 2 == 0 { 1.0 } else { -1.0 };
                (share(moisture) * (1.0 + sign * noise), moisture)
            })
            .collect()
    }

    #[test]
    fn exact_bases_are_found_and_noisy_ones_are_not() {
        assert_eq!(yield_basis(&rows(|_| 1.0, 0.0005)), Some(YieldBasis::Wet));
        for basis in [13.0, 13.5, 14.0, 15.0, 15.5] {
            let dry = |moisture: f64| (100.0 - moisture) / (100.0 - basis);
            assert_eq!(yield_basis(&rows(dry, 0.0002)), Some(YieldBasis::Dry(Some(basis))));
            assert_eq!(yield_basis(&rows(|moisture| dry(moisture).min(1.0), 0.0)), Some(YieldBasis::Dry(Some(basis))));
            assert_eq!(yield_basis(&rows(dry, 0.02)), None);
        }
        assert_eq!(
            yield_basis(&rows(|moisture| (100.0 - moisture) / (100.0 - 13.21), 0.0)),
            Some(YieldBasis::Dry(None))
        );
        assert_eq!(yield_basis(&rows(|_| 1.07, 0.0)), None);
        assert_eq!(yield_basis(&[]), None);
    }
}
