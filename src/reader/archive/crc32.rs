//! The CRC-32 that a zip declares for a member, computed while the member is read.

use crc32fast::Hasher;

use super::member::{Body, Member};
use headland_base::error::Result;

/// The checksum of the bytes so far, and the declared one.
pub(super) struct Checksum {
    hasher: Hasher,
    declared: u32,
}

impl Checksum {
    /// The checksum of a member; `None` if its archive declares none.
    pub(super) fn for_member(member: &Member) -> Option<Self> {
        match member.body() {
            Body::Compressed { crc: declared, is_truncated: false, .. } | Body::Plain { crc: Some(declared), .. } => {
                Some(Self { hasher: Hasher::new(), declared: *declared })
            }
            Body::Compressed { .. } | Body::Plain { .. } | Body::Refused(_) => None,
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// An error about `member` if the checksums differ.
    pub(super) fn check(self, member: &Member) -> Result<()> {
        let (computed, declared) = (self.hasher.finalize(), self.declared);
        if computed == declared {
            return Ok(());
        }
        Err(member.fault(format!("the data are damaged: the checksum is {computed:08x}, expected {declared:08x}")))
    }
}
