//! Builds the arrays and the fields of canonical columns from original ones.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field};

use crate::columns::added::{Added, split};
use crate::columns::canonical::{AS_STATED, Canonical, Content, JobKind, RATE};
use crate::columns::cell_values::{arrays, decimal_sign, flags, integers, nullable, texts};
use crate::columns::convert::{is_one, scaled};
use crate::columns::derived::{Rows, compute};
use crate::columns::matching::{COMPLEMENT, Match, values};
use crate::columns::no_values::{discard_codes, discard_no_values};
use crate::columns::provenance as keys;
use crate::times::context::RowTimes;
use headland_base::error::Result;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::units::{Quantity, System, Unit};
use headland_reader::layer::{Layer, LocalTimes, Offsets};

/// Standard gravity in m/s2: the newtons that a kilogram weighs.
const GRAVITY: f64 = 9.806_65;

/// The column `time`. Without `offsets`, times on the display's clock keep it, and a diagnostic says so.
pub(crate) fn add_times(
    layer: &Layer,
    times: RowTimes,
    offsets: Option<&[Offsets]>,
    rows: &mut Rows,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Added>> {
    let schema = layer.schema();
    let names: Vec<&str> = times.columns.iter().map(|column| schema.field(*column).name().as_str()).collect();
    let array: ArrayRef = if let Some(offsets) = offsets.filter(|_| times.is_local) {
        let (array, met) = LocalTimes::from_local(&times.micros).to_utc("time", offsets, None)?;
        diagnostics.extend(met);
        array
    } else {
        if times.is_local {
            let change = times.clock_change().map_or_else(String::new, |record| {
                format!("; the clock goes back at record {record}, as at the end of daylight saving time")
            });
            let message = format!(
                "there is no zone in `{}`: `time` keeps the display's clock; `timezone` names its zone{change}",
                names.join("` and `")
            );
            diagnostics.push(Diagnostic::new(Code::NoZone, message));
        }
        Arc::new(TimestampMicrosecondArray::from(times.micros).with_timezone("UTC"))
    };
    let values = array.as_primitive::<arrow_array::types::TimestampMicrosecondType>();
    rows.times = Some(values.iter().collect());
    let mut metadata = metadata(&names.join(", "), times.form);
    metadata.extend(times.evidence.map(|order| (keys::EVIDENCE.to_owned(), order)));
    let mut added = vec![Added { field: field("time", array.data_type(), metadata), arrays: split(layer, &array) }];
    if !values.iter().flatten().is_sorted() {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by_key(|row| {
            (values.is_null(*row), values.is_valid(*row).then(|| values.value(*row)), *row)
        });
        let mut ranks = vec![0_i32; values.len()];
        for (rank, row) in order.into_iter().enumerate() {
            if let Some(slot) = ranks.get_mut(row) {
                *slot = i32::try_from(rank).unwrap_or(i32::MAX);
            }
        }
        let array: ArrayRef = Arc::new(Int32Array::from(ranks));
        let metadata = self::metadata("time", "computed");
        added.push(Added { field: field("order", &DataType::Int32, metadata), arrays: split(layer, &array) });
    }
    Ok(added)
}

/// The column `date`, if it has dates. Texts are read with the time only.
pub(crate) fn add_date(layer: &Layer, found: &Match) -> Option<Added> {
    let arrays: Vec<ArrayRef> = arrays(layer, found.column).cloned().collect();
    let are_dates = arrays.iter().all(|array| array.as_primitive_opt::<Date32Type>().is_some());
    are_dates.then(|| Added { field: field("date", &DataType::Date32, metadata_of(layer, found)), arrays })
}

/// A column of numbers in its canonical unit; `None` if the unit is unknown.
pub(crate) fn number_column(
    layer: &Layer,
    found: &Match,
    column: &'static Canonical,
    rows: &mut Rows,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Added> {
    let schema = layer.schema();
    let original = schema.field(found.column).name();
    let values = values(layer, found);
    let stated = found.unit.map(|unit| (unit, found.evidence.clone()));
    let proven = || proven_by_range(column.name, &values).map(|(unit, evidence)| (unit, Some(evidence.to_owned())));
    let is_unlogged = column.name == "target_rate"
        && !values.is_empty()
        && values.iter().all(|value| value.is_nan() || *value == 0.0);
    if is_unlogged {
        let message = format!("column `{original}` is 0 in every row: the target rate was not logged and is null");
        diagnostics.push(Diagnostic::new(Code::TargetNotLogged, message));
    }
    let Some((from, evidence)) = stated.or_else(proven) else {
        let message = format!(
            "column `{original}` is `{}`, but its unit is unknown; pass `units={{\"{original}\": ...}}`",
            column.name
        );
        if found.unit_in.is_none() {
            diagnostics.push(Diagnostic::new(Code::UnitUnknown, message));
        }
        return None;
    };
    let (to, factor) = to_canonical(column, from)?;
    let mut metadata = metadata_of(layer, found);
    metadata.insert("unit".to_owned(), to.to_string());
    metadata.insert(keys::FACTOR.to_owned(), factor.to_string());
    metadata.insert(keys::UNIT_IN.to_owned(), found.unit_in.clone().unwrap_or_else(|| from.to_string()));
    if let Some(evidence) = evidence {
        metadata.insert(keys::EVIDENCE.to_owned(), evidence);
    }
    if column.unit == RATE {
        metadata.insert(keys::QUANTITY.to_owned(), quantity(to).to_owned());
    }
    if column.name == "yield_dry_matter" {
        metadata.insert(keys::MOISTURE_BASIS.to_owned(), "0".to_owned());
    }
    if column.name == "yield_dry_mass" {
        let basis = rows.dry_basis.map_or_else(|| "unknown".to_owned(), |basis| basis.to_string());
        metadata.insert(keys::MOISTURE_BASIS.to_owned(), basis);
    }
    if let Some(weight) = rows.kg_per_bushel.filter(|_| column.name.starts_with("yield")) {
        metadata.insert(keys::KG_PER_BUSHEL.to_owned(), weight.to_string());
    }
    if let Some(sign) = texts_with(layer, found.column) {
        let message =
            format!("column `{original}` has numbers in texts, which are read with the decimal sign `{sign}`");
        diagnostics.push(Diagnostic::new(Code::NumbersInText, message));
    }
    let is_computed = found.rule == COMPLEMENT || *schema.field(found.column).data_type() == DataType::LargeUtf8;
    let mut values = values;
    let codes = discard_codes(column.name, &mut values);
    let mut values = if is_one(factor) { values } else { values.into_iter().map(|value| value * factor).collect() };
    let discarded = discard_no_values(column.name, &mut values).saturating_add(codes);
    if discarded > 0 {
        let message = format!(
            "{discarded} values of column `{original}` are none that a sensor measures, and null in `{}`; the column keeps them",
            column.name
        );
        diagnostics.push(Diagnostic::new(Code::NoValues, message));
    }
    let arrays = if is_computed || discarded > 0 {
        split(layer, &nullable(values.iter().copied()))
    } else {
        let array = |array: &ArrayRef| -> ArrayRef {
            if is_unlogged {
                Arc::new(Float64Array::new_null(array.len()))
            } else if is_one(factor) && *array.data_type() == DataType::Float64 {
                Arc::clone(array)
            } else {
                scaled(array, factor)
            }
        };
        arrays(layer, found.column).map(array).collect()
    };
    rows.columns.insert(column.name, values);
    Some(Added { field: field(column.name, &DataType::Float64, metadata), arrays })
}

/// The decimal sign of a column of texts.
fn texts_with(layer: &Layer, column: usize) -> Option<char> {
    let is_text = *layer.schema().field(column).data_type() == DataType::LargeUtf8;
    is_text.then(|| decimal_sign(layer, column).ok())?
}

/// A column of integers, flags or texts, or why its cells are something else.
pub(crate) fn other_column(
    layer: &Layer,
    found: &Match,
    column: &Canonical,
    rows: &mut Rows,
) -> std::result::Result<Added, String> {
    let arrays = match column.content {
        Content::Integer => integers(layer, found.column),
        Content::Flag => flags(layer, found.column),
        Content::Number | Content::Text => Ok(texts(layer, found.column)),
    }?;
    let data_type = match column.content {
        Content::Integer => {
            rows_of_integers(rows, column.name, &arrays);
            DataType::Int64
        }
        Content::Flag => {
            let flags = arrays.iter().flat_map(|array| array.as_boolean().iter());
            let number = |flag: Option<bool>| flag.map_or(f64::NAN, |flag| f64::from(u8::from(flag)));
            rows.columns.insert(column.name, flags.map(number).collect());
            DataType::Boolean
        }
        Content::Number | Content::Text => DataType::LargeUtf8,
    };
    Ok(Added { field: field(column.name, &data_type, metadata_of(layer, found)), arrays })
}

/// The interval that a proof of units gives, in every row.
pub(crate) fn constant_interval(layer: &Layer, seconds: f64, rows: &mut Rows) -> Added {
    let array: ArrayRef = Arc::new(Float64Array::from(vec![seconds; layer.len()]));
    rows.columns.insert("interval", vec![seconds; layer.len()]);
    let mut metadata = metadata("flow, yield, area", "closure");
    metadata.insert("unit".to_owned(), "s".to_owned());
    Added { field: field("interval", &DataType::Float64, metadata), arrays: split(layer, &array) }
}

/// Adds the computed columns to `added`.
pub(crate) fn add_computed(layer: &Layer, kind: JobKind, rows: &mut Rows, added: &mut Vec<Added>) {
    let rate = added.iter().find(|column| column.field.name() == "applied_rate");
    let amount_unit = rate.and_then(|column| Unit::parse(column.field.metadata().get("unit")?)).map(amount_unit);
    let weight = rows.kg_per_bushel;
    let computed = compute(rows, kind == JobKind::Yield);
    for column in computed {
        let mut metadata = metadata(column.source, "computed");
        let unit = if column.name == "amount" { amount_unit.unwrap_or_default() } else { column.unit };
        metadata.insert("unit".to_owned(), unit.to_owned());
        if let Some(basis) = column.moisture_basis {
            metadata.insert(keys::MOISTURE_BASIS.to_owned(), basis);
        }
        if let Some(weight) = weight.filter(|_| column.name.ends_with("_mass") || column.name.starts_with("yield")) {
            metadata.insert(keys::KG_PER_BUSHEL.to_owned(), weight.to_string());
        }
        let array = nullable(rows.columns.remove(column.name).unwrap_or_default());
        added.push(Added { field: field(column.name, &DataType::Float64, metadata), arrays: split(layer, &array) });
    }
}

/// A computed column of numbers; not a number is null.
pub(crate) fn computed_column(layer: &Layer, name: &str, unit: &str, source: &str, values: &[f64]) -> Added {
    let mut metadata = metadata(source, "computed");
    if !unit.is_empty() {
        metadata.insert("unit".to_owned(), unit.to_owned());
    }
    let cells = values.iter().map(|value| (!value.is_nan()).then_some(*value));
    let array: ArrayRef = Arc::new(cells.collect::<Float64Array>());
    Added { field: field(name, &DataType::Float64, metadata), arrays: split(layer, &array) }
}

fn field(name: &str, data_type: &DataType, metadata: HashMap<String, String>) -> Field {
    Field::new(name, data_type.clone(), true).with_metadata(metadata)
}

fn metadata(source: &str, rule: &str) -> HashMap<String, String> {
    HashMap::from([(keys::SOURCE.to_owned(), source.to_owned()), (keys::RULE.to_owned(), rule.to_owned())])
}

fn metadata_of(layer: &Layer, found: &Match) -> HashMap<String, String> {
    metadata(layer.schema().field(found.column).name(), found.rule)
}

/// The canonical unit for values in `from`, and the factor to it.
fn to_canonical(column: &Canonical, from: Unit) -> Option<(Unit, f64)> {
    if column.name == "down_force" && from.quantity() == (Quantity::Mass, None) {
        let newton = Unit::parse("N")?;
        return Some((newton, from.factor(Unit::parse("kg")?, None).ok()? * GRAVITY));
    }
    let to = match column.unit {
        AS_STATED => from,
        // Seeds and fertiliser in bushels or cubic metres are litres as well.
        RATE if from.quantity().0 == Quantity::Volume => Unit::parse("L/ha")?,
        RATE => from.in_system(System::Metric)?,
        unit => Unit::parse(unit)?,
    };
    Some((to, from.factor(to, None).ok()?))
}

fn quantity(unit: Unit) -> &'static str {
    match unit.quantity().0 {
        Quantity::Mass => "mass",
        Quantity::Count => "count",
        _ => "volume",
    }
}

fn amount_unit(rate: Unit) -> &'static str {
    match rate.quantity().0 {
        Quantity::Mass => "kg",
        Quantity::Count => "seeds",
        _ => "L",
    }
}

/// A unit that the range of the values proves, and why.
fn proven_by_range(name: &str, values: &[f64]) -> Option<(Unit, &'static str)> {
    let valid = || values.iter().copied().filter(|value| !value.is_nan());
    let (least, most) =
        valid().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
    let (unit, evidence, is_proven) = match name {
        "latitude" => ("deg", "all values are within 90 degrees", least >= -90.0 && most <= 90.0),
        "longitude" => ("deg", "all values are within 180 degrees", least >= -180.0 && most <= 180.0),
        "heading" => ("deg", "values are above a full turn in radians", least >= -1.0 && most > 7.0 && most <= 361.0),
        "protein" | "singulation" => {
            ("%", "values are above 1, which a fraction is not", least >= 0.0 && most > 1.5 && most <= 100.0)
        }
        "moisture" => {
            // Single readings can be out of range.
            let count = valid().count();
            let usual = valid().filter(|value| (0.0..=100.0).contains(value)).count();
            let wet = valid().filter(|value| *value > 1.5 && *value <= 100.0).count();
            let is_percent = wet > 0 && usual.saturating_mul(100) >= count.saturating_mul(99);
            ("%", "values are above 1, which a fraction is not", is_percent)
        }
        _ => return None,
    };
    Unit::parse(unit).filter(|_| is_proven).map(|unit| (unit, evidence))
}

/// Keeps integers as rows, by which steps of time are grouped.
fn rows_of_integers(rows: &mut Rows, name: &'static str, arrays: &[ArrayRef]) {
    let cells = arrays.iter().flat_map(|array| array.as_primitive::<Int64Type>().iter());
    #[expect(clippy::cast_precision_loss, reason = "numbers of passes, sections and machines are below 2^53")]
    let number = |cell: Option<i64>| cell.map_or(f64::NAN, |cell| cell as f64);
    rows.columns.insert(name, cells.map(number).collect());
}
