//! Stores pages of lists: new and changed records, and after a full list the removed ones.

use chrono::{DateTime, Utc};
use rusqlite::params;
use sha2::{Digest as _, Sha256};

use super::items::{ItemKind, LOST_ARCHIVE, REFUSED};
use super::sql_values::{format_time, read_count, to_i64};
use super::transaction::WriteTxn;
use headland_base::error::Result;
use headland_base::hex::hex;

/// Record of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Address of its detail.
    pub uri: Option<String>,
    /// `SubType` of the list.
    pub sub_type: Option<String>,
    /// Upload time.
    pub created: Option<DateTime<Utc>>,
    /// Time of the last change by the service.
    pub updated: Option<DateTime<Utc>>,
    /// Whole item, as JSON.
    pub json: String,
}

impl Listed {
    /// Stamp of a record version: unique to the record, and changed with its name or times.
    #[must_use]
    pub fn stamp(&self, kind: ItemKind) -> String {
        let time = |time: Option<DateTime<Utc>>| time.map(|time| time.to_rfc3339()).unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [kind.as_str(), &self.id, &time(self.created), &time(self.updated), &self.name] {
            hash.update(part.as_bytes());
            // No text of a record contains this byte, so the parts cannot run together.
            hash.update([0]);
        }
        hex(hash.finalize().get(..16).unwrap_or_default())
    }
}

/// Changes found in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Records that were unknown.
    pub new: u64,
    /// Records changed since their last listing.
    pub changed: u64,
    /// Records without changes.
    pub unchanged: u64,
}

/// Result of a full list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// Number of records removed since the last full list.
    Gone(u64),
    /// The pages held fewer records than `TotalCount`, because the list changed while it was read. The next full list
    /// decides.
    Unknown,
}

impl WriteTxn<'_> {
    /// Stores a page of the list of jobs or grain carts. `relist` is the number of the full list it belongs to.
    pub fn list_page(
        &self,
        kind: ItemKind,
        page: &[Listed],
        relist: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Changes> {
        let mut changes = Changes::default();
        let seen = relist.map_or_else(|| Ok(self.relist()?.number), Ok)?;
        for listed in page {
            match self.list_record(kind, listed, to_i64(seen), now)? {
                None => changes.new = changes.new.saturating_add(1),
                Some(true) => changes.changed = changes.changed.saturating_add(1),
                Some(false) => changes.unchanged = changes.unchanged.saturating_add(1),
            }
            if kind == ItemKind::Cart {
                self.supersede(&listed.name, now)?;
            }
        }
        Ok(changes)
    }

    /// Whether a known record changed; `None` if it was unknown.
    fn list_record(&self, kind: ItemKind, listed: &Listed, seen: i64, now: DateTime<Utc>) -> Result<Option<bool>> {
        let stamp = listed.stamp(kind);
        let (created, updated) = (listed.created.map(format_time), listed.updated.map(format_time));
        let now_text = format_time(now);
        let known: Option<String> =
            self.first("SELECT stamp FROM item WHERE kind = ?1 AND id = ?2", params![kind, listed.id], |row| {
                row.get(0)
            })?;
        let Some(known) = known else {
            let Listed { id, name, uri, sub_type, json, .. } = listed;
            self.execute(
                "INSERT INTO item (kind, id, name, uri, sub_type, created, updated, stamp, state, since, seen, listed, \
                 listed_crc32) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'unasked', ?9, ?10, ?11, \
                 checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?11))",
                params![kind, id, name, uri, sub_type, created, updated, stamp, now_text, seen, json],
            )?;
            self.restore_known_archive(kind, id, &stamp, now)?;
            return Ok(None);
        };
        let changed = known != stamp;
        if changed {
            self.execute(
                "UPDATE item SET name = ?3, created = ?4, updated = ?5, stamp = ?6, state = 'unasked', since = ?7, \
                 ripe_at = NULL, times = 0, status = NULL, other = NULL, before_gone = NULL, \
                 reason = CASE WHEN state IN ('unasked', 'asked') THEN reason END WHERE kind = ?1 AND id = ?2",
                params![kind, listed.id, listed.name, created, updated, stamp, now_text],
            )?;
        } else {
            // A record that reappears continues from its former state.
            self.execute(
                "UPDATE item SET state = coalesce(before_gone, 'unasked'), before_gone = NULL, since = ?3 \
                 WHERE kind = ?1 AND id = ?2 AND state = 'gone'",
                params![kind, listed.id, now_text],
            )?;
        }
        self.execute(
            "UPDATE item SET uri = ?4, sub_type = ?5, listed = ?9, seen = max(seen, ?10), \
             listed_crc32 = checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) WHERE kind = ?1 AND id = ?2",
            params![
                kind,
                listed.id,
                listed.name,
                listed.uri,
                listed.sub_type,
                created,
                updated,
                stamp,
                listed.json,
                seen
            ],
        )?;
        Ok(Some(changed))
    }

    /// Keeps only the newest grain cart file of a name, the one with the highest id. Files with non-numeric ids are all
    /// kept (field notes, Values).
    fn supersede(&self, name: &str, now: DateTime<Utc>) -> Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        let query = "SELECT id FROM item WHERE kind = 'cart' AND name = ?1 AND state <> 'gone'";
        let ids: Vec<String> = self.rows(query, [name], |row| row.get(0))?;
        let mut ids: Vec<(u128, String)> = ids.into_iter().filter_map(|id| Some((id.parse().ok()?, id))).collect();
        ids.sort_unstable();
        let Some((_, newest)) = ids.pop() else { return Ok(()) };
        self.execute(
            "UPDATE item SET state = 'unasked', since = ?2, other = NULL WHERE kind = 'cart' AND id = ?1 \
             AND state = 'superseded'",
            params![newest, format_time(now)],
        )?;
        // The newest upload replaces those whose archives were lost.
        self.execute(
            "UPDATE item SET reason = ?3 WHERE kind = 'cart' AND id = ?1 AND state = 'unasked' AND EXISTS \
             (SELECT 1 FROM item lost WHERE lost.kind = 'cart' AND lost.name = ?2 AND lost.state = 'unasked' \
             AND lost.reason = ?3)",
            params![newest, name, LOST_ARCHIVE],
        )?;
        for (_, older) in ids {
            self.execute(
                "UPDATE item SET state = 'superseded', other = ?2, since = ?3, ripe_at = NULL, reason = NULL \
                 WHERE kind = 'cart' AND id = ?1 AND (state <> 'superseded' OR other IS NOT ?2)",
                params![older, newest, format_time(now)],
            )?;
        }
        Ok(())
    }

    /// Ends a full list. Records that it lacks are marked as removed, if it had at least `total_count` records.
    pub fn finish_relist(
        &self,
        kind: ItemKind,
        number: u64,
        total_count: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Removed> {
        let number = to_i64(number);
        let count = "SELECT count(*) FROM item WHERE kind = ?1 AND seen = ?2 AND state <> 'gone'";
        let seen = self.first(count, params![kind, number], |row| read_count(row, 0))?.unwrap_or(0);
        if total_count.is_some_and(|total| seen < total) {
            return Ok(Removed::Unknown);
        }
        let gone: Vec<String> = self.rows(
            "UPDATE item SET before_gone = state, state = 'gone', since = ?3 WHERE kind = ?1 AND seen < ?2 \
             AND state <> 'gone' RETURNING name",
            params![kind, number, format_time(now)],
            |row| row.get(0),
        )?;
        if kind == ItemKind::Cart {
            // The newest remaining upload may be one that was superseded.
            gone.iter().try_for_each(|name| self.supersede(name, now))?;
        }
        // What was refused may be permitted by now, and costs a call for each full list.
        self.execute(
            "UPDATE item SET state = 'asked', ripe_at = ?3, times = 0, reason = NULL, status = NULL \
             WHERE kind = ?1 AND state = 'failed' AND status = ?2",
            params![kind, REFUSED, format_time(now)],
        )?;
        if kind == ItemKind::Job {
            self.ask_refused_details()?;
        }
        Ok(Removed::Gone(u64::try_from(gone.len()).unwrap_or(u64::MAX)))
    }
}
