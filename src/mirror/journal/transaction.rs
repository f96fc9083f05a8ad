//! Read and write transactions of the journal.

use std::ops::Deref;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _};

use super::errors::journal_error;
use crate::error::Result;

/// Read transaction: a consistent snapshot of the journal.
#[derive(Debug)]
pub struct ReadTxn {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl ReadTxn {
    pub(super) fn map_error<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|cause| journal_error(&self.path, &cause))
    }

    /// Runs an integrity check of the whole journal.
    pub fn check(&self) -> Result<()> {
        let find = || self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        let message = self.map_error(find())?;
        if message == "ok" {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        // The first line names the database, as the error message does already.
        let message = message.lines().last().unwrap_or_default().to_owned();
        Err(journal_error(&self.path, &rusqlite::Error::SqliteFailure(code, Some(message))))
    }

    /// Meta value of the folder.
    pub fn get_meta(&self, name: &str) -> Result<Option<String>> {
        let query = || {
            self.connection
                .prepare_cached("SELECT value FROM about WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()
        };
        self.map_error(query())
    }

    /// Whether no data of any account was ever stored.
    pub(super) fn is_empty(&self) -> Result<bool> {
        let anything =
            "SELECT NOT EXISTS (SELECT 1 FROM cursor UNION ALL SELECT 1 FROM item UNION ALL SELECT 1 FROM record
                        UNION ALL SELECT 1 FROM location UNION ALL SELECT 1 FROM archive
                        UNION ALL SELECT 1 FROM known_archive)";
        self.map_error(self.connection.query_row(anything, [], |row| row.get(0)))
    }
}

/// Write transaction; it reads its own writes.
#[derive(Debug)]
pub struct WriteTxn<'a>(pub(super) &'a ReadTxn);

impl Deref for WriteTxn<'_> {
    type Target = ReadTxn;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl WriteTxn<'_> {
    /// Deletes all meta values.
    pub(super) fn clear_meta(&self) -> Result<()> {
        self.map_error(self.connection.execute("DELETE FROM about", []).map(drop))
    }

    /// Stores a meta value of the folder.
    pub fn set_meta(&self, name: &str, value: &str) -> Result<()> {
        let query = || {
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO about VALUES (?1, ?2)")?
                .execute([name, value])
                .map(drop)
        };
        self.map_error(query())
    }
}
