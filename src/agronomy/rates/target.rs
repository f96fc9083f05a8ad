//! Targets of a comparison: the logged one, another column, or a prescription at the middle of the swaths.

use arrow_schema::{DataType, Field};

use super::part::Part;
use super::planned::planned;
use crate::columns::cell_values::numbers;
use crate::columns::provenance as keys;
use crate::columns::values::CanonicalValues;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, Unit};

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

    pub(super) fn factor(&self, unit: Unit) -> Option<f64> {
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
                all.push(planned(map, unit, (layer, applied), parts, diagnostics)?);
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
pub(super) fn rates(layer: &Layer, index: usize, row_name: &str) -> Result<Vec<f64>> {
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
