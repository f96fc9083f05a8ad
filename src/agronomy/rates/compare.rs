//! Compares the rate that was asked for with the rate that was applied, on ground that is counted once for each product.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, LargeStringArray};
use arrow_schema::{DataType, Field};

use super::choose_targets::Targets;
use super::classes::{Class, Compared, classify, error_of};
use super::part::{Part, parts};
use super::rate_target::{RateTarget, RateUnit};
use super::{causes, job_totals, report, step_table};
use crate::cleaning::recipe::Recipe;
use crate::columns::added::field;
use crate::columns::canonical::JobKind;
use crate::columns::cell_values::nullable;
use crate::columns::harmonize::harmonize;
use crate::columns::statements::Statements;
use crate::columns::values::CanonicalValues;
use crate::ground::seasons::Seasons;
use crate::rows::field_rows::FieldRows;
use crate::rows::result_columns::{with_columns, without_columns};
use headland_base::error::{Error, Result};
use headland_reader::layer::Layer;

/// Target and applied rates of a job.
#[derive(Clone, Debug)]
pub struct RateComparison {
    /// All rows, with error, class, causes and new ground.
    pub layer: Layer,
    /// Ground and product by class and by cause.
    pub report: Layer,
    /// A line for each rate that was asked for.
    pub steps: Layer,
    /// Against what the service reports of the job, if it was stated.
    pub job: Option<Layer>,
}

/// Compares the rates of a sprayer, spreader or planter job.
///
/// Ground is counted once for each product, in order of time, as [`crate::clean`] counts it. Where the boom is off, ground
/// counts that no other row works. Amounts are those of full swaths, because an overlap really receives the product twice.
pub fn compare_rates(layer: Layer, target: &RateTarget, tolerance: f64) -> Result<RateComparison> {
    if !(tolerance > 0.0 && tolerance < 1.0) {
        let message =
            format!("`tolerance`: expected a part of the target between 0 and 1, such as 0.1, got {tolerance}");
        return Err(Error::for_argument("tolerance", message));
    }
    let layer = harmonize(without_columns(layer)?, &Statements::default())?;
    let mut field = FieldRows::read(&layer)?;
    if field.kind == JobKind::Yield {
        let message = format!(
            "layer `{}` is a harvest, which has no target rate; pass the log of a sprayer, spreader or planter",
            layer.name()
        );
        return Err(Error::for_argument("layer", message));
    }
    field.check_ground(&layer)?;
    let values = CanonicalValues::new(&layer, None);
    let unit = RateUnit::of(&values, &layer)?;
    let applied = unit.applied(&values, &layer)?;
    let mut diagnostics = std::mem::take(&mut field.diagnostics);
    let seasons = Seasons::find(&layer, field.kind, &field.jobs);
    let mut parts = parts(&field, &seasons, &values, &Recipe::parse(None, "{}")?)?;
    let targets = Targets::find(target, &unit, (&layer, &values), &applied, &parts, &mut diagnostics)?;
    let first = targets.first().map(|target| &*target.rates);
    for part in &mut parts {
        part.measure(first, &applied, tolerance);
        diagnostics.append(&mut part.diagnostics);
    }
    // Products of one mix have the same faults.
    let mut said = HashSet::new();
    diagnostics.retain(|diagnostic| said.insert((diagnostic.code, diagnostic.message.clone())));
    let compared: Vec<Compared> =
        targets.all.iter().map(|target| compared(&parts, &target.rates, &applied, tolerance)).collect();
    let report = report::report(&layer, &unit, &parts, &targets, &compared, &applied)?;
    let steps = step_table::steps(&layer, &unit, &parts, &targets, &compared, &applied, tolerance)?;
    let job = job_totals::against(&layer, &unit, &parts, &applied, &mut diagnostics)?;
    let layer = with_columns(layer, columns(&unit, &parts, &targets, &compared, applied.len()))?;
    Ok(RateComparison { layer: layer.with_diagnostics(diagnostics), report, steps, job })
}

/// Error and class of each row by one target.
fn compared(parts: &[Part], rates: &[f64], applied: &[f64], tolerance: f64) -> Compared {
    let mut found = Compared { error: vec![f64::NAN; applied.len()], class: vec![None; applied.len()] };
    for part in parts {
        for (k, row) in part.rows().iter().copied().enumerate().filter(|(k, _)| part.counts(*k)) {
            let class = classify(rates[row], applied[row], part.is_working(k), tolerance);
            // Where the boom is off on ground that other rows work, nothing is missing.
            found.class[row] = class.filter(|class| *class != Class::Off || part.ground(k) > 0.0);
            found.error[row] = if part.is_working(k) { error_of(rates[row], applied[row]) } else { f64::NAN };
        }
    }
    found
}

/// The columns of a comparison, in the order of the layer.
fn columns(
    unit: &RateUnit,
    parts: &[Part],
    targets: &Targets,
    compared: &[Compared],
    rows: usize,
) -> Vec<(Field, ArrayRef)> {
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for (target, found) in targets.all.iter().zip(compared) {
        if target.is_map {
            columns
                .push((field("planned_rate", DataType::Float64, &unit.per_ha), nullable(target.rates.iter().copied())));
        }
        let [error, class] =
            if target.is_map { ["planned_error", "planned_class"] } else { ["rate_error", "rate_class"] };
        let names: LargeStringArray = found.class.iter().map(|class| class.map(Class::as_str)).collect();
        columns.push((field(class, DataType::LargeUtf8, ""), Arc::new(names)));
        columns.push((field(error, DataType::Float64, "1"), nullable(found.error.iter().copied())));
    }
    let mut bits = vec![0_u8; rows];
    let mut ground = vec![f64::NAN; rows];
    for part in parts {
        for (k, row) in part.rows().iter().copied().enumerate().filter(|(k, _)| part.counts(*k)) {
            bits[row] = part.causes(k);
            ground[row] = part.ground(k);
        }
    }
    for (name, bit) in causes::ALL {
        let flags: BooleanArray = bits.iter().map(|bits| Some(bits & bit != 0)).collect();
        columns.push((field(name, DataType::Boolean, ""), Arc::new(flags)));
    }
    columns.push((field("m2", DataType::Float64, "m2"), nullable(ground)));
    columns
}
