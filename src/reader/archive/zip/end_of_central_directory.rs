//! Finds the end of central directory record of a zip (APPNOTE 4.3.16, zip64: 4.3.14) and its directory.

use std::sync::Arc;

use crate::archive::endian::{u16_le, u32_le, u64_le};
use crate::archive::read_at::{ReadAt, read_exact_at};

/// The signature of an entry of the directory.
pub(super) const ENTRY_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
const END_SIGNATURE: [u8; 4] = *b"PK\x05\x06";
const END_SIZE: usize = 22;
const END_64_SIGNATURE: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64_SIGNATURE: [u8; 4] = *b"PK\x06\x07";

/// The location of the directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectoryLocation {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) entries: u64,
    /// The number of bytes before the archive, such as those of a self-extracting program.
    pub(super) prefix: u64,
}

/// End records whose comment ends with the file, and those whose comment ends before.
pub(super) type EndRecords =
    (Vec<std::result::Result<DirectoryLocation, String>>, Vec<std::result::Result<DirectoryLocation, String>>);

/// Finds end records in the last bytes of a file of `size` bytes.
pub(super) fn find_end_records(store: &Arc<dyn ReadAt>, size: u64) -> std::result::Result<EndRecords, String> {
    let tail_size = size.min(END_SIZE as u64 + u64::from(u16::MAX));
    let tail_start = size.saturating_sub(tail_size);
    let tail = read_exact_at(store, tail_start, tail_size)?;
    let mut exact_ends = Vec::new();
    let mut loose_ends = Vec::new();
    for index in (0..tail.len().saturating_sub(END_SIZE - 1)).rev() {
        if tail.get(index..index + 4) != Some(&END_SIGNATURE[..]) {
            continue;
        }
        let comment = usize::from(u16_le(&tail, index + 20).unwrap_or(0));
        let end = index + END_SIZE + comment;
        if end > tail.len() {
            continue;
        }
        let found = locate(store, &tail, index, tail_start);
        if end == tail.len() { exact_ends.push(found) } else { loose_ends.push(found) }
    }
    Ok((exact_ends, loose_ends))
}

fn locate(
    store: &Arc<dyn ReadAt>,
    tail: &[u8],
    index: usize,
    tail_start: u64,
) -> std::result::Result<DirectoryLocation, String> {
    let truncated = || "its end record is truncated".to_owned();
    let end_offset = tail_start + index as u64;
    let disk = u16_le(tail, index + 4).ok_or_else(truncated)?;
    let entries = u16_le(tail, index + 10).ok_or_else(truncated)?;
    let size = u32_le(tail, index + 12).ok_or_else(truncated)?;
    let offset = u32_le(tail, index + 16).ok_or_else(truncated)?;
    let (mut disk, mut entries, mut size, mut offset) =
        (u32::from(disk), u64::from(entries), u64::from(size), u64::from(offset));
    let mut directory_end = end_offset;
    if let Some(locator_offset) = end_offset.checked_sub(20)
        && let Ok(locator) = read_exact_at(store, locator_offset, 20)
        && locator.starts_with(&LOCATOR_64_SIGNATURE)
        && (entries == 0xFFFF || size == 0xFFFF_FFFF || offset == 0xFFFF_FFFF || disk == 0xFFFF)
    {
        let claimed = u64_le(&locator, 8).ok_or_else(truncated)?;
        // A prefix shifts the record, which is then directly before its locator.
        let before_locator = locator_offset.saturating_sub(56);
        let (record, record_offset) = [claimed, before_locator]
            .into_iter()
            .find_map(|offset| {
                read_exact_at(store, offset, 56)
                    .ok()
                    .filter(|record| record.starts_with(&END_64_SIGNATURE))
                    .map(|record| (record, offset))
            })
            .ok_or("its zip64 end record is not at the offset in its locator")?;
        disk = u32_le(&record, 16).ok_or_else(truncated)?;
        entries = u64_le(&record, 32).ok_or_else(truncated)?;
        size = u64_le(&record, 40).ok_or_else(truncated)?;
        offset = u64_le(&record, 48).ok_or_else(truncated)?;
        directory_end = record_offset;
    }
    if disk != 0 {
        return Err(
            "it is one part of a split archive: join the parts (`zip -s 0 part.zip --out whole.zip`)".to_owned()
        );
    }
    let start = directory_end.checked_sub(size).ok_or("its central directory is larger than the file")?;
    let prefix = start.checked_sub(offset);
    // Offsets count from the start of the archive. Some tools count them from the start of the file.
    for (offset, prefix) in prefix.map(|prefix| (start, prefix)).into_iter().chain([(offset, 0)]) {
        let begins = read_exact_at(store, offset, 4.min(size)).is_ok_and(|bytes| size == 0 || bytes == ENTRY_SIGNATURE);
        if begins && offset.saturating_add(size) <= directory_end {
            return Ok(DirectoryLocation { offset, size, entries, prefix });
        }
    }
    Err("its central directory is not at the offset in its end record".to_owned())
}
