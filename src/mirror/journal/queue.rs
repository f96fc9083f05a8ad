//! What there is to do and how much of it: each answer reads only the rows that it gives.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::items::{Item, ItemKind, item, query};
use super::sql_values::{format_time, read_count, read_time, to_i64};
use super::transaction::ReadTxn;
use crate::error::Result;

/// How many items are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCount {
    /// Jobs or grain carts.
    pub kind: ItemKind,
    /// The word of the state ([`super::FileState::as_str`]).
    pub state: String,
    /// How many.
    pub items: u64,
    /// How many of them have an archive whose rows stand.
    pub archives: u64,
    /// How many of them lack the detail of their version.
    pub details_due: u64,
}

/// How many jobs of a kind are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeCount {
    /// The kind as lists name it, where they do.
    pub sub_type: Option<String>,
    /// The word of the state.
    pub state: String,
    /// How many.
    pub items: u64,
}

/// The journal in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// By kind and state.
    pub states: Vec<StateCount>,
    /// Archives in the store.
    pub archives: u64,
    /// Their length together.
    pub bytes: u64,
    /// When the first of the conversions that are waited for is ripe.
    pub next_ready_at: Option<DateTime<Utc>>,
}

impl Summary {
    /// How many items of a kind are in a state, by its word.
    #[must_use]
    pub fn items(&self, kind: ItemKind, state: &str) -> u64 {
        self.states.iter().filter(|count| count.kind == kind && count.state == state).map(|count| count.items).sum()
    }

    /// How many jobs lack their detail.
    #[must_use]
    pub fn details_due(&self) -> u64 {
        self.states.iter().filter(|count| count.state != "gone").map(|count| count.details_due).sum()
    }
}

impl ReadTxn {
    /// Conversions whose stated wait is over, the longest waiting first.
    pub fn ready_conversions(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<Item>> {
        let some = || {
            self.connection
                .prepare_cached(&query("WHERE i.state = 'asked' AND i.ripe_at <= ?1 ORDER BY i.ripe_at LIMIT ?2"))?
                .query_map(params![format_time(now), to_i64(limit as u64)], item)?
                .collect()
        };
        self.map_error(some())
    }

    /// When the first conversion is ripe; `None` where none is waited for.
    pub fn next_ready_at(&self) -> Result<Option<DateTime<Utc>>> {
        let find = || {
            self.connection
                .prepare_cached("SELECT min(ripe_at) FROM item WHERE state = 'asked'")?
                .query_row([], |row| read_time(row, 0))
        };
        self.map_error(find())
    }

    /// Files that were never asked for, the newest first.
    pub fn unasked(&self, limit: usize) -> Result<Vec<Item>> {
        let some = || {
            self.connection
                .prepare_cached(&query(
                    "WHERE i.state = 'unasked' AND i.ripe_at IS NULL ORDER BY i.created DESC LIMIT ?1",
                ))?
                .query_map([to_i64(limit as u64)], item)?
                .collect()
        };
        self.map_error(some())
    }

    /// Jobs whose detail was not read since they changed, the newest first.
    pub fn details_due(&self, limit: usize) -> Result<Vec<Item>> {
        let some = || {
            self.connection
                .prepare_cached(&query(
                    "WHERE i.kind = 'job' AND i.detail_of IS NOT i.stamp AND i.state <> 'gone' \
                     ORDER BY i.created DESC LIMIT ?1",
                ))?
                .query_map([to_i64(limit as u64)], item)?
                .collect()
        };
        self.map_error(some())
    }

    /// Items in a state, by its word: for showing which failed and why.
    pub fn in_state(&self, state: &str, limit: usize) -> Result<Vec<Item>> {
        let some = || {
            self.connection
                .prepare_cached(&query("WHERE i.state = ?1 ORDER BY i.ripe_at DESC, i.created DESC LIMIT ?2"))?
                .query_map(params![state, to_i64(limit as u64)], item)?
                .collect()
        };
        self.map_error(some())
    }

    /// The journal in numbers, however large it is.
    pub fn summary(&self) -> Result<Summary> {
        let find = || {
            let states = self
                .connection
                .prepare_cached("SELECT kind, state, items, archives, details_due FROM tally WHERE items > 0")?
                .query_map([], |row| {
                    Ok(StateCount {
                        kind: row.get(0)?,
                        state: row.get(1)?,
                        items: read_count(row, 2)?,
                        archives: read_count(row, 3)?,
                        details_due: read_count(row, 4)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            let (archives, bytes) = self
                .connection
                .prepare_cached(
                    "SELECT coalesce(sum(archives), 0), coalesce(sum(bytes), 0) FROM stock WHERE place = 'archives'",
                )?
                .query_row([], |row| Ok((read_count(row, 0)?, read_count(row, 1)?)))?;
            Ok((states, archives, bytes))
        };
        let (states, archives, bytes) = self.map_error(find())?;
        Ok(Summary { states, archives, bytes, next_ready_at: self.next_ready_at()? })
    }

    /// Jobs by kind and state. It reads an index of these alone, and none of the records.
    pub fn types(&self) -> Result<Vec<TypeCount>> {
        let all = || {
            self.connection
                .prepare_cached(
                    "SELECT sub_type, state, count(*) FROM item WHERE kind = 'job' GROUP BY 1, 2 ORDER BY 1, 2",
                )?
                .query_map([], |row| {
                    Ok(TypeCount { sub_type: row.get(0)?, state: row.get(1)?, items: read_count(row, 2)? })
                })?
                .collect()
        };
        self.map_error(all())
    }

    /// The digests of all archives that the store should have. Records name theirs too: where the two differ, no archive
    /// may pass for one that belongs to nothing.
    pub fn archives(&self) -> Result<Vec<String>> {
        let all = || {
            self.connection
                .prepare_cached(
                    "SELECT sha256 FROM archive WHERE place = 'archives' UNION SELECT sha256 FROM known_archive \
                     UNION SELECT sha256 FROM item WHERE state = 'have' AND sha256 NOT IN (SELECT sha256 FROM archive)",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        self.map_error(all())
    }

    /// Archives that nothing refers to any more.
    pub(in crate::mirror) fn unused_archives(&self) -> Result<Vec<String>> {
        let all = || {
            self.connection
                .prepare_cached("SELECT sha256 FROM archive WHERE users = 0 AND place <> 'quarantine'")?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        self.map_error(all())
    }

    /// Archives that are to be in quarantine.
    pub(in crate::mirror) fn quarantined(&self) -> Result<Vec<String>> {
        let all = || {
            self.connection
                .prepare_cached("SELECT sha256 FROM archive WHERE place = 'quarantine'")?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        self.map_error(all())
    }

    /// The item with this stamp.
    pub(in crate::mirror) fn item_by_stamp(&self, stamp: &str) -> Result<Option<Item>> {
        use rusqlite::OptionalExtension as _;
        let find = || self.connection.prepare_cached(&query("WHERE i.stamp = ?1"))?.query_row([stamp], item).optional();
        self.map_error(find())
    }
}
