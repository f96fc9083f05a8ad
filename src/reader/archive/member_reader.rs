//! Sequential reader of a member: reads or inflates it into a buffer of the caller and counts the bytes.

use std::sync::Arc;

use super::alloc::AllocError;
use super::decompress::{Decompressor, Step};
use super::member::{Body, Member};
use super::read_at::ReadAt;
use headland_base::error::{Error, Result};
use headland_base::error_numbers::error_number;

/// Compressed bytes per read of a source that is not in memory.
const INPUT: usize = 64 * 1024;

/// A sequential reader of a member. It can move to another thread.
pub(super) struct MemberReader {
    member: Member,
    store: Arc<dyn ReadAt>,
    /// The offset of the next stored byte in the store, and how many stored bytes remain.
    offset: u64,
    remaining: u64,
    decompressor: Option<Decompressor>,
    /// Whether the compressed data are truncated after the bytes that the member declares.
    is_truncated: bool,
    /// Compressed bytes in the input buffer, and how many of them are consumed.
    input: Vec<u8>,
    consumed: usize,
    /// Bytes produced so far; more than the declared size is an error.
    produced: u64,
    is_at_end: bool,
}

impl MemberReader {
    pub(super) fn new(member: &Member) -> Result<Self> {
        let (store, offset, remaining, decompressor, is_truncated) = match member.body() {
            Body::Plain { store, offset, .. } => (store, *offset, member.size(), None, false),
            Body::Compressed { store, offset, compressed_size, method, is_truncated, .. } => {
                (store, *offset, *compressed_size, Some(Decompressor::new(*method)), *is_truncated)
            }
            Body::Refused(reason) => return Err(member.fault(reason.clone())),
        };
        Ok(Self {
            store: Arc::clone(store),
            member: member.clone(),
            offset,
            remaining,
            decompressor,
            is_truncated,
            input: Vec::new(),
            consumed: 0,
            produced: 0,
            is_at_end: false,
        })
    }

    pub(super) fn size(&self) -> u64 {
        self.member.size()
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.decompressor.is_some()
    }

    /// Whether the end or an error was reached.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// The error of a failed allocation.
    pub(super) fn alloc_error(&self, error: AllocError) -> Error {
        error.for_member(self.member.name()).with(|facts| facts.offset = Some(self.produced))
    }

    /// Writes bytes into `output`, which must not be empty. Returns their count, and the error that follows them.
    pub(super) fn read(&mut self, output: &mut [u8]) -> (usize, Result<()>) {
        let (count, outcome) = match self.decompressor {
            None => self.copy(output),
            Some(_) => self.decompress(output),
        };
        // Bytes beyond the declared size are counted, which is an error, but not returned.
        let rest = usize::try_from(self.member.size().saturating_sub(self.produced)).unwrap_or(usize::MAX);
        self.produced = self.produced.saturating_add(count as u64);
        let count = count.min(rest);
        if self.is_truncated && self.produced >= self.member.size() {
            self.is_at_end = true;
            return (count, Ok(()));
        }
        let outcome = outcome.and_then(|()| self.check_size());
        self.is_at_end |= outcome.is_err();
        (count, outcome)
    }

    fn copy(&mut self, output: &mut [u8]) -> (usize, Result<()>) {
        let count = output.len().min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        let output = output.get_mut(..count).unwrap_or_default();
        let read = if output.is_empty() { Ok(0) } else { read_store(&self.store, &self.member, self.offset, output) };
        match read {
            Ok(read) => {
                self.offset = self.offset.saturating_add(read as u64);
                self.remaining = self.remaining.saturating_sub(read as u64);
                self.is_at_end = self.remaining == 0 || read == 0;
                (read, Ok(()))
            }
            Err(error) => (0, Err(error)),
        }
    }

    fn decompress(&mut self, output: &mut [u8]) -> (usize, Result<()>) {
        let Some(decompressor) = &mut self.decompressor else { return (0, Ok(())) };
        let limit = usize::try_from(self.remaining).unwrap_or(usize::MAX);
        let in_memory = self.store.in_memory().map(|all| {
            let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
            let rest = all.get(start..).unwrap_or_default();
            rest.get(..limit).unwrap_or(rest)
        });
        let input = if let Some(input) = in_memory {
            input
        } else {
            if self.consumed == self.input.len() && limit > 0 {
                self.input.resize(INPUT.min(limit), 0);
                match read_store(&self.store, &self.member, self.offset, &mut self.input) {
                    Ok(read) => self.input.truncate(read),
                    Err(error) => return (0, Err(error)),
                }
                self.consumed = 0;
            }
            self.input.get(self.consumed..).unwrap_or_default()
        };
        let Step { consumed, produced, is_at_end, damage } = decompressor.step(input, output);
        self.consumed = self.consumed.saturating_add(consumed).min(self.input.len());
        self.offset = self.offset.saturating_add(consumed as u64);
        self.remaining = self.remaining.saturating_sub(consumed as u64);
        self.is_at_end = is_at_end;
        let outcome = if let Some(cause) = damage {
            let offset = self.produced.saturating_add(produced as u64);
            let error = self.member.fault(format!("the compressed data are damaged: {cause}"));
            Err(error.with(|facts| facts.offset = Some(offset)))
        } else if !is_at_end && consumed == 0 && produced == 0 {
            Err(self.truncation_error())
        } else {
            Ok(())
        };
        (produced, outcome)
    }

    fn truncation_error(&self) -> Error {
        let message =
            format!("the data are truncated: they end after {} of {} bytes", self.produced, self.member.size());
        self.member.fault(message).with(|facts| facts.offset = Some(self.produced))
    }

    fn check_size(&mut self) -> Result<()> {
        if self.produced > self.member.size() {
            let message = format!(
                "the member inflates to more than the {} bytes that the central directory declares",
                self.member.size()
            );
            return Err(self.member.fault(message).with(|facts| facts.offset = Some(self.member.size())));
        }
        if !self.is_at_end {
            return Ok(());
        }
        if self.produced < self.member.size() {
            return Err(self.truncation_error());
        }
        if self.decompressor.is_some() && self.remaining > 0 {
            let message = format!("{} bytes follow the end of the compressed data", self.remaining);
            return Err(self.member.fault(message).with(|facts| facts.offset = Some(self.produced)));
        }
        Ok(())
    }
}

fn read_store(store: &Arc<dyn ReadAt>, member: &Member, offset: u64, output: &mut [u8]) -> Result<usize> {
    loop {
        match store.read_at(offset, output) {
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => {
                let message = format!("cannot read the member: {cause}");
                return Err(member.fault(message).with(|facts| facts.os_error = error_number(&cause)));
            }
            Ok(read) => return Ok(read),
        }
    }
}
