//! Numbers at an offset of a slice: `None` where the slice ends before them, so no length has to be trusted.

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// An unsigned 16-bit number, low byte first.
pub(super) fn u16_le(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

/// An unsigned 32-bit number, low byte first.
pub(super) fn u32_le(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

/// An unsigned 64-bit number, low byte first.
pub(super) fn u64_le(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

/// A signed 32-bit number, low byte first.
pub(super) fn i32_le(bytes: &[u8], at: usize) -> Option<i32> {
    array(bytes, at).map(i32::from_le_bytes)
}

/// A signed 32-bit number, high byte first, as in the headers of shapefiles.
pub(super) fn i32_be(bytes: &[u8], at: usize) -> Option<i32> {
    array(bytes, at).map(i32::from_be_bytes)
}
