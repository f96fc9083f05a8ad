//! Reads the shapes of a layer into its geometry column, in steps.

use std::collections::BTreeSet;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::ordinates::{NO_DATA, floats};
use super::wkb_builder::WkbBuilder;
use crate::archive::{
    AllocError, Code, Diagnostic, LayerFiles, Member, ReadOptions, Record, ShapeHeader, ShapeReader, ShapeSink,
};
use headland_base::error::Result;

/// A .shp that is read in steps into a column of geometries.
pub(in crate::layer) struct ShapeColumn {
    reader: ShapeReader,
    builder: WkbBuilder,
    member: String,
    is_strict: bool,
    diagnostics: Vec<Diagnostic>,
    ended: bool,
    /// The WKB types of the shapes that were returned.
    types: BTreeSet<u32>,
}

impl ShapeSink for WkbBuilder {
    fn record(&mut self, header: ShapeHeader, number: u64, record: &Record<'_>) -> std::result::Result<(), AllocError> {
        self.push(header, number, record)
    }

    fn points(&mut self, header: ShapeHeader, first: u64, bytes: &[u8]) -> std::result::Result<usize, AllocError> {
        self.push_points(header, first, bytes)
    }
}

impl ShapeColumn {
    /// Reads index and header. `has_m` states whether vertices have M, if known. `capacity` is the expected size of the
    /// shapes in bytes.
    pub(in crate::layer) fn open(
        shp: &Member,
        shx: Option<&Member>,
        options: &ReadOptions,
        has_m: Option<bool>,
        capacity: u64,
    ) -> Result<Self> {
        let mut diagnostics = Vec::new();
        let reader = ShapeReader::open(shp, shx, options.strict, &mut diagnostics)?;
        let builder = WkbBuilder::new(reader.may_have_m(), has_m, capacity.min(shp.size()), reader.indexed_records());
        Ok(Self {
            reader,
            builder,
            member: shp.name().to_owned(),
            is_strict: options.strict,
            diagnostics,
            ended: false,
            types: BTreeSet::new(),
        })
    }

    /// Inflates the rest on another thread, if that pays.
    pub(in crate::layer) fn offload(&mut self) {
        self.reader.offload();
    }

    /// Whether the next step need not wait for another thread.
    pub(in crate::layer) fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Whether shape `until` or the end is reached.
    pub(in crate::layer) fn has_reached(&self, until: u64) -> bool {
        self.ended || self.records() >= until
    }

    /// The number of shapes read so far.
    pub(in crate::layer) fn records(&self) -> u64 {
        self.builder.records_taken.saturating_add(self.builder.len())
    }

    /// The number of shapes in the index, if one is used.
    pub(in crate::layer) fn indexed(&self) -> Option<u64> {
        self.reader.indexed_records()
    }

    /// Whether a shape has M while earlier ones were written without it.
    pub(in crate::layer) fn needs_m(&self) -> bool {
        self.builder.needs_m
    }

    /// Reads available shapes before number `until`. Returns false at the end.
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

    /// Resolves pending issues: only rows before `end` that are not deleted are returned to the caller.
    pub(in crate::layer) fn resolve(&mut self, deleted: &BTreeSet<u64>, end: u64) {
        self.builder.issues.resolve(deleted, end);
    }

    /// Returns the shapes read since the last call without deleted rows, and their WKB types. `is_last` if nothing is
    /// read after them.
    pub(in crate::layer) fn take(
        &mut self,
        deleted: &BTreeSet<u64>,
        is_last: bool,
    ) -> std::result::Result<(ArrayRef, Vec<u32>), ArrowError> {
        let types: Vec<u32> = std::mem::take(&mut self.builder.types).into_iter().collect();
        self.types.extend(&types);
        Ok((self.builder.take(deleted, is_last)?, types))
    }

    /// Adds the diagnostics of resolved rows.
    pub(in crate::layer) fn report(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.extend(self.diagnostics.iter().cloned());
        let has_m = self.types.iter().any(|code| code / 1000 >= 2);
        let has_triangles = self.types.iter().any(|code| matches!(code % 1000, 16 | 17));
        let found = [(has_m, Code::MValues), (has_triangles, Code::Triangles)];
        let found = found.into_iter().filter(|(has, _)| *has);
        diagnostics.extend(found.map(|(_, code)| Diagnostic::from_code(code).in_member(&self.member)));
        self.builder.issues.report(&self.member, diagnostics);
    }
}

/// Whether any shape has M. The pass stops at the first one.
///
/// `None` if the header declares no M. Damage is left to the pass that reads the shapes and reports it with its record.
pub(in crate::layer) fn detect_m(set: &LayerFiles, options: &ReadOptions) -> Result<Option<bool>> {
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

impl ShapeSink for MeasureFinder {
    fn record(&mut self, _: ShapeHeader, _: u64, record: &Record<'_>) -> std::result::Result<(), AllocError> {
        if let Record::Shape(shape) | Record::Overrun(shape) | Record::Underfilled(shape) = record {
            self.found |= shape.vertices.m.is_some_and(|m| floats(m).any(|value| value > NO_DATA));
        }
        Ok(())
    }
}
