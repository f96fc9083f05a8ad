//! A member as a stream through one reused buffer: inflated, counted and checked, and never held whole.

use std::sync::Arc;

use crc32fast::Hasher;
use flate2::{Decompress, FlushDecompress, Status};

use super::member::{Body, Member};
use super::store::ReadAt;
use crate::error::{Error, Result};

/// How much compressed input is fetched at a time from stores that are not in memory.
const INPUT: usize = 64 * 1024;

/// A view on the next bytes of a member. `fill` makes them available, `consume` moves on, `finish` checks the rest.
pub struct Window<'a> {
    member: &'a Member,
    store: &'a Arc<dyn ReadAt>,
    /// Where the next stored byte is, and how many are left.
    offset: u64,
    left: u64,
    inflate: Option<Box<Decompress>>,
    input: Vec<u8>,
    crc: Option<(Hasher, u32)>,
    /// Bytes produced so far, at most the declared size.
    produced: u64,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
}

impl<'a> Window<'a> {
    pub(super) fn new(member: &'a Member, size: usize) -> Result<Self> {
        let (store, offset, left, inflate, crc) = match member.body() {
            Body::Plain { store, offset, crc } => (store, *offset, member.size(), None, *crc),
            Body::Deflated { store, offset, packed, crc } => {
                (store, *offset, *packed, Some(Box::new(Decompress::new(false))), Some(*crc))
            }
            Body::Refused(reason) => return Err(member.fault(reason.clone())),
        };
        let most = usize::try_from(member.size()).unwrap_or(usize::MAX).max(1);
        Ok(Self {
            member,
            store,
            offset,
            left,
            inflate,
            input: Vec::new(),
            crc: crc.map(|expected| (Hasher::new(), expected)),
            produced: 0,
            buffer: vec![0; size.max(1).min(most)],
            start: 0,
            end: 0,
            ended: false,
        })
    }

    /// Where the window begins, in bytes from the start of the member.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.produced.saturating_sub(self.available() as u64)
    }

    /// Makes at least `want` bytes available, fewer only at the end of the member, and gives all there are.
    pub fn fill(&mut self, want: usize) -> Result<&mut [u8]> {
        let rest = usize::try_from(self.member.size().saturating_sub(self.position())).unwrap_or(usize::MAX);
        let want = want.min(rest);
        // Once all declared bytes are here, one more step finds the end of the stream and checks it.
        while !self.ended && (self.available() < want || self.available() == rest) {
            if self.end == self.buffer.len() {
                self.make_room(want);
            }
            self.produce()?;
        }
        Ok(self.buffer.get_mut(self.start..self.end).unwrap_or_default())
    }

    fn available(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Moves what is unread to the front; the buffer grows only as bytes really arrive, whatever a length claims.
    fn make_room(&mut self, want: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end = self.available();
        self.start = 0;
        if self.end == self.buffer.len() {
            let longer = self.buffer.len().saturating_mul(2).min(want.saturating_add(1));
            self.buffer.resize(longer.max(self.buffer.len().saturating_add(1)), 0);
        }
    }

    /// Moves on by `count` bytes of what `fill` gave.
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Reads what is left, so that size and checksum of the whole member are checked.
    pub fn finish(mut self) -> Result<()> {
        while !self.ended {
            self.start = 0;
            self.end = 0;
            self.produce()?;
        }
        Ok(())
    }

    /// Adds some bytes to the buffer, which has room, or notes the end.
    fn produce(&mut self) -> Result<()> {
        let before = self.end;
        match &mut self.inflate {
            None => {
                let most = usize::try_from(self.left).unwrap_or(usize::MAX);
                let room = self.buffer.get_mut(self.end..).unwrap_or_default();
                let count = room.len().min(most);
                let room = room.get_mut(..count).unwrap_or_default();
                let read = if room.is_empty() { 0 } else { read_at(self.store, self.member, self.offset, room)? };
                self.end = self.end.saturating_add(read);
                self.offset = self.offset.saturating_add(read as u64);
                self.left = self.left.saturating_sub(read as u64);
                self.ended = self.left == 0 || read == 0;
            }
            Some(inflate) => {
                let most = usize::try_from(self.left).unwrap_or(usize::MAX);
                let memory = self.store.in_memory().map(|all| {
                    let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
                    let rest = all.get(start..).unwrap_or_default();
                    rest.get(..most).unwrap_or(rest)
                });
                let input = if let Some(input) = memory {
                    input
                } else {
                    self.input.resize(INPUT.min(most), 0);
                    let read =
                        if most == 0 { 0 } else { read_at(self.store, self.member, self.offset, &mut self.input)? };
                    self.input.get(..read).unwrap_or_default()
                };
                let (in_before, out_before) = (inflate.total_in(), inflate.total_out());
                let room = self.buffer.get_mut(self.end..).unwrap_or_default();
                let status = inflate.decompress(input, room, FlushDecompress::None).map_err(|cause| {
                    self.member
                        .fault(format!("the compressed data are damaged: {cause}"))
                        .with(|facts| facts.offset = Some(self.produced))
                })?;
                let taken = inflate.total_in().saturating_sub(in_before);
                let given = inflate.total_out().saturating_sub(out_before);
                self.offset = self.offset.saturating_add(taken);
                self.left = self.left.saturating_sub(taken);
                self.end = self.end.saturating_add(usize::try_from(given).unwrap_or(0));
                match status {
                    Status::StreamEnd => self.ended = true,
                    Status::Ok | Status::BufError if taken == 0 && given == 0 => {
                        return Err(self.short());
                    }
                    Status::Ok | Status::BufError => {}
                }
            }
        }
        let fresh = self.buffer.get(before..self.end).unwrap_or_default();
        if let Some((hasher, _)) = &mut self.crc {
            hasher.update(fresh);
        }
        self.produced = self.produced.saturating_add(fresh.len() as u64);
        self.check()
    }

    fn short(&self) -> Error {
        let message = format!("it ends after {} of its {} bytes", self.produced, self.member.size());
        self.member.fault(message).with(|facts| facts.offset = Some(self.produced))
    }

    fn check(&mut self) -> Result<()> {
        if self.produced > self.member.size() {
            let message =
                format!("it inflates to more than the {} bytes that its directory declares", self.member.size());
            return Err(self.member.fault(message).with(|facts| facts.offset = Some(self.member.size())));
        }
        if !self.ended {
            return Ok(());
        }
        if self.produced < self.member.size() {
            return Err(self.short());
        }
        if self.inflate.is_some() && self.left > 0 {
            let message = format!("{} bytes follow the end of its compressed data", self.left);
            return Err(self.member.fault(message).with(|facts| facts.offset = Some(self.produced)));
        }
        if let Some((hasher, expected)) = self.crc.take() {
            let found = hasher.finalize();
            if found != expected {
                let message =
                    format!("its checksum is {found:08x}, not {expected:08x} as declared: the data are damaged");
                return Err(self.member.fault(message));
            }
        }
        Ok(())
    }
}

fn read_at(store: &Arc<dyn ReadAt>, member: &Member, offset: u64, into: &mut [u8]) -> Result<usize> {
    loop {
        match store.read_at(offset, into) {
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => {
                let message = format!("cannot be read: {cause}");
                return Err(member.fault(message).with(|facts| facts.os_error = cause.raw_os_error()));
            }
            Ok(read) => return Ok(read),
        }
    }
}
