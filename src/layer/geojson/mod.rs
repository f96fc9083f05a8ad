//! Layers as GeoJSON (RFC 7946): WGS 84, outer rings counter-clockwise, shortest digits; rows in steps, side by side.

mod geometry;
mod properties;
mod shortest_float;
mod winding;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;

use self::geometry::{Pen, Target};
use self::properties::{Cells, Key, string};
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;
use crate::layer::Layer;
use crate::layer::geometries_of;
use crate::layer::ordered_pipeline::{in_order, threads};
use crate::layer::schema;
use crate::part_file;

/// The most rows of a step.
const ROWS: usize = 1_024;
/// A step of several rows holds about so many bytes of geometries and texts at most.
const BYTES: usize = 1 << 20;

impl Layer {
    /// Writes a `FeatureCollection`. `as_is` writes coordinates as they are; otherwise they are brought to WGS 84, and
    /// it is an error where the CRS is unknown or a place is beyond the earth's longitudes and latitudes. Once `cancel`
    /// is set, nothing is left or replaced.
    pub fn write_geojson(&self, path: &Path, as_is: bool, cancel: &Cancel) -> Result<()> {
        let target = self.target(as_is)?;
        let fill = |out: &mut BufWriter<&File>| {
            self.features(&target, threads(), cancel, &mut |text| {
                out.write_all(text).map_err(|cause| Error::file("write", path, &cause))
            })
        };
        part_file::write(path, fill, || cancel.check())
    }

    /// The same as text.
    pub fn geojson(&self, as_is: bool) -> Result<String> {
        let mut all = Vec::new();
        self.features(&self.target(as_is)?, threads(), &Cancel::default(), &mut |text| {
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

    fn features(
        &self,
        target: &Target,
        threads: usize,
        cancel: &Cancel,
        put: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
    ) -> Result<()> {
        let names = schema::distinct_names(&self.schema).into_iter().enumerate();
        let properties: Vec<(usize, String)> = names.filter(|(at, _)| Some(*at) != self.geometry).collect();
        let first = properties.first().map(|(at, _)| *at);
        let keys: Vec<(usize, Key)> =
            properties.iter().map(|(at, name)| (*at, Key::new(name, Some(*at) == first))).collect();
        let steps = steps(&self.batches);
        let mut start = b"{\"type\":\"FeatureCollection\",\"name\":".to_vec();
        string(&mut start, &self.name);
        start.extend_from_slice(b",\"features\":[");
        put(&start)?;
        let make = |step: usize, text: &mut Vec<u8>| {
            cancel.check()?;
            text.clear();
            let Some(step) = steps.get(step) else { return Ok(()) };
            self.step(step, &keys, target, text)
        };
        in_order(threads, steps.len(), make, &mut |text: &mut Vec<u8>| put(text))?;
        put(b"\n]}\n")
    }

    /// Writes the features of some rows, each behind the line break that parts it from the one before.
    fn step(&self, step: &Step, keys: &[(usize, Key)], target: &Target, text: &mut Vec<u8>) -> Result<()> {
        let columns = step.batch.columns();
        let mut cells: Vec<Cells<'_>> =
            keys.iter().filter_map(|(at, key)| Some(Cells::new(key, columns.get(*at)?))).collect();
        let mut geometries = geometries_of(&step.batch, self.geometry);
        let mut pen = Pen::new(target);
        for row in 0..step.batch.num_rows() {
            let number = step.before.saturating_add(row);
            text.extend_from_slice(if number == 0 { b"\n" } else { b",\n" });
            text.extend_from_slice(b"{\"type\":\"Feature\",\"properties\":{");
            for cell in &mut cells {
                cell.put(text, row);
            }
            text.extend_from_slice(b"},\"geometry\":");
            match geometries.next().flatten() {
                None => text.extend_from_slice(b"null"),
                Some(wkb) => pen
                    .geometry(text, wkb)
                    .map_err(|error| error.with(|facts| facts.record = u64::try_from(number).ok()))?,
            }
            text.push(b'}');
        }
        Ok(())
    }
}

/// Some rows of one batch.
struct Step {
    batch: RecordBatch,
    /// How many rows of the layer stand before these.
    before: usize,
}

/// All rows in steps, small enough that a few of them in memory are nothing, whatever the records are.
fn steps(batches: &[RecordBatch]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut before = 0_usize;
    for batch in batches {
        let mut start = 0;
        while start < batch.num_rows() {
            let mut end = start.saturating_add(ROWS).min(batch.num_rows());
            while end.saturating_sub(start) > 1 && bytes(batch, start, end) > BYTES {
                end = start.midpoint(end);
            }
            let rows = end.saturating_sub(start);
            steps.push(Step { batch: batch.slice(start, rows), before });
            before = before.saturating_add(rows);
            start = end;
        }
    }
    steps
}

/// The bytes of geometries and texts in some rows.
fn bytes(batch: &RecordBatch, start: usize, end: usize) -> usize {
    fn between<O: OffsetSizeTrait>(offsets: &[O], start: usize, end: usize) -> usize {
        let at = |row: usize| offsets.get(row).map_or(0, |offset| offset.as_usize());
        at(end).saturating_sub(at(start))
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
