//! Shapes and records side by side: one thread unpacks the longer member while this one does everything else.

use std::collections::BTreeSet;

use arrow_schema::Field;

use super::Layer;
use super::attributes::{Choice, TableReader, Typing};
use super::schema::broken;
use super::shapes::column::{self, ShapeColumn};
use crate::archive::{Code, Diagnostic, Member, ReadOptions, Set};
use crate::error::{Error, Result};

/// Bytes of a shape that room is made for before a batch is read.
const SHAPE: u64 = 64;

/// A member that has one in so many of the packed bytes of the other is long as well.
const LONG: u64 = 3;

/// Rows that are passed over at a time.
const DRAINED: u64 = 65_536;

/// How many threads may work.
pub(super) fn threads(options: &ReadOptions) -> usize {
    options.threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1)
}

/// What a step met that has to wait for what the other member says. A lack of memory has not: going on would take more.
fn damage(step: Result<bool>) -> Result<Option<Error>> {
    match step {
        Err(error) if !error.lacks_memory() => Ok(Some(error)),
        done => done.map(|_| None),
    }
}

/// The error of members that have different counts of records.
pub(super) fn mismatch(set: &Set, shapes: u64, records: u64) -> Error {
    let message = format!("the .shp has {shapes} records and the .dbf {records}: they do not belong together");
    let member = set.dbf.as_ref().map(|dbf| dbf.name().to_owned()).unwrap_or_default();
    Error::archive(member, message).with(|facts| facts.record = Some(shapes.min(records)))
}

/// The readers of one layer; either may be missing.
pub(super) struct Rows {
    pub(super) shapes: Option<ShapeColumn>,
    pub(super) table: Option<TableReader>,
    /// The rows that were taken in batches, deleted ones included.
    taken: u64,
}

impl Rows {
    /// Reads the members of a set whole; what was read is taken at once.
    pub(super) fn whole(set: &Set, options: &ReadOptions, notes: &mut Vec<Diagnostic>) -> Result<Self> {
        let read = |has_m: Option<bool>| -> Result<(Self, Vec<Diagnostic>)> {
            let mut lost = Vec::new();
            let mut rows = Self::open(set, options, has_m, u64::MAX, Typing::Cells, &mut lost)?;
            rows.advance(u64::MAX)?;
            Ok((rows, lost))
        };
        let (mut rows, mut lost) = read(None)?;
        // An M that comes late changes every record before it; such files are rare enough to be read twice.
        if rows.shapes.as_ref().is_some_and(ShapeColumn::needs_m) {
            (rows, lost) = read(Some(true))?;
        }
        notes.extend(lost);
        Ok(rows)
    }

    /// Opens them to take batches of `size` rows.
    pub(super) fn in_batches(
        set: &Set,
        options: &ReadOptions,
        types: Choice<'_>,
        size: usize,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let has_m = match column::measured(set, options) {
            Err(error) if error.lacks_memory() => return Err(error),
            measured => measured.unwrap_or_default(),
        };
        let room = (size as u64).saturating_mul(SHAPE);
        Self::open(set, options, has_m, room, Typing::Fixed(types, size), notes)
    }

    fn open(
        set: &Set,
        options: &ReadOptions,
        has_m: Option<bool>,
        room: u64,
        typing: Typing<'_>,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        // Starts the thread that unpacks the longer member, where there may be one, before anything else is read. On two
        // cores this thread has the time to unpack the other one too, unless that is long as well.
        let packed = |member: &Option<Member>| member.as_ref().map_or(0, Member::packed);
        let (shp, dbf) = (packed(&set.shp), packed(&set.dbf));
        let is_shp = shp > dbf;
        let has_spare = threads(options) > 1;
        let is_long = shp.min(dbf).saturating_mul(LONG) >= shp.max(dbf);
        let has_more = threads(options) > 2 || (has_spare && is_long && options.threads.is_none());
        let has_shapes = set.shp.is_some();
        let open_table =
            || set.dbf.as_ref().map(|dbf| TableReader::open(dbf, set.cpg.as_ref(), has_shapes, options, typing));
        let mut early = if is_shp { None } else { open_table() };
        if let (Some(Ok(table)), true) = (&mut early, has_spare) {
            table.hand_over();
        }
        let mut shapes = set.shp.as_ref().map(|shp| ShapeColumn::open(shp, set.shx.as_ref(), options, has_m, room));
        if let (Some(Ok(shapes)), true) = (&mut shapes, has_more || (has_spare && is_shp)) {
            shapes.hand_over();
        }
        let mut table = early.or_else(|| if is_shp { open_table() } else { None });
        if let (Some(Ok(table)), true) = (&mut table, has_more && is_shp) {
            table.hand_over();
        }
        // Without `strict`, one half may stand for itself where the other cannot be read at all.
        let both = shapes.is_some() && table.is_some();
        let mut lost = |error: Error| {
            let facts = error.facts();
            let Some(member) = facts.member.clone().filter(|_| both && !options.strict && !error.lacks_memory()) else {
                return Err(error);
            };
            notes.push(Diagnostic::new(Code::MemberLost, format!("it could not be read: {error}")).in_member(&member));
            Ok(())
        };
        let shapes = match shapes.transpose() {
            Err(error) => lost(error).map(|()| None)?,
            Ok(shapes) => shapes,
        };
        let table = match table.transpose() {
            Err(error) if shapes.is_some() => lost(error).map(|()| None)?,
            table => table?,
        };
        let mut rows = Self { shapes, table, taken: 0 };
        if let (None, Some(table)) = (&rows.shapes, &mut rows.table) {
            table.stand_alone();
        }
        Ok(rows)
    }

    /// Reads both up to row `until`, or to their ends.
    ///
    /// Damage of the shapes is told before damage of the table, whichever was met first.
    pub(super) fn advance(&mut self, until: u64) -> Result<()> {
        let mut fault = None;
        loop {
            let needs_shapes = self.shapes.as_ref().is_some_and(|shapes| !shapes.has_reached(until));
            let needs_table = fault.is_none() && self.table.as_ref().is_some_and(|table| !table.has_reached(until));
            match (&mut self.shapes, &mut self.table) {
                (Some(shapes), Some(table)) if needs_shapes && needs_table => {
                    // Whichever would have to wait for the other thread is left for later.
                    if shapes.is_ready() && !table.is_served() {
                        shapes.step(until)?;
                    } else {
                        fault = damage(table.step(until))?;
                    }
                }
                (Some(shapes), _) if needs_shapes => {
                    shapes.step(until)?;
                }
                (_, Some(table)) if needs_table => fault = damage(table.step(until))?,
                _ => return fault.map_or(Ok(()), Err),
            }
        }
    }

    /// The next `size` rows as a layer like `head`, and whether they are the last.
    pub(super) fn batch(
        &mut self,
        head: &Layer,
        size: usize,
        set: &Set,
        options: &ReadOptions,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<(Layer, bool)> {
        let until = self.taken.saturating_add(size as u64);
        self.advance(until)?;
        let counts = self.counts();
        let end = counts.into_iter().flatten().min().unwrap_or(0);
        let layer = self.take(head, end, false)?;
        if counts.into_iter().flatten().any(|count| count != end) {
            self.drain()?;
            self.common(set, options, notes)?;
            return Ok((layer, true));
        }
        Ok((layer, end < until))
    }

    /// The shapes and the records read so far.
    fn counts(&self) -> [Option<u64>; 2] {
        [self.shapes.as_ref().map(ShapeColumn::records), self.table.as_ref().map(TableReader::records)]
    }

    /// How many rows shapes and records have in common; an error where they differ, unless damage is to be lived with.
    pub(super) fn common(&self, set: &Set, options: &ReadOptions, notes: &mut Vec<Diagnostic>) -> Result<u64> {
        match self.counts() {
            [Some(shapes), Some(records)] if shapes != records => {
                let error = mismatch(set, shapes, records);
                if options.strict {
                    return Err(error);
                }
                let kept = shapes.min(records);
                let message = format!("{}; the first {kept} were kept", error.message());
                let member = error.facts().member.clone().unwrap_or_default();
                notes.push(Diagnostic::new(Code::RowMismatch, message).in_member(&member).at(kept));
                Ok(kept)
            }
            [shapes, records] => Ok(shapes.or(records).unwrap_or(0)),
        }
    }

    /// The fields of the columns, without the geometry, as far as their types are known.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.table.as_ref().map(TableReader::fields).unwrap_or_default()
    }

    /// The rows before number `end` that were not taken yet, and nothing of those behind it; `is_last` where nothing is
    /// read after them.
    pub(super) fn take(&mut self, head: &Layer, end: u64, is_last: bool) -> Result<Layer> {
        let (deleted, lost) = self.table.as_ref().map(|table| table.deleted(end)).unwrap_or_default();
        let kept = usize::try_from(end.saturating_sub(self.taken).saturating_sub(lost)).unwrap_or(usize::MAX);
        let mut layer = head.clone();
        let mut arrays = Vec::new();
        if let Some(table) = &mut self.table {
            arrays = table.take(is_last).map_err(|cause| broken(&cause))?;
        }
        if let Some(shapes) = &mut self.shapes {
            shapes.settle(&deleted, end);
            let (geometry, types) = shapes.take(&deleted, is_last).map_err(|cause| broken(&cause))?;
            arrays.push(geometry);
            layer.types = types;
        }
        self.taken = end;
        layer.with_batch(arrays, kept)
    }

    /// Reads the rest of the longer member, to count its records and to check it, and keeps nothing.
    fn drain(&mut self) -> Result<()> {
        loop {
            let counts = self.counts();
            let before = counts.into_iter().flatten().max().unwrap_or(0);
            self.advance(before.saturating_add(DRAINED))?;
            if let Some(table) = &mut self.table {
                table.take(false).map_err(|cause| broken(&cause))?;
            }
            if let Some(shapes) = &mut self.shapes {
                shapes.settle(&BTreeSet::new(), 0);
                shapes.take(&BTreeSet::new(), false).map_err(|cause| broken(&cause))?;
            }
            if self.counts() == counts {
                return Ok(());
            }
        }
    }

    /// What was found so far.
    pub(super) fn tell(&self, notes: &mut Vec<Diagnostic>) {
        if let Some(shapes) = &self.shapes {
            shapes.tell(notes);
        }
        if let Some(table) = &self.table {
            table.tell(notes);
        }
    }

    /// The counts that index and header declare, where there are both and they differ.
    pub(super) fn declared_mismatch(&self) -> Option<(u64, u64)> {
        let shapes = self.shapes.as_ref()?.indexed()?;
        let records = self.table.as_ref()?.declared();
        (shapes != records).then_some((shapes, records))
    }
}
