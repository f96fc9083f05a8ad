//! Columns of a table of field boundaries: name and areas of each row.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field};

use super::boundary::Meaning;
use super::crs::Crs;
use super::field_names::{boundary_names, cell_text, find_column};
use super::{Layer, area};
use headland_base::error::Result;

/// Builders of `field`, `area_m2` and `area_stated`.
#[derive(Default)]
pub struct BoundaryColumns {
    field: StringBuilder,
    area: Float64Builder,
    stated: Float64Builder,
}

impl BoundaryColumns {
    /// Appends the rows of a layer; `field` is that of rows that name none. Rows that are not in WGS 84 have no area.
    pub fn add(&mut self, layer: &Layer, field: Option<&str>) -> Result<()> {
        let is_placed = layer.crs().is_some_and(|crs| crs.wkt() == Crs::wgs84().wkt());
        let stated = find_column(layer, Meaning::Area);
        let rows = |batch: &RecordBatch| -> Vec<Option<f64>> {
            let cell = |row| cell_text(batch.columns().get(stated?)?, row)?.parse().ok();
            (0..batch.num_rows()).map(cell).collect()
        };
        let stated = layer.batches().iter().flat_map(rows);
        for ((wkb, name), stated) in layer.geometries().zip(boundary_names(layer, field)).zip(stated) {
            self.field.append_option(name);
            self.area.append_option(area::known_area(wkb.filter(|_| is_placed))?);
            self.stated.append_option(stated);
        }
        Ok(())
    }

    /// The columns.
    #[must_use]
    pub fn finish(mut self) -> [(Field, ArrayRef); 3] {
        let describe = |name: &str, data_type, text: &str| {
            let documentation = ("documentation".to_owned(), text.to_owned());
            let unit = (name == "area_m2").then(|| ("unit".to_owned(), "m2".to_owned()));
            Field::new(name, data_type, true).with_metadata([documentation].into_iter().chain(unit).collect())
        };
        let field = describe("field", DataType::Utf8, "Name of the field, or of the boundary.");
        let area = describe("area_m2", DataType::Float64, "Area of the geometry on the ellipsoid.");
        let stated = describe("area_stated", DataType::Float64, "Area that the archive states, in its own unit.");
        [
            (field, Arc::new(self.field.finish())),
            (area, Arc::new(self.area.finish())),
            (stated, Arc::new(self.stated.finish())),
        ]
    }
}
