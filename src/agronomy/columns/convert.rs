//! Conversion of a layer's columns to other units.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};

use crate::columns::crops::{CROPS, Crop};
use crate::columns::provenance::{CROP, FACTOR, KG_PER_BUSHEL, UNIT_IN};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::units::{BUSHELS_PER_ACRE, Mismatch, Quantity, System, Unit};
use headland_reader::layer::{Layer, floats};

/// The wanted units.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Those of a system, for every column whose unit is known.
    System(System),
    /// One for each named column.
    Columns(Vec<(String, String)>),
}

/// One column's conversion.
struct Conversion {
    unit: Unit,
    unit_in: String,
    factor: f64,
}

/// Columns with values that a unit can express; `None` if the text is no unit.
#[must_use]
pub fn columns_for_unit(layer: &Layer, unit: &str) -> Option<Vec<String>> {
    let wanted = Unit::parse(unit)?;
    // Whether the weight of a bushel is known is said when the column is converted.
    let can_express = |field: &&Arc<Field>| {
        is_number(field) && known_unit(field).is_some_and(|(_, unit)| unit.factor(wanted, Some(1.0)).is_ok())
    };
    Some(layer.schema().fields().iter().filter(can_express).map(|field| field.name().clone()).collect())
}

/// Converts columns to other units. Changed values become 64-bit floats. A column that has the wanted unit keeps its
/// values and gets the standard spelling.
///
/// Conversions between bushels and masses need the weight of a bushel: that of `crop`, of the column's metadata, of the
/// crop of the rows, or of the crop in the layer's metadata.
pub fn to_units(layer: Layer, target: &Target, crop: Option<&str>) -> Result<Layer> {
    let given = crop.map(known_crop).transpose()?;
    let of_rows = row_crops(&layer);
    let has_several = of_rows.len() > 1;
    let of_rows = of_rows.into_iter().next().and_then(|name| Crop::find(&name));
    let stated = of_rows.or_else(|| stated_crop_names(&layer).find_map(|name| Crop::find(&name)));
    let weight = |field: &Field| {
        let by_column = || field.metadata().get(KG_PER_BUSHEL).and_then(|text| text.parse().ok());
        if has_several {
            return by_column();
        }
        given.and_then(Crop::kg_per_bushel).or_else(by_column).or_else(|| stated.and_then(Crop::kg_per_bushel))
    };
    let schema = layer.schema();
    let mut conversions: HashMap<usize, Conversion> = HashMap::new();
    match target {
        Target::System(system) => {
            for (position, field) in schema.fields().iter().enumerate() {
                let Some((stated, unit)) = known_unit(field).filter(|_| is_number(field)) else { continue };
                let wanted = in_system(field, unit, *system).unwrap_or(unit);
                conversions.insert(position, conversion(field, stated, unit, wanted, weight(field))?);
            }
        }
        Target::Columns(columns) => {
            for (name, wanted) in columns {
                let position = layer.column_index("units", name)?;
                let field = schema.field(position);
                let wanted = Unit::parse(wanted).ok_or_else(|| unknown_word(name, wanted))?;
                if !is_number(field) {
                    let message =
                        format!("column `{name}` contains {}, not numbers: it has no unit", field.data_type());
                    return Err(invalid(name, message));
                }
                let (stated, unit) = known_unit(field).ok_or_else(|| unknown_unit(field))?;
                conversions.insert(position, conversion(field, stated, unit, wanted, weight(field))?);
            }
        }
    }
    let is_weighed = conversions.values().any(|conversion| {
        Unit::parse(&conversion.unit_in).is_some_and(|from| from.factor(conversion.unit, None).is_err())
    });
    let other = given.zip(stated).filter(|(given, stated)| given != stated && is_weighed && !has_several);
    let said = other.map(|(given, stated)| {
        let message = format!(
            "`crop` is `{}`, but the rows or the layer name `{}`; bushels are those of `{}`",
            given.name, stated.name, given.name
        );
        Diagnostic::new(Code::CropContradicts, message)
    });
    Ok(apply(layer, &conversions)?.with_diagnostics(said.into_iter().collect()))
}

fn apply(layer: Layer, conversions: &HashMap<usize, Conversion>) -> Result<Layer> {
    let schema = layer.schema();
    let fields = schema.fields().iter().enumerate().map(|(position, field)| match conversions.get(&position) {
        Some(conversion) => Arc::new(converted_field(field, conversion)),
        None => Arc::clone(field),
    });
    let schema = Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()));
    let batches: std::result::Result<Vec<RecordBatch>, _> = layer
        .batches()
        .iter()
        .map(|batch| {
            let columns =
                batch.columns().iter().enumerate().map(|(position, array)| match conversions.get(&position) {
                    Some(conversion) if !is_one(conversion.factor) => scaled(array, conversion.factor),
                    _ => Arc::clone(array),
                });
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns.collect(), &options)
        })
        .collect();
    let batches =
        batches.map_err(|cause| Error::new(Kind::Value, format!("the columns do not form a table: {cause}")))?;
    let geometry = layer.geometry_index();
    Ok(layer.with_batches(schema, batches, geometry))
}

fn converted_field(field: &Field, conversion: &Conversion) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert("unit".to_owned(), conversion.unit.to_string());
    metadata.entry(UNIT_IN.to_owned()).or_insert_with(|| conversion.unit_in.clone());
    let earlier = metadata.get(FACTOR).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    metadata.insert(FACTOR.to_owned(), (earlier * conversion.factor).to_string());
    let data_type = if is_one(conversion.factor) { field.data_type().clone() } else { DataType::Float64 };
    Field::new(field.name(), data_type, field.is_nullable()).with_metadata(metadata)
}

/// The values times `factor`, as 64-bit floats; nulls stay null. Other types than those of numbers are unchanged.
pub fn scaled(array: &ArrayRef, factor: f64) -> ArrayRef {
    match floats(array) {
        Some(numbers) => Arc::new(numbers.unary::<_, Float64Type>(|value| value * factor)),
        None => Arc::clone(array),
    }
}

fn conversion(field: &Field, stated: &str, from: Unit, to: Unit, kg_per_bushel: Option<f64>) -> Result<Conversion> {
    let name = field.name();
    let factor = from.factor(to, kg_per_bushel).map_err(|mismatch| match mismatch {
        Mismatch::Quantity => {
            invalid(name, format!("column `{name}` is in `{stated}`, which cannot be converted to `{to}`"))
        }
        Mismatch::BushelWeight => {
            let message = format!(
                "column `{name}`: `{stated}` to `{to}` needs the weight of a bushel, but the layer has no crop or \
                 several; pass `crop=`, such as `crop=\"corn\"`, for rows of one crop"
            );
            invalid(name, message)
        }
    })?;
    Ok(Conversion { unit: to, unit_in: stated.to_owned(), factor })
}

/// The unit of `system` for a column. Yields are bushels in the United States, also where the column holds a mass.
pub(crate) fn in_system(field: &Field, unit: Unit, system: System) -> Option<Unit> {
    // Coordinates of cells are those of their system.
    if ["x", "y"].contains(&field.name().as_str()) {
        return None;
    }
    let is_mass_rate = unit.quantity() == (Quantity::Mass, Some(Quantity::Area));
    if system == System::Us && is_mass_rate && field.name().to_lowercase().starts_with("yield") {
        return Some(BUSHELS_PER_ACRE);
    }
    // A mass that was converted to bushels is a mass again.
    let is_volume_rate = unit.quantity() == (Quantity::Volume, Some(Quantity::Area));
    if system == System::Metric
        && is_volume_rate
        && field.name().starts_with("yield_")
        && !field.name().ends_with("_volume")
    {
        return Unit::parse("kg/ha");
    }
    unit.in_system(system)
}

fn known_unit(field: &Field) -> Option<(&str, Unit)> {
    let stated = field.metadata().get("unit")?;
    Some((stated, Unit::parse(stated)?))
}

fn is_number(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Int32 | DataType::Int64 | DataType::Float64)
}

/// Whether a factor changes nothing.
#[expect(clippy::float_cmp, reason = "the factor between equal units is exactly 1")]
pub(crate) fn is_one(factor: f64) -> bool {
    factor == 1.0
}

/// The crop of an argument `crop`.
pub(crate) fn known_crop(name: &str) -> Result<&'static Crop> {
    Crop::find(name).ok_or_else(|| {
        let names: Vec<&str> = CROPS.iter().map(|crop| crop.name).collect();
        let message = format!("crop `{name}` is not known; known crops: {}", names.join(", "));
        invalid("crop", message)
    })
}

/// The names of a crop in metadata and columns.
fn is_crop_name(name: &str) -> bool {
    ["crop", "croptoken", "cropname"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The crops of the rows, by the harmonised column if there is one; of several, no weight of a bushel is that of all.
fn row_crops(layer: &Layer) -> BTreeSet<String> {
    let schema = layer.schema();
    let stated = || schema.fields().iter().position(|field| is_crop_name(field.name()));
    let Some(column) = schema.index_of("crop").ok().or_else(stated) else { return BTreeSet::new() };
    let arrays = layer.batches().iter().filter_map(|batch| batch.columns().get(column)?.as_string_opt::<i64>());
    let names: BTreeSet<&str> = arrays.flat_map(|array| array.iter()).flatten().map(str::trim).collect();
    let names = names.into_iter().filter(|name| !name.is_empty());
    names.map(|name| Crop::find(name).map_or(name, |crop| crop.name).to_owned()).collect()
}

/// The names of crops that the source of the layer states.
pub(crate) fn stated_crop_names(layer: &Layer) -> impl Iterator<Item = String> {
    let is_crop = |key: &str| key == CROP || is_crop_name(key);
    layer.metadata().iter().filter(move |(key, _)| is_crop(key)).map(|(_, name)| name.clone())
}

/// The end of a message about an unknown unit.
pub(crate) const UNIT_EXAMPLES: &str = "examples are `t/ha`, `kg/ha`, `bu/ac`, `L/ha`, `m`, `km/h`, `%`";

fn unknown_word(column: &str, word: &str) -> Error {
    invalid(column, format!("`{word}` is not a known unit; {UNIT_EXAMPLES}"))
}

fn unknown_unit(field: &Field) -> Error {
    let name = field.name();
    let message = match field.metadata().get("unit") {
        Some(stated) => {
            format!("column `{name}` is in `{stated}`, which is not a known unit")
        }
        None => format!(
            "the unit of column `{name}` is unknown, so it cannot be converted; state it with \
             `headland.harmonize(layer, units={{\"{name}\": \"bu/ac\"}})`"
        ),
    };
    invalid(name, message)
}

fn invalid(field: &str, message: String) -> Error {
    Error::for_argument(field, message)
}
