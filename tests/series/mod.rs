//! Scales the number of test cases: few in CI, `HEADLAND_SERIES` times as many in `make soak`.

fn factor() -> Option<u32> {
    std::env::var("HEADLAND_SERIES").ok().and_then(|text| text.parse().ok())
}

/// The number of cases times `HEADLAND_SERIES`.
pub(crate) fn cases(short: u32) -> u32 {
    short.saturating_mul(factor().unwrap_or(1))
}

/// The distance between steps at which a test makes an operation fail: each step with `HEADLAND_SERIES`.
#[allow(dead_code, reason = "one of several test binaries needs it")]
pub(crate) fn stride(short: usize) -> usize {
    if factor().is_some() { 1 } else { short }
}
