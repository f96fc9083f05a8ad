//! Reads the records of a .shp in the order of rows, in steps: by index, by random access, or by a scan.

use super::access::RecordAccess;
use super::gaps::{GapCheck, NumberCheck, Occurrences};
use super::{BUFFER_SIZE, HEADER, Header, RECORD_HEADER, Record, parse};
use crate::archive::alloc::AllocError;
use crate::archive::buffered_reader::BufferedReader;
use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;
use crate::archive::endian::{i32_be, i32_le};
use crate::archive::member::Member;
use headland_base::error::{Error, Result};

/// The shape type of points without Z and M.
const POINT_TYPE: i32 = 1;
/// The size of a record with such a point, its header included.
const POINT_RECORD_SIZE: usize = 28;
/// The length of its contents, in 16-bit words.
const POINT_WORDS: u32 = 10;
/// Records per step of random access.
const RANDOM_BATCH: u64 = 4096;

/// Receives the records of a .shp in the order of rows.
pub trait ShapeSink {
    /// Receives one record.
    fn record(&mut self, header: Header, number: u64, record: &Record<'_>) -> std::result::Result<(), AllocError>;

    /// Receives consecutive records of 28 bytes and returns how many it accepted. It stops before the first record that
    /// is not a point without Z and M; that record follows through [`Self::record`].
    fn points(&mut self, _header: Header, _first: u64, _bytes: &[u8]) -> std::result::Result<usize, AllocError> {
        Ok(0)
    }
}

/// A step-by-step reader of a .shp.
pub struct ShapeReader {
    member: Member,
    header: Header,
    /// The shape type in the header.
    kind: i32,
    reader: BufferedReader,
    access: RecordAccess,
    is_strict: bool,
    /// The next record.
    next: u64,
    /// Records from `next` to before this one are known to be contiguous, with 28 bytes each.
    run: u64,
    /// Gaps between records, for an access by index.
    gaps: GapCheck,
    number_check: NumberCheck,
    /// Records whose length in the index differs, and the name of the index.
    length_mismatches: Occurrences,
    shx: String,
    /// Records with an invalid length.
    bad_lengths: Occurrences,
    /// Bytes without a record so far. An index could name one large record many times, or leave one out.
    unassigned: u64,
    ended: bool,
}

impl ShapeReader {
    /// Reads the index and the header.
    ///
    /// Without `is_strict`, a damaged index is ignored. Records with a damaged length then have no shape, if the index
    /// locates the next record.
    pub fn open(
        member: &Member,
        index: Option<&Member>,
        is_strict: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let access = RecordAccess::open(member, index, is_strict, diagnostics)?;
        let mut reader = member.open(BUFFER_SIZE)?;
        let bytes = reader.fill(HEADER)?;
        let (header, kind) = (Header::read(member, bytes)?, i32_le(bytes, 32).unwrap_or(0));
        if header.length != member.size() {
            let message = format!("the header declares {} bytes, the file has {}", header.length, member.size());
            diagnostics.push(Diagnostic::new(Code::ShpLength, message).in_member(member.name()));
        }
        match &access {
            RecordAccess::Indexed(index) | RecordAccess::Random(index, _) if index.has_length_mismatch() => {
                let message = "the length of the index (.shx) differs from the length in its header";
                diagnostics.push(Diagnostic::new(Code::ShxLength, message).in_member(member.name()));
            }
            RecordAccess::Indexed(_) | RecordAccess::Random(..) => {}
            RecordAccess::Scan => reader.skip_to(HEADER as u64)?,
        }
        Ok(Self {
            member: member.clone(),
            header,
            kind,
            reader,
            access,
            is_strict,
            next: 0,
            run: 0,
            gaps: GapCheck::new(HEADER as u64),
            number_check: NumberCheck::default(),
            length_mismatches: Occurrences::default(),
            shx: index.map(|index| index.name().to_owned()).unwrap_or_default(),
            bad_lengths: Occurrences::default(),
            unassigned: member.size().saturating_sub(HEADER as u64),
            ended: false,
        })
    }

    /// The number of records of the index, if there is one.
    #[must_use]
    pub fn indexed_records(&self) -> Option<u64> {
        self.access.records()
    }

    /// Whether its header allows M.
    #[must_use]
    pub fn may_have_m(&self) -> bool {
        matches!(self.kind, 11..=28 | 31)
    }

    /// Moves the inflating to another thread if that is worthwhile.
    pub fn offload(&mut self) {
        if !matches!(self.access, RecordAccess::Random(..)) {
            self.reader.offload();
        }
    }

    /// Whether the next step would return without waiting for another thread.
    pub fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Passes available records before `stop` to `sink`; returns false after the last record.
    ///
    /// Damage that hides the next record is an error and ends the reader.
    pub fn step(&mut self, stop: u64, sink: &mut dyn ShapeSink, diagnostics: &mut Vec<Diagnostic>) -> Result<bool> {
        if !self.ended {
            let stepped = match &self.access {
                RecordAccess::Indexed(_) => self.step_indexed(stop, sink, diagnostics),
                RecordAccess::Random(..) => self.step_random(stop, sink, diagnostics),
                RecordAccess::Scan => self.step_scan(stop, sink, diagnostics),
            };
            self.ended |= stepped.is_err();
            // Reported after an error as well, since it may be the only sign that geometries belong to other rows.
            if self.ended && matches!(self.access, RecordAccess::Scan) {
                self.number_check.report(self.member.name(), diagnostics);
            }
            if self.ended {
                self.length_mismatches.report_lengths(&self.shx, diagnostics);
                self.bad_lengths.report_bad_lengths(self.member.name(), diagnostics);
            }
            stepped.map_err(|error| self.locate_error(error))?;
        }
        Ok(!self.ended)
    }

    /// Adds the record to an error about a lack of memory.
    fn locate_error(&self, error: Error) -> Error {
        if !error.lacks_memory() {
            return error;
        }
        let offset = match &self.access {
            RecordAccess::Indexed(index) | RecordAccess::Random(index, _) => index.offset(self.next),
            RecordAccess::Scan => Some(self.reader.position()),
        };
        error.with(|facts| {
            facts.member = Some(self.member.name().to_owned());
            facts.record = Some(self.next);
            facts.offset = offset;
        })
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        self.reader.finish()
    }

    fn step_indexed(&mut self, stop: u64, sink: &mut dyn ShapeSink, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
        let RecordAccess::Indexed(index) = &self.access else { return Ok(()) };
        let mut is_first = true;
        while self.next < stop {
            let record = self.next;
            let Some(offset) = index.offset(record) else {
                // Bytes after the declared end are already reported by the length of the file.
                if self.gaps.end() != self.header.length {
                    self.gaps.add(index.records(), self.member.size(), self.member.size());
                }
                self.gaps.report(self.member.name(), diagnostics);
                return self.finish();
            };
            if offset == 0 {
                sink.record(self.header, record, &Record::Null).map_err(AllocError::into_error)?;
                self.next += 1;
                continue;
            }
            let gap = usize::try_from(offset.saturating_sub(self.reader.position())).unwrap_or(usize::MAX);
            if !is_first && !self.reader.has_available(gap.saturating_add(POINT_RECORD_SIZE)) {
                break;
            }
            self.reader.skip_to(offset)?;
            if self.kind == POINT_TYPE {
                let bytes = self.reader.fill(POINT_RECORD_SIZE)?;
                let limit = stop.min(record.saturating_add((bytes.len() / POINT_RECORD_SIZE) as u64));
                self.run = self.run.max(record + 1);
                // The records before `run` are not checked again.
                while self.run < limit
                    && index.offset(self.run)
                        == index.offset(self.run - 1).map(|offset| offset + POINT_RECORD_SIZE as u64)
                {
                    self.run += 1;
                }
                let count = usize::try_from(self.run.min(limit).saturating_sub(record)).unwrap_or(0);
                let accepted = sink
                    .points(self.header, record, bytes.get(..count * POINT_RECORD_SIZE).unwrap_or_default())
                    .map_err(AllocError::into_error)?;
                if accepted > 0 {
                    self.gaps.add(record, offset, offset.saturating_add((accepted * POINT_RECORD_SIZE) as u64));
                    let (others, first) = index.count_other_lengths(record, accepted as u64, POINT_WORDS);
                    self.length_mismatches.add(others, first);
                    self.next = record.saturating_add(accepted as u64);
                    is_first = false;
                    continue;
                }
            }
            let next = index.offset(record.saturating_add(1)).filter(|next| *next > offset);
            let is_unverified = offset != self.gaps.end();
            let bytes = self.reader.fill(RECORD_HEADER)?;
            let length = match (content_length(&self.member, bytes, record, offset, is_unverified), next) {
                // The index locates the next record.
                (Err(_), Some(next)) if !self.is_strict => {
                    sink.record(self.header, record, &Record::Null).map_err(AllocError::into_error)?;
                    self.gaps.add(record, offset, next);
                    self.bad_lengths.add(1, record);
                    self.next += 1;
                    continue;
                }
                (length, _) => length?,
            };
            self.length_mismatches
                .add(index.count_other_lengths(record, 1, u32::try_from(length / 2).unwrap_or(u32::MAX)).0, record);
            // The space before the next record belongs to this one, since some writers declare too short lengths. A
            // record never extends into the next one, since shared bytes would cost more than the size of the file.
            let space = next.unwrap_or(self.member.size()).saturating_sub(offset).saturating_sub(RECORD_HEADER as u64);
            let space = usize::try_from(space).unwrap_or(usize::MAX);
            let end = offset.saturating_add((RECORD_HEADER as u64).saturating_add(length as u64));
            let length = length.min(space);
            let reach = if next.is_some() { space.min(length.saturating_add(1024)) } else { length };
            if !is_first && !self.reader.has_available(reach.saturating_add(RECORD_HEADER)) {
                break;
            }
            let bytes = self.reader.fill(reach.saturating_add(RECORD_HEADER))?;
            let contents = bytes.get(RECORD_HEADER..).unwrap_or_default();
            sink.record(self.header, record, &parse(contents, length, reach)).map_err(AllocError::into_error)?;
            self.gaps.add(record, offset, end);
            self.next += 1;
            is_first = false;
        }
        Ok(())
    }

    fn step_random(&mut self, stop: u64, sink: &mut dyn ShapeSink, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
        let RecordAccess::Random(index, bytes) = &self.access else { return Ok(()) };
        let stop = stop.min(self.next.saturating_add(RANDOM_BATCH));
        while self.next < stop {
            let record = self.next;
            let Some(offset) = index.offset(record) else {
                // Bytes after the declared end are already reported by the length of the file.
                if self.unassigned > self.member.size().saturating_sub(self.header.length) {
                    let message = format!("{} bytes between the records belong to no record", self.unassigned);
                    diagnostics.push(Diagnostic::new(Code::ShpSeams, message).in_member(self.member.name()));
                }
                self.ended = true;
                break;
            };
            if offset == 0 {
                sink.record(self.header, record, &Record::Null).map_err(AllocError::into_error)?;
            } else {
                let rest = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
                let length = match content_length(&self.member, rest, record, offset, true) {
                    Err(_) if !self.is_strict => {
                        sink.record(self.header, record, &Record::Null).map_err(AllocError::into_error)?;
                        self.bad_lengths.add(1, record);
                        self.next += 1;
                        continue;
                    }
                    length => length?,
                };
                self.length_mismatches
                    .add(index.count_other_lengths(record, 1, u32::try_from(length / 2).unwrap_or(u32::MAX)).0, record);
                self.unassigned =
                    self.unassigned.checked_sub(length.saturating_add(RECORD_HEADER) as u64).ok_or_else(|| {
                        self.member.fault("the index assigns the same bytes to several records").with(|facts| {
                            facts.record = Some(record);
                            facts.offset = Some(offset);
                        })
                    })?;
                let contents = rest.get(RECORD_HEADER..).unwrap_or_default();
                sink.record(self.header, record, &parse(contents, length, length)).map_err(AllocError::into_error)?;
            }
            self.next += 1;
        }
        Ok(())
    }

    fn step_scan(&mut self, stop: u64, sink: &mut dyn ShapeSink, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
        let mut is_first = true;
        while self.next < stop && (is_first || self.reader.has_available(POINT_RECORD_SIZE)) {
            let (record, header) = (self.next, self.header);
            let offset = self.reader.position();
            let bytes = self.reader.fill(RECORD_HEADER)?;
            if bytes.is_empty() {
                return self.finish();
            }
            // Bytes after the declared end are no record, unless the declared end is before the first record.
            let bound = if header.length > HEADER as u64 { header.length.saturating_sub(offset) } else { u64::MAX };
            if bound == 0 && i32_be(bytes, 0) != i32::try_from(record + 1).ok() {
                let rest = self.member.size().saturating_sub(offset);
                let message = format!("{rest} bytes after the declared end were left out");
                diagnostics
                    .push(Diagnostic::new(Code::ShpTrailing, message).in_member(self.member.name()).at_record(record));
                return self.finish();
            }
            if self.kind == POINT_TYPE {
                let limit =
                    usize::try_from((bound / POINT_RECORD_SIZE as u64).min(stop - record)).unwrap_or(usize::MAX);
                let count = (bytes.len() / POINT_RECORD_SIZE).min(limit);
                let accepted = sink
                    .points(header, record, bytes.get(..count * POINT_RECORD_SIZE).unwrap_or_default())
                    .map_err(AllocError::into_error)?;
                if accepted > 0 {
                    for (record, bytes) in (record..).zip(bytes.chunks_exact(POINT_RECORD_SIZE).take(accepted)) {
                        self.number_check.add(record, i32_be(bytes, 0));
                    }
                    self.reader.consume(accepted * POINT_RECORD_SIZE);
                    self.next = record.saturating_add(accepted as u64);
                    is_first = false;
                    continue;
                }
            }
            let length = content_length(&self.member, bytes, record, offset, false)?;
            let size = length.saturating_add(RECORD_HEADER);
            if !is_first && !self.reader.has_available(size) {
                break;
            }
            let bytes = self.reader.fill(size)?;
            self.number_check.add(record, i32_be(bytes, 0));
            let contents = bytes.get(RECORD_HEADER..).unwrap_or_default();
            sink.record(header, record, &parse(contents, length, length)).map_err(AllocError::into_error)?;
            self.reader.consume(size);
            self.next += 1;
            is_first = false;
        }
        Ok(())
    }
}

/// The length of the contents of a record whose header begins `bytes`. `is_unverified`: the index may be wrong.
fn content_length(member: &Member, bytes: &[u8], record: u64, offset: u64, is_unverified: bool) -> Result<usize> {
    let index_hint = if is_unverified { ", or the index is" } else { "" };
    let fault = |message: String| {
        Err(member.fault(message).with(|facts| {
            facts.record = Some(record);
            facts.offset = Some(offset);
        }))
    };
    let Some(words) = i32_be(bytes, 4) else {
        return fault(format!("the file ends inside a record header: {} bytes are left", bytes.len()));
    };
    let Ok(words) = u32::try_from(words) else {
        return fault(format!("the record has the negative length {words}: the file is damaged{index_hint}"));
    };
    let length = u64::from(words) * 2;
    let remaining = member.size().saturating_sub(offset).saturating_sub(8);
    match usize::try_from(length) {
        Ok(size) if length <= remaining => Ok(size),
        _ => fault(format!(
            "the record has {length} bytes, but only {remaining} are left: the file is truncated or damaged{index_hint}"
        )),
    }
}
