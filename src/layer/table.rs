//! The records of a .dbf into columns, through one window that is used again and again.

use super::columns::{Chunk, Column};
use crate::archive::{Diagnostic, Encoding, Member, Options, TableHeader, Window};
use crate::error::{Error, Kind, Result};

/// The most bytes that room is made for before any record is read, since sizes may lie too.
const MOST_ROOM: u64 = 256 << 20;

/// What a .dbf holds.
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    /// The records read, deleted ones included.
    pub(super) records: u64,
    /// The numbers of the deleted ones.
    pub(super) deleted: Vec<u64>,
    pub(super) notes: Vec<Diagnostic>,
}

/// Reads a .dbf with the encoding that the user or the archive names.
pub(super) fn read(member: &Member, cpg: Option<&Member>, options: &Options) -> Result<Table> {
    let mut notes = Vec::new();
    let (header, window) = TableHeader::read(member, &mut notes)?;
    let encoding = encoding(&header, cpg, options, &mut notes)?;
    let columns = choose(member, &header, &encoding, options, &mut notes)?;
    let mut table = Table { columns, records: 0, deleted: Vec::new(), notes };
    match table.rows(member, &header, window, &encoding) {
        Err(error) if !options.strict => {
            let message =
                format!("only the first {} of {} records could be read: {error}", table.records, header.records);
            table.notes.push(Diagnostic::new("dbf-damaged", message).in_member(member.name()).at(table.records));
        }
        done => done?,
    }
    if let Some(first) = table.deleted.first().copied() {
        let message = format!("{} deleted records were left out", table.deleted.len());
        table.notes.push(Diagnostic::new("deleted-rows", message).in_member(member.name()).at(first));
    }
    for column in &table.columns {
        column.findings().tell(member.name(), Some(&column.name), &mut table.notes);
    }
    Ok(table)
}

/// The encoding that the user names, else what the archive declares.
fn encoding(
    header: &TableHeader,
    cpg: Option<&Member>,
    options: &Options,
    notes: &mut Vec<Diagnostic>,
) -> Result<Encoding> {
    if let Some(name) = &options.encoding {
        return Encoding::named(name).ok_or_else(|| Error::new(Kind::Value, format!("unknown encoding `{name}`")));
    }
    // A .cpg is one word; no text of 64 KB is one.
    let cpg = match cpg {
        Some(cpg) => Some((cpg.name(), cpg.read_all(64 * 1024)?)),
        None => None,
    };
    Ok(Encoding::declared(cpg.as_ref().map(|(name, bytes)| (*name, &**bytes)), header.driver, notes))
}

/// The columns that are wanted, in the order of the file.
fn choose(
    member: &Member,
    header: &TableHeader,
    encoding: &Encoding,
    options: &Options,
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    for (position, field) in header.fields.iter().enumerate() {
        let mut name = encoding.decode(&field.name).0.into_owned();
        if name.is_empty() {
            name = format!("field_{}", position + 1);
            let message = format!("a column without a name was called `{name}`");
            notes.push(Diagnostic::new("unnamed-column", message).in_member(member.name()));
        }
        columns.push((name, field.clone()));
    }
    for name in options.columns.iter().flatten() {
        if !columns.iter().any(|(known, _)| known == name) {
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!("there is no column `{name}`; there are: {}", names.join(", "));
            return Err(Error::new(Kind::Value, message).with(|facts| facts.field = Some(name.clone())));
        }
    }
    if let Some(wanted) = &options.columns {
        columns.retain(|(name, _)| wanted.contains(name));
    }
    // The header may lie about the records, but they cannot be more than fit into the member.
    let most = MOST_ROOM / (8 * columns.len().max(1) as u64);
    let rows = header.records.min(member.size() / header.record_size.max(1) as u64).min(most);
    let rows = usize::try_from(rows).unwrap_or(0);
    Ok(columns.into_iter().map(|(name, field)| Column::new(name, field, rows)).collect())
}

impl Table {
    fn rows(
        &mut self,
        member: &Member,
        header: &TableHeader,
        mut window: Window<'_>,
        encoding: &Encoding,
    ) -> Result<()> {
        let size = header.record_size;
        while self.records < header.records {
            let left = usize::try_from(header.records - self.records).unwrap_or(usize::MAX);
            let first = self.records;
            let offset = window.position();
            let bytes = window.fill(size)?;
            let whole = (bytes.len() / size.max(1)).min(left);
            let Some(chunk) = bytes.get_mut(..whole * size).filter(|chunk| !chunk.is_empty()) else {
                let message = format!("it ends inside record {first} of the {} that it declares", header.records);
                return Err(Error::archive(member.name(), message).with(|facts| {
                    facts.record = Some(first);
                    facts.offset = Some(offset);
                }));
            };
            self.decode(chunk, first, size, encoding);
            self.records = first.saturating_add(whole as u64);
            window.consume(whole * size);
        }
        // Whole records after the declared ones are more likely lost by a wrong count than rubbish.
        let more = window.fill(size)?;
        if more.len() >= size && matches!(more.first(), Some(b' ' | b'*')) {
            let message =
                format!("records stand after the {} that its header declares; they were left out", header.records);
            self.notes.push(Diagnostic::new("dbf-more-records", message).in_member(member.name()).at(self.records));
        }
        window.finish()
    }

    fn decode(&mut self, bytes: &mut [u8], first: u64, record_size: usize, encoding: &Encoding) {
        let is_deleted = |record: &[u8]| record.first() == Some(&b'*');
        let any = bytes.chunks_exact(record_size).any(is_deleted);
        let mut numbers = Vec::new();
        let mut end = bytes.len();
        if any {
            // The kept records move together, so that the loops over columns need not look at the mark again.
            end = 0;
            for row in 0..bytes.len() / record_size {
                let start = row * record_size;
                let number = first.saturating_add(row as u64);
                if bytes.get(start..).is_some_and(is_deleted) {
                    self.deleted.push(number);
                } else {
                    bytes.copy_within(start..start + record_size, end);
                    end += record_size;
                    numbers.push(number);
                }
            }
        }
        let bytes = bytes.get(..end).unwrap_or_default();
        let chunk = Chunk { bytes, record_size, numbers: any.then_some(&*numbers), first };
        for column in &mut self.columns {
            column.append(&chunk, encoding);
        }
    }
}
