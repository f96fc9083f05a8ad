//! The shapes of a layer into its geometry column, some at a time.

use std::collections::BTreeSet;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::ordinates::{NO_DATA, floats};
use super::wkb_builder::WkbBuilder;
use crate::archive::{
    Code, Diagnostic, Member, NoRoom, ReadOptions, Record, Set, ShapeHeader, ShapeReader, TakeShapes,
};
use crate::error::Result;

/// A .shp that is read step by step into a column of geometries.
pub(in crate::layer) struct ShapeColumn {
    reader: ShapeReader,
    builder: WkbBuilder,
    member: String,
    is_strict: bool,
    diagnostics: Vec<Diagnostic>,
    ended: bool,
}

impl TakeShapes for WkbBuilder {
    fn record(&mut self, header: ShapeHeader, number: u64, record: &Record<'_>) -> std::result::Result<(), NoRoom> {
        self.push(header, number, record)
    }

    fn points(&mut self, header: ShapeHeader, first: u64, bytes: &[u8]) -> std::result::Result<usize, NoRoom> {
        self.push_points(header, first, bytes)
    }
}

impl ShapeColumn {
    /// Reads index and header; the column is then empty. `has_m` where it is known whether vertices have M, and `capacity`
    /// for so many bytes of shapes.
    pub(in crate::layer) fn open(
        shp: &Member,
        shx: Option<&Member>,
        options: &ReadOptions,
        has_m: Option<bool>,
        capacity: u64,
    ) -> Result<Self> {
        let mut diagnostics = Vec::new();
        let reader = ShapeReader::open(shp, shx, options.strict, &mut diagnostics)?;
        let builder = WkbBuilder::new(reader.may_have_m(), has_m, capacity.min(shp.size()), reader.indexed());
        Ok(Self {
            reader,
            builder,
            member: shp.name().to_owned(),
            is_strict: options.strict,
            diagnostics,
            ended: false,
        })
    }

    /// Lets another thread unpack what is left, where that pays.
    pub(in crate::layer) fn offload(&mut self) {
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
        self.builder.records_taken.saturating_add(self.builder.len())
    }

    /// The shapes that the index counts, where one is used.
    pub(in crate::layer) fn indexed(&self) -> Option<u64> {
        self.reader.indexed()
    }

    /// Whether a shape has an M that the ones before it were written without.
    pub(in crate::layer) fn needs_m(&self) -> bool {
        self.builder.needs_m
    }

    /// Reads shapes before number `until`, as many as are at hand; false once there are no more.
    pub(in crate::layer) fn step(&mut self, until: u64) -> Result<bool> {
        if !self.ended && self.records() < until {
            match self.reader.step(until, &mut self.builder, &mut self.diagnostics) {
                Err(error) if !self.is_strict && !error.lacks_memory() => {
                    let message = format!("reading stopped here: {error}");
                    self.diagnostics.push(Diagnostic::new(Code::ShpDamaged, message).in_member(&self.member));
                    self.ended = true;
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
                Ok(has_more) => self.ended = !has_more,
            }
        }
        Ok(!self.ended)
    }

    /// The shapes read so far are settled: those before number `end` are given, but for the rows of these numbers.
    pub(in crate::layer) fn resolve(&mut self, deleted: &BTreeSet<u64>, end: u64) {
        self.builder.issues.resolve(deleted, end);
    }

    /// What was read since the last time, without the rows of these numbers, and the types of all of it; `is_last` where
    /// nothing is read after it.
    pub(in crate::layer) fn take(
        &mut self,
        deleted: &BTreeSet<u64>,
        is_last: bool,
    ) -> std::result::Result<(ArrayRef, Vec<u32>), ArrowError> {
        let types = std::mem::take(&mut self.builder.types).into_iter().collect();
        Ok((self.builder.take(deleted, is_last)?, types))
    }

    /// What was found so far, in shapes that are settled.
    pub(in crate::layer) fn report(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.extend(self.diagnostics.iter().cloned());
        self.builder.issues.report(&self.member, diagnostics);
    }
}

/// Whether any shape of a set has an M, in one pass that ends with the first that has.
///
/// `None` where the header promises none. Damage is left to the pass that reads the shapes, which meets it in its place.
pub(in crate::layer) fn detect_m(set: &Set, options: &ReadOptions) -> Result<Option<bool>> {
    let Some(shp) = &set.shp else { return Ok(None) };
    let mut ignored = Vec::new();
    let mut reader = ShapeReader::open(shp, set.shx.as_ref(), options.strict, &mut ignored)?;
    if !reader.may_have_m() {
        return Ok(None);
    }
    let mut finder = MeasureFinder { found: false };
    loop {
        match reader.step(u64::MAX, &mut finder, &mut ignored) {
            Ok(true) if !finder.found => {}
            Err(error) if error.lacks_memory() => return Err(error),
            _ => return Ok(Some(finder.found)),
        }
    }
}

struct MeasureFinder {
    found: bool,
}

impl TakeShapes for MeasureFinder {
    fn record(&mut self, _: ShapeHeader, _: u64, record: &Record<'_>) -> std::result::Result<(), NoRoom> {
        if let Record::Shape(shape) | Record::Beyond(shape) | Record::Within(shape) = record {
            self.found |= shape.vertices.m.is_some_and(|m| floats(m).any(|value| value > NO_DATA));
        }
        Ok(())
    }
}
