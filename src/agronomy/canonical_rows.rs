//! Canonical rows: the fixed columns of each kind of job, and the rows of a harmonised layer in them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, LargeStringArray, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, TimeUnit};

use super::columns::{AS_STATED, CANONICAL, Content, JobKind, RATE};
use super::provenance as keys;
use crate::layer::Layer;

/// Measure of the rates and the amount of a row: `mass`, `volume` or `count`.
const QUANTITY: &str = "quantity";
/// Percent of water of `dry_mass`.
const MOISTURE_BASIS: &str = "moisture_basis";
/// Percent of water of `yield_dry_mass`, where it is known.
const YIELD_DRY_BASIS: &str = "yield_dry_basis";
/// Weight of a bushel of the volumes.
const KG_PER_BUSHEL: &str = "kg_per_bushel";

/// The rates, the one that is applied first.
const RATES: [&str; 3] = ["applied_rate", "target_rate", "control_rate"];

/// The columns of a kind, the same for all layers. `yield` is left out, since its unit differs between layers.
#[must_use]
pub fn canonical_fields(kind: JobKind) -> Vec<Field> {
    let number = |name: &str, unit: &str| column(name, DataType::Float64, unit);
    let mut fields = vec![
        column("time", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), ""),
        column("date", DataType::Date32, ""),
        column("order", DataType::Int32, ""),
    ];
    for canonical in CANONICAL.iter().filter(|canonical| canonical.kinds.contains(&kind)) {
        if canonical.unit == AS_STATED {
            continue;
        }
        if canonical.name == "target_rate" {
            fields.push(column(QUANTITY, DataType::LargeUtf8, ""));
        }
        let data_type = match canonical.content {
            Content::Number => DataType::Float64,
            Content::Integer => DataType::Int32,
            Content::Flag => DataType::Boolean,
            Content::Text => DataType::LargeUtf8,
        };
        // Rates are in the unit of their quantity.
        fields.push(column(canonical.name, data_type, if canonical.unit == RATE { "" } else { canonical.unit }));
        match canonical.name {
            "yield_dry_mass" => fields.push(number(YIELD_DRY_BASIS, "%")),
            "yield_dry_volume" => fields.push(number(KG_PER_BUSHEL, "kg")),
            _ => {}
        }
    }
    fields.push(number("area", "m2"));
    if kind == JobKind::Yield {
        fields.extend([number("wet_mass", "kg"), number("dry_mass", "kg"), number(MOISTURE_BASIS, "%")]);
    } else {
        fields.push(number("amount", ""));
    }
    fields
}

fn column(name: &str, data_type: DataType, unit: &str) -> Field {
    let unit = (!unit.is_empty()).then(|| ("unit".to_owned(), unit.to_owned()));
    Field::new(name, data_type, true).with_metadata(unit.into_iter().collect())
}

/// The kind of a harmonised layer.
#[must_use]
pub fn layer_kind(layer: &Layer) -> Option<JobKind> {
    layer.metadata().iter().find(|(key, _)| key == keys::KIND).and_then(|(_, kind)| JobKind::find(kind))
}

/// The name of the crop that the dry mass of a harmonised layer is of.
fn crop(layer: &Layer) -> Option<&str> {
    layer.metadata().iter().find(|(key, _)| key == keys::CROP).map(|(_, crop)| crop.as_str())
}

/// The cells of [`canonical_fields`] for each batch of a harmonised layer. Null where it lacks a column, where the unit
/// is unknown, and for rates of another quantity than the applied one.
#[must_use]
pub fn canonical_rows(layer: &Layer, kind: JobKind) -> Vec<Vec<ArrayRef>> {
    let schema = layer.schema();
    let added: HashMap<&str, usize> = schema
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| keys::is_added(field))
        .map(|(index, field)| (field.name().as_str(), index))
        .collect();
    let stated = |name: &str, key: &str| schema.field(*added.get(name)?).metadata().get(key);
    let number = |name: &str, key: &str| stated(name, key).and_then(|text| text.parse::<f64>().ok());
    let quantity = RATES.iter().find_map(|name| stated(name, keys::QUANTITY));
    let is_other = |name: &str| RATES.contains(&name) && stated(name, keys::QUANTITY) != quantity;
    let weight = ["yield_wet_volume", "yield_dry_volume"].iter().find_map(|name| number(name, keys::KG_PER_BUSHEL));
    let cells = |field: &Field, batch: &RecordBatch| -> ArrayRef {
        let rows = batch.num_rows();
        let numbers = |value: Option<f64>| Arc::new(Float64Array::from(vec![value; rows])) as ArrayRef;
        let texts = |text: Option<&str>| Arc::new(LargeStringArray::from(vec![text; rows])) as ArrayRef;
        match field.name().as_str() {
            QUANTITY => texts(quantity.map(String::as_str)),
            MOISTURE_BASIS => numbers(number("dry_mass", keys::MOISTURE_BASIS)),
            YIELD_DRY_BASIS => numbers(number("yield_dry_mass", keys::MOISTURE_BASIS)),
            KG_PER_BUSHEL => numbers(weight),
            name => match added.get(name).and_then(|index| batch.columns().get(*index)) {
                Some(array) if array.data_type() == field.data_type() && !is_other(name) => Arc::clone(array),
                None if name == "crop" => texts(crop(layer)),
                _ => new_null_array(field.data_type(), rows),
            },
        }
    };
    let fields = canonical_fields(kind);
    layer.batches().iter().map(|batch| fields.iter().map(|field| cells(field, batch)).collect()).collect()
}

/// The one field that all rows of a harmonised layer name.
#[must_use]
pub fn row_field(layer: &Layer) -> Option<String> {
    let schema = layer.schema();
    let index = schema.fields().iter().position(|field| field.name() == "field" && keys::is_added(field))?;
    let texts = layer.batches().iter().filter_map(|batch| batch.columns().get(index)?.as_string_opt::<i64>());
    let mut names = texts.flat_map(|array| array.iter().flatten()).map(str::trim).filter(|name| !name.is_empty());
    let first = names.next()?;
    names.all(|name| name == first).then(|| first.to_owned())
}

/// The mean yield of a harvest, over the ground of the rows that have a yield.
#[derive(Clone, Debug, PartialEq)]
pub struct YieldMean {
    /// The crop, if it is known.
    pub crop: Option<String>,
    /// All rows.
    pub rows: u64,
    /// Rows without dry mass or without area.
    pub rows_without_yield: u64,
    /// Area of the other rows in square metres.
    pub area: f64,
    /// Their dry mass in kilograms.
    pub dry_mass: f64,
    /// Percent of water of the dry mass.
    pub moisture_basis: Option<f64>,
}

/// The mean yield of a harmonised layer; `None` for other kinds.
#[must_use]
pub fn yield_mean(layer: &Layer) -> Option<YieldMean> {
    if layer_kind(layer) != Some(JobKind::Yield) {
        return None;
    }
    let schema = layer.schema();
    let index = |name: &str| schema.fields().iter().position(|field| field.name() == name && keys::is_added(field));
    let mut mean = YieldMean {
        crop: crop(layer).map(str::to_owned),
        rows: layer.len() as u64,
        rows_without_yield: layer.len() as u64,
        area: 0.0,
        dry_mass: 0.0,
        moisture_basis: None,
    };
    let (Some(dry), Some(area)) = (index("dry_mass"), index("area")) else { return Some(mean) };
    let basis = schema.field(dry).metadata().get(keys::MOISTURE_BASIS);
    mean.moisture_basis = basis.and_then(|basis| basis.parse().ok());
    for batch in layer.batches() {
        let numbers =
            |index: usize| batch.columns().get(index).and_then(|array| array.as_primitive_opt::<Float64Type>());
        let (Some(masses), Some(areas)) = (numbers(dry), numbers(area)) else { continue };
        for (mass, area) in masses.iter().zip(areas) {
            if let (Some(mass), Some(area)) = (mass, area) {
                mean.rows_without_yield = mean.rows_without_yield.saturating_sub(1);
                mean.area += area;
                mean.dry_mass += mass;
            }
        }
    }
    Some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readers rely on the columns, so that a change of this list is a change of the format.
    #[test]
    fn columns_of_each_kind_are_fixed() {
        let names = |kind| {
            let fields = canonical_fields(kind);
            fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(" ")
        };
        let all = "time date order longitude latitude interval distance swath_width heading speed elevation pass section \
                   machine working";
        let texts = "product variety crop operator field load area";
        assert_eq!(
            names(JobKind::Yield),
            format!(
                "{all} flow moisture yield_wet_mass yield_dry_mass yield_dry_basis yield_wet_volume yield_dry_volume \
                 kg_per_bushel protein {texts} wet_mass dry_mass moisture_basis"
            )
        );
        let rates = "quantity target_rate applied_rate control_rate";
        assert_eq!(names(JobKind::AsApplied), format!("{all} {rates} {texts} amount"));
        assert_eq!(
            names(JobKind::Planting),
            format!("{all} {rates} depth down_force singulation skips doubles {texts} amount")
        );
    }
}
