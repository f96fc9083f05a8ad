//! Records without a file: field computers, field hubs and prescription maps.

use chrono::{DateTime, Utc};
use rusqlite::{Row, params};

use super::sql_values::{format_time, read_count, read_time, to_i64};
use super::transaction::{ReadTxn, WriteTxn};
use headland_base::error::Result;

/// Record of one of these lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The list, such as `field_computers`.
    pub kind: String,
    /// Id.
    pub id: String,
    /// Item of the list, as JSON.
    pub listed: String,
    /// Detail, as JSON.
    pub detail: Option<String>,
    /// Time when the detail was read.
    pub detail_at: Option<DateTime<Utc>>,
    /// Time when a full list no longer contained it.
    pub gone_at: Option<DateTime<Utc>>,
}

const COLUMNS: &str = "kind, id, listed, detail, detail_at, gone_at";

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        kind: row.get(0)?,
        id: row.get(1)?,
        listed: row.get(2)?,
        detail: row.get(3)?,
        detail_at: read_time(row, 4)?,
        gone_at: read_time(row, 5)?,
    })
}

impl ReadTxn {
    /// Records of a kind, including removed ones.
    pub fn records(&self, kind: &str) -> Result<Vec<Record>> {
        self.rows(&format!("SELECT {COLUMNS} FROM record WHERE kind = ?1 ORDER BY id"), [kind], record)
    }

    /// Ids of records of a kind whose detail was never read.
    pub fn records_without_detail(&self, kind: &str, limit: usize) -> Result<Vec<String>> {
        let query = "SELECT id FROM record WHERE kind = ?1 AND detail IS NULL AND gone_at IS NULL ORDER BY id LIMIT ?2";
        self.rows(query, params![kind, to_i64(limit as u64)], |row| row.get(0))
    }
}

impl WriteTxn<'_> {
    /// Stores an item of a list; `seen` is the number of the read. Returns whether it was unknown.
    pub fn put_record(&self, kind: &str, id: &str, listed: &str, seen: u64) -> Result<bool> {
        let seen = to_i64(seen);
        if self.execute("UPDATE record SET seen = ?3 WHERE kind = ?1 AND id = ?2", params![kind, id, seen])? == 0 {
            let statement = "INSERT INTO record (kind, id, listed, seen) VALUES (?1, ?2, ?3, ?4)";
            return self.execute_and_revise(statement, params![kind, id, listed, seen]).map(|_| true);
        }
        let statement = "UPDATE record SET listed = ?3, gone_at = NULL \
             WHERE kind = ?1 AND id = ?2 AND (listed <> ?3 OR gone_at IS NOT NULL)";
        self.execute_and_revise(statement, [kind, id, listed]).map(|_| false)
    }

    /// Stores the detail of a known record; returns whether it is known.
    pub fn set_record_detail(&self, kind: &str, id: &str, detail: &str, now: DateTime<Utc>) -> Result<bool> {
        let now = format_time(now);
        let known = self.execute("UPDATE record SET detail_at = ?3 WHERE kind = ?1 AND id = ?2", [kind, id, &now])?;
        let statement = "UPDATE record SET detail = ?3 WHERE kind = ?1 AND id = ?2 AND detail IS NOT ?3";
        self.execute_and_revise(statement, [kind, id, detail])?;
        Ok(known > 0)
    }

    /// Ends a full read of a list. Records that it lacks are marked as removed, if it had at least `total_count`
    /// records.
    pub fn finish_records(&self, kind: &str, seen: u64, total_count: Option<u64>, now: DateTime<Utc>) -> Result<()> {
        let count = "SELECT count(*) FROM record WHERE kind = ?1 AND seen = ?2";
        let found = self.first(count, params![kind, to_i64(seen)], |row| read_count(row, 0))?.unwrap_or(0);
        if total_count.is_some_and(|total| found < total) {
            return Ok(());
        }
        self.execute_and_revise(
            "UPDATE record SET gone_at = ?3 WHERE kind = ?1 AND seen <> ?2 AND gone_at IS NULL",
            params![kind, to_i64(seen), format_time(now)],
        )
        .map(drop)
    }
}
