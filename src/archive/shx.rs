//! The index of a shapefile: where each record is.

use super::byte_order::i32_be;
use super::member::Member;
use super::shp::{HEADER, header_of};
use crate::error::{Error, Result};

const ENTRY: usize = 8;
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
}

impl Index {
    /// Reads the index of a .shp of `shp_size` bytes; `None` where it is empty and so says nothing.
    pub fn read(member: &Member, shp_size: u64) -> Result<Option<Self>> {
        if member.size() == 0 {
            return Ok(None);
        }
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
        let entries = usize::try_from(end.saturating_sub(HEADER as u64) / ENTRY as u64).unwrap_or(usize::MAX);
        let mut words: Vec<u32> = Vec::with_capacity(entries.min(MOST_ROOM));
        let (mut last, mut in_order) = (0, true);
        while words.len() < entries {
            let bytes = window.fill(ENTRY)?;
            let count = (bytes.len() / ENTRY).min(entries - words.len());
            if count == 0 {
                break;
            }
            for entry in bytes.chunks_exact(ENTRY).take(count) {
                let word = i32_be(entry, 0).and_then(|word| u32::try_from(word).ok());
                let fits = |word: u32| {
                    let at = u64::from(word) * 2;
                    at == 0 || (at >= HEADER as u64 && at + 12 <= shp_size)
                };
                let Some(word) = word.filter(|word| fits(*word)) else {
                    return Err(unfit(member, words.len(), i32_be(entry, 0), shp_size));
                };
                if word > 0 {
                    in_order &= word > last;
                    last = word;
                }
                words.push(word);
            }
            window.consume(count * ENTRY);
        }
        window.finish()?;
        Ok(Some(Self { words, in_order, has_odd_length: declared != member.size() }))
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

/// The error of an entry that names no place of a record.
fn unfit(member: &Member, record: usize, word: Option<i32>, shp_size: u64) -> Error {
    let place = i64::from(word.unwrap_or(0)).saturating_mul(2);
    let message = format!(
        "the index puts record {record} at byte {place} of the .shp, which has {shp_size} bytes: the .shp is truncated, or \
         the two do not belong together"
    );
    member.fault(message).with(|facts| {
        facts.record = Some(record as u64);
        facts.offset = Some((record.saturating_mul(ENTRY) as u64).saturating_add(HEADER as u64));
    })
}
