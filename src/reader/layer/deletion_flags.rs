//! Deletion flags of .dbf records: removes deleted records and counts invalid flags.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::columns::Chunk;
use crate::archive::{Code, Diagnostic};

/// Flags of valid and of deleted records.
const KEPT: u8 = b' ';
const DELETED: u8 = b'*';

/// State of the flags read so far.
#[derive(Default)]
pub(super) struct DeletionFlags {
    /// The numbers of deleted records that were not returned yet.
    numbers: BTreeSet<u64>,
    /// The count of deleted records that were not returned yet.
    pending: u64,
    is_counted_only: bool,
    /// The total count of deleted records, and the first of them.
    deleted: Option<(u64, u64)>,
    /// The count of records with another flag, and the first of them.
    invalid: Option<(u64, u64)>,
}

impl DeletionFlags {
    /// Counts deleted records without their numbers.
    pub(super) fn count_only(&mut self) {
        self.is_counted_only = true;
    }

    /// The deleted records before `end` that were not returned yet, and their count.
    pub(super) fn deleted_before(&self, end: u64) -> (BTreeSet<u64>, u64) {
        let before: BTreeSet<u64> = self.numbers.range(..end).copied().collect();
        let count = if self.is_counted_only { self.pending } else { before.len() as u64 };
        (before, count)
    }

    /// Forgets the deleted records so far, because their rows were returned.
    pub(super) fn reset(&mut self) {
        self.numbers.clear();
        self.pending = 0;
    }

    pub(super) fn report(&self, member: &str, diagnostics: &mut Vec<Diagnostic>) {
        let kinds = [
            (Code::DeletedRows, self.deleted, "deleted records were left out"),
            (
                Code::OddMark,
                self.invalid,
                "records have an invalid deletion flag, neither a blank nor `*`; they were kept",
            ),
        ];
        for (code, counted, text) in kinds {
            if let Some((count, first)) = counted {
                diagnostics.push(Diagnostic::new(code, format!("{count} {text}")).in_member(member).at_record(first));
            }
        }
    }

    /// Removes deleted records from records of `size` bytes; `first` is the number of the first one.
    pub(super) fn filter_kept<'a>(&mut self, bytes: &'a [u8], first: u64, size: usize) -> KeptRecords<'a> {
        let mut has_deleted = false;
        for (number, record) in (first..).zip(bytes.chunks_exact(size)) {
            match record.first() {
                Some(&KEPT) => {}
                Some(&DELETED) => has_deleted = true,
                _ => self.invalid.get_or_insert((0, number)).0 += 1,
            }
        }
        if !has_deleted {
            return KeptRecords { bytes: Cow::Borrowed(bytes), numbers: None };
        }
        // Valid records are copied together, so that the column loops need not check the flag.
        let (mut packed, mut numbers) = (Vec::with_capacity(bytes.len()), Vec::new());
        for (number, record) in (first..).zip(bytes.chunks_exact(size)) {
            if record.first() == Some(&DELETED) {
                self.add_deleted(number);
            } else {
                packed.extend_from_slice(record);
                numbers.push(number);
            }
        }
        KeptRecords { bytes: Cow::Owned(packed), numbers: Some(numbers) }
    }

    fn add_deleted(&mut self, number: u64) {
        if !self.is_counted_only {
            self.numbers.insert(number);
        }
        self.pending += 1;
        self.deleted.get_or_insert((0, number)).0 += 1;
    }
}

/// Records without the deleted ones.
pub(super) struct KeptRecords<'a> {
    bytes: Cow<'a, [u8]>,
    numbers: Option<Vec<u64>>,
}

impl KeptRecords<'_> {
    /// The records as a chunk for the columns.
    pub(super) fn to_chunk(&self, record_size: usize, first: u64) -> Chunk<'_> {
        Chunk { bytes: &self.bytes, record_size, numbers: self.numbers.as_deref(), first }
    }
}
