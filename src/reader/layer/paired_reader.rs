//! Reads .shp and .dbf as pairs of rows: a second thread inflates the longer member.

use std::collections::BTreeSet;

use arrow_schema::Field;

use super::Layer;
use super::attributes::{TableReader, TypeMode, TypeOverrides};
use super::schema::schema_error;
use super::shapes::column::{self, ShapeColumn};
use crate::archive::{Code, Diagnostic, LayerFiles, Member, ReadOptions};
use headland_base::error::{Error, Result};

/// The expected size of a shape in bytes.
const EXPECTED_SHAPE_SIZE: u64 = 64;

/// The shorter member is also long if it has at least this fraction (1/3) of the compressed bytes of the longer.
const LONG_RATIO: u64 = 3;

/// The number of rows skipped in one step.
const SKIP_CHUNK: u64 = 65_536;

/// The number of threads to use.
pub(super) fn threads(options: &ReadOptions) -> usize {
    options.threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1)
}

/// Keeps an error until the other member is checked. Lack of memory ends reading immediately.
fn defer_damage(step: Result<bool>) -> Result<Option<Error>> {
    match step {
        Err(error) if !error.lacks_memory() => Ok(Some(error)),
        done => done.map(|_| None),
    }
}

/// The error for members with different row counts.
pub(super) fn row_count_error(set: &LayerFiles, shapes: u64, records: u64) -> Error {
    let message = format!("the .shp has {shapes} records and the .dbf {records}: they do not belong together");
    let member = set.dbf.as_ref().map(|dbf| dbf.name().to_owned()).unwrap_or_default();
    Error::archive(member, message).with(|facts| facts.record = Some(shapes.min(records)))
}

/// The readers of one layer; either may be missing.
pub(super) struct PairedReader {
    pub(super) shapes: Option<ShapeColumn>,
    pub(super) table: Option<TableReader>,
    /// The rows returned in batches, deleted ones included.
    rows_taken: u64,
}

impl PairedReader {
    /// Reads all rows of a dataset.
    pub(super) fn read_all(set: &LayerFiles, options: &ReadOptions, diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        let read = |has_m: Option<bool>| -> Result<(Self, Vec<Diagnostic>)> {
            let mut lost = Vec::new();
            let mut reader = Self::open(set, options, has_m, u64::MAX, TypeMode::FromCells, &mut lost)?;
            reader.advance(u64::MAX)?;
            Ok((reader, lost))
        };
        let (mut reader, mut lost) = read(None)?;
        // The first M value changes all earlier records. Such files are rare, so read them again.
        if reader.shapes.as_ref().is_some_and(ShapeColumn::needs_m) {
            (reader, lost) = read(Some(true))?;
        }
        diagnostics.extend(lost);
        Ok(reader)
    }

    /// Opens a dataset to read batches of `size` rows.
    pub(super) fn open_batched(
        set: &LayerFiles,
        options: &ReadOptions,
        types: TypeOverrides<'_>,
        size: usize,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let has_m = match column::detect_m(set, options) {
            Err(error) if error.lacks_memory() => return Err(error),
            has_m => has_m.unwrap_or_default(),
        };
        let capacity = (size as u64).saturating_mul(EXPECTED_SHAPE_SIZE);
        Self::open(set, options, has_m, capacity, TypeMode::Fixed(types, size), diagnostics)
    }

    fn open(
        set: &LayerFiles,
        options: &ReadOptions,
        has_m: Option<bool>,
        capacity: u64,
        type_mode: TypeMode<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        // Starts to inflate the longer member before all else. With two cores, this thread can inflate the other one,
        // unless it is long too.
        let packed_size = |member: &Option<Member>| member.as_ref().map_or(0, Member::compressed_size);
        let (shp, dbf) = (packed_size(&set.shp), packed_size(&set.dbf));
        let is_shp = shp > dbf;
        let has_spare = threads(options) > 1;
        let is_long = shp.min(dbf).saturating_mul(LONG_RATIO) >= shp.max(dbf);
        let has_more = threads(options) > 2 || (has_spare && is_long && options.threads.is_none());
        let has_shapes = set.shp.is_some();
        let open_table =
            || set.dbf.as_ref().map(|dbf| TableReader::open(dbf, set.cpg.as_ref(), has_shapes, options, type_mode));
        let mut early_table = if is_shp { None } else { open_table() };
        if let (Some(Ok(table)), true) = (&mut early_table, has_spare) {
            table.offload();
        }
        let mut shapes = set.shp.as_ref().map(|shp| ShapeColumn::open(shp, set.shx.as_ref(), options, has_m, capacity));
        if let (Some(Ok(shapes)), true) = (&mut shapes, has_more || (has_spare && is_shp)) {
            shapes.offload();
        }
        let mut table = early_table.or_else(|| if is_shp { open_table() } else { None });
        if let (Some(Ok(table)), true) = (&mut table, has_more && is_shp) {
            table.offload();
        }
        // Without `strict`, one member is enough if the other cannot be opened.
        let both = shapes.is_some() && table.is_some();
        let mut lost = |error: Error| {
            let facts = error.facts();
            let Some(member) = facts.member.clone().filter(|_| both && !options.strict && !error.lacks_memory()) else {
                return Err(error);
            };
            diagnostics.push(
                Diagnostic::new(Code::MemberLost, format!("the member could not be read: {error}")).in_member(&member),
            );
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
        let mut reader = Self { shapes, table, rows_taken: 0 };
        if let (None, Some(table)) = (&reader.shapes, &mut reader.table) {
            table.count_deleted_only();
        }
        Ok(reader)
    }

    /// Reads both members up to row `until` or their end.
    ///
    /// Damage of the shapes is reported before damage of the table, so that the error does not depend on timing.
    pub(super) fn advance(&mut self, until: u64) -> Result<()> {
        let mut fault = None;
        loop {
            let needs_shapes = self.shapes.as_ref().is_some_and(|shapes| !shapes.has_reached(until));
            let needs_table = fault.is_none() && self.table.as_ref().is_some_and(|table| !table.has_reached(until));
            match (&mut self.shapes, &mut self.table) {
                (Some(shapes), Some(table)) if needs_shapes && needs_table => {
                    // Reads the member whose data are available first.
                    if shapes.is_ready() && !table.has_offloaded_data() {
                        shapes.step(until)?;
                    } else {
                        fault = defer_damage(table.step(until))?;
                    }
                }
                (Some(shapes), _) if needs_shapes => {
                    shapes.step(until)?;
                }
                (_, Some(table)) if needs_table => fault = defer_damage(table.step(until))?,
                _ => return fault.map_or(Ok(()), Err),
            }
        }
    }

    /// Returns the next `size` rows as a layer like `template`, and whether they are the last.
    pub(super) fn next_batch(
        &mut self,
        template: &Layer,
        size: usize,
        set: &LayerFiles,
        options: &ReadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(Layer, bool)> {
        let until = self.rows_taken.saturating_add(size as u64);
        self.advance(until)?;
        let row_counts = self.row_counts();
        let end = row_counts.into_iter().flatten().min().unwrap_or(0);
        let layer = self.take(template, end, false)?;
        if row_counts.into_iter().flatten().any(|count| count != end) {
            self.skip_rest()?;
            self.check_row_counts(set, options, diagnostics)?;
            return Ok((layer, true));
        }
        Ok((layer, end < until))
    }

    /// The numbers of shapes and records read so far.
    fn row_counts(&self) -> [Option<u64>; 2] {
        [self.shapes.as_ref().map(ShapeColumn::records), self.table.as_ref().map(TableReader::records)]
    }

    /// The common row count. Different counts are an error, or a diagnostic without `strict`.
    pub(super) fn check_row_counts(
        &self,
        set: &LayerFiles,
        options: &ReadOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<u64> {
        match self.row_counts() {
            [Some(shapes), Some(records)] if shapes != records => {
                let error = row_count_error(set, shapes, records);
                if options.strict {
                    return Err(error);
                }
                let kept = shapes.min(records);
                let message = format!("{}; the first {kept} were kept", error.message());
                let member = error.facts().member.clone().unwrap_or_default();
                diagnostics.push(Diagnostic::new(Code::RowMismatch, message).in_member(&member).at_record(kept));
                Ok(kept)
            }
            [shapes, records] => Ok(shapes.or(records).unwrap_or(0)),
        }
    }

    /// The fields without the geometry, with the types known so far.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.table.as_ref().map(TableReader::fields).unwrap_or_default()
    }

    /// Returns the rows before `end` that were not returned yet. `is_last` if no rows follow.
    pub(super) fn take(&mut self, template: &Layer, end: u64, is_last: bool) -> Result<Layer> {
        let (deleted, lost) = self.table.as_ref().map(|table| table.deleted(end)).unwrap_or_default();
        let kept = usize::try_from(end.saturating_sub(self.rows_taken).saturating_sub(lost)).unwrap_or(usize::MAX);
        let mut layer = template.clone();
        let mut arrays = Vec::new();
        if let Some(table) = &mut self.table {
            arrays = table.take(is_last).map_err(|cause| schema_error(&cause))?;
        }
        if let Some(shapes) = &mut self.shapes {
            shapes.resolve(&deleted, end);
            let (geometry, types) = shapes.take(&deleted, is_last).map_err(|cause| schema_error(&cause))?;
            arrays.push(geometry);
            layer.types = types;
        }
        self.rows_taken = end;
        layer.with_batch(arrays, kept)
    }

    /// Reads the rest of the longer member to count and check its records.
    fn skip_rest(&mut self) -> Result<()> {
        loop {
            let row_counts = self.row_counts();
            let before = row_counts.into_iter().flatten().max().unwrap_or(0);
            self.advance(before.saturating_add(SKIP_CHUNK))?;
            if let Some(table) = &mut self.table {
                table.take(false).map_err(|cause| schema_error(&cause))?;
            }
            if let Some(shapes) = &mut self.shapes {
                shapes.resolve(&BTreeSet::new(), 0);
                shapes.take(&BTreeSet::new(), false).map_err(|cause| schema_error(&cause))?;
            }
            if self.row_counts() == row_counts {
                return Ok(());
            }
        }
    }

    /// Adds the diagnostics so far.
    pub(super) fn report(&self, diagnostics: &mut Vec<Diagnostic>) {
        if let Some(shapes) = &self.shapes {
            shapes.report(diagnostics);
        }
        if let Some(table) = &self.table {
            table.report(diagnostics);
        }
    }

    /// The record counts of index and header, if both exist and differ.
    pub(super) fn declared_mismatch(&self) -> Option<(u64, u64)> {
        let shapes = self.shapes.as_ref()?.indexed()?;
        let records = self.table.as_ref()?.declared_records();
        (shapes != records).then_some((shapes, records))
    }
}
