//! File state transitions: requested, stored, refused, quarantined, lost.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::items::{Archive, FileState, ItemKind, LOST_ARCHIVE};
use super::sql_values::{format_time, read_count, to_i64};
use super::transaction::{ReadTxn, WriteTxn};
use crate::archive_log::LogEntry;
use headland_base::error::Result;

/// Clears the archives of an item.
const NO_ARCHIVE: &str = "sha256 = NULL, earlier = NULL, archive_of = NULL";

/// Meta key: archives were lost and not requested since.
const LOST: &str = "lost";

/// Prefix of meta keys with the reasons for missing job details; the job id follows.
const NO_DETAIL: &str = "no detail of job ";

/// Falls back to the archive of the earlier version, if any.
const FALL_BACK: &str = "sha256 = earlier, earlier = NULL, archive_of = NULL";

impl ReadTxn {
    /// Whether archives were lost and not requested since.
    pub(crate) fn has_lost(&self) -> Result<bool> {
        Ok(self.get_meta(LOST)?.is_some_and(|text| text == "yes"))
    }

    /// Archives of all records, as entries of the archive log.
    pub(crate) fn logged_archives(&self) -> Result<Vec<LogEntry>> {
        let account = self.get_meta("account")?.unwrap_or_default();
        self.rows(
            "SELECT kind, id, archive_of, i.sha256, a.bytes, coalesce(file_name, ''), a.taken_at \
             FROM item i JOIN archive a ON a.sha256 = i.sha256 WHERE archive_of IS NOT NULL \
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
            "SELECT i.id, i.name, about.value FROM about JOIN item i \
             ON i.kind = 'job' AND i.id = substr(about.name, length(?1) + 1) \
             WHERE about.name >= ?1 AND about.name < ?1 || char(0x10ffff) AND i.state <> 'gone' \
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
        if *state == FileState::Gone {
            return self.set_gone(kind, id, stamp, now);
        }
        let (mut ready_at, mut times, mut reason, mut status, mut other) = (None, None, None, None, None);
        match state {
            FileState::Unasked | FileState::Have(_) | FileState::Gone => {}
            FileState::Asked { ready_at: time, times: count } => {
                (ready_at, times) = (Some(format_time(*time)), Some(*count));
            }
            FileState::NoCoverage { reason: text } => reason = Some(text),
            FileState::Failed { reason: text, status: code } => (reason, status) = (Some(text), code.as_ref()),
            FileState::Quarantined { sha256, reason: text } => (other, reason) = (Some(sha256), Some(text)),
            FileState::Superseded { newer_id } => other = Some(newer_id),
        }
        let updated = self.execute(
            "UPDATE item SET before_gone = CASE WHEN state = 'gone' THEN ?4 END, \
             state = CASE WHEN state = 'gone' THEN 'gone' ELSE ?4 END, since = ?5, \
             ripe_at = ?6, times = coalesce(?7, times), status = ?9, other = ?10, \
             reason = CASE WHEN ?4 = 'asked' AND state IN ('unasked', 'asked') THEN reason ELSE ?8 END \
             WHERE kind = ?1 AND id = ?2 AND stamp = ?3 AND state <> 'superseded'",
            params![kind, id, stamp, state.as_str(), format_time(now), ready_at, times, reason, status, other],
        )?;
        if updated == 0 {
            return Ok(false);
        }
        match state {
            FileState::Have(archive) => self.set_archive(kind, id, archive, now)?,
            FileState::NoCoverage { .. } => self.clear_archive(kind, id)?,
            _ => {}
        }
        Ok(true)
    }

    fn set_gone(&self, kind: ItemKind, id: &str, stamp: &str, now: DateTime<Utc>) -> Result<bool> {
        let updated = self.execute(
            "UPDATE item SET before_gone = state, state = 'gone', since = ?4 \
             WHERE kind = ?1 AND id = ?2 AND stamp = ?3 AND state <> 'gone'",
            params![kind, id, stamp, format_time(now)],
        )?;
        Ok(updated > 0)
    }

    /// Stores the detail of an item, unless the item has changed since the request.
    pub fn set_detail(&self, kind: ItemKind, id: &str, stamp: &str, detail: &str) -> Result<bool> {
        let kept = self.execute(
            "UPDATE item SET detail = ?4, detail_of = stamp, detail_crc32 = checksum(?1, ?2, ?4) \
             WHERE kind = ?1 AND id = ?2 AND stamp = ?3",
            params![kind, id, stamp, detail],
        )?;
        Ok(kept > 0)
    }

    /// Stores why the service gives no detail of a job; `None` deletes the reason.
    pub(crate) fn set_no_detail(&self, id: &str, reason: Option<&str>) -> Result<()> {
        let name = format!("{NO_DETAIL}{id}");
        match reason {
            Some(reason) => self.set_meta(&name, reason),
            None => self.execute("DELETE FROM about WHERE name = ?1", [name]).map(drop),
        }
    }

    /// Asks once more for the details that the service refused.
    pub(crate) fn ask_refused_details(&self) -> Result<()> {
        let refused = "UPDATE item SET detail_of = NULL WHERE kind = 'job' AND detail_of IS NOT NULL \
             AND ?1 || id IN (SELECT name FROM about)";
        self.execute(refused, [NO_DETAIL]).map(drop)
    }

    /// Records that an archive is stored, whether or not an item refers to it.
    pub(crate) fn add_archive(&self, sha256: &str, bytes: u64, now: DateTime<Utc>) -> Result<()> {
        self.execute(
            "INSERT INTO archive (sha256, bytes, taken_at, place) VALUES (?1, ?2, ?3, 'archives') \
             ON CONFLICT DO UPDATE SET bytes = excluded.bytes, taken_at = excluded.taken_at, place = 'archives'",
            params![sha256, to_i64(bytes), format_time(now)],
        )
        .map(drop)
    }

    /// Sets the archive of an item. That of an earlier version is kept until the next publication, in case the new one
    /// is unreadable.
    fn set_archive(&self, kind: ItemKind, id: &str, archive: &Archive, now: DateTime<Utc>) -> Result<()> {
        self.add_archive(&archive.sha256, archive.bytes, now)?;
        self.execute(
            "UPDATE item SET earlier = CASE WHEN sha256 IS NOT ?3 AND archive_of IS NOT stamp \
             THEN coalesce(sha256, earlier) ELSE earlier END, \
             sha256 = ?3, file_name = ?4, archive_of = stamp, \
             archive_revision = (SELECT number + 1 FROM revision) WHERE kind = ?1 AND id = ?2",
            params![kind, id, archive.sha256, archive.file_name],
        )?;
        self.clear_superseded(kind, id)
    }

    /// Clears the archives of an item, including that of an earlier version.
    fn clear_archive(&self, kind: ItemKind, id: &str) -> Result<()> {
        let statement = format!("UPDATE item SET {NO_ARCHIVE} WHERE kind = ?1 AND id = ?2");
        self.execute(&statement, params![kind, id])?;
        self.clear_superseded(kind, id)
    }

    /// Clears the archives of superseded uploads, which they keep until the newer upload has its own.
    fn clear_superseded(&self, kind: ItemKind, id: &str) -> Result<()> {
        if kind != ItemKind::Cart {
            return Ok(());
        }
        let statement = format!(
            "UPDATE item SET {NO_ARCHIVE} WHERE kind = 'cart' AND state = 'superseded' AND other = ?1 \
             AND name = (SELECT name FROM item WHERE kind = 'cart' AND id = ?1)"
        );
        self.execute(&statement, [id]).map(drop)
    }

    /// Quarantines an unreadable archive. Its items store the reason and fall back to the archive of their earlier
    /// version.
    pub(crate) fn quarantine(&self, sha256: &str, reason: &str, now: DateTime<Utc>) -> Result<()> {
        let statement = format!(
            "UPDATE item SET reason = CASE WHEN archive_of IS stamp THEN ?2 ELSE reason END, \
             other = CASE WHEN archive_of IS stamp THEN ?1 ELSE other END, since = ?3, \
             state = CASE WHEN state = 'have' THEN 'quarantined' ELSE state END, \
             before_gone = CASE WHEN before_gone = 'have' THEN 'quarantined' ELSE before_gone END, {FALL_BACK} \
             WHERE sha256 = ?1"
        );
        self.execute(&statement, params![sha256, reason, format_time(now)])?;
        self.execute("UPDATE item SET earlier = NULL WHERE earlier = ?1", [sha256])?;
        self.execute("UPDATE archive SET place = 'quarantine' WHERE sha256 = ?1", [sha256]).map(drop)
    }

    /// Marks an archive as missing or damaged. Its items request it again regardless of the filter, and nothing is
    /// published before that.
    pub(crate) fn mark_lost(&self, sha256: &str, now: DateTime<Utc>) -> Result<()> {
        let statement = format!(
            "UPDATE item SET state = CASE WHEN state = 'have' THEN 'unasked' ELSE state END, since = ?2, \
             before_gone = CASE WHEN before_gone = 'have' THEN 'unasked' ELSE before_gone END, \
             reason = CASE WHEN state IN ('have', 'unasked', 'asked') THEN ?3 ELSE reason END, {FALL_BACK} \
             WHERE sha256 = ?1 RETURNING state, other"
        );
        let states: Vec<(String, Option<String>)> =
            self.rows(&statement, params![sha256, format_time(now), LOST_ARCHIVE], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        // A superseded upload is replaced by its newer one.
        for (_, newer) in states.iter().filter(|(state, _)| state == "superseded") {
            self.execute(
                "UPDATE item SET reason = ?2 WHERE kind = 'cart' AND id = ?1 AND state IN ('unasked', 'asked')",
                params![newer, LOST_ARCHIVE],
            )?;
        }
        self.execute("UPDATE item SET earlier = NULL WHERE earlier = ?1", [sha256])?;
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
        self.execute("UPDATE item SET state = 'have' WHERE kind = ?1 AND id = ?2", params![kind, id])?;
        self.set_archive(kind, id, &archive, now)
    }

    /// Deletes the row of an archive removed from the store.
    pub(crate) fn delete_archive(&self, sha256: &str) -> Result<()> {
        self.execute("DELETE FROM archive WHERE sha256 = ?1 AND users = 0", [sha256]).map(drop)
    }
}
