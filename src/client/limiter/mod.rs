//! Rate limiter: exact sliding windows, tightened by the server's headers, shared between processes.

mod headers;
mod open_file;
mod patience;
mod queue;
mod shared_file;
mod sliding_window;
mod slot_owner;
mod store;

use std::time::Duration;

pub(crate) use headers::parse_http_date;
pub use headers::{LONGEST_WAIT, RateLimitHeaders};
pub use patience::{DeadlineExceeded, Patience};
pub use queue::{Limiter, Slot};
pub use store::{StoreLocation, default_file};

/// At most `calls` calls in any interval of length `period` (specification 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Largest number of calls.
    pub calls: u32,
    /// Length of the window.
    pub period: Duration,
}

/// The unused part of the rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Calls that may start now.
    pub remaining: u32,
    /// Time until the next call may start; zero if one may start now.
    pub next_call_in: Duration,
    /// Time until the whole budget is free again.
    pub reset_in: Duration,
    /// Each window with the number of calls that it counts now.
    pub windows: Vec<(Window, u32)>,
    /// The wait that the service requested, if it blocks calls. It may be longer than `next_call_in`. A long wait is
    /// only trusted after the service has requested it twice.
    pub service_wait: Option<Duration>,
}
