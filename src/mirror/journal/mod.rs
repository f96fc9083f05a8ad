//! The journal: one `SQLite` file with the records of the account and the finished work, one transaction per finished
//! step.

mod crc32;
mod cursors;
mod errors;
mod file_states;
mod items;
mod listing;
pub(super) mod open;
mod record_version;
mod records;
mod remaining_work;
mod schema;
mod sql_values;
mod stored_locations;
mod transaction;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Transaction, TransactionBehavior};

pub use cursors::{Calls, Cursor, Published, Reading, Relist};
pub(crate) use items::REFUSED;
pub use items::{Archive, FileState, Item, ItemKind};
pub use listing::{Changes, Removed};
pub use record_version::Listed;
pub use records::Record;
pub use remaining_work::StateCount;
pub use stored_locations::Location;
pub use transaction::{ReadTxn, WriteTxn};

use super::archive_log::{self, LogEntry};
use super::layout::Folder;
use errors::journal_error;
use headland_base::error::{Error, Kind, Result};
use open::{for_reading, for_writing};

/// Journal of a mirror, shared by threads. Transactions exclude each other.
#[derive(Debug)]
pub struct Journal {
    /// `None` in a forked process after the drop: a connection must not be used or closed across a fork. See
    /// <https://www.sqlite.org/howtocorrupt.html>.
    inner: Mutex<Option<ReadTxn>>,
    process: u32,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal of a folder. Creates it if the folder is open for writing.
    ///
    /// `account` is the digest of the account ([`headland_client::Client::account`]). A journal of another account is an
    /// error. Without `account`, the journal of any account is opened.
    pub fn open(folder: &Folder, account: Option<&str>) -> Result<Self> {
        let path = folder.journal_path();
        let to_error = |cause: rusqlite::Error| journal_error(&path, &cause);
        let connection =
            if folder.is_for_writing() { for_writing(&path) } else { for_reading(&path) }.map_err(to_error)?;
        let txn = ReadTxn { connection, path: path.clone() };
        let journal = Self { inner: Mutex::new(Some(txn)), process: std::process::id(), path: path.clone() };
        let known = journal.read(|txn| txn.get_meta("account"))?;
        match (known, account) {
            (Some(known), Some(account)) if known != account => {
                // After a first run with a rejected key the journal is empty, and the user may correct the key.
                if journal.read(ReadTxn::is_empty)? {
                    if folder.is_for_writing() {
                        journal.begin(folder, account)?;
                    }
                    return Ok(journal);
                }
                Err(foreign(folder))
            }
            (None, Some(account)) if folder.is_for_writing() => {
                journal.begin(folder, account)?;
                Ok(journal)
            }
            _ => Ok(journal),
        }
    }

    /// Initialises a new journal: the account, and the stored archives if an earlier journal was lost. Damaged lines of
    /// the archive log are dropped.
    fn begin(&self, folder: &Folder, account: &str) -> Result<()> {
        let entries = archive_log::read(folder.path())?;
        if entries.iter().any(|entry| entry.account != account) {
            return Err(foreign(folder));
        }
        archive_log::rewrite(folder.disk(), folder.path(), &entries)?;
        let store = folder.store();
        self.write(|txn| {
            txn.clear_meta()?;
            txn.set_meta("account", account)?;
            txn.set_meta("made by", concat!("headland ", env!("CARGO_PKG_VERSION")))?;
            let stored = entries.iter().filter(|entry| store.path_of(&entry.sha256).is_some());
            stored.into_iter().try_for_each(|entry| {
                let LogEntry { sha256, file_name, bytes, .. } = entry.clone();
                txn.add_known_archive(&entry.stamp, &Archive { sha256, file_name, bytes })
            })
        })
    }

    /// Runs a write transaction. It is synced on return, or rolled back on error.
    ///
    /// `work` must read through its argument. The journal is locked meanwhile.
    pub fn write<T>(&self, work: impl FnOnce(&WriteTxn<'_>) -> Result<T>) -> Result<T> {
        self.transaction(TransactionBehavior::Immediate, |txn| work(&WriteTxn(txn)))
    }

    /// Runs a read transaction on a consistent snapshot, regardless of concurrent writes.
    pub fn read<T>(&self, work: impl FnOnce(&ReadTxn) -> Result<T>) -> Result<T> {
        self.transaction(TransactionBehavior::Deferred, work)
    }

    fn transaction<T>(&self, behavior: TransactionBehavior, work: impl FnOnce(&ReadTxn) -> Result<T>) -> Result<T> {
        if self.process != std::process::id() {
            return Err(closed());
        }
        let to_error = |cause: rusqlite::Error| journal_error(&self.path, &cause);
        let guard = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let txn = guard.as_ref().ok_or_else(closed)?;
        // The lock prevents nested transactions.
        let transaction = Transaction::new_unchecked(&txn.connection, behavior).map_err(to_error)?;
        let result = work(txn)?;
        transaction.commit().map_err(to_error)?;
        Ok(result)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

fn foreign(folder: &Folder) -> Error {
    let message = format!(
        "`{}` mirrors another account (another base URL, or an access key that lists other jobs; a local service has \
         another port each time): choose another folder",
        folder.path().display()
    );
    Error::new(Kind::Configuration, message)
}

fn closed() -> Error {
    Error::new(Kind::Configuration, "the mirror was opened before a fork: open it again in this process")
}
