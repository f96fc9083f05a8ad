//! Parser of the central directory of a zip (APPNOTE 4.3.12), with checks that it describes the whole file.

use std::sync::Arc;

use super::end_of_central_directory::{DirectoryLocation, ENTRY_SIGNATURE, find_end_records};
use super::local_headers::first_member_offset;
use crate::archive::codepage_tables;
use crate::archive::endian::{u16_le, u32_le, u64_le};
use crate::archive::limits::Limits;
use crate::archive::read_at::{ReadAt, read_exact_at};
use headland_base::error::{Error, Kind, Result};

const ENTRY_SIZE: usize = 46;
/// Mean number of bytes of an entry in the directory, for the limit of its size.
const MEAN_ENTRY_SIZE: u64 = 1024;
/// The limit of the size is at least this, regardless of the limit of members.
const MIN_DIRECTORY_LIMIT: u64 = 1 << 20;

/// One member as described by the directory, or by its local header if there is no directory.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The bytes of the name.
    pub(super) name: Vec<u8>,
    pub(super) text: String,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed_size: u64,
    pub(super) size: u64,
    /// From the start of the file, including the prefix.
    pub(super) offset: u64,
    pub(super) is_symlink: bool,
    /// Whether the archive ends inside it. `compressed_size` and `size` then count the available bytes.
    pub(super) is_truncated: bool,
    /// A known defect.
    pub(super) fault: Option<String>,
}

impl Entry {
    pub(super) fn is_encrypted(&self) -> bool {
        self.flags & 0x0041 != 0
    }

    /// Whether its sizes are in a data descriptor and zero in its header.
    pub(super) fn has_descriptor(&self) -> bool {
        self.flags & 0x0008 != 0
    }
}

/// Outcome of reading a directory.
pub(super) enum Directory {
    /// All entries, and the offset of the directory.
    Whole(Vec<Entry>, u64),
    /// There is no end record of the whole file.
    Missing,
    /// Not readable, with the reason. The members may be intact.
    Damaged(String),
}

/// The reason why a directory is not read.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is damaged.
    Damage(String),
    /// It is refused, and so is the archive.
    Refusal(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Damage(message)
    }
}

impl Fault {
    /// The same reason with a subject before it.
    fn with_prefix(self, what: &str) -> Self {
        match self {
            Self::Damage(message) => Self::Damage(format!("{what} {message}")),
            Self::Refusal(message) => Self::Refusal(format!("{what} {message}")),
        }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::Damage(message.to_owned())
    }
}

/// The error of an archive that cannot be read.
pub(super) fn unreadable(name: &str, reason: &str) -> Error {
    Error::for_source(Kind::Archive, name, format!("cannot be read as a zip archive: {reason}"))
}

/// Reads the directory. An error if it exceeds the limits or is ambiguous.
pub(super) fn read(store: &Arc<dyn ReadAt>, name: &str, limits: &Limits) -> Result<Directory> {
    match find(store, limits) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Ok(Directory::Missing),
        Err(Fault::Damage(reason)) => Ok(Directory::Damaged(reason)),
        Err(Fault::Refusal(reason)) => Err(unreadable(name, &reason)),
    }
}

fn find(store: &Arc<dyn ReadAt>, limits: &Limits) -> std::result::Result<Option<Directory>, Fault> {
    let size = store.size().map_err(|cause| cause.to_string())?;
    let (exact_ends, loose_ends) = find_end_records(store, size)?;
    // With several valid end records, the directory is ambiguous, and readers would differ.
    let mut valid: Vec<DirectoryLocation> =
        exact_ends.iter().filter_map(|found| found.as_ref().ok().copied()).collect();
    if valid.len() > 1 {
        return Err(Fault::Refusal(
            "it has two valid end records, so its contents are ambiguous: unpack it and read the folder".to_owned(),
        ));
    }
    if valid.is_empty() {
        valid.extend(loose_ends.iter().filter_map(|found| found.as_ref().ok().copied()).take(1));
    }
    // The file begins with a member, but the end record belongs to an archive that begins later. It is a joined or
    // nested archive, and its directory would hide the other members.
    if let Some(location) =
        valid.first().filter(|location| first_member_offset(store).is_some_and(|start| location.prefix > start))
    {
        let start_of_archive = location.prefix;
        return Err(format!(
            "it begins with a member, but its end record belongs to an archive that starts at byte {start_of_archive}: \
             it is truncated, or archives were concatenated; split it there and read each archive separately"
        )
        .into());
    }
    let Some(location) = valid.first() else {
        return match exact_ends.into_iter().chain(loose_ends).next() {
            Some(Err(damage)) => Err(damage.into()),
            _ => Ok(None),
        };
    };
    if location.entries > limits.members as u64 {
        return Err(Fault::Refusal(format!(
            "its {} members are more than the limit of {}; if you trust it, raise Limits(members=...)",
            location.entries, limits.members
        )));
    }
    // The directory is read into memory. The longest entry has 46 bytes and three texts of 64 KiB, but no real archive
    // has only such entries.
    let limit = max_directory_size(limits);
    let longest = (ENTRY_SIZE as u64 + 3 * u64::from(u16::MAX)).saturating_mul(location.entries.saturating_add(1));
    if location.size > limit.min(longest) {
        return Err(Fault::Refusal(format!(
            "its central directory of {} bytes is too large for {} members; if you trust it, raise Limits(members=...)",
            location.size, location.entries
        )));
    }
    let directory = read_exact_at(store, location.offset, location.size)?;
    let entries = parse_entries(&directory, location, limits)?;
    Ok(Some(Directory::Whole(entries, location.offset)))
}

/// Largest size of a directory in bytes.
fn max_directory_size(limits: &Limits) -> u64 {
    MIN_DIRECTORY_LIMIT.max((limits.members as u64).saturating_mul(MEAN_ENTRY_SIZE))
}

fn parse_entries(
    directory: &[u8],
    location: &DirectoryLocation,
    limits: &Limits,
) -> std::result::Result<Vec<Entry>, Fault> {
    let mut entries = Vec::new();
    let mut position = 0_usize;
    while position < directory.len() {
        let rest = directory.get(position..).unwrap_or_default();
        let (entry, used) = parse_entry(rest, location.prefix, limits)
            .map_err(|fault| fault.with_prefix(&format!("entry {} of its central directory", entries.len())))?;
        entries.push(entry);
        position = position.saturating_add(used);
        if entries.len() > limits.members {
            return Err(Fault::Refusal(format!(
                "it has more than {} members; if you trust it, raise Limits(members=...)",
                limits.members
            )));
        }
    }
    // Old writers without zip64 store the count modulo 65,536.
    let wraps = entries.len() as u64 % 65_536 == location.entries && entries.len() > 65_535;
    if entries.len() as u64 != location.entries && !wraps {
        return Err(format!(
            "its end record declares {} members, but its central directory has {}: download it again",
            location.entries,
            entries.len()
        )
        .into());
    }
    Ok(entries)
}

fn parse_entry(bytes: &[u8], prefix: u64, limits: &Limits) -> std::result::Result<(Entry, usize), Fault> {
    let truncated = || "is cut".to_owned();
    if !bytes.starts_with(&ENTRY_SIGNATURE) {
        return Err("does not begin with its signature".into());
    }
    let (flags, method) = (u16_le(bytes, 8).ok_or_else(truncated)?, u16_le(bytes, 10).ok_or_else(truncated)?);
    let crc = u32_le(bytes, 16).ok_or_else(truncated)?;
    let (compressed_size, size) = (u32_le(bytes, 20).ok_or_else(truncated)?, u32_le(bytes, 24).ok_or_else(truncated)?);
    let name_size = usize::from(u16_le(bytes, 28).ok_or_else(truncated)?);
    let extra_size = usize::from(u16_le(bytes, 30).ok_or_else(truncated)?);
    let comment_size = usize::from(u16_le(bytes, 32).ok_or_else(truncated)?);
    let attributes = u32_le(bytes, 38).ok_or_else(truncated)?;
    let offset = u32_le(bytes, 42).ok_or_else(truncated)?;
    if name_size > limits.name {
        return Err(Fault::Refusal(format!(
            "has a name of {name_size} bytes, more than the limit of {}; if you trust it, raise Limits(name=...)",
            limits.name
        )));
    }
    let extra_start = ENTRY_SIZE + name_size;
    let end = extra_start + extra_size + comment_size;
    let name = bytes.get(ENTRY_SIZE..extra_start).ok_or_else(truncated)?;
    let extra = bytes.get(extra_start..extra_start + extra_size).ok_or_else(truncated)?;
    if end > bytes.len() {
        return Err(truncated().into());
    }
    let (mut compressed_size, mut size, mut offset) = (u64::from(compressed_size), u64::from(size), u64::from(offset));
    let text = apply_extra_fields(name, extra, flags, &mut [&mut size, &mut compressed_size, &mut offset])?;
    // The upper half is the Unix file mode; writers of other systems leave it 0.
    let is_symlink = (attributes >> 16) & 0o170_000 == 0o120_000;
    let offset = offset.checked_add(prefix).ok_or("is outside the file")?;
    let whole = Entry {
        name: name.to_vec(),
        text,
        flags,
        method,
        crc,
        compressed_size,
        size,
        offset,
        is_symlink,
        is_truncated: false,
        fault: None,
    };
    Ok((whole, end))
}

/// The name, after applying the extra fields: zip64 sizes (APPNOTE 4.5.3) and the Unicode path (4.6.9).
pub(super) fn apply_extra_fields(
    name: &[u8],
    extra: &[u8],
    flags: u16,
    sizes: &mut [&mut u64],
) -> std::result::Result<String, String> {
    let mut unicode_name = None;
    for (id, data) in extra_fields(extra) {
        if id == 0x0001 {
            let mut position = 0;
            for value in sizes.iter_mut() {
                if **value == 0xFFFF_FFFF {
                    **value = u64_le(data, position).ok_or("has a zip64 field without the required sizes")?;
                    position += 8;
                }
            }
        } else if id == 0x7075 && data.first() == Some(&1) && u32_le(data, 1) == Some(crc32fast::hash(name)) {
            unicode_name = data.get(5..).and_then(|text| std::str::from_utf8(text).ok()).map(str::to_owned);
        }
    }
    Ok(unicode_name.unwrap_or_else(|| match std::str::from_utf8(name) {
        Ok(text) => text.to_owned(),
        Err(_) if flags & 0x0800 != 0 => String::from_utf8_lossy(name).into_owned(),
        Err(_) => codepage_tables::decode(&codepage_tables::CP437.chars().collect::<Vec<_>>(), name),
    }))
}

/// The extra fields up to the first invalid one.
fn extra_fields(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut fields = Vec::new();
    while let (Some(id), Some(size)) = (u16_le(bytes, 0), u16_le(bytes, 2)) {
        let Some(data) = bytes.get(4..4 + usize::from(size)) else { break };
        fields.push((id, data));
        bytes = bytes.get(4 + usize::from(size)..).unwrap_or_default();
    }
    fields
}
