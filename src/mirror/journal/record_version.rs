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
        let Listed { id, name, sub_type, json, .. } = listed;
        let (created, updated) = (listed.created.map(format_time), listed.updated.map(format_time));
        let query = "SELECT stamp FROM item WHERE kind = ?1 AND id = ?2";
        let known: Option<String> = self.first(query, params![kind, id], |row| row.get(0))?;
        let Some(known) = known else {
            self.execute_and_revise(
                "INSERT INTO item (kind, id, name, sub_type, created, updated, stamp, state, seen, listed) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8, ?9)",
                params![kind, id, name, sub_type, created, updated, stamp, seen, json],
            )?;
            self.restore_known_archive(kind, id, &stamp, now)?;
            return Ok(None);
        };
        let changed = known != stamp;
        if changed {
            self.execute_and_revise(
                "UPDATE item SET name = ?3, created = ?4, updated = ?5, stamp = ?6, state = 'pending', \
                 state_before_gone = NULL, ready_at = NULL, requests = 0, status = NULL, quarantined_sha256 = NULL, \
                 newer_id = NULL, reason = CASE WHEN state IN ('pending', 'converting') THEN reason END \
                 WHERE kind = ?1 AND id = ?2",
                params![kind, id, name, created, updated, stamp],
            )?;
        } else {
            // A record that reappears continues from its former state.
            self.execute_and_revise(
                "UPDATE item SET state = coalesce(state_before_gone, 'pending'), state_before_gone = NULL \
                 WHERE kind = ?1 AND id = ?2 AND state = 'gone'",
                params![kind, id],
            )?;
        }
        self.execute_and_revise(
            "UPDATE item SET sub_type = ?3, listed = ?4 WHERE kind = ?1 AND id = ?2 AND listed <> ?4",
            params![kind, id, sub_type, json],
        )?;
        self.execute("UPDATE item SET seen = ?3 WHERE kind = ?1 AND id = ?2 AND seen < ?3", params![kind, id, seen])?;
        Ok(Some(changed))
    }
}
