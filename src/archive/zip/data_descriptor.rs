//! The lengths and the checksum that follow the data of a member, where its header was written before they were known.

use std::sync::Arc;

use super::compressed_length::Count;
use crate::archive::endian::{u32_le, u64_le};
use crate::archive::read_at::{ReadAt, exact};

/// The signature before them, which writers may leave out.
const SIGNATURE: [u8; 4] = *b"PK\x07\x08";
/// The longest form: signature, checksum, and two lengths of eight bytes.
const LONGEST: u64 = 24;

/// What stands where lengths are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The lengths, in so many bytes.
    Fitting { crc: u32, size: u64 },
    /// The end of the archive.
    Cut,
    /// Something else.
    Other,
}

/// Checksum, lengths and own size in one of the four forms: with or without signature, of four bytes or of eight.
fn form(bytes: &[u8], is_signed: bool, is_long: bool) -> Option<(u32, u64, u64, u64)> {
    let at = if is_signed { SIGNATURE.len() } else { 0 };
    if is_signed && !bytes.starts_with(&SIGNATURE) {
        return None;
    }
    let crc = u32_le(bytes, at)?;
    let (packed, size, own) = if is_long {
        (u64_le(bytes, at + 4)?, u64_le(bytes, at + 12)?, 20)
    } else {
        (u64::from(u32_le(bytes, at + 4)?), u64::from(u32_le(bytes, at + 8)?), 12)
    };
    Some((crc, packed, size, own + at as u64))
}

const FORMS: [(bool, bool); 4] = [(true, true), (true, false), (false, true), (false, false)];

/// What stands at `at`, behind a member that was inflated.
pub(super) fn at(store: &Arc<dyn ReadAt>, at: u64, total: u64, count: Count) -> std::result::Result<Found, String> {
    let left = total.saturating_sub(at).min(LONGEST);
    let bytes = exact(store, at, left)?;
    for (is_signed, is_long) in FORMS {
        match form(&bytes, is_signed, is_long) {
            Some((crc, packed, size, own)) if (packed, size) == (count.taken, count.given) => {
                return Ok(Found::Fitting { crc, size: own });
            }
            _ => {}
        }
    }
    Ok(if left < LONGEST { Found::Cut } else { Found::Other })
}
