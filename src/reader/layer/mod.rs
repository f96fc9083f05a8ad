//! Reads layers into Arrow, writes GeoJSON, GeoParquet and SVG maps, and handles coordinate systems.

#![forbid(unsafe_code)]

/// Areas of polygons on the ellipsoid.
pub mod area;

/// Coordinate systems: from .prj text to PROJJSON, EPSG codes and WGS 84.
pub mod crs;

/// SVG maps of layers.
pub mod picture;

mod antimeridian;
mod attributes;
pub mod boundary;
mod boundary_columns;
mod cancel;
mod cell_access;
mod column_metadata;
mod columns;
mod containment;
mod coordinate_offsets;
mod deletion_flags;
pub mod farm_fields;
mod fmis;
mod from_table;
mod geojson;
mod geotiff;
mod grain_cart;
mod issues;
mod job_file;
mod ordered_pipeline;
mod paired_reader;
mod parquet;
mod pickle;
mod polygon_layer;
mod positions;
pub mod qgis_style;
mod read;
mod reproject;
mod row_shapes;
mod schema;
mod shapes;
mod sidecars;
mod stated_crs;
mod stream;
mod svg_map;
mod times;
mod type_scan;
pub mod units;
mod winding;
mod wkb;

use std::sync::Arc;

use arrow_array::{Array, LargeBinaryArray, RecordBatch};
use arrow_schema::SchemaRef;

use self::crs::Crs;
pub use crate::archive::{Code, Diagnostic, ReadOptions, Source, layers};
pub use antimeridian::{cut_at_antimeridian, is_around_globe};
pub use boundary_columns::BoundaryColumns;
pub use cancel::Cancel;
pub use cell_access::{CellBytes, floats};
pub use columns::ColumnType;
pub use containment::Polygons;
pub(crate) use containment::contains;
pub use coordinate_offsets::Ragged;
use headland_base::error::Result;
pub use job_file::read_job;
pub use ordered_pipeline::{run_ordered, threads};
pub use parquet::{Bounds, ROW_GROUP, Table, TableFile, Writer, row_groups};
pub use read::read;
pub use stream::{Stream, TypePolicy};
pub use times::{LocalTimes, Offsets};

/// A table of field data: columns, one WKB geometry column, its coordinate system, units and diagnostics.
#[derive(Clone, Debug)]
pub struct Layer {
    name: String,
    source: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The index of the geometry column.
    geometry: Option<usize>,
    crs: Option<Crs>,
    prj: Option<String>,
    /// Metadata of the whole layer.
    metadata: Vec<(String, String)>,
    diagnostics: Vec<Diagnostic>,
    /// The WKB type codes of its geometries.
    types: Vec<u32>,
    /// The boundary of the field, if the archive of a job has it as another layer.
    boundary: Option<Arc<Layer>>,
}

impl Layer {
    /// A layer without rows, without a geometry and without metadata.
    fn new(name: impl Into<String>, source: impl Into<String>, schema: SchemaRef) -> Self {
        Self {
            name: name.into(),
            source: source.into(),
            schema,
            batches: Vec::new(),
            geometry: None,
            crs: None,
            prj: None,
            metadata: Vec::new(),
            diagnostics: Vec::new(),
            types: Vec::new(),
            boundary: None,
        }
    }

    /// The name of the layer in its source.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The source, such as a path or `bytes`.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Sets the source.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// The number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Whether the layer has no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Arrow schema. The geometry field has the extension `geoarrow.wkb` with the coordinate system. Units are
    /// field metadata under `unit`.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The records.
    #[must_use]
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The place of the geometry among the columns.
    #[must_use]
    pub fn geometry_index(&self) -> Option<usize> {
        self.geometry
    }

    /// The WKB type codes of its geometries.
    #[must_use]
    pub fn geometry_types(&self) -> &[u32] {
        &self.types
    }

    /// Whether a geometry has M.
    #[must_use]
    pub fn has_m(&self) -> bool {
        self.types.iter().any(|code| code / 1000 >= 2)
    }

    /// The boundary of the field, if the archive of the job has it as another layer.
    #[must_use]
    pub fn boundary(&self) -> Option<&Self> {
        self.boundary.as_deref()
    }

    /// The name of the geometry column: `geometry`, or a numbered name if a column has that name.
    #[must_use]
    pub fn geometry_column(&self) -> Option<&str> {
        self.geometry.and_then(|index| self.schema.fields().get(index)).map(|field| field.name().as_str())
    }

    /// The coordinate system, if known.
    #[must_use]
    pub fn crs(&self) -> Option<&Crs> {
        self.crs.as_ref()
    }

    /// The coordinate system as PROJJSON, if known.
    #[must_use]
    pub fn crs_projjson(&self) -> Option<&serde_json::Value> {
        self.crs.as_ref().and_then(Crs::projjson)
    }

    /// The unchanged text of the .prj. If it holds a code, the WKT of that code.
    #[must_use]
    pub fn crs_wkt(&self) -> Option<&str> {
        self.prj.as_deref()
    }

    /// Metadata of the whole layer in source order: the header of a grain cart file, the job of an FMIS folder, or the
    /// sidecars of a shapefile.
    #[must_use]
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Repairs and omissions while reading.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The geometry of each row as ISO WKB; `None` for null.
    pub fn geometries(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let column = self.geometry;
        self.batches.iter().flat_map(move |batch| batch_geometries(batch, column))
    }

    /// The area of all polygons in square metres. `None` without polygons; an error if the CRS is unknown. With
    /// `as_is`, the planar area in squared units of the coordinates.
    pub fn area(&self, as_is: bool) -> Result<Option<f64>> {
        if self.geometry.is_none() {
            return Ok(None);
        }
        let crs = if as_is { None } else { Some(self.known_crs()?) };
        area::area(self.geometries(), crs)
    }
}

/// The geometries of one batch; none without a geometry column.
fn batch_geometries(batch: &RecordBatch, column: Option<usize>) -> impl Iterator<Item = Option<&[u8]>> {
    let array = column.and_then(|index| batch.columns().get(index));
    let array = array.and_then(|array| array.as_any().downcast_ref::<LargeBinaryArray>());
    (0..array.map_or(0, Array::len))
        .map(move |row| array.filter(|array| array.is_valid(row)).map(|array| array.value(row)))
}
