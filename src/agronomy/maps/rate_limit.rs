//! The limit of rates that a zone or a row can ask for: what is far above all others is a typing error or a code of a display.

use crate::columns::no_values::is_code;

/// Times the usual rate, above which a rate is an error, and above which a code of a display is one.
const OUTLIER: f64 = 10.0;
const CODE: f64 = 3.0;
/// The largest code of a byte, which is a usual rate, too.
const BYTE: f64 = 255.0;

/// The limit of some rates.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// The median of the rates above 0 that are no codes.
    pub usual: f64,
}

impl RateLimit {
    /// The limit of rates; `None` if none is above 0.
    #[must_use]
    pub fn of(rates: impl Iterator<Item = f64>) -> Option<Self> {
        let (codes, others): (Vec<f64>, Vec<f64>) =
            rates.filter(|rate| *rate > 0.0 && rate.is_finite()).partition(|rate| is_rate_code(*rate));
        let mut rates = if others.is_empty() { codes } else { others };
        rates.sort_unstable_by(f64::total_cmp);
        // Of two zones, neither has the usual rate.
        let middle = rates.len() / 2;
        let low = if rates.len().is_multiple_of(2) { middle.checked_sub(1)? } else { middle };
        Some(Self { usual: f64::midpoint(*rates.get(low)?, *rates.get(middle)?) })
    }

    /// Whether a rate is far above the usual one.
    #[must_use]
    pub fn is_outlier(self, rate: f64) -> bool {
        rate > OUTLIER * self.usual || (rate > CODE * self.usual && is_rate_code(rate))
    }

    /// The same of a rate that was asked for, unless the machine applied about that much.
    pub(crate) fn is_no_target(self, asked: f64, applied: f64) -> bool {
        self.is_outlier(asked) && (applied * CODE < asked || applied.is_nan())
    }
}

/// Whether a rate is a code of no value, which are whole numbers.
fn is_rate_code(rate: f64) -> bool {
    rate > BYTE && rate.fract() == 0.0 && is_code(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_outliers_however_many_there_are() {
        let rates = |codes: usize, code: f64| (0..100).map(move |row| if row < codes { code } else { 150.0 });
        for (codes, code) in [(3, 65_535.0), (45, 4_000.0), (80, 65_535.0), (99, 9_999.0)] {
            let limit = RateLimit::of(rates(codes, code)).map(|limit| (limit.usual, limit.is_outlier(code)));
            assert_eq!(limit, Some((150.0, true)), "{codes} of {code}");
        }
        let seeds = RateLimit { usual: 80_000.0 };
        assert!(!seeds.is_outlier(65_535.0) && !seeds.is_outlier(99_999.0));
        assert!(seeds.is_no_target(9e5, 8e4) && !seeds.is_no_target(9e5, 8e5));
        let half = RateLimit::of([80.0, 80.0, 80.0, 255.0, 255.0].into_iter());
        assert!(half.is_some_and(|limit| !limit.is_outlier(255.0)), "255 kg/ha are asked for");
        assert!(RateLimit::of([0.125, 17.0].into_iter()).is_some_and(|limit| !limit.is_outlier(17.0)));
        assert!(RateLimit::of([0.0, f64::NAN].into_iter()).is_none());
    }
}
