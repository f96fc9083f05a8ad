//! What inflates of a member that has no known end: counted once, and then read as if it were a file of that size.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::archive::options::Limits;
use crate::archive::store::ReadAt;
use crate::archive::unpack::{Method, Step, Unpacker};

/// How much compressed input is fetched at a time, and how much is passed over at a time.
const PIECE: usize = 64 * 1024;

/// Where a compressed member begins, how many bytes follow that may be its own, and how it is compressed.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) store: Arc<dyn ReadAt>,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) method: Method,
}

/// What a member gave when all of it was inflated that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// Compressed bytes.
    pub(super) taken: u64,
    /// Bytes that they stand for.
    pub(super) given: u64,
    pub(super) ending: Ending,
}

/// Where the inflating ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// At the end of the compressed data, as they say themselves.
    Own,
    /// Where there was no more input.
    Input,
    /// At something that is no compressed data.
    Damage,
    /// Above the limit of bytes.
    Limit,
}

/// A member that is being inflated from its beginning.
struct Stream {
    unpacker: Unpacker,
    input: Vec<u8>,
    /// Where the bytes of `input` begin that were not taken yet.
    at: usize,
    taken: u64,
    given: u64,
    ending: Option<Ending>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { taken, given, ending, .. } = self;
        write!(f, "Stream({taken} bytes became {given}, {ending:?})")
    }
}

impl Stream {
    fn new(method: Method) -> Self {
        Self { unpacker: Unpacker::new(method), input: Vec::new(), at: 0, taken: 0, given: 0, ending: None }
    }

    /// Inflates some bytes into `room`, which is not empty; none only at the end.
    fn give(&mut self, of: &Packed, room: &mut [u8]) -> io::Result<usize> {
        while self.ending.is_none() {
            if self.at == self.input.len() {
                let left = usize::try_from(of.size.saturating_sub(self.taken)).unwrap_or(usize::MAX);
                self.input.resize(PIECE.min(left), 0);
                let count = match &mut self.input[..] {
                    [] => 0,
                    input => of.store.read_at(of.offset.saturating_add(self.taken), input)?,
                };
                self.input.truncate(count);
                self.at = 0;
            }
            let input = self.input.get(self.at..).unwrap_or_default();
            let has_input = !input.is_empty();
            let Step { taken, given, ended, damage } = self.unpacker.step(input, room);
            self.at = self.at.saturating_add(taken).min(self.input.len());
            self.taken = self.taken.saturating_add(taken as u64);
            self.given = self.given.saturating_add(given as u64);
            self.ending = match (ended, damage) {
                (true, _) => Some(Ending::Own),
                (_, Some(_)) => Some(Ending::Damage),
                _ if taken == 0 && given == 0 => Some(if has_input { Ending::Damage } else { Ending::Input }),
                _ => None,
            };
            if given > 0 {
                return Ok(given);
            }
        }
        Ok(0)
    }
}

impl Packed {
    /// Inflates all that is there and keeps nothing.
    pub(super) fn count(&self, limits: &Limits) -> io::Result<Count> {
        let mut stream = Stream::new(self.method);
        let mut room = vec![0; PIECE];
        while stream.give(self, &mut room)? > 0 {
            if stream.given > limits.bytes {
                stream.ending = Some(Ending::Limit);
            }
        }
        let ending = stream.ending.unwrap_or(Ending::Input);
        Ok(Count { taken: stream.taken, given: stream.given, ending })
    }
}

/// The bytes of such a member, from their beginning on. It is made for readers that go forward: going back means to
/// start again.
#[derive(Debug)]
pub(super) struct Inflated {
    packed: Packed,
    size: u64,
    stream: Mutex<Stream>,
}

impl Inflated {
    /// The first `size` bytes, as many as were counted.
    pub(super) fn new(packed: Packed, size: u64) -> Self {
        let stream = Mutex::new(Stream::new(packed.method));
        Self { packed, size, stream }
    }
}

impl ReadAt for Inflated {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = into.len().min(left);
        let Some(into) = into.get_mut(..count).filter(|into| !into.is_empty()) else { return Ok(0) };
        // Whoever panicked left a stream that is no worse than one that is ahead or behind.
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if stream.given > offset {
            *stream = Stream::new(self.packed.method);
        }
        if stream.given < offset {
            let mut room = vec![0; PIECE];
            while stream.given < offset {
                let gap = usize::try_from(offset.saturating_sub(stream.given)).unwrap_or(PIECE).min(PIECE);
                if stream.give(&self.packed, room.get_mut(..gap).unwrap_or_default())? == 0 {
                    return Ok(0);
                }
            }
        }
        stream.give(&self.packed, into)
    }
}
