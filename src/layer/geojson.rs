//! Layers as GeoJSON (RFC 7946): WGS 84, outer rings counter-clockwise, shortest digits, one record at a time.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::crs::Transform;
use super::geojson_geometry::Pen;
use super::{Cancel, Layer, geometries_of};
use crate::error::{Error, Kind, Result};
use crate::part_file;

/// The day 1970-01-01, counted from year 1.
const EPOCH: i32 = 719_163;

impl Layer {
    /// Writes a `FeatureCollection`. `as_is` writes coordinates as they are; otherwise they are brought to WGS 84, and
    /// it is an error where the CRS is unknown. Once `cancel` is set, nothing is left or replaced.
    pub fn write_geojson(&self, path: &Path, as_is: bool, cancel: &Cancel) -> Result<()> {
        let transform = self.transform(as_is)?;
        let fill = |out: &mut BufWriter<&File>| {
            self.features(transform.as_ref(), &mut |text| {
                cancel.check()?;
                out.write_all(text).map_err(|cause| Error::file("write", path, &cause))
            })
        };
        part_file::write(path, fill, || cancel.check())
    }

    /// The same as text.
    pub fn geojson(&self, as_is: bool) -> Result<String> {
        let mut all = Vec::new();
        self.features(self.transform(as_is)?.as_ref(), &mut |text| {
            all.extend_from_slice(text);
            Ok(())
        })?;
        String::from_utf8(all).map_err(|_| Error::new(Kind::Archive, "the text of the layer is not valid UTF-8"))
    }

    fn transform(&self, as_is: bool) -> Result<Option<Transform>> {
        if as_is || self.geometry.is_none() {
            return Ok(None);
        }
        Ok(Some(self.known_crs()?.to_wgs84()?).filter(|transform| !transform.is_identity()))
    }

    fn features(&self, transform: Option<&Transform>, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut text = b"{\"type\":\"FeatureCollection\",\"name\":".to_vec();
        string(&mut text, &self.name);
        text.extend_from_slice(b",\"features\":[");
        let mut row = 0_u64;
        let mut pen = Pen::new(transform);
        for batch in &self.batches {
            let columns = self.columns(batch);
            let mut geometries = geometries_of(batch, self.geometry);
            for at in 0..batch.num_rows() {
                text.extend_from_slice(if row == 0 { b"\n" } else { b",\n" });
                text.extend_from_slice(b"{\"type\":\"Feature\",\"properties\":{");
                for (index, (key, column)) in columns.iter().enumerate() {
                    if index > 0 {
                        text.push(b',');
                    }
                    text.extend_from_slice(key);
                    column.value(&mut text, at);
                }
                text.extend_from_slice(b"},\"geometry\":");
                match geometries.next().flatten() {
                    None => text.extend_from_slice(b"null"),
                    Some(wkb) => {
                        pen.geometry(&mut text, wkb).map_err(|error| error.with(|facts| facts.record = Some(row)))?;
                    }
                }
                text.push(b'}');
                if text.len() > 64 * 1024 {
                    put(&text)?;
                    text.clear();
                }
                row = row.saturating_add(1);
            }
        }
        text.extend_from_slice(b"\n]}\n");
        put(&text)
    }

    /// Each column that is a property, with its key as JSON.
    fn columns<'a>(&self, batch: &'a RecordBatch) -> Vec<(Vec<u8>, Column<'a>)> {
        let fields = self.schema.fields().iter().zip(batch.columns()).enumerate();
        fields
            .filter(|(at, _)| Some(*at) != self.geometry)
            .map(|(_, (field, array))| {
                let mut key = Vec::new();
                string(&mut key, field.name());
                key.push(b':');
                (key, Column { array })
            })
            .collect()
    }
}

/// A column whose values are written as JSON.
struct Column<'a> {
    array: &'a ArrayRef,
}

impl Column<'_> {
    fn value(&self, text: &mut Vec<u8>, row: usize) {
        if self.array.is_null(row) {
            text.extend_from_slice(b"null");
            return;
        }
        match self.array.data_type() {
            DataType::LargeUtf8 => string(text, self.array.as_string::<i64>().value(row)),
            DataType::Int32 => json(text, &self.array.as_primitive::<Int32Type>().value(row)),
            DataType::Int64 => json(text, &self.array.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => json(text, &self.array.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => json(text, &self.array.as_boolean().value(row)),
            DataType::Date32 => {
                let days = self.array.as_primitive::<Date32Type>().value(row);
                let date = chrono::NaiveDate::from_num_days_from_ce_opt(days.saturating_add(EPOCH));
                json(text, &date.map(|date| date.to_string()));
            }
            DataType::LargeBinary => {
                let bytes = self.array.as_binary::<i64>().value(row);
                let digit = |half: u8| char::from_digit(u32::from(half), 16);
                let hex: String =
                    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0F)]).flatten().collect();
                string(text, &hex);
            }
            _ => text.extend_from_slice(b"null"),
        }
    }
}

fn string(text: &mut Vec<u8>, value: &str) {
    json(text, value);
}

/// A value as JSON; into memory, and of types that cannot fail.
pub(super) fn json<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    drop(serde_json::to_writer(text, value));
}
