//! Reads the records of a .dbf into columns, in steps and through one reused buffer.
//!
//! The format is described by the [Library of
//! Congress](https://www.loc.gov/preservation/digital/formats/fdd/fdd000325.shtml).

use std::collections::{BTreeSet, HashMap};

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, Field};

use super::columns::{AppendError, CellError, Column, ColumnType};
use super::deletion_flags::DeletionFlags;
use super::{schema, sidecars};
use crate::archive::{BufferedReader, Code, Diagnostic, Encoding, Field as Cells, Member, ReadOptions, TableHeader};
use headland_base::error::{Argument, Error, Kind, Result};

/// The most bytes reserved before any record is read, since declared sizes may be wrong.
const MAX_INITIAL_CAPACITY: u64 = 256 << 20;

/// The size limit of a .cpg in bytes; it holds one word.
const MAX_CPG_SIZE: u64 = 64 * 1024;

/// Unicode marks that change the direction of displayed text.
const BIDI_CONTROLS: [char; 12] = [
    '\u{61C}', '\u{200E}', '\u{200F}', '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}', '\u{2066}',
    '\u{2067}', '\u{2068}', '\u{2069}',
];

/// The end-of-file mark of a .dbf.
const END_OF_FILE: u8 = 0x1A;

/// How column types are decided.
#[derive(Clone, Copy, Debug)]
pub(super) enum TypeMode<'a> {
    /// By the header. Integer columns with decimals widen to floats.
    FromCells,
    /// By the header or by overrides. A cell that does not fit is an error. The number is the most records per batch.
    Fixed(TypeOverrides<'a>, usize),
}

/// Requested types of some columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum TypeOverrides<'a> {
    /// By column name.
    ByName(&'a [(String, ColumnType)]),
    /// By index among the requested columns.
    ByIndex(&'a [(usize, ColumnType)]),
}

/// A .dbf that is read in steps into columns.
pub(super) struct TableReader {
    member: Member,
    header: TableHeader,
    window: BufferedReader,
    encoding: Encoding,
    columns: Vec<Column>,
    is_strict: bool,
    /// The records read, deleted ones included.
    records: u64,
    flags: DeletionFlags,
    /// The last byte of the last record.
    last: Option<u8>,
    diagnostics: Vec<Diagnostic>,
    is_finished: bool,
}

impl TableReader {
    /// Reads the header and chooses the encoding: the requested one, else the declared one. With `has_shapes`, the
    /// geometry may be among the requested columns.
    pub(super) fn open(
        member: &Member,
        cpg: Option<&Member>,
        has_shapes: bool,
        options: &ReadOptions,
        type_mode: TypeMode<'_>,
    ) -> Result<Self> {
        let mut diagnostics = Vec::new();
        let (header, window) = TableHeader::read(member, &mut diagnostics)?;
        let encoding = choose_encoding(&header, cpg, options, &mut diagnostics)?;
        let columns = build_columns(member, &header, &encoding, has_shapes, options, type_mode, &mut diagnostics)?;
        Ok(Self {
            member: member.clone(),
            header,
            window,
            encoding,
            columns,
            is_strict: options.strict,
            records: 0,
            flags: DeletionFlags::default(),
            last: None,
            diagnostics,
            is_finished: false,
        })
    }

    /// Drops all other columns and returns the indices of those that remain.
    pub(super) fn retain_integers(&mut self) -> Vec<usize> {
        let is_integer = |column: &Column| matches!(column.data_type(), DataType::Int32 | DataType::Int64);
        let all = self.columns.iter().enumerate();
        let indices = all.filter(|(_, column)| is_integer(column)).map(|(index, _)| index).collect();
        self.columns.retain(is_integer);
        indices
    }

    /// Inflates the rest on another thread, if that pays.
    pub(super) fn offload(&mut self) {
        self.window.offload();
    }

    /// Whether data inflated by another thread are available.
    pub(super) fn has_offloaded_data(&mut self) -> bool {
        self.window.is_offloaded() && self.window.is_ready()
    }

    /// Whether record `until` or the end is reached.
    pub(super) fn has_reached(&self, until: u64) -> bool {
        self.is_finished || self.records >= until
    }

    /// The records read so far, deleted ones included.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// The record count of the header.
    pub(super) fn declared_records(&self) -> u64 {
        self.header.records
    }

    /// The fields with the types known so far.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|column| Field::new(&column.name, column.data_type(), true)).collect()
    }

    /// Counts deleted records without their numbers, which only shapes need.
    pub(super) fn count_deleted_only(&mut self) {
        self.flags.count_only();
    }

    /// The deleted records before `end` that were not returned yet, and their count.
    pub(super) fn deleted(&self, end: u64) -> (BTreeSet<u64>, u64) {
        self.flags.deleted_before(end)
    }

    /// Reads available records before number `until`. Returns false at the end.
    pub(super) fn step(&mut self, until: u64) -> Result<bool> {
        if !self.is_finished && self.records < until {
            match self.read_rows(until) {
                Err(StepError::Damage(error)) if !self.is_strict && !error.lacks_memory() => {
                    let (read, declared) = (self.records, self.header.records);
                    let message = if read < declared {
                        format!("only the first {read} of {declared} records could be read: {error}")
                    } else {
                        format!("the .dbf is damaged, but its {declared} records were read: {error}")
                    };
                    self.diagnostics
                        .push(Diagnostic::new(Code::DbfDamaged, message).in_member(self.member.name()).at_record(read));
                    self.is_finished = true;
                }
                Err(StepError::Damage(error) | StepError::Cell(error)) => {
                    self.is_finished = true;
                    return Err(error);
                }
                Ok(()) => {}
            }
        }
        Ok(!self.is_finished)
    }

    /// Returns the records read since the last call, without deleted ones. `is_last` if nothing is read after them.
    pub(super) fn take(&mut self, is_last: bool) -> std::result::Result<Vec<ArrayRef>, ArrowError> {
        self.flags.reset();
        self.columns.iter_mut().map(|column| column.take(is_last)).collect()
    }

    /// Adds the diagnostics so far.
    pub(super) fn report(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.extend(self.diagnostics.iter().cloned());
        self.flags.report(self.member.name(), diagnostics);
        for column in &self.columns {
            column.issues().report(self.member.name(), Some(&column.name), diagnostics);
        }
    }

    fn read_rows(&mut self, until: u64) -> std::result::Result<(), StepError> {
        let (size, declared) = (self.header.record_size, self.header.records);
        if self.records < declared {
            let left = usize::try_from(declared.min(until) - self.records).unwrap_or(usize::MAX);
            let first = self.records;
            let offset = self.window.position();
            let bytes = self.window.fill(size)?;
            let whole = (bytes.len() / size.max(1)).min(left);
            let Some(chunk) = bytes.get(..whole * size).filter(|chunk| !chunk.is_empty()) else {
                // A wrong member size in the archive is the root cause, so it is reported first.
                self.window.finish()?;
                let message =
                    format!("the .dbf is truncated: it ends inside record {first} of {declared} declared records");
                return Err(StepError::Damage(Error::archive(self.member.name(), message).with(|facts| {
                    facts.record = Some(first);
                    facts.offset = Some(offset);
                })));
            };
            self.last = chunk.last().copied();
            let kept = self.flags.filter_kept(chunk, first, size);
            for column in &mut self.columns {
                column.append(&kept.to_chunk(size, first), &self.encoding).map_err(
                    |append_error| match append_error {
                        AppendError::Cell(cell) => StepError::Cell(misfit_error(self.member.name(), column, &cell)),
                        AppendError::OutOfMemory(lack) => {
                            StepError::Damage(lack.for_member(self.member.name()).with(|facts| {
                                facts.record = Some(first);
                                facts.offset = Some(offset);
                            }))
                        }
                    },
                )?;
            }
            self.records = first.saturating_add(whole as u64);
            self.window.consume(whole * size);
            if self.records < declared {
                return Ok(());
            }
            if self.records >= until {
                return Ok(());
            }
        }
        // An end mark and padding may follow. Other bytes are more likely data hidden by a wrong record count or
        // length. An end mark inside the last record shows a missing byte.
        let more = self.window.fill(size.max(2))?;
        let is_end = matches!(more.split_first(), None | Some((&END_OF_FILE, [] | [0 | END_OF_FILE, ..])));
        let is_count = more.len() >= size && matches!(more.first(), Some(b' ' | b'*'));
        let is_short = more.is_empty() && self.last == Some(END_OF_FILE);
        let found = match (is_count, is_end, is_short) {
            (true, _, _) => Some((Code::DbfMoreRecords, Code::DbfMoreRecords.documentation())),
            (_, false, _) => Some((Code::DbfLength, "bytes after the last record were left out")),
            (_, _, true) => Some((
                Code::DbfLength,
                "the last record ends with the end-of-file mark (0x1A): a byte is missing before the mark",
            )),
            _ => None,
        };
        if let Some((code, what)) = found {
            let message = format!("{what} ({declared} records are declared)");
            self.diagnostics.push(Diagnostic::new(code, message).in_member(self.member.name()).at_record(self.records));
        }
        self.is_finished = true;
        Ok(self.window.finish()?)
    }
}

/// Reason why a step fails.
enum StepError {
    Damage(Error),
    /// A cell does not fit its column.
    Cell(Error),
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::Damage(error)
    }
}

/// The error of a cell that does not fit, with a remedy.
fn misfit_error(member: &str, column: &Column, cell: &CellError) -> Error {
    let (name, kind) = (&column.name, column.data_type());
    let (type_name, or) = match (cell.is_invalid, kind.is_integer()) {
        (true, _) => ("string", ""),
        (false, true) => ("float64", ", or with types=\"scan\", which checks all cells first"),
        (false, false) => ("string", ", or without a type for it"),
    };
    let message = format!(
        "{} in column `{name}`, which is {kind}; read it with types={{\"{name}\": \"{type_name}\"}}{or}",
        cell.reason
    );
    let error = Error::archive(member, message).with(|facts| {
        facts.record = Some(cell.record);
        facts.field = Some(name.clone());
    });
    if cell.is_invalid {
        error.with_hint(", or with ", Argument::Strict, ", which makes such cells null")
    } else {
        error
    }
}

/// The requested encoding, else the declared one.
fn choose_encoding(
    header: &TableHeader,
    cpg: Option<&Member>,
    options: &ReadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Encoding> {
    if let Some(name) = &options.encoding {
        return Encoding::from_name(name).ok_or_else(|| Error::new(Kind::Value, format!("unknown encoding `{name}`")));
    }
    let name = cpg.map(Member::name).unwrap_or_default();
    let label = match cpg {
        Some(cpg) => sidecars::read_small(cpg, MAX_CPG_SIZE, options.strict, diagnostics)?,
        None => None,
    };
    Ok(Encoding::from_declaration(label.as_deref().map(|label| (name, label)), header.driver, diagnostics))
}

/// The requested columns in file order.
fn build_columns(
    member: &Member,
    header: &TableHeader,
    encoding: &Encoding,
    has_shapes: bool,
    options: &ReadOptions,
    type_mode: TypeMode<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Column>> {
    let mut columns: Vec<(String, Cells)> = Vec::new();
    for (position, field) in header.fields.iter().enumerate() {
        let (mut name, name_issue) = encoding.column_name(&field.name);
        if let Some((code, what)) = name_issue {
            diagnostics
                .push(Diagnostic::new(code, format!("the name of column `{name}` {what}")).in_member(member.name()));
        }
        if name.is_empty() {
            name = format!("field_{}", position + 1);
            let message = format!("a column without a name was named `{name}`");
            diagnostics.push(Diagnostic::new(Code::UnnamedColumn, message).in_member(member.name()));
        }
        if name.contains(|letter: char| letter.is_control() || BIDI_CONTROLS.contains(&letter)) {
            let message = format!(
                "the name of column `{}` contains control characters or bidirectional formatting characters",
                name.escape_default()
            );
            diagnostics.push(Diagnostic::new(Code::ControlInName, message).in_member(member.name()));
        }
        columns.push((name, field.clone()));
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let wanted =
        options.columns.as_deref().map(|wanted| schema::resolve_names(wanted, &names, has_shapes)).transpose()?;
    let mut named_types: HashMap<String, ColumnType> = HashMap::new();
    if let TypeMode::Fixed(TypeOverrides::ByName(chosen), _) = type_mode {
        for (name, kind) in chosen {
            named_types.entry(schema::resolve_name("types", name, &names)?.to_owned()).or_insert(*kind);
        }
    }
    if let Some(wanted) = &wanted {
        columns.retain(|(name, _)| wanted.contains(name));
    }
    // The header may be wrong, but the member bounds the number of records.
    let most = MAX_INITIAL_CAPACITY / (8 * columns.len().max(1) as u64);
    let rows = header.records.min(member.size() / header.record_size.max(1) as u64).min(most);
    let rows = usize::try_from(rows).unwrap_or(0);
    let column = |(index, (name, field)): (usize, (String, Cells))| match type_mode {
        TypeMode::FromCells => Column::new(name, field, rows),
        TypeMode::Fixed(overrides, most) => {
            let kind = match overrides {
                TypeOverrides::ByName(_) => named_types.get(&name).copied(),
                TypeOverrides::ByIndex(chosen) => {
                    chosen.iter().find(|(wanted, _)| *wanted == index).map(|(_, kind)| *kind)
                }
            };
            let column = Column::fixed(name, field, rows.min(most), kind);
            match kind {
                Some(kind) if options.strict => column.with_strict_type(kind),
                _ => column,
            }
        }
    };
    Ok(columns.into_iter().enumerate().map(column).collect())
}
