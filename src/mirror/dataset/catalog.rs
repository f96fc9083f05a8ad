//! Writes the catalog: tables of jobs, products and devices as Parquet, and of field boundaries as GeoParquet.

use std::path::Path;

use arrow_array::RecordBatch;

use super::boundaries::{self, Boundaries};
use super::manifest::{Manifest, Table};
use super::part_writer::{ChecksummedFile, write_error};
use crate::error::{Error, Kind, Result};
use crate::layer::{self, Cancel, ROW_GROUP, Writer, threads};
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
        let table =
            layer::Table { schema: batch.schema(), geometry: None, boxes: String::new(), crs: None, counter: None };
        written.push(write_one(disk, last, generation, name, (table, batch, &[]), cancel)?);
    }
    Ok(written)
}

/// Writes the table of field boundaries, the only one with geometries.
pub(super) fn write_boundaries(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    boundaries: Boundaries,
    cancel: &Cancel,
) -> Result<Table> {
    let Boundaries { table, batch, types } = boundaries;
    write_one(disk, last, generation, boundaries::TABLE_NAME, (table, &batch, &types), cancel)
}

/// Links a table of the last generation; `None` if that has none.
pub(super) fn link_previous(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    name: &str,
) -> Result<Option<Table>> {
    let path = format!("{FOLDER}/{name}.parquet");
    let found = last.and_then(|(folder, last)| Some((folder, last.catalog.iter().find(|table| table.path == path)?)));
    let Some((folder, table)) = found.filter(|(folder, table)| table.is_present(folder)) else { return Ok(None) };
    disk.link_or_copy(&folder.join(&path), &generation.join(&path))?;
    Ok(Some(table.clone()))
}

fn write_one(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    name: &str,
    (table, batch, types): (layer::Table, &RecordBatch, &[u32]),
    cancel: &Cancel,
) -> Result<Table> {
    let file = format!("{name}.parquet");
    let path = format!("{FOLDER}/{file}");
    let mut out = ChecksummedFile::begin(disk, &generation.join(FOLDER), &file)?;
    let filled =
        Writer::begin(Box::new(&mut out), table, Some(batch), threads(), &write_error).and_then(|mut writer| {
            for start in (0..batch.num_rows()).step_by(ROW_GROUP) {
                let count = ROW_GROUP.min(batch.num_rows().saturating_sub(start));
                writer.write_group(&[batch.slice(start, count)], cancel)?;
            }
            writer.finish(types)
        });
    filled.map_err(|error| ChecksummedFile::take_error(&mut out, error))?;
    let (part, checksums) = ChecksummedFile::close(out)?;
    let rows = batch.num_rows() as u64;
    let table = Table { path, rows, bytes: checksums.bytes, sha256: checksums.sha256, crc32: checksums.crc32 };
    let target = generation.join(&table.path);
    match last.filter(|(folder, last)| last.catalog.contains(&table) && table.is_present(folder)) {
        Some((folder, _)) => disk.link_or_copy(&folder.join(&table.path), &target)?,
        None => part.keep(&target)?,
    }
    Ok(table)
}
