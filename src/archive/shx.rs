//! The index of a shapefile: where each record is.

use super::byte_order::i32_be;
use super::doubts::Doubts;
use super::member::Member;
use super::room::{NoRoom, make_exact_room, make_room, with_room};
use super::shp::{HEADER, header_of};
use super::window::Window;
use crate::error::{Error, Result};

const ENTRY: usize = 8;
/// The header of a record in the .shp.
const RECORD_HEADER: u64 = 8;
/// Stands for a place that is not known; entries have 31 bits.
pub(super) const LOST: u32 = u32::MAX;
const WINDOW: usize = 64 * 1024;
/// The most entries that room is made for before they are read, since sizes may lie.
const MOST_ROOM: usize = 1 << 24;

/// The offsets of records, in the order of rows; 0 stands for a record without a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// In words of two bytes, as the file has them: half the memory of offsets in bytes.
    words: Vec<u32>,
    in_order: bool,
    has_odd_length: bool,
    /// Records and the lengths of their contents, in words of two bytes, of those that do not reach to the next record.
    odd: Vec<(u32, u32)>,
    /// Records whose entries contradict those beside them.
    doubts: Vec<u32>,
}

impl Index {
    /// Reads the index of a .shp of `shp_size` bytes; `None` where it is empty and so says nothing.
    pub fn read(member: &Member, shp_size: u64) -> Result<Option<Self>> {
        if member.size() == 0 {
            return Ok(None);
        }
        let mut entries = Entries::open(member, shp_size)?;
        let mut words: Vec<u32> = with_room(entries.count.min(MOST_ROOM));
        let mut doubts = Doubts::new();
        entries.each(|entries| {
            make_room(&mut words, entries.len()).map_err(|lack| lack.of(member.name()))?;
            let is_straight = doubts.pass(entries);
            for entry in entries {
                let Some(word) = place(entry, shp_size) else {
                    return Err(unfit(member, words.len(), i32_be(entry, 0), shp_size));
                };
                if !is_straight {
                    doubts.add(word, length(entry)).map_err(|lack| lack.of(member.name()))?;
                }
                words.push(word);
            }
            Ok(())
        })?;
        let mut index = Self { has_odd_length: entries.has_odd_length, ..Self::from(words) };
        if let Some((one, other)) = index.shared()? {
            return Err(twice(member, one, other));
        }
        let end = u32::try_from(shp_size / 2).unwrap_or(u32::MAX);
        doubts.end(end).map_err(|lack| lack.of(member.name()))?;
        // Between records in another order there is room anyway: there, what all entries leave of the .shp counts.
        if !index.in_order {
            let left = if doubts.leave_room(end) { index.words.as_slice() } else { &[] };
            let count = left.iter().filter(|word| **word == 0).count();
            doubts.missing.clear();
            make_room(&mut doubts.missing, count).map_err(|lack| lack.of(member.name()))?;
            doubts.missing.extend((0..).zip(left).filter(|(_, word)| **word == 0).map(|(record, _)| record));
        }
        (index.odd, index.doubts) = (doubts.odd, doubts.misplaced);
        if !doubts.missing.is_empty() {
            make_room(&mut index.doubts, doubts.missing.len()).map_err(|lack| lack.of(member.name()))?;
            index.doubts.append(&mut doubts.missing);
            index.doubts.sort_unstable();
            index.doubts.dedup();
        }
        Ok(Some(index))
    }

    /// Two records that it puts at the same place, the later one last: each would have the geometry of the other.
    fn shared(&self) -> Result<Option<(usize, usize)>> {
        // Places that ascend differ.
        if self.in_order {
            return Ok(None);
        }
        let mut places: Vec<(u32, usize)> = Vec::new();
        make_exact_room(&mut places, self.words.len()).map_err(NoRoom::error)?;
        places.extend(self.words.iter().copied().zip(0..).filter(|(word, _)| *word > 0));
        places.sort_unstable();
        let shared = places.iter().zip(places.iter().skip(1)).filter(|((one, _), (other, _))| one == other);
        Ok(shared.map(|((_, one), (_, other))| (*one, *other)).min_by_key(|(_, other)| *other))
    }

    /// Changes the places of its records, in words of two bytes.
    pub(super) fn replace(&mut self, change: impl FnOnce(&mut Vec<u32>)) {
        change(&mut self.words);
        self.in_order = is_ascending(&self.words);
    }

    /// Whether entries contradict those beside them, so that only the .shp can tell where their records stand.
    pub(super) fn has_doubts(&self) -> bool {
        !self.doubts.is_empty()
    }

    /// Where the entry of a record stands.
    pub(super) fn entry(record: u64) -> u64 {
        record.saturating_mul(ENTRY as u64).saturating_add(HEADER as u64)
    }

    /// Puts the records in doubt where `starts` has them, the places of all records in the .shp, if the other entries
    /// name those very places and theirs name none; then says how many have another place now, and the first of them.
    pub(super) fn mend(&mut self, starts: Vec<u32>) -> Option<(u64, u64)> {
        let mut doubts = self.doubts.iter().copied().peekable();
        let (mut count, mut first) = (0_u64, 0);
        let agrees = starts.len() == self.words.len()
            && (0..).zip(self.words.iter().zip(&starts)).all(|(record, (word, start))| {
                let is_doubted = doubts.next_if_eq(&record).is_some();
                if word != start {
                    first = if count == 0 { u64::from(record) } else { first };
                    count = count.saturating_add(1);
                }
                word == start || (is_doubted && starts.binary_search(word).is_err())
            });
        agrees.then(|| {
            (self.words, self.in_order) = (starts, true);
            (count, first)
        })
    }

    /// How many records in doubt have no place, and the first of them.
    pub(super) fn gone(&self) -> (u64, u64) {
        let mut gone = self.doubts.iter().filter(|record| self.offset(u64::from(**record)) == Some(0)).peekable();
        let first = gone.peek().map_or(0, |record| u64::from(**record));
        (gone.count() as u64, first)
    }

    /// Of so many records from `first` on, how many the index gives another length than that of `words`; and the first.
    #[inline]
    pub(super) fn other_lengths(&self, first: u64, count: u64, words: u32) -> (u64, u64) {
        if self.odd.is_empty() { (0, first) } else { self.odd_lengths(first, count, words) }
    }

    fn odd_lengths(&self, first: u64, count: u64, words: u32) -> (u64, u64) {
        let from = self.odd.partition_point(|(record, _)| u64::from(*record) < first);
        let end = first.saturating_add(count);
        let rest = self.odd.get(from..).unwrap_or_default().iter();
        let mut others = rest
            .take_while(|(record, _)| u64::from(*record) < end)
            .filter(|(_, length)| *length != words)
            .map(|(record, _)| u64::from(*record))
            .peekable();
        let first = others.peek().copied().unwrap_or(end);
        (others.count() as u64, first)
    }

    /// The offset of a record in bytes; `None` behind the last.
    #[must_use]
    pub fn offset(&self, record: u64) -> Option<u64> {
        let word = self.words.get(usize::try_from(record).ok()?)?;
        Some(u64::from(*word) * 2)
    }

    /// How many records there are.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.words.len() as u64
    }

    /// Whether it has another length than it declares: entries may be cut off, or stand beyond its end.
    #[must_use]
    pub fn has_odd_length(&self) -> bool {
        self.has_odd_length
    }

    /// Whether the records stand in the file in the order of rows, so that one pass reads them.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.in_order
    }
}

impl From<Vec<u32>> for Index {
    fn from(words: Vec<u32>) -> Self {
        let in_order = is_ascending(&words);
        Self { words, in_order, ..Self::default() }
    }
}

/// Whether places ascend, those of records without a shape aside.
fn is_ascending(words: &[u32]) -> bool {
    words.iter().filter(|word| **word > 0).is_sorted_by(|one, next| one < next)
}

/// What can be read of an index that cannot be trusted as a whole.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// The places of records as an index has them, and `LOST` where an entry names no place of the .shp.
    pub words: Vec<u32>,
    /// The lengths of their contents in words of two bytes.
    pub lengths: Vec<u32>,
    /// Whether all entries could be read.
    is_whole: bool,
}

/// How records stand in a .shp, as far as what is left of its index says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// End to end in the order of rows.
    OfRows,
    /// In another order, or with gaps.
    Other,
    /// Too little is left to say.
    Unknown,
}

impl Remains {
    /// Reads what can be read of it; only a lack of memory is an error.
    pub(super) fn read(member: &Member, shp_size: u64) -> Result<Self> {
        let mut remains = Self::default();
        let Ok(mut entries) = Entries::open(member, shp_size) else { return Ok(remains) };
        let (words, lengths) = (&mut remains.words, &mut remains.lengths);
        // A wrong checksum, or a fault on the way, comes after the entries before it.
        let outcome = entries.each(|entries| {
            for column in [&mut *words, &mut *lengths] {
                make_room(column, entries.len()).map_err(|lack| lack.of(member.name()))?;
            }
            for entry in entries {
                let length = length(entry);
                // A record without a shape has no length either.
                words.push(place(entry, shp_size).filter(|word| *word > 0 || length == 0).unwrap_or(LOST));
                lengths.push(length);
            }
            Ok(())
        });
        if let Err(error) = &outcome
            && error.lacks_memory()
        {
            return Err(error.clone());
        }
        remains.is_whole = outcome.is_ok() || remains.words.len() == entries.count;
        Ok(remains)
    }

    /// How the records stand in a .shp of `shp_size` bytes.
    pub(super) fn order(&self, shp_size: u64) -> Order {
        let mut expected = HEADER as u64;
        let (mut agrees, mut is_open) = (false, false);
        for (word, length) in self.words.iter().zip(&self.lengths) {
            let end = expected.saturating_add(RECORD_HEADER).saturating_add(u64::from(*length) * 2);
            if *word == LOST {
                // It is taken to stand where the one before it ends; what follows has to bear that out.
                is_open |= end <= shp_size;
            } else if u64::from(*word) * 2 == expected {
                (agrees, is_open) = (true, false);
            } else {
                return Order::Other;
            }
            expected = end;
        }
        match () {
            () if is_open => Order::Other,
            () if agrees && self.is_whole => Order::OfRows,
            () => Order::Unknown,
        }
    }
}

/// The entries of an index as they are read.
struct Entries {
    window: Window,
    count: usize,
    has_odd_length: bool,
}

impl Entries {
    /// Reads the header; the entries follow.
    fn open(member: &Member, shp_size: u64) -> Result<Self> {
        // Records of a shapefile take at least 12 bytes, so an index of more entries than that is none.
        let most = shp_size.saturating_mul(2).saturating_add(64 * 1024);
        if member.size() > most {
            let message = format!("{} bytes are more than the {most} that are read of it", member.size());
            return Err(member.fault(message));
        }
        let mut window = member.window(WINDOW)?;
        let header = window.fill(HEADER)?;
        header_of("an index of shapes", member, header)?;
        let declared = i32_be(header, 24).and_then(|words| u64::try_from(words).ok()).unwrap_or(0).saturating_mul(2);
        let end = if (HEADER as u64..=member.size()).contains(&declared) { declared } else { member.size() };
        window.consume(HEADER);
        let count = usize::try_from(end.saturating_sub(HEADER as u64) / ENTRY as u64).unwrap_or(usize::MAX);
        Ok(Self { window, count, has_odd_length: declared != member.size() })
    }

    /// Hands the entries to `take`, some at a time, and checks what is left of the member behind the last.
    fn each(&mut self, mut take: impl FnMut(&[[u8; ENTRY]]) -> Result<()>) -> Result<()> {
        let mut left = self.count;
        while left > 0 {
            let bytes = self.window.fill(ENTRY)?;
            let count = (bytes.len() / ENTRY).min(left);
            if count == 0 {
                break;
            }
            let (entries, _) = bytes.as_chunks();
            take(entries.get(..count).unwrap_or_default())?;
            self.window.consume(count * ENTRY);
            left -= count;
        }
        self.window.finish()
    }
}

/// The place that an entry names, in words of two bytes, where a .shp of `shp_size` bytes has it.
fn place(entry: &[u8], shp_size: u64) -> Option<u32> {
    let fits = |word: &u32| {
        let at = u64::from(*word) * 2;
        at == 0 || (at >= HEADER as u64 && at + 12 <= shp_size)
    };
    i32_be(entry, 0).and_then(|word| u32::try_from(word).ok()).filter(fits)
}

/// The length that an entry names, in words of two bytes.
fn length(entry: &[u8]) -> u32 {
    i32_be(entry, 4).and_then(|length| u32::try_from(length).ok()).unwrap_or(0)
}

/// The error of an index that puts two records at one place.
fn twice(member: &Member, one: usize, other: usize) -> Error {
    let message = format!(
        "the index puts record {other} where record {one} is: one of the two would have the geometry of the other"
    );
    member.fault(message).with(|facts| {
        facts.record = Some(other as u64);
        facts.offset = Some(Index::entry(other as u64));
    })
}

/// The error of an entry that names no place of a record.
fn unfit(member: &Member, record: usize, word: Option<i32>, shp_size: u64) -> Error {
    let place = i64::from(word.unwrap_or(0)).saturating_mul(2);
    let message = format!(
        "the index puts record {record} at byte {place} of the .shp, which has {shp_size} bytes: the .shp is truncated, or \
         the two do not belong together"
    );
    member.fault(message).with(|facts| {
        facts.record = Some(record as u64);
        facts.offset = Some(Index::entry(record as u64));
    })
}
