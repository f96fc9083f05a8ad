//! One state of the journal, to be read, and a step that is being done in it.

use std::ops::Deref;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _};

use super::errors::journal_error;
use crate::error::Result;

/// One state of the journal, to be read.
#[derive(Debug)]
pub struct ReadTxn {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl ReadTxn {
    pub(super) fn map_error<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|cause| journal_error(&self.path, &cause))
    }

    /// Reads the whole journal and tells whether it is damaged.
    pub fn check(&self) -> Result<()> {
        let find = || self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        let said = self.map_error(find())?;
        if said == "ok" {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        // The first line names the database, which the message does in words.
        let said = said.lines().last().unwrap_or_default().to_owned();
        Err(journal_error(&self.path, &rusqlite::Error::SqliteFailure(code, Some(said))))
    }

    /// A fact about the folder, by its name.
    pub fn get_meta(&self, name: &str) -> Result<Option<String>> {
        let query = || {
            self.connection
                .prepare_cached("SELECT value FROM about WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()
        };
        self.map_error(query())
    }

    /// Whether nothing of any account was ever read.
    pub(super) fn is_empty(&self) -> Result<bool> {
        let anything =
            "SELECT NOT EXISTS (SELECT 1 FROM cursor UNION ALL SELECT 1 FROM item UNION ALL SELECT 1 FROM record
                        UNION ALL SELECT 1 FROM location UNION ALL SELECT 1 FROM archive
                        UNION ALL SELECT 1 FROM known_archive)";
        self.map_error(self.connection.query_row(anything, [], |row| row.get(0)))
    }
}

/// A step that is being done; it sees what it has written so far.
#[derive(Debug)]
pub struct WriteTxn<'a>(pub(super) &'a ReadTxn);

impl Deref for WriteTxn<'_> {
    type Target = ReadTxn;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl WriteTxn<'_> {
    /// Forgets all facts about the folder.
    pub(super) fn clear_meta(&self) -> Result<()> {
        self.map_error(self.connection.execute("DELETE FROM about", []).map(drop))
    }

    /// Keeps a fact about the folder.
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
