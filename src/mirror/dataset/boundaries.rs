//! Table of field boundaries: layers of archives that outline a field and hold no measurements.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, LargeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::manifest::Boundary;
use super::schema::{JOB_ID, LAYER, wgs84_geometry_field};
use super::source_archive::{PublishError, SourceArchive};
use super::{convert, row_digest};
use headland_base::error::{Error, Kind};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{BoundaryColumns, Cancel, Layer, Table};

/// Table name in the catalog.
pub(super) const TABLE_NAME: &str = "boundaries";
/// Path in a generation.
pub(super) const PATH: &str = "catalog/boundaries.parquet";

/// Rows of the table and their geometry types.
pub(super) struct Boundaries {
    pub(super) table: Table,
    pub(super) batch: RecordBatch,
    pub(super) types: Vec<u32>,
}

/// Column builders.
#[derive(Default)]
struct Columns {
    job_id: StringBuilder,
    layer: StringBuilder,
    year: Int32Builder,
    names: BoundaryColumns,
    geometry: LargeBinaryBuilder,
    types: std::collections::BTreeSet<u32>,
}

/// Reads the boundaries from their archives. Each has the index of its archive in `wanted`.
pub(super) fn read(
    boundaries: &[(usize, Boundary)],
    wanted: &[SourceArchive],
    cancel: &Cancel,
) -> Result<Boundaries, PublishError> {
    let mut columns = Columns::default();
    for (index, boundary) in boundaries {
        cancel.check()?;
        let Some(source) = wanted.get(*index) else { continue };
        let layer = convert::read_layer(source, &boundary.layer, Some(1))
            .map_err(|error| PublishError::Rejected(*index, error))?;
        if row_digest::digest_rows(&layer) != boundary.digest {
            return Err(PublishError::Rejected(*index, changed_archive_error(&source.archive)));
        }
        columns.add(boundary, layer)?;
    }
    columns.finish()
}

/// Error for an archive whose columns or rows differ from those of an earlier read.
pub(super) fn changed_archive_error(archive: &Path) -> Error {
    let archive = archive.display();
    let message = format!("`{archive}` has changed since it was read: its columns or rows differ; download it again");
    Error::new(Kind::Archive, message)
}

impl Columns {
    fn add(&mut self, boundary: &Boundary, layer: Layer) -> Result<(), Error> {
        // Without a known coordinate system, a boundary has neither geometry nor area here.
        let layer = if layer.crs().is_some() { layer.clone().into_wgs84().unwrap_or(layer) } else { layer };
        let is_placed = layer.crs().is_some_and(super::schema::is_wgs84);
        self.types.extend(layer.geometry_types().iter().filter(|_| is_placed));
        self.names.add(&layer, boundary.field.as_deref())?;
        for wkb in layer.geometries() {
            self.job_id.append_value(&boundary.job_id);
            self.layer.append_value(&boundary.layer);
            self.year.append_option(boundary.year);
            self.geometry.append_option(wkb.filter(|_| is_placed));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Boundaries, PublishError> {
        let describe = |name: &str, kind, text: &str| {
            let documentation = ("documentation".to_owned(), text.to_owned());
            Field::new(name, kind, true).with_metadata([documentation].into_iter().collect())
        };
        let [(field, names), (area_field, area), (stated_field, stated)] = self.names.finish();
        let fields = vec![
            describe(JOB_ID, DataType::Utf8, "Id of the job whose archive has it."),
            describe(LAYER, DataType::Utf8, "Its layer in that archive."),
            field,
            describe("year", DataType::Int32, "Year of the job."),
            area_field,
            stated_field,
            wgs84_geometry_field("In WGS 84; null where the system is unknown."),
        ];
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.job_id.finish()),
            Arc::new(self.layer.finish()),
            names,
            Arc::new(self.year.finish()),
            area,
            stated,
            Arc::new(self.geometry.finish()),
        ];
        let schema = Arc::new(Schema::new(fields));
        let geometry = Some(arrays.len().saturating_sub(1));
        let crs = Crs::wgs84().projjson().cloned();
        let table = Table { schema: Arc::clone(&schema), geometry, boxes: "bbox".to_owned(), crs, counter: None };
        let batch = RecordBatch::try_new(schema, arrays)
            .map_err(|cause| Error::new(Kind::Archive, format!("cannot build the table of boundaries: {cause}")))?;
        Ok(Boundaries { table, batch, types: self.types.into_iter().collect() })
    }
}
