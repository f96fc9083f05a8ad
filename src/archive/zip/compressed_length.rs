//! How far a compressed member reaches that has no known end: its bytes are inflated once and counted.

use std::io;
use std::sync::Arc;

use crate::archive::decompress::{Decompressor, Method, Step};
use crate::archive::options::Limits;
use crate::archive::read_at::ReadAt;

/// How much compressed input is fetched at a time, and how much is inflated at a time.
const CHUNK_SIZE: usize = 64 * 1024;

/// What a member gave when all of it was inflated that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InflatedLength {
    /// Compressed bytes.
    pub(super) compressed: u64,
    /// Bytes that they stand for.
    pub(super) inflated: u64,
    pub(super) end: StreamEnd,
}

/// Where the inflating ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// At the end of the compressed data, as they say themselves.
    Complete,
    /// Where there was no more input.
    Input,
    /// At something that is no compressed data.
    Damage,
    /// Above the limit of bytes.
    Limit,
}

/// Inflates what begins at `offset`, and keeps nothing of it; up to `most` bytes may be its own.
pub(super) fn measure(
    store: &Arc<dyn ReadAt>,
    offset: u64,
    limit: u64,
    method: Method,
    limits: &Limits,
) -> io::Result<InflatedLength> {
    let mut decompressor = Decompressor::new(method);
    let (mut input, mut position) = (Vec::new(), 0);
    let mut output = vec![0; CHUNK_SIZE];
    let mut length = InflatedLength { compressed: 0, inflated: 0, end: StreamEnd::Input };
    loop {
        if position == input.len() {
            let remaining = usize::try_from(limit.saturating_sub(length.compressed)).unwrap_or(usize::MAX);
            input.resize(CHUNK_SIZE.min(remaining), 0);
            let read = if input.is_empty() {
                0
            } else {
                store.read_at(offset.saturating_add(length.compressed), &mut input)?
            };
            input.truncate(read);
            position = 0;
        }
        let rest = input.get(position..).unwrap_or_default();
        let Step { consumed, produced, is_at_end, damage } = decompressor.step(rest, &mut output);
        let is_stuck = consumed == 0 && produced == 0;
        length.end = match (is_at_end, damage) {
            (true, _) => StreamEnd::Complete,
            (_, Some(_)) => StreamEnd::Damage,
            _ if is_stuck && rest.is_empty() => StreamEnd::Input,
            _ if is_stuck => StreamEnd::Damage,
            _ => StreamEnd::Limit,
        };
        position = position.saturating_add(consumed).min(input.len());
        length.compressed = length.compressed.saturating_add(consumed as u64);
        length.inflated = length.inflated.saturating_add(produced as u64);
        if length.end != StreamEnd::Limit || length.inflated > limits.bytes {
            return Ok(length);
        }
    }
}
