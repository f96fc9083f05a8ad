//! The limit of rates that a zone or a row can ask for: what is far above all others is a typing error or a code of a display.

/// Times the usual rate, above which a rate is an error, and above which a code of a display is one.
const OUTLIER: f64 = 10.0;
const CODE: f64 = 3.0;
/// Numbers by which displays and exports mean that there is no value.
const CODES: [f64; 8] = [999.0, 9_999.0, 99_999.0, 999_999.0, 32_767.0, 65_535.0, 2_147_483_647.0, 4_294_967_295.0];

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
        let mut rates: Vec<f64> = rates.filter(|rate| *rate > 0.0 && rate.is_finite()).collect();
        if rates.iter().any(|rate| !CODES.contains(rate)) {
            rates.retain(|rate| !CODES.contains(rate));
        }
        rates.sort_unstable_by(f64::total_cmp);
        let middle = rates.len() / 2;
        let low = if rates.len().is_multiple_of(2) { middle.checked_sub(1)? } else { middle };
        Some(Self { usual: f64::midpoint(*rates.get(low)?, *rates.get(middle)?) })
    }

    /// Whether a rate is far above the usual one.
    #[must_use]
    pub fn is_outlier(self, rate: f64) -> bool {
        rate > OUTLIER * self.usual || (CODES.contains(&rate) && rate > CODE * self.usual)
    }

    /// The same of a rate that was asked for, unless the machine applied about that much.
    pub(crate) fn is_no_target(self, asked: f64, applied: f64) -> bool {
        self.is_outlier(asked) && (applied * CODE < asked || applied.is_nan())
    }
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
        assert!(RateLimit::of([0.0, f64::NAN].into_iter()).is_none());
    }
}
