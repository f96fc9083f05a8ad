//! Read and write transactions of the journal.

use std::ops::Deref;
use std::path::PathBuf;

use rusqlite::{Connection, Params, Row};

use super::errors::journal_error;
use headland_base::error::Result;

/// Read transaction: a consistent snapshot of the journal.
#[derive(Debug)]
pub struct ReadTxn {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl ReadTxn {
    fn map_error<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|cause| journal_error(&self.path, &cause))
    }

    /// Rows of a query.
    pub(super) fn rows<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let all = || self.connection.prepare_cached(query)?.query_map(values, read)?.collect();
        self.map_error(all())
    }

    /// First row of a query; `None` without one.
    pub(super) fn first<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let find = || self.connection.prepare_cached(query)?.query_map(values, read)?.next().transpose();
        self.map_error(find())
    }

    /// Runs an integrity check of the whole journal.
    pub fn check(&self) -> Result<()> {
        let message: Option<String> = self.first("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        let message = message.unwrap_or_default();
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
        self.first("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0))
    }

    /// Whether no data of any account was ever stored.
    pub(crate) fn is_empty(&self) -> Result<bool> {
        let anything = "SELECT 1 FROM cursor UNION ALL SELECT 1 FROM item UNION ALL SELECT 1 FROM record
                        UNION ALL SELECT 1 FROM location UNION ALL SELECT 1 FROM archive
                        UNION ALL SELECT 1 FROM known_archive";
        Ok(self.first(anything, [], |_| Ok(()))?.is_none())
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
    /// Runs a statement; returns the number of changed rows.
    pub(super) fn execute(&self, statement: &str, values: impl Params) -> Result<usize> {
        let run = || self.connection.prepare_cached(statement)?.execute(values);
        self.map_error(run())
    }

    /// Runs a statement whose rows a publication shows; the revision rises if it changes any. Returns their number.
    pub(super) fn execute_and_revise(&self, statement: &str, values: impl Params) -> Result<usize> {
        let rows = self.execute(statement, values)?;
        if rows > 0 {
            self.revise()?;
        }
        Ok(rows)
    }

    /// Raises the revision, so that the next publication is due.
    pub(super) fn revise(&self) -> Result<()> {
        self.execute("UPDATE revision SET number = number + 1", []).map(drop)
    }

    /// Deletes all meta values.
    pub(super) fn clear_meta(&self) -> Result<()> {
        self.execute("DELETE FROM meta", []).map(drop)
    }

    /// Stores a meta value of the folder.
    pub fn set_meta(&self, name: &str, value: &str) -> Result<()> {
        self.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [name, value]).map(drop)
    }
}
