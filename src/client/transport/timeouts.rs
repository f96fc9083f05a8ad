//! Timeouts of calls, with their defaults: connection, wait for bytes, whole call, and throughput of files.

use std::time::Duration;

/// Timeouts of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For opening a connection.
    pub connect: Duration,
    /// For each wait for bytes.
    pub read: Duration,
    /// For a call with all its attempts and pauses, and each record, list or error that it returns. While a file is
    /// received, `min_throughput` and `read` replace it.
    pub call: Duration,
    /// Minimum bytes per second of a file, measured over 30 seconds; 1,024 by default. Zero disables the check.
    pub min_throughput: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(60),
            call: Duration::from_secs(600),
            min_throughput: 1_024,
        }
    }
}
