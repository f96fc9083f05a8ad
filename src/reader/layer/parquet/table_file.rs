//! A GeoParquet file of many layers with the same columns, written in bounded memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use parquet::errors::ParquetError;

use super::{ROW_GROUP, Table, Writer, row_groups, write_error};
use crate::layer::ordered_pipeline::threads;
use crate::layer::{Cancel, Layer};
use headland_base::error::{Error, Result};

/// Rows from which a row group is written. A layer with more rows is not kept until the next one is read, and groups of
/// fewer rows compress badly.
const MIN_GROUP_ROWS: usize = 16_384;

/// The file in progress. It is not readable before [`TableFile::finish`].
pub struct TableFile {
    path: PathBuf,
    writer: Option<Writer<'static>>,
    /// Description of the file, by its first layer.
    table: Option<Table>,
    pending: Vec<RecordBatch>,
    types: BTreeSet<u32>,
}

impl TableFile {
    /// A file at a path, which is created with its first rows.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, writer: None, table: None, pending: Vec::new(), types: BTreeSet::new() }
    }

    /// Appends the rows of a layer, whose columns are those of the first one.
    pub fn add(&mut self, layer: &Layer, cancel: &Cancel) -> Result<()> {
        self.table.get_or_insert_with(|| layer.parquet_table());
        self.types.extend(layer.geometry_types());
        self.pending.extend_from_slice(layer.batches());
        let rows: usize = self.pending.iter().map(RecordBatch::num_rows).sum();
        if rows < MIN_GROUP_ROWS { Ok(()) } else { self.flush(cancel) }
    }

    fn flush(&mut self, cancel: &Cancel) -> Result<()> {
        if let Some(table) = self.table.as_ref().filter(|_| self.writer.is_none()) {
            let file = File::create(&self.path).map_err(|cause| Error::file("write", &self.path, &cause))?;
            let out = Box::new(BufWriter::with_capacity(256 * 1024, file));
            // A few rows do not show whether values repeat.
            let sample = self.pending.iter().max_by_key(|batch| batch.num_rows());
            let to_error = &|cause: ParquetError| write_error("the table", &cause);
            self.writer = Some(Writer::begin(out, table.clone(), sample, threads(), to_error)?);
        }
        let pending = std::mem::take(&mut self.pending);
        for group in row_groups(&pending, ROW_GROUP) {
            if let Some(writer) = &mut self.writer {
                writer.write_group(&group, cancel)?;
            }
        }
        Ok(())
    }

    /// Writes the remaining rows and the footer.
    pub fn finish(mut self, cancel: &Cancel) -> Result<()> {
        self.flush(cancel)?;
        let types: Vec<u32> = self.types.into_iter().collect();
        self.writer.map_or(Ok(()), |writer| writer.finish(&types))
    }
}
