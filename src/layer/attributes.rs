//! The records of a .dbf into columns, some at a time, through one window that is used again and again.

use std::collections::{BTreeSet, HashMap};

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, Field};

use super::columns::{Column, ColumnType, Misfit, Refusal};
use super::deletion_flags::RecordMarks;
use super::{schema, sidecars};
use crate::archive::{Code, Diagnostic, Encoding, Field as Cells, Member, ReadOptions, TableHeader, Window};
use crate::error::{Argument, Error, Kind, Result};

/// The most bytes that room is made for before any record is read, since sizes may lie too.
const MOST_ROOM: u64 = 256 << 20;

/// A .cpg is one word; no text of more bytes is one.
const MOST_WORD: u64 = 64 * 1024;

/// Marks that change the direction in which text is displayed.
const DIRECTIONS: [char; 12] = [
    '\u{61C}', '\u{200E}', '\u{200F}', '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}', '\u{2066}',
    '\u{2067}', '\u{2068}', '\u{2069}',
];

/// The mark of the end of a .dbf.
const END: u8 = 0x1A;

/// How the types of columns come about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Typing<'a> {
    /// By the header; integers with decimals turn their column into floats.
    Cells,
    /// By the header or by these choices, for at most so many records before they are taken; what does not fit is an error.
    Fixed(Choice<'a>, usize),
}

/// Types that are chosen for some columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice<'a> {
    /// For those of these names.
    Named(&'a [(String, ColumnType)]),
    /// For those at these places among the columns that are wanted.
    Placed(&'a [(usize, ColumnType)]),
}

/// A .dbf that is read step by step into columns.
pub(super) struct TableReader {
    member: Member,
    header: TableHeader,
    window: Window,
    encoding: Encoding,
    columns: Vec<Column>,
    is_strict: bool,
    /// The records read, deleted ones included.
    records: u64,
    marks: RecordMarks,
    /// The last byte of the last record.
    last: Option<u8>,
    notes: Vec<Diagnostic>,
    ended: bool,
}

impl TableReader {
    /// Reads the header, with the encoding that the user or the archive names; the reader then stands before the first
    /// record. Where it belongs to shapes, their geometry may be among the wanted columns.
    pub(super) fn open(
        member: &Member,
        cpg: Option<&Member>,
        has_shapes: bool,
        options: &ReadOptions,
        typing: Typing<'_>,
    ) -> Result<Self> {
        let mut notes = Vec::new();
        let (header, window) = TableHeader::read(member, &mut notes)?;
        let encoding = encoding(&header, cpg, options, &mut notes)?;
        let columns = choose(member, &header, &encoding, has_shapes, options, typing, &mut notes)?;
        Ok(Self {
            member: member.clone(),
            header,
            window,
            encoding,
            columns,
            is_strict: options.strict,
            records: 0,
            marks: RecordMarks::default(),
            last: None,
            notes,
            ended: false,
        })
    }

    /// Leaves out all columns but those of integers, and gives the places that these had.
    pub(super) fn keep_integers(&mut self) -> Vec<usize> {
        let is_integer = |column: &Column| matches!(column.data_type(), DataType::Int32 | DataType::Int64);
        let all = self.columns.iter().enumerate();
        let places = all.filter(|(_, column)| is_integer(column)).map(|(place, _)| place).collect();
        self.columns.retain(is_integer);
        places
    }

    /// Lets another thread unpack what is left, where that pays.
    pub(super) fn hand_over(&mut self) {
        self.window.hand_over();
    }

    /// Whether another thread has unpacked something that can be read without waiting.
    pub(super) fn is_served(&mut self) -> bool {
        self.window.is_handed_over() && self.window.is_ready()
    }

    /// Whether record `until` or the end is reached.
    pub(super) fn has_reached(&self, until: u64) -> bool {
        self.ended || self.records >= until
    }

    /// The records read so far, deleted ones included.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// How many records the header declares.
    pub(super) fn declared(&self) -> u64 {
        self.header.records
    }

    /// The fields of its columns, as far as their types are known.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|column| Field::new(&column.name, column.data_type(), true)).collect()
    }

    /// Counts deleted records without keeping their numbers, since there are no shapes to leave out with them.
    pub(super) fn stand_alone(&mut self) {
        self.marks.count_only();
    }

    /// The deleted records before number `end` that were not taken yet, and how many there are.
    pub(super) fn deleted(&self, end: u64) -> (BTreeSet<u64>, u64) {
        self.marks.before(end)
    }

    /// Reads records before number `until`, as many as are at hand; false once there are no more.
    pub(super) fn step(&mut self, until: u64) -> Result<bool> {
        if !self.ended && self.records < until {
            match self.rows(until) {
                Err(Stop::Damage(error)) if !self.is_strict && !error.lacks_memory() => {
                    let (read, declared) = (self.records, self.header.records);
                    let message = if read < declared {
                        format!("only the first {read} of {declared} records could be read: {error}")
                    } else {
                        format!("its {declared} records were read, yet it is damaged: {error}")
                    };
                    self.notes.push(Diagnostic::new(Code::DbfDamaged, message).in_member(self.member.name()).at(read));
                    self.ended = true;
                }
                Err(Stop::Damage(error) | Stop::Misfit(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                Ok(()) => {}
            }
        }
        Ok(!self.ended)
    }

    /// What was read since the last time, without deleted records; `is_last` where nothing is read after it.
    pub(super) fn take(&mut self, is_last: bool) -> std::result::Result<Vec<ArrayRef>, ArrowError> {
        self.marks.take();
        self.columns.iter_mut().map(|column| column.take(is_last)).collect()
    }

    /// What was found so far.
    pub(super) fn tell(&self, notes: &mut Vec<Diagnostic>) {
        notes.extend(self.notes.iter().cloned());
        self.marks.tell(self.member.name(), notes);
        for column in &self.columns {
            column.findings().tell(self.member.name(), Some(&column.name), notes);
        }
    }

    fn rows(&mut self, until: u64) -> std::result::Result<(), Stop> {
        let (size, declared) = (self.header.record_size, self.header.records);
        if self.records < declared {
            let left = usize::try_from(declared.min(until) - self.records).unwrap_or(usize::MAX);
            let first = self.records;
            let offset = self.window.position();
            let bytes = self.window.fill(size)?;
            let whole = (bytes.len() / size.max(1)).min(left);
            let Some(chunk) = bytes.get(..whole * size).filter(|chunk| !chunk.is_empty()) else {
                // Where the archive lies about the size of the member, that is the cause.
                self.window.finish()?;
                let message = format!("it ends inside record {first} of the {declared} that it declares");
                return Err(Stop::Damage(Error::archive(self.member.name(), message).with(|facts| {
                    facts.record = Some(first);
                    facts.offset = Some(offset);
                })));
            };
            self.last = chunk.last().copied();
            let kept = self.marks.kept(chunk, first, size);
            for column in &mut self.columns {
                column.append(&kept.chunk(size, first), &self.encoding).map_err(|refusal| match refusal {
                    Refusal::Misfit(misfit) => Stop::Misfit(unfit(self.member.name(), column, &misfit)),
                    Refusal::NoRoom(lack) => Stop::Damage(lack.of(self.member.name()).with(|facts| {
                        facts.record = Some(first);
                        facts.offset = Some(offset);
                    })),
                })?;
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
        // One end mark may follow, and whatever fills a block. Anything else is more likely data that a wrong length
        // or count hides than rubbish, and a missing mark that stands inside the last record was moved there.
        let more = self.window.fill(size.max(2))?;
        let is_end = matches!(more.split_first(), None | Some((&END, [] | [0 | END, ..])));
        let is_count = more.len() >= size && matches!(more.first(), Some(b' ' | b'*'));
        let is_short = more.is_empty() && self.last == Some(END);
        let found = match (is_count, is_end, is_short) {
            (true, _, _) => {
                Some((Code::DbfMoreRecords, "records stand after those that its header declares; they were left out"))
            }
            (_, false, _) => Some((Code::DbfLength, "bytes follow its last record and were left out")),
            (_, _, true) => {
                Some((Code::DbfLength, "its last record ends with the mark of the end: a byte is missing before it"))
            }
            _ => None,
        };
        if let Some((code, what)) = found {
            let message = format!("{what} ({declared} records are declared)");
            self.notes.push(Diagnostic::new(code, message).in_member(self.member.name()).at(self.records));
        }
        self.ended = true;
        Ok(self.window.finish()?)
    }
}

/// Why a step ends.
enum Stop {
    /// The file is damaged.
    Damage(Error),
    /// A cell does not fit into its column.
    Misfit(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Damage(error)
    }
}

/// The error of a cell that its column cannot hold, with what to do about it.
fn unfit(member: &str, column: &Column, misfit: &Misfit) -> Error {
    let (name, kind) = (&column.name, column.data_type());
    let (type_name, or) = match (misfit.is_odd, kind.is_integer()) {
        (true, _) => ("string", ""),
        (false, true) => ("float64", ", or with types=\"scan\", which looks at all cells first"),
        (false, false) => ("string", ", or without a type for it"),
    };
    let message = format!(
        "{} in column `{name}`, which is {kind}; read it with types={{\"{name}\": \"{type_name}\"}}{or}",
        misfit.reason
    );
    let error = Error::archive(member, message).with(|facts| {
        facts.record = Some(misfit.record);
        facts.field = Some(name.clone());
    });
    if misfit.is_odd { error.hinting(", or with ", Argument::Strict, ", which makes such cells null") } else { error }
}

/// The encoding that the user names, else what the archive declares.
fn encoding(
    header: &TableHeader,
    cpg: Option<&Member>,
    options: &ReadOptions,
    notes: &mut Vec<Diagnostic>,
) -> Result<Encoding> {
    if let Some(name) = &options.encoding {
        return Encoding::named(name).ok_or_else(|| Error::new(Kind::Value, format!("unknown encoding `{name}`")));
    }
    let name = cpg.map(Member::name).unwrap_or_default();
    let word = match cpg {
        Some(cpg) => sidecars::small(cpg, MOST_WORD, options.strict, notes)?,
        None => None,
    };
    Ok(Encoding::declared(word.as_deref().map(|word| (name, word)), header.driver, notes))
}

/// The columns that are wanted, in the order of the file.
fn choose(
    member: &Member,
    header: &TableHeader,
    encoding: &Encoding,
    has_shapes: bool,
    options: &ReadOptions,
    typing: Typing<'_>,
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<Column>> {
    let mut columns: Vec<(String, Cells)> = Vec::new();
    for (position, field) in header.fields.iter().enumerate() {
        let (mut name, wrong) = encoding.column_name(&field.name);
        if let Some((code, what)) = wrong {
            notes.push(Diagnostic::new(code, format!("the name of column `{name}` {what}")).in_member(member.name()));
        }
        if name.is_empty() {
            name = format!("field_{}", position + 1);
            let message = format!("a column without a name was called `{name}`");
            notes.push(Diagnostic::new(Code::UnnamedColumn, message).in_member(member.name()));
        }
        if name.contains(|letter: char| letter.is_control() || DIRECTIONS.contains(&letter)) {
            let message = format!("the name of column `{}` has control characters", name.escape_default());
            notes.push(Diagnostic::new(Code::ControlInName, message).in_member(member.name()));
        }
        columns.push((name, field.clone()));
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = options.columns.as_deref().map(|wanted| schema::own_names(wanted, &names, has_shapes)).transpose()?;
    let mut chosen_types: HashMap<String, ColumnType> = HashMap::new();
    if let Typing::Fixed(Choice::Named(chosen), _) = typing {
        for (name, kind) in chosen {
            chosen_types.entry(schema::own_name("types", name, &names)?.to_owned()).or_insert(*kind);
        }
    }
    if let Some(wanted) = &wanted {
        columns.retain(|(name, _)| wanted.contains(name));
    }
    // The header may lie about the records, but they cannot be more than fit into the member.
    let most = MOST_ROOM / (8 * columns.len().max(1) as u64);
    let rows = header.records.min(member.size() / header.record_size.max(1) as u64).min(most);
    let rows = usize::try_from(rows).unwrap_or(0);
    let column = |(place, (name, field)): (usize, (String, Cells))| match typing {
        Typing::Cells => Column::new(name, field, rows),
        Typing::Fixed(choice, most) => {
            let kind = match choice {
                Choice::Named(_) => chosen_types.get(&name).copied(),
                Choice::Placed(chosen) => chosen.iter().find(|(wanted, _)| *wanted == place).map(|(_, kind)| *kind),
            };
            let column = Column::fixed(name, field, rows.min(most), kind);
            match kind {
                Some(kind) if options.strict => column.demanding(kind),
                _ => column,
            }
        }
    };
    Ok(columns.into_iter().enumerate().map(column).collect())
}
