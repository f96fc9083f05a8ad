//! Writes layers as GeoJSON ([RFC 7946](https://www.rfc-editor.org/rfc/rfc7946)): WGS 84, shortest floats, several
//! threads.

mod geometry;
mod properties;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;

use self::geometry::{Target, write_geometry};
use self::properties::{write_cell, write_json};
use crate::layer::Cancel;
use crate::layer::Layer;
use crate::layer::batch_geometries;
use crate::layer::ordered_pipeline::{run_ordered, threads};
use crate::layer::schema;
use headland_base::error::{Error, Kind, Result};
use headland_base::part_file;

/// The most rows of a step.
const MAX_ROWS: usize = 1_024;
/// The approximate size limit of a step with several rows, in bytes of geometries and texts.
const MAX_BYTES: usize = 1 << 20;

impl Layer {
    /// Writes a `FeatureCollection` in WGS 84, or with unchanged coordinates if `as_is`.
    ///
    /// An unknown CRS or a coordinate out of range is an error. After cancellation, the file is not replaced and no
    /// temporary file remains.
    pub fn write_geojson(&self, path: &Path, as_is: bool, cancel: &Cancel) -> Result<()> {
        let target = self.target(as_is)?;
        let fill = |out: &mut BufWriter<&File>| {
            self.write_features(&target, threads(), cancel, &mut |text| {
                out.write_all(text).map_err(|cause| Error::file("write", path, &cause))
            })
        };
        part_file::write(path, fill, || cancel.check())
    }

    /// Returns the `FeatureCollection` as text.
    pub fn geojson(&self, as_is: bool) -> Result<String> {
        let mut all = Vec::new();
        self.write_features(&self.target(as_is)?, threads(), &Cancel::default(), &mut |text| {
            all.extend_from_slice(text);
            Ok(())
        })?;
        String::from_utf8(all).map_err(|_| Error::new(Kind::Archive, "the text of the layer is not valid UTF-8"))
    }

    fn target(&self, as_is: bool) -> Result<Target> {
        if as_is || self.geometry.is_none() {
            return Ok(Target::AsIs);
        }
        let transform = self.known_crs()?.to_wgs84()?;
        Ok(Target::Wgs84(Some(transform).filter(|transform| !transform.is_identity())))
    }

    fn write_features(
        &self,
        target: &Target,
        threads: usize,
        cancel: &Cancel,
        sink: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
    ) -> Result<()> {
        let names = schema::distinct_names(&self.schema).into_iter().enumerate();
        let properties: Vec<(usize, String)> = names.filter(|(index, _)| Some(*index) != self.geometry).collect();
        let key = |(position, (index, name)): (usize, (usize, String))| {
            let mut key = if position > 0 { vec![b','] } else { Vec::new() };
            write_json(&mut key, &name);
            key.push(b':');
            (index, key)
        };
        let keys: Vec<(usize, Vec<u8>)> = properties.into_iter().enumerate().map(key).collect();
        let steps = split_steps(&self.batches);
        let mut start = b"{\"type\":\"FeatureCollection\",\"name\":".to_vec();
        write_json(&mut start, &self.name);
        start.extend_from_slice(b",\"features\":[");
        sink(&start)?;
        let make = |step: usize, text: &mut Vec<u8>| {
            cancel.check()?;
            text.clear();
            let Some(step) = steps.get(step) else { return Ok(()) };
            self.write_step(step, &keys, target, text)
        };
        run_ordered(threads, steps.len(), make, &mut |text: &mut Vec<u8>| sink(text))?;
        sink(b"\n]}\n")
    }

    /// Writes the features of a step, each after a separator.
    fn write_step(&self, step: &Step, keys: &[(usize, Vec<u8>)], target: &Target, text: &mut Vec<u8>) -> Result<()> {
        let columns = step.batch.columns();
        let mut geometries = batch_geometries(&step.batch, self.geometry);
        for row in 0..step.batch.num_rows() {
            let number = step.rows_before.saturating_add(row);
            text.extend_from_slice(if number == 0 { b"\n" } else { b",\n" });
            text.extend_from_slice(b"{\"type\":\"Feature\",\"properties\":{");
            for (index, key) in keys {
                text.extend_from_slice(key);
                if let Some(array) = columns.get(*index) {
                    write_cell(text, array, row);
                }
            }
            text.extend_from_slice(b"},\"geometry\":");
            match geometries.next().flatten() {
                None => text.extend_from_slice(b"null"),
                Some(wkb) => write_geometry(text, wkb, target)
                    .map_err(|error| error.with(|facts| facts.record = u64::try_from(number).ok()))?,
            }
            text.push(b'}');
        }
        Ok(())
    }
}

/// Consecutive rows of one batch.
struct Step {
    batch: RecordBatch,
    /// The number of rows of the layer before this step.
    rows_before: usize,
}

/// Splits all rows into steps of bounded size, so that a few of them fit in memory.
fn split_steps(batches: &[RecordBatch]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rows_before = 0_usize;
    for batch in batches {
        let mut start = 0;
        while start < batch.num_rows() {
            let mut end = start.saturating_add(MAX_ROWS).min(batch.num_rows());
            while end.saturating_sub(start) > 1 && byte_size(batch, start, end) > MAX_BYTES {
                end = start.midpoint(end);
            }
            let rows = end.saturating_sub(start);
            steps.push(Step { batch: batch.slice(start, rows), rows_before });
            rows_before = rows_before.saturating_add(rows);
            start = end;
        }
    }
    steps
}

/// The size in bytes of geometries and texts in a range of rows.
fn byte_size(batch: &RecordBatch, start: usize, end: usize) -> usize {
    fn between<O: OffsetSizeTrait>(offsets: &[O], start: usize, end: usize) -> usize {
        let offset = |row: usize| offsets.get(row).map_or(0, |offset| offset.as_usize());
        offset(end).saturating_sub(offset(start))
    }
    let sizes = batch.columns().iter().map(|column| match column.data_type() {
        DataType::LargeUtf8 => between(column.as_string::<i64>().value_offsets(), start, end),
        DataType::LargeBinary => between(column.as_binary::<i64>().value_offsets(), start, end),
        _ => 0,
    });
    sizes.fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests;
