//! Tests the limiter against servers that count: no window overflows, no slot is wasted, and processes share one
//! budget.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests say what they expect by unwrapping, as the tests do"
)]

mod damaged_store;
mod headers;
mod retry_after;
#[path = "../series/mod.rs"]
mod series;
mod shared_budget;
mod stalled_calls;
mod support;
mod windows;
