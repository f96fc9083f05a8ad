//! How far a compressed member reaches that has no known end: its bytes are inflated once and counted.

use std::io;
use std::sync::Arc;

use crate::archive::decompress::{Method, Step, Unpacker};
use crate::archive::options::Limits;
use crate::archive::read_at::ReadAt;

/// How much compressed input is fetched at a time, and how much is inflated at a time.
const PIECE: usize = 64 * 1024;

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

/// Inflates what begins at `offset`, and keeps nothing of it; up to `most` bytes may be its own.
pub(super) fn count(
    store: &Arc<dyn ReadAt>,
    offset: u64,
    most: u64,
    method: Method,
    limits: &Limits,
) -> io::Result<Count> {
    let mut unpacker = Unpacker::new(method);
    let (mut input, mut at) = (Vec::new(), 0);
    let mut room = vec![0; PIECE];
    let mut count = Count { taken: 0, given: 0, ending: Ending::Input };
    loop {
        if at == input.len() {
            let left = usize::try_from(most.saturating_sub(count.taken)).unwrap_or(usize::MAX);
            input.resize(PIECE.min(left), 0);
            let read =
                if input.is_empty() { 0 } else { store.read_at(offset.saturating_add(count.taken), &mut input)? };
            input.truncate(read);
            at = 0;
        }
        let rest = input.get(at..).unwrap_or_default();
        let Step { taken, given, ended, damage } = unpacker.step(rest, &mut room);
        let is_stuck = taken == 0 && given == 0;
        count.ending = match (ended, damage) {
            (true, _) => Ending::Own,
            (_, Some(_)) => Ending::Damage,
            _ if is_stuck && rest.is_empty() => Ending::Input,
            _ if is_stuck => Ending::Damage,
            _ => Ending::Limit,
        };
        at = at.saturating_add(taken).min(input.len());
        count.taken = count.taken.saturating_add(taken as u64);
        count.given = count.given.saturating_add(given as u64);
        if count.ending != Ending::Limit || count.given > limits.bytes {
            return Ok(count);
        }
    }
}
