//! Queries of the remaining work and its amount. Each reads only the rows it returns.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::items::{Item, ItemKind, item, query};
use super::sql_values::{read_count, read_time, to_i64};
use super::transaction::ReadTxn;
use headland_base::error::Result;

/// Number of items in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCount {
    /// Jobs or grain carts.
    pub kind: ItemKind,
    /// Text of the state ([`super::FileState::as_str`]).
    pub state: String,
    /// Number of items.
    pub items: u64,
    /// Items with an archive whose rows are published.
    pub archives: u64,
    /// Items without the detail of their version.
    pub details_due: u64,
}

/// Number of jobs of a kind in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeCount {
    /// Kind as stated in lists, if any.
    pub sub_type: Option<String>,
    /// Text of the state.
    pub state: String,
    /// Number of jobs.
    pub items: u64,
}

/// Totals of the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Items by kind and state.
    pub states: Vec<StateCount>,
    /// Stored archives.
    pub archives: u64,
    /// Total length in bytes.
    pub bytes: u64,
    /// When the first conversion in progress may be requested.
    pub next_ready_at: Option<DateTime<Utc>>,
}

impl Summary {
    /// Number of jobs without their detail.
    #[must_use]
    pub fn details_due(&self) -> u64 {
        self.states.iter().filter(|count| count.state != "gone").map(|count| count.details_due).sum()
    }

    /// Number of files that failed or cannot be read.
    #[must_use]
    pub fn failed(&self) -> u64 {
        let is_failed = |count: &&StateCount| matches!(count.state.as_str(), "failed" | "quarantined");
        self.states.iter().filter(is_failed).map(|count| count.items).sum()
    }
}

impl ReadTxn {
    /// When the first conversion is ready; `None` without conversions.
    pub fn next_ready_at(&self) -> Result<Option<DateTime<Utc>>> {
        let query = "SELECT min(ripe_at) FROM item WHERE state = 'asked'";
        Ok(self.first(query, [], |row| read_time(row, 0))?.flatten())
    }

    /// Files that were not requested yet, the newest first.
    pub fn unasked(&self, limit: usize) -> Result<Vec<Item>> {
        let query = query("WHERE i.state = 'unasked' AND i.ripe_at IS NULL ORDER BY i.created DESC LIMIT ?1");
        self.rows(&query, [to_i64(limit as u64)], item)
    }

    /// Jobs whose detail was not read since they changed, the newest first.
    pub fn details_due(&self, limit: usize) -> Result<Vec<Item>> {
        let query = query(
            "WHERE i.kind = 'job' AND i.detail_of IS NOT i.stamp AND i.state <> 'gone' \
             ORDER BY i.created DESC LIMIT ?1",
        );
        self.rows(&query, [to_i64(limit as u64)], item)
    }

    /// Items in a state, by its text, such as the failed ones with their reasons.
    pub fn in_state(&self, state: &str, limit: usize) -> Result<Vec<Item>> {
        let query = query("WHERE i.state = ?1 ORDER BY i.ripe_at DESC, i.created DESC LIMIT ?2");
        self.rows(&query, params![state, to_i64(limit as u64)], item)
    }

    /// Totals of the journal, in constant time.
    pub fn summary(&self) -> Result<Summary> {
        let query = "SELECT kind, state, items, archives, details_due FROM tally WHERE items > 0";
        let states = self.rows(query, [], |row| {
            Ok(StateCount {
                kind: row.get(0)?,
                state: row.get(1)?,
                items: read_count(row, 2)?,
                archives: read_count(row, 3)?,
                details_due: read_count(row, 4)?,
            })
        })?;
        let query = "SELECT archives, bytes FROM stock WHERE place = 'archives'";
        let stock = self.first(query, [], |row| Ok((read_count(row, 0)?, read_count(row, 1)?)))?;
        let (archives, bytes) = stock.unwrap_or_default();
        Ok(Summary { states, archives, bytes, next_ready_at: self.next_ready_at()? })
    }

    /// Jobs by kind and state; reads only an index.
    pub fn types(&self) -> Result<Vec<TypeCount>> {
        let query = "SELECT sub_type, state, count(*) FROM item WHERE kind = 'job' GROUP BY 1, 2 ORDER BY 1, 2";
        self.rows(query, [], |row| {
            Ok(TypeCount { sub_type: row.get(0)?, state: row.get(1)?, items: read_count(row, 2)? })
        })
    }

    /// Digests of all archives that the store should have.
    ///
    /// Items also name theirs: if the two differ, no archive must count as unreferenced.
    pub fn archives(&self) -> Result<Vec<String>> {
        self.rows(
            "SELECT sha256 FROM archive WHERE place = 'archives' UNION SELECT sha256 FROM known_archive \
             UNION SELECT sha256 FROM item WHERE state = 'have' AND sha256 NOT IN (SELECT sha256 FROM archive)",
            [],
            |row| row.get(0),
        )
    }

    /// Unreferenced archives.
    pub(crate) fn unused_archives(&self) -> Result<Vec<String>> {
        let query = "SELECT sha256 FROM archive WHERE users = 0 AND place <> 'quarantine'";
        self.rows(query, [], |row| row.get(0))
    }

    /// Archives that belong in quarantine.
    pub(crate) fn quarantined(&self) -> Result<Vec<String>> {
        self.rows("SELECT sha256 FROM archive WHERE place = 'quarantine'", [], |row| row.get(0))
    }

    /// Item with this stamp.
    pub(crate) fn item_by_stamp(&self, stamp: &str) -> Result<Option<Item>> {
        self.first(&query("WHERE i.stamp = ?1"), [stamp], item)
    }
}
