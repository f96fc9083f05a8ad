//! The rows of one layer in the columns of its kind, which are the same for all layers, or in those of boundaries.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};

use crate::columns::canonical_rows::{canonical_fields, canonical_rows, layer_kind};
use crate::columns::provenance as metadata;
use crate::jobs::concat::{constant, field_names};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::farm_fields::stated_field;
use headland_reader::layer::{BoundaryColumns, Layer};

/// The canonical columns of a harmonised layer in WGS 84, behind `source` and `layer`.
pub fn kind_table(harmonized: Layer) -> Result<Layer> {
    let Some(kind) = layer_kind(&harmonized) else {
        return Err(Error::new(Kind::Value, "the columns do not say what kind of job it is"));
    };
    let layer = in_wgs84(harmonized)?;
    let fields = canonical_fields(kind);
    let (named, stated) = (fields.iter().position(|field| field.name() == "field"), stated_field(&layer));
    let mut cells = canonical_rows(&layer, kind);
    for (cells, batch) in cells.iter_mut().zip(layer.batches()) {
        if let Some(cell) = named.and_then(|index| cells.get_mut(index)) {
            *cell = field_names(&layer, batch, stated.as_deref());
        }
    }
    Ok(table(layer, fields, cells)?.with_entry(metadata::KIND, Some(kind.as_str())))
}

/// Names and areas of a layer that can be a boundary, in WGS 84, behind `source` and `layer`.
pub fn boundary_table(layer: Layer) -> Result<Layer> {
    let layer = in_wgs84(layer)?;
    let mut columns = BoundaryColumns::default();
    columns.add(&layer, stated_field(&layer).as_deref())?;
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.finish().into_iter().unzip();
    let mut start = 0_usize;
    let slice = |batch: &RecordBatch| {
        let first = start;
        start = start.saturating_add(batch.num_rows());
        arrays.iter().map(|array| array.slice(first, batch.num_rows())).collect()
    };
    let cells = layer.batches().iter().map(slice).collect();
    table(layer, fields, cells)
}

/// The layer in WGS 84; rows without geometries are at no place.
fn in_wgs84(layer: Layer) -> Result<Layer> {
    if layer.geometry_index().is_none() {
        let nowhere = vec![f64::NAN; layer.len()];
        return layer.with_points(&nowhere, &nowhere, &Crs::wgs84());
    }
    if layer.crs().is_none() {
        let message = "its coordinate system is unknown, so its rows have no place in a table of WGS 84; add its .prj";
        return Err(Error::new(Kind::Value, message));
    }
    layer.into_wgs84()
}

/// The table with these cells for each batch of a layer.
fn table(layer: Layer, mut fields: Vec<Field>, cells: Vec<Vec<ArrayRef>>) -> Result<Layer> {
    let text = |name: &str| Field::new(name, DataType::LargeUtf8, true);
    fields.splice(0..0, [text("source"), text("layer")]);
    let index = fields.len();
    let place = layer.geometry_index();
    let geometry = place.and_then(|place| layer.schema().fields().get(place).cloned());
    fields.extend(geometry.map(|field| field.as_ref().clone().with_name("geometry")));
    let schema = Arc::new(Schema::new(fields));
    let batches = cells.into_iter().zip(layer.batches()).map(|(cells, batch)| {
        let rows = batch.num_rows();
        let mut arrays = vec![constant(Some(layer.source()), rows), constant(Some(layer.name()), rows)];
        arrays.extend(cells);
        arrays.extend(place.and_then(|place| batch.columns().get(place)).cloned());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
            .map_err(|cause| Error::new(Kind::Value, format!("the columns do not form a table: {cause}")))
    });
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let (types, diagnostics) = (layer.geometry_types().to_vec(), layer.diagnostics().to_vec());
    Ok(layer.concatenated(schema, batches, Some(index), types, diagnostics))
}
