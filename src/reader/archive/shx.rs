//! The index of a shapefile (.shx): reads the offset of each record and checks the entries against the .shp.
//!
//! An index is used as a whole or not at all. Each entry must have a unique offset in the .shp. An entry of zeros is a
//! record without a shape, if the other entries leave no bytes for a record. Everything else is an error.

use super::alloc::{AllocError, try_reserve, try_reserve_exact, with_capacity};
use super::endian::i32_be;
use super::member::Member;
use super::shp::{HEADER, check_header};
use headland_base::error::{Error, Result};

const ENTRY: usize = 8;
/// The header of a record in the .shp, in 16-bit words.
const RECORD_HEADER: u32 = 4;
/// The shortest record, in 16-bit words.
const MIN_RECORD_WORDS: u64 = 6;
const BUFFER_SIZE: usize = 64 * 1024;
/// Most entries to reserve memory for before they are read, since the declared size may be wrong.
const MAX_RESERVED: usize = 1 << 24;

/// The offsets of records in the order of rows; 0 for a record without a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// In 16-bit words as in the file, which halves the memory.
    offsets: Vec<u32>,
    is_in_order: bool,
    has_length_mismatch: bool,
    /// Records that do not end where the next one begins, and the lengths of their contents in 16-bit words.
    irregular: Vec<(u32, u32)>,
}

impl Index {
    /// Reads the index of a .shp with `shp_size` bytes; `None` if it is empty.
    pub(super) fn read(member: &Member, shp_size: u64) -> Result<Option<Self>> {
        if member.size() == 0 {
            return Ok(None);
        }
        // A record has at least 12 bytes, which bounds the number of entries.
        let limit = shp_size.saturating_mul(2).saturating_add(64 * 1024);
        if member.size() > limit {
            let message =
                format!("the index is too large: its {} bytes are more than the limit of {limit}", member.size());
            return Err(member.fault(message));
        }
        let mut reader = member.open(BUFFER_SIZE)?;
        let header = reader.fill(HEADER)?;
        check_header("a shape index (.shx)", member, header)?;
        let declared = i32_be(header, 24).and_then(|words| u64::try_from(words).ok()).unwrap_or(0).saturating_mul(2);
        let end = if (HEADER as u64..=member.size()).contains(&declared) { declared } else { member.size() };
        reader.consume(HEADER);
        let mut remaining = usize::try_from(end.saturating_sub(HEADER as u64) / ENTRY as u64).unwrap_or(usize::MAX);
        let offsets = with_capacity(remaining.min(MAX_RESERVED));
        let index = Self { offsets, has_length_mismatch: declared != member.size(), ..Self::default() };
        let mut builder = IndexBuilder { member, shp_size, index, last: None, covered: 0, empty: None };
        while remaining > 0 {
            let (entries, _) = reader.fill(ENTRY)?.as_chunks();
            let entries = entries.get(..remaining).unwrap_or(entries);
            if entries.is_empty() {
                break;
            }
            builder.add(entries)?;
            let count = entries.len();
            reader.consume(count * ENTRY);
            remaining -= count;
        }
        reader.finish()?;
        builder.finish().map(Some)
    }

    /// Two records with the same offset, the later one last: one of them would have the geometry of the other.
    fn find_shared_offset(&self) -> Result<Option<(usize, usize)>> {
        // Ascending offsets are unique.
        if self.is_in_order {
            return Ok(None);
        }
        let mut sorted: Vec<(u32, usize)> = Vec::new();
        try_reserve_exact(&mut sorted, self.offsets.len()).map_err(AllocError::into_error)?;
        sorted.extend(self.offsets.iter().copied().zip(0..).filter(|(word, _)| *word > 0));
        sorted.sort_unstable();
        let shared = sorted.iter().zip(sorted.iter().skip(1)).filter(|((one, _), (other, _))| one == other);
        Ok(shared.map(|((_, one), (_, other))| (*one, *other)).min_by_key(|(_, other)| *other))
    }

    /// How many of `count` records from `first` on have another length in the index than `words`, and the first of
    /// them.
    #[inline]
    pub(super) fn count_other_lengths(&self, first: u64, count: u64, words: u32) -> (u64, u64) {
        if self.irregular.is_empty() { (0, first) } else { self.count_irregular_lengths(first, count, words) }
    }

    fn count_irregular_lengths(&self, first: u64, count: u64, words: u32) -> (u64, u64) {
        let start = self.irregular.partition_point(|(record, _)| u64::from(*record) < first);
        let end = first.saturating_add(count);
        let rest = self.irregular.get(start..).unwrap_or_default().iter();
        let mut others = rest
            .take_while(|(record, _)| u64::from(*record) < end)
            .filter(|(_, length)| *length != words)
            .map(|(record, _)| u64::from(*record))
            .peekable();
        let first = others.peek().copied().unwrap_or(end);
        (others.count() as u64, first)
    }

    /// The offset of the index entry of a record.
    pub(super) fn entry_offset(record: u64) -> u64 {
        (ENTRY as u64).saturating_mul(record).saturating_add(HEADER as u64)
    }

    /// Whether the records are contiguous in the .shp, according to their offsets and lengths in the index.
    pub(super) fn is_contiguous(&self) -> bool {
        self.irregular.is_empty()
    }

    /// The first record whose offset is not one of the ascending `offsets`, and its offset in bytes.
    pub(super) fn first_outside(&self, offsets: &[u32]) -> Option<(u64, u64)> {
        let is_outside = |word: &u32| *word > 0 && offsets.binary_search(word).is_err();
        let (record, word) = (0_u64..).zip(&self.offsets).find(|(_, word)| is_outside(word))?;
        Some((record, u64::from(*word) * 2))
    }

    /// The offset of a record in bytes; `None` after the last.
    #[must_use]
    pub(super) fn offset(&self, record: u64) -> Option<u64> {
        let word = self.offsets.get(usize::try_from(record).ok()?)?;
        Some(u64::from(*word) * 2)
    }

    /// The number of records.
    #[must_use]
    pub(super) fn records(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Whether its length differs from the declared one: entries may be truncated, or follow the declared end.
    #[must_use]
    pub(super) fn has_length_mismatch(&self) -> bool {
        self.has_length_mismatch
    }

    /// Whether the records are in the order of rows, so that one pass reads them.
    #[must_use]
    pub(super) fn is_in_order(&self) -> bool {
        self.is_in_order
    }
}

/// An index that is being read.
struct IndexBuilder<'a> {
    member: &'a Member,
    shp_size: u64,
    index: Index,
    /// The last record with an offset: its number, the length of its contents, and its end.
    last: Option<(u32, u32, u32)>,
    /// The words of all records so far, headers included.
    covered: u64,
    /// The first entry of zeros.
    empty: Option<usize>,
}

impl IndexBuilder<'_> {
    fn add(&mut self, entries: &[[u8; ENTRY]]) -> Result<()> {
        try_reserve(&mut self.index.offsets, entries.len()).map_err(|error| error.for_member(self.member.name()))?;
        for entry in entries {
            let number = |offset| i32_be(entry, offset).and_then(|number| u32::try_from(number).ok());
            let (word, length) = (number(0), number(4).unwrap_or(0));
            match word {
                Some(0) if length == 0 => {
                    self.empty.get_or_insert(self.index.offsets.len());
                }
                Some(word) if self.has_record_at(word) => self.add_record(word, length)?,
                _ => return Err(self.outside_error(i32_be(entry, 0))),
            }
            self.index.offsets.push(word.unwrap_or(0));
        }
        Ok(())
    }

    /// Whether a record may begin at an offset in words.
    fn has_record_at(&self, word: u32) -> bool {
        let offset = u64::from(word) * 2;
        offset >= HEADER as u64 && offset + 2 * MIN_RECORD_WORDS <= self.shp_size
    }

    fn add_record(&mut self, word: u32, length: u32) -> Result<()> {
        self.check_contiguous(word)?;
        let size = RECORD_HEADER.saturating_add(length);
        let record = u32::try_from(self.index.offsets.len()).unwrap_or(u32::MAX);
        self.last = Some((record, length, word.saturating_add(size)));
        self.covered = self.covered.saturating_add(u64::from(size));
        Ok(())
    }

    /// Records the last record as irregular if it does not end where the next one begins.
    #[inline]
    fn check_contiguous(&mut self, next: u32) -> Result<()> {
        if let Some((record, length, end)) = self.last
            && end != next
        {
            try_reserve(&mut self.index.irregular, 1).map_err(|error| error.for_member(self.member.name()))?;
            self.index.irregular.push((record, length));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Index> {
        let end = u32::try_from(self.shp_size / 2).unwrap_or(u32::MAX);
        self.check_contiguous(end)?;
        // Records without a shape have the offset 0.
        self.index.is_in_order =
            self.index.offsets.iter().filter(|word| **word > 0).is_sorted_by(|one, next| one < next);
        if let Some((one, other)) = self.index.find_shared_offset()? {
            let message = format!(
                "duplicate offset in the index: record {other} has the same offset as record {one}, so both would have \
                 the same geometry"
            );
            return Err(self.fault(message, other));
        }
        let remaining = u64::from(end).saturating_sub(HEADER as u64 / 2).saturating_sub(self.covered);
        if let Some(record) = self.empty.filter(|_| remaining >= MIN_RECORD_WORDS) {
            let message = format!(
                "the index has no offset for record {record}, but {} bytes of the .shp belong to no record",
                remaining * 2
            );
            return Err(self.fault(message, record));
        }
        Ok(self.index)
    }

    /// The error of an entry with an offset outside the .shp.
    fn outside_error(&self, word: Option<i32>) -> Error {
        let (record, shp_size) = (self.index.offsets.len(), self.shp_size);
        let byte = i64::from(word.unwrap_or(0)).saturating_mul(2);
        let message = format!(
            "the index has offset {byte} for record {record}, but the .shp has {shp_size} bytes: the .shp is \
             truncated, or the index belongs to another file"
        );
        self.fault(message, record)
    }

    fn fault(&self, message: String, record: usize) -> Error {
        self.member.fault(message).with(|facts| {
            facts.record = Some(record as u64);
            facts.offset = Some(Index::entry_offset(record as u64));
        })
    }
}
