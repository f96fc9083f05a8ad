//! Builds the rows of FMIS records: one per section with values, or one per step.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeBinaryArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::Field;

use super::columns::{Column, tally};
use super::lines::{Line, LineError};
use crate::archive::{
    AllocError, Code, Diagnostic, Encoding, Fmis, Layout, Quantity, ReadOptions, Slot, check_available, try_reserve,
};
use crate::layer::Layer;
use crate::layer::columns::number::{Cell, IntegerCell, parse_float, parse_integer};
use crate::layer::crs::Crs;
use crate::layer::schema::{self, schema_error};
use crate::layer::wkb::POINT_HEADER;
use headland_base::error::{Error, Kind, Result};
use headland_base::names::same;

/// The column with the section number.
const SECTION: &str = "SECTION";

/// The bytes of a row in addition to its columns: a point and its offset.
const ROW_OVERHEAD: u64 = 29;

/// The bytes of rows that are allowed for a table of any size.
const MIN_BUDGET: u64 = 16 << 20;

/// The rows read so far.
pub(super) struct RowBuilder {
    layout: Layout,
    wanted: Option<Vec<String>>,
    is_strict: bool,
    /// The limit of row bytes per table byte.
    ratio: u64,
    /// The bytes of the table, and of the rows made from it.
    bytes_read: u64,
    bytes_made: u64,
    step_columns: Vec<Column>,
    section: Column,
    section_columns: Vec<Column>,
    /// The cell of each quantity, by section.
    cells: Vec<Vec<Option<usize>>>,
    id: Option<usize>,
    last_id: Option<i64>,
    latitude: Option<usize>,
    longitude: Option<usize>,
    points: Vec<u8>,
    valid: NullBufferBuilder,
    records: u64,
    count: usize,
    /// Sections with values and cell ranges of the current record; the vectors are reused.
    active: Vec<usize>,
    ranges: Vec<Range<usize>>,
    /// The last record that fits the layout, and whether the last line has no end.
    last_kept: Option<u64>,
    lacks_line_end: bool,
    /// The records that do not fit, and the reason of the first.
    misfits: Option<(u64, u64)>,
    first_misfit: String,
    /// Counts and first records of issues.
    id_jumps: Option<(u64, u64)>,
    empty_steps: Option<(u64, u64)>,
    trailing_cells: Option<(u64, u64)>,
    without_position: Option<(u64, u64)>,
    bad_positions: Option<(u64, u64)>,
}

impl RowBuilder {
    pub(super) fn new(layout: Layout, options: &ReadOptions) -> Result<Self> {
        let name = options.encoding.as_deref().unwrap_or("UTF-8");
        let encoding =
            Encoding::from_name(name).ok_or_else(|| Error::new(Kind::Value, format!("unknown encoding `{name}`")))?;
        let mut cells = vec![vec![None; layout.section_quantities.len()]; layout.sections.len()];
        let mut step_cells = HashMap::new();
        for (cell, slot) in layout.slots.iter().enumerate() {
            match slot {
                Slot::Step(column) => {
                    step_cells.insert(*column, cell);
                }
                Slot::Section(section, column) => {
                    if let Some(entry) = cells.get_mut(*section).and_then(|cells| cells.get_mut(*column)) {
                        *entry = Some(cell);
                    }
                }
            }
        }
        let is_number = |name: &str| {
            ["LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"].iter().any(|known| same(name, known))
        };
        // The prefix distinguishes a step column from a section column of the same name. Its type is the same.
        let base_name = |name: &str| name.strip_prefix("STEP_").unwrap_or(name).to_owned();
        let column = |quantity: &Quantity| match &*base_name(&quantity.name) {
            name if same(name, "TIMESTAMP") => {
                Column::times(quantity.unit.as_ref().is_some_and(|unit| same(unit, "UTC")))
            }
            name if is_number(name) => Column::numbers(),
            _ => Column::unknown(encoding.clone()),
        };
        let find_cell = |wanted: &str| {
            let column = layout.step_quantities.iter().position(|quantity| same(&base_name(&quantity.name), wanted))?;
            step_cells.get(&column).copied()
        };
        let mut rows = Self {
            wanted: None,
            is_strict: options.strict,
            ratio: options.limits.ratio,
            bytes_read: 0,
            bytes_made: 0,
            step_columns: layout.step_quantities.iter().map(column).collect(),
            section: Column::numbers(),
            section_columns: layout.section_quantities.iter().map(|_| Column::numbers()).collect(),
            cells,
            id: find_cell("ID"),
            last_id: None,
            latitude: find_cell("LATITUDE"),
            longitude: find_cell("LONGITUDE"),
            points: Vec::new(),
            valid: NullBufferBuilder::new(0),
            records: 0,
            count: 0,
            active: Vec::new(),
            ranges: Vec::new(),
            last_kept: None,
            lacks_line_end: false,
            misfits: None,
            first_misfit: String::new(),
            id_jumps: None,
            empty_steps: None,
            trailing_cells: None,
            without_position: None,
            bad_positions: None,
            layout,
        };
        if let Some(wanted) = &options.columns {
            let own = schema::resolve_names(wanted, &rows.names(), rows.has_position())?;
            rows.wanted = Some(own);
        }
        Ok(rows)
    }

    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Marks that the last line has no end.
    pub(super) fn mark_missing_line_end(&mut self) {
        self.lacks_line_end = true;
    }

    /// Whether the layout has latitude and longitude.
    fn has_position(&self) -> bool {
        self.latitude.is_some() && self.longitude.is_some()
    }

    /// The names of all columns in order.
    fn names(&self) -> Vec<&str> {
        let section = (!self.layout.sections.is_empty()).then_some(SECTION);
        let step_names = self.layout.step_quantities.iter().map(|quantity| quantity.name.as_str());
        let section_names = self.layout.section_quantities.iter().map(|quantity| quantity.name.as_str());
        step_names.chain(section).chain(section_names).collect()
    }

    /// Adds a line, or the reason why it is no text. Without `strict`, lines that do not fit the layout are skipped.
    pub(super) fn add_line(&mut self, record: u64, line: Line<'_>) -> std::result::Result<(), LineError> {
        self.records = record.saturating_add(1);
        let line = match line.and_then(|line| self.split_cells(record, line).map(|()| line)) {
            Ok(line) => line,
            Err(why) if self.is_strict => return Err(why.into()),
            Err(why) => {
                if self.misfits.is_none() {
                    self.first_misfit = why;
                }
                tally(&mut self.misfits, record);
                return Ok(());
            }
        };
        self.last_kept = Some(record);
        let Self { layout, ranges, active, cells, .. } = self;
        let cell = |index: usize| ranges.get(index).and_then(|range| line.get(range.clone())).unwrap_or_default();
        let has_value = |index: &Option<usize>| index.is_some_and(|index| !cell(index).trim_ascii().is_empty());
        active.clear();
        active.extend(
            (0..cells.len()).filter(|section| cells.get(*section).is_some_and(|own| own.iter().any(has_value))),
        );
        // A machine without sections has one row per step.
        let count = if layout.sections.is_empty() { 1 } else { active.len() };
        let repeated_cells = layout.slots.iter().zip(ranges.iter()).filter(|(slot, _)| matches!(slot, Slot::Step(_)));
        let repeated_size = repeated_cells.map(|(_, range)| range.len().saturating_add(8) as u64).sum::<u64>();
        let row_size = repeated_size
            .saturating_add(ROW_OVERHEAD)
            .saturating_add(8_u64.saturating_mul(self.section_columns.len() as u64));
        self.bytes_read = self.bytes_read.saturating_add(line.len() as u64);
        self.bytes_made = self.bytes_made.saturating_add(row_size.saturating_mul(count as u64));
        if self.bytes_made > MIN_BUDGET && self.bytes_made / self.ratio.max(1) > self.bytes_read {
            let (made, most) = (self.bytes_made, self.ratio);
            return Err(format!(
                "its sections would expand to rows of {made} bytes, more than {most} times the size of the table; if \
                 you trust it, raise Limits(ratio=...)"
            )
            .into());
        }
        if let Some(IntegerCell::Cell(Cell::Value(id))) = self.id.map(|index| parse_integer(cell(index))) {
            if self.last_id.is_some_and(|last| last.checked_add(1) != Some(id)) {
                tally(&mut self.id_jumps, record);
            }
            self.last_id = Some(id);
        }
        if count == 0 {
            tally(&mut self.empty_steps, record);
            return Ok(());
        }
        for (index, slot) in layout.slots.iter().enumerate() {
            if let Slot::Step(column) = slot
                && let Some(column) = self.step_columns.get_mut(*column)
            {
                column.push(cell(index), count, record)?;
            }
        }
        for section in active.iter() {
            self.section.push_integer(layout.sections.get(*section).copied().unwrap_or_default())?;
            for (column, index) in self.section_columns.iter_mut().zip(cells.get(*section).into_iter().flatten()) {
                match index {
                    Some(index) => column.push(cell(*index), 1, record)?,
                    None => column.push_null(1)?,
                }
            }
        }
        let number = |index: Option<usize>| match index.map(|index| parse_float(cell(index))) {
            Some(Cell::Value(value)) => Some(value),
            _ => None,
        };
        let (longitude, latitude) = (number(self.longitude), number(self.latitude));
        let position = longitude.zip(latitude).filter(|(x, y)| x.abs() <= 180.0 && y.abs() <= 90.0);
        if let Some((x, y)) = position {
            try_reserve(&mut self.points, count.saturating_mul(POINT_HEADER.len().saturating_add(16)))?;
            for _ in 0..count {
                self.points.extend_from_slice(&POINT_HEADER);
                self.points.extend_from_slice(&x.to_le_bytes());
                self.points.extend_from_slice(&y.to_le_bytes());
            }
            self.valid.append_n_non_nulls(count);
        } else {
            let is_blank = longitude.is_none() || latitude.is_none();
            tally(if is_blank { &mut self.without_position } else { &mut self.bad_positions }, record);
            self.valid.append_n_nulls(count);
        }
        self.count = self.count.saturating_add(count);
        Ok(())
    }

    /// Finds the cells of a line: as many as the layout has. Only blank cells may follow.
    fn split_cells(&mut self, record: u64, line: &[u8]) -> std::result::Result<(), String> {
        if line.contains(&0) {
            return Err("it contains a NUL, which is not allowed in text".to_owned());
        }
        let expected = self.layout.slots.len();
        self.ranges.clear();
        let mut start = 0_usize;
        let mut count = 0_usize;
        let mut is_blank_after = true;
        for cell in line.split(|byte| *byte == b'\t') {
            let end = start.saturating_add(cell.len());
            if count < expected {
                self.ranges.push(start..end);
            } else {
                is_blank_after &= cell.trim_ascii().is_empty();
            }
            count = count.saturating_add(1);
            start = end.saturating_add(1);
        }
        if count < expected || !is_blank_after {
            return Err(format!("it has {count} cells, but its layout has {expected}"));
        }
        if count > expected {
            tally(&mut self.trailing_cells, record);
        }
        Ok(())
    }

    pub(super) fn report(&self, fmis: &Fmis, diagnostics: &mut Vec<Diagnostic>) {
        let member = fmis.tab.name();
        let mut report = |code, met: Option<(u64, u64)>, what: &str| {
            if let Some((count, first)) = met {
                let message = format!("{what} ({count} times, first at record {first})");
                diagnostics.push(Diagnostic::new(code, message).in_member(member).at_record(first));
            }
        };
        if self.records == 0 {
            report(Code::NoRecords, Some((1, 0)), "the table has no records");
        }
        let why =
            format!("records that do not match the layout were left out, the first because {}", self.first_misfit);
        report(Code::FmisDamaged, self.misfits, &why);
        let last = self.records.saturating_sub(1);
        if self.lacks_line_end && self.last_kept == Some(last) {
            let last_column = match self.layout.slots.last() {
                Some(Slot::Step(column)) => self.layout.step_quantities.get(*column),
                Some(Slot::Section(_, column)) => self.layout.section_quantities.get(*column),
                None => None,
            };
            let last_column = last_column.map(|quantity| quantity.name.as_str()).unwrap_or_default();
            let what = format!(
                "no line end follows the last record: if the table is truncated there, its last cell, of column \
                 `{last_column}`, is truncated or missing"
            );
            report(Code::NoLineEnd, Some((1, last)), &what);
        }
        report(Code::IdJump, self.id_jumps, "ids are not consecutive: records may be missing or duplicated");
        report(Code::StepWithoutValues, self.empty_steps, "steps without a value for any section were left out");
        report(Code::TrailingTab, self.trailing_cells, "blank cells at the ends of records were left out");
        report(Code::NoPosition, self.without_position, Code::NoPosition.documentation());
        report(
            Code::BadPosition,
            self.bad_positions,
            "records with a latitude beyond 90 or a longitude beyond 180 degrees have no geometry; the two columns may \
             be swapped",
        );
        for (column, quantity) in self.step_columns.iter().zip(&self.layout.step_quantities) {
            let what = format!("column `{}`: cells that are not times were read as null", quantity.name);
            report(Code::BadTime, column.bad_times, &what);
            let name = &quantity.name;
            let kept = if column.zoned.is_some() { "text, as other times have a zone" } else { "times without a zone" };
            let what = format!(
                "column `{name}`: times have no time zone; the column has {kept}; `Layer.with_time(..., \
                 date=\"{name}\", zone=...)` converts it to UTC"
            );
            report(Code::NoZone, column.zoneless, &what);
        }
        let all = self.layout.step_quantities.iter().chain(&self.layout.section_quantities);
        for (column, quantity) in self.step_columns.iter().chain(&self.section_columns).zip(all) {
            column.issues.report(member, Some(&quantity.name), diagnostics);
        }
    }

    pub(super) fn finish(
        mut self,
        name: String,
        source: String,
        metadata: Vec<(String, String)>,
        diagnostics: Vec<Diagnostic>,
    ) -> Result<Layer> {
        let has_position = self.has_position();
        let section = Quantity { name: SECTION.to_owned(), unit: None, ddi: None };
        let has_sections = !self.layout.sections.is_empty();
        let step_columns = self.layout.step_quantities.iter().zip(self.step_columns);
        let section = std::iter::once((&section, self.section)).filter(|_| has_sections);
        let section_columns = self.layout.section_quantities.iter().zip(self.section_columns);
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (quantity, column) in step_columns.chain(section).chain(section_columns) {
            if self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&quantity.name)) {
                continue;
            }
            let array = column.finish()?;
            let stated = [("unit", &quantity.unit), ("ddi", &quantity.ddi)];
            let stated = stated.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?)));
            fields.push(Field::new(&quantity.name, array.data_type().clone(), true).with_metadata(stated.collect()));
            arrays.push(array);
        }
        let crs = Crs::wgs84();
        let mut geometry = None;
        let mut types = Vec::new();
        if has_position {
            let nulls = self.valid.finish();
            let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            let lengths =
                (0..self.count).map(|row| if is_valid(row) { POINT_HEADER.len().saturating_add(16) } else { 0 });
            check_available(self.count.saturating_mul(8)).map_err(AllocError::into_error)?;
            let ends = OffsetBuffer::<i64>::from_lengths(lengths);
            let points =
                LargeBinaryArray::try_new(ends, self.points.into(), nulls).map_err(|cause| schema_error(&cause))?;
            types = if points.null_count() < points.len() { vec![1] } else { Vec::new() };
            let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
            geometry = Some(fields.len());
            fields.push(schema::geometry_field(&names, Some(&crs), None));
            arrays.push(Arc::new(points));
        }
        let (schema, batch) = schema::build_batch(fields, arrays, self.count).map_err(|cause| schema_error(&cause))?;
        let layer = Layer {
            batches: vec![batch],
            geometry,
            prj: geometry.map(|_| crs.wkt().to_owned()),
            crs: geometry.map(|_| crs),
            diagnostics,
            types,
            ..Layer::new(name, source, schema)
        };
        Ok(layer.with_metadata(metadata))
    }
}
