//! Opens the limiter's `SQLite` file: creates it, checks it, and replaces a file that is damaged or not the limiter's.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// How long a transaction waits for that of another process. A transaction takes well under a millisecond. On an
/// overloaded machine a process may hold the lock for seconds. A process that gives up counts on its own, and the
/// service refuses its calls.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long one attempt to open waits for another process, and the pause before the next attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_millis(100);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A file that is locked for this long is checked for a folder without locks. `SQLite` reports a file system without
/// locks (`ENOLCK`) as a file that another process has locked.
const LOCK_CHECK_DELAY: Duration = Duration::from_millis(400);

/// How long a process waits while another one replaces the file.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(1);

/// Largest number of replaced files that are kept.
const MAX_MOVED_FILES: u32 = 1_000;

const VERSION: i64 = 1;

/// Columns of later versions are added one at a time, so that earlier versions of headland can share the file.
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
const ADDED_COLUMNS: &str = "
    ALTER TABLE budget ADD COLUMN asked INTEGER;
    ALTER TABLE budget ADD COLUMN probe INTEGER;
";

/// Queries that fail if the file is not a limiter file.
const COLUMN_QUERIES: [&str; 2] = [
    "SELECT id, budget, at, owner, lease, until, period FROM slot LIMIT 0",
    "SELECT key, blocked_from, blocked_until, cap FROM budget LIMIT 0",
];
const ADDED_COLUMNS_QUERY: &str = "SELECT asked, probe FROM budget LIMIT 0";

/// Why a file cannot be opened.
#[derive(Debug)]
enum Failure {
    /// Another process has locked it, or the file system has no locks.
    Busy(String),
    /// It is damaged or not a limiter file.
    Foreign(String),
    /// Anything else.
    Other(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            // Clients that recover one file at a time also meet a failure of the locking protocol.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Busy(text)
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Foreign(text),
            _ => Self::Other(text),
        }
    }
}

/// Opens or creates the file, readable by its owner only. Returns a warning for the user if a file was replaced.
pub(super) fn open(path: &Path) -> Result<(Connection, Option<String>), String> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| format!("its folder cannot be created: {error}"))?;
    }
    create(path)?;
    match retry_while_busy(path, || connect(path)) {
        Ok(connection) => Ok((connection, None)),
        Err(Failure::Foreign(reason)) => replace(path, &reason),
        Err(Failure::Busy(reason) | Failure::Other(reason)) => Err(reason),
    }
}

/// Creates the file if it is missing. An existing file is not opened: closing it would release the locks that other
/// connections of this process have on it
/// (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
fn create(path: &Path) -> Result<(), String> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err("it is not a regular file".to_owned()),
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(format!("it cannot be created: {error}")),
        _ => Ok(()),
    }
}

/// Retries while another process has the lock. Stops if the folder turns out to have no locks.
fn retry_while_busy<T>(path: &Path, mut work: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let start = Instant::now();
    let mut has_locks = false;
    loop {
        match work() {
            Err(Failure::Busy(_)) if start.elapsed() < BUSY_TIMEOUT => {
                if !has_locks && start.elapsed() >= LOCK_CHECK_DELAY {
                    if !locks_work(path) {
                        let reason = "its folder is on a file system without file locks (ENOLCK)";
                        return Err(Failure::Other(reason.to_owned()));
                    }
                    has_locks = true;
                }
                std::thread::sleep(RETRY_INTERVAL);
            }
            outcome => return outcome,
        }
    }
}

/// Whether a file in the folder of `path` can be locked. Tries it with a file that no other process uses.
fn locks_work(path: &Path) -> bool {
    let probe = sibling(path, &format!(".locks-{:x}", fastrand::u64(..)));
    let locked = Connection::open(&probe).and_then(|connection| {
        connection.busy_timeout(Duration::ZERO)?;
        connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK;")
    });
    // If it cannot be removed, an empty file remains.
    let _ = fs::remove_file(&probe);
    !locked.is_err_and(|error| matches!(Failure::from(error), Failure::Busy(_)))
}

fn connect(path: &Path) -> Result<Connection, Failure> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(ATTEMPT_TIMEOUT)?;
    // One statement, because another process may be creating the tables.
    let (version, tables): (i64, i64) = connection.query_row(
        "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if version == 0 && tables > 0 {
        return Err(Failure::Foreign("it is a database of another application".to_owned()));
    }
    if version != 0 {
        let checks = COLUMN_QUERIES.iter().map(|query| connection.prepare(query).map(drop));
        if let Err(error) = checks.collect::<Result<(), _>>() {
            return Err(match Failure::from(error) {
                Failure::Other(reason) => Failure::Foreign(reason),
                failure => failure,
            });
        }
        if version != VERSION {
            let reason =
                format!("it was written by another version of headland (format {version}, expected {VERSION})");
            return Err(Failure::Other(reason));
        }
        let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if check != "ok" {
            return Err(Failure::Foreign(check));
        }
    }
    // A power failure may lose the last calls, which the server's headers report again. WAL keeps the file consistent
    // if a process is killed. Network folders do not support WAL and keep the rollback journal.
    let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    connection.execute_batch("PRAGMA synchronous = OFF;")?;
    if connection.prepare(ADDED_COLUMNS_QUERY).is_err() {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(SCHEMA)?;
        if transaction.prepare(ADDED_COLUMNS_QUERY).is_err() {
            transaction.execute_batch(ADDED_COLUMNS)?;
        }
        transaction.commit()?;
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Moves the file and the files that `SQLite` keeps for it to another name, and creates a new one.
fn replace(path: &Path, reason: &str) -> Result<(Connection, Option<String>), String> {
    let _lock = lock_replacement(path).map_err(|error| format!("{reason}, and it cannot be replaced: {error}"))?;
    // Another process may have replaced it already.
    match retry_while_busy(path, || connect(path)) {
        Ok(connection) => return Ok((connection, None)),
        Err(Failure::Foreign(_)) => {}
        Err(Failure::Busy(reason) | Failure::Other(reason)) => return Err(reason),
    }
    let cannot = |error: io::Error| format!("{reason}, and it cannot be renamed: {error}");
    let moved = (1..=MAX_MOVED_FILES)
        .map(|number| sibling(path, &format!(".damaged-{number}")))
        .find(|moved| fs::symlink_metadata(moved).is_err())
        .ok_or_else(|| cannot(io::Error::other("too many renamed files exist already")))?;
    for end in ["-wal", "-shm", "-journal", ""] {
        match fs::rename(sibling(path, end), sibling(&moved, end)) {
            Err(error) if end.is_empty() || error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
            _ => {}
        }
    }
    create(path)?;
    match retry_while_busy(path, || connect(path)) {
        Ok(connection) => {
            let warning = format!(
                "the rate limit file `{}` could not be used ({reason}): it was moved to `{}`, and a new one was \
                 created",
                path.display(),
                moved.display()
            );
            Ok((connection, Some(warning)))
        }
        Err(Failure::Busy(reason) | Failure::Foreign(reason) | Failure::Other(reason)) => Err(reason),
    }
}

/// Locks the replacement of the file for this process. Dropping the returned file releases the lock.
fn lock_replacement(path: &Path) -> io::Result<fs::File> {
    let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(sibling(path, ".lock"))?;
    let start = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(fs::TryLockError::WouldBlock) if start.elapsed() < REPLACE_TIMEOUT => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn sibling(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(code: i32) -> Failure {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    #[test]
    fn only_busy_errors_are_retried() {
        let path = Path::new("x");
        let busy = [ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL, ffi::SQLITE_BUSY].map(|code| Err(failure(code)));
        let mut answers: Vec<_> = std::iter::once(Ok(7)).chain(busy).collect();
        assert_eq!(retry_while_busy(path, || answers.pop().unwrap()).unwrap(), 7);
        let mut answers = vec![Ok(7), Err(failure(ffi::SQLITE_CORRUPT))];
        assert!(retry_while_busy(path, || answers.pop().unwrap()).is_err());
    }
}
