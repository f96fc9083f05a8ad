//! Stores the log of slots in an `SQLite` file that processes share.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::open_file::open;
use super::sliding_window::{BlockedSpan, Change, Entry, EntryState, Log, Micros};

/// Completed calls are kept for at least this long, for clients of other processes that count longer windows.
const RETENTION: Micros = 3_600_000_000;

/// The log of one budget inside the file.
pub(super) struct LogFile {
    connection: Option<Connection>,
    /// The process that opened the connection. An `SQLite` connection must not be used or closed after a fork
    /// (<https://www.sqlite.org/howtocorrupt.html#_carrying_an_open_database_file_across_a_fork_>).
    pid: u32,
    budget: String,
}

impl std::fmt::Debug for LogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogFile").finish_non_exhaustive()
    }
}

impl LogFile {
    /// Opens or creates the file. Also returns a warning for the user, if there is one.
    pub(super) fn open(path: &Path, budget: &str) -> Result<(Self, Option<String>), String> {
        let (connection, warning) = open(path)?;
        let file = Self { connection: Some(connection), pid: std::process::id(), budget: budget.to_owned() };
        Ok((file, warning))
    }

    /// Runs one transaction: see [`super::store::Store::transact`].
    pub(super) fn transact<T>(
        &mut self,
        now: &dyn Fn() -> Micros,
        retention: Micros,
        work: &mut dyn FnMut(&mut Log, Micros) -> T,
    ) -> rusqlite::Result<T> {
        let connection = self.connection.as_mut().ok_or(rusqlite::Error::InvalidQuery)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = now();
        let mut log = load(&transaction, &self.budget, now.saturating_sub(retention))?;
        let result = work(&mut log, now);
        for change in &log.changes {
            write(&transaction, &self.budget, change, &log)?;
        }
        transaction
            .prepare_cached("DELETE FROM slot WHERE budget = ?1 AND at < ?2 AND owner IS NULL AND until IS NULL")?
            .execute(params![self.budget, now.saturating_sub(retention.max(RETENTION))])?;
        transaction.commit()?;
        Ok(result)
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            std::mem::forget(self.connection.take());
        }
    }
}

fn load(transaction: &Transaction<'_>, budget: &str, oldest: Micros) -> rusqlite::Result<Log> {
    let mut log = Log::default();
    let mut query = transaction.prepare_cached(
        "SELECT id, at, owner, lease, until, period FROM slot \
         WHERE budget = ?1 AND (at >= ?2 OR owner IS NOT NULL OR until IS NOT NULL)",
    )?;
    let mut rows = query.query(params![budget, oldest])?;
    while let Some(row) = rows.next()? {
        let owner: Option<String> = row.get(2)?;
        let until: Option<Micros> = row.get(4)?;
        let state = match (owner, until) {
            (Some(owner), _) => EntryState::InFlight { owner, lease: row.get(3)? },
            (None, Some(until)) => EntryState::External { until, period: row.get(5)? },
            (None, None) => EntryState::Completed,
        };
        log.entries.push(Entry { id: row.get(0)?, time: row.get(1)?, state });
    }
    let limits = transaction
        .prepare_cached("SELECT blocked_from, blocked_until, asked, probe, cap FROM budget WHERE key = ?1")?
        .query_row(params![budget], |row| {
            let span: (Option<Micros>, Option<Micros>) = (row.get(0)?, row.get(1)?);
            let (requested, probe) = (row.get(2)?, row.get(3)?);
            let block = span.0.zip(span.1).map(|(from, until)| BlockedSpan { from, until, requested, probe });
            Ok((block, row.get(4)?))
        })
        .optional()?;
    if let Some((block, cap)) = limits {
        (log.block, log.cap) = (block, cap);
    }
    Ok(log)
}

fn write(transaction: &Transaction<'_>, budget: &str, change: &Change, log: &Log) -> rusqlite::Result<()> {
    match change {
        Change::Put(Entry { id, time, state }) => {
            let (owner, lease, until, period) = match state {
                EntryState::InFlight { owner, lease } => (Some(owner.as_str()), Some(*lease), None, None),
                EntryState::Completed => (None, None, None, None),
                EntryState::External { until, period } => (None, None, Some(*until), Some(*period)),
            };
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO slot (id, budget, at, owner, lease, until, period) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![id, budget, time, owner, lease, until, period])?;
        }
        Change::Remove(id) => {
            transaction.prepare_cached("DELETE FROM slot WHERE id = ?1")?.execute(params![id])?;
        }
        Change::Limits => {
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO budget (key, blocked_from, blocked_until, asked, probe, cap) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    budget,
                    log.block.map(|block| block.from),
                    log.block.map(|block| block.until),
                    log.block.and_then(|block| block.requested),
                    log.block.and_then(|block| block.probe),
                    log.cap
                ])?;
        }
    }
    Ok(())
}
