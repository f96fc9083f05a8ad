//! The shapes of a layer into its geometry column, some at a time.

use std::collections::BTreeSet;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::ordinates::{NO_DATA, floats};
use super::wkb_builder::Geometries;
use crate::archive::{
    Code, Diagnostic, Member, NoRoom, ReadOptions, Record, Set, ShapeHeader, ShapeReader, TakeShapes,
};
use crate::error::Result;

/// A .shp that is read step by step into a column of geometries.
pub(in crate::layer) struct ShapeColumn {
    reader: ShapeReader,
    all: Geometries,
    name: String,
    is_strict: bool,
    notes: Vec<Diagnostic>,
    ended: bool,
}

impl TakeShapes for Geometries {
    fn record(&mut self, header: ShapeHeader, number: u64, record: &Record<'_>) -> std::result::Result<(), NoRoom> {
        self.push(header, number, record)
    }

    fn points(&mut self, header: ShapeHeader, first: u64, bytes: &[u8]) -> std::result::Result<usize, NoRoom> {
        self.push_points(header, first, bytes)
    }
}

impl ShapeColumn {
    /// Reads index and header; the column is then empty. `has_m` where it is known whether vertices have M, and `room`
    /// for so many bytes of shapes.
    pub(in crate::layer) fn open(
        shp: &Member,
        shx: Option<&Member>,
        options: &ReadOptions,
        has_m: Option<bool>,
        room: u64,
    ) -> Result<Self> {
        let mut notes = Vec::new();
        let reader = ShapeReader::open(shp, shx, options.strict, &mut notes)?;
        let all = Geometries::new(reader.may_have_m(), has_m, room.min(shp.size()), reader.indexed());
        Ok(Self { reader, all, name: shp.name().to_owned(), is_strict: options.strict, notes, ended: false })
    }

    /// Lets another thread unpack what is left, where that pays.
    pub(in crate::layer) fn hand_over(&mut self) {
        self.reader.hand_over();
    }

    /// Whether the next step would not have to wait for another thread.
    pub(in crate::layer) fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Whether shape `until` or the end is reached.
    pub(in crate::layer) fn has_reached(&self, until: u64) -> bool {
        self.ended || self.records() >= until
    }

    /// The shapes read so far.
    pub(in crate::layer) fn records(&self) -> u64 {
        self.all.taken.saturating_add(self.all.len())
    }

    /// The shapes that the index counts, where one is used.
    pub(in crate::layer) fn indexed(&self) -> Option<u64> {
        self.reader.indexed()
    }

    /// Whether a shape has an M that the ones before it were written without.
    pub(in crate::layer) fn needs_m(&self) -> bool {
        self.all.needs_m
    }

    /// Reads shapes before number `until`, as many as are at hand; false once there are no more.
    pub(in crate::layer) fn step(&mut self, until: u64) -> Result<bool> {
        if !self.ended && self.records() < until {
            match self.reader.step(until, &mut self.all, &mut self.notes) {
                Err(error) if !self.is_strict && !error.lacks_memory() => {
                    let message = format!("reading stopped here: {error}");
                    self.notes.push(Diagnostic::new(Code::ShpDamaged, message).in_member(&self.name));
                    self.ended = true;
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
                Ok(goes_on) => self.ended = !goes_on,
            }
        }
        Ok(!self.ended)
    }

    /// The shapes read so far are settled: those before number `end` are given, but for the rows of these numbers.
    pub(in crate::layer) fn settle(&mut self, deleted: &BTreeSet<u64>, end: u64) {
        self.all.findings.settle(deleted, end);
    }

    /// What was read since the last time, without the rows of these numbers, and the types of all of it; `is_last` where
    /// nothing is read after it.
    pub(in crate::layer) fn take(
        &mut self,
        deleted: &BTreeSet<u64>,
        is_last: bool,
    ) -> std::result::Result<(ArrayRef, Vec<u32>), ArrowError> {
        let types = std::mem::take(&mut self.all.types).into_iter().collect();
        Ok((self.all.take(deleted, is_last)?, types))
    }

    /// What was found so far, in shapes that are settled.
    pub(in crate::layer) fn tell(&self, notes: &mut Vec<Diagnostic>) {
        notes.extend(self.notes.iter().cloned());
        self.all.findings.tell(&self.name, notes);
    }
}

/// Whether any shape of a set has an M, in one pass that ends with the first that has.
///
/// `None` where the header promises none. Damage is left to the pass that reads the shapes, which meets it in its place.
pub(in crate::layer) fn measured(set: &Set, options: &ReadOptions) -> Result<Option<bool>> {
    let Some(shp) = &set.shp else { return Ok(None) };
    let mut ignored = Vec::new();
    let mut reader = ShapeReader::open(shp, set.shx.as_ref(), options.strict, &mut ignored)?;
    if !reader.may_have_m() {
        return Ok(None);
    }
    let mut measures = Measures { met: false };
    loop {
        match reader.step(u64::MAX, &mut measures, &mut ignored) {
            Ok(true) if !measures.met => {}
            Err(error) if error.lacks_memory() => return Err(error),
            _ => return Ok(Some(measures.met)),
        }
    }
}

struct Measures {
    met: bool,
}

impl TakeShapes for Measures {
    fn record(&mut self, _: ShapeHeader, _: u64, record: &Record<'_>) -> std::result::Result<(), NoRoom> {
        if let Record::Shape(shape) | Record::Beyond(shape) | Record::Within(shape) = record {
            self.met |= shape.vertices.m.is_some_and(|m| floats(m).any(|value| value > NO_DATA));
        }
        Ok(())
    }
}
