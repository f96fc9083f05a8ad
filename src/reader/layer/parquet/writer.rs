//! Writer of a GeoParquet file in row groups, for one layer or several with the same columns.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, encode_arrow_schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use serde_json::{Value, json};

use super::allowed_geometries::{plain_code, plain_geometries};
use super::bbox::{self, Bounds, SIDES};
use super::dictionary::has_repeats;
use super::frame_attributes;
use crate::layer::Cancel;
use crate::layer::batch_geometries;
use crate::layer::ordered_pipeline::run_ordered;
use crate::layer::schema;
use headland_base::error::{Error, Result};

/// The level of geopandas. Level 3 takes a sixth longer and saves 1 to 3 % for points and polygons of machines.
const ZSTD_LEVEL: i32 = 1;

/// The output. A single type for all writers, so that the encoders are compiled once.
type Out<'a> = Box<dyn Write + Send + 'a>;

/// Converts an error and adds the name of the file.
type ErrorMapper<'a> = &'a (dyn Fn(ParquetError) -> Error + Sync);

/// Description of a file before its first row.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns with unique names. Boxes are added at the end if there are geometries.
    pub schema: SchemaRef,
    /// The index of the geometry column.
    pub geometry: Option<usize>,
    /// The name of the box column, which is numbered if a column has that name.
    pub boxes: String,
    /// The PROJJSON. An unknown CRS is written as `null`, since the default of the format is WGS 84.
    pub crs: Option<Value>,
    /// The index of an ascending integer column, which is delta-encoded.
    pub counter: Option<usize>,
}

/// A file in progress. It is not readable before [`Writer::finish`].
pub struct Writer<'a> {
    table: Table,
    /// The columns with the boxes.
    schema: SchemaRef,
    file: SerializedFileWriter<Out<'a>>,
    factory: ArrowRowGroupWriterFactory,
    groups: usize,
    bounds: Bounds,
    threads: usize,
    to_error: ErrorMapper<'a>,
}

/// An encoded column of a row group: chunks, and bounds of its geometries.
#[derive(Default)]
struct Encoded {
    field: usize,
    chunks: Vec<ArrowColumnChunk>,
    bounds: Bounds,
}

impl<'a> Writer<'a> {
    /// Begins a file. Columns of `sample` decide about dictionary encoding.
    pub fn begin(
        out: Out<'a>,
        table: Table,
        sample: Option<&RecordBatch>,
        threads: usize,
        to_error: ErrorMapper<'a>,
    ) -> Result<Self> {
        let schema = table.with_boxes();
        let properties = table.properties(&schema, sample).map_err(to_error)?;
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options).map_err(to_error)?;
        let (file, factory) = writer.into_serialized_writer().map_err(to_error)?;
        Ok(Self { table, schema, file, factory, groups: 0, bounds: Bounds::default(), threads, to_error })
    }

    /// Writes all rows of these batches as one row group.
    pub fn write_group(&mut self, batches: &[RecordBatch], cancel: &Cancel) -> Result<()> {
        let (to_error, schema, geometry) = (self.to_error, &self.schema, self.table.geometry);
        let columns = column_writers(schema, &self.factory, self.groups).map_err(to_error)?;
        let make = |step: usize, made: &mut Encoded| {
            cancel.check()?;
            let Some(column) = columns.get(step) else { return Ok(()) };
            *made = encode_column(geometry, schema, batches, column, to_error)?;
            Ok(())
        };
        let mut chunks: Vec<Vec<ArrowColumnChunk>> = columns.iter().map(|_| Vec::new()).collect();
        let bounds = &mut self.bounds;
        run_ordered(self.threads, columns.len(), make, &mut |result: &mut Encoded| {
            bounds.merge(&result.bounds);
            if let Some(entry) = chunks.get_mut(result.field) {
                *entry = std::mem::take(&mut result.chunks);
            }
            Ok(())
        })?;
        let mut row_group = self.file.next_row_group().map_err(to_error)?;
        for chunk in chunks.into_iter().flatten() {
            chunk.append_to_row_group(&mut row_group).map_err(to_error)?;
        }
        row_group.close().map(drop).map_err(to_error)?;
        self.groups = self.groups.saturating_add(1);
        Ok(())
    }

    /// The bytes of the row groups so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.file.bytes_written()
    }

    /// The number of row groups so far.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Writes the footer; `types` are the WKB type codes of the geometries.
    pub fn finish(mut self, types: &[u32]) -> Result<()> {
        let mut metadata = self.schema.metadata().clone();
        if let Some(geo) = self.table.geo_metadata(&self.schema, types, &self.bounds) {
            let geo = geo.to_string();
            self.file.append_key_value_metadata(KeyValue::new("geo".to_owned(), geo.clone()));
            metadata.insert("geo".to_owned(), geo);
        }
        if let Some(attributes) = frame_attributes::attributes(&self.schema) {
            metadata.insert(frame_attributes::KEY.to_owned(), attributes);
        }
        // Dataset readers, such as geopandas, expect `geo` in the Arrow schema instead of the footer entries.
        let schema = Schema::new_with_metadata(self.schema.fields().clone(), metadata);
        let schema = KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), encode_arrow_schema(&schema));
        self.file.append_key_value_metadata(schema);
        self.file.close().map(drop).map_err(self.to_error)
    }
}

impl Table {
    /// The schema with a box column, if there are geometries.
    fn with_boxes(&self) -> SchemaRef {
        let names: Vec<String> = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        let boxes = self.geometry.map(|_| Arc::new(bbox::box_field(schema::unique_name(&self.boxes, &names))));
        let fields = self.schema.fields().iter().cloned().chain(boxes);
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), self.schema.metadata().clone()))
    }

    fn properties(&self, schema: &Schema, sample: Option<&RecordBatch>) -> parquet::errors::Result<WriterProperties> {
        let mut properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?));
        for (index, field) in schema.fields().iter().enumerate() {
            let path = ColumnPath::from(field.name().as_str());
            if let DataType::Struct(children) = field.data_type() {
                for child in children {
                    let path = ColumnPath::new(vec![field.name().clone(), child.name().clone()]);
                    properties = properties.set_column_dictionary_enabled(path, false);
                }
            } else if Some(index) == self.geometry {
                // Minimum and maximum of WKB are useless to readers.
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_statistics_enabled(path, EnabledStatistics::None);
            } else if Some(index) == self.counter {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            } else if let Some(array) = sample.and_then(|batch| batch.columns().get(index)) {
                // Without repeated values, a dictionary costs time and saves nothing.
                properties = properties.set_column_dictionary_enabled(path, has_repeats(array));
            }
        }
        Ok(properties.build())
    }

    /// The `geo` entry of the footer; `None` without geometries.
    fn geo_metadata(&self, schema: &Schema, types: &[u32], bounds: &Bounds) -> Option<Value> {
        let column = self.geometry.and_then(|index| self.schema.fields().get(index))?.name().as_str();
        let codes: BTreeSet<u32> = types.iter().map(|code| plain_code(*code)).collect();
        // An empty list means unknown types.
        let types: Vec<String> = codes.into_iter().map(geometry_type_name).collect::<Option<_>>().unwrap_or_default();
        let mut geometry = json!({
            "encoding": "WKB",
            "geometry_types": types,
            "crs": self.crs,
        });
        if let (Some(members), Some(bounds)) = (geometry.as_object_mut(), bounds.sides()) {
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
}

/// The leaf writers of one column, taken by the thread that encodes it.
struct Column {
    field: usize,
    writers: Mutex<Vec<ArrowColumnWriter>>,
}

/// The writers of each column of a row group. The slowest columns come first, to balance the threads.
fn column_writers(
    schema: &Schema,
    factory: &ArrowRowGroupWriterFactory,
    number: usize,
) -> parquet::errors::Result<Vec<Column>> {
    let mut writers = factory.create_column_writers(number)?.into_iter();
    let mut columns = Vec::new();
    for (field, described) in schema.fields().iter().enumerate() {
        let leaves = if let DataType::Struct(children) = described.data_type() { children.len() } else { 1 };
        columns.push(Column { field, writers: Mutex::new(writers.by_ref().take(leaves).collect()) });
    }
    columns.reverse();
    Ok(columns)
}

/// Encodes a column of a row group. The column after those of the batches is the boxes.
fn encode_column(
    geometry: Option<usize>,
    schema: &Schema,
    group: &[RecordBatch],
    column: &Column,
    to_error: &dyn Fn(ParquetError) -> Error,
) -> Result<Encoded> {
    let mut writers = std::mem::take(&mut *column.writers.lock().unwrap_or_else(PoisonError::into_inner));
    let mut bounds = Bounds::default();
    for batch in group {
        let Some(field): Option<&Arc<Field>> = schema.fields().get(column.field) else { continue };
        let array: ArrayRef = match batch.columns().get(column.field) {
            Some(array) if geometry == Some(column.field) => plain_geometries(array)?,
            Some(array) => Arc::clone(array),
            None => Arc::new(bbox::build_boxes(batch_geometries(batch, geometry), batch.num_rows(), &mut bounds)?),
        };
        for (writer, leaf) in writers.iter_mut().zip(compute_leaves(field, &array).map_err(to_error)?) {
            writer.write(&leaf).map_err(to_error)?;
        }
    }
    let chunks = writers.into_iter().map(ArrowColumnWriter::close).collect::<std::result::Result<_, _>>();
    Ok(Encoded { field: column.field, chunks: chunks.map_err(to_error)?, bounds })
}

/// The type name in GeoParquet; `None` if there is none.
fn geometry_type_name(code: u32) -> Option<String> {
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
