//! Members of a zip ([APPNOTE][1]): checks each entry against its local header, its neighbours and the limits.
//!
//! [1]: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

mod central_directory;
mod compressed_length;
mod data_descriptor;
mod end_of_central_directory;
mod local_headers;
mod salvage;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use self::central_directory::{Directory, Entry};
use self::local_headers::{LOCAL, LOCAL_LENGTH, LOCAL_SIZE, first_member_offset};
use crate::archive::decompress::Method;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::{u16_le, u32_le};
use crate::archive::limits::Limits;
use crate::archive::member::{Body, Member};
use crate::archive::member_names;
use crate::archive::read_at::{ReadAt, read_exact_at};
use headland_base::error::{Argument, Error, Result};

/// The members of a zip in the order of its directory; `None` if this is not a zip. Refused members are added to
/// `diagnostics`. Without `is_strict`, members of a zip that is truncated or has a damaged directory are found by their
/// local headers.
pub(super) fn members(
    store: &Arc<dyn ReadAt>,
    name: &str,
    limits: &Limits,
    is_strict: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Vec<Member>>> {
    let (entries, directory) = match central_directory::read(store, name, limits)? {
        Directory::Whole(entries, start) => (entries, start),
        Directory::Missing => match salvage::read(store, name, limits, None)? {
            None => return Ok(None),
            Some(salvage) if is_strict => return Err(salvage.error(name)),
            Some(salvage) => {
                diagnostics.push(salvage.diagnostic());
                (salvage.entries, salvage.end)
            }
        },
        Directory::Damaged(reason) if is_strict => {
            let error = central_directory::unreadable(name, &reason);
            return Err(match first_member_offset(store) {
                Some(_) => error.with_hint("; ", Argument::Strict, " finds the members by their local headers"),
                None => error,
            });
        }
        Directory::Damaged(reason) => match salvage::read(store, name, limits, Some(&reason))? {
            Some(salvage) if !salvage.entries.is_empty() => {
                diagnostics.push(salvage.diagnostic());
                (salvage.entries, salvage.end)
            }
            _ => return Err(central_directory::unreadable(name, &reason)),
        },
    };
    validated_members(store, &entries, directory, limits, is_strict, diagnostics).map(Some)
}

/// The members that can be read, of entries that all end before `end`. With `is_strict`, an entry with two names is an
/// error if a layer could lack that member without notice.
fn validated_members(
    store: &Arc<dyn ReadAt>,
    entries: &[Entry],
    end: u64,
    limits: &Limits,
    is_strict: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Member>> {
    let bodies: Vec<std::result::Result<u64, Refusal>> =
        entries.iter().map(|entry| data_offset(store, entry, limits)).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_unstable_by_key(|index| (entries.get(*index).map_or(0, |entry| entry.offset), *index));
    let mut end_of = vec![end; entries.len()];
    for pair in order.windows(2) {
        if let [first, second] = pair
            && let (Some(limit), Some(next)) = (end_of.get_mut(*first), entries.get(*second))
        {
            *limit = next.offset.min(end);
        }
    }
    let mut members: Vec<Member> = Vec::new();
    let mut seen: HashMap<String, (usize, &Entry)> = HashMap::new();
    let mut refused = Refusals::default();
    for ((entry, body), limit) in entries.iter().zip(bodies).zip(end_of) {
        if let Err(Refusal { reason, hides_part: true }) = &body
            && is_strict
        {
            return Err(Error::archive(&*entry.text, &**reason));
        }
        if entry.text.ends_with(['/', '\\']) {
            if entry.size > 0 {
                refused.report(
                    Code::UnreadableMember,
                    "it has the name of a folder, but it has contents",
                    &entry.text,
                    diagnostics,
                );
            }
            continue;
        }
        let name = match member_names::normalize(&entry.text) {
            Ok(name) => name,
            Err(reason) => {
                refused.report(Code::RefusedName, reason, &entry.text, diagnostics);
                continue;
            }
        };
        if member_names::is_resource_fork(&name) {
            continue;
        }
        // The contents of a link are a path, regardless of its name.
        if entry.is_symlink {
            refused.report(Code::RefusedLink, "it is a symbolic link, and links are not followed", &name, diagnostics);
            continue;
        }
        let body = body.and_then(|offset| locate_body(store, entry, offset, limit, diagnostics).map_err(Refusal::from));
        let body = body.unwrap_or_else(|Refusal { reason, .. }| {
            refused.report(Code::UnreadableMember, &reason, &name, diagnostics);
            Body::Refused(reason)
        });
        let member = Member::new(name.clone(), entry.size, body);
        match seen.get(&name) {
            None => {
                seen.insert(name, (members.len(), entry));
                members.push(member);
            }
            // Readers differ in which of two equal names they read. If the contents differ, neither can be trusted.
            Some((index, first)) => {
                refused.report(Code::DuplicateMember, "another member has the same name", &name, diagnostics);
                if (first.crc, first.size) != (entry.crc, entry.size)
                    && let Some(slot) = members.get_mut(*index)
                {
                    let reason = "two members have this name and differ: the archive is ambiguous".to_owned();
                    *slot = Member::new(name, first.size, Body::Refused(reason));
                }
            }
        }
    }
    refused.finish(diagnostics);
    Ok(members)
}

/// The reason why an entry cannot be read.
struct Refusal {
    reason: String,
    /// Whether the entry has two names, and one of them is a file of a layer.
    hides_part: bool,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self { reason, hides_part: false }
    }
}

/// The body of an entry whose data begin at `offset` and must end before `limit`.
fn locate_body(
    store: &Arc<dyn ReadAt>,
    entry: &Entry,
    offset: u64,
    limit: u64,
    diagnostics: &mut Vec<Diagnostic>,
) -> std::result::Result<Body, String> {
    if offset.checked_add(entry.compressed_size).is_none_or(|end| end > limit) {
        let compressed_size = entry.compressed_size;
        return Err(format!(
            "its {compressed_size} bytes at offset {offset} of the archive overlap the next member or the central \
             directory, at offset {limit}"
        ));
    }
    if entry.is_truncated {
        // The first rows of a table are correct without the others. Other formats may change their meaning.
        if !entry.text.rsplit_once('.').is_some_and(|(_, ending)| member_names::has_rows(ending)) {
            return Err("the archive ends inside it".to_owned());
        }
        let message =
            format!("the archive ends or is damaged inside it: only its first {} bytes are available", entry.size);
        diagnostics.push(Diagnostic::new(Code::CutMember, message).in_member(&entry.text));
    }
    let (store, compressed_size, crc, is_truncated) =
        (Arc::clone(store), entry.compressed_size, entry.crc, entry.is_truncated);
    Ok(match Method::from_number(entry.method) {
        None => Body::Plain { store, offset, crc: (!is_truncated).then_some(crc) },
        Some(method) => Body::Compressed { store, offset, compressed_size, crc, method, is_truncated },
    })
}

/// Reports the first refused members and counts the others, since an archive may have thousands.
#[derive(Default)]
struct Refusals {
    count: usize,
}

impl Refusals {
    const MAX_REPORTED: usize = 100;

    fn report(&mut self, code: Code, reason: &str, member: &str, diagnostics: &mut Vec<Diagnostic>) {
        // Files of a layer are always reported, since the layer looks up its missing files here.
        let is_layer_file = member.rsplit_once('.').is_some_and(|(_, ending)| member_names::is_layer_file(ending));
        self.count = self.count.saturating_add(usize::from(!is_layer_file));
        if is_layer_file || self.count <= Self::MAX_REPORTED {
            diagnostics.push(Diagnostic::new(code, [member_names::REFUSED_PREFIX, reason].concat()).in_member(member));
        }
    }

    fn finish(&self, diagnostics: &mut Vec<Diagnostic>) {
        if let Some(more @ 1..) = self.count.checked_sub(Self::MAX_REPORTED) {
            diagnostics.push(Diagnostic::new(Code::MoreMembers, format!("{more} more members were left out")));
        }
    }
}

/// All names in the directory of a zip, unchanged and with duplicates; `None` if the zip is unreadable.
#[must_use]
pub fn listed_names(content: &Bytes) -> Option<Vec<String>> {
    let store: Arc<dyn ReadAt> = Arc::new(content.clone());
    let Directory::Whole(entries, _) = central_directory::read(&store, "", &Limits::default()).ok()? else {
        return None;
    };
    Some(entries.into_iter().map(|entry| entry.text).collect())
}

/// An error if the entry describes a member that cannot be read.
fn check_entry(entry: &Entry, limits: &Limits) -> std::result::Result<(), String> {
    if entry.is_encrypted() {
        return Err("it is encrypted: unpack it with its password and read the folder".to_owned());
    }
    if let Some(fault) = &entry.fault {
        return Err(fault.clone());
    }
    if entry.method != 0 && Method::from_number(entry.method).is_none() {
        let method = match entry.method {
            1 => "shrink",
            6 => "implode",
            12 => "bzip2",
            14 => "lzma",
            93 => "zstd",
            95 => "xz",
            98 => "ppmd",
            99 => "AES encryption",
            _ => "unknown",
        };
        return Err(format!(
            "it is compressed by method {} ({method}); only stored, deflate and deflate64 can be read: \
             unpack it and read the folder",
            entry.method
        ));
    }
    limits.check_size(entry.size)?;
    if entry.method == 0 && entry.size != entry.compressed_size {
        return Err(format!(
            "it is stored without compression, but its sizes differ ({} and {})",
            entry.compressed_size, entry.size
        ));
    }
    let limit = Method::from_number(entry.method).map_or(1, Method::max_ratio);
    if entry.size > entry.compressed_size.saturating_mul(limit) {
        return Err(format!("its {} bytes cannot inflate to the declared {} bytes", entry.compressed_size, entry.size));
    }
    if limits.is_beyond_ratio(entry.size, entry.compressed_size) {
        return Err(format!(
            "its {} bytes would inflate to {}, more than {} times as much; if you trust it, raise Limits(ratio=...)",
            entry.compressed_size, entry.size, limits.ratio
        ));
    }
    Ok(())
}

/// The offset of the data of an entry, or the reason why it cannot be read.
fn data_offset(store: &Arc<dyn ReadAt>, entry: &Entry, limits: &Limits) -> std::result::Result<u64, Refusal> {
    check_entry(entry, limits)?;
    // Bounds the cost: a name may have 64 KiB, and all entries of the directory may point to one header.
    let longest = (entry.name.len() as u64).saturating_add(1).max(60);
    let rest = store.size().unwrap_or(0).saturating_sub(entry.offset);
    // One read for header and name, since an archive may have many members, and each layer of it reads them all.
    let header = read_exact_at(store, entry.offset, LOCAL_SIZE.max(rest.min(LOCAL_SIZE + longest)))
        .map_err(|reason| format!("its local header cannot be read: {reason}"))?;
    let (local, name) = header.split_at_checked(LOCAL_LENGTH).unwrap_or_default();
    if !local.starts_with(&LOCAL) {
        return Err("its local header is not at the offset in the central directory".to_owned().into());
    }
    let name_size = u16_le(local, 26).unwrap_or(0);
    let extra_size = u64::from(u16_le(local, 28).unwrap_or(0));
    let name = name.get(..usize::from(name_size)).unwrap_or(name);
    if name != entry.name {
        let start: String = String::from_utf8_lossy(name).chars().take(60).collect();
        let reason = format!("the archive is inconsistent: its local header has the name `{start}`");
        let is_part = |name: &str| {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            !member_names::is_resource_fork(name)
                && (member_names::is_layer_file(ending) || member_names::has_rows(ending))
        };
        let hides_part = is_part(&entry.text) || is_part(&String::from_utf8_lossy(name));
        return Err(Refusal { reason, hides_part });
    }
    if u16_le(local, 8) != Some(entry.method) {
        return Err(
            "the archive is inconsistent: its local header and the central directory have different compression methods"
                .to_owned()
                .into(),
        );
    }
    // If the sizes follow the data (flag 3), the header has zeros. A truncated member has smaller sizes.
    let is_size_unknown = entry.is_truncated || u16_le(local, 6).is_some_and(|flags| flags & 0x0008 != 0);
    let sizes = (u32_le(local, 18).unwrap_or(0), u32_le(local, 22).unwrap_or(0));
    let differs = |claimed: u32, real: u64| claimed != u32::MAX && claimed != 0 && u64::from(claimed) != real;
    if !is_size_unknown && (differs(sizes.0, entry.compressed_size) || differs(sizes.1, entry.size)) {
        return Err("the archive is inconsistent: its local header and the central directory have different sizes"
            .to_owned()
            .into());
    }
    Ok(entry.offset + LOCAL_SIZE + u64::from(name_size) + extra_size)
}
