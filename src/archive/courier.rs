//! A member that is unpacked on a thread of its own, and its bytes handed over in blocks that are used again.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::elsewhere::{Here, give_way};
use super::inflow::Inflow;
use super::room::{NoRoom, make_exact_room};
use crate::error::Result;

/// The most bytes of a member in one block. Waking the reader takes the thread that unpacks as long as some thousand
/// bytes do.
const BLOCK: usize = 768 * 1024;

/// A member comes in so many blocks at least, since the reader waits for the first and the thread has ended before the
/// last is read, and in none that is smaller.
const SHARES: u64 = 16;
const SMALLEST: usize = 64 * 1024;

/// Room before them, into which the reader copies what it has left of the block before: a record of a .dbf always fits.
pub(super) const HEADROOM: usize = 64 * 1024;

/// So many blocks are on the way: one that is read, one that is filled, and one so that neither side waits at once.
const BLOCKS: usize = 3;

/// A block with `count` bytes behind its headroom, whether it is the last, and what is wrong behind its bytes.
pub(super) struct Parcel {
    pub(super) block: Vec<u8>,
    pub(super) count: usize,
    pub(super) is_last: bool,
    pub(super) outcome: Result<()>,
}

/// The receiving end. Dropping it ends the thread, at the latest after the block at hand.
pub(super) struct Courier {
    /// Full blocks come, empty ones go back.
    lines: Option<(Receiver<Parcel>, Sender<Vec<u8>>)>,
    waiting: Option<Parcel>,
    worker: Option<JoinHandle<()>>,
}

impl Courier {
    /// Moves the rest of `inflow` to a thread of its own, or gives it back where the system has no thread to spare.
    pub(super) fn start(inflow: Inflow) -> std::result::Result<Self, Box<Inflow>> {
        let (hand_over, work) = sync_channel::<Box<Inflow>>(1);
        let (filled, arriving) = sync_channel(BLOCKS);
        let (emptied, returning) = channel();
        let here = Here::now();
        let worker = thread::Builder::new().name("headland-unpack".to_owned()).spawn(move || {
            here.leave();
            if let Ok(inflow) = work.recv() {
                carry(*inflow, &filled, &returning);
            }
        });
        let inflow = Box::new(inflow);
        let Ok(worker) = worker else { return Err(inflow) };
        // The thread waits for exactly this, so it can only be refused where the thread is gone.
        hand_over.send(inflow).map_err(|refused| refused.0)?;
        give_way();
        Ok(Self { lines: Some((arriving, emptied)), waiting: None, worker: Some(worker) })
    }

    /// Whether the next block can be had without waiting.
    pub(super) fn is_ready(&mut self) -> bool {
        if self.waiting.is_none()
            && let Some((arriving, _)) = &self.lines
        {
            match arriving.try_recv() {
                Ok(parcel) => self.waiting = Some(parcel),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => {}
            }
        }
        true
    }

    /// The next block; `None` where the thread is gone without having sent the last.
    pub(super) fn receive(&mut self) -> Option<Parcel> {
        if let Some(parcel) = self.waiting.take() {
            return Some(parcel);
        }
        let received = self.lines.as_ref().and_then(|(arriving, _)| arriving.recv().ok());
        if received.is_none()
            && let Some(Err(panic)) = self.worker.take().map(JoinHandle::join)
        {
            std::panic::resume_unwind(panic);
        }
        received
    }

    /// Gives a block back to be filled again.
    pub(super) fn give_back(&self, block: Vec<u8>) {
        if let Some((_, emptied)) = &self.lines {
            // A thread that has done its work takes no more blocks.
            let _ = emptied.send(block);
        }
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        // Without the lines, the thread ends as soon as it wants to use one.
        self.lines = None;
        if let Some(worker) = self.worker.take() {
            // A panic in there concerns nobody any more.
            let _ = worker.join();
        }
    }
}

/// Room for a parcel, of zeros.
fn block(size: usize) -> std::result::Result<Vec<u8>, NoRoom> {
    let mut block = Vec::new();
    make_exact_room(&mut block, size)?;
    block.resize(size, 0);
    Ok(block)
}

/// The work of the thread: fills one block after the other until the member or its reader ends.
fn carry(mut inflow: Inflow, filled: &SyncSender<Parcel>, returning: &Receiver<Vec<u8>>) {
    let size = usize::try_from(inflow.size() / SHARES).unwrap_or(BLOCK).clamp(SMALLEST, BLOCK);
    let mut made = 0;
    loop {
        let mut block = match returning.try_recv() {
            Ok(block) => block,
            Err(TryRecvError::Empty) if made < BLOCKS => match block(HEADROOM.saturating_add(size)) {
                Ok(block) => {
                    made += 1;
                    block
                }
                Err(lack) => {
                    let outcome = Err(inflow.refused(lack));
                    let _ = filled.send(Parcel { block: Vec::new(), count: 0, is_last: true, outcome });
                    return;
                }
            },
            Err(TryRecvError::Empty) => {
                let Ok(block) = returning.recv() else { return };
                block
            }
            Err(TryRecvError::Disconnected) => return,
        };
        let (mut end, mut outcome) = (HEADROOM, Ok(()));
        while !inflow.has_ended() && outcome.is_ok() && end < block.len() {
            let (given, result) = inflow.give(block.get_mut(end..).unwrap_or_default());
            end = end.saturating_add(given);
            outcome = result;
        }
        let count = end.saturating_sub(HEADROOM);
        let is_last = inflow.has_ended();
        if filled.send(Parcel { block, count, is_last, outcome }).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use crate::archive::ReadAt;
    use crate::archive::member::{Body, Member};
    use crate::archive::unpack::Method;
    use crate::archive::window::Window;

    /// Bytes that never end, and at `at` do what `then` does.
    #[derive(Debug)]
    struct Odd {
        at: u64,
        then: fn() -> io::Result<usize>,
    }

    impl ReadAt for Odd {
        fn size(&self) -> io::Result<u64> {
            Ok(u64::MAX)
        }

        fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
            if offset >= self.at {
                return (self.then)();
            }
            // Blocks of deflate that are stored, of 59 zeros each: 64 bytes, at which reads begin.
            for (index, byte) in (offset..).zip(into.iter_mut()) {
                *byte = [0, 59, 0, !59, !0].get(usize::try_from(index % 64).unwrap()).copied().unwrap_or(0);
            }
            Ok(into.len())
        }
    }

    fn window(at: u64, then: fn() -> io::Result<usize>) -> Window {
        let (packed, method) = (u64::from(u32::MAX), Method::Deflate);
        let body = Body::Packed { store: Arc::new(Odd { at, then }), offset: 0, packed, crc: 0, method };
        let mut window = Member::new("odd.dbf".to_owned(), u64::from(u32::MAX), body).window(1024).unwrap();
        window.hand_over();
        assert!(window.is_handed_over());
        window
    }

    #[test]
    fn a_panic_of_the_thread_surfaces_and_nobody_waits_for_ever() {
        let mut window = window(1 << 20, || panic!("the store is broken"));
        let outcome = catch_unwind(AssertUnwindSafe(|| window.finish()));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"the store is broken"));
    }

    #[test]
    fn an_error_of_the_thread_comes_behind_the_bytes_before_it() {
        let mut window = window(1 << 20, || Err(io::Error::other("the disk is gone")));
        let bytes = (1 << 20) / 64 * 59;
        window.skip_to(bytes).unwrap();
        assert_eq!(window.position(), bytes);
        let error = window.fill(1).unwrap_err();
        assert!(error.message().contains("the disk is gone"), "{error}");
        assert_eq!(error.facts().member.as_deref(), Some("odd.dbf"));
    }

    #[test]
    fn a_record_longer_than_a_block_is_gathered() {
        let mut window = window(u64::MAX, || Ok(0));
        for want in [1_000_000, 70_000, 2, 300_000, 65_536] {
            let before = window.position();
            assert!(window.fill(want).unwrap().len() >= want);
            window.consume(want - 1);
            assert_eq!(window.position(), before + want as u64 - 1);
        }
    }
}
