//! Checksums of a published file: SHA-256 of all bytes, and CRC-32 of each block for partial reads.

use crc32fast::Hasher;
use sha2::{Digest as _, Sha256};

use headland_base::hex::hex;

/// Block length in bytes, except for the last block. Operating systems read ahead about as much.
pub(super) const BLOCK: u64 = 128 * 1024;

/// Running checksums of a file.
#[derive(Default)]
pub(super) struct Checksums {
    hash: Sha256,
    block: Hasher,
    bytes: u64,
    crc32: String,
}

/// Checksums of a complete file.
pub(super) struct FileChecksums {
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// CRC-32 of each block, eight hexadecimal digits each.
    pub(super) crc32: String,
}

impl Checksums {
    /// Adds the next bytes of the file.
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        self.hash.update(bytes);
        while !bytes.is_empty() {
            let free = usize::try_from(BLOCK.saturating_sub(self.bytes % BLOCK)).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at_checked(free).unwrap_or((bytes, &[]));
            self.block.update(now);
            self.bytes = self.bytes.saturating_add(now.len() as u64);
            if self.bytes.is_multiple_of(BLOCK) {
                self.end_block();
            }
            bytes = later;
        }
    }

    /// Ends the last block and returns the checksums.
    pub(super) fn finish(mut self) -> FileChecksums {
        if !self.bytes.is_multiple_of(BLOCK) {
            self.end_block();
        }
        FileChecksums { bytes: self.bytes, sha256: hex(&self.hash.finalize()), crc32: self.crc32 }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        self.crc32.push_str(&hex(&block.finalize().to_be_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_any_chunking_are_those_of_blocks() {
        let block = usize::try_from(BLOCK).unwrap();
        let bytes: Vec<u8> = (0..block * 2 + 7).map(|index| u8::try_from(index % 251).unwrap()).collect();
        for (length, step) in
            [(0, 1), (1, 1), (block - 1, 1000), (block, block), (block + 1, 4096), (bytes.len(), 99_991)]
        {
            let whole = &bytes[..length];
            let mut checksums = Checksums::default();
            whole.chunks(step).for_each(|chunk| checksums.update(chunk));
            let found = checksums.finish();
            let expected: Vec<u8> =
                whole.chunks(block).flat_map(|block| crc32fast::hash(block).to_be_bytes()).collect();
            assert_eq!((found.bytes, found.crc32), (length as u64, hex(&expected)));
            assert_eq!(found.sha256, hex(&Sha256::digest(whole)));
        }
    }
}
