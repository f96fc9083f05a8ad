//! Writes layers as [GeoParquet 1.1](https://geoparquet.org/releases/v1.1.0/): WKB, PROJJSON and bounding boxes.
//!
//! Readers skip rows outside a region by their boxes. The columns of a row group are encoded concurrently.

mod allowed_geometries;
mod bbox;
mod dictionary;
mod frame_attributes;
mod table_file;
mod writer;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::errors::ParquetError;

use crate::layer::Cancel;
use crate::layer::Layer;
use crate::layer::ordered_pipeline::threads;
use crate::layer::schema;
pub use bbox::Bounds;
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;
use headland_base::part_file;
pub use table_file::TableFile;
pub use writer::{Table, Writer};

/// The rows per row group: enough to compress well, few enough that a regional query skips most groups.
pub const ROW_GROUP: usize = 65_536;

impl Layer {
    /// Writes GeoParquet 1.1. An unknown CRS is written as `null`, since the default of the format is WGS 84. The format
    /// has no M, which is left out, and no surfaces of triangles, which are written as polygons. After cancellation, the file is not replaced and no temporary file remains.
    pub fn write_parquet(&self, path: &Path, cancel: &Cancel) -> Result<()> {
        let to_error = |cause: ParquetError| write_error(&format!("`{}`", path.display()), &cause);
        let fill = |out: &mut BufWriter<&File>| self.write_parquet_to(out, ROW_GROUP, threads(), cancel, &to_error);
        part_file::write(path, fill, || cancel.check())
    }

    fn write_parquet_to(
        &self,
        out: impl Write + Send,
        row_group: usize,
        threads: usize,
        cancel: &Cancel,
        to_error: &(dyn Fn(ParquetError) -> Error + Sync),
    ) -> Result<()> {
        let table = self.parquet_table();
        let sample = self.batches.iter().find(|batch| batch.num_rows() > 0);
        let mut writer = Writer::begin(Box::new(out), table, sample, threads, to_error)?;
        for group in row_groups(&self.batches, row_group) {
            writer.write_group(&group, cancel)?;
        }
        writer.finish(&self.types)
    }

    fn parquet_table(&self) -> Table {
        Table {
            schema: self.with_distinct_names(),
            geometry: self.geometry,
            boxes: "bbox".to_owned(),
            crs: self.crs_projjson().cloned(),
            counter: None,
        }
    }

    /// The schema of the file with unique names and without boxes.
    fn with_distinct_names(&self) -> SchemaRef {
        let names = schema::distinct_names(&self.schema);
        let renamed = |(field, name): (&Arc<Field>, &String)| {
            if field.name() == name { Arc::clone(field) } else { Arc::new(field.as_ref().clone().with_name(name)) }
        };
        let fields: Vec<_> = self.schema.fields().iter().zip(&names).map(renamed).collect();
        Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()))
    }
}

/// The error of a failed write of `target`, with the number of the system if the disk was the cause.
fn write_error(target: &str, cause: &ParquetError) -> Error {
    let (text, number) = match cause {
        ParquetError::External(cause) => (cause.to_string(), cause.downcast_ref().and_then(error_number)),
        _ => (cause.to_string(), None),
    };
    Error::new(Kind::File, format!("cannot write {target}: {text}")).with(|facts| facts.os_error = number)
}

/// Splits and joins batches to groups of `rows`; the last may be shorter.
#[must_use]
pub fn row_groups(batches: &[RecordBatch], rows: usize) -> Vec<Vec<RecordBatch>> {
    let mut groups: Vec<Vec<RecordBatch>> = Vec::new();
    let mut left = 0;
    for batch in batches {
        let mut start = 0;
        while start < batch.num_rows() {
            if left == 0 {
                groups.push(Vec::new());
                left = rows.max(1);
            }
            let taken = left.min(batch.num_rows().saturating_sub(start));
            if let Some(group) = groups.last_mut() {
                group.push(batch.slice(start, taken));
            }
            start = start.saturating_add(taken);
            left = left.saturating_sub(taken);
        }
    }
    groups
}

#[cfg(test)]
mod tests;
