//! Versions of records: compares a listed record with the stored one. The file of a changed record is requested again.

use chrono::{DateTime, Utc};
use rusqlite::params;
use sha2::{Digest as _, Sha256};

use super::items::ItemKind;
use super::sql_values::format_time;
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

impl WriteTxn<'_> {
    /// Whether a known record changed; `None` if it was unknown.
    pub(super) fn list_record(
        &self,
        kind: ItemKind,
        listed: &Listed,
        seen: i64,
        now: DateTime<Utc>,
    ) -> Result<Option<bool>> {
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
}
