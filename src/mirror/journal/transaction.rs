//! One state of the journal, to be read, and a step that is being done in it.

use std::ops::Deref;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _};

use super::errors::failed;
use crate::error::Result;

/// One state of the journal, to be read.
#[derive(Debug)]
pub struct Look {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Look {
    pub(super) fn told<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|cause| failed(&self.path, &cause))
    }

    /// Reads the whole journal and tells whether it is damaged.
    pub fn check(&self) -> Result<()> {
        let find = || self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        let said = self.told(find())?;
        if said == "ok" {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        // The first line names the database, which the message does in words.
        let said = said.lines().last().unwrap_or_default().to_owned();
        Err(failed(&self.path, &rusqlite::Error::SqliteFailure(code, Some(said))))
    }

    /// A fact about the folder, by its name.
    pub fn about(&self, name: &str) -> Result<Option<String>> {
        let query = || {
            self.connection
                .prepare_cached("SELECT value FROM about WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()
        };
        self.told(query())
    }

    /// Whether nothing of any account was ever read.
    pub(super) fn is_blank(&self) -> Result<bool> {
        let anything =
            "SELECT NOT EXISTS (SELECT 1 FROM cursor UNION ALL SELECT 1 FROM item UNION ALL SELECT 1 FROM record
                        UNION ALL SELECT 1 FROM location UNION ALL SELECT 1 FROM archive
                        UNION ALL SELECT 1 FROM known_archive)";
        self.told(self.connection.query_row(anything, [], |row| row.get(0)))
    }
}

/// A step that is being done; it sees what it has written so far.
#[derive(Debug)]
pub struct Step<'a>(pub(super) &'a Look);

impl Deref for Step<'_> {
    type Target = Look;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Step<'_> {
    /// Forgets all facts about the folder.
    pub(super) fn forget_about(&self) -> Result<()> {
        self.told(self.connection.execute("DELETE FROM about", []).map(drop))
    }

    /// Keeps a fact about the folder.
    pub fn set_about(&self, name: &str, value: &str) -> Result<()> {
        let query = || {
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO about VALUES (?1, ?2)")?
                .execute([name, value])
                .map(drop)
        };
        self.told(query())
    }
}
