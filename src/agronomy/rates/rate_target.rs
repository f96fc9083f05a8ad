//! A target of a comparison, its unit and its numbers, and whether it can be in that unit.

use arrow_schema::{DataType, Field};

use crate::columns::cell_values::numbers;
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, Unit};

/// Applied rates outside of this, as parts of a target in the median row, are in another unit.
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

    pub(super) fn factor(&self, unit: Unit) -> Option<f64> {
        unit.factor(Unit::parse(&self.per_ha)?, None).ok()
    }
}

fn without_rate(layer: &Layer) -> Error {
    let schema = layer.schema();
    if schema.index_of("applied_rate").is_ok() {
        let message = format!(
            "the unit of `applied_rate` of layer `{}` is unknown; pass `units={{\"applied_rate\": \"L/ha\"}}` to \
             `headland.harmonize`, or the unit that it has",
            layer.name()
        );
        return Error::for_argument("units", message);
    }
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

/// A diagnostic if the applied rate is another multiple of a target in the median row than any machine misses it by.
pub(super) fn contradicts(target: &[f64], applied: &[f64], what: &str, column: &str) -> Option<Diagnostic> {
    let ratios = target.iter().zip(applied).filter(|(target, _)| **target > 0.0).map(|(target, rate)| rate / target);
    let usual = median(ratios.filter(|ratio| *ratio > 0.0).collect());
    (usual.is_finite() && !PLAUSIBLE.contains(&usual)).then(|| {
        let message = format!(
            "the applied rate is {usual:.3} times {what} in the median row, so their units or fields may differ; state the unit \
             of column `{column}`"
        );
        Diagnostic::new(Code::UnitsContradict, message)
    })
}
