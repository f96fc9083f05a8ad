//! The options of a mirror, with their defaults.

use std::time::Duration;

use crate::client::OnError;

/// How a mirror is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How old the last list of all jobs may be: neither `date` nor ids are promised to tell of every change.
    pub relist: Duration,
    /// How far cursors reach back.
    pub overlap: Duration,
    /// How many calls are on their way at once.
    pub concurrency: usize,
    /// How often a long sync publishes what it has.
    pub publish_every: Duration,
    /// Whether locations of devices are kept.
    pub locations: bool,
    /// What is done with values in lists that cannot be read.
    pub on_error: OnError,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            relist: Duration::from_secs(86_400),
            overlap: Duration::from_secs(48 * 3_600),
            concurrency: 16,
            publish_every: Duration::from_secs(600),
            locations: true,
            on_error: OnError::Null,
        }
    }
}
