//! The targets of a comparison: the logged one, another column, or a prescription at the middle of the swaths.

use super::part::Part;
use super::prescription_target::planned;
use super::rate_target::{RateTarget, RateUnit, Target, contradicts, rates};
use crate::columns::values::CanonicalValues;
use crate::maps::rate_limit::RateLimit;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

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
            forget_codes(target, applied, diagnostics);
            forget_unlogged(target, parts, layer, diagnostics);
            diagnostics.extend(contradicts(&target.rates, applied, "the logged target", &target.name));
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

/// Targets far above all others that the applied rate does not follow, such as 65,535, are none.
fn forget_codes(target: &mut Target, applied: &[f64], diagnostics: &mut Vec<Diagnostic>) {
    let Some(limit) = RateLimit::of(target.rates.iter().copied()) else { return };
    let (mut count, mut most) = (0_usize, 0.0_f64);
    for (rate, applied) in target.rates.iter_mut().zip(applied) {
        if limit.is_no_target(*rate, *applied) {
            most = most.max(*rate);
            *rate = f64::NAN;
            count += 1;
        }
    }
    if count > 0 {
        let message = format!(
            "{count} rows have a target far above {:.0}, the usual one, and up to {most:.0}, which is none: a code of the display, \
             or an error",
            limit.usual
        );
        diagnostics.push(Diagnostic::new(Code::NoValues, message));
    }
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
