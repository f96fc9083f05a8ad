//! Parser of data descriptors (APPNOTE 4.3.9): checksum and sizes after the data of a member.

use std::sync::Arc;

use super::compressed_length::InflatedLength;
use crate::archive::endian::{u32_le, u64_le};
use crate::archive::read_at::{ReadAt, read_exact_at};

/// The optional signature.
const SIGNATURE: [u8; 4] = *b"PK\x07\x08";
/// The longest form: signature, checksum, and two sizes of eight bytes.
const LONGEST: u64 = 24;

/// Outcome of reading a data descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptor {
    /// It states the sizes that were measured; `size` is its own size in bytes.
    Matching { crc: u32, size: u64 },
    /// The archive ends.
    Truncated,
    /// There is no descriptor with these sizes.
    Missing,
}

/// Checksum, sizes and own size in one of four forms: with or without signature, with 32-bit or 64-bit sizes.
fn parse_form(bytes: &[u8], is_signed: bool, is_long: bool) -> Option<(u32, u64, u64, u64)> {
    let start = if is_signed { SIGNATURE.len() } else { 0 };
    if is_signed && !bytes.starts_with(&SIGNATURE) {
        return None;
    }
    let crc = u32_le(bytes, start)?;
    let (compressed_size, size, own_size) = if is_long {
        (u64_le(bytes, start + 4)?, u64_le(bytes, start + 12)?, 20)
    } else {
        (u64::from(u32_le(bytes, start + 4)?), u64::from(u32_le(bytes, start + 8)?), 12)
    };
    Some((crc, compressed_size, size, own_size + start as u64))
}

const FORMS: [(bool, bool); 4] = [(true, true), (true, false), (false, true), (false, false)];

/// Reads the descriptor at `offset`, after a member that was inflated.
pub(super) fn read(
    store: &Arc<dyn ReadAt>,
    offset: u64,
    total: u64,
    length: InflatedLength,
) -> std::result::Result<Descriptor, String> {
    let remaining = total.saturating_sub(offset).min(LONGEST);
    let bytes = read_exact_at(store, offset, remaining)?;
    for (is_signed, is_long) in FORMS {
        match parse_form(&bytes, is_signed, is_long) {
            Some((crc, compressed_size, size, own_size))
                if (compressed_size, size) == (length.compressed, length.inflated) =>
            {
                return Ok(Descriptor::Matching { crc, size: own_size });
            }
            _ => {}
        }
    }
    Ok(if remaining < LONGEST { Descriptor::Truncated } else { Descriptor::Missing })
}
