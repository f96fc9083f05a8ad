//! The records of a .shp in the order of rows, some at a time: followed by an index, jumped to, or walked through.

use super::access::Way;
use super::gaps::{Met, Numbers, Seams};
use super::{HEADER, Header, Record, parse};
use crate::archive::alloc::NoRoom;
use crate::archive::buffered_reader::Window;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::{i32_be, i32_le};
use crate::archive::member::Member;
use crate::error::{Error, Result};

const WINDOW: usize = 256 * 1024;
/// The header of a record.
const RECORD_HEADER: usize = 8;
/// The type of points of X and Y alone.
const PLAIN_POINTS: i32 = 1;
/// A record that holds such a point, its header included.
const POINT: usize = 28;
/// The contents of such a record in words of two bytes.
const POINT_WORDS: u32 = 10;
/// So many records a step where all of them are in memory.
const JUMPS: u64 = 4096;

/// Takes the records of a .shp, in the order of rows.
pub trait TakeShapes {
    /// Takes one record.
    fn record(&mut self, header: Header, number: u64, record: &Record<'_>) -> std::result::Result<(), NoRoom>;

    /// Takes records of 28 bytes that stand one behind the other, and says how many: it stops before the first that is
    /// no plain point, which then comes as a record of its own.
    fn points(&mut self, _header: Header, _first: u64, _bytes: &[u8]) -> std::result::Result<usize, NoRoom> {
        Ok(0)
    }
}

/// A .shp that is read step by step.
pub struct ShapeReader {
    member: Member,
    header: Header,
    /// The number of the shape type in the header.
    kind: i32,
    window: Window,
    way: Way,
    is_strict: bool,
    /// The next record.
    next: u64,
    /// Records before this one are known to stand 28 bytes behind one another, from the next one on.
    run: u64,
    /// Where records meet, as far as an index says where they are.
    seams: Seams,
    numbers: Numbers,
    /// Records that the index gives another length, and its name.
    lengths: Met,
    shx: String,
    /// Records with a length that no record has.
    lengthless: Met,
    /// The bytes that no record has had: an index could name one large record many times, or leave one out.
    left: u64,
    ended: bool,
}

impl ShapeReader {
    /// Reads index and header; the reader then stands before the first record.
    ///
    /// Without `is_strict`, a damaged index is ignored, and records whose length is damaged have no shape where the index
    /// knows the next.
    pub fn open(member: &Member, index: Option<&Member>, is_strict: bool, notes: &mut Vec<Diagnostic>) -> Result<Self> {
        let way = Way::find(member, index, is_strict, notes)?;
        let mut window = member.window(WINDOW)?;
        let bytes = window.fill(HEADER)?;
        let (header, kind) = (Header::read(member, bytes)?, i32_le(bytes, 32).unwrap_or(0));
        if header.length != member.size() {
            let message = format!("its header declares {} bytes, it has {}", header.length, member.size());
            notes.push(Diagnostic::new(Code::ShpLength, message).in_member(member.name()));
        }
        match &way {
            Way::Follow(index) | Way::Jump(index, _) if index.has_odd_length() => {
                let message = "its index (.shx) has another length than it declares";
                notes.push(Diagnostic::new(Code::ShxLength, message).in_member(member.name()));
            }
            Way::Follow(_) | Way::Jump(..) => {}
            Way::Walk => window.skip_to(HEADER as u64)?,
        }
        Ok(Self {
            member: member.clone(),
            header,
            kind,
            window,
            way,
            is_strict,
            next: 0,
            run: 0,
            seams: Seams::from(HEADER as u64),
            numbers: Numbers::default(),
            lengths: Met::default(),
            shx: index.map(|index| index.name().to_owned()).unwrap_or_default(),
            lengthless: Met::default(),
            left: member.size().saturating_sub(HEADER as u64),
            ended: false,
        })
    }

    /// The records that the index counts, where one is used.
    #[must_use]
    pub fn indexed(&self) -> Option<u64> {
        self.way.records()
    }

    /// Whether its header lets vertices have an M.
    #[must_use]
    pub fn may_have_m(&self) -> bool {
        matches!(self.kind, 11..=28 | 31)
    }

    /// Lets another thread unpack what is left, where that pays.
    pub fn hand_over(&mut self) {
        if !matches!(self.way, Way::Jump(..)) {
            self.window.hand_over();
        }
    }

    /// Whether the next step would not have to wait for another thread.
    pub fn is_ready(&mut self) -> bool {
        self.window.is_ready()
    }

    /// Hands records before number `until` to `into`, as many as are at hand; false once there are no more.
    ///
    /// Damage that hides where the next record is ends the reader with an error.
    pub fn step(&mut self, until: u64, into: &mut dyn TakeShapes, notes: &mut Vec<Diagnostic>) -> Result<bool> {
        if !self.ended {
            let stepped = match &self.way {
                Way::Follow(_) => self.follow(until, into, notes),
                Way::Jump(..) => self.jump(until, into, notes),
                Way::Walk => self.walk(until, into, notes),
            };
            self.ended |= stepped.is_err();
            // Told where a fault ends the reader too: it may be all that shows records of other rows.
            if self.ended && matches!(self.way, Way::Walk) {
                self.numbers.tell(self.member.name(), notes);
            }
            if self.ended {
                self.lengths.tell_lengths(&self.shx, notes);
                self.lengthless.tell_lengthless(self.member.name(), notes);
            }
            stepped.map_err(|error| self.at_hand(error))?;
        }
        Ok(!self.ended)
    }

    /// The same error; one of a lack of memory is about the record that was read.
    fn at_hand(&self, error: Error) -> Error {
        if !error.lacks_memory() {
            return error;
        }
        let offset = match &self.way {
            Way::Follow(index) | Way::Jump(index, _) => index.offset(self.next),
            Way::Walk => Some(self.window.position()),
        };
        error.with(|facts| {
            facts.member = Some(self.member.name().to_owned());
            facts.record = Some(self.next);
            facts.offset = offset;
        })
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        self.window.finish()
    }

    fn follow(&mut self, until: u64, into: &mut dyn TakeShapes, notes: &mut Vec<Diagnostic>) -> Result<()> {
        let Way::Follow(index) = &self.way else { return Ok(()) };
        let mut is_first = true;
        while self.next < until {
            let record = self.next;
            let Some(offset) = index.offset(record) else {
                // What follows the declared end is told by the length of the file already.
                if self.seams.end() != self.header.length {
                    self.seams.add(index.records(), self.member.size(), self.member.size());
                }
                self.seams.tell(self.member.name(), notes);
                return self.finish();
            };
            if offset == 0 {
                into.record(self.header, record, &Record::Null).map_err(NoRoom::error)?;
                self.next += 1;
                continue;
            }
            let gap = usize::try_from(offset.saturating_sub(self.window.position())).unwrap_or(usize::MAX);
            if !is_first && !self.window.holds(gap.saturating_add(POINT)) {
                break;
            }
            self.window.skip_to(offset)?;
            if self.kind == PLAIN_POINTS {
                let bytes = self.window.fill(POINT)?;
                let most = until.min(record.saturating_add((bytes.len() / POINT) as u64));
                self.run = self.run.max(record + 1);
                // Known runs are not looked at again, whatever stands in them.
                while self.run < most
                    && index.offset(self.run) == index.offset(self.run - 1).map(|at| at + POINT as u64)
                {
                    self.run += 1;
                }
                let count = usize::try_from(self.run.min(most).saturating_sub(record)).unwrap_or(0);
                let taken = into
                    .points(self.header, record, bytes.get(..count * POINT).unwrap_or_default())
                    .map_err(NoRoom::error)?;
                if taken > 0 {
                    self.seams.add(record, offset, offset.saturating_add((taken * POINT) as u64));
                    let (others, first) = index.other_lengths(record, taken as u64, POINT_WORDS);
                    self.lengths.add(others, first);
                    self.next = record.saturating_add(taken as u64);
                    is_first = false;
                    continue;
                }
            }
            let next = index.offset(record.saturating_add(1)).filter(|next| *next > offset);
            let is_doubtful = offset != self.seams.end();
            let bytes = self.window.fill(RECORD_HEADER)?;
            let length = match (content_length(&self.member, bytes, record, offset, is_doubtful), next) {
                // The index knows where the one after it is.
                (Err(_), Some(next)) if !self.is_strict => {
                    into.record(self.header, record, &Record::Null).map_err(NoRoom::error)?;
                    self.seams.add(record, offset, next);
                    self.lengthless.add(1, record);
                    self.next += 1;
                    continue;
                }
                (length, _) => length?,
            };
            self.lengths.add(index.other_lengths(record, 1, u32::try_from(length / 2).unwrap_or(u32::MAX)).0, record);
            // The space up to the next record is the record's too: some writers declare less than they write. None may
            // reach into the next one: records that share bytes would cost more than the file has.
            let space = next.unwrap_or(self.member.size()).saturating_sub(offset).saturating_sub(RECORD_HEADER as u64);
            let space = usize::try_from(space).unwrap_or(usize::MAX);
            let end = offset.saturating_add((RECORD_HEADER as u64).saturating_add(length as u64));
            let length = length.min(space);
            let reach = if next.is_some() { space.min(length.saturating_add(1024)) } else { length };
            if !is_first && !self.window.holds(reach.saturating_add(RECORD_HEADER)) {
                break;
            }
            let bytes = self.window.fill(reach.saturating_add(RECORD_HEADER))?;
            let contents = bytes.get(RECORD_HEADER..).unwrap_or_default();
            into.record(self.header, record, &parse(contents, length, reach)).map_err(NoRoom::error)?;
            self.seams.add(record, offset, end);
            self.next += 1;
            is_first = false;
        }
        Ok(())
    }

    fn jump(&mut self, until: u64, into: &mut dyn TakeShapes, notes: &mut Vec<Diagnostic>) -> Result<()> {
        let Way::Jump(index, bytes) = &self.way else { return Ok(()) };
        let until = until.min(self.next.saturating_add(JUMPS));
        while self.next < until {
            let record = self.next;
            let Some(offset) = index.offset(record) else {
                // What follows the declared end is told by the length of the file already.
                if self.left > self.member.size().saturating_sub(self.header.length) {
                    let message = format!("{} bytes between its records belong to none of them", self.left);
                    notes.push(Diagnostic::new(Code::ShpSeams, message).in_member(self.member.name()));
                }
                self.ended = true;
                break;
            };
            if offset == 0 {
                into.record(self.header, record, &Record::Null).map_err(NoRoom::error)?;
            } else {
                let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let length = match content_length(&self.member, rest, record, offset, true) {
                    Err(_) if !self.is_strict => {
                        into.record(self.header, record, &Record::Null).map_err(NoRoom::error)?;
                        self.lengthless.add(1, record);
                        self.next += 1;
                        continue;
                    }
                    length => length?,
                };
                self.lengths
                    .add(index.other_lengths(record, 1, u32::try_from(length / 2).unwrap_or(u32::MAX)).0, record);
                self.left = self.left.checked_sub(length.saturating_add(RECORD_HEADER) as u64).ok_or_else(|| {
                    self.member.fault("the index names the same bytes for several records").with(|facts| {
                        facts.record = Some(record);
                        facts.offset = Some(offset);
                    })
                })?;
                let contents = rest.get(RECORD_HEADER..).unwrap_or_default();
                into.record(self.header, record, &parse(contents, length, length)).map_err(NoRoom::error)?;
            }
            self.next += 1;
        }
        Ok(())
    }

    fn walk(&mut self, until: u64, into: &mut dyn TakeShapes, notes: &mut Vec<Diagnostic>) -> Result<()> {
        let mut is_first = true;
        while self.next < until && (is_first || self.window.holds(POINT)) {
            let (record, header) = (self.next, self.header);
            let offset = self.window.position();
            let bytes = self.window.fill(RECORD_HEADER)?;
            if bytes.is_empty() {
                return self.finish();
            }
            // What follows the declared end is no record, unless the declared end lies before the first one.
            let bound = if header.length > HEADER as u64 { header.length.saturating_sub(offset) } else { u64::MAX };
            if bound == 0 && i32_be(bytes, 0) != i32::try_from(record + 1).ok() {
                let rest = self.member.size().saturating_sub(offset);
                let message = format!("{rest} bytes after the declared end are left out");
                notes.push(Diagnostic::new(Code::ShpTrailing, message).in_member(self.member.name()).at(record));
                return self.finish();
            }
            if self.kind == PLAIN_POINTS {
                let most = usize::try_from((bound / POINT as u64).min(until - record)).unwrap_or(usize::MAX);
                let count = (bytes.len() / POINT).min(most);
                let taken = into
                    .points(header, record, bytes.get(..count * POINT).unwrap_or_default())
                    .map_err(NoRoom::error)?;
                if taken > 0 {
                    for (record, bytes) in (record..).zip(bytes.chunks_exact(POINT).take(taken)) {
                        self.numbers.add(record, i32_be(bytes, 0));
                    }
                    self.window.consume(taken * POINT);
                    self.next = record.saturating_add(taken as u64);
                    is_first = false;
                    continue;
                }
            }
            let length = content_length(&self.member, bytes, record, offset, false)?;
            let size = length.saturating_add(RECORD_HEADER);
            if !is_first && !self.window.holds(size) {
                break;
            }
            let bytes = self.window.fill(size)?;
            self.numbers.add(record, i32_be(bytes, 0));
            let contents = bytes.get(RECORD_HEADER..).unwrap_or_default();
            into.record(header, record, &parse(contents, length, length)).map_err(NoRoom::error)?;
            self.window.consume(size);
            self.next += 1;
            is_first = false;
        }
        Ok(())
    }
}

/// The length of the contents of the record whose header begins `bytes`; `is_doubtful` where the index may be wrong about
/// its offset.
fn content_length(member: &Member, bytes: &[u8], record: u64, offset: u64, is_doubtful: bool) -> Result<usize> {
    let or_index = if is_doubtful { ", or its index is" } else { "" };
    let fault = |message: String| {
        Err(member.fault(message).with(|facts| {
            facts.record = Some(record);
            facts.offset = Some(offset);
        }))
    };
    let Some(words) = i32_be(bytes, 4) else {
        return fault(format!("it ends inside the header of a record: {} bytes are left", bytes.len()));
    };
    let Ok(words) = u32::try_from(words) else {
        return fault(format!("the record has the negative length {words}: the file is damaged{or_index}"));
    };
    let length = u64::from(words) * 2;
    let left = member.size().saturating_sub(offset).saturating_sub(8);
    match usize::try_from(length) {
        Ok(size) if length <= left => Ok(size),
        _ => fault(format!(
            "the record has {length} bytes, but only {left} are left: the file is truncated or damaged{or_index}"
        )),
    }
}
