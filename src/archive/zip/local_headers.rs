//! Reads local headers of a zip (APPNOTE 4.3.7) in blocks: headers of small members are close together.

use std::sync::Arc;

use crate::archive::read_at::{ReadAt, read_exact_at};

/// The signature of a local header, and the size of its fixed part.
pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(super) const LOCAL_SIZE: u64 = 30;

/// Markers before the first member of a split archive.
const SPANNING_MARKERS: [[u8; 4]; 2] = [*b"PK\x07\x08", *b"PK00"];

/// Bytes per read.
const BLOCK_SIZE: u64 = 16 * 1024;

/// The offset of the first member, if the file begins with one.
pub(super) fn first_member_offset(store: &Arc<dyn ReadAt>) -> Option<u64> {
    let first = read_exact_at(store, 0, 4).ok()?;
    if first == LOCAL {
        return Some(0);
    }
    let is_marker = SPANNING_MARKERS.iter().any(|marker| first == *marker);
    (is_marker && read_exact_at(store, 4, 4).is_ok_and(|next| next == LOCAL)).then_some(4)
}

/// Reads short ranges of a store, mostly in ascending order, with one system call per block.
pub(super) struct HeaderReader<'a> {
    store: &'a Arc<dyn ReadAt>,
    total: u64,
    block: Vec<u8>,
    /// The offset of the block.
    start: u64,
}

impl<'a> HeaderReader<'a> {
    pub(super) fn new(store: &'a Arc<dyn ReadAt>) -> Self {
        Self { store, total: store.size().unwrap_or(0), block: Vec::new(), start: 0 }
    }

    /// `count` bytes at `offset`, or a message that the file ends before them.
    pub(super) fn get(&mut self, offset: u64, count: u64) -> Result<&[u8], String> {
        let end = offset.saturating_add(count);
        if let Some(memory) = self.store.in_memory()
            && end <= self.total
        {
            return Ok(slice(memory, offset, count));
        }
        if offset < self.start || end > self.start.saturating_add(self.block.len() as u64) {
            let rest = self.total.saturating_sub(offset);
            self.block = read_exact_at(self.store, offset, count.max(rest.min(BLOCK_SIZE)))?;
            self.start = offset;
        }
        Ok(slice(&self.block, offset.saturating_sub(self.start), count))
    }
}

/// A range of a buffer; empty if the buffer is too short.
fn slice(bytes: &[u8], start: u64, count: u64) -> &[u8] {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    bytes.get(start..start.saturating_add(count)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A store that counts its reads. Each byte is its offset modulo 251.
    #[derive(Debug, Default)]
    struct CountingStore {
        reads: AtomicUsize,
    }

    const SIZE: u64 = 100_000;

    impl ReadAt for CountingStore {
        fn size(&self) -> io::Result<u64> {
            Ok(SIZE)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            for (position, byte) in (offset..).zip(buffer.iter_mut()) {
                *byte = u8::try_from(position % 251).unwrap();
            }
            Ok(buffer.len())
        }
    }

    #[test]
    fn headers_in_one_block_take_one_read() {
        let counted = Arc::new(CountingStore::default());
        let store: Arc<dyn ReadAt> = Arc::clone(&counted) as _;
        let mut headers = HeaderReader::new(&store);
        let mut check = |offset: u64, count: u64| {
            let expected: Vec<u8> =
                (offset..offset + count).map(|offset| u8::try_from(offset % 251).unwrap()).collect();
            assert_eq!(headers.get(offset, count).unwrap(), expected, "{count} at {offset}");
            counted.reads.load(Ordering::SeqCst)
        };
        for offset in (0..16_000).step_by(100) {
            assert_eq!(check(offset, 90), 1);
        }
        assert_eq!(check(16_380, 90), 2, "it begins in the block and ends behind it");
        assert_eq!(check(99_990, 10), 3, "the last bytes");
        assert_eq!(check(50, 20_000), 4, "longer than a block, and before the last one");
        let error = headers.get(99_990, 11).unwrap_err();
        assert!(error.contains("ends at byte 100000"), "{error}");
    }
}
