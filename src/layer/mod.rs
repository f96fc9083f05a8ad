//! Records into Arrow, GeoJSON, GeoParquet and pictures; coordinate systems.

#![forbid(unsafe_code)]

/// The area of polygons on the ellipsoid.
pub mod area;

/// Coordinate systems: from the text of a .prj to PROJJSON, EPSG codes and WGS 84.
pub mod crs;

/// A layer as a small map that needs nothing but a browser.
pub mod picture;

mod attributes;
pub(crate) mod boundary;
mod cancel;
mod columns;
mod deletion_flags;
mod fmis;
mod geojson;
mod grain_cart;
mod issues;
mod ordered_pipeline;
mod paired_reader;
mod parquet;
mod pickle;
mod preview;
mod ragged;
mod read;
mod reproject;
mod schema;
mod shapes;
mod sidecars;
mod stream;
mod times;
mod type_scan;
mod units;
mod wkb;

use std::sync::Arc;

use arrow_array::{Array, LargeBinaryArray, RecordBatch};
use arrow_schema::SchemaRef;

use self::crs::Crs;
pub use crate::archive::{Code, Diagnostic, Limits, ReadOptions, Source, layers};
use crate::error::Result;
pub use cancel::Cancel;
pub use columns::ColumnType;
pub(crate) use ordered_pipeline::{run_ordered, threads};
pub(crate) use parquet::{Bounds, ROW_GROUP, Table, Writer};
pub use ragged::Ragged;
pub use read::read;
pub use stream::{Stream, TypePolicy};
pub use times::{LocalTimes, Offsets};

/// A table of field data: columns, one geometry column (WKB), its coordinate system, units and diagnostics.
#[derive(Clone, Debug)]
pub struct Layer {
    name: String,
    source: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The position of the geometry column.
    geometry: Option<usize>,
    crs: Option<Crs>,
    prj: Option<String>,
    /// What the source says of the layer as a whole.
    metadata: Vec<(String, String)>,
    diagnostics: Vec<Diagnostic>,
    /// The types of its geometries, as codes of well-known binary.
    types: Vec<u32>,
}

impl Layer {
    /// The name of the layer in its source.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was read from, such as a path or `bytes`.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The same layer, said to come from `source`.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// How many records it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Whether it has no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Arrow schema. The geometry column carries `geoarrow.wkb` and the coordinate system; units are field
    /// metadata under `unit`.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The records.
    #[must_use]
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The place of the geometry column.
    pub(crate) fn geometry_index(&self) -> Option<usize> {
        self.geometry
    }

    /// The types of its geometries, as codes of well-known binary.
    pub(crate) fn geometry_types(&self) -> &[u32] {
        &self.types
    }

    /// The name of the geometry column: `geometry`, or the next free name.
    #[must_use]
    pub fn geometry_column(&self) -> Option<&str> {
        self.geometry.and_then(|index| self.schema.fields().get(index)).map(|field| field.name().as_str())
    }

    /// The coordinate system, where it is known.
    #[must_use]
    pub fn crs(&self) -> Option<&Crs> {
        self.crs.as_ref()
    }

    /// The coordinate system as PROJJSON, where it is known.
    #[must_use]
    pub fn crs_projjson(&self) -> Option<&serde_json::Value> {
        self.crs.as_ref().and_then(Crs::projjson)
    }

    /// The text of the .prj as found; where it is a code, the text of that system.
    #[must_use]
    pub fn crs_wkt(&self) -> Option<&str> {
        self.prj.as_deref()
    }

    /// The EPSG code of the coordinate system where it is certain.
    #[must_use]
    pub fn crs_epsg(&self) -> Option<u32> {
        self.crs.as_ref().and_then(Crs::epsg)
    }

    /// What the source says of the layer as a whole, in its order: the header of a grain cart file, the job of an FMIS
    /// folder, the sidecars of a shapefile.
    #[must_use]
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// What was repaired or left out while reading.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The geometry of each record as ISO WKB, `None` for null, in the order of rows.
    pub fn geometries(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let column = self.geometry;
        self.batches.iter().flat_map(move |batch| batch_geometries(batch, column))
    }

    /// The area in square metres of all polygons; `None` where there are none, an error where the CRS is unknown. `as_is`
    /// takes coordinates as they are: the area is in the square of their unit.
    pub fn area(&self, as_is: bool) -> Result<Option<f64>> {
        if self.geometry.is_none() {
            return Ok(None);
        }
        let crs = if as_is { None } else { Some(self.known_crs()?) };
        area::area(self.geometries(), crs)
    }
}

/// The geometries of one batch, none where there is no such column.
fn batch_geometries(batch: &RecordBatch, column: Option<usize>) -> impl Iterator<Item = Option<&[u8]>> {
    let array = column.and_then(|index| batch.columns().get(index));
    let array = array.and_then(|array| array.as_any().downcast_ref::<LargeBinaryArray>());
    (0..array.map_or(0, Array::len))
        .map(move |row| array.filter(|array| array.is_valid(row)).map(|array| array.value(row)))
}
