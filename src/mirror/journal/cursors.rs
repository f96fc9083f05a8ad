//! Read positions of the lists, call counts, and the last publication.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::sql_values::{format_time, read_count, read_time, to_i64};
use super::transaction::{ReadTxn, WriteTxn};
use headland_base::error::Result;

/// Read position of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Latest creation time seen.
    pub newest_created: Option<DateTime<Utc>>,
    /// Time of the last complete read.
    pub read_at: Option<DateTime<Utc>>,
    /// Unfinished read.
    pub unfinished: Option<Reading>,
}

/// Unfinished read of a list, page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Pages read.
    pub pages_done: u64,
    /// `TotalCount` of its first page.
    pub total_count: Option<u64>,
    /// Start of the read.
    pub began_at: DateTime<Utc>,
}

/// Last full list of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relist {
    /// Time of its end.
    pub last_full_at: Option<DateTime<Utc>>,
    /// Number of the last one started.
    pub number: u64,
}

/// Calls for one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// `lists`, `details`, `conversions` or `files`.
    pub purpose: String,
    /// Calls in the current or last run.
    pub this_run: u64,
    /// Calls of all runs.
    pub ever: u64,
}

/// Last publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Number of the generation.
    pub generation: u64,
    /// Journal revision that it shows.
    pub revision: u64,
}

impl ReadTxn {
    /// Read position of a list; the default if it was never read.
    pub fn cursor(&self, list: &str) -> Result<Cursor> {
        let query = "SELECT newest_created, read_at, pages_done, total_count, began_at FROM cursor WHERE list = ?1";
        let found = self.first(query, [list], |row| {
            let unfinished = match (row.get::<_, Option<i64>>(2)?, read_time(row, 4)?) {
                (Some(_), Some(began_at)) => Some(Reading {
                    pages_done: read_count(row, 2)?,
                    total_count: row.get::<_, Option<i64>>(3)?.and_then(|total| u64::try_from(total).ok()),
                    began_at,
                }),
                _ => None,
            };
            Ok(Cursor { newest_created: read_time(row, 0)?, read_at: read_time(row, 1)?, unfinished })
        })?;
        Ok(found.unwrap_or_default())
    }

    /// The last full list of jobs.
    pub fn relist(&self) -> Result<Relist> {
        let number = self.get_meta("relist")?.and_then(|text| text.parse().ok()).unwrap_or(0);
        let last = self.first("SELECT value FROM meta WHERE name = 'relisted at'", [], |row| read_time(row, 0))?;
        Ok(Relist { last_full_at: last.flatten(), number })
    }

    /// Calls by purpose.
    pub fn calls(&self) -> Result<Vec<Calls>> {
        self.rows("SELECT purpose, this_run, ever FROM call ORDER BY purpose", [], |row| {
            Ok(Calls { purpose: row.get(0)?, this_run: read_count(row, 1)?, ever: read_count(row, 2)? })
        })
    }

    /// Counter of changes to published data: archives, records, details and locations.
    pub fn revision(&self) -> Result<u64> {
        Ok(self.first("SELECT number FROM revision", [], |row| read_count(row, 0))?.unwrap_or(0))
    }

    /// The last publication.
    pub fn published(&self) -> Result<Option<Published>> {
        let text = self.get_meta("published")?;
        let numbers = text.as_deref().and_then(|text| text.split_once(" at revision "));
        Ok(numbers.and_then(|(generation, revision)| {
            Some(Published { generation: generation.parse().ok()?, revision: revision.parse().ok()? })
        }))
    }
}

impl WriteTxn<'_> {
    /// Stores the read position of a list.
    pub fn set_cursor(&self, list: &str, cursor: &Cursor) -> Result<()> {
        let reading = cursor.unfinished.as_ref();
        self.execute(
            "INSERT OR REPLACE INTO cursor (list, newest_created, read_at, pages_done, total_count, began_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                list,
                cursor.newest_created.map(format_time),
                cursor.read_at.map(format_time),
                reading.map(|reading| to_i64(reading.pages_done)),
                reading.and_then(|reading| reading.total_count).map(to_i64),
                reading.map(|reading| format_time(reading.began_at)),
            ],
        )
        .map(drop)
    }

    /// Starts a full list and returns its number.
    pub fn begin_relist(&self) -> Result<u64> {
        let number = self.relist()?.number.saturating_add(1);
        self.set_meta("relist", &number.to_string())?;
        Ok(number)
    }

    /// Records that all jobs were listed.
    pub fn set_relisted(&self, now: DateTime<Utc>) -> Result<()> {
        self.set_meta("relisted at", &format_time(now))
    }

    /// Starts a run, and with it the call counts from zero.
    pub fn begin_run(&self, now: DateTime<Utc>) -> Result<()> {
        self.set_meta("run began at", &format_time(now))?;
        self.execute("UPDATE call SET this_run = 0", []).map(drop)
    }

    /// Counts a call.
    pub fn count_call(&self, purpose: &str) -> Result<()> {
        let statement =
            "INSERT INTO call VALUES (?1, 1, 1) ON CONFLICT DO UPDATE SET this_run = this_run + 1, ever = ever + 1";
        self.execute(statement, [purpose]).map(drop)
    }

    /// Records the publication of a generation that shows `revision`, and releases the earlier archives that it
    /// replaces.
    ///
    /// Rejected archives are quarantined before, so that their items fall back to the earlier ones.
    pub fn set_published(&self, published: Published) -> Result<()> {
        self.set_meta("published", &format!("{} at revision {}", published.generation, published.revision))?;
        let statement =
            "UPDATE item SET earlier_sha256 = NULL WHERE earlier_sha256 IS NOT NULL AND archive_revision <= ?1";
        self.execute(statement, [to_i64(published.revision)]).map(drop)
    }
}
