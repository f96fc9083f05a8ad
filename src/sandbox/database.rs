//! SQLite store of jobs, uploads and conversions, in memory or in a folder that survives a killed process and a power
//! failure. `map_store` and `cart_store` add prescription maps and grain carts; `upload_files` stores uploaded files.
//!
//! Generated jobs are rows too, so that one query returns a list. Their contents are generated from the seed. Rate
//! limit counters and the request log are not stored.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use super::fields::HarvestStyle;
use super::locked::locked;
use super::paging::{PageBounds, PageRequest};
use super::private_files::{create_file, create_folder};
use headland_base::error::{Error, Kind, Result};

/// All tables. In `dispatch`, `section` is the list of a record within its kind: the account of a product, the operator
/// of a work order. Numbers are never reused, since ids are derived from them.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS job (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE COLLATE NOCASE, customer INTEGER NOT NULL, name TEXT NOT NULL,
    sub_type TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS job_created ON job (customer, created);
CREATE TABLE IF NOT EXISTS cart (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, name TEXT NOT NULL, file TEXT) STRICT;
CREATE INDEX IF NOT EXISTS cart_customer ON cart (customer, id);
CREATE TABLE IF NOT EXISTS upload (job TEXT PRIMARY KEY COLLATE NOCASE, refusal TEXT, file TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS conversion (
    job TEXT NOT NULL COLLATE NOCASE, format TEXT NOT NULL, ready INTEGER NOT NULL, PRIMARY KEY (job, format)) STRICT;
CREATE TABLE IF NOT EXISTS sprayed (
    job TEXT PRIMARY KEY COLLATE NOCASE, map TEXT NOT NULL, product TEXT NOT NULL, start INTEGER NOT NULL,
    finish INTEGER NOT NULL, volume REAL NOT NULL, area REAL NOT NULL, least REAL NOT NULL, mean REAL NOT NULL,
    most REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS revision (job TEXT PRIMARY KEY COLLATE NOCASE, number INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS map (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE COLLATE NOCASE, customer INTEGER NOT NULL, name TEXT NOT NULL,
    file_type TEXT, created INTEGER NOT NULL, file TEXT) STRICT;
CREATE TABLE IF NOT EXISTS sending (
    number INTEGER PRIMARY KEY, customer INTEGER NOT NULL, map TEXT NOT NULL COLLATE NOCASE,
    name TEXT NOT NULL COLLATE NOCASE, computer TEXT NOT NULL COLLATE NOCASE, delivered INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS sending_computer ON sending (customer, computer);
CREATE TABLE IF NOT EXISTS dispatch (
    number INTEGER PRIMARY KEY AUTOINCREMENT, customer INTEGER NOT NULL, kind TEXT NOT NULL,
    id TEXT NOT NULL COLLATE NOCASE, section TEXT NOT NULL COLLATE NOCASE, body TEXT NOT NULL,
    UNIQUE (customer, kind, id)) STRICT;
CREATE INDEX IF NOT EXISTS dispatch_section ON dispatch (customer, kind, section);
";

/// Version of the tables.
const SCHEMA_VERSION: u32 = 1;

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredJob {
    pub(super) id: String,
    pub(super) name: String,
    /// `None` for uploads, whose content is not read.
    pub(super) sub_type: Option<String>,
    pub(super) created: DateTime<Utc>,
    pub(super) updated: DateTime<Utc>,
}

/// An upload with a stored file.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewUpload<'a> {
    /// File name as sent.
    pub(super) name: &'a str,
    /// Name of the stored file.
    pub(super) file: &'a str,
}

/// Origin of a job.
#[derive(Debug)]
pub(super) enum Origin {
    /// Generated from the seed.
    Generated,
    /// A convertible upload.
    Convertible,
    /// An upload without conversion, with the reason.
    Refused(String),
}

/// Filter of a job list.
#[derive(Clone, Debug)]
pub(super) struct JobFilter {
    pub(super) customer: u32,
    /// Excluded ids, as a JSON array.
    pub(super) hidden: String,
    pub(super) since: Option<DateTime<Utc>>,
    /// Whether `since` applies to the update time instead of the creation time.
    pub(super) by_updated: bool,
}

/// The database connection.
#[derive(Debug)]
pub(super) struct Database(pub(super) Mutex<Connection>);

/// Result of a query.
pub(super) type SqlResult<T> = rusqlite::Result<T>;

impl Database {
    /// Opens the state in `folder`, which is created if missing. `None` opens an empty state in memory.
    pub(super) fn open(folder: Option<&Path>, seed: u64) -> Result<Self> {
        let Some(folder) = folder else {
            let connection = Connection::open_in_memory()
                .and_then(|connection| connection.execute_batch(SCHEMA).map(|()| Self(Mutex::new(connection))));
            return connection.map_err(|error| {
                Error::new(Kind::File, format!("the sandbox cannot set up its database in memory: {error}"))
            });
        };
        create_folder(folder).map_err(|error| Error::file("create the folder", folder, &error))?;
        let path = folder.join("sandbox.sqlite3");
        // The files that the database creates next to itself have its mode. It reports a failure itself.
        drop(create_file(&path));
        let fail = |error: rusqlite::Error| {
            Error::new(Kind::File, format!("the sandbox cannot use its database `{}`: {error}", path.display()))
        };
        let Some((connection, stored_seed)) = open_file(&path, seed).map_err(fail)? else {
            return Err(Error::new(
                Kind::Value,
                format!(
                    "the folder `{}` contains a sandbox of another version: choose another folder",
                    folder.display()
                ),
            ));
        };
        if stored_seed != seed.to_string() {
            return Err(Error::new(
                Kind::Value,
                format!(
                    "the folder `{}` contains a sandbox of seed {stored_seed}, not {seed}: start it with that seed, \
                     or choose another folder",
                    folder.display()
                ),
            ));
        }
        Ok(Self(Mutex::new(connection)))
    }

    /// Inserts the generated jobs of a customer that are missing.
    pub(super) fn add_generated(&self, customer: u32, jobs: impl Iterator<Item = StoredJob>) -> SqlResult<()> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction.prepare(
                "INSERT OR IGNORE INTO job (id, customer, name, sub_type, created, updated) VALUES (?, ?, ?, ?, ?, ?)",
            )?;
            for job in jobs {
                let (created, updated) = (job.created.timestamp_micros(), job.updated.timestamp_micros());
                insert.execute(params![job.id, customer, job.name, job.sub_type, created, updated])?;
            }
        }
        transaction.commit()
    }

    /// Returns the time when this state was first served; stores `now` the first time.
    pub(super) fn first_start(&self, now: DateTime<Utc>) -> SqlResult<DateTime<Utc>> {
        let connection = locked(&self.0);
        let now = now.timestamp_micros().to_string();
        connection.execute("INSERT OR IGNORE INTO setting (name, value) VALUES ('first start', ?)", [now])?;
        connection.query_row("SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'first start'", [], |row| {
            Ok(from_micros(row.get(0)?))
        })
    }

    /// Checks that the jobs of this state have harvests in that style; stores the style the first time.
    pub(super) fn check_harvest(&self, style: HarvestStyle) -> Result<()> {
        let name = if style == HarvestStyle::Logged { "logged" } else { "ideal" };
        let connection = locked(&self.0);
        let stored = connection
            .execute("INSERT OR IGNORE INTO setting (name, value) VALUES ('harvest', ?)", [name])
            .and_then(|_| {
                connection
                    .query_row("SELECT value FROM setting WHERE name = 'harvest'", [], |row| row.get::<_, String>(0))
            })
            .map_err(|error| Error::new(Kind::File, format!("the sandbox cannot read its database: {error}")))?;
        if stored == name {
            return Ok(());
        }
        let text =
            format!("the folder contains a sandbox with {stored} harvests: start it with these, not {name} ones");
        Err(Error::new(Kind::Value, text))
    }

    /// Inserts an upload and returns its new id. Ids are not in order of time (field notes, Values). `refusal` is the
    /// reason why it has no conversion.
    pub(super) fn add_upload(
        &self,
        customer: u32,
        upload: NewUpload<'_>,
        refusal: Option<&str>,
        now: DateTime<Utc>,
    ) -> SqlResult<String> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let id = unused_id(&transaction, "job", 100_000)?;
        // The new job is first in the list even if the clock of an earlier run was ahead.
        let newest: Option<i64> =
            transaction.query_row("SELECT max(created) FROM job WHERE customer = ?", [customer], |row| row.get(0))?;
        let now = now.timestamp_micros().max(newest.unwrap_or(i64::MIN));
        transaction.execute(
            "INSERT INTO job (id, customer, name, created, updated) VALUES (?, ?, ?, ?, ?)",
            params![id, customer, upload.name, now, now],
        )?;
        transaction
            .execute("INSERT INTO upload (job, refusal, file) VALUES (?, ?, ?)", params![id, refusal, upload.file])?;
        transaction.commit()?;
        Ok(id)
    }

    /// Returns a page of rows: columns, table with condition, and order. Total and page are of the same state.
    pub(super) fn page<T>(
        &self,
        (columns, selected, order): (&str, &str, &str),
        values: &[&dyn ToSql],
        asked: PageRequest,
        read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<(PageBounds, Vec<T>)> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let count = format!("SELECT count(*) FROM {selected}");
        let total: i64 = transaction.query_row(&count, values, |row| row.get(0))?;
        let bounds = asked.bounds(total.unsigned_abs());
        let PageBounds { skip, count, .. } = bounds;
        let query = format!("SELECT {columns} FROM {selected} ORDER BY {order} LIMIT {count} OFFSET {skip}");
        let rows = transaction.prepare(&query)?.query_map(values, read)?.collect::<SqlResult<_>>()?;
        Ok((bounds, rows))
    }

    /// Returns a page of a job list, newest first.
    pub(super) fn jobs(&self, selection: &JobFilter, asked: PageRequest) -> SqlResult<(PageBounds, Vec<StoredJob>)> {
        let column = if selection.by_updated { "updated" } else { "created" };
        let since = selection.since.map_or(i64::MIN, |time| time.timestamp_micros());
        let selected =
            format!("job WHERE customer = ? AND {column} >= ? AND id NOT IN (SELECT value FROM json_each(?))");
        let list = ("id, name, sub_type, created, updated", &*selected, "created DESC, number DESC");
        self.page(list, params![selection.customer, since, selection.hidden], asked, stored_job)
    }

    /// Finds a job of a customer by id.
    pub(super) fn job(&self, customer: u32, id: &str) -> SqlResult<Option<StoredJob>> {
        locked(&self.0)
            .prepare_cached("SELECT id, name, sub_type, created, updated FROM job WHERE customer = ? AND id = ?")?
            .query_row(params![customer, id], stored_job)
            .optional()
    }

    /// Returns the stored file names of all uploads.
    pub(super) fn upload_files(&self) -> SqlResult<HashSet<String>> {
        let connection = locked(&self.0);
        let mut query = connection.prepare(
            "SELECT file FROM upload UNION SELECT file FROM map WHERE file IS NOT NULL \
             UNION SELECT file FROM cart WHERE file IS NOT NULL",
        )?;
        query.query_map([], |row| row.get(0))?.collect()
    }

    /// Returns the stored file name of an upload; `None` for a generated job.
    pub(super) fn upload(&self, job: &str) -> SqlResult<Option<String>> {
        locked(&self.0).query_row("SELECT file FROM upload WHERE job = ?", [job], |row| row.get(0)).optional()
    }

    /// Returns the origin of a job.
    pub(super) fn origin(&self, job: &str) -> SqlResult<Origin> {
        let origin = |row: &Row<'_>| Ok(row.get::<_, Option<String>>(0)?.map_or(Origin::Convertible, Origin::Refused));
        let found = locked(&self.0).query_row("SELECT refusal FROM upload WHERE job = ?", [job], origin).optional()?;
        Ok(found.unwrap_or(Origin::Generated))
    }

    /// Starts a conversion that completes at `ready`, unless it was started before. Returns the time of completion.
    pub(super) fn start_conversion(&self, job: &str, format: &str, ready: DateTime<Utc>) -> SqlResult<DateTime<Utc>> {
        let connection = locked(&self.0);
        connection.execute(
            "INSERT OR IGNORE INTO conversion (job, format, ready) VALUES (?, ?, ?)",
            params![job, format, ready.timestamp_micros()],
        )?;
        connection.query_row("SELECT ready FROM conversion WHERE job = ? AND format = ?", [job, format], |row| {
            Ok(from_micros(row.get(0)?))
        })
    }

    /// Returns the format of the job's last completed conversion; `None` without one.
    pub(super) fn last_conversion(&self, job: &str, now: DateTime<Utc>) -> SqlResult<Option<String>> {
        locked(&self.0)
            .query_row(
                "SELECT format FROM conversion WHERE job = ? AND ready <= ? ORDER BY ready DESC, format DESC LIMIT 1",
                params![job, now.timestamp_micros()],
                |row| row.get(0),
            )
            .optional()
    }
}

/// Opens the database file and returns its seed. A new file stores `seed`. Returns `None` for another schema version.
fn open_file(path: &Path, seed: u64) -> SqlResult<Option<(Connection, String)>> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    let is_new: bool = connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    let tables: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if !is_new && tables != SCHEMA_VERSION {
        return Ok(None);
    }
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    // With a write-ahead log, a killed process loses no committed data. With `synchronous = FULL`, a power failure
    // loses none either.
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    connection.execute_batch(SCHEMA)?;
    connection.execute("INSERT OR IGNORE INTO setting (name, value) VALUES ('seed', ?)", [seed.to_string()])?;
    let stored_seed = connection.query_row("SELECT value FROM setting WHERE name = 'seed'", [], |row| row.get(0))?;
    Ok(Some((connection, stored_seed)))
}

/// Returns a random id from `least` on that no record of the table has.
pub(super) fn unused_id(connection: &Connection, table: &str, least: u32) -> SqlResult<String> {
    let count: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
    let mut random = fastrand::Rng::with_seed(count.unsigned_abs());
    let mut taken = connection.prepare(&format!("SELECT 1 FROM {table} WHERE id = ?"))?;
    loop {
        let id = random.u32(least..1_000_000_000).to_string();
        if !taken.exists([&id])? {
            return Ok(id);
        }
    }
}

fn stored_job(row: &Row<'_>) -> SqlResult<StoredJob> {
    Ok(StoredJob {
        id: row.get(0)?,
        name: row.get(1)?,
        sub_type: row.get(2)?,
        created: from_micros(row.get(3)?),
        updated: from_micros(row.get(4)?),
    })
}

/// Converts a stored time.
pub(super) fn from_micros(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(micros).unwrap_or(DateTime::<Utc>::MAX_UTC)
}
