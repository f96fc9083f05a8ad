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
use crate::error::{Error, Kind, Result};
use crate::layer::{self, Cancel, ROW_GROUP, Writer, row_groups, threads};
use crate::mirror::Disk;

/// Folder of the tables in a generation.
const FOLDER: &str = "catalog";

/// Writes each table as `catalog/<name>.parquet`.
///
/// A table identical to that of the last generation is linked, so that a tool that copies the folder sees an unchanged
/// file.
pub(super) fn write(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    tables: &[(String, RecordBatch)],
    cancel: &Cancel,
) -> Result<Vec<Table>> {
    disk.make_folder(&generation.join(FOLDER))?;
    let mut written = Vec::new();
    for (name, batch) in tables {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let message = format!("`{name}` is not a table name: use letters, digits and `_`");
            return Err(Error::new(Kind::Value, message));
        }
        let batches = std::slice::from_ref(batch);
        written.push(write_batches(disk, last, generation, name, &batch.schema(), batches, cancel)?);
    }
    Ok(written)
}

/// Writes the table of field boundaries, the only one with geometries.
pub(super) fn write_boundaries(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    boundaries: &Boundaries,
    cancel: &Cancel,
) -> Result<Table> {
    let Boundaries { table, batch, types } = boundaries;
    let content = (table.clone(), std::slice::from_ref(batch), &**types);
    write_table(disk, last, generation, (FOLDER, boundaries::TABLE_NAME), content, cancel)
}

/// Links a table of the last generation; `None` if that has none.
pub(super) fn link_previous(
    disk: &Disk,
    (folder, last): (&Path, &Manifest),
    generation: &Path,
    name: &str,
) -> Result<Option<Table>> {
    let path = format!("{FOLDER}/{name}.parquet");
    let found = last.catalog.iter().find(|table| table.path == path && table.is_present(folder));
    let Some(table) = found else { return Ok(None) };
    disk.link_or_copy(&folder.join(&path), &generation.join(&path))?;
    Ok(Some(table.clone()))
}

/// Writes a table without geometries, whose rows may come in several batches.
pub(super) fn write_batches(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    name: &str,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    cancel: &Cancel,
) -> Result<Table> {
    let table =
        layer::Table { schema: Arc::clone(schema), geometry: None, boxes: String::new(), crs: None, counter: None };
    write_table(disk, last, generation, (FOLDER, name), (table, batches, &[]), cancel)
}

/// Writes a file of canonical rows without rows, so that readers find the columns of every kind.
pub(super) fn write_empty(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    (name, table): (&str, layer::Table),
    cancel: &Cancel,
) -> Result<Table> {
    disk.make_folder(&generation.join(name))?;
    write_table(disk, last, generation, (name, name), (table, &[], &[]), cancel)
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

/// Writes `<folder>/<name>.parquet`.
fn write_table(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    (folder, name): (&str, &str),
    (table, batches, types): (layer::Table, &[RecordBatch], &[u32]),
    cancel: &Cancel,
) -> Result<Table> {
    let file = format!("{name}.parquet");
    let path = format!("{folder}/{file}");
    let mut out = ChecksummedFile::begin(disk, &generation.join(folder), &file)?;
    let sample = batches.iter().max_by_key(|batch| batch.num_rows());
    let filled = Writer::begin(Box::new(&mut out), table, sample, threads(), &write_error).and_then(|mut writer| {
        for group in row_groups(batches, ROW_GROUP) {
            writer.write_group(&group, cancel)?;
        }
        writer.finish(types)
    });
    filled.map_err(|error| ChecksummedFile::take_error(&mut out, error))?;
    let (part, checksums) = ChecksummedFile::close(out)?;
    let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    let table = Table { path, rows, bytes: checksums.bytes, sha256: checksums.sha256, crc32: checksums.crc32 };
    let target = generation.join(&table.path);
    match last.filter(|(folder, last)| last.catalog.contains(&table) && table.is_present(folder)) {
        Some((folder, _)) => disk.link_or_copy(&folder.join(&table.path), &target)?,
        None => part.keep(&target)?,
    }
    Ok(table)
}
