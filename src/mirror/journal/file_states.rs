//! File state transitions: requested, stored, refused, quarantined, lost.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::items::{Archive, FileState, ItemKind, LOST_ARCHIVE};
use super::remaining_work::UNUSED;
use super::sql_values::{format_time, read_count, to_i64};
use super::transaction::{ReadTxn, WriteTxn};
use crate::archive_log::LogEntry;
use headland_base::error::Result;

/// Clears the archives of an item.
const NO_ARCHIVE: &str = "sha256 = NULL, earlier_sha256 = NULL, archive_stamp = NULL";

/// Meta key: archives were lost and not requested since.
const LOST: &str = "lost";

/// Prefix of meta keys with the reasons for missing job details; the job id follows.
const NO_DETAIL: &str = "no detail of job ";

/// Falls back to the archive of the earlier version, if any.
const FALL_BACK: &str = "sha256 = earlier_sha256, earlier_sha256 = NULL, archive_stamp = NULL";

impl ReadTxn {
    /// Whether archives were lost and not requested since.
    pub(crate) fn has_lost(&self) -> Result<bool> {
        Ok(self.get_meta(LOST)?.is_some_and(|text| text == "yes"))
    }

    /// Archives of all records, as entries of the archive log.
    pub(crate) fn logged_archives(&self) -> Result<Vec<LogEntry>> {
        let account = self.get_meta("account")?.unwrap_or_default();
        self.rows(
            "SELECT kind, id, archive_stamp, i.sha256, a.bytes, coalesce(file_name, ''), a.stored_at \
             FROM item i JOIN archive a ON a.sha256 = i.sha256 WHERE archive_stamp IS NOT NULL \
             UNION ALL SELECT '', '', stamp, sha256, bytes, file_name, '' FROM known_archive",
            [],
            |row| {
                Ok(LogEntry {
                    account: account.clone(),
                    kind: row.get(0)?,
                    id: row.get(1)?,
                    stamp: row.get(2)?,
                    sha256: row.get(3)?,
                    bytes: read_count(row, 4)?,
                    file_name: row.get(5)?,
                    taken_at: row.get(6)?,
                })
            },
        )
    }

    /// Jobs without a detail: id, name and the reason given by the service.
    pub(crate) fn without_detail(&self, limit: usize) -> Result<Vec<(String, String, String)>> {
        self.rows(
            "SELECT i.id, i.name, meta.value FROM meta JOIN item i \
             ON i.kind = 'job' AND i.id = substr(meta.name, length(?1) + 1) \
             WHERE meta.name >= ?1 AND meta.name < ?1 || char(0x10ffff) AND i.state <> 'gone' \
             ORDER BY i.created DESC LIMIT ?2",
            params![NO_DETAIL, to_i64(limit as u64)],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
    }

    /// Archives that only records removed by the service have, with the ids of these records.
    pub(crate) fn archives_of_removed(&self) -> Result<Vec<(String, String)>> {
        self.rows(
            "SELECT sha256, id FROM item WHERE state = 'gone' AND sha256 IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM item other WHERE other.sha256 = item.sha256 AND other.state <> 'gone')",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }
}

impl WriteTxn<'_> {
    /// Sets the file state of an item in the version `stamp`.
    ///
    /// Returns false and changes nothing if the item has changed since, or is superseded by a newer upload. A removed
    /// item stays removed and has the new state if it reappears.
    pub fn set_file(
        &self,
        kind: ItemKind,
        id: &str,
        stamp: &str,
        state: &FileState,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let query = "SELECT state FROM item WHERE kind = ?1 AND id = ?2 AND stamp = ?3 AND state <> 'superseded'";
        let before: Option<String> = self.first(query, params![kind, id, stamp], |row| row.get(0))?;
        let Some(before) = before else { return Ok(false) };
        let (mut ready_at, mut requests, mut reason, mut status) = (None, None, None, None);
        let (mut quarantined, mut newer) = (None, None);
        match state {
            FileState::Pending | FileState::Stored(_) | FileState::Gone => {}
            FileState::Converting { ready_at: time, requests: count } => {
                (ready_at, requests) = (Some(format_time(*time)), Some(*count));
            }
            FileState::NoCoverage { reason: text } => reason = Some(text),
            FileState::Failed { reason: text, status: code } => (reason, status) = (Some(text), code.as_ref()),
            FileState::Quarantined { sha256, reason: text } => (quarantined, reason) = (Some(sha256), Some(text)),
            FileState::Superseded { newer_id } => newer = Some(newer_id),
        }
        let new = state.as_str();
        self.execute(
            "UPDATE item SET state_before_gone = CASE WHEN state = 'gone' THEN ?3 END, \
             state = CASE WHEN state = 'gone' THEN 'gone' ELSE ?3 END, ready_at = ?4, \
             requests = coalesce(?5, requests), status = ?6, quarantined_sha256 = ?7, newer_id = ?8, \
             reason = CASE WHEN ?3 = 'converting' AND state IN ('pending', 'converting') THEN reason ELSE ?9 END \
             WHERE kind = ?1 AND id = ?2",
            params![kind, id, new, ready_at, requests, status, quarantined, newer, reason],
        )?;
        // A publication shows a running conversion like a file that was not requested yet.
        if before != new && before != "gone" && new != "converting" {
            self.revise()?;
        }
        match state {
            FileState::Stored(archive) => self.set_archive(kind, id, archive, now)?,
            FileState::NoCoverage { .. } => self.clear_archive(kind, id)?,
            _ => {}
        }
        Ok(true)
    }

    /// Stores the detail of an item, unless the item has changed since the request.
    pub fn set_detail(&self, kind: ItemKind, id: &str, stamp: &str, detail: &str) -> Result<bool> {
        let statement = "UPDATE item SET detail_stamp = stamp WHERE kind = ?1 AND id = ?2 AND stamp = ?3";
        let is_current = self.execute(statement, params![kind, id, stamp])? > 0;
        if is_current {
            let statement = "UPDATE item SET detail = ?3 WHERE kind = ?1 AND id = ?2 AND detail IS NOT ?3";
            self.execute_and_revise(statement, params![kind, id, detail])?;
        }
        Ok(is_current)
    }

    /// Stores why the service gives no detail of a job; `None` deletes the reason.
    pub(crate) fn set_no_detail(&self, id: &str, reason: Option<&str>) -> Result<()> {
        let name = format!("{NO_DETAIL}{id}");
        match reason {
            Some(reason) => self.set_meta(&name, reason),
            None => self.execute("DELETE FROM meta WHERE name = ?1", [name]).map(drop),
        }
    }

    /// Asks once more for the details that the service refused.
    pub(crate) fn ask_refused_details(&self) -> Result<()> {
        let refused = "UPDATE item SET detail_stamp = NULL WHERE kind = 'job' AND detail_stamp IS NOT NULL \
             AND ?1 || id IN (SELECT name FROM meta)";
        self.execute(refused, [NO_DETAIL]).map(drop)
    }

    /// Records that an archive is stored, whether or not an item refers to it.
    pub(crate) fn add_archive(&self, sha256: &str, bytes: u64, now: DateTime<Utc>) -> Result<()> {
        self.execute(
            "INSERT INTO archive (sha256, bytes, stored_at, folder) VALUES (?1, ?2, ?3, 'archives') \
             ON CONFLICT DO UPDATE SET bytes = excluded.bytes, stored_at = excluded.stored_at, folder = 'archives'",
            params![sha256, to_i64(bytes), format_time(now)],
        )
        .map(drop)
    }

    /// Sets the archive of an item. That of an earlier version is kept until the next publication, in case the new one
    /// is unreadable.
    fn set_archive(&self, kind: ItemKind, id: &str, archive: &Archive, now: DateTime<Utc>) -> Result<()> {
        self.add_archive(&archive.sha256, archive.bytes, now)?;
        self.revise()?;
        self.execute(
            "UPDATE item SET earlier_sha256 = CASE WHEN sha256 IS NOT ?3 AND archive_stamp IS NOT stamp \
             THEN coalesce(sha256, earlier_sha256) ELSE earlier_sha256 END, \
             sha256 = ?3, file_name = ?4, archive_stamp = stamp, \
             archive_revision = (SELECT number FROM revision) WHERE kind = ?1 AND id = ?2",
            params![kind, id, archive.sha256, archive.file_name],
        )?;
        self.clear_superseded(kind, id)
    }

    /// Clears the archives of an item, including that of an earlier version.
    fn clear_archive(&self, kind: ItemKind, id: &str) -> Result<()> {
        let statement = format!("UPDATE item SET {NO_ARCHIVE} WHERE kind = ?1 AND id = ?2 AND sha256 IS NOT NULL");
        self.execute_and_revise(&statement, params![kind, id])?;
        self.clear_superseded(kind, id)
    }

    /// Clears the archives of superseded uploads, which they keep until the newer upload has its own.
    fn clear_superseded(&self, kind: ItemKind, id: &str) -> Result<()> {
        if kind != ItemKind::Cart {
            return Ok(());
        }
        let statement = format!(
            "UPDATE item SET {NO_ARCHIVE} WHERE kind = 'cart' AND state = 'superseded' AND newer_id = ?1 \
             AND sha256 IS NOT NULL AND name = (SELECT name FROM item WHERE kind = 'cart' AND id = ?1)"
        );
        self.execute_and_revise(&statement, [id]).map(drop)
    }

    /// Quarantines an unreadable archive. Its items store the reason and fall back to the archive of their earlier
    /// version.
    pub(crate) fn quarantine(&self, sha256: &str, reason: &str) -> Result<()> {
        let statement = format!(
            "UPDATE item SET reason = CASE WHEN archive_stamp IS stamp THEN ?2 ELSE reason END, \
             quarantined_sha256 = CASE WHEN archive_stamp IS stamp THEN ?1 ELSE quarantined_sha256 END, \
             state = CASE WHEN state = 'stored' THEN 'quarantined' ELSE state END, state_before_gone = \
             CASE WHEN state_before_gone = 'stored' THEN 'quarantined' ELSE state_before_gone END, {FALL_BACK} \
             WHERE sha256 = ?1"
        );
        self.execute_and_revise(&statement, [sha256, reason])?;
        self.execute("UPDATE item SET earlier_sha256 = NULL WHERE earlier_sha256 = ?1", [sha256])?;
        self.execute("DELETE FROM known_archive WHERE sha256 = ?1", [sha256])?;
        self.execute("UPDATE archive SET folder = 'quarantine' WHERE sha256 = ?1", [sha256]).map(drop)
    }

    /// Marks an archive as missing or damaged. Its items request it again regardless of the filter, and nothing is
    /// published before that.
    pub(crate) fn mark_lost(&self, sha256: &str) -> Result<()> {
        let statement = format!(
            "UPDATE item SET reason = CASE WHEN state IN ('stored', 'pending', 'converting') THEN ?2 ELSE reason END, \
             state = CASE WHEN state = 'stored' THEN 'pending' ELSE state END, state_before_gone = \
             CASE WHEN state_before_gone = 'stored' THEN 'pending' ELSE state_before_gone END, {FALL_BACK} \
             WHERE sha256 = ?1 RETURNING state, newer_id"
        );
        let states: Vec<(String, Option<String>)> =
            self.rows(&statement, [sha256, LOST_ARCHIVE], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if !states.is_empty() {
            self.revise()?;
        }
        // A superseded upload is replaced by its newer one.
        for (_, newer) in states.iter().filter(|(state, _)| state == "superseded") {
            self.execute(
                "UPDATE item SET reason = ?2 WHERE kind = 'cart' AND id = ?1 AND state IN ('pending', 'converting')",
                params![newer, LOST_ARCHIVE],
            )?;
        }
        self.execute("UPDATE item SET earlier_sha256 = NULL WHERE earlier_sha256 = ?1", [sha256])?;
        self.execute("DELETE FROM known_archive WHERE sha256 = ?1", [sha256])?;
        if states.iter().any(|(state, _)| state != "gone") { self.set_lost(true) } else { Ok(()) }
    }

    /// Stores whether archives were lost and not requested since.
    pub(crate) fn set_lost(&self, has_lost: bool) -> Result<()> {
        self.set_meta(LOST, if has_lost { "yes" } else { "no" })
    }

    /// Stores an archive for the record with this stamp, in case the record is listed again.
    pub(super) fn add_known_archive(&self, stamp: &str, archive: &Archive) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO known_archive (stamp, sha256, file_name, bytes) VALUES (?1, ?2, ?3, ?4)",
            params![stamp, archive.sha256, archive.file_name, to_i64(archive.bytes)],
        )
        .map(drop)
    }

    /// Gives a new record the archive that an earlier journal knew.
    pub(super) fn restore_known_archive(
        &self,
        kind: ItemKind,
        id: &str,
        stamp: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let query = "SELECT sha256, file_name, bytes FROM known_archive WHERE stamp = ?1";
        let known = self.first(query, [stamp], |row| {
            Ok(Archive { sha256: row.get(0)?, file_name: row.get(1)?, bytes: read_count(row, 2)? })
        })?;
        let Some(archive) = known else { return Ok(()) };
        self.execute("UPDATE item SET state = 'stored' WHERE kind = ?1 AND id = ?2", params![kind, id])?;
        self.set_archive(kind, id, &archive, now)
    }

    /// Deletes the rows of an archive removed from the store.
    pub(crate) fn delete_archive(&self, sha256: &str) -> Result<()> {
        let statement = format!("DELETE FROM archive WHERE sha256 = ?1 AND {UNUSED}");
        if self.execute(&statement, [sha256])? > 0 {
            self.execute("DELETE FROM known_archive WHERE sha256 = ?1", [sha256])?;
        }
        Ok(())
    }
}
