//! Measures a compressed member with unknown sizes: inflates its data and counts the bytes.

use std::io;
use std::sync::Arc;

use crate::archive::decompress::{Decompressor, Method, Step};
use crate::archive::limits::Limits;
use crate::archive::read_at::ReadAt;

/// Bytes per read, and bytes per inflating step.
const CHUNK_SIZE: usize = 64 * 1024;

/// The sizes of a member that was inflated as far as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InflatedLength {
    /// Compressed bytes.
    pub(super) compressed: u64,
    /// Inflated bytes.
    pub(super) inflated: u64,
    pub(super) end: StreamEnd,
}

/// Why the inflating ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The compressed data have an end mark.
    Complete,
    /// There was no more input.
    Input,
    /// The data are damaged or not compressed.
    Damage,
    /// The limit of bytes was exceeded.
    Limit,
}

/// Inflates up to `limit` bytes from `offset` and discards the output.
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
