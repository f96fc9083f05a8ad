//! A thread that inflates a member and sends its bytes in owned blocks through a bounded channel.
//!
//! The thread waits only if the channel is full, and the reader only if it is empty. The thread reuses a block that the
//! reader has finished with if one is available, and never waits for one.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::alloc::{AllocError, try_reserve_exact};
use super::member_reader::MemberReader;
use headland_base::error::Result;

/// Largest number of bytes in a block. A wake-up costs about as much as inflating a few KiB.
const MAX_BLOCK: usize = 768 * 1024;

/// Smallest block, and the smallest number of blocks of a member. The reader waits for the first block, and the thread
/// ends before the last one is read.
const MIN_BLOCK: usize = 64 * 1024;
const MIN_BLOCKS: u64 = 16;

/// Free space before the bytes of a block, for the unread bytes of the previous block. It fits each record of a .dbf. A
/// longer record of a .shp is copied into the buffer of the reader.
pub(super) const HEADROOM: usize = 64 * 1024;

/// Blocks in the channel. One more is being filled and one is being read.
const QUEUED: usize = 1;

/// Bytes after `HEADROOM` bytes of free space, whether they are the last, and the error that follows them.
pub(super) struct Block {
    pub(super) buffer: Vec<u8>,
    pub(super) count: usize,
    pub(super) is_last: bool,
    pub(super) outcome: Result<()>,
}

/// The receiving end. Dropping it ends the thread, at the latest after the block that is being filled.
pub(super) struct InflateThread {
    channels: Option<(Receiver<Block>, Sender<Vec<u8>>)>,
    /// A block that `is_ready` has received.
    received: Option<Block>,
    thread: Option<JoinHandle<()>>,
}

impl InflateThread {
    /// Moves the reader to a new thread, or returns it if the system starts no thread.
    pub(super) fn start(reader: MemberReader) -> std::result::Result<Self, Box<MemberReader>> {
        let (start, work) = sync_channel::<Box<MemberReader>>(1);
        let (filled, blocks) = sync_channel(QUEUED);
        let (recycle, recycled) = channel();
        let thread = thread::Builder::new().name("headland-inflate".to_owned()).spawn(move || {
            if let Ok(reader) = work.recv() {
                inflate_loop(*reader, &filled, &recycled);
            }
        });
        let reader = Box::new(reader);
        let Ok(thread) = thread else { return Err(reader) };
        // The thread waits for this message, so the send fails only if the thread is gone.
        start.send(reader).map_err(|refused| refused.0)?;
        Ok(Self { channels: Some((blocks, recycle)), received: None, thread: Some(thread) })
    }

    /// Whether `receive` would return immediately.
    pub(super) fn is_ready(&mut self) -> bool {
        if self.received.is_none()
            && let Some((blocks, _)) = &self.channels
        {
            match blocks.try_recv() {
                Ok(block) => self.received = Some(block),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => {}
            }
        }
        true
    }

    /// The next block; `None` if the thread ended without sending the last one.
    pub(super) fn receive(&mut self) -> Option<Block> {
        if let Some(block) = self.received.take() {
            return Some(block);
        }
        let received = self.channels.as_ref().and_then(|(blocks, _)| blocks.recv().ok());
        if received.is_none()
            && let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
        {
            std::panic::resume_unwind(panic);
        }
        received
    }

    /// Offers a buffer for reuse. The thread drops one of another size.
    pub(super) fn recycle(&self, buffer: Vec<u8>) {
        if let Some((_, recycle)) = &self.channels {
            // Fails only after the thread has ended, which needs no buffer.
            let _ = recycle.send(buffer);
        }
    }
}

impl Drop for InflateThread {
    fn drop(&mut self) {
        // Closing the channels ends a send that waits, and so the thread.
        self.channels = None;
        if let Some(thread) = self.thread.take() {
            // The reader has ended, so a panic of the thread concerns no caller.
            let _ = thread.join();
        }
    }
}

/// Fills and sends blocks until the member or its reader ends.
fn inflate_loop(mut reader: MemberReader, filled: &SyncSender<Block>, recycled: &Receiver<Vec<u8>>) {
    let size = usize::try_from(reader.size() / MIN_BLOCKS).unwrap_or(MAX_BLOCK).clamp(MIN_BLOCK, MAX_BLOCK);
    let size = HEADROOM.saturating_add(size);
    loop {
        let reused = recycled.try_iter().find(|buffer| buffer.len() == size);
        let mut buffer = match reused.map_or_else(|| zeroed(size), Ok) {
            Ok(buffer) => buffer,
            Err(error) => {
                let outcome = Err(reader.alloc_error(error));
                let _ = filled.send(Block { buffer: Vec::new(), count: 0, is_last: true, outcome });
                return;
            }
        };
        let (mut end, mut outcome) = (HEADROOM, Ok(()));
        while !reader.is_at_end() && outcome.is_ok() && end < buffer.len() {
            let (count, result) = reader.read(buffer.get_mut(end..).unwrap_or_default());
            end = end.saturating_add(count);
            outcome = result;
        }
        let count = end.saturating_sub(HEADROOM);
        let is_last = reader.is_at_end();
        if filled.send(Block { buffer, count, is_last, outcome }).is_err() || is_last {
            return;
        }
    }
}

fn zeroed(size: usize) -> std::result::Result<Vec<u8>, AllocError> {
    let mut buffer = Vec::new();
    try_reserve_exact(&mut buffer, size)?;
    buffer.resize(size, 0);
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use crate::archive::ReadAt;
    use crate::archive::buffered_reader::BufferedReader;
    use crate::archive::decompress::Method;
    use crate::archive::member::{Body, Member};

    /// An endless store whose reads fail from an offset on.
    #[derive(Debug)]
    struct FailingStore {
        fail_offset: u64,
        failure: fn() -> io::Result<usize>,
    }

    impl ReadAt for FailingStore {
        fn size(&self) -> io::Result<u64> {
            Ok(u64::MAX)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            if offset >= self.fail_offset {
                return (self.failure)();
            }
            // Stored blocks of deflate (RFC 1951), 64 bytes each, with 59 zeros as contents. Each read starts at a
            // block.
            for (index, byte) in (offset..).zip(buffer.iter_mut()) {
                *byte = [0, 59, 0, !59, !0].get(usize::try_from(index % 64).unwrap()).copied().unwrap_or(0);
            }
            Ok(buffer.len())
        }
    }

    fn offloaded_reader(fail_offset: u64, failure: fn() -> io::Result<usize>) -> BufferedReader {
        let (compressed_size, method) = (u64::from(u32::MAX), Method::Deflate);
        let body = Body::Compressed {
            store: Arc::new(FailingStore { fail_offset, failure }),
            offset: 0,
            compressed_size,
            crc: 0,
            method,
            is_truncated: false,
        };
        let mut reader = Member::new("odd.dbf".to_owned(), u64::from(u32::MAX), body).open(1024).unwrap();
        reader.offload();
        assert!(reader.is_offloaded());
        reader
    }

    #[test]
    fn panic_of_the_thread_reaches_the_reader() {
        let mut reader = offloaded_reader(1 << 20, || panic!("the store is broken"));
        let outcome = catch_unwind(AssertUnwindSafe(|| reader.finish()));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"the store is broken"));
    }

    #[test]
    fn error_of_the_thread_follows_the_bytes_before_it() {
        let mut reader = offloaded_reader(1 << 20, || Err(io::Error::other("the disk is gone")));
        let bytes = (1 << 20) / 64 * 59;
        reader.skip_to(bytes).unwrap();
        assert_eq!(reader.position(), bytes);
        let error = reader.fill(1).unwrap_err();
        assert!(error.message().contains("the disk is gone"), "{error}");
        assert_eq!(error.facts().member.as_deref(), Some("odd.dbf"));
    }

    #[test]
    fn record_longer_than_a_block_is_gathered() {
        let mut reader = offloaded_reader(u64::MAX, || Ok(0));
        for want in [1_000_000, 70_000, 2, 300_000, 65_536] {
            let before = reader.position();
            assert!(reader.fill(want).unwrap().len() >= want);
            reader.consume(want - 1);
            assert_eq!(reader.position(), before + want as u64 - 1);
        }
    }
}
