//! Where the records of a .shp meet, how they are counted and how long its index takes them for: what does not fit is told.

use crate::archive::code::Code;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::member::Member;

/// The places of records so far, in the order of the file.
#[derive(Debug)]
pub(super) struct Seams {
    end: u64,
    odd: u64,
    first: Option<u64>,
}

impl Seams {
    /// Records that begin at `start`.
    pub(super) fn from(start: u64) -> Self {
        Self { end: start, odd: 0, first: None }
    }

    /// Where the last record ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Takes note of a record, or of the end of the file, that may begin elsewhere than the one before it ends.
    pub(super) fn add(&mut self, record: u64, start: u64, end: u64) {
        if start != self.end {
            self.odd = self.odd.saturating_add(1);
            self.first.get_or_insert(record);
        }
        self.end = end;
    }

    /// One diagnostic, where anything was odd.
    pub(super) fn tell(&self, member: &Member, notes: &mut Vec<Diagnostic>) {
        if let Some(first) = self.first {
            let message = format!(
                "its records do not lie end to end ({} times): bytes between them belong to no record or to two",
                self.odd
            );
            notes.push(Diagnostic::new(Code::ShpSeams, message).in_member(member.name()).at(first));
        }
    }
}

/// The numbers of records so far, which follow one another wherever the count begins.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    last: Option<i32>,
    odd: Option<u64>,
}

impl Numbers {
    /// Takes note of the number of a record.
    pub(super) fn add(&mut self, record: u64, number: Option<i32>) {
        if self.last.is_some_and(|last| last.checked_add(1) != number) {
            self.odd.get_or_insert(record);
        }
        self.last = number;
    }

    /// One diagnostic, where anything was odd.
    pub(super) fn tell(&self, member: &Member, notes: &mut Vec<Diagnostic>) {
        if let Some(first) = self.odd {
            let message = "the numbers of its records do not follow one another: records may be missing or stand in \
                           another order, so that geometries may belong to other rows";
            notes.push(Diagnostic::new(Code::RecordNumbers, message).in_member(member.name()).at(first));
        }
    }
}

/// Records to which the index gives another length than they have.
#[derive(Debug)]
pub(super) struct Lengths {
    /// The index.
    member: String,
    other: u64,
    first: u64,
}

impl Lengths {
    /// None so far.
    pub(super) fn of(index: Option<&Member>) -> Self {
        Self { member: index.map(|index| index.name().to_owned()).unwrap_or_default(), other: 0, first: 0 }
    }

    /// Takes note of so many of them, and of the first.
    #[inline]
    pub(super) fn add(&mut self, (other, first): (u64, u64)) {
        if self.other == 0 {
            self.first = first;
        }
        self.other = self.other.saturating_add(other);
    }

    /// One diagnostic, where there were any.
    pub(super) fn tell(&self, notes: &mut Vec<Diagnostic>) {
        if self.other > 0 {
            let message = format!(
                "the index gives records another length than they have in the .shp, which was used ({} times, first at record \
                 {}); readers that trust the index lose their geometries",
                self.other, self.first
            );
            notes.push(Diagnostic::new(Code::RecordLengths, message).in_member(&self.member).at(self.first));
        }
    }
}
