//! Buffered, checked reader of a member: it inflates into one reused buffer and never keeps the whole member.

use super::alloc::{AllocError, try_reserve, try_reserve_exact};
use super::crc32::Checksum;
use super::inflate_thread::{Block, HEADROOM, InflateThread};
use super::member::Member;
use super::member_reader::MemberReader;
use headland_base::error::{Error, Kind, Result};

/// Smaller members are inflated faster than a thread starts.
const MIN_THREAD_SIZE: u64 = 256 * 1024;

/// A buffered reader of a member. `fill` makes bytes available, `consume` advances, `finish` checks the rest.
///
/// Bytes before damage are always returned before the error. So the result does not depend on the size of reads.
pub struct BufferedReader {
    member: Member,
    source: ByteSource,
    /// Computed here and not in the inflating thread, which is the bottleneck.
    checksum: Option<Checksum>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes read into the buffer so far.
    received: u64,
    ended: bool,
    fault: Option<Error>,
}

/// The source of the bytes.
enum ByteSource {
    /// Inflated by the thread of the caller.
    Inline(Box<MemberReader>),
    /// Inflated by another thread.
    Thread(InflateThread),
    /// The member has ended.
    Ended,
}

impl Member {
    /// Opens a reader with a buffer of `size` bytes.
    pub fn open(&self, size: usize) -> Result<BufferedReader> {
        BufferedReader::new(self, size)
    }

    /// All bytes of a small member; an error if there are more than `limit`.
    pub fn read_all(&self, limit: u64) -> Result<Vec<u8>> {
        let (mut all, mut reader) = (Vec::new(), self.open(64 * 1024)?);
        if self.size() > limit {
            return Err(self.fault(format!(
                "the member is too large: its {} bytes are more than the limit of {limit}",
                self.size()
            )));
        }
        loop {
            let part = reader.fill(1)?;
            if part.is_empty() {
                return Ok(all);
            }
            // The capacity follows the bytes read and never exceeds the declared size, so memory is bounded by both.
            if all.capacity() - all.len() < part.len() {
                let declared = usize::try_from(self.size()).unwrap_or(usize::MAX).saturating_sub(all.len());
                let more = all.len().min(declared).max(part.len());
                try_reserve_exact(&mut all, more).map_err(|error| error.for_member(self.name()))?;
            }
            all.extend_from_slice(part);
            let count = part.len();
            reader.consume(count);
        }
    }
}

impl BufferedReader {
    fn new(member: &Member, size: usize) -> Result<Self> {
        let reader = MemberReader::new(member)?;
        let limit = usize::try_from(member.size()).unwrap_or(usize::MAX).max(1);
        let size = size.clamp(1, limit);
        let mut buffer = Vec::new();
        try_reserve_exact(&mut buffer, size).map_err(|error| error.for_member(member.name()))?;
        buffer.resize(size, 0);
        Ok(Self {
            checksum: Checksum::for_member(member),
            member: member.clone(),
            source: ByteSource::Inline(Box::new(reader)),
            buffer,
            start: 0,
            end: 0,
            received: 0,
            ended: false,
            fault: None,
        })
    }

    /// Moves the inflating to another thread if enough of the member remains.
    pub fn offload(&mut self) {
        let is_worthwhile = |reader: &MemberReader| reader.is_compressed() && reader.size() >= MIN_THREAD_SIZE;
        self.source = match std::mem::replace(&mut self.source, ByteSource::Ended) {
            ByteSource::Inline(reader) if is_worthwhile(&reader) && !self.ended => {
                match InflateThread::start(*reader) {
                    Ok(thread) => ByteSource::Thread(thread),
                    Err(reader) => ByteSource::Inline(reader),
                }
            }
            other => other,
        };
    }

    /// Whether another thread inflates.
    #[must_use]
    pub fn is_offloaded(&self) -> bool {
        matches!(self.source, ByteSource::Thread(_))
    }

    /// Whether `fill` would return without waiting for another thread.
    pub fn is_ready(&mut self) -> bool {
        match &mut self.source {
            ByteSource::Thread(thread) => thread.is_ready(),
            ByteSource::Inline(_) | ByteSource::Ended => true,
        }
    }

    /// The offset of the next byte in the member.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.received.saturating_sub(self.available() as u64)
    }

    /// Whether `fill(want)` would return without reading.
    #[must_use]
    pub fn has_available(&self, want: usize) -> bool {
        self.available() >= want || self.available() as u64 == self.remaining()
    }

    /// Makes at least `want` bytes available, fewer only at the end of the member. Returns all available bytes.
    pub fn fill(&mut self, want: usize) -> Result<&[u8]> {
        let remaining = usize::try_from(self.remaining()).unwrap_or(usize::MAX);
        let want = want.min(remaining);
        // Once all declared bytes are in the buffer, one more step finds and checks the end of the stream.
        while !self.ended && (self.available() < want || self.available() == remaining) {
            self.read_more(want);
        }
        match &self.fault {
            Some(fault) if self.available() < want || self.available() == 0 => Err(fault.clone()),
            _ => Ok(self.buffer.get(self.start..self.end).unwrap_or_default()),
        }
    }

    fn available(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    fn remaining(&self) -> u64 {
        self.member.size().saturating_sub(self.position())
    }

    /// Advances by `count` of the available bytes.
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Advances to `offset`, or to the end of the member if that is earlier.
    pub fn skip_to(&mut self, offset: u64) -> Result<()> {
        while self.position() < offset {
            let gap = usize::try_from(offset.saturating_sub(self.position())).unwrap_or(usize::MAX);
            let available = self.fill(1)?.len();
            if available == 0 {
                break;
            }
            self.consume(gap.min(available));
        }
        Ok(())
    }

    /// Reads the rest of the member to check its size and checksum.
    pub fn finish(&mut self) -> Result<()> {
        while !self.ended {
            self.start = self.end;
            self.read_more(1);
        }
        self.start = self.end;
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Reads more bytes into the buffer, or records the end.
    fn read_more(&mut self, want: usize) {
        match &mut self.source {
            ByteSource::Inline(_) => {
                if self.end == self.buffer.len()
                    && let Err(error) = self.make_space(want)
                {
                    return self.fail(error);
                }
                let ByteSource::Inline(reader) = &mut self.source else { return };
                let (count, outcome) = reader.read(self.buffer.get_mut(self.end..).unwrap_or_default());
                let ended = reader.is_at_end();
                self.end = self.end.saturating_add(count);
                self.add_step(count, ended, outcome);
            }
            ByteSource::Thread(thread) => {
                if let Some(Block { buffer, count, is_last, outcome }) = thread.receive() {
                    match self.append_block(buffer, count) {
                        Ok(()) => self.add_step(count, is_last, outcome),
                        Err(error) => self.fail(error),
                    }
                } else {
                    let lost = Error::new(
                        Kind::Archive,
                        "the decompression thread ended without a result: please report this",
                    );
                    self.add_step(0, true, Err(lost));
                }
            }
            ByteSource::Ended => self.ended = true,
        }
    }

    fn add_step(&mut self, count: usize, ended: bool, outcome: Result<()>) {
        if let Some(checksum) = &mut self.checksum {
            checksum.update(self.buffer.get(self.end.saturating_sub(count)..self.end).unwrap_or_default());
        }
        let checksum = if ended && outcome.is_ok() { self.checksum.take() } else { None };
        let outcome = outcome.and_then(|()| checksum.map_or(Ok(()), |checksum| checksum.check(&self.member)));
        self.received = self.received.saturating_add(count as u64);
        self.ended = ended || outcome.is_err();
        self.fault = outcome.err();
        if self.ended {
            self.source = ByteSource::Ended;
        }
    }

    /// Moves the unread bytes to the front. The buffer grows with the bytes read, not with declared lengths.
    fn make_space(&mut self, want: usize) -> std::result::Result<(), AllocError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end = self.end.saturating_sub(self.start);
        self.start = 0;
        if self.end == self.buffer.len() {
            let longer = self.buffer.len().saturating_mul(2).min(want.saturating_add(1));
            let longer = longer.max(self.buffer.len().saturating_add(1));
            try_reserve_exact(&mut self.buffer, longer.saturating_sub(self.end))?;
            self.buffer.resize(longer, 0);
        }
        Ok(())
    }

    /// Ends the reading because of a lack of memory.
    fn fail(&mut self, error: AllocError) {
        let offset = self.position();
        self.add_step(0, true, Err(error.for_member(self.member.name()).with(|facts| facts.offset = Some(offset))));
    }

    /// Appends the `count` bytes of the next block to the unread bytes.
    fn append_block(&mut self, mut block: Vec<u8>, count: usize) -> std::result::Result<(), AllocError> {
        let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
        let begin = HEADROOM.checked_sub(unread.len());
        let finished =
            if let Some((begin, headroom)) = begin.and_then(|begin| Some((begin, block.get_mut(begin..HEADROOM)?))) {
                headroom.copy_from_slice(unread);
                self.start = begin;
                self.end = HEADROOM.saturating_add(count);
                std::mem::replace(&mut self.buffer, block)
            } else {
                // A record longer than the headroom is copied into the own buffer, which grows with the bytes read.
                self.buffer.truncate(self.end);
                self.buffer.drain(..self.start);
                self.start = 0;
                try_reserve(&mut self.buffer, count)?;
                self.buffer.extend_from_slice(block.get(HEADROOM..HEADROOM.saturating_add(count)).unwrap_or_default());
                self.end = self.buffer.len();
                block
            };
        if let ByteSource::Thread(thread) = &self.source {
            thread.recycle(finished);
        }
        Ok(())
    }
}
