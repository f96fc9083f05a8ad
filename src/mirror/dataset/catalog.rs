//! The catalog: tables about jobs, products and devices as plain Parquet.

use std::path::Path;

use arrow_array::RecordBatch;

use super::manifest::{Manifest, Table};
use super::part::{Output, failed};
use crate::error::{Error, Kind, Result};
use crate::layer::{self, Cancel, ROW_GROUP, Writer, threads};
use crate::mirror::Disk;

/// Writes each table as `catalog/<name>.parquet` into a generation. One that the last generation has byte for byte is the
/// same file in both, so that whoever copies the folder sees by the file that nothing has changed.
pub(super) fn write(
    disk: &Disk,
    last: Option<(&Path, &Manifest)>,
    generation: &Path,
    tables: &[(String, RecordBatch)],
    cancel: &Cancel,
) -> Result<Vec<Table>> {
    let folder = generation.join("catalog");
    disk.make_folder(&folder)?;
    let mut written = Vec::new();
    for (name, batch) in tables {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            let message = format!("`{name}` is no name of a table: letters, digits and `_` are");
            return Err(Error::new(Kind::Value, message));
        }
        let file = format!("{name}.parquet");
        let mut out = Output::begin(disk, &folder, &file)?;
        let table =
            layer::Table { schema: batch.schema(), geometry: None, boxes: String::new(), crs: None, counter: None };
        let filled =
            Writer::begin(Box::new(&mut out), table, Some(batch), threads(), &failed).and_then(|mut writer| {
                for start in (0..batch.num_rows()).step_by(ROW_GROUP) {
                    let count = ROW_GROUP.min(batch.num_rows().saturating_sub(start));
                    writer.group(&[batch.slice(start, count)], cancel)?;
                }
                writer.finish(&[])
            });
        filled.map_err(|error| Output::cause(&mut out, error))?;
        let (part, made) = Output::close(out)?;
        let rows = batch.num_rows() as u64;
        let path = format!("catalog/{file}");
        let table = Table { path, rows, bytes: made.bytes, sha256: made.sha256, crc32: made.crc32 };
        let same = last.filter(|(at, last)| last.catalog.contains(&table) && table.is_there(at));
        match same {
            Some((at, _)) => disk.link_or_copy(&at.join(&table.path), &folder.join(&file))?,
            None => part.keep(&folder.join(&file))?,
        }
        written.push(table);
    }
    written.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(written)
}
