//! The catalog: tables about jobs, products and devices as plain Parquet.

use std::path::Path;

use arrow_array::RecordBatch;

use super::manifest::Table;
use super::part::{Output, failed};
use crate::error::{Error, Kind, Result};
use crate::layer::{self, Cancel, ROW_GROUP, Writer, threads};
use crate::mirror::Disk;

/// Writes each table as `catalog/<name>.parquet` into a generation.
pub(super) fn write(
    disk: &Disk,
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
        let kept = Output::keep(out, &folder.join(&file))?;
        let rows = batch.num_rows() as u64;
        written.push(Table { path: format!("catalog/{file}"), rows, bytes: kept.bytes, sha256: kept.sha256 });
    }
    written.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(written)
}
