//! Queries of the remaining work and its amount. Lists read only the rows that they return, and counts only an index.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::items::{Item, ItemKind, item, query};
use super::sql_values::{read_count, read_time, to_i64};
use super::transaction::ReadTxn;
use headland_base::error::Result;

/// Condition of a stored archive to which no item refers.
pub(super) const UNUSED: &str = "folder = 'archives' \
    AND NOT EXISTS (SELECT 1 FROM item WHERE item.sha256 = archive.sha256) \
    AND NOT EXISTS (SELECT 1 FROM item WHERE item.earlier_sha256 = archive.sha256)";

/// Number of items of a kind in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCount {
    /// Jobs or grain carts.
    pub kind: ItemKind,
    /// Kind as stated in lists, if any.
    pub sub_type: Option<String>,
    /// Text of the state ([`super::FileState::as_str`]).
    pub state: String,
    /// Number of items.
    pub items: u64,
}

impl ReadTxn {
    /// When the first conversion is ready; `None` without conversions.
    pub fn next_ready_at(&self) -> Result<Option<DateTime<Utc>>> {
        let query = "SELECT min(ready_at) FROM item WHERE state = 'converting'";
        Ok(self.first(query, [], |row| read_time(row, 0))?.flatten())
    }

    /// Files that were not requested yet, the newest first.
    pub fn pending(&self, limit: usize) -> Result<Vec<Item>> {
        let query = query("WHERE i.state = 'pending' AND i.ready_at IS NULL ORDER BY i.created DESC LIMIT ?1");
        self.rows(&query, [to_i64(limit as u64)], item)
    }

    /// Jobs whose detail was not read since they changed, the newest first.
    pub fn details_due(&self, limit: usize) -> Result<Vec<Item>> {
        let query = query(
            "WHERE i.kind = 'job' AND i.detail_stamp IS NOT i.stamp AND i.state <> 'gone' \
             ORDER BY i.created DESC LIMIT ?1",
        );
        self.rows(&query, [to_i64(limit as u64)], item)
    }

    /// Items in a state, by its text, such as the failed ones with their reasons.
    pub fn in_state(&self, state: &str, limit: usize) -> Result<Vec<Item>> {
        let query = query("WHERE i.state = ?1 ORDER BY i.ready_at DESC, i.created DESC LIMIT ?2");
        self.rows(&query, params![state, to_i64(limit as u64)], item)
    }

    /// Number of jobs whose detail was not read since they changed.
    pub fn count_details_due(&self) -> Result<u64> {
        let query = "SELECT count(*) FROM item WHERE kind = 'job' AND detail_stamp IS NOT stamp AND state <> 'gone'";
        Ok(self.first(query, [], |row| read_count(row, 0))?.unwrap_or(0))
    }

    /// Number of files that failed or cannot be read.
    pub fn count_failed(&self) -> Result<u64> {
        let query = "SELECT count(*) FROM item WHERE state IN ('failed', 'quarantined')";
        Ok(self.first(query, [], |row| read_count(row, 0))?.unwrap_or(0))
    }

    /// Number of stored archives, and their bytes.
    pub fn count_archives(&self) -> Result<(u64, u64)> {
        let query = "SELECT count(*), coalesce(sum(bytes), 0) FROM archive WHERE folder = 'archives'";
        let found = self.first(query, [], |row| Ok((read_count(row, 0)?, read_count(row, 1)?)))?;
        Ok(found.unwrap_or_default())
    }

    /// Items by kind and state.
    pub fn count_items(&self) -> Result<Vec<StateCount>> {
        let query = "SELECT kind, sub_type, state, count(*) FROM item GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        self.rows(query, [], |row| {
            Ok(StateCount { kind: row.get(0)?, sub_type: row.get(1)?, state: row.get(2)?, items: read_count(row, 3)? })
        })
    }

    /// Digests of all archives that the store should have.
    ///
    /// Items also name theirs: if the two differ, no archive must count as unreferenced.
    pub fn archives(&self) -> Result<Vec<String>> {
        self.rows(
            "SELECT sha256 FROM archive WHERE folder = 'archives' UNION SELECT sha256 FROM known_archive \
             UNION SELECT sha256 FROM item WHERE state = 'stored' AND sha256 NOT IN (SELECT sha256 FROM archive)",
            [],
            |row| row.get(0),
        )
    }

    /// Unreferenced archives.
    pub(crate) fn unused_archives(&self) -> Result<Vec<String>> {
        self.rows(&format!("SELECT sha256 FROM archive WHERE {UNUSED}"), [], |row| row.get(0))
    }

    /// Archives that belong in quarantine.
    pub(crate) fn quarantined(&self) -> Result<Vec<String>> {
        self.rows("SELECT sha256 FROM archive WHERE folder = 'quarantine'", [], |row| row.get(0))
    }

    /// Item with this stamp.
    pub(crate) fn item_by_stamp(&self, stamp: &str) -> Result<Option<Item>> {
        self.first(&query("WHERE i.stamp = ?1"), [stamp], item)
    }
}
