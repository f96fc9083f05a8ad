//! Numbers at an offset of a slice: `None` where the slice ends before them, so no length has to be trusted.

fn read_array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

/// An unsigned 16-bit number, low byte first.
pub(super) fn u16_le(bytes: &[u8], offset: usize) -> Option<u16> {
    read_array(bytes, offset).map(u16::from_le_bytes)
}

/// An unsigned 32-bit number, low byte first.
pub(super) fn u32_le(bytes: &[u8], offset: usize) -> Option<u32> {
    read_array(bytes, offset).map(u32::from_le_bytes)
}

/// An unsigned 64-bit number, low byte first.
pub(super) fn u64_le(bytes: &[u8], offset: usize) -> Option<u64> {
    read_array(bytes, offset).map(u64::from_le_bytes)
}

/// A signed 32-bit number, low byte first.
pub(super) fn i32_le(bytes: &[u8], offset: usize) -> Option<i32> {
    read_array(bytes, offset).map(i32::from_le_bytes)
}

/// A signed 32-bit number, high byte first, as in the headers of shapefiles.
pub(super) fn i32_be(bytes: &[u8], offset: usize) -> Option<i32> {
    read_array(bytes, offset).map(i32::from_be_bytes)
}
