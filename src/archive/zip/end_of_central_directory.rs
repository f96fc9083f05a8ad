//! The end records of zips: where one is, and where it puts its directory.

use std::sync::Arc;

use crate::archive::endian::{u16_le, u32_le, u64_le};
use crate::archive::read_at::{ReadAt, exact};

/// What an entry of the directory begins with.
pub(super) const ENTRY: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const END_SIZE: usize = 22;
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";

/// Where the directory is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) entries: u64,
    /// What stands before the archive, such as a program that unpacks it.
    pub(super) prefix: u64,
}

/// What the end records of a zip say: those that end with the file, and those that end before its end.
pub(super) type Ends = (Vec<std::result::Result<Place, String>>, Vec<std::result::Result<Place, String>>);

/// The end records in the last bytes of `size`.
pub(super) fn ends(store: &Arc<dyn ReadAt>, size: u64) -> std::result::Result<Ends, String> {
    let tail_size = size.min(END_SIZE as u64 + u64::from(u16::MAX));
    let tail_start = size.saturating_sub(tail_size);
    let tail = exact(store, tail_start, tail_size)?;
    let mut exact_ends = Vec::new();
    let mut loose_ends = Vec::new();
    for at in (0..tail.len().saturating_sub(END_SIZE - 1)).rev() {
        if tail.get(at..at + 4) != Some(&END[..]) {
            continue;
        }
        let comment = usize::from(u16_le(&tail, at + 20).unwrap_or(0));
        let end = at + END_SIZE + comment;
        if end > tail.len() {
            continue;
        }
        let found = place(store, &tail, at, tail_start);
        if end == tail.len() { exact_ends.push(found) } else { loose_ends.push(found) }
    }
    Ok((exact_ends, loose_ends))
}

fn place(store: &Arc<dyn ReadAt>, tail: &[u8], at: usize, tail_start: u64) -> std::result::Result<Place, String> {
    let cut = || "its end record is cut".to_owned();
    let end_at = tail_start + at as u64;
    let disk = u16_le(tail, at + 4).ok_or_else(cut)?;
    let entries = u16_le(tail, at + 10).ok_or_else(cut)?;
    let size = u32_le(tail, at + 12).ok_or_else(cut)?;
    let offset = u32_le(tail, at + 16).ok_or_else(cut)?;
    let (mut disk, mut entries, mut size, mut offset) =
        (u32::from(disk), u64::from(entries), u64::from(size), u64::from(offset));
    let mut directory_end = end_at;
    if let Some(locator_at) = end_at.checked_sub(20)
        && let Ok(locator) = exact(store, locator_at, 20)
        && locator.starts_with(&LOCATOR_64)
        && (entries == 0xFFFF || size == 0xFFFF_FFFF || offset == 0xFFFF_FFFF || disk == 0xFFFF)
    {
        let claimed = u64_le(&locator, 8).ok_or_else(cut)?;
        // A prefix moves the record; it then stands right before its locator.
        let near = locator_at.saturating_sub(56);
        let (record, record_at) = [claimed, near]
            .into_iter()
            .find_map(|at| {
                exact(store, at, 56).ok().filter(|record| record.starts_with(&END_64)).map(|record| (record, at))
            })
            .ok_or("its zip64 end record is not where its locator says")?;
        disk = u32_le(&record, 16).ok_or_else(cut)?;
        entries = u64_le(&record, 32).ok_or_else(cut)?;
        size = u64_le(&record, 40).ok_or_else(cut)?;
        offset = u64_le(&record, 48).ok_or_else(cut)?;
        directory_end = record_at;
    }
    if disk != 0 {
        return Err(
            "it is one part of an archive that spans several files: join them (`zip -s 0 part.zip --out whole.zip`)"
                .to_owned(),
        );
    }
    let start = directory_end.checked_sub(size).ok_or("its directory is larger than the file")?;
    let prefix = start.checked_sub(offset);
    // Offsets count from the start of the archive (the prefix is added) or, as some tools write, from the file's.
    for (offset, prefix) in prefix.map(|prefix| (start, prefix)).into_iter().chain([(offset, 0)]) {
        let begins = exact(store, offset, 4.min(size)).is_ok_and(|bytes| size == 0 || bytes == ENTRY);
        if begins && offset.saturating_add(size) <= directory_end {
            return Ok(Place { offset, size, entries, prefix });
        }
    }
    Err("its directory is not where its end record says".to_owned())
}
