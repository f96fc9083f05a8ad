//! Salvages a zip without a readable directory: finds its members by their local headers, one after another.
//!
//! This covers truncated downloads and damaged directories.

use std::sync::Arc;

use super::central_directory::{self, Entry, apply_extra_fields};
use super::compressed_length::{InflatedLength, StreamEnd, measure};
use super::data_descriptor::{self, Descriptor};
use super::end_of_central_directory::ENTRY_SIGNATURE;
use super::local_headers::{LOCAL, LOCAL_SIZE, first_member_offset};
use crate::archive::decompress::Method;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::{u16_le, u32_le};
use crate::archive::limits::Limits;
use crate::archive::read_at::{ReadAt, read_exact_at};
use headland_base::error::{Argument, Error, Kind, Result};

/// The members that were found.
#[derive(Debug)]
pub(super) struct Salvage {
    pub(super) entries: Vec<Entry>,
    /// The offset of the first member, and the end of the last.
    first: u64,
    pub(super) end: u64,
    /// The size of the archive in bytes.
    size: u64,
    reason: StopReason,
    /// The damage of the directory, if there is an end record.
    damage: Option<String>,
}

/// The reason why the scan stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    /// The archive ends.
    Truncated,
    /// The next bytes are neither a member nor the directory, or their offset is unknown.
    Lost,
    /// The directory, or a part of it, follows.
    Directory,
}

/// Scans the members of a file that begins with one; `None` if it begins differently.
///
/// `damage` describes the damage of the directory, if there is one.
pub(super) fn read(
    store: &Arc<dyn ReadAt>,
    name: &str,
    limits: &Limits,
    damage: Option<&str>,
) -> Result<Option<Salvage>> {
    let Some(start) = first_member_offset(store) else { return Ok(None) };
    let cut_short = "is truncated and cannot be read as a zip archive";
    let fault = |message: String| match damage {
        Some(damage) => central_directory::unreadable(
            name,
            &format!("{damage}; reading its members by their local headers failed: {message}"),
        ),
        None => Error::for_source(Kind::Archive, name, format!("{cut_short}: {message}")),
    };
    let size = store.size().map_err(|cause| fault(cause.to_string()))?;
    let mut scanner = Scanner { store, limits, size, offset: start, inflated: 0, entries: Vec::new() };
    let reason = loop {
        if let Some(reason) = scanner.step().map_err(fault)? {
            break reason;
        }
    };
    let damage = damage.map(str::to_owned);
    Ok(Some(Salvage { entries: scanner.entries, first: start, end: scanner.offset, size, reason, damage }))
}

impl Salvage {
    /// The error with `strict`.
    pub(super) fn error(&self, name: &str) -> Error {
        let size = self.size;
        let part = match self.first {
            0 => "",
            _ => ", or is the first part of a split archive, to be joined with `zip -s 0 part.zip --out whole.zip`",
        };
        let message =
            format!("is truncated, such as by an interrupted download{part}: it has {size} bytes and no end record");
        let Some(entry) = self.entries.last() else {
            let message = format!("{message}; its first member is incomplete: download it again");
            return Error::for_source(Kind::Archive, name, message);
        };
        let (text, offset, count) = (&entry.text, entry.offset, self.entries.len());
        let state = match self.reason {
            StopReason::Directory => "which is complete, but the central directory is not".to_owned(),
            _ if entry.is_truncated => format!("which has only {} bytes of its contents", entry.size),
            _ => "which is complete, but the data after it are missing".to_owned(),
        };
        let message = format!("{message}; the last member is number {count}, `{text}`, at byte {offset}, {state}");
        let error = Error::for_source(Kind::Archive, name, message).with(|facts| {
            facts.member = Some(text.clone());
            facts.offset = entry.is_truncated.then_some(entry.size);
        });
        error.with_hint(": download it again, or read the remaining data with ", Argument::Strict, "")
    }

    /// The diagnostic without `strict`.
    pub(super) fn diagnostic(&self) -> Diagnostic {
        let (size, end, count) = (self.size, self.end, self.entries.len());
        let what = match self.reason {
            StopReason::Directory => "the central directory is incomplete".to_owned(),
            StopReason::Truncated => "the data after them are missing".to_owned(),
            StopReason::Lost => format!("the data after byte {end} are not a member and were left out"),
        };
        if let Some(damage) = &self.damage {
            let rest = match self.reason {
                StopReason::Lost => format!("; the data after byte {end} are not a member and were left out"),
                StopReason::Directory | StopReason::Truncated => String::new(),
            };
            let message = format!(
                "the central directory of the archive is damaged: {damage}; {count} members were found by their local \
                 headers{rest}"
            );
            return Diagnostic::new(Code::DirectoryDamaged, message);
        }
        let message = format!(
            "the archive is truncated: it has {size} bytes and no end record; {count} members were found by their \
             local headers, {what}"
        );
        Diagnostic::new(Code::CutArchive, message)
    }
}

struct Scanner<'a> {
    store: &'a Arc<dyn ReadAt>,
    limits: &'a Limits,
    size: u64,
    /// The offset of the next member.
    offset: u64,
    /// Bytes inflated to find ends of members.
    inflated: u64,
    entries: Vec<Entry>,
}

impl Scanner<'_> {
    /// Adds the next member. Returns the reason to stop after it, if there is one.
    fn step(&mut self) -> std::result::Result<Option<StopReason>, String> {
        let offset = self.offset;
        let remaining = self.size.saturating_sub(offset);
        let signature = read_exact_at(self.store, offset, remaining.min(4))?;
        if signature != LOCAL {
            return Ok(Some(match &signature[..] {
                start if start == ENTRY_SIGNATURE => StopReason::Directory,
                start if start.len() < 4 => StopReason::Truncated,
                _ => StopReason::Lost,
            }));
        }
        if remaining < LOCAL_SIZE {
            return Ok(Some(StopReason::Truncated));
        }
        let header = read_exact_at(self.store, offset, LOCAL_SIZE)?;
        let short = |index| u16_le(&header, index).unwrap_or(0);
        let long = |index| u32_le(&header, index).unwrap_or(0);
        let (flags, method, crc) = (short(6), short(8), long(14));
        let (name_size, extra_size) = (u64::from(short(26)), u64::from(short(28)));
        let data = offset.saturating_add(LOCAL_SIZE).saturating_add(name_size).saturating_add(extra_size);
        if data > self.size {
            return Ok(Some(StopReason::Truncated));
        }
        let limits = self.limits;
        if name_size > limits.name as u64 {
            return Err(format!(
                "the member at byte {offset} has a name of {name_size} bytes, more than the limit of {}; if you \
                 trust it, raise Limits(name=...)",
                limits.name
            ));
        }
        if self.entries.len() >= limits.members {
            return Err(format!(
                "it has more than {} members; if you trust it, raise Limits(members=...)",
                limits.members
            ));
        }
        let name = read_exact_at(self.store, offset.saturating_add(LOCAL_SIZE), name_size)?;
        let extra = read_exact_at(self.store, data.saturating_sub(extra_size), extra_size)?;
        let (mut compressed_size, mut size) = (u64::from(long(18)), u64::from(long(22)));
        let text = apply_extra_fields(&name, &extra, flags, &mut [&mut size, &mut compressed_size]);
        let fault = text.as_ref().err().map(|message| format!("its local header {message}"));
        let text = text.unwrap_or_else(|_| String::from_utf8_lossy(&name).into_owned());
        let (is_symlink, is_truncated) = (false, false);
        let mut entry =
            Entry { name, text, flags, method, crc, compressed_size, size, offset, is_symlink, is_truncated, fault };
        let reason = if entry.fault.is_some() {
            Some(StopReason::Lost)
        } else if entry.has_descriptor() {
            self.add_with_descriptor(&mut entry, data)?
        } else {
            self.add_sized(&mut entry, data)?
        };
        self.entries.push(entry);
        Ok(reason)
    }

    /// Adds a member whose header states its size.
    fn add_sized(&mut self, entry: &mut Entry, data: u64) -> std::result::Result<Option<StopReason>, String> {
        if let Some(end) = data.checked_add(entry.compressed_size).filter(|end| *end <= self.size) {
            self.offset = end;
            return Ok(None);
        }
        self.measure(entry, data)?;
        Ok(Some(self.truncate(entry, data)))
    }

    /// Adds a member with a data descriptor. The compressed data mark their own end.
    fn add_with_descriptor(&mut self, entry: &mut Entry, data: u64) -> std::result::Result<Option<StopReason>, String> {
        let Some(length) = self.measure(entry, data)? else {
            entry.fault = Some(
                "its size is stored after its data, whose end cannot be found without the central directory".to_owned(),
            );
            self.offset = data;
            return Ok(Some(StopReason::Lost));
        };
        let end = data.saturating_add(length.compressed);
        match length.end {
            StreamEnd::Complete => {}
            StreamEnd::Input => return Ok(Some(self.truncate(entry, data))),
            StreamEnd::Damage | StreamEnd::Limit => {
                (entry.is_truncated, self.offset) = (true, end);
                return Ok(Some(StopReason::Lost));
            }
        }
        Ok(match data_descriptor::read(self.store, end, self.size, length)? {
            Descriptor::Matching { crc, size } => {
                (entry.crc, self.offset) = (crc, end.saturating_add(size));
                None
            }
            Descriptor::Truncated => Some(self.truncate(entry, data)),
            Descriptor::Missing => {
                entry.fault = Some("the sizes stored after its data do not match the data".to_owned());
                self.offset = end;
                Some(StopReason::Lost)
            }
        })
    }

    /// Measures a member and stores its sizes; `None` if its data cannot be inflated.
    fn measure(&mut self, entry: &mut Entry, data: u64) -> std::result::Result<Option<InflatedLength>, String> {
        let remaining = self.size.saturating_sub(data);
        (entry.compressed_size, entry.size) = (remaining, remaining);
        let Some(method) = Method::from_number(entry.method).filter(|_| !entry.is_encrypted()) else { return Ok(None) };
        let length = measure(self.store, data, remaining, method, self.limits).map_err(|cause| cause.to_string())?;
        (entry.compressed_size, entry.size) = (length.compressed, length.inflated);
        self.inflated = self.inflated.saturating_add(length.inflated);
        if self.limits.is_beyond_ratio(self.inflated, data.saturating_add(length.compressed)) {
            return Err(format!(
                "its members inflate to more than {} times their compressed size; if you trust it, raise \
                 Limits(ratio=...)",
                self.limits.ratio
            ));
        }
        Ok(Some(length))
    }

    /// Marks a member as truncated by the end of the archive.
    fn truncate(&mut self, entry: &mut Entry, data: u64) -> StopReason {
        entry.is_truncated = true;
        if entry.method == 0 {
            entry.compressed_size = self.size.saturating_sub(data);
            entry.size = entry.compressed_size;
        }
        self.offset = self.size;
        StopReason::Truncated
    }
}
