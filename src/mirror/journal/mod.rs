//! What is known of the account and what was done: one `SQLite` file, one transaction for each step that was finished.

mod checksums;
mod cursors;
mod files;
mod items;
mod listing;
mod locations;
mod records;
mod schema;
mod trouble;
mod upgrade;
mod values;
mod work;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior};

pub use checksums::Damaged;
pub use cursors::{Calls, Cursor, Published, Reading, Relist};
pub use items::{Archive, FileState, Item, ItemKind, Wanted};
pub use listing::{Changes, Listed, Vanished};
pub use locations::Location;
pub use records::Record;
pub use work::{StateCount, Summary, TypeCount};

use super::folder::Folder;
use super::ledger::{self, Entry};
use crate::error::{Error, Kind, Result};
use schema::{APPLICATION, VERSION};
use trouble::failed;

/// How long a reader of another process is waited for; a step takes milliseconds.
const BUSY: Duration = Duration::from_secs(10);

/// The journal of a mirror. Threads share it; each step and each look has it for itself meanwhile.
#[derive(Debug)]
pub struct Journal {
    /// `None` in a fork, once dropped: `SQLite` must not be touched across one, not even to close it.
    look: Mutex<Option<Look>>,
    process: u32,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal of a folder, and makes it where the folder is open for writing and has none. `account` names
    /// whose data it is ([`crate::client::Client::account`]): another account's is refused. Without it, whatever is there is read.
    pub fn open(folder: &Folder, account: Option<&str>) -> Result<Self> {
        let path = folder.journal_path();
        let told = |cause: rusqlite::Error| failed(&path, &cause);
        let connection = if folder.is_for_writing() { for_writing(&path) } else { for_reading(&path) }.map_err(told)?;
        let look = Look { connection, path: path.clone() };
        let journal = Self { look: Mutex::new(Some(look)), process: std::process::id(), path: path.clone() };
        let known = journal.look(|look| look.about("account"))?;
        match (known, account) {
            (Some(known), Some(account)) if known != account => {
                // Whoever began with a key that the service does not take has read nothing, and may mend the key.
                if journal.look(Look::is_blank)? {
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

    /// The first step of a new journal: whose it is, and which archives are here already, where an older journal was lost.
    fn begin(&self, folder: &Folder, account: &str) -> Result<()> {
        let entries = ledger::read(folder.path())?;
        if entries.iter().any(|entry| entry.account != account) {
            return Err(foreign(folder));
        }
        let store = folder.store();
        self.step(|step| {
            step.forget_about()?;
            step.set_about("account", account)?;
            step.set_about("made by", concat!("headland ", env!("CARGO_PKG_VERSION")))?;
            let here = entries.iter().filter(|entry| store.path_of(&entry.sha256).is_some());
            here.into_iter().try_for_each(|entry| {
                let Entry { sha256, file_name, bytes, .. } = entry.clone();
                step.told(step.remember(&entry.stamp, &Archive { sha256, file_name, bytes }))
            })
        })
    }

    /// Does a step: all that `work` writes is on the disk when this returns, or nothing of it is. `work` reads by what it is
    /// given, not by the journal, which waits for it.
    pub fn step<T>(&self, work: impl FnOnce(&Step<'_>) -> Result<T>) -> Result<T> {
        self.transaction(TransactionBehavior::Immediate, |look| work(&Step(look)))
    }

    /// Looks at one state of the journal, whatever is written meanwhile.
    pub fn look<T>(&self, work: impl FnOnce(&Look) -> Result<T>) -> Result<T> {
        self.transaction(TransactionBehavior::Deferred, work)
    }

    fn transaction<T>(&self, behavior: TransactionBehavior, work: impl FnOnce(&Look) -> Result<T>) -> Result<T> {
        if self.process != std::process::id() {
            return Err(closed());
        }
        let told = |cause: rusqlite::Error| failed(&self.path, &cause);
        let guard = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        let look = guard.as_ref().ok_or_else(closed)?;
        // The guard sees to it that no transaction is begun inside another one.
        let transaction = Transaction::new_unchecked(&look.connection, behavior).map_err(told)?;
        let result = work(look)?;
        transaction.commit().map_err(told)?;
        Ok(result)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.look.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// One state of the journal, to be read.
#[derive(Debug)]
pub struct Look {
    connection: Connection,
    path: PathBuf,
}

impl Look {
    fn told<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
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
}

impl Look {
    /// Whether nothing of any account was ever read.
    fn is_blank(&self) -> Result<bool> {
        let anything =
            "SELECT NOT EXISTS (SELECT 1 FROM cursor UNION ALL SELECT 1 FROM item UNION ALL SELECT 1 FROM record
                        UNION ALL SELECT 1 FROM location UNION ALL SELECT 1 FROM archive
                        UNION ALL SELECT 1 FROM known_archive)";
        self.told(self.connection.query_row(anything, [], |row| row.get(0)))
    }
}

/// A step that is being done; it sees what it has written so far.
#[derive(Debug)]
pub struct Step<'a>(&'a Look);

impl Deref for Step<'_> {
    type Target = Look;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Step<'_> {
    /// Forgets all facts about the folder.
    fn forget_about(&self) -> Result<()> {
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

/// Whether there is a journal; one of a newer format is refused before anything in its folder is touched.
pub(super) fn is_made(path: &Path) -> Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    let told = |cause: rusqlite::Error| failed(path, &cause);
    let connection = for_reading(path).map_err(told)?;
    let read =
        |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).map_err(told);
    let (application, version) = (read("application_id")?, read("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(told)?;
    let message = match (application, version, tables) {
        // A run was killed before the first transaction.
        (0, 0, 0) => return Ok(false),
        (APPLICATION, 1..=VERSION, _) => return Ok(true),
        (APPLICATION, newer, _) if newer > VERSION => format!(
            "`{}` was written by a newer headland (format {newer}, this one knows {VERSION}): upgrade headland",
            path.display()
        ),
        _ => format!("`{}` is no journal of a mirror: choose another folder", path.display()),
    };
    Err(Error::new(Kind::Configuration, message))
}

fn for_writing(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    // Readers go on while a step is done. File systems without shared memory (networks) keep the old way of journals.
    let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    // What a step says is done stays done when the power is cut; on macOS that takes a sync of another kind.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;")?;
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = step.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    upgrade::upgrade(&step, version)?;
    step.commit()?;
    Ok(connection)
}

fn for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, flags: OpenFlags| {
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    };
    match open(path, flags) {
        // Readers share a file with the writer, which cannot be made where nothing may be written. Without a log of steps
        // beside it the journal is at rest, and is read as it is.
        Err(cause) if is_read_only(&cause) && !beside(path, "-wal").exists() => {
            let name = beside(Path::new(&format!("file:{}", escaped(path))), "?immutable=1");
            open(&name, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        other => other,
    }
}

fn is_read_only(cause: &rusqlite::Error) -> bool {
    matches!(cause.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// The path with something after its last letter.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A path as the part of an address.
fn escaped(path: &Path) -> String {
    use std::fmt::Write as _;
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |mut text, &byte| {
        let _ = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b':' => {
                write!(text, "{}", char::from(byte))
            }
            _ => write!(text, "%{byte:02X}"),
        };
        text
    })
}

fn foreign(folder: &Folder) -> Error {
    let message = format!(
        "`{}` mirrors another account (another access key or another base address): give this one a folder of its own",
        folder.path().display()
    );
    Error::new(Kind::Configuration, message)
}

fn closed() -> Error {
    Error::new(
        Kind::Configuration,
        "the mirror was opened by the process that this one was forked from; open it again here",
    )
}
