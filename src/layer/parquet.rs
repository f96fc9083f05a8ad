//! Layers as GeoParquet 1.1: WKB, the coordinate system as PROJJSON, and a box around each geometry for readers that
//! look for a region.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::Float64Builder;
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use serde_json::{Value, json};

use super::wkb::{Cursor, points};
use super::{Cancel, Layer, geometries_of, schema};
use crate::error::{Error, Kind, Result};
use crate::part_file;

/// Large enough to compress well, small enough that a region of interest leaves most of them unread.
const ROW_GROUP: usize = 65_536;

/// So many rows are written before the next look at whether the work is still wanted.
const STEP: usize = 16_384;

const SIDES: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

impl Layer {
    /// Writes GeoParquet 1.1. An unknown CRS is written as `null`, which says so; the default of the format would
    /// claim WGS 84. Once `cancel` is set, nothing is left or replaced.
    pub fn write_parquet(&self, path: &Path, cancel: &Cancel) -> Result<()> {
        let failed = |cause: &dyn std::fmt::Display| {
            Error::new(Kind::File, format!("cannot write `{}`: {cause}", path.display()))
        };
        let mut bounds = Bounds::default();
        let mut batches = Vec::new();
        for batch in &self.batches {
            cancel.check()?;
            batches.push(self.with_boxes(batch, &mut bounds)?);
        }
        let schema = batches.first().map_or_else(|| self.schema(), RecordBatch::schema);
        let properties = self.properties(&schema, &bounds).map_err(|cause| failed(&cause))?;
        let fill = |out: &mut BufWriter<&File>| {
            let mut writer =
                ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(|cause| failed(&cause))?;
            for batch in &batches {
                for start in (0..batch.num_rows()).step_by(STEP) {
                    cancel.check()?;
                    let rows = STEP.min(batch.num_rows().saturating_sub(start));
                    writer.write(&batch.slice(start, rows)).map_err(|cause| failed(&cause))?;
                }
            }
            writer.close().map(drop).map_err(|cause| failed(&cause))
        };
        part_file::write(path, fill, || cancel.check())
    }

    fn properties(&self, schema: &Schema, bounds: &Bounds) -> parquet::errors::Result<WriterProperties> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_max_row_group_row_count(Some(ROW_GROUP));
        for field in schema.fields() {
            // Measurements and geometries hardly repeat: a dictionary of them costs time and saves nothing.
            if matches!(field.data_type(), DataType::Float64 | DataType::LargeBinary) {
                properties = properties.set_column_dictionary_enabled(ColumnPath::from(field.name().as_str()), false);
            }
            if let DataType::Struct(children) = field.data_type() {
                for child in children {
                    let path = ColumnPath::new(vec![field.name().clone(), child.name().clone()]);
                    properties = properties.set_column_dictionary_enabled(path, false);
                }
            }
        }
        if let Some(geo) = self.geo_metadata(schema, bounds) {
            properties =
                properties.set_key_value_metadata(Some(vec![KeyValue::new("geo".to_owned(), geo.to_string())]));
        }
        Ok(properties.build())
    }

    /// The `geo` entry of the file; none where the layer has no geometry.
    fn geo_metadata(&self, schema: &Schema, bounds: &Bounds) -> Option<Value> {
        let column = self.geometry_column()?;
        // The format has no name for surfaces of triangles; an empty list says that types are not known.
        let types: Vec<String> =
            self.types.iter().map(|code| type_name(*code)).collect::<Option<_>>().unwrap_or_default();
        let mut geometry = json!({
            "encoding": "WKB",
            "geometry_types": types,
            "crs": self.crs_projjson(),
        });
        if let (Some(members), Some(bounds)) = (geometry.as_object_mut(), bounds.sides) {
            members.insert("bbox".to_owned(), json!(bounds));
        }
        let boxes = schema.fields().iter().find(|field| matches!(field.data_type(), DataType::Struct(_)));
        if let (Some(members), Some(boxes)) = (geometry.as_object_mut(), boxes) {
            let paths: serde_json::Map<String, Value> =
                SIDES.iter().map(|side| ((*side).to_owned(), json!([boxes.name(), side]))).collect();
            members.insert("covering".to_owned(), json!({ "bbox": paths }));
        }
        Some(json!({ "version": "1.1.0", "primary_column": column, "columns": { column: geometry } }))
    }

    /// The batch with a column of boxes at its end.
    fn with_boxes(&self, batch: &RecordBatch, bounds: &mut Bounds) -> Result<RecordBatch> {
        if self.geometry.is_none() {
            return Ok(batch.clone());
        }
        let mut sides: [Float64Builder; 4] = std::array::from_fn(|_| Float64Builder::with_capacity(batch.num_rows()));
        let mut nulls = NullBufferBuilder::new(batch.num_rows());
        for wkb in geometries_of(batch, self.geometry) {
            let mut own = Bounds::default();
            if let Some(wkb) = wkb {
                Cursor::new(wkb).runs(&mut |run, stride, _| points(run, stride).for_each(|point| own.add(point)))?;
            }
            for (builder, side) in sides.iter_mut().zip(own.sides.unwrap_or_default()) {
                builder.append_value(side);
            }
            nulls.append(own.sides.is_some());
            bounds.join(&own);
        }
        let fields: Fields = SIDES.iter().map(|side| Field::new(*side, DataType::Float64, false)).collect();
        let arrays: Vec<ArrayRef> = sides.iter_mut().map(|side| Arc::new(side.finish()) as ArrayRef).collect();
        let names: Vec<String> = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        let name = schema::free_name("bbox", &names);
        let broken = |cause: &dyn std::fmt::Display| {
            Error::new(Kind::Archive, format!("the boxes do not form a column: {cause}"))
        };
        let boxes = StructArray::try_new(fields.clone(), arrays, nulls.finish()).map_err(|cause| broken(&cause))?;
        let mut all: Vec<Arc<Field>> = self.schema.fields().iter().cloned().collect();
        all.push(Arc::new(Field::new(name, DataType::Struct(fields), true)));
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(boxes));
        let schema = Arc::new(Schema::new_with_metadata(all, self.schema.metadata().clone()));
        RecordBatch::try_new(schema, columns).map_err(|cause| broken(&cause))
    }
}

/// The smallest box around everything added; none while nothing was.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    sides: Option<[f64; 4]>,
}

impl Bounds {
    fn add(&mut self, (x, y): (f64, f64)) {
        if x.is_finite() && y.is_finite() {
            let [left, low, right, high] = self.sides.unwrap_or([x, y, x, y]);
            self.sides = Some([left.min(x), low.min(y), right.max(x), high.max(y)]);
        }
    }

    fn join(&mut self, other: &Self) {
        if let Some([left, low, right, high]) = other.sides {
            self.add((left, low));
            self.add((right, high));
        }
    }
}

/// The name of a type in GeoParquet, which knows no M; `None` where it has none.
fn type_name(code: u32) -> Option<String> {
    let flat = match code % 1000 {
        1 => "Point",
        2 => "LineString",
        3 => "Polygon",
        4 => "MultiPoint",
        5 => "MultiLineString",
        6 => "MultiPolygon",
        7 => "GeometryCollection",
        _ => return None,
    };
    let has_z = (code / 1000) % 2 == 1;
    Some(format!("{flat}{}", if has_z { " Z" } else { "" }))
}
