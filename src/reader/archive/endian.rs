//! Integers at an offset of a slice; `None` if the slice is too short, so that no length needs a check.

fn read_array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

/// A little-endian u16.
pub(super) fn u16_le(bytes: &[u8], offset: usize) -> Option<u16> {
    read_array(bytes, offset).map(u16::from_le_bytes)
}

/// A little-endian u32.
pub(super) fn u32_le(bytes: &[u8], offset: usize) -> Option<u32> {
    read_array(bytes, offset).map(u32::from_le_bytes)
}

/// A little-endian u64.
pub(super) fn u64_le(bytes: &[u8], offset: usize) -> Option<u64> {
    read_array(bytes, offset).map(u64::from_le_bytes)
}

/// A little-endian i32.
pub(super) fn i32_le(bytes: &[u8], offset: usize) -> Option<i32> {
    read_array(bytes, offset).map(i32::from_le_bytes)
}

/// A big-endian i32, as in the headers of shapefiles.
pub(super) fn i32_be(bytes: &[u8], offset: usize) -> Option<i32> {
    read_array(bytes, offset).map(i32::from_be_bytes)
}
