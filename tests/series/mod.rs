//! Scales the number of test cases: few in CI, `HEADLAND_SERIES` times as many in `make soak`.

/// The number of cases times `HEADLAND_SERIES`.
pub(crate) fn cases(short: u32) -> u32 {
    let factor = std::env::var("HEADLAND_SERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    short.saturating_mul(factor)
}
