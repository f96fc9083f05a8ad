//! Stores a log in the memory of this process or in a file that processes share.

use std::path::PathBuf;

use sha1::{Digest as _, Sha1};

use super::shared_file::LogFile;
use super::sliding_window::{Log, Micros};
use headland_base::hex::hex;

/// Where the log of a budget is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreLocation {
    /// In the memory of this process.
    Memory,
    /// In a file that all processes share.
    File(PathBuf),
}

/// A stored log.
#[derive(Debug)]
pub(super) enum Store {
    Memory(Log),
    File(Box<LogFile>),
}

impl Store {
    /// Reads the log, lets `work` change it and stores the changes, in one transaction that excludes other processes.
    /// `now` is called after the transaction has begun, because waiting for another process may take time.
    ///
    /// If the file fails, the store changes to memory and returns the reason with the result.
    pub(super) fn transact<T>(
        &mut self,
        now: impl Fn() -> Micros,
        retention: Micros,
        mut work: impl FnMut(&mut Log, Micros) -> T,
    ) -> (T, Option<String>) {
        let reason = match self {
            Self::Memory(log) => {
                let result = work(log, now());
                log.changes.clear();
                return (result, None);
            }
            Self::File(file) => match file.transact(&now, retention, &mut work) {
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

/// Identifies a budget without revealing the key.
pub(super) fn budget_key(base_url: &str, api_key: &str) -> String {
    hex(&Sha1::digest(format!("headland budget\n{base_url}\n{api_key}")))
}

/// The file that all processes of this user share; `None` if the system names no folder for it.
#[must_use]
pub fn default_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            folder("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            folder("HOME").map(|home| home.join(".local/state"))
        }
    })?;
    Some(state.join("headland").join("limits.sqlite3"))
}
