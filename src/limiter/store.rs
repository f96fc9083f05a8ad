//! Where a log is kept: in this process or in a file that processes share.

use std::path::PathBuf;

use super::file::LogFile;
use super::log::{Log, Micros};

/// Where the log of a budget lives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In this process alone.
    Memory,
    /// In a file that all processes share.
    File(PathBuf),
}

/// A kept log.
#[derive(Debug)]
pub(super) enum Store {
    Memory(Log),
    File(Box<LogFile>),
}

impl Store {
    /// Reads the log, lets `work` change it and keeps the changes, as one step that no other process can
    /// interrupt. `now` is asked once the step has begun, since the wait for another process may have taken time.
    ///
    /// A file that fails is given up for memory; the reason comes back with the result.
    pub(super) fn step<T>(
        &mut self,
        now: impl Fn() -> Micros,
        keep: Micros,
        mut work: impl FnMut(&mut Log, Micros) -> T,
    ) -> (T, Option<String>) {
        let reason = match self {
            Self::Memory(log) => {
                let result = work(log, now());
                log.changes.clear();
                return (result, None);
            }
            Self::File(file) => match file.step(&now, keep, &mut work) {
                Ok(result) => return (result, None),
                Err(error) => error.to_string(),
            },
        };
        let mut log = Log::default();
        let result = work(&mut log, now());
        log.changes.clear();
        *self = Self::Memory(log);
        (result, Some(reason))
    }
}
