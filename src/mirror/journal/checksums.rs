//! Checksums of the records received from the service: finds records damaged on disk and deletes them, so that the next
//! sync reads them again.
//!
//! Each checksum covers the columns of one reply. The mirror's own columns (states, times, counts) have none. `PRAGMA
//! integrity_check` compares most of these with their indexes.

use std::fmt;

use crc32fast::Hasher;
use rusqlite::types::ValueRef;
use rusqlite::{Row, params};

use super::items::Archive;
use super::sql_values::read_count;
use super::transaction::{ReadTxn, WriteTxn};
use crate::error::Result;

/// Columns of a listing, in the order of its checksum.
const LISTING: &str = "kind, id, name, uri, sub_type, created, updated, stamp, listed";
/// Number of these columns.
const LISTING_COLUMNS: usize = 9;

/// Prefix of the keys with the read state of location lists; they end with the device id.
const LOCATIONS_PREFIX: &str = "locations ";

/// Key of a damaged record.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RecordKey {
    /// Listing of a job or grain cart, by row number.
    Listing(i64),
    /// Detail of a job, by row number.
    Detail(i64),
    /// Record without a file, by the bytes of its key.
    Record(Vec<u8>, Vec<u8>),
    /// Location, by row number and device.
    Location(i64, String),
}

/// Record whose bytes differ from those written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    key: RecordKey,
    kind: String,
    id: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, kind, id } = self;
        match key {
            RecordKey::Listing(_) => write!(f, "the listing of {kind} {id}"),
            RecordKey::Detail(_) => write!(f, "the detail of {kind} {id}"),
            RecordKey::Record(..) => write!(f, "the record {id} of {kind}"),
            RecordKey::Location(_, device) => write!(f, "the location {id} of {kind} {device}"),
        }
    }
}

/// CRC-32 over the presence, length and bytes of each value, as eight hexadecimal digits.
pub(super) fn checksum<'a>(values: impl IntoIterator<Item = Option<&'a [u8]>>) -> String {
    let mut hasher = Hasher::new();
    for value in values {
        hasher.update(&[u8::from(value.is_some())]);
        let bytes = value.unwrap_or_default();
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    format!("{:08x}", hasher.finalize())
}

/// Checksum of texts.
pub(super) fn checksum_texts<const N: usize>(values: [Option<&str>; N]) -> String {
    checksum(values.map(|value| value.map(str::as_bytes)))
}

/// Bytes of a column; `None` if it is no text or blob.
fn column_bytes<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Option<&'a [u8]>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    })
}

fn lossy_text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(column_bytes(row, column)?.unwrap_or_default()).into_owned())
}

/// Checksum of columns.
fn checksum_columns<const N: usize>(row: &Row<'_>, columns: [usize; N]) -> rusqlite::Result<String> {
    let values = columns.into_iter().map(|column| column_bytes(row, column)).collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(checksum(values))
}

/// Checksum of the detail in `column`, with the key in the first two columns; `None` without a detail.
fn checksum_detail(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    column_bytes(row, column)?.map(|_| checksum_columns(row, [0, 1, column])).transpose()
}

/// Expected checksums of a row: of the listing or location, and of the detail.
type RowChecksums = (String, Option<String>);

fn checksum_item(row: &Row<'_>) -> rusqlite::Result<RowChecksums> {
    Ok((
        checksum_columns(row, std::array::from_fn::<_, LISTING_COLUMNS, _>(|column| column))?,
        checksum_detail(row, LISTING_COLUMNS)?,
    ))
}

fn checksum_record(row: &Row<'_>) -> rusqlite::Result<RowChecksums> {
    Ok((checksum_columns(row, [0, 1, 2])?, checksum_detail(row, 3)?))
}

fn checksum_location(row: &Row<'_>) -> rusqlite::Result<RowChecksums> {
    Ok((checksum_columns(row, [0, 1, 2, 3, 4])?, None))
}

/// Whether the stored checksums in `column` and the next one match.
fn match_stored(row: &Row<'_>, column: usize, (first, second): &RowChecksums) -> rusqlite::Result<[bool; 2]> {
    let found = [column_bytes(row, column)?, column_bytes(row, column.saturating_add(1))?];
    Ok([found[0] == Some(first.as_bytes()), found[1] == second.as_deref().map(str::as_bytes)])
}

impl ReadTxn {
    /// Damaged records.
    pub(in crate::mirror) fn damaged(&self) -> Result<Vec<Damaged>> {
        let all = || {
            let mut damaged = Vec::new();
            let query = format!("SELECT {LISTING}, detail, listed_crc32, detail_crc32, number FROM item");
            let mut items = self.connection.prepare(&query)?;
            let mut rows = items.query([])?;
            while let Some(row) = rows.next()? {
                let [listing, detail] = match_stored(row, 10, &checksum_item(row)?)?;
                let (number, kind, id) = (row.get(12)?, lossy_text(row, 0)?, lossy_text(row, 1)?);
                if !listing {
                    damaged.push(Damaged { key: RecordKey::Listing(number), kind, id });
                } else if !detail {
                    damaged.push(Damaged { key: RecordKey::Detail(number), kind, id });
                }
            }
            let query = "SELECT kind, id, listed, detail, listed_crc32, detail_crc32 FROM record";
            let mut records = self.connection.prepare(query)?;
            let mut rows = records.query([])?;
            while let Some(row) = rows.next()? {
                if match_stored(row, 4, &checksum_record(row)?)? != [true; 2] {
                    let key = |column| column_bytes(row, column).map(|bytes| bytes.unwrap_or_default().to_vec());
                    let key = RecordKey::Record(key(0)?, key(1)?);
                    damaged.push(Damaged { key, kind: lossy_text(row, 0)?, id: lossy_text(row, 1)? });
                }
            }
            let query = "SELECT device_kind, device_id, record_id, time, json, crc32, NULL, number FROM location";
            let mut locations = self.connection.prepare(query)?;
            let mut rows = locations.query([])?;
            while let Some(row) = rows.next()? {
                if match_stored(row, 5, &checksum_location(row)?)? != [true; 2] {
                    let key = RecordKey::Location(row.get(7)?, lossy_text(row, 1)?);
                    damaged.push(Damaged { key, kind: lossy_text(row, 0)?, id: lossy_text(row, 2)? });
                }
            }
            Ok(damaged)
        };
        self.map_error(all())
    }
}

impl WriteTxn<'_> {
    /// Deletes damaged records, so that the next sync lists everything and reads them again. Nothing is published
    /// before that.
    ///
    /// Archives of deleted jobs are found again by the stamps of their records.
    pub(in crate::mirror) fn forget_damaged(&self) -> Result<Vec<Damaged>> {
        let damaged = self.damaged()?;
        if damaged.is_empty() {
            return Ok(damaged);
        }
        let work = || {
            for each in &damaged {
                self.forget_record(&each.key)?;
            }
            self.connection.execute("DELETE FROM about WHERE name = 'relisted at'", []).map(drop)
        };
        self.map_error(work())?;
        self.set_lost(true)?;
        Ok(damaged)
    }

    fn forget_record(&self, key: &RecordKey) -> rusqlite::Result<()> {
        let run = |query: &str, values: &[&dyn rusqlite::ToSql]| self.connection.prepare_cached(query)?.execute(values);
        match key {
            RecordKey::Listing(number) => return self.forget_item(*number),
            RecordKey::Detail(number) => {
                let query = "UPDATE item SET detail = NULL, detail_of = NULL, detail_crc32 = NULL WHERE number = ?1";
                run(query, params![number])?
            }
            RecordKey::Record(kind, id) => {
                let query = "DELETE FROM record WHERE CAST(kind AS BLOB) = ?1 AND CAST(id AS BLOB) = ?2";
                run(query, params![kind, id])?
            }
            RecordKey::Location(number, device) => {
                run("DELETE FROM location WHERE number = ?1", params![number])?;
                // The device's list is read again to its end; if the device is unknown, all lists are.
                let query = "DELETE FROM about WHERE substr(name, 1, length(?1)) = ?1 \
                             AND (?2 = '' OR substr(name, -length(?2)) = ?2)";
                let of_device = run(query, params![LOCATIONS_PREFIX, format!("/{device}")])?;
                if of_device > 0 { of_device } else { run(query, params![LOCATIONS_PREFIX, ""])? }
            }
        };
        Ok(())
    }

    /// Deletes a job or grain cart as if the journal had been lost for it alone.
    fn forget_item(&self, number: i64) -> rusqlite::Result<()> {
        let known = self
            .connection
            .prepare_cached(
                "SELECT archive_of, i.sha256, file_name, coalesce(bytes, 0) FROM item i \
                 LEFT JOIN archive a ON a.sha256 = i.sha256 \
                 WHERE number = ?1 AND archive_of IS NOT NULL AND i.sha256 IS NOT NULL AND file_name IS NOT NULL",
            )?
            .query_map([number], |row| {
                let archive = Archive { sha256: row.get(1)?, file_name: row.get(2)?, bytes: read_count(row, 3)? };
                Ok((row.get::<_, String>(0)?, archive))
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        self.connection.prepare_cached("DELETE FROM item WHERE number = ?1")?.execute([number])?;
        for (stamp, archive) in known {
            // Like an archive unknown to any journal, so that it is not removed as unreferenced.
            self.connection
                .prepare_cached("DELETE FROM archive WHERE sha256 = ?1 AND users = 0")?
                .execute([&archive.sha256])?;
            self.add_known_archive(&stamp, &archive)?;
        }
        Ok(())
    }
}
