//! Parses the raw bytes of a .dbf independently of the reader.

use std::io::Read;

use serde_json::Value;

use crate::corpus::Set;

/// One field: its type letter, its offset in a record and its width.
pub(crate) struct RawField {
    pub(crate) kind: u8,
    pub(crate) offset: usize,
    pub(crate) width: usize,
}

/// The records that are not deleted, with their numbers in the file.
pub(crate) struct Raw {
    pub(crate) fields: Vec<RawField>,
    pub(crate) records: Vec<(u64, Vec<u8>)>,
}

impl Raw {
    /// The table of one layer of a set of the corpus.
    pub(crate) fn of(set: &Set, expected: &Value) -> Result<Self, String> {
        Ok(Self::new(&dbf_of(set, expected).ok_or("its .dbf is not found")?))
    }

    pub(crate) fn new(bytes: &[u8]) -> Self {
        let number = |at: usize, size: usize| -> usize {
            bytes[at..at + size].iter().rev().fold(0, |value, byte| value * 256 + usize::from(*byte))
        };
        let (count, start, size) = (number(4, 4), number(8, 2), number(10, 2));
        let mut fields = Vec::new();
        let mut offset = 1;
        for field in bytes[32..start].chunks_exact(32).take_while(|field| field[0] != 0x0D) {
            let width = usize::from(field[16]);
            fields.push(RawField { kind: field[11], offset, width });
            offset += width;
        }
        let records = (0..count)
            .map(|record| (record as u64, bytes[start + record * size..start + (record + 1) * size].to_vec()))
            .filter(|(_, record)| record[0] != b'*')
            .collect();
        Self { fields, records }
    }

    /// The record number and the bytes of each cell of a column.
    pub(crate) fn cells(&self, column: usize) -> impl Iterator<Item = (u64, &[u8])> {
        let RawField { offset, width, .. } = self.fields[column];
        self.records.iter().map(move |(number, record)| (*number, &record[offset..offset + width]))
    }
}

fn dbf_of(set: &Set, expected: &Value) -> Option<Vec<u8>> {
    let bytes = std::fs::read(&set.path).ok()?;
    if !bytes.starts_with(b"PK") {
        return ["dbf", "DBF"].iter().find_map(|ending| std::fs::read(set.path.with_extension(ending)).ok());
    }
    let stem = expected["layer_name"].as_str()?.to_lowercase();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).ok()?;
    let name = zip
        .file_names()
        .map(str::to_owned)
        .find(|name| !name.starts_with("__MACOSX") && name.to_lowercase().ends_with(&format!("{stem}.dbf")))?;
    let mut found = Vec::new();
    zip.by_name(&name).ok()?.read_to_end(&mut found).ok()?;
    Some(found)
}
