//! Canonical rows: the fixed columns of each kind of job, and the rows of a harmonised layer in them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, Float64Array, LargeStringArray, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, TimeUnit};
use chrono::{DateTime, Datelike as _};

use crate::columns::canonical::{AS_STATED, CANONICAL, Content, JobKind, RATE};
use crate::columns::crops::Crop;
use crate::columns::market_moisture::MARKET;
use crate::columns::provenance as keys;
use headland_reader::archive::Code;
use headland_reader::layer::Layer;

/// Measure of the rates and the amount of a row: `mass`, `volume` or `count`.
const QUANTITY: &str = "quantity";
/// Percent of water of `yield_dry_mass`, where it is known.
const YIELD_DRY_BASIS: &str = "yield_dry_basis";
/// Weight of a bushel of the volumes.
const KG_PER_BUSHEL: &str = "kg_per_bushel";

/// Clock of `time`.
const CLOCK: &str = "clock";

/// What columns mean whose name does not say it.
const DOCUMENTATION: [(&str, &str); 11] = [
    (CLOCK, "`UTC`, or `display` where `time` is that of the display, whose zone nothing states."),
    (QUANTITY, "`mass`, `volume` or `count`: rates are in kg/ha, L/ha or seeds/ha, the amount in kg, L or seeds."),
    (MARKET, "Water of `dry_mass` and `yield_dry`: the market moisture of the crop."),
    ("yield_wet", "Wet mass by worked area; null where that is 0."),
    ("yield_dry", "Dry mass by worked area; null where that is 0."),
    (YIELD_DRY_BASIS, "Water of `yield_dry_mass`; null where the display does not tell it."),
    (KG_PER_BUSHEL, "Weight of a bushel of the volumes."),
    ("worked_area", "Distance times swath width, or the polygon; 0 where the row does not work."),
    ("yield_dry_matter", "As the display computed it, without water."),
    ("yield_dry_mass", "As the display computed it, at the moisture of `yield_dry_basis`."),
    ("amount", "Applied rate times worked area."),
];

/// The rates, the one that is applied first.
const RATES: [&str; 3] = ["applied_rate", "target_rate", "control_rate"];

/// The columns of a kind, the same for all layers. `yield` is left out, since its unit differs between layers.
#[must_use]
pub fn canonical_fields(kind: JobKind) -> Vec<Field> {
    let number = |name: &str, unit: &str| column(name, DataType::Float64, unit);
    let mut fields = vec![
        column("time", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), ""),
        column(CLOCK, DataType::LargeUtf8, ""),
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
            Content::Integer => DataType::Int64,
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
    fields.push(number("worked_area", "m2"));
    if kind == JobKind::Yield {
        fields.extend([number("wet_mass", "kg"), number("dry_mass", "kg")]);
        fields.extend([number("yield_wet", "kg/ha"), number("yield_dry", "kg/ha"), number(MARKET, "%")]);
    } else {
        fields.push(number("amount", ""));
    }
    fields
}

fn column(name: &str, data_type: DataType, unit: &str) -> Field {
    let unit = (!unit.is_empty()).then(|| ("unit".to_owned(), unit.to_owned()));
    let documentation = DOCUMENTATION.iter().find(|(own, _)| *own == name);
    let documentation = documentation.map(|(_, text)| ("documentation".to_owned(), (*text).to_owned()));
    Field::new(name, data_type, true).with_metadata(unit.into_iter().chain(documentation).collect())
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
    let is_local = layer.diagnostics().iter().any(|diagnostic| diagnostic.code == Code::NoZone);
    let clock = added.contains_key("time").then_some(if is_local { "display" } else { "UTC" });
    let cells = |field: &Field, batch: &RecordBatch| -> ArrayRef {
        let rows = batch.num_rows();
        let numbers = |value: Option<f64>| Arc::new(Float64Array::from(vec![value; rows])) as ArrayRef;
        let texts = |text: Option<&str>| Arc::new(LargeStringArray::from(vec![text; rows])) as ArrayRef;
        match field.name().as_str() {
            CLOCK => texts(clock),
            QUANTITY => texts(quantity.map(String::as_str)),
            MARKET => market_array(layer, batch),
            YIELD_DRY_BASIS => numbers(number("yield_dry_mass", keys::MOISTURE_BASIS)),
            KG_PER_BUSHEL => numbers(weight),
            "crop" => crop_array(layer, batch),
            name => match added.get(name).and_then(|index| batch.columns().get(*index)) {
                Some(array) if array.data_type() == field.data_type() && !is_other(name) => Arc::clone(array),
                _ => new_null_array(field.data_type(), rows),
            },
        }
    };
    let fields = canonical_fields(kind);
    layer.batches().iter().map(|batch| fields.iter().map(|field| cells(field, batch)).collect()).collect()
}

/// The crop of each row: that which the row names, else that of the layer.
pub(crate) fn crop_array(layer: &Layer, batch: &RecordBatch) -> ArrayRef {
    let of_layer = crop(layer);
    let schema = layer.schema();
    let index = schema.fields().iter().position(|field| field.name() == "crop" && keys::is_added(field));
    match index.and_then(|index| batch.columns().get(index)) {
        Some(array) => crop_names(array, of_layer),
        None => Arc::new(LargeStringArray::from(vec![of_layer; batch.num_rows()])),
    }
}

/// Crops by their common names, `default` where there is none; texts that are no known crop stay.
pub(crate) fn crop_names(array: &ArrayRef, default: Option<&str>) -> ArrayRef {
    let Some(texts) = array.as_string_opt::<i64>() else { return new_null_array(&DataType::LargeUtf8, array.len()) };
    let mut known: HashMap<&str, &str> = HashMap::new();
    let mut last = ("", "");
    let mut name = |text| {
        // Rows of one crop follow each other.
        if text != last.0 {
            last = (text, *known.entry(text).or_insert_with(|| Crop::find(text).map_or(text, |crop| crop.name)));
        }
        last.1
    };
    Arc::new(texts.iter().map(|text| text.map(&mut name).or(default)).collect::<LargeStringArray>())
}

/// The market moisture of each row of a harvest.
pub(crate) fn market_array(layer: &Layer, batch: &RecordBatch) -> ArrayRef {
    let schema = layer.schema();
    let index = |name: &str| schema.fields().iter().position(|field| field.name() == name && keys::is_added(field));
    if let Some(array) = index(MARKET).and_then(|index| batch.columns().get(index)) {
        return Arc::clone(array);
    }
    let stated = index("dry_mass").and_then(|index| schema.field(index).metadata().get(keys::MOISTURE_BASIS));
    let percent: Option<f64> = stated.and_then(|basis| basis.parse().ok());
    Arc::new(Float64Array::from(vec![percent; batch.num_rows()]))
}

/// Year of the first row with a time.
#[must_use]
pub fn first_year(layer: &Layer) -> Option<i32> {
    let schema = layer.schema();
    let index = schema.fields().iter().position(|field| field.name() == "time" && keys::is_added(field))?;
    let times = layer.batches().iter().filter_map(|batch| {
        batch.columns().get(index)?.as_primitive_opt::<TimestampMicrosecondType>()?.iter().flatten().next()
    });
    times.filter_map(DateTime::from_timestamp_micros).map(|time| time.year()).next()
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
        let all = "time clock date order longitude latitude interval distance swath_width heading speed elevation pass_number section \
                   machine working";
        let texts = "product variety crop operator field load worked_area";
        assert_eq!(
            names(JobKind::Yield),
            format!(
                "{all} flow moisture yield_wet_mass yield_dry_mass yield_dry_basis yield_dry_matter yield_wet_volume \
                 yield_dry_volume kg_per_bushel protein {texts} wet_mass dry_mass yield_wet yield_dry market_moisture"
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
