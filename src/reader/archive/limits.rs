//! Limits of a source: members, bytes, compression ratio and nesting, checked before any allocation.

/// Limits that are checked before any allocation.
///
/// The defaults accept real archives of field data and bound the memory. Reading needs about as much memory as the .shp
/// and .dbf have bytes. The format of a .shp ends at 4 GiB. The largest yield data deflate to a tenth, and tables
/// padded with blanks to a hundredth. So a zip of 6 MB that inflates to 1 GB is refused. A valid .dbf may exceed 4 GiB;
/// raise `bytes` to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Members of an archive or files of a folder: 65,536.
    pub members: usize,
    /// Bytes of one member, inflated or stored: 4 GiB, the largest size of a .shp.
    pub bytes: u64,
    /// Inflated size of a member above 64 MiB divided by its compressed size: 100.
    pub ratio: u64,
    /// Levels of archives inside archives: 1.
    pub nesting: usize,
    /// Bytes of a member's name: 4,096.
    pub name: usize,
}

/// Smaller members may have any ratio, since a column of blanks exceeds the limit.
const UNCHECKED_RATIO_SIZE: u64 = 64 << 20;

impl Limits {
    /// An error if a member is larger than the limit.
    pub(super) fn check_size(&self, size: u64) -> std::result::Result<(), String> {
        if size > self.bytes {
            let limit = self.bytes;
            return Err(format!(
                "its {size} bytes are more than the limit of {limit}; if you trust it, raise Limits(bytes=...)"
            ));
        }
        Ok(())
    }

    /// Whether `size` bytes are too many from `compressed_size` bytes.
    pub(super) fn is_beyond_ratio(&self, size: u64, compressed_size: u64) -> bool {
        size > UNCHECKED_RATIO_SIZE && size / compressed_size.max(1) > self.ratio
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { members: 65_536, bytes: 4 << 30, ratio: 100, nesting: 1, name: 4_096 }
    }
}
