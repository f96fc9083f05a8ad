//! Layers as GeoParquet 1.1: WKB, the coordinate system as PROJJSON, and a box around each geometry for readers that
//! look for a region. Columns of a row group are encoded side by side.

mod bbox;
mod dictionary;
mod writer;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::errors::ParquetError;

use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;
use crate::layer::Layer;
use crate::layer::ordered_pipeline::threads;
use crate::layer::schema;
use crate::part_file;
pub(crate) use bbox::Bounds;
pub(crate) use writer::{Table, Writer};

/// Large enough to compress well, small enough that a region of interest leaves most of them unread.
pub(crate) const ROW_GROUP: usize = 65_536;

impl Layer {
    /// Writes GeoParquet 1.1. An unknown CRS is written as `null`, which says so; the default of the format would
    /// claim WGS 84. Once `cancel` is set, nothing is left or replaced.
    pub fn write_parquet(&self, path: &Path, cancel: &Cancel) -> Result<()> {
        let failed =
            |cause: ParquetError| Error::new(Kind::File, format!("cannot write `{}`: {cause}", path.display()));
        let fill = |out: &mut BufWriter<&File>| self.parquet(out, ROW_GROUP, threads(), cancel, &failed);
        part_file::write(path, fill, || cancel.check())
    }

    fn parquet(
        &self,
        out: impl Write + Send,
        row_group: usize,
        threads: usize,
        cancel: &Cancel,
        failed: &(dyn Fn(ParquetError) -> Error + Sync),
    ) -> Result<()> {
        let table = Table {
            schema: self.with_distinct_names(),
            geometry: self.geometry,
            boxes: "bbox".to_owned(),
            crs: self.crs_projjson().cloned(),
            counter: None,
        };
        let sample = self.batches.iter().find(|batch| batch.num_rows() > 0);
        let mut writer = Writer::begin(Box::new(out), table, sample, threads, failed)?;
        for group in groups(&self.batches, row_group) {
            writer.group(&group, cancel)?;
        }
        writer.finish(&self.types)
    }

    /// The schema of the file but for boxes: that of the layer, each name once.
    fn with_distinct_names(&self) -> SchemaRef {
        let names = schema::distinct_names(&self.schema);
        let renamed = |(field, name): (&Arc<Field>, &String)| {
            if field.name() == name { Arc::clone(field) } else { Arc::new(field.as_ref().clone().with_name(name)) }
        };
        let fields: Vec<_> = self.schema.fields().iter().zip(&names).map(renamed).collect();
        Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()))
    }
}

/// The batches cut and joined into groups of so many rows; the last one may have fewer.
fn groups(batches: &[RecordBatch], rows: usize) -> Vec<Vec<RecordBatch>> {
    let mut groups: Vec<Vec<RecordBatch>> = Vec::new();
    let mut room = 0;
    for batch in batches {
        let mut start = 0;
        while start < batch.num_rows() {
            if room == 0 {
                groups.push(Vec::new());
                room = rows.max(1);
            }
            let taken = room.min(batch.num_rows().saturating_sub(start));
            if let Some(group) = groups.last_mut() {
                group.push(batch.slice(start, taken));
            }
            start = start.saturating_add(taken);
            room = room.saturating_sub(taken);
        }
    }
    groups
}

#[cfg(test)]
mod tests;
