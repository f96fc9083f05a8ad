//! Local headers of a zip (APPNOTE 4.3.7): where the first member begins.

use std::sync::Arc;

use crate::archive::read_at::{ReadAt, read_exact_at};

/// The signature of a local header, and the size of its fixed part.
pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(super) const LOCAL_LENGTH: usize = 30;
pub(super) const LOCAL_SIZE: u64 = LOCAL_LENGTH as u64;

/// Markers before the first member of a split archive.
const SPANNING_MARKERS: [[u8; 4]; 2] = [*b"PK\x07\x08", *b"PK00"];

/// The offset of the first member, if the file begins with one.
pub(super) fn first_member_offset(store: &Arc<dyn ReadAt>) -> Option<u64> {
    let first = read_exact_at(store, 0, 4).ok()?;
    if first == LOCAL {
        return Some(0);
    }
    let is_marker = SPANNING_MARKERS.iter().any(|marker| first == *marker);
    (is_marker && read_exact_at(store, 4, 4).is_ok_and(|next| next == LOCAL)).then_some(4)
}
