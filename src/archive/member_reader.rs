//! The bytes of a member as they come: read or unpacked and counted, into whatever room there is.

use std::sync::Arc;

use super::alloc::NoRoom;
use super::decompress::{Step, Unpacker};
use super::member::{Body, Member};
use super::read_at::ReadAt;
use crate::error::{Error, Result};

/// How much compressed input is fetched at a time from stores that are not in memory.
const INPUT: usize = 64 * 1024;

/// A member that is being read from its beginning to its end; it may move to another thread.
pub(super) struct Inflow {
    member: Member,
    store: Arc<dyn ReadAt>,
    /// Where the next stored byte is that was not taken yet, and how many are left.
    offset: u64,
    left: u64,
    unpacker: Option<Unpacker>,
    /// Whether the compressed data end early, behind the bytes that the member declares.
    is_cut: bool,
    /// Compressed bytes that were fetched, and where those begin that were not taken yet.
    input: Vec<u8>,
    taken: usize,
    /// Bytes given so far, at most the declared size.
    given: u64,
    ended: bool,
}

impl Inflow {
    pub(super) fn new(member: &Member) -> Result<Self> {
        let (store, offset, left, unpacker, is_cut) = match member.body() {
            Body::Plain { store, offset, .. } => (store, *offset, member.size(), None, false),
            Body::Packed { store, offset, packed, method, is_cut, .. } => {
                (store, *offset, *packed, Some(Unpacker::new(*method)), *is_cut)
            }
            Body::Refused(reason) => return Err(member.fault(reason.clone())),
        };
        Ok(Self {
            store: Arc::clone(store),
            member: member.clone(),
            offset,
            left,
            unpacker,
            is_cut,
            input: Vec::new(),
            taken: 0,
            given: 0,
            ended: false,
        })
    }

    /// The declared size of the member in bytes.
    pub(super) fn size(&self) -> u64 {
        self.member.size()
    }

    /// Whether unpacking is a part of the work.
    pub(super) fn is_packed(&self) -> bool {
        self.unpacker.is_some()
    }

    /// Whether there is nothing more, since the end came or a fault.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The error where the system has no memory left for more of it.
    pub(super) fn refused(&self, lack: NoRoom) -> Error {
        lack.of(self.member.name()).with(|facts| facts.offset = Some(self.given))
    }

    /// Writes some bytes into `room`, which is not empty: how many, and what is wrong behind them.
    pub(super) fn give(&mut self, room: &mut [u8]) -> (usize, Result<()>) {
        let (count, outcome) = match self.unpacker {
            None => self.copy(room),
            Some(_) => self.unpack(room),
        };
        // Bytes beyond the declared size are counted, which is a fault, and given to nobody.
        let rest = usize::try_from(self.member.size().saturating_sub(self.given)).unwrap_or(usize::MAX);
        self.given = self.given.saturating_add(count as u64);
        let count = count.min(rest);
        if self.is_cut && self.given >= self.member.size() {
            self.ended = true;
            return (count, Ok(()));
        }
        let outcome = outcome.and_then(|()| self.check());
        self.ended |= outcome.is_err();
        (count, outcome)
    }

    fn copy(&mut self, room: &mut [u8]) -> (usize, Result<()>) {
        let count = room.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let room = room.get_mut(..count).unwrap_or_default();
        let read = if room.is_empty() { Ok(0) } else { read_at(&self.store, &self.member, self.offset, room) };
        match read {
            Ok(read) => {
                self.offset = self.offset.saturating_add(read as u64);
                self.left = self.left.saturating_sub(read as u64);
                self.ended = self.left == 0 || read == 0;
                (read, Ok(()))
            }
            Err(error) => (0, Err(error)),
        }
    }

    fn unpack(&mut self, room: &mut [u8]) -> (usize, Result<()>) {
        let Some(unpacker) = &mut self.unpacker else { return (0, Ok(())) };
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let memory = self.store.in_memory().map(|all| {
            let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
            let rest = all.get(start..).unwrap_or_default();
            rest.get(..most).unwrap_or(rest)
        });
        let input = if let Some(input) = memory {
            input
        } else {
            if self.taken == self.input.len() && most > 0 {
                self.input.resize(INPUT.min(most), 0);
                match read_at(&self.store, &self.member, self.offset, &mut self.input) {
                    Ok(read) => self.input.truncate(read),
                    Err(error) => return (0, Err(error)),
                }
                self.taken = 0;
            }
            self.input.get(self.taken..).unwrap_or_default()
        };
        let Step { taken, given, ended, damage } = unpacker.step(input, room);
        self.taken = self.taken.saturating_add(taken).min(self.input.len());
        self.offset = self.offset.saturating_add(taken as u64);
        self.left = self.left.saturating_sub(taken as u64);
        self.ended = ended;
        let outcome = if let Some(cause) = damage {
            let at = self.given.saturating_add(given as u64);
            let error = self.member.fault(format!("the compressed data are damaged: {cause}"));
            Err(error.with(|facts| facts.offset = Some(at)))
        } else if !ended && taken == 0 && given == 0 {
            Err(self.short())
        } else {
            Ok(())
        };
        (given, outcome)
    }

    fn short(&self) -> Error {
        let message = format!("it ends after {} of its {} bytes", self.given, self.member.size());
        self.member.fault(message).with(|facts| facts.offset = Some(self.given))
    }

    fn check(&mut self) -> Result<()> {
        if self.given > self.member.size() {
            let message =
                format!("it inflates to more than the {} bytes that its directory declares", self.member.size());
            return Err(self.member.fault(message).with(|facts| facts.offset = Some(self.member.size())));
        }
        if !self.ended {
            return Ok(());
        }
        if self.given < self.member.size() {
            return Err(self.short());
        }
        if self.unpacker.is_some() && self.left > 0 {
            let message = format!("{} bytes follow the end of its compressed data", self.left);
            return Err(self.member.fault(message).with(|facts| facts.offset = Some(self.given)));
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
