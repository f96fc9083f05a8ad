//! Opens the journal file for writing or reading.

use std::path::Path;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::crc32::add_function;
use super::errors::journal_error;
use super::schema::{APPLICATION, TABLES, VERSION};
use headland_base::error::{Error, Kind, Result};

/// Timeout for readers of other processes; a transaction takes milliseconds.
const BUSY: Duration = Duration::from_secs(10);

/// Characters of a path that are escaped in a URI; see <https://www.sqlite.org/uri.html>.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b':');

/// Whether the journal exists. Another format is an error before anything in the folder changes.
pub(crate) fn has_journal(path: &Path) -> Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    let to_error = |cause: rusqlite::Error| journal_error(path, &cause);
    let connection = for_reading(path).map_err(to_error)?;
    let read =
        |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).map_err(to_error);
    let (application, version) = (read("application_id")?, read("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(to_error)?;
    let message = match (application, version, tables) {
        // A run was killed before the first transaction.
        (0, 0, 0) => return Ok(false),
        (APPLICATION, VERSION, _) => return Ok(true),
        (APPLICATION, newer, _) if newer > VERSION => format!(
            "`{}` was written by a newer headland (format {newer}, supported: {VERSION}): upgrade headland",
            path.display()
        ),
        (APPLICATION, older, _) => format!(
            "`{}` was written by an older headland (format {older}, supported: {VERSION}): move it and the files whose \
             names begin with its name away and sync again; the archives that are here are kept",
            path.display()
        ),
        _ => format!("`{}` is not the journal of a mirror: choose another folder", path.display()),
    };
    Err(Error::new(Kind::Configuration, message))
}

pub(super) fn for_writing(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    add_function(&connection)?;
    // Readers are not blocked by a write. File systems without shared memory (networks) keep the rollback journal. See
    // https://www.sqlite.org/wal.html.
    let _: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    // Committed transactions survive a power cut; macOS needs `F_FULLFSYNC` for that.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;")?;
    let txn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if txn.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? == 0 {
        txn.execute_batch(TABLES)?;
        txn.pragma_update(None, "application_id", APPLICATION)?;
        txn.pragma_update(None, "user_version", VERSION)?;
    }
    txn.commit()?;
    Ok(connection)
}

pub(super) fn for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, flags: OpenFlags| {
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(BUSY)?;
        add_function(&connection)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    };
    match open(path, flags) {
        // Readers share a `-shm` file with the writer, which cannot be created in a read-only folder. Without a `-wal`
        // file no writer is active, and the journal is read as immutable.
        Err(cause) if is_read_only(&cause) && !path.with_extension("sqlite-wal").exists() => {
            let path = percent_encode(path.as_os_str().as_encoded_bytes(), ESCAPED);
            open(Path::new(&format!("file:{path}?immutable=1")), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        other => other,
    }
}

fn is_read_only(cause: &rusqlite::Error) -> bool {
    matches!(cause.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}
