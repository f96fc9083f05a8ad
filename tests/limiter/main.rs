//! The limiter against servers that count: no window overflows, nothing is wasted, and processes share one budget.

#![expect(clippy::unwrap_used, reason = "helpers of tests say what they expect by unwrapping, as the tests do")]

mod asked;
mod headers;
mod opening;
mod parts;
#[path = "../series/mod.rs"]
mod series;
mod sharing;
mod stalled;
mod windows;
