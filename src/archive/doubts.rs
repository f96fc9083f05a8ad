//! What the entries of an index say of one another: lengths that do not reach to the next record, and places that the
//! entries beside them contradict.

use super::room::{NoRoom, make_room};

/// The header of a .shp, and that of a record, in words of two bytes.
const HEADER: u32 = 50;
const RECORD_HEADER: u32 = 4;
/// The fewest words of a record.
const LEAST: u32 = 6;
/// No place: entries have 31 bits.
const NONE: u32 = u32::MAX;

/// The entries of an index as they come, each held against the one before it and the one behind it.
pub(super) struct Doubts {
    /// Records and the lengths of their contents, in words, of those that do not reach to the next record.
    pub(super) odd: Vec<(u32, u32)>,
    /// Records whose entries name no place but have a length, that fill the room between their neighbours exactly, were
    /// they to stand there, or that neither neighbour bears out.
    pub(super) misplaced: Vec<u32>,
    /// Records without place and length between neighbours that leave room for something.
    pub(super) missing: Vec<u32>,
    /// The words that entries give to their records, headers included.
    claimed: u64,
    /// Records without place and length since the last that has one: the first of them, and how many.
    run: Option<(u32, u32)>,
    /// The entry before, which waits for the next one.
    held: Option<(u32, u32)>,
    /// The number of that entry.
    record: u32,
    /// Where the last record that has a place ends, before that entry.
    end: u32,
    /// Where that entry ends, if it stands where the one before it ends: the place of the next one, as a rule.
    meets: u32,
}

impl Doubts {
    /// Before the first entry.
    pub(super) fn new() -> Self {
        Self {
            odd: Vec::new(),
            misplaced: Vec::new(),
            missing: Vec::new(),
            claimed: 0,
            run: None,
            held: None,
            record: 0,
            end: HEADER,
            meets: NONE,
        }
    }

    /// Takes the next entries at one go where each record stands where the one before it ends, as in most indices; whether
    /// they do.
    pub(super) fn pass(&mut self, entries: &[[u8; 8]]) -> bool {
        let (mut meets, mut differs, mut last) = (self.meets, 0, None);
        for entry in entries {
            let [word, length] =
                [entry.first_chunk(), entry.last_chunk()].map(|half| half.map_or(0, |half| u32::from_be_bytes(*half)));
            // Places and lengths have 31 bits.
            differs |= (word ^ meets) | ((word | length) >> 31);
            meets = word.wrapping_add(RECORD_HEADER).wrapping_add(length);
            last = Some((word, length));
        }
        let passes = differs == 0 && last.is_some();
        if let (true, Some((word, _)), Ok(count)) = (passes, last, u32::try_from(entries.len())) {
            self.record = self.record.saturating_add(count);
            self.claimed = self.claimed.saturating_add(u64::from(meets.saturating_sub(self.meets)));
            (self.end, self.held, self.meets) = (word, last, meets);
        }
        passes
    }

    /// Takes the next entry: a place and a length in words, which are 0 where a record has no shape.
    pub(super) fn add(&mut self, word: u32, length: u32) -> Result<(), NoRoom> {
        if word > 0 {
            self.claimed = self.claimed.saturating_add(u64::from(RECORD_HEADER.saturating_add(length)));
        }
        let settled = self.settle_held(word, length);
        let is_straight = word > 0 && word == self.end && self.run.is_none();
        self.meets = if is_straight { word.saturating_add(RECORD_HEADER).saturating_add(length) } else { NONE };
        settled
    }

    /// Whether a .shp that ends at a place has room for a record that no entry names.
    pub(super) fn leave_room(&self, end: u32) -> bool {
        u64::from(end) >= u64::from(HEADER + LEAST).saturating_add(self.claimed)
    }

    fn settle_held(&mut self, word: u32, length: u32) -> Result<(), NoRoom> {
        match self.held.replace((word, length)) {
            Some((held, held_length)) => self.settle(held, held_length, word),
            None => Ok(()),
        }
    }

    /// Takes the end of the .shp for the place behind the last entry.
    pub(super) fn end(&mut self, end: u32) -> Result<(), NoRoom> {
        match self.held.take() {
            Some((held, held_length)) => self.settle(held, held_length, end),
            None => Ok(()),
        }
    }

    fn settle(&mut self, word: u32, length: u32, next: u32) -> Result<(), NoRoom> {
        let record = self.record;
        self.record = record.saturating_add(1);
        let end = |start: u32| start.saturating_add(RECORD_HEADER).saturating_add(length);
        if word == 0 && length == 0 {
            let run = self.run.get_or_insert((record, 0));
            run.1 = run.1.saturating_add(1);
        } else {
            if word == 0 || end(word) != next {
                make_room(&mut self.odd, 1)?;
                self.odd.push((record, length));
            }
            if word == 0 || (word != self.end && (end(self.end) == next || end(word) != next)) {
                make_room(&mut self.misplaced, 1)?;
                self.misplaced.push(record);
            }
        }
        if word > 0 {
            self.end = end(word);
        }
        if next > 0
            && let Some((first, count)) = self.run.take().filter(|_| next > self.end)
        {
            make_room(&mut self.missing, count as usize)?;
            self.missing.extend(first..first.saturating_add(count));
        }
        Ok(())
    }
}
