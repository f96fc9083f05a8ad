//! Table of field boundaries: layers of archives that outline a field and hold no measurements.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int32Builder, LargeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::manifest::Boundary;
use super::schema::{JOB_ID, LAYER, wgs84_geometry_field};
use super::source_archive::{PublishError, SourceArchive};
use super::{convert, row_digest};
use headland_base::error::{Error, Kind};
use headland_reader::layer::boundary::Meaning;
use headland_reader::layer::crs::Crs;
use headland_reader::layer::field_names::{boundary_names, cell_text, find_column};
use headland_reader::layer::{Cancel, Layer, Table, area};

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
    field: StringBuilder,
    year: Int32Builder,
    area: Float64Builder,
    stated: Float64Builder,
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
        let stated = find_column(&layer, Meaning::Area);
        let names = boundary_names(&layer, boundary.field.as_deref());
        let mut rows = layer.geometries().zip(names);
        for batch in layer.batches() {
            for row in 0..batch.num_rows() {
                let Some((wkb, name)) = rows.next() else { continue };
                let wkb = wkb.filter(|_| is_placed);
                self.job_id.append_value(&boundary.job_id);
                self.layer.append_value(&boundary.layer);
                self.field.append_option(name);
                self.year.append_option(boundary.year);
                self.area.append_option(area::area([wkb], Some(&Crs::wgs84()))?);
                let stated = stated.and_then(|index| cell_text(batch.columns().get(index)?, row));
                self.stated.append_option(stated.and_then(|text| text.parse().ok()));
                self.geometry.append_option(wkb);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Boundaries, PublishError> {
        let describe = |name: &str, kind, text: &str| {
            let documentation = ("documentation".to_owned(), text.to_owned());
            let unit = (name == "area_m2").then(|| ("unit".to_owned(), "m2".to_owned()));
            Field::new(name, kind, true).with_metadata([documentation].into_iter().chain(unit).collect())
        };
        let texts = DataType::Utf8;
        let fields = vec![
            describe(JOB_ID, texts.clone(), "Id of the job whose archive has it."),
            describe(LAYER, texts.clone(), "Its layer in that archive."),
            describe("field", texts, "Name of the field, or of the boundary."),
            describe("year", DataType::Int32, "Year of the job."),
            describe("area_m2", DataType::Float64, "Area of the geometry on the ellipsoid."),
            describe("area_stated", DataType::Float64, "Area that the archive states, in its own unit."),
            wgs84_geometry_field("In WGS 84; null where the system is unknown."),
        ];
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(self.job_id.finish()),
            Arc::new(self.layer.finish()),
            Arc::new(self.field.finish()),
            Arc::new(self.year.finish()),
            Arc::new(self.area.finish()),
            Arc::new(self.stated.finish()),
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
