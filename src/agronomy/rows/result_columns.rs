//! Adds columns of results to a layer and removes them, and builds and reads layers of polygons.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};

use crate::columns::added::{Added, split};
use crate::columns::canonical::is_canonical;
use crate::columns::provenance as keys;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::crs::{Crs, LocalPlane};
use headland_reader::layer::{Layer, Polygons};

/// The layer with columns before a geometry at the end, or at the end. `fields` are those of the present columns.
pub(crate) fn insert_columns(layer: Layer, mut fields: Vec<Arc<Field>>, added: &[Added]) -> Result<Layer> {
    let geometry = layer.geometry_index();
    let at = geometry.filter(|index| index.checked_add(1) == Some(fields.len())).unwrap_or(fields.len());
    fields.splice(at..at, added.iter().map(|column| Arc::new(column.field.clone())));
    let schema = Arc::new(Schema::new_with_metadata(fields, layer.schema().metadata().clone()));
    let batches = layer.batches().iter().enumerate().map(|(number, batch)| {
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        columns.splice(at..at, added.iter().filter_map(|column| column.arrays.get(number).cloned()));
        batch_of(&schema, columns, batch.num_rows())
    });
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let geometry = geometry.map(|index| if index >= at { index.saturating_add(added.len()) } else { index });
    Ok(layer.with_batches(schema, batches, geometry))
}

/// The layer with some of its columns: their indices and new fields.
pub(crate) fn select_columns(layer: Layer, kept: Vec<(usize, Arc<Field>)>) -> Result<Layer> {
    let (kept, fields): (Vec<usize>, Vec<Arc<Field>>) = kept.into_iter().unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, layer.schema().metadata().clone()));
    let batches = layer.batches().iter().map(|batch| {
        let columns = kept.iter().filter_map(|index| batch.columns().get(*index).cloned()).collect();
        batch_of(&schema, columns, batch.num_rows())
    });
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let geometry = layer.geometry_index().and_then(|index| kept.iter().position(|kept| *kept == index));
    Ok(layer.with_batches(schema, batches, geometry))
}

fn batch_of(schema: &Arc<Schema>, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|cause| Error::new(Kind::Value, format!("the columns form no table: {cause}")))
}

/// Adds columns over all rows before the geometry, with the rule `clean` in their metadata.
///
/// Columns of an earlier call are removed. Other columns that have such a name, in any letter case, are renamed:
/// harmonised ones to `<name>_logged`, original ones to `<name>_original`. [`without_columns`] undoes both.
pub(crate) fn with_columns(layer: Layer, added: Vec<(Field, ArrayRef)>) -> Result<Layer> {
    let layer = without_columns(layer)?;
    if let Some((field, array)) = added.iter().find(|(_, array)| array.len() != layer.len()) {
        let message = format!("column `{}` has {} rows, but the layer has {}", field.name(), array.len(), layer.len());
        return Err(Error::new(Kind::Value, message));
    }
    let schema = layer.schema();
    let mut taken: Vec<String> = schema.fields().iter().map(|field| field.name().to_lowercase()).collect();
    taken.extend(added.iter().map(|(field, _)| field.name().to_lowercase()));
    let fields = schema.fields().iter().enumerate().map(|(index, field)| {
        let is_equal = added.iter().any(|(own, _)| own.name().eq_ignore_ascii_case(field.name()));
        if !is_equal || layer.geometry_index() == Some(index) {
            return Arc::clone(field);
        }
        let ending = if keys::is_added(field) { "logged" } else { "original" };
        let name = free_name(&format!("{}_{ending}", field.name()), &taken);
        taken.push(name.to_lowercase());
        let mut metadata = field.metadata().clone();
        metadata.entry(keys::ORIGINAL_NAME.to_owned()).or_insert_with(|| field.name().clone());
        Arc::new(field.as_ref().clone().with_name(name).with_metadata(metadata))
    });
    let fields = fields.collect();
    let added: Vec<Added> = added
        .into_iter()
        .map(|(field, array)| {
            let mut metadata = field.metadata().clone();
            metadata.insert(keys::RULE.to_owned(), keys::CLEANED.to_owned());
            metadata.entry(keys::SOURCE.to_owned()).or_insert_with(|| "computed".to_owned());
            Added { field: field.with_metadata(metadata), arrays: split(&layer, &array) }
        })
        .collect();
    insert_columns(layer, fields, &added)
}

/// Removes the columns that [`with_columns`] added, and renames those that it renamed.
pub(crate) fn without_columns(layer: Layer) -> Result<Layer> {
    let schema = layer.schema();
    if !schema.fields().iter().any(|field| keys::is_cleaned(field)) {
        return Ok(layer);
    }
    let others = schema.fields().iter().enumerate().filter(|(_, field)| !keys::is_cleaned(field));
    let kept = others.map(|(index, field)| (index, with_former_name(field))).collect();
    select_columns(layer, kept)
}

/// The field with the name before cleaning. Harmonising renames original columns with a canonical name; those stay.
fn with_former_name(field: &Arc<Field>) -> Arc<Field> {
    let mut metadata = field.metadata().clone();
    match metadata.remove(keys::ORIGINAL_NAME) {
        Some(name) if keys::is_added(field) || !is_canonical(&name) => {
            Arc::new(field.as_ref().clone().with_name(name).with_metadata(metadata))
        }
        _ => Arc::clone(field),
    }
}

/// The wanted name, or the first numbered one that is not taken. `taken` is in lower case.
fn free_name(wanted: &str, taken: &[String]) -> String {
    let numbered = (2..=taken.len().saturating_add(2)).map(|number| format!("{wanted}_{number}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(&name.to_lowercase())).unwrap_or_default()
}

/// Builds a layer of polygons in coordinates of `crs`, with the geometry behind the columns.
///
/// A row without a polygon has a null geometry. Rings may be open and in either direction.
pub(crate) fn polygon_layer(
    name: &str,
    source: &str,
    columns: Vec<(Field, ArrayRef)>,
    polygons: &[Polygons],
    crs: &Crs,
) -> Result<Layer> {
    Layer::from_polygons(name, source, columns, polygons, crs)
}

/// Reads the polygons of each row in the plane; errors name the argument. Rings are without the closing vertex.
///
/// A null geometry has no polygons. Other geometries, and a layer without geometry or coordinate system, are errors.
pub(crate) fn polygons(argument: &str, layer: &Layer, plane: &LocalPlane) -> Result<Vec<Polygons>> {
    let invalid = |what: String| Error::for_argument(argument, format!("`{argument}` {what}"));
    if layer.geometry_index().is_none() {
        return Err(invalid(format!("has no geometry: layer `{}` is a table; pass polygons", layer.name())));
    }
    let shapes = layer.row_shapes(argument)?;
    if let Some(row) = shapes.first_other {
        return Err(invalid(format!("needs polygons, but row {row} has another geometry or none; pass polygons only")));
    }
    if let Some(row) = shapes.not_finite.first() {
        return Err(invalid(format!("has a coordinate that is not finite in row {row}; repair its polygon")));
    }
    let is_same_system = match (plane.own(), &shapes.own) {
        (None, None) => true,
        (Some(own), Some(other)) => own.crs().is_same(other.crs()),
        _ => false,
    };
    if !is_same_system {
        let names = [plane.crs(), layer.crs().cloned().unwrap_or_else(Crs::wgs84)].map(|crs| crs.name().to_owned());
        return Err(invalid(format!(
            "is in `{}`, but the rows are in `{}`, and there is no known way between them; pass polygons in the \
             system of the rows",
            names[1], names[0]
        )));
    }
    let mut rows = shapes.polygons.unwrap_or_else(|| vec![Vec::new(); layer.len()]);
    for vertex in rows.iter_mut().flatten().flatten().flatten() {
        *vertex = plane.project(*vertex);
    }
    Ok(rows)
}

/// Replaces canonical columns of these names, and adds those that the layer lacks.
pub(crate) fn replace_columns(layer: Layer, changed: Vec<(Field, ArrayRef)>) -> Result<Layer> {
    let old = layer.schema();
    let mut fields: Vec<Arc<Field>> = old.fields().to_vec();
    let mut arrays: Vec<Vec<ArrayRef>> = layer.batches().iter().map(|batch| batch.columns().to_vec()).collect();
    let mut added = Vec::new();
    for (field, array) in changed {
        let parts = split(&layer, &array);
        let at = old.fields().iter().position(|own| own.name() == field.name() && keys::is_added(own));
        let Some((at, slot)) = at.and_then(|at| Some((at, fields.get_mut(at)?))) else {
            added.push(Added { field, arrays: parts });
            continue;
        };
        *slot = Arc::new(field);
        for (columns, part) in arrays.iter_mut().zip(parts) {
            if let Some(column) = columns.get_mut(at) {
                *column = part;
            }
        }
    }
    let schema = Arc::new(Schema::new_with_metadata(fields.clone(), old.metadata().clone()));
    let rows = layer.batches().iter().map(RecordBatch::num_rows);
    let batches = arrays.into_iter().zip(rows).map(|(columns, rows)| batch_of(&schema, columns, rows));
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let geometry = layer.geometry_index();
    insert_columns(layer.with_batches(schema, batches, geometry), fields, &added)
}
