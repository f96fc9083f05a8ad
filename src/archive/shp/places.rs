//! Which places hold a record, where the .shp or its index is damaged, or the index contradicts itself.

use std::collections::BTreeSet;

use super::{HEADER, Record, parse};
use crate::archive::byte_order::i32_be;
use crate::archive::member::Member;
use crate::archive::room::make_room;
use crate::archive::shx::{Index, LOST, Remains};
use crate::error::Result;

/// The header of a record.
const RECORD_HEADER: usize = 8;
const WINDOW: usize = 256 * 1024;

/// Where the records of a .shp stand that are so many, lie end to end up to its end and are numbered in their order;
/// `None` where they do not, or cannot be read. Only a lack of memory is an error.
pub(super) fn in_a_row(shp: &Member, count: u64) -> Result<Option<Vec<u32>>> {
    match walked(shp, count) {
        Err(error) if error.lacks_memory() => Err(error),
        walked => Ok(walked.unwrap_or_default()),
    }
}

fn walked(shp: &Member, count: u64) -> Result<Option<Vec<u32>>> {
    let mut window = shp.window(WINDOW)?;
    let declared = i32_be(window.fill(HEADER)?, 24).and_then(|words| u64::try_from(words).ok()).unwrap_or(0) * 2;
    let end = if (HEADER as u64..=shp.size()).contains(&declared) { declared } else { shp.size() };
    window.consume(HEADER);
    let (mut starts, mut before) = (Vec::new(), None);
    while window.position() < end {
        let at = window.position();
        let head = window.fill(RECORD_HEADER)?;
        let length = i32_be(head, 4).and_then(|words| u64::try_from(words).ok()).map(|words| words * 2);
        let (Some(number), Some(length), Ok(word)) = (i32_be(head, 0), length, u32::try_from(at / 2)) else {
            return Ok(None);
        };
        let next = at.saturating_add(RECORD_HEADER as u64).saturating_add(length);
        let follows = before.is_none_or(|before: i32| before.checked_add(1) == Some(number));
        if !follows || next > end || starts.len() as u64 >= count {
            return Ok(None);
        }
        make_room(&mut starts, 1).map_err(|lack| lack.of(shp.name()))?;
        starts.push(word);
        before = Some(number);
        window.skip_to(next)?;
    }
    Ok(Some(starts))
}

/// An index whose places all hold a record, and the records that have none.
pub(super) struct Places {
    pub index: Index,
    /// How many records have no place, beside those that the index itself gives none.
    pub lost: u64,
    /// The first of them.
    pub first: Option<u64>,
}

impl Places {
    fn of(mut index: Index) -> Self {
        let (mut lost, mut first) = (0_u64, None);
        index.replace(|words| {
            for (record, word) in (0..).zip(words).filter(|(_, word)| **word == LOST) {
                *word = 0;
                lost = lost.saturating_add(1);
                first.get_or_insert(record);
            }
        });
        Self { index, lost, first }
    }
}

/// The places of a sound index at which `shp` holds a whole record.
pub(super) fn held(mut index: Index, shp: &[u8]) -> Places {
    index.replace(|words| {
        for word in words.iter_mut().filter(|word| **word > 0 && contents(shp, **word).is_none()) {
            *word = LOST;
        }
    });
    Places::of(index)
}

/// The places of a damaged index that name records of `shp`; `None` where so few do that it may be no index of it.
pub(super) fn named(remains: Remains, shp: &[u8]) -> Option<Places> {
    let Remains { mut words, lengths, .. } = remains;
    let (mut claimed, mut found) = (0_usize, 0_usize);
    for (word, length) in words.iter_mut().zip(&lengths) {
        if *word == LOST || *word == 0 {
            continue;
        }
        claimed += 1;
        if is_record(shp, *word, *length) {
            found += 1;
        } else {
            *word = LOST;
        }
    }
    if found == 0 || found < claimed - found {
        return None;
    }
    // Of several entries that name one place, none can be told to be the right one.
    let mut taken: Vec<u32> = words.iter().copied().filter(|word| *word != LOST && *word != 0).collect();
    taken.sort_unstable();
    let twice: BTreeSet<u32> = taken.windows(2).filter(|two| two.first() == two.last()).flatten().copied().collect();
    for word in words.iter_mut().filter(|word| twice.contains(word)) {
        *word = LOST;
    }
    taken.retain(|word| !twice.contains(word));
    close_gaps(&mut words, &lengths, &taken, shp);
    Some(Places::of(Index::from(words)))
}

/// Finds lost records between the ones before and behind them, where they fill a gap exactly that is not among the `taken` ones, which are sorted.
fn close_gaps(words: &mut [u32], lengths: &[u32], taken: &[u32], shp: &[u8]) {
    let mut start = u32::try_from(HEADER / 2).ok();
    for (record, length) in lengths.iter().enumerate() {
        let next = words.get(record.saturating_add(1)).copied();
        let Some(word) = words.get_mut(record) else { return };
        if let (LOST, Some(gap)) = (*word, start)
            && taken.binary_search(&gap).is_err()
            && is_record(shp, gap, *length)
            && next.is_some_and(|next| next != LOST && end(shp, gap) == Some(next))
        {
            *word = gap;
        }
        start = end(shp, *word);
    }
}

/// Whether a record stands at a place: one whose counts fill it exactly, or that is as long as the index says.
fn is_record(shp: &[u8], word: u32, length: u32) -> bool {
    contents(shp, word).is_some_and(|contents| match parse(contents, contents.len(), contents.len()) {
        Record::Broken(_) => false,
        Record::Shape(_) => true,
        _ => contents.len() as u64 == u64::from(length) * 2,
    })
}

/// Where the record at a place ends, in words of two bytes.
fn end(shp: &[u8], word: u32) -> Option<u32> {
    let size = contents(shp, word)?.len().checked_add(RECORD_HEADER)?;
    word.checked_add(u32::try_from(size / 2).ok()?)
}

/// The contents of the record at a place, where all of it is there.
fn contents(shp: &[u8], word: u32) -> Option<&[u8]> {
    let rest = shp.get(usize::try_from(word).ok()?.checked_mul(2)?..)?;
    let length = usize::try_from(i32_be(rest, 4)?).ok()?.checked_mul(2)?;
    rest.get(RECORD_HEADER..RECORD_HEADER.checked_add(length)?)
}
