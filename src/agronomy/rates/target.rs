//! Targets of a comparison: the logged one, another column, or a prescription at the middle of the swaths.

use arrow_array::cast::AsArray as _;
use arrow_schema::{DataType, Field};

use super::part;
use super::part::Part;
use super::zones::{ZoneOverlaps, visit_zones};
use crate::columns::canonical::JobKind;
use crate::columns::cell_values::{arrays, numbers};
use crate::columns::harmonize::harmonize;
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::columns::statements::Statements;
use crate::columns::values::CanonicalValues;
use crate::maps::prescribed_rate::{PrescribedRate, prescribed_rate};
use crate::rows::result_columns::polygons;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, Unit};

/// Applied rates outside of this, as parts of a prescription in the median row, are in another unit.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.33..=3.0;

/// Where the rate that was asked for comes from.
#[derive(Clone, Debug)]
pub enum RateTarget {
    /// The target that the machine logged.
    Logged,
    /// A column of the layer.
    Column(String),
    /// A prescription, next to the logged target if there is one.
    Map(Box<Layer>),
}

/// What the rates of a job are measured in.
pub(super) struct RateUnit {
    /// `kg`, `L` or `seeds`.
    pub(super) amount: &'static str,
    pub(super) per_ha: String,
    /// The unit that the display logged the applied rate in.
    pub(super) logged: Option<Unit>,
}

impl RateUnit {
    /// The unit of the applied rate. A layer without one is an error.
    pub(super) fn of(values: &CanonicalValues<'_>, layer: &Layer) -> Result<Self> {
        values.check_unit("applied_rate")?;
        let amount = match values.unit("applied_rate").map(|unit| unit.quantity().0) {
            Some(Quantity::Mass) => "kg",
            Some(Quantity::Volume) => "L",
            Some(Quantity::Count) => "seeds",
            _ => return Err(without_rate(layer)),
        };
        let logged = values.metadata("applied_rate", keys::UNIT_IN).and_then(Unit::parse);
        Ok(Self { amount, per_ha: format!("{amount}/ha"), logged })
    }

    /// The applied rate of each row.
    pub(super) fn applied(&self, values: &CanonicalValues<'_>, layer: &Layer) -> Result<Vec<f64>> {
        values.numbers("applied_rate", &self.per_ha).ok_or_else(|| without_rate(layer))
    }

    fn factor(&self, unit: Unit) -> Option<f64> {
        unit.factor(Unit::parse(&self.per_ha)?, None).ok()
    }
}

fn without_rate(layer: &Layer) -> Error {
    let message = format!(
        "layer `{}` has no applied rate; pass `columns={{\"applied_rate\": ...}}` to `headland.harmonize`",
        layer.name()
    );
    Error::for_argument("columns", message)
}

/// A rate that was asked for.
pub(super) struct Target {
    /// `logged`, `planned`, or the name of a column.
    pub(super) name: String,
    pub(super) is_map: bool,
    /// One for each row of the layer, not a number where there is none.
    pub(super) rates: Vec<f64>,
}

/// The targets of a comparison.
pub(super) struct Targets {
    pub(super) all: Vec<Target>,
}

impl Targets {
    /// Reads the targets: what was logged or a column, then a prescription.
    pub(super) fn find(
        target: &RateTarget,
        unit: &RateUnit,
        (layer, values): (&Layer, &CanonicalValues<'_>),
        applied: &[f64],
        parts: &[Part],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let mut all = Vec::new();
        match target {
            RateTarget::Logged => all.push(logged(unit, layer, values)?),
            RateTarget::Column(name) => all.push(of_column(name, unit, layer)?),
            RateTarget::Map(map) => {
                if values.has("target_rate") {
                    all.push(logged(unit, layer, values)?);
                }
                all.push(planned(map, unit, applied, parts, diagnostics)?);
            }
        }
        for target in all.iter_mut().filter(|target| !target.is_map) {
            forget_unlogged(target, parts, layer, diagnostics);
        }
        Ok(Self { all })
    }

    /// The target that the causes are found by.
    pub(super) fn first(&self) -> Option<&Target> {
        let has_rate = |target: &&Target| target.rates.iter().any(|rate| *rate > 0.0);
        self.all.iter().find(has_rate).or(self.all.first())
    }
}

/// The target that the machine logged.
fn logged(unit: &RateUnit, layer: &Layer, values: &CanonicalValues<'_>) -> Result<Target> {
    values.check_unit("target_rate")?;
    if !values.has("target_rate") {
        let message = format!(
            "layer `{}` has no target rate; pass `target=`, a column or a prescription, or \
             `columns={{\"target_rate\": ...}}` to `headland.harmonize`",
            layer.name()
        );
        return Err(Error::for_argument("target", message));
    }
    if let Some(other) = values.unit("target_rate").filter(|other| unit.factor(*other).is_none()) {
        let message = format!(
            "the target rate is in `{other}` and the applied rate in `{}`, which cannot be compared; pass `units=` to \
             `headland.harmonize`",
            unit.per_ha
        );
        return Err(Error::for_argument("units", message));
    }
    let rates = values.numbers("target_rate", &unit.per_ha).unwrap_or_else(|| vec![f64::NAN; values.rows()]);
    Ok(Target { name: "logged".to_owned(), is_map: false, rates })
}

/// A column of the layer, in the unit that it states.
fn of_column(name: &str, unit: &RateUnit, layer: &Layer) -> Result<Target> {
    let index = layer.column_index("target", name)?;
    let schema = layer.schema();
    let found = schema.field(index);
    let stated = found.metadata().get("unit").and_then(|text| Unit::parse(text));
    let Some(factor) = stated.and_then(|stated| unit.factor(stated)) else {
        let said = found.metadata().get("unit").map_or("unknown".to_owned(), |text| format!("`{text}`"));
        let message = format!(
            "`target`: the unit of column `{name}` is {said}, but the applied rate is in `{}`; pass \
             `columns={{\"target_rate\": \"{name}\"}}, units={{\"{name}\": ...}}` to `headland.harmonize`",
            unit.per_ha
        );
        return Err(Error::for_argument("target", message));
    };
    let rates = rates(layer, index, "row")?.into_iter().map(|rate| rate * factor).collect();
    Ok(Target { name: name.to_owned(), is_map: false, rates })
}

/// The numbers of a column; a text, and a rate that is negative or not finite, is an error that names it.
fn rates(layer: &Layer, index: usize, row_name: &str) -> Result<Vec<f64>> {
    let schema = layer.schema();
    let field = schema.field(index);
    let wrong =
        |message: String| Error::for_argument("target", format!("`target`: column `{}` {message}", field.name()));
    if !is_number(field) {
        return Err(wrong("is no number; pass a column of numbers".to_owned()));
    }
    let values = numbers(layer, index);
    match values.iter().position(|rate| *rate < 0.0 || rate.is_infinite()) {
        Some(row) => Err(wrong(format!("is {} in {row_name} {row}; rates are 0 or more", values[row]))),
        None => Ok(values),
    }
}

fn is_number(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Float64 | DataType::Int32 | DataType::Int64)
}

/// A target of a product that is 0 or null in all rows was not logged.
fn forget_unlogged(target: &mut Target, parts: &[Part], layer: &Layer, diagnostics: &mut Vec<Diagnostic>) {
    let is_said = |diagnostic: &Diagnostic| diagnostic.code == Code::TargetNotLogged;
    for part in parts.iter().filter(|part| !part.rows().is_empty()) {
        if part.rows().iter().any(|row| target.rates[*row] > 0.0) {
            continue;
        }
        for row in part.rows() {
            target.rates[*row] = f64::NAN;
        }
        if !layer.diagnostics().iter().any(is_said) {
            let product =
                if part.product.is_empty() { String::new() } else { format!(" of product `{}`", part.product) };
            let of_job = if parts.len() > 1 { " of a job" } else { "" };
            let message = format!("the target rate{product} is 0 or null in every row{of_job}, so it was not logged");
            diagnostics.push(Diagnostic::new(Code::TargetNotLogged, message));
        }
    }
}

/// The rates of a prescription at the middle of the swaths.
fn planned(
    map: &Layer,
    unit: &RateUnit,
    applied: &[f64],
    parts: &[Part],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Target> {
    let (map, index) = rate_column(map)?;
    let zone_rates = rates(&map, index, "zone")?;
    let factor = zone_factor(&map, index, unit, diagnostics)?;
    let products = parts_of_map(&map, parts)?;
    let Some(plane) = parts.first().map(Part::plane) else {
        return Err(Error::for_argument("layer", "the layer has no rows".to_owned()));
    };
    let zones = polygons("target", &map, plane)?;
    let mut found = vec![f64::NAN; applied.len()];
    let (mut is_any_inside, mut overlaps) = (false, ZoneOverlaps::default());
    for part in products {
        visit_zones(
            &zones,
            part.rows().len(),
            |k| part.middle(k),
            |k, own| {
                is_any_inside |= !own.is_empty();
                overlaps.add(own, &zone_rates, part.ground(k));
                // Displays do not state which zone they apply.
                found[part.rows()[k]] = own.first().map_or(f64::NAN, |zone| zone_rates[*zone] * factor);
            },
        );
    }
    diagnostics.extend(overlaps.diagnostic(&zone_rates));
    if !is_any_inside {
        let message = "`target`: no row is inside of a zone; check the coordinate system of the prescription, or that it \
                       is of this field";
        return Err(Error::for_argument("target", message.to_owned()));
    }
    let ratios: Vec<f64> =
        found.iter().zip(applied).map(|(target, rate)| if *target > 0.0 { rate / target } else { f64::NAN }).collect();
    let usual = median(ratios.into_iter().filter(|ratio| *ratio > 0.0).collect());
    if usual.is_finite() && !PLAUSIBLE.contains(&usual) {
        let message = format!(
            "the applied rate is {usual:.3} times the planned one in the median row, so their units or fields may differ; \
             state the unit of column `{}`",
            map.schema().field(index).name()
        );
        diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
    }
    Ok(Target { name: "planned".to_owned(), is_map: true, rates: found })
}

/// The column of the rate: `target_rate` of a harmonised map, else as checks find it, else what harmonising finds.
fn rate_column(map: &Layer) -> Result<(Layer, usize)> {
    let schema = map.schema();
    let target = |layer: &Layer| layer.schema().fields().iter().position(|field| field.name() == "target_rate");
    if let Some(index) = target(map).filter(|index| keys::is_added(schema.field(*index))) {
        return Ok((map.clone(), index));
    }
    let found = prescribed_rate(map);
    if let PrescribedRate::Column(index) = found {
        return Ok((map.clone(), index));
    }
    let harmonized = harmonize(map.clone(), &Statements { kind: Some(JobKind::AsApplied), ..Statements::default() });
    if let Some((layer, index)) = harmonized.ok().and_then(|layer| target(&layer).map(|index| (layer, index))) {
        return Ok((layer, index));
    }
    let (said, advice) = if let PrescribedRate::Several(several) = found {
        let names: Vec<String> = several.iter().map(|index| format!("`{}`", schema.field(*index).name())).collect();
        (format!("has several columns that can be the rate: {}", names.join(", ")), "call only that of the rate `RATE`")
    } else {
        ("has no column of numbers that is no id".to_owned(), "pass a prescription with a column `RATE`")
    };
    Err(Error::for_argument("target", format!("`target`: the prescription {said}; {advice}")))
}

/// What the rates of a prescription are multiplied by: its column or its text column `UNIT` states the unit; without either it
/// is that of the display, with a diagnostic.
fn zone_factor(map: &Layer, index: usize, unit: &RateUnit, diagnostics: &mut Vec<Diagnostic>) -> Result<f64> {
    let schema = map.schema();
    let name = schema.field(index).name();
    let by_field = schema.field(index).metadata().get("unit").filter(|text| Unit::parse(text).is_some()).cloned();
    let stated = by_field.or(common_text(map, "unit", "units")?);
    if let Some(text) = stated {
        return Unit::parse(&text).and_then(|stated| unit.factor(stated)).ok_or_else(|| {
            let message = format!(
                "`target`: the rates of the prescription are in `{text}`, but those of the job in `{}`; they cannot be \
                 compared",
                unit.per_ha
            );
            Error::for_argument("target", message)
        });
    }
    let (assumed, factor) = unit
        .logged
        .and_then(|logged| Some((logged.to_string(), unit.factor(logged)?)))
        .unwrap_or_else(|| (unit.per_ha.clone(), 1.0));
    let message = format!(
        "the prescription states no unit, so column `{name}` is read in `{assumed}` as the applied rate was logged; if it is \
         another one, pass `headland.harmonize(target, kind=\"as_applied\", columns={{\"target_rate\": \"{name}\"}}, \
         units={{\"{name}\": ...}})`"
    );
    diagnostics.push(Diagnostic::new(Code::UnitUnknown, message));
    Ok(factor)
}

/// The text that all rows of a column have, if there is such a column. Several texts are an error.
fn common_text(map: &Layer, name: &str, other: &str) -> Result<Option<String>> {
    let schema = map.schema();
    let is_named = |field: &Field| [name, other].iter().any(|name| field.name().eq_ignore_ascii_case(name));
    let position =
        schema.fields().iter().position(|field| is_named(field) && *field.data_type() == DataType::LargeUtf8);
    let Some(index) = position else { return Ok(None) };
    let texts =
        arrays(map, index).filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter().flatten());
    let mut texts: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
    texts.sort_unstable();
    texts.dedup();
    match *texts {
        [] => Ok(None),
        [text] => Ok(Some(text.to_owned())),
        [first, second, ..] => {
            let message = format!(
                "`target`: column `{}` of the prescription has `{first}` and `{second}`; pass the zones of one of them",
                schema.field(index).name()
            );
            Err(Error::for_argument("target", message))
        }
    }
}

/// The parts that a prescription is for: those of its product, or all if the job has one.
fn parts_of_map<'a>(map: &Layer, parts: &'a [Part]) -> Result<Vec<&'a part::Part>> {
    let mut names: Vec<&str> = parts.iter().map(|part| part.product.as_str()).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return Ok(parts.iter().collect());
    }
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let Some(product) = common_text(map, "product", "product_name")? else {
        let message = format!(
            "`target`: the prescription names no product, but the job has {listed}; pass the rows of one product, or a \
             prescription with a column `PRODUCT`"
        );
        return Err(Error::for_argument("target", message));
    };
    let found: Vec<&Part> = parts.iter().filter(|part| part.product.eq_ignore_ascii_case(&product)).collect();
    if found.is_empty() {
        let message = format!("`target`: the prescription is for `{product}`, but the job has {listed}");
        return Err(Error::for_argument("target", message));
    }
    Ok(found)
}
