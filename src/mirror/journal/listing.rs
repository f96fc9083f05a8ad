//! A page of a list becomes known: new records, changed ones, and after a relist those that are gone.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::checksums::checksum_texts;
use super::items::ItemKind;
use super::sql_values::{format_time, read_count, to_i64};
use super::transaction::WriteTxn;
use crate::error::Result;
use crate::mirror::archive_store::hex;

/// A record as a list has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The address of its detail.
    pub uri: Option<String>,
    /// The `SubType`.
    pub sub_type: Option<String>,
    /// When it was uploaded.
    pub created: Option<DateTime<Utc>>,
    /// When the service changed it last.
    pub updated: Option<DateTime<Utc>>,
    /// The whole item, as JSON.
    pub json: String,
}

impl Listed {
    /// The stamp of this version of this record: it changes with its name and its times, and no other record has it.
    #[must_use]
    pub fn stamp(&self, kind: ItemKind) -> String {
        let time = |time: Option<DateTime<Utc>>| time.map(|time| time.to_rfc3339()).unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [kind.as_str(), &self.id, &time(self.created), &time(self.updated), &self.name] {
            hash.update(part.as_bytes());
            // No text of a record holds this byte unescaped on the wire, so that parts cannot run into each other.
            hash.update([0]);
        }
        hex(hash.finalize().get(..16).unwrap_or_default())
    }
}

/// What a page brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Records that were not known.
    pub new: u64,
    /// Records that have changed since they were listed last.
    pub changed: u64,
    /// Records that are as they were.
    pub unchanged: u64,
}

/// What the end of a relist tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// So many records are gone since the relist before.
    Gone(u64),
    /// The pages held fewer records than the list was said to have, because it changed while it was read: nothing is
    /// said to be gone, and the next relist tells.
    Unknown,
}

impl WriteTxn<'_> {
    /// Keeps a page of the list of jobs or grain carts. `relist` is the number of the relist that it is a page of.
    pub fn list_page(
        &self,
        kind: ItemKind,
        page: &[Listed],
        relist: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Changes> {
        let work = || {
            let mut changes = Changes::default();
            let seen = match relist {
                Some(number) => to_i64(number),
                None => self.connection.query_row(
                    "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM about WHERE name = 'relist'), 0)",
                    [],
                    |row| row.get(0),
                )?,
            };
            for listed in page {
                match self.list_record(kind, listed, seen, now)? {
                    None => changes.new = changes.new.saturating_add(1),
                    Some(true) => changes.changed = changes.changed.saturating_add(1),
                    Some(false) => changes.unchanged = changes.unchanged.saturating_add(1),
                }
                if kind == ItemKind::Cart {
                    self.supersede(&listed.name, now)?;
                }
            }
            Ok(changes)
        };
        self.map_error(work())
    }

    /// Whether a known record changed; `None` where it was not known.
    fn list_record(
        &self,
        kind: ItemKind,
        listed: &Listed,
        seen: i64,
        now: DateTime<Utc>,
    ) -> rusqlite::Result<Option<bool>> {
        let stamp = listed.stamp(kind);
        let (created, updated) = (listed.created.map(format_time), listed.updated.map(format_time));
        let crc32 = checksum_texts([
            Some(kind.as_str()),
            Some(&listed.id),
            Some(&listed.name),
            listed.uri.as_deref(),
            listed.sub_type.as_deref(),
            created.as_deref(),
            updated.as_deref(),
            Some(&stamp),
            Some(&listed.json),
        ]);
        let known: Option<String> = self
            .connection
            .prepare_cached("SELECT stamp FROM item WHERE kind = ?1 AND id = ?2")?
            .query_row(params![kind, listed.id], |row| row.get(0))
            .optional()?;
        let Some(known) = known else {
            self.connection
                .prepare_cached(
                    "INSERT INTO item (kind, id, name, uri, sub_type, created, updated, stamp, state, since, seen, listed, \
                     listed_crc32) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'unasked', ?9, ?10, ?11, ?12)",
                )?
                .execute(params![
                    kind, listed.id, listed.name, listed.uri, listed.sub_type, created, updated, stamp, format_time(now), seen, listed.json, crc32
                ])?;
            self.restore_known_archive(kind, &listed.id, &stamp, now)?;
            return Ok(None);
        };
        let changed = known != stamp;
        if changed {
            self.connection
                .prepare_cached(
                    "UPDATE item SET name = ?3, created = ?4, updated = ?5, stamp = ?6, state = 'unasked', since = ?7, \
                     ripe_at = NULL, times = 0, reason = NULL, status = NULL, other = NULL, before_gone = NULL \
                     WHERE kind = ?1 AND id = ?2",
                )?
                .execute(params![kind, listed.id, listed.name, created, updated, stamp, format_time(now)])?;
        } else {
            // A record that was gone and is back goes on where it was.
            self.connection
                .prepare_cached(
                    "UPDATE item SET state = coalesce(before_gone, 'unasked'), before_gone = NULL, since = ?3 \
                     WHERE kind = ?1 AND id = ?2 AND state = 'gone'",
                )?
                .execute(params![kind, listed.id, format_time(now)])?;
        }
        self.connection
            .prepare_cached(
                "UPDATE item SET uri = ?3, sub_type = ?4, listed = ?5, seen = max(seen, ?6), listed_crc32 = ?7 \
                 WHERE kind = ?1 AND id = ?2 \
                 AND (uri IS NOT ?3 OR sub_type IS NOT ?4 OR listed <> ?5 OR seen < ?6 OR listed_crc32 IS NOT ?7)",
            )?
            .execute(params![kind, listed.id, listed.uri, listed.sub_type, listed.json, seen, crc32])?;
        Ok(Some(changed))
    }

    /// Of the grain cart files of one name the newest wins: that with the highest id. Ids that are no numbers tell nothing,
    /// and those files all stay (field notes, Values).
    fn supersede(&self, name: &str, now: DateTime<Utc>) -> rusqlite::Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        let mut ids: Vec<(u128, String)> = self
            .connection
            .prepare_cached("SELECT id FROM item WHERE kind = 'cart' AND name = ?1 AND state <> 'gone'")?
            .query_map([name], |row| row.get::<_, String>(0))?
            .filter_map(|id| id.map(|id| Some((id.parse().ok()?, id))).transpose())
            .collect::<rusqlite::Result<_>>()?;
        ids.sort();
        let Some((_, newest)) = ids.pop() else { return Ok(()) };
        self.connection
            .prepare_cached(
                "UPDATE item SET state = 'unasked', since = ?2, other = NULL WHERE kind = 'cart' AND id = ?1 \
                 AND state = 'superseded'",
            )?
            .execute(params![newest, format_time(now)])?;
        for (_, older) in ids {
            self.connection
                .prepare_cached(
                    "UPDATE item SET state = 'superseded', other = ?2, since = ?3, ripe_at = NULL, reason = NULL \
                     WHERE kind = 'cart' AND id = ?1 AND (state <> 'superseded' OR other IS NOT ?2)",
                )?
                .execute(params![older, newest, format_time(now)])?;
        }
        Ok(())
    }

    /// Ends a relist: records that it did not have are gone, if it had as many as the list was said to have.
    pub fn finish_relist(
        &self,
        kind: ItemKind,
        number: u64,
        total_count: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Removed> {
        let work = || {
            let seen = self
                .connection
                .prepare_cached("SELECT count(*) FROM item WHERE kind = ?1 AND seen = ?2 AND state <> 'gone'")?
                .query_row(params![kind, to_i64(number)], |row| read_count(row, 0))?;
            if total_count.is_some_and(|total| seen < total) {
                return Ok(Removed::Unknown);
            }
            let gone: Vec<String> = self
                .connection
                .prepare_cached(
                    "UPDATE item SET before_gone = state, state = 'gone', since = ?3 WHERE kind = ?1 AND seen < ?2 \
                     AND state <> 'gone' RETURNING name",
                )?
                .query_map(params![kind, to_i64(number), format_time(now)], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            if kind == ItemKind::Cart {
                // The upload that is newest now may be one that was superseded.
                gone.iter().try_for_each(|name| self.supersede(name, now))?;
            }
            Ok(Removed::Gone(u64::try_from(gone.len()).unwrap_or(u64::MAX)))
        };
        self.map_error(work())
    }
}
