//! A member as a stream through one reused buffer: inflated, counted and checked, and never held whole.

use super::alloc::{NoRoom, make_exact_room, make_room};
use super::crc32::Checksum;
use super::inflate_thread::{Block, HEADROOM, InflateThread};
use super::member::Member;
use super::member_reader::Inflow;
use crate::error::{Error, Kind, Result};

/// Members smaller than this are unpacked sooner than a thread has started.
const WORTH_A_THREAD: u64 = 256 * 1024;

/// A view on the next bytes of a member. `fill` makes them available, `consume` moves on, `finish` checks the rest.
///
/// Where the member is damaged, the bytes before the fault are given first and the fault only then, so that what is
/// read does not depend on how the bytes were cut into pieces on their way.
pub struct Window {
    member: Member,
    origin: Origin,
    /// Counted here and not where the bytes are unpacked, since nothing takes longer than that.
    checksum: Option<Checksum>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that have come into the buffer so far.
    arrived: u64,
    ended: bool,
    fault: Option<Error>,
}

/// Where the bytes come from.
enum Origin {
    /// This thread.
    Here(Box<Inflow>),
    /// Another thread.
    There(InflateThread),
    /// Nowhere: the member has ended.
    Spent,
}

impl Member {
    /// Starts to read it through a window of `size` bytes.
    pub fn window(&self, size: usize) -> Result<Window> {
        Window::new(self, size)
    }

    /// All its bytes, for members that are small by nature; an error where there are more than `most`.
    pub fn read_all(&self, most: u64) -> Result<Vec<u8>> {
        let (mut all, mut window) = (Vec::new(), self.window(64 * 1024)?);
        if self.size() > most {
            return Err(self.fault(format!("{} bytes are more than the {most} that are read of it", self.size())));
        }
        loop {
            let part = window.fill(1)?;
            if part.is_empty() {
                return Ok(all);
            }
            // Room grows as bytes come, and never beyond what is declared: a member that is held costs what it holds.
            if all.capacity() - all.len() < part.len() {
                let declared = usize::try_from(self.size()).unwrap_or(usize::MAX).saturating_sub(all.len());
                let more = all.len().min(declared).max(part.len());
                make_exact_room(&mut all, more).map_err(|lack| lack.of(self.name()))?;
            }
            all.extend_from_slice(part);
            let count = part.len();
            window.consume(count);
        }
    }
}

impl Window {
    fn new(member: &Member, size: usize) -> Result<Self> {
        let inflow = Inflow::new(member)?;
        let most = usize::try_from(member.size()).unwrap_or(usize::MAX).max(1);
        let size = size.clamp(1, most);
        let mut buffer = Vec::new();
        make_exact_room(&mut buffer, size).map_err(|lack| lack.of(member.name()))?;
        buffer.resize(size, 0);
        Ok(Self {
            checksum: Checksum::of(member),
            member: member.clone(),
            origin: Origin::Here(Box::new(inflow)),
            buffer,
            start: 0,
            end: 0,
            arrived: 0,
            ended: false,
            fault: None,
        })
    }

    /// Lets another thread unpack what is left, where there is so much of it that this pays.
    pub fn hand_over(&mut self) {
        let is_worth_it = |inflow: &Inflow| inflow.is_packed() && inflow.size() >= WORTH_A_THREAD;
        self.origin = match std::mem::replace(&mut self.origin, Origin::Spent) {
            Origin::Here(inflow) if is_worth_it(&inflow) && !self.ended => match InflateThread::start(*inflow) {
                Ok(thread) => Origin::There(thread),
                Err(inflow) => Origin::Here(inflow),
            },
            other => other,
        };
    }

    /// Whether another thread unpacks.
    #[must_use]
    pub fn is_handed_over(&self) -> bool {
        matches!(self.origin, Origin::There(_))
    }

    /// Whether `fill` would not have to wait for another thread.
    pub fn is_ready(&mut self) -> bool {
        match &mut self.origin {
            Origin::There(thread) => thread.is_ready(),
            Origin::Here(_) | Origin::Spent => true,
        }
    }

    /// Where the window begins, in bytes from the start of the member.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.arrived.saturating_sub(self.available() as u64)
    }

    /// Whether `fill(want)` has nothing to do.
    #[must_use]
    pub fn holds(&self, want: usize) -> bool {
        self.available() >= want || self.available() as u64 == self.rest()
    }

    /// Makes at least `want` bytes available, fewer only at the end of the member, and gives all there are.
    pub fn fill(&mut self, want: usize) -> Result<&[u8]> {
        let rest = usize::try_from(self.rest()).unwrap_or(usize::MAX);
        let want = want.min(rest);
        // Once all declared bytes are here, one more step finds the end of the stream and checks it.
        while !self.ended && (self.available() < want || self.available() == rest) {
            self.add(want);
        }
        match &self.fault {
            Some(fault) if self.available() < want || self.available() == 0 => Err(fault.clone()),
            _ => Ok(self.buffer.get(self.start..self.end).unwrap_or_default()),
        }
    }

    fn available(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    fn rest(&self) -> u64 {
        self.member.size().saturating_sub(self.position())
    }

    /// Moves on by `count` bytes of what `fill` gave.
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Moves on to `offset`, or to the end where that comes before.
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

    /// Reads what is left, so that size and checksum of the whole member are checked.
    pub fn finish(&mut self) -> Result<()> {
        while !self.ended {
            self.start = self.end;
            self.add(1);
        }
        self.start = self.end;
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Adds some bytes to the buffer, or notes the end.
    fn add(&mut self, want: usize) {
        match &mut self.origin {
            Origin::Here(_) => {
                if self.end == self.buffer.len()
                    && let Err(lack) = self.make_room(want)
                {
                    return self.give_up(lack);
                }
                let Origin::Here(inflow) = &mut self.origin else { return };
                let (count, outcome) = inflow.give(self.buffer.get_mut(self.end..).unwrap_or_default());
                let ended = inflow.has_ended();
                self.end = self.end.saturating_add(count);
                self.note(count, ended, outcome);
            }
            Origin::There(thread) => {
                if let Some(Block { buffer, count, is_last, outcome }) = thread.receive() {
                    match self.take(buffer, count) {
                        Ok(()) => self.note(count, is_last, outcome),
                        Err(lack) => self.give_up(lack),
                    }
                } else {
                    let lost = Error::new(Kind::Archive, "unpacking ended without an outcome: please report this");
                    self.note(0, true, Err(lost));
                }
            }
            Origin::Spent => self.ended = true,
        }
    }

    fn note(&mut self, count: usize, ended: bool, outcome: Result<()>) {
        if let Some(checksum) = &mut self.checksum {
            checksum.add(self.buffer.get(self.end.saturating_sub(count)..self.end).unwrap_or_default());
        }
        let checksum = if ended && outcome.is_ok() { self.checksum.take() } else { None };
        let outcome = outcome.and_then(|()| checksum.map_or(Ok(()), |checksum| checksum.check(&self.member)));
        self.arrived = self.arrived.saturating_add(count as u64);
        self.ended = ended || outcome.is_err();
        self.fault = outcome.err();
        if self.ended {
            self.origin = Origin::Spent;
        }
    }

    /// Moves what is unread to the front; the buffer grows only as bytes really arrive, whatever a length claims.
    fn make_room(&mut self, want: usize) -> std::result::Result<(), NoRoom> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end = self.end.saturating_sub(self.start);
        self.start = 0;
        if self.end == self.buffer.len() {
            let longer = self.buffer.len().saturating_mul(2).min(want.saturating_add(1));
            let longer = longer.max(self.buffer.len().saturating_add(1));
            make_exact_room(&mut self.buffer, longer.saturating_sub(self.end))?;
            self.buffer.resize(longer, 0);
        }
        Ok(())
    }

    /// Ends the reading where the system has no memory left for what has to be in the buffer at once.
    fn give_up(&mut self, lack: NoRoom) {
        let offset = self.position();
        self.note(0, true, Err(lack.of(self.member.name()).with(|facts| facts.offset = Some(offset))));
    }

    /// Appends the `count` bytes of the next block to the unread bytes.
    fn take(&mut self, mut block: Vec<u8>, count: usize) -> std::result::Result<(), NoRoom> {
        let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
        let begin = HEADROOM.checked_sub(unread.len());
        let finished = if let Some((begin, headroom)) = begin.and_then(|at| Some((at, block.get_mut(at..HEADROOM)?))) {
            headroom.copy_from_slice(unread);
            self.start = begin;
            self.end = HEADROOM.saturating_add(count);
            std::mem::replace(&mut self.buffer, block)
        } else {
            // A record longer than the headroom is gathered here; the buffer grows only as bytes arrive.
            self.buffer.truncate(self.end);
            self.buffer.drain(..self.start);
            self.start = 0;
            make_room(&mut self.buffer, count)?;
            self.buffer.extend_from_slice(block.get(HEADROOM..HEADROOM.saturating_add(count)).unwrap_or_default());
            self.end = self.buffer.len();
            block
        };
        if let Origin::There(thread) = &self.origin {
            thread.recycle(finished);
        }
        Ok(())
    }
}
