//! Writes the catalog: tables of jobs, products and devices as Parquet, and of field boundaries as GeoParquet.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::boundaries::{self, Boundaries};
use super::checked_file::{CheckedFile, damaged_error, missing_error};
use super::manifest::{Manifest, Table};
use super::part_writer::{ChecksummedFile, write_error};
use crate::Disk;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::{self, Cancel, ROW_GROUP, Writer, row_groups, threads};

/// Folder of the tables in a generation.
const FOLDER: &str = "catalog";

/// Writes the tables of a generation.
///
/// A table identical to that of the last generation is linked, so that a tool that copies the folder sees an unchanged
/// file.
pub(super) struct CatalogWriter<'a> {
    pub(super) disk: &'a Disk,
    /// The folder of the last generation, and its manifest.
    pub(super) last: Option<(&'a Path, &'a Manifest)>,
    /// The folder of the new generation.
    pub(super) generation: &'a Path,
    pub(super) cancel: &'a Cancel,
}

impl CatalogWriter<'_> {
    /// Writes each table as `catalog/<name>.parquet`.
    pub(super) fn write(&self, tables: &[(String, RecordBatch)]) -> Result<Vec<Table>> {
        self.disk.make_folder(&self.generation.join(FOLDER))?;
        let write = |(name, batch): &(String, RecordBatch)| {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                let message = format!("`{name}` is not a table name: use letters, digits and `_`");
                return Err(Error::new(Kind::Value, message));
            }
            self.write_batches(name, &batch.schema(), std::slice::from_ref(batch))
        };
        tables.iter().map(write).collect()
    }

    /// Writes the table of field boundaries, the only one with geometries.
    pub(super) fn write_boundaries(&self, boundaries: &Boundaries) -> Result<Table> {
        let Boundaries { table, batch, types } = boundaries;
        self.write_table((FOLDER, boundaries::TABLE_NAME), table.clone(), std::slice::from_ref(batch), types)
    }

    /// Links a table of the last generation; `None` if that has none.
    pub(super) fn link_previous(&self, name: &str) -> Result<Option<Table>> {
        let path = format!("{FOLDER}/{name}.parquet");
        let Some((folder, last)) = self.last else { return Ok(None) };
        let found = last.catalog.iter().find(|table| table.path == path && table.is_present(folder));
        let Some(table) = found else { return Ok(None) };
        self.disk.link_or_copy(&folder.join(&path), &self.generation.join(&path))?;
        Ok(Some(table.clone()))
    }

    /// Writes a table without geometries, whose rows may come in several batches.
    pub(super) fn write_batches(&self, name: &str, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Table> {
        let table =
            layer::Table { schema: Arc::clone(schema), geometry: None, boxes: String::new(), crs: None, counter: None };
        self.write_table((FOLDER, name), table, batches, &[])
    }

    /// Writes a file of canonical rows without rows, so that readers find the columns of every kind.
    pub(super) fn write_empty(&self, name: &str, table: layer::Table) -> Result<Table> {
        self.disk.make_folder(&self.generation.join(name))?;
        self.write_table((name, name), table, &[], &[])
    }

    /// Writes `<folder>/<name>.parquet`.
    fn write_table(
        &self,
        (folder, name): (&str, &str),
        table: layer::Table,
        batches: &[RecordBatch],
        types: &[u32],
    ) -> Result<Table> {
        let file = format!("{name}.parquet");
        let mut out = ChecksummedFile::begin(self.disk, &self.generation.join(folder), &file)?;
        let sample = batches.iter().max_by_key(|batch| batch.num_rows());
        let filled =
            Writer::begin(Box::new(&mut out), table, sample, threads(), &write_error).and_then(|mut writer| {
                for group in row_groups(batches, ROW_GROUP) {
                    writer.write_group(&group, self.cancel)?;
                }
                writer.finish(types)
            });
        filled.map_err(|error| ChecksummedFile::take_error(&mut out, error))?;
        let (part, checksums) = ChecksummedFile::close(out)?;
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let path = format!("{folder}/{file}");
        let table = Table { path, rows, bytes: checksums.bytes, sha256: checksums.sha256, crc32: checksums.crc32 };
        let target = self.generation.join(&table.path);
        match self.last.filter(|(folder, last)| last.catalog.contains(&table) && table.is_present(folder)) {
            Some((folder, _)) => self.disk.link_or_copy(&folder.join(&table.path), &target)?,
            None => part.keep(&target)?,
        }
        Ok(table)
    }
}

/// Reads a table of the last generation.
pub(super) fn read_previous((folder, last): (&Path, &Manifest), name: &str) -> Result<Vec<RecordBatch>> {
    let name = format!("{FOLDER}/{name}.parquet");
    let path = folder.join(&name);
    let Some(stated) = last.catalog.iter().find(|table| table.path == name) else { return Err(missing_error(&path)) };
    let invalid = |cause: &dyn std::fmt::Display| damaged_error(&path, &cause.to_string());
    let mut file = CheckedFile::open(&path, &stated.crc32)?;
    let length = file.len();
    let content = file.fetch(std::iter::once(0..length).collect())?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(content).and_then(ParquetRecordBatchReaderBuilder::build);
    reader.map_err(|cause| invalid(&cause))?.map(|batch| batch.map_err(|cause| invalid(&cause))).collect()
}
