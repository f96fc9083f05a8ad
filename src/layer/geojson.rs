//! Layers as GeoJSON (RFC 7946): WGS 84, outer rings counter-clockwise, shortest digits, one record at a time.

use std::io::Write;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::crs::Transform;
use super::wkb::{Cursor, Head, ordinate, points};
use super::{Layer, file, geometries_of, winding};
use crate::error::{Error, Kind, Result};

/// The day 1970-01-01, counted from year 1.
const EPOCH: i32 = 719_163;

impl Layer {
    /// Writes a `FeatureCollection`. `as_is` writes coordinates as they are; otherwise they are brought to WGS 84, and
    /// it is an error where the CRS is unknown.
    pub fn write_geojson(&self, path: &Path, as_is: bool) -> Result<()> {
        let transform = self.transform(as_is)?;
        file::write(path, |out| {
            self.features(transform.as_ref(), &mut |text| {
                out.write_all(text).map_err(|cause| Error::file("write", path, &cause))
            })
        })
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
                    Some(wkb) => geometry(&mut text, wkb, transform)
                        .map_err(|error| error.with(|facts| facts.record = Some(row)))?,
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
fn json<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    drop(serde_json::to_writer(text, value));
}

fn geometry(text: &mut Vec<u8>, wkb: &[u8], transform: Option<&Transform>) -> Result<()> {
    object(text, &mut Cursor::new(wkb), transform, 0)
}

fn object(text: &mut Vec<u8>, cursor: &mut Cursor<'_>, transform: Option<&Transform>, depth: usize) -> Result<()> {
    if depth > 8 {
        return Err(Error::new(Kind::Archive, "a geometry is nested too deeply"));
    }
    let head = cursor.head()?;
    let name = match head.flat {
        1 => "Point",
        2 => "LineString",
        3 | 17 => "Polygon",
        4 => "MultiPoint",
        5 => "MultiLineString",
        6 | 16 => "MultiPolygon",
        _ => "GeometryCollection",
    };
    text.extend_from_slice(b"{\"type\":\"");
    text.extend_from_slice(name.as_bytes());
    if head.flat == 7 {
        text.extend_from_slice(b"\",\"geometries\":[");
        for at in 0..head.count {
            if at > 0 {
                text.push(b',');
            }
            object(text, cursor, transform, depth + 1)?;
        }
        text.extend_from_slice(b"]}");
        return Ok(());
    }
    text.extend_from_slice(b"\",\"coordinates\":");
    if matches!(head.flat, 1..=3 | 17) {
        coordinates(text, cursor, head, transform)?;
    } else {
        text.push(b'[');
        for at in 0..head.count {
            if at > 0 {
                text.push(b',');
            }
            let inner = cursor.head()?;
            coordinates(text, cursor, inner, transform)?;
        }
        text.push(b']');
    }
    text.push(b'}');
    Ok(())
}

fn coordinates(text: &mut Vec<u8>, cursor: &mut Cursor<'_>, head: Head, transform: Option<&Transform>) -> Result<()> {
    match head.flat {
        1 => vertices(text, cursor.run(1, head.stride)?, head, transform, None),
        2 => {
            text.push(b'[');
            vertices(text, cursor.run(head.count, head.stride)?, head, transform, None)?;
            text.push(b']');
            Ok(())
        }
        3 | 17 => {
            text.push(b'[');
            for ring in 0..head.count {
                text.extend_from_slice(if ring > 0 { b",[" } else { b"[" });
                let count = cursor.count()?;
                vertices(text, cursor.run(count, head.stride)?, head, transform, Some(ring == 0))?;
                text.push(b']');
            }
            text.push(b']');
            Ok(())
        }
        _ => Err(Error::new(Kind::Archive, "a geometry is not well-formed")),
    }
}

/// Vertices with commas between them; a ring is turned round where RFC 7946 wants it the other way.
fn vertices(
    text: &mut Vec<u8>,
    run: &[u8],
    head: Head,
    transform: Option<&Transform>,
    is_outer: Option<bool>,
) -> Result<()> {
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = points(run, head.stride).unzip();
    if let Some(transform) = transform {
        transform.apply(&mut xs, &mut ys)?;
    }
    let mut vertices: Vec<(f64, f64)> = xs.into_iter().zip(ys).collect();
    let mut heights: Vec<f64> =
        if head.has_z { run.chunks_exact(head.stride).map(|vertex| ordinate(vertex, 2)).collect() } else { Vec::new() };
    if is_outer.is_some_and(|is_outer| winding::is_wrong(&vertices, is_outer)) {
        vertices.reverse();
        heights.reverse();
    }
    for (at, (x, y)) in vertices.into_iter().enumerate() {
        if !x.is_finite() || !y.is_finite() {
            let message = "a coordinate is not a finite number, and GeoJSON has no word for that";
            return Err(Error::new(Kind::Archive, message));
        }
        text.extend_from_slice(if at > 0 { b",[" } else { b"[" });
        json(text, &x);
        text.push(b',');
        json(text, &y);
        if let Some(z) = heights.get(at).filter(|z| z.is_finite()) {
            text.push(b',');
            json(text, z);
        }
        text.push(b']');
    }
    Ok(())
}
