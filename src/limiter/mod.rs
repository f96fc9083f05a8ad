//! The budget of calls: exact sliding windows, tightened by the server's headers, shared between processes.

mod headers;
mod open_file;
mod queue;
mod shared_file;
mod sliding_window;
mod slot_owner;
mod store;

use std::time::Duration;

pub use headers::{LONGEST_WAIT, RateLimitHeaders};
pub use queue::{DeadlineExceeded, Limiter, Slot};
pub use store::{StoreLocation, default_file};

/// So many calls in any stretch of that length (specification 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Calls at most.
    pub calls: u32,
    /// The length of the window.
    pub period: Duration,
}

/// Both figures of the specification: 30 calls in 60 seconds, 15 in 30.
pub const DEFAULT_WINDOWS: [Window; 2] =
    [Window { calls: 30, period: Duration::from_secs(60) }, Window { calls: 15, period: Duration::from_secs(30) }];

/// What is left of the limit now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Calls that may start now.
    pub remaining: u32,
    /// How long until the next call may start; zero when one may start now.
    pub next_call_in: Duration,
    /// How long until the whole budget is free again.
    pub reset_in: Duration,
    /// Each window with the calls it counts now.
    pub windows: Vec<(Window, u32)>,
    /// How long the service asked to wait, where calls are stopped because it did. It may be longer than
    /// `next_call_in`: a long wait is not believed before it was asked for twice.
    pub service_wait: Option<Duration>,
}
