//! The rows of FMIS records while they are read: one for each section with values, or one for each step.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeBinaryArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::Field;

use super::columns::{Column, add};
use super::lines::{Line, Refusal};
use crate::archive::{
    Code, Diagnostic, Encoding, Fmis, Layout, NoRoom, Quantity, ReadOptions, Slot, ask_for, make_room,
};
use crate::error::{Error, Kind, Result};
use crate::layer::Layer;
use crate::layer::columns::number::{Cell, IntegerCell, float, integer};
use crate::layer::crs::Crs;
use crate::layer::schema::{self, broken};
use crate::wire::names::same;

/// The column with the number of the section.
const SECTION: &str = "SECTION";

/// Well-known binary of a point, little endian, without its coordinates.
const POINT: [u8; 5] = [1, 1, 0, 0, 0];

/// The bytes of a row beside those of its columns: its point, and where that ends.
const PLACE: u64 = 29;

/// So many bytes of rows are made whatever the size of the table.
const FREE: u64 = 16 << 20;

/// Rows as they are read.
pub(super) struct Rows {
    layout: Layout,
    wanted: Option<Vec<String>>,
    is_strict: bool,
    /// How many times the bytes of the table its rows may have.
    ratio: u64,
    /// The bytes of the table, and of the rows that were made of them.
    taken: u64,
    made: u64,
    of_step: Vec<Column>,
    section: Column,
    of_section: Vec<Column>,
    /// For each section, the cell of each quantity.
    cells: Vec<Vec<Option<usize>>>,
    id: Option<usize>,
    last_id: Option<i64>,
    latitude: Option<usize>,
    longitude: Option<usize>,
    points: Vec<u8>,
    valid: NullBufferBuilder,
    records: u64,
    count: usize,
    /// Of each record its number of cells, the sections with values and where its cells are, used again and again.
    active: Vec<usize>,
    ranges: Vec<Range<usize>>,
    /// The last record that fits the layout, and whether the table ended before the line of its last record did.
    last_kept: Option<u64>,
    is_open: bool,
    /// The records that do not fit, and why the first of them does not.
    unfit: Option<(u64, u64)>,
    misfit: String,
    /// What was met: how often, and the first record.
    jumps: Option<(u64, u64)>,
    blank: Option<(u64, u64)>,
    trailing: Option<(u64, u64)>,
    unplaced: Option<(u64, u64)>,
    nowhere: Option<(u64, u64)>,
}

impl Rows {
    pub(super) fn new(layout: Layout, options: &ReadOptions) -> Result<Self> {
        let name = options.encoding.as_deref().unwrap_or("UTF-8");
        let encoding =
            Encoding::named(name).ok_or_else(|| Error::new(Kind::Value, format!("unknown encoding `{name}`")))?;
        let mut cells = vec![vec![None; layout.of_section.len()]; layout.sections.len()];
        let mut place = HashMap::new();
        for (cell, slot) in layout.slots.iter().enumerate() {
            match slot {
                Slot::Step(column) => {
                    place.insert(*column, cell);
                }
                Slot::Section(section, column) => {
                    if let Some(place) = cells.get_mut(*section).and_then(|cells| cells.get_mut(*column)) {
                        *place = Some(cell);
                    }
                }
            }
        }
        let is_number = |name: &str| {
            ["LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"].iter().any(|known| same(name, known))
        };
        // What a step has beside a section of the same name was renamed, and stays a number.
        let plain = |name: &str| name.strip_prefix("STEP_").unwrap_or(name).to_owned();
        let column = |quantity: &Quantity| match &*plain(&quantity.name) {
            name if same(name, "TIMESTAMP") => {
                Column::times(quantity.unit.as_ref().is_some_and(|unit| same(unit, "UTC")))
            }
            name if is_number(name) => Column::numbers(),
            _ => Column::unknown(encoding.clone()),
        };
        let cell_of = |wanted: &str| {
            let column = layout.of_step.iter().position(|quantity| same(&plain(&quantity.name), wanted))?;
            place.get(&column).copied()
        };
        let mut rows = Self {
            wanted: None,
            is_strict: options.strict,
            ratio: options.limits.ratio,
            taken: 0,
            made: 0,
            of_step: layout.of_step.iter().map(column).collect(),
            section: Column::numbers(),
            of_section: layout.of_section.iter().map(|_| Column::numbers()).collect(),
            cells,
            id: cell_of("ID"),
            last_id: None,
            latitude: cell_of("LATITUDE"),
            longitude: cell_of("LONGITUDE"),
            points: Vec::new(),
            valid: NullBufferBuilder::new(0),
            records: 0,
            count: 0,
            active: Vec::new(),
            ranges: Vec::new(),
            last_kept: None,
            is_open: false,
            unfit: None,
            misfit: String::new(),
            jumps: None,
            blank: None,
            trailing: None,
            unplaced: None,
            nowhere: None,
            layout,
        };
        if let Some(wanted) = &options.columns {
            let own = schema::own_names(wanted, &rows.names(), rows.has_places())?;
            rows.wanted = Some(own);
        }
        Ok(rows)
    }

    /// How many records there were.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Says that the table ended before the line of its last record did.
    pub(super) fn has_no_line_end(&mut self) {
        self.is_open = true;
    }

    /// Whether its records say where they were made.
    fn has_places(&self) -> bool {
        self.latitude.is_some() && self.longitude.is_some()
    }

    /// The names of all columns in their order.
    fn names(&self) -> Vec<&str> {
        let section = (!self.layout.sections.is_empty()).then_some(SECTION);
        let of_step = self.layout.of_step.iter().map(|quantity| quantity.name.as_str());
        let of_section = self.layout.of_section.iter().map(|quantity| quantity.name.as_str());
        of_step.chain(section).chain(of_section).collect()
    }

    /// Takes one line, whose number is `record`; a text is why it cannot be taken. Without `strict`, lines that do not fit
    /// the layout are left out.
    pub(super) fn add(&mut self, record: u64, line: Line<'_>) -> std::result::Result<(), Refusal> {
        self.records = record.saturating_add(1);
        let line = match line.and_then(|line| self.split(record, line).map(|()| line)) {
            Ok(line) => line,
            Err(why) if self.is_strict => return Err(why.into()),
            Err(why) => {
                if self.unfit.is_none() {
                    self.misfit = why;
                }
                add(&mut self.unfit, record);
                return Ok(());
            }
        };
        self.last_kept = Some(record);
        let Self { layout, ranges, active, cells, .. } = self;
        let cell = |at: usize| ranges.get(at).and_then(|range| line.get(range.clone())).unwrap_or_default();
        let has_value = |at: &Option<usize>| at.is_some_and(|at| !cell(at).trim_ascii().is_empty());
        active.clear();
        active.extend(
            (0..cells.len()).filter(|section| cells.get(*section).is_some_and(|own| own.iter().any(has_value))),
        );
        // A machine without sections has one row for each step.
        let count = if layout.sections.is_empty() { 1 } else { active.len() };
        let of_step = layout.slots.iter().zip(ranges.iter()).filter(|(slot, _)| matches!(slot, Slot::Step(_)));
        let repeated = of_step.map(|(_, range)| range.len().saturating_add(8) as u64).sum::<u64>();
        let of_row = repeated.saturating_add(PLACE).saturating_add(8_u64.saturating_mul(self.of_section.len() as u64));
        self.taken = self.taken.saturating_add(line.len() as u64);
        self.made = self.made.saturating_add(of_row.saturating_mul(count as u64));
        if self.made > FREE && self.made / self.ratio.max(1) > self.taken {
            let (made, most) = (self.made, self.ratio);
            return Err(format!(
                "its sections would make rows of {made} bytes, more than {most} times those of the table; if you trust \
                 it, raise Limits(ratio=...)"
            )
            .into());
        }
        if let Some(IntegerCell::Cell(Cell::Value(id))) = self.id.map(|at| integer(cell(at))) {
            if self.last_id.is_some_and(|last| last.checked_add(1) != Some(id)) {
                add(&mut self.jumps, record);
            }
            self.last_id = Some(id);
        }
        if count == 0 {
            add(&mut self.blank, record);
            return Ok(());
        }
        for (at, slot) in layout.slots.iter().enumerate() {
            if let Slot::Step(column) = slot
                && let Some(column) = self.of_step.get_mut(*column)
            {
                column.push(cell(at), count, record)?;
            }
        }
        for section in active.iter() {
            self.section.push_whole(layout.sections.get(*section).copied().unwrap_or_default())?;
            for (column, at) in self.of_section.iter_mut().zip(cells.get(*section).into_iter().flatten()) {
                match at {
                    Some(at) => column.push(cell(*at), 1, record)?,
                    None => column.push_null(1)?,
                }
            }
        }
        let number = |at: Option<usize>| match at.map(|at| float(cell(at))) {
            Some(Cell::Value(value)) => Some(value),
            _ => None,
        };
        let (longitude, latitude) = (number(self.longitude), number(self.latitude));
        let place = longitude.zip(latitude).filter(|(x, y)| x.abs() <= 180.0 && y.abs() <= 90.0);
        if let Some((x, y)) = place {
            make_room(&mut self.points, count.saturating_mul(POINT.len().saturating_add(16)))?;
            for _ in 0..count {
                self.points.extend_from_slice(&POINT);
                self.points.extend_from_slice(&x.to_le_bytes());
                self.points.extend_from_slice(&y.to_le_bytes());
            }
            self.valid.append_n_non_nulls(count);
        } else {
            let is_blank = longitude.is_none() || latitude.is_none();
            add(if is_blank { &mut self.unplaced } else { &mut self.nowhere }, record);
            self.valid.append_n_nulls(count);
        }
        self.count = self.count.saturating_add(count);
        Ok(())
    }

    /// Finds the cells of a line: as many as the layout has, and blank ones after them at most.
    fn split(&mut self, record: u64, line: &[u8]) -> std::result::Result<(), String> {
        if line.contains(&0) {
            return Err("it holds a NUL, which no text has".to_owned());
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
            return Err(format!("it has {count} cells, and its layout has {expected}"));
        }
        if count > expected {
            add(&mut self.trailing, record);
        }
        Ok(())
    }

    pub(super) fn tell(&self, fmis: &Fmis, notes: &mut Vec<Diagnostic>) {
        let member = fmis.tab.name();
        let mut told = |code, met: Option<(u64, u64)>, what: &str| {
            if let Some((count, first)) = met {
                let message = format!("{what} ({count} times, first at record {first})");
                notes.push(Diagnostic::new(code, message).in_member(member).at(first));
            }
        };
        if self.records == 0 {
            told(Code::NoRecords, Some((1, 0)), "the table holds no record");
        }
        let why = format!("records that do not fit their layout were left out, the first since {}", self.misfit);
        told(Code::FmisDamaged, self.unfit, &why);
        let last = self.records.saturating_sub(1);
        if self.is_open && self.last_kept == Some(last) {
            let cut = match self.layout.slots.last() {
                Some(Slot::Step(column)) => self.layout.of_step.get(*column),
                Some(Slot::Section(_, column)) => self.layout.of_section.get(*column),
                None => None,
            };
            let cut = cut.map(|quantity| quantity.name.as_str()).unwrap_or_default();
            let what = format!(
                "no line end follows the last record: where the table was cut off there, its last cell, of column `{cut}`, \
                 is cut or missing"
            );
            told(Code::NoLineEnd, Some((1, last)), &what);
        }
        told(Code::IdJump, self.jumps, "ids do not follow one another: records may be missing, or stand twice");
        told(Code::StepWithoutValues, self.blank, "steps without a value of any section were left out");
        told(Code::TrailingTab, self.trailing, "blank cells at the ends of records were passed over");
        told(Code::NoPosition, self.unplaced, "records without latitude or longitude have no geometry");
        told(
            Code::BadPosition,
            self.nowhere,
            "records with a latitude beyond 90 or a longitude beyond 180 degrees have no geometry; the two may stand in \
             each other's column",
        );
        for (column, quantity) in self.of_step.iter().zip(&self.layout.of_step) {
            let what = format!("column `{}`: cells that are no time were read as null", quantity.name);
            told(Code::BadTime, column.bad_times, &what);
            let name = &quantity.name;
            let kept = if column.zoned.is_some() { "text, as others state one" } else { "times without a zone" };
            let what = format!(
                "column `{name}`: times that state no zone; the column has {kept}, and \
                 `Layer.with_time(..., date=\"{name}\", zone=...)` makes UTC of it"
            );
            told(Code::NoZone, column.zoneless, &what);
        }
        let all = self.layout.of_step.iter().chain(&self.layout.of_section);
        for (column, quantity) in self.of_step.iter().chain(&self.of_section).zip(all) {
            column.findings.tell(member, Some(&quantity.name), notes);
        }
    }

    pub(super) fn finish(
        mut self,
        name: String,
        source: String,
        metadata: Vec<(String, String)>,
        notes: Vec<Diagnostic>,
    ) -> Result<Layer> {
        let has_places = self.has_places();
        let section = Quantity { name: SECTION.to_owned(), unit: None, ddi: None };
        let has_sections = !self.layout.sections.is_empty();
        let of_step = self.layout.of_step.iter().zip(self.of_step);
        let section = std::iter::once((&section, self.section)).filter(|_| has_sections);
        let of_section = self.layout.of_section.iter().zip(self.of_section);
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (quantity, column) in of_step.chain(section).chain(of_section) {
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
        if has_places {
            let nulls = self.valid.finish();
            let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            let lengths = (0..self.count).map(|row| if is_valid(row) { POINT.len().saturating_add(16) } else { 0 });
            ask_for(self.count.saturating_mul(8)).map_err(NoRoom::error)?;
            let ends = OffsetBuffer::<i64>::from_lengths(lengths);
            let points = LargeBinaryArray::try_new(ends, self.points.into(), nulls).map_err(|cause| broken(&cause))?;
            types = if points.null_count() < points.len() { vec![1] } else { Vec::new() };
            let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
            geometry = Some(fields.len());
            fields.push(schema::geometry_field(&names, Some(&crs), None));
            arrays.push(Arc::new(points));
        }
        let (schema, batch) = schema::batch(fields, arrays, self.count).map_err(|cause| broken(&cause))?;
        let layer = Layer {
            name,
            source,
            schema,
            batches: vec![batch],
            geometry,
            prj: geometry.map(|_| crs.wkt().to_owned()),
            crs: geometry.map(|_| crs),
            metadata: Vec::new(),
            diagnostics: notes,
            types,
        };
        Ok(layer.with_metadata(metadata))
    }
}
