//! Checksums of the records received from the service: finds records damaged on disk and deletes them, so that the next
//! sync reads them again.
//!
//! Each checksum covers the columns of one reply. The mirror's own columns (states, times, counts) have none. `PRAGMA
//! integrity_check` compares most of these with their indexes.

use crc32fast::Hasher;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

use super::items::Archive;
use super::sql_values::read_count;
use super::transaction::{ReadTxn, WriteTxn};
use headland_base::error::Result;

/// Conditions of damaged rows.
const BAD_LISTING: &str =
    "listed_crc32 IS NOT checksum(kind, id, name, uri, sub_type, created, updated, stamp, listed)";
const BAD_DETAIL: &str = "detail_crc32 IS NOT CASE WHEN detail IS NOT NULL THEN checksum(kind, id, detail) END";
const BAD_RECORD: &str = "(listed_crc32 IS NOT checksum(kind, id, listed) \
                          OR detail_crc32 IS NOT CASE WHEN detail IS NOT NULL THEN checksum(kind, id, detail) END)";
const BAD_LOCATION: &str = "crc32 IS NOT checksum(device_kind, device_id, record_id, time, json)";

/// Adds the SQL function `checksum`.
pub(super) fn add_function(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("checksum", -1, flags, |call| Ok(checksum(call)))
}

/// CRC-32 over the presence, length and bytes of each value, as eight hexadecimal digits.
fn checksum(call: &Context<'_>) -> String {
    let mut hasher = Hasher::new();
    for index in 0..call.len() {
        let (is_present, bytes): (bool, &[u8]) = match call.get_raw(index) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => (true, bytes),
            _ => (false, &[]),
        };
        hasher.update(&[u8::from(is_present)]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    format!("{:08x}", hasher.finalize())
}

impl ReadTxn {
    /// Names of the damaged records.
    pub(crate) fn damaged(&self) -> Result<Vec<String>> {
        let query = format!(
            "SELECT 'the listing of ' || kind || ' ' || id FROM item WHERE {BAD_LISTING} \
             UNION ALL SELECT 'the detail of ' || kind || ' ' || id FROM item WHERE {BAD_DETAIL} AND NOT {BAD_LISTING} \
             UNION ALL SELECT 'the record ' || id || ' of ' || kind FROM record WHERE {BAD_RECORD} \
             UNION ALL SELECT 'the location ' || record_id || ' of ' || device_kind || ' ' || device_id FROM location \
             WHERE {BAD_LOCATION}"
        );
        // Damaged bytes may not be UTF-8.
        self.rows(&query, [], |row| Ok(String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned()))
    }
}

impl WriteTxn<'_> {
    /// Deletes damaged records and returns their names. The next sync lists everything and reads them again. Nothing is
    /// published before that.
    ///
    /// Archives of deleted jobs are found again by the stamps of their records, as if the journal had been lost for these
    /// jobs alone.
    pub(crate) fn forget_damaged(&self) -> Result<Vec<String>> {
        let damaged = self.damaged()?;
        if damaged.is_empty() {
            return Ok(damaged);
        }
        let known = self.rows(
            &format!(
                "SELECT archive_of, i.sha256, file_name, coalesce(bytes, 0) FROM item i \
                 LEFT JOIN archive a ON a.sha256 = i.sha256 \
                 WHERE {BAD_LISTING} AND archive_of IS NOT NULL AND i.sha256 IS NOT NULL AND file_name IS NOT NULL"
            ),
            [],
            |row| {
                let archive = Archive { sha256: row.get(1)?, file_name: row.get(2)?, bytes: read_count(row, 3)? };
                Ok((row.get::<_, String>(0)?, archive))
            },
        )?;
        self.execute(&format!("DELETE FROM item WHERE {BAD_LISTING}"), [])?;
        for (stamp, archive) in known {
            // Like an archive unknown to any journal, so that it is not removed as unreferenced.
            self.delete_archive(&archive.sha256)?;
            self.add_known_archive(&stamp, &archive)?;
        }
        let no_detail = "UPDATE item SET detail = NULL, detail_of = NULL, detail_crc32 = NULL";
        self.execute(&format!("{no_detail} WHERE {BAD_DETAIL}"), [])?;
        self.execute(&format!("DELETE FROM record WHERE {BAD_RECORD}"), [])?;
        if self.execute(&format!("DELETE FROM location WHERE {BAD_LOCATION}"), [])? > 0 {
            // The lists are read again to their ends.
            self.execute("DELETE FROM about WHERE substr(name, 1, 10) = 'locations '", [])?;
        }
        self.execute("DELETE FROM about WHERE name = 'relisted at'", [])?;
        self.set_lost(true)?;
        Ok(damaged)
    }
}
