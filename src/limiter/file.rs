//! The log of slots in an `SQLite` file that processes share.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::log::{Block, Change, Entry, Log, Micros, Standing};

/// How long a step waits for the step of another process; a step takes well under a millisecond, but a machine that has
/// too much to do may leave a process alone with the lock for seconds. Whoever gives up counts alone and is refused.
const BUSY: Duration = Duration::from_secs(30);

/// How long until what another process was in the way of is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// Settled calls stay this long at least, for clients of other processes that count longer windows.
const KEPT: Micros = 3_600_000_000;

const VERSION: i64 = 1;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS slot (
        id INTEGER PRIMARY KEY, budget TEXT NOT NULL, at INTEGER NOT NULL,
        owner TEXT, lease INTEGER, until INTEGER, period INTEGER
    );
    CREATE INDEX IF NOT EXISTS slot_at ON slot (budget, at);
    CREATE TABLE IF NOT EXISTS budget (
        key TEXT PRIMARY KEY, blocked_from INTEGER, blocked_until INTEGER, cap INTEGER
    ) WITHOUT ROWID;
    PRAGMA user_version = 1;
";

/// The log of one budget inside the file.
pub(super) struct LogFile {
    connection: Option<Connection>,
    /// The process that opened the connection: `SQLite` must not be touched across a fork, not even to close it.
    pid: u32,
    budget: String,
}

impl std::fmt::Debug for LogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogFile").finish_non_exhaustive()
    }
}

impl LogFile {
    /// Opens or makes the file, readable by its owner alone.
    pub(super) fn open(path: &Path, budget: &str) -> Result<Self, String> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        let mut options = fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        drop(options.open(path).map_err(|error| error.to_string())?);
        let connection = patiently(|| connect(path)).map_err(|error| error.to_string())?;
        let found: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| error.to_string())?;
        if found != VERSION {
            return Err(format!("it was written by another version of headland (format {found}, not {VERSION})"));
        }
        Ok(Self { connection: Some(connection), pid: std::process::id(), budget: budget.to_owned() })
    }

    /// One step: see [`super::store::Store::step`].
    pub(super) fn step<T>(
        &mut self,
        now: &dyn Fn() -> Micros,
        keep: Micros,
        work: &mut dyn FnMut(&mut Log, Micros) -> T,
    ) -> rusqlite::Result<T> {
        let connection = self.connection.as_mut().ok_or(rusqlite::Error::InvalidQuery)?;
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = now();
        let mut log = load(&step, &self.budget, now.saturating_sub(keep))?;
        let result = work(&mut log, now);
        for change in &log.changes {
            write(&step, &self.budget, change, &log)?;
        }
        step.prepare_cached("DELETE FROM slot WHERE budget = ?1 AND at < ?2 AND owner IS NULL AND until IS NULL")?
            .execute(params![self.budget, now.saturating_sub(keep.max(KEPT))])?;
        step.commit()?;
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

/// Does again what another process was in the way of: where a file changes its journal, `SQLite` does not wait by itself.
fn patiently<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let start = Instant::now();
    loop {
        match work() {
            Err(error)
                if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
                    && start.elapsed() < BUSY =>
            {
                std::thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    // Losing the last calls in a power cut costs nothing that the server's headers would not tell again, and WAL
    // keeps the file whole when a process is killed. Folders on a network cannot do WAL; they keep the old journal.
    let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    connection.execute_batch("PRAGMA synchronous = OFF;")?;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == 0 {
        let mut connection = connection;
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        step.execute_batch(SCHEMA)?;
        step.commit()?;
        return Ok(connection);
    }
    Ok(connection)
}

fn load(step: &Transaction<'_>, budget: &str, oldest: Micros) -> rusqlite::Result<Log> {
    let mut log = Log::default();
    let mut query = step.prepare_cached(
        "SELECT id, at, owner, lease, until, period FROM slot \
         WHERE budget = ?1 AND (at >= ?2 OR owner IS NOT NULL OR until IS NOT NULL)",
    )?;
    let mut rows = query.query(params![budget, oldest])?;
    while let Some(row) = rows.next()? {
        let owner: Option<String> = row.get(2)?;
        let until: Option<Micros> = row.get(4)?;
        let standing = match (owner, until) {
            (Some(owner), _) => Standing::InFlight { owner, lease: row.get(3)? },
            (None, Some(until)) => Standing::Foreign { until, period: row.get(5)? },
            (None, None) => Standing::Settled,
        };
        log.entries.push(Entry { id: row.get(0)?, at: row.get(1)?, standing });
    }
    let limits = step
        .prepare_cached("SELECT blocked_from, blocked_until, cap FROM budget WHERE key = ?1")?
        .query_row(params![budget], |row| {
            Ok((row.get::<_, Option<Micros>>(0)?, row.get::<_, Option<Micros>>(1)?, row.get::<_, Option<u32>>(2)?))
        })
        .optional()?;
    if let Some((from, until, cap)) = limits {
        log.block = from.zip(until).map(|(from, until)| Block { from, until });
        log.cap = cap;
    }
    Ok(log)
}

fn write(step: &Transaction<'_>, budget: &str, change: &Change, log: &Log) -> rusqlite::Result<()> {
    match change {
        Change::Put(Entry { id, at, standing }) => {
            let (owner, lease, until, period) = match standing {
                Standing::InFlight { owner, lease } => (Some(owner.as_str()), Some(*lease), None, None),
                Standing::Settled => (None, None, None, None),
                Standing::Foreign { until, period } => (None, None, Some(*until), Some(*period)),
            };
            step.prepare_cached(
                "INSERT OR REPLACE INTO slot (id, budget, at, owner, lease, until, period) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![id, budget, at, owner, lease, until, period])?;
        }
        Change::Remove(id) => {
            step.prepare_cached("DELETE FROM slot WHERE id = ?1")?.execute(params![id])?;
        }
        Change::Limits => {
            step.prepare_cached(
                "INSERT OR REPLACE INTO budget (key, blocked_from, blocked_until, cap) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                budget,
                log.block.map(|block| block.from),
                log.block.map(|block| block.until),
                log.cap
            ])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn what_another_process_is_in_the_way_of_is_done_again_and_nothing_else() {
        let mut answers = vec![Ok(7), Err(failure(ffi::SQLITE_LOCKED)), Err(failure(ffi::SQLITE_BUSY))];
        assert_eq!(patiently(|| answers.pop().unwrap()).unwrap(), 7);
        let mut answers = vec![Ok(7), Err(failure(ffi::SQLITE_CORRUPT))];
        assert!(patiently(|| answers.pop().unwrap()).is_err());
    }
}
