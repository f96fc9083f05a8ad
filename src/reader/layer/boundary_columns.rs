//! Reads the columns of field boundaries, and builds the columns of a table of them: name and areas of each row.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef};

use super::boundary::{Meaning, meaning};
use super::crs::Crs;
use super::{Layer, area};
use headland_base::error::Result;

/// The names of fields that a boundary layer has, one for each row: the field, else `other`, else the boundary itself.
pub(super) fn boundary_names(layer: &Layer, other: Option<&str>) -> Vec<Option<String>> {
    let (field, name) = (find_column(layer, Meaning::Field), find_column(layer, Meaning::Name));
    let mut names = Vec::with_capacity(layer.len());
    for batch in layer.batches() {
        let cell = |column: Option<usize>, row: usize| cell_text(batch.columns().get(column?)?, row);
        // The name of a boundary, such as `Boundary 1`, need not be that of its field.
        let text = |row| cell(field, row).or_else(|| other.map(str::to_owned)).or_else(|| cell(name, row));
        names.extend((0..batch.num_rows()).map(text));
    }
    names
}

/// First column with this meaning.
fn find_column(layer: &Layer, wanted: Meaning) -> Option<usize> {
    let schema = layer.schema();
    let is_it = |(index, field): (usize, &FieldRef)| {
        (Some(index) != layer.geometry_index() && meaning(field.name()) == Some(wanted)).then_some(index)
    };
    schema.fields().iter().enumerate().find_map(is_it)
}

/// Cell as text; `None` for null and for empty text.
fn cell_text(array: &ArrayRef, row: usize) -> Option<String> {
    let text = match array.data_type() {
        _ if array.is_null(row) => return None,
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        _ => return None,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

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
