//! How long the series of the tests are: short in CI, `HEADLAND_SERIES` times as long in `make soak`.

/// So many cases, times `HEADLAND_SERIES`.
pub(crate) fn cases(short: u32) -> u32 {
    let factor = std::env::var("HEADLAND_SERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    short.saturating_mul(factor)
}
