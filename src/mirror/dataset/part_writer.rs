//! Writes a part: layers with the same columns in one file, in row groups that are spatially compact.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::errors::ParquetError;

use super::convert::ConvertedLayer;
use super::file_checksums::{Checksums, FileChecksums};
use super::hilbert::{Sides, are_apart, join_boxes};
use super::row_origin::{CanonicalOrigin, RowOrigin};
use super::source_archive::SourceArchive;
use crate::fs::{Disk, Part};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::{Cancel, ROW_GROUP, Table, Writer, threads};

/// Rows after which a distant job starts a new row group. Smaller groups cost more than they save.
const MIN_GROUP_ROWS: usize = 8_192;

/// Rows needed to tell whether the values of a column repeat.
const MIN_SAMPLE_ROWS: usize = 64;

/// File that computes checksums while it is written.
pub(super) struct ChecksummedFile {
    part: Part,
    checksums: Checksums,
    /// Error behind the one that parquet reports, with its advice.
    error: Option<Error>,
}

impl ChecksummedFile {
    /// Creates a file in `folder`.
    pub(super) fn begin(disk: &Disk, folder: &Path, name: &str) -> Result<BufWriter<Self>> {
        let part = disk.create_part(folder, name)?;
        let output = Self { part, checksums: Checksums::default(), error: None };
        Ok(BufWriter::with_capacity(256 * 1024, output))
    }

    /// Syncs the file and renames it to `target`.
    pub(super) fn keep(output: BufWriter<Self>, target: &Path) -> Result<FileChecksums> {
        let (part, written) = Self::close(output)?;
        part.keep(target)?;
        Ok(written)
    }

    /// Flushes the file. If the caller does not keep it, it is removed.
    pub(super) fn close(mut output: BufWriter<Self>) -> Result<(Part, FileChecksums)> {
        let flushed = output.flush();
        let (output, _) = output.into_parts();
        flushed.map_err(|cause| output.part.write_error(&cause))?;
        Ok((output.part, output.checksums.finish()))
    }

    /// Error of the disk if there was one, else `error`.
    pub(super) fn take_error(output: &mut BufWriter<Self>, error: Error) -> Error {
        output.get_mut().error.take().unwrap_or(error)
    }
}

impl Write for ChecksummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.part.write(bytes) {
            Ok(count) => {
                self.checksums.update(bytes.get(..count).unwrap_or_default());
                Ok(count)
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Err(cause),
            Err(cause) => {
                self.error = Some(self.part.write_error(&cause));
                Err(cause)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}

/// Error of the Parquet writer.
#[expect(clippy::needless_pass_by_value, reason = "errors are handed on as they come")]
pub(super) fn write_error(cause: ParquetError) -> Error {
    Error::new(Kind::File, format!("cannot write a file of the dataset: {cause}"))
}

/// Writer that collects the rows of a part into row groups.
pub(super) struct RowGroupWriter<'a> {
    out: Option<&'a mut BufWriter<ChecksummedFile>>,
    table: Table,
    writer: Option<Writer<'a>>,
    cancel: &'a Cancel,
    /// Rows of the next row group, and the bounding box of their jobs.
    pending: Vec<RecordBatch>,
    count: usize,
    around: Option<Sides>,
    /// Content of the part so far.
    pub(super) rows: u64,
    pub(super) bounds: Option<Sides>,
    types: BTreeSet<u32>,
    pub(super) origins: Vec<RowOrigin>,
}

impl<'a> RowGroupWriter<'a> {
    pub(super) fn begin(out: &'a mut BufWriter<ChecksummedFile>, table: Table, cancel: &'a Cancel) -> Self {
        Self {
            out: Some(out),
            table,
            writer: None,
            cancel,
            pending: Vec::new(),
            count: 0,
            around: None,
            rows: 0,
            bounds: None,
            types: BTreeSet::new(),
            origins: Vec::new(),
        }
    }

    /// Bytes written so far.
    pub(super) fn bytes(&self) -> u64 {
        self.writer.as_ref().map_or(0, |writer| writer.bytes() as u64)
    }

    /// Appends a layer. `canonical` is what its canonical rows take from job and place, if it has any.
    pub(super) fn add(
        &mut self,
        source: &SourceArchive,
        layer: &ConvertedLayer,
        canonical: Option<CanonicalOrigin>,
    ) -> Result<()> {
        let first_row = self.rows;
        self.add_rows(layer.batches(&source.job_id), layer.bounds, layer.layer.geometry_types())?;
        self.origins.push(RowOrigin {
            kind: source.kind.as_str().to_owned(),
            job_id: source.job_id.clone(),
            name: source.name.clone(),
            display: source.display.clone(),
            layer: layer.name.clone(),
            archive: source.sha256.clone(),
            first_row,
            rows: layer.len() as u64,
            digest: layer.digest.clone(),
            crs: layer.crs.clone(),
            diagnostics: layer.layer.diagnostics().len(),
            bbox: layer.bounds,
            positions: layer.positions.clone(),
            canonical,
        });
        Ok(())
    }

    /// Appends rows with this bounding box and these geometry types.
    pub(super) fn add_rows(
        &mut self,
        batches: impl Iterator<Item = Result<RecordBatch>>,
        bounds: Option<Sides>,
        types: &[u32],
    ) -> Result<()> {
        if self.count >= MIN_GROUP_ROWS && are_apart(self.around, bounds) {
            self.flush()?;
        }
        for batch in batches {
            let batch = batch?;
            self.rows = self.rows.saturating_add(batch.num_rows() as u64);
            let mut start = 0;
            while start < batch.num_rows() {
                let count = ROW_GROUP.saturating_sub(self.count).min(batch.num_rows().saturating_sub(start));
                self.pending.push(batch.slice(start, count));
                self.count = self.count.saturating_add(count);
                self.around = join_boxes(self.around, bounds);
                start = start.saturating_add(count);
                if self.count >= ROW_GROUP {
                    self.flush()?;
                }
            }
        }
        self.types.extend(types);
        self.bounds = join_boxes(self.bounds, bounds);
        Ok(())
    }

    fn writer(&mut self) -> Result<Option<&mut Writer<'a>>> {
        if let Some(out) = self.out.take() {
            let table = self.table.clone();
            // The largest batch of the first jobs; a few rows are not representative.
            let longest = self.pending.iter().max_by_key(|batch| batch.num_rows());
            let sample = longest.filter(|batch| batch.num_rows() >= MIN_SAMPLE_ROWS);
            self.writer = Some(Writer::begin(Box::new(out), table, sample, threads(), &write_error)?);
        }
        Ok(self.writer.as_mut())
    }

    fn flush(&mut self) -> Result<()> {
        let (cancel, pending) = (self.cancel, std::mem::take(&mut self.pending));
        if !pending.is_empty() {
            // The writer chooses the column encodings from these rows.
            self.pending = pending;
            self.writer()?;
            let pending = std::mem::take(&mut self.pending);
            if let Some(writer) = &mut self.writer {
                writer.write_group(&pending, cancel)?;
            }
        }
        self.count = 0;
        self.around = None;
        Ok(())
    }

    /// Writes the remaining rows and the footer; returns the number of row groups and the row origins.
    pub(super) fn finish(mut self) -> Result<(usize, Vec<RowOrigin>)> {
        self.flush()?;
        self.writer()?;
        let types: Vec<u32> = self.types.into_iter().collect();
        let Some(writer) = self.writer else { return Ok((0, self.origins)) };
        let groups = writer.groups();
        writer.finish(&types)?;
        Ok((groups, self.origins))
    }
}
