//! Writes the canonical rows of a part: a file for each kind of job that its layers are of.

use std::io::BufWriter;
use std::path::Path;

use arrow_array::RecordBatch;

use super::canonical::{TABLES, table};
use super::convert::ConvertedLayer;
use super::manifest::Table;
use super::part_writer::{ChecksummedFile, RowGroupWriter};
use crate::Disk;
use headland_agronomy::JobKind;
use headland_base::error::{Error, Result};
use headland_reader::layer::Cancel;

/// Open files, in the order of [`TABLES`].
#[derive(Default)]
pub(super) struct CanonicalFiles([Option<BufWriter<ChecksummedFile>>; TABLES.len()]);

/// Writer of these files. A file is created with its first rows.
pub(super) struct CanonicalWriter<'a> {
    disk: &'a Disk,
    generation: &'a Path,
    name: &'a str,
    cancel: &'a Cancel,
    unopened: [Option<&'a mut Option<BufWriter<ChecksummedFile>>>; TABLES.len()],
    writers: [Option<RowGroupWriter<'a>>; TABLES.len()],
}

impl<'a> CanonicalWriter<'a> {
    /// Writes files with this name into the folders of the tables.
    pub(super) fn new(
        files: &'a mut CanonicalFiles,
        disk: &'a Disk,
        generation: &'a Path,
        name: &'a str,
        cancel: &'a Cancel,
    ) -> Self {
        Self {
            disk,
            generation,
            name,
            cancel,
            unopened: files.0.each_mut().map(Some),
            writers: [const { None }; TABLES.len()],
        }
    }

    /// Appends the canonical rows of a layer.
    pub(super) fn add(&mut self, kind: JobKind, rows: Vec<RecordBatch>, layer: &ConvertedLayer) -> Result<()> {
        let slots = TABLES.iter().zip(&mut self.unopened).zip(&mut self.writers);
        for (((_, folder), unopened), writer) in slots.filter(|(((own, _), _), _)| *own == kind) {
            if let Some(file) = unopened.take() {
                let folder = self.generation.join(folder);
                self.disk.make_folder(&folder)?;
                let out = file.insert(ChecksummedFile::begin(self.disk, &folder, self.name)?);
                *writer = Some(RowGroupWriter::begin(out, table(kind), self.cancel));
            }
            if let Some(writer) = writer {
                let is_placed = layer.is_wgs84();
                let (bounds, types) = (layer.bounds.filter(|_| is_placed), layer.layer.geometry_types());
                return writer.add_rows(rows.into_iter().map(Ok), bounds, if is_placed { types } else { &[] });
            }
        }
        Ok(())
    }

    /// Writes the remaining rows; returns the number of rows of each file.
    pub(super) fn finish(self) -> Result<[u64; TABLES.len()]> {
        let mut counts = [0; TABLES.len()];
        for (writer, count) in self.writers.into_iter().zip(&mut counts) {
            if let Some(writer) = writer {
                *count = writer.rows;
                writer.finish()?;
            }
        }
        Ok(counts)
    }
}

impl CanonicalFiles {
    /// Keeps the files, which have these numbers of rows.
    pub(super) fn keep(self, generation: &Path, name: &str, counts: [u64; TABLES.len()]) -> Result<Vec<Table>> {
        let mut tables = Vec::new();
        for (((_, folder), file), rows) in TABLES.iter().zip(self.0).zip(counts) {
            let Some(file) = file else { continue };
            let path = format!("{folder}/{name}");
            let file = ChecksummedFile::keep(file, &generation.join(&path))?;
            tables.push(Table { path, rows, bytes: file.bytes, sha256: file.sha256, crc32: file.crc32 });
        }
        Ok(tables)
    }

    /// Error of the disk if there was one, else `error`.
    pub(super) fn take_error(&mut self, error: Error) -> Error {
        self.0.iter_mut().flatten().fold(error, |error, file| ChecksummedFile::take_error(file, error))
    }
}
