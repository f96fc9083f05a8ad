//! Members of a zip: each entry held against its local header, its neighbours and the limits before it may be read.

use std::sync::Arc;

use bytes::Bytes;

use super::byte_order::{u16_le, u32_le};
use super::member::{Body, Member};
use super::names;
use super::note::Diagnostic;
use super::options::Limits;
use super::store::ReadAt;
use super::zip_directory::{self, Entry, exact};
use crate::error::Result;

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const LOCAL_SIZE: u64 = 30;
/// A small member may have any ratio: a column of blanks is no attack.
const RATIO_FREE: u64 = 64 << 20;

/// The members of a zip in the order of its directory, and what was refused; `None` where this is no zip at all.
pub(super) fn members(
    store: &Arc<dyn ReadAt>,
    name: &str,
    limits: &Limits,
    notes: &mut Vec<Diagnostic>,
) -> Result<Option<Vec<Member>>> {
    let Some((entries, directory)) = zip_directory::read(store, name, limits)? else {
        return Ok(None);
    };
    let bodies: Vec<std::result::Result<u64, String>> =
        entries.iter().map(|entry| data_offset(store, entry, limits)).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|index| entries.get(*index).map_or(0, |entry| entry.offset));
    let mut limit_of = vec![directory; entries.len()];
    for pair in order.windows(2) {
        if let [first, second] = pair
            && let (Some(limit), Some(next)) = (limit_of.get_mut(*first), entries.get(*second))
        {
            *limit = next.offset.min(directory);
        }
    }
    let mut members = Vec::new();
    for ((entry, body), limit) in entries.iter().zip(bodies).zip(limit_of) {
        if entry.text.ends_with(['/', '\\']) {
            continue;
        }
        let clean = match names::clean(&entry.text) {
            Ok(clean) => clean,
            Err(reason) => {
                notes.push(
                    Diagnostic::new(names::REFUSED, format!("a member is left out: {reason}")).in_member(&entry.text),
                );
                continue;
            }
        };
        if names::is_resource_fork(&clean) {
            continue;
        }
        let body = body.and_then(|offset| {
            if offset.checked_add(entry.packed).is_none_or(|end| end > limit) {
                return Err("its data overlap the next member or the directory".to_owned());
            }
            Ok(match entry.method {
                0 => Body::Plain { store: Arc::clone(store), offset, crc: Some(entry.crc) },
                _ => Body::Deflated { store: Arc::clone(store), offset, packed: entry.packed, crc: entry.crc },
            })
        });
        members.push(Member::new(clean, entry.size, body.unwrap_or_else(Body::Refused)));
    }
    Ok(Some(members))
}

/// Every name that the directory of a zip lists, as it stands there and as often; `None` where this is no zip that can
/// be read.
#[must_use]
pub fn listed_names(content: &Bytes) -> Option<Vec<String>> {
    let store: Arc<dyn ReadAt> = Arc::new(content.clone());
    let (entries, _) = zip_directory::read(&store, "", &Limits::default()).ok()??;
    Some(entries.into_iter().map(|entry| entry.text).collect())
}

/// Where the data of an entry begin, or why it cannot be read.
fn data_offset(store: &Arc<dyn ReadAt>, entry: &Entry, limits: &Limits) -> std::result::Result<u64, String> {
    if entry.flags & 0x0041 != 0 {
        return Err("it is encrypted, and encrypted members cannot be read".to_owned());
    }
    if entry.is_symlink {
        return Err("it is a symbolic link, which is not followed".to_owned());
    }
    if !matches!(entry.method, 0 | 8) {
        let method = match entry.method {
            1 => "shrink",
            6 => "implode",
            9 => "deflate64",
            12 => "bzip2",
            14 => "lzma",
            93 => "zstd",
            95 => "xz",
            98 => "ppmd",
            99 => "AES encryption",
            _ => "unknown",
        };
        return Err(format!(
            "it is compressed by method {} ({method}); only stored and deflated members can be read",
            entry.method
        ));
    }
    if entry.size > limits.bytes {
        return Err(format!(
            "its {} bytes are more than the limit of {}; if you trust it, raise Limits(bytes=...)",
            entry.size, limits.bytes
        ));
    }
    if entry.method == 0 && entry.size != entry.packed {
        return Err(format!("it is stored, yet its sizes differ ({} and {})", entry.packed, entry.size));
    }
    if entry.size > RATIO_FREE && entry.size / entry.packed.max(1) > limits.ratio {
        return Err(format!(
            "its {} bytes would inflate to {}, more than {} times as much; if you trust it, raise Limits(ratio=...)",
            entry.packed, entry.size, limits.ratio
        ));
    }
    let local =
        exact(store, entry.offset, LOCAL_SIZE).map_err(|reason| format!("its header is out of reach: {reason}"))?;
    if !local.starts_with(&LOCAL) {
        return Err("its header is not where the directory says".to_owned());
    }
    let name_size = u64::from(u16_le(&local, 26).unwrap_or(0));
    let extra_size = u64::from(u16_le(&local, 28).unwrap_or(0));
    let name = exact(store, entry.offset + LOCAL_SIZE, name_size)?;
    if name != entry.name {
        return Err(format!(
            "its header calls it `{}`: the archive contradicts itself",
            String::from_utf8_lossy(&name)
        ));
    }
    if u16_le(&local, 8) != Some(entry.method) {
        return Err("its header and the directory name different methods: the archive contradicts itself".to_owned());
    }
    // Sizes that follow the data (flag 3) are zero in the header.
    let follows = u16_le(&local, 6).is_some_and(|flags| flags & 0x0008 != 0);
    let sizes = (u32_le(&local, 18).unwrap_or(0), u32_le(&local, 22).unwrap_or(0));
    let differs = |claimed: u32, real: u64| claimed != u32::MAX && claimed != 0 && u64::from(claimed) != real;
    if !follows && (differs(sizes.0, entry.packed) || differs(sizes.1, entry.size)) {
        return Err("its header and the directory give different sizes: the archive contradicts itself".to_owned());
    }
    Ok(entry.offset + LOCAL_SIZE + name_size + extra_size)
}
