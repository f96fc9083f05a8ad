//! Compares what the service reports of the products of a job with the rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray};
use arrow_schema::DataType;

use super::part::{Part, products};
use super::rate_target::RateUnit;
use crate::columns::added::field;
use crate::columns::cell_values::nullable;
use crate::columns::derived::HECTARE;
use crate::columns::job_products::{JOB_TOTALS, JobProduct};
use crate::maps::zone_units::is_same_product;
use headland_base::error::Result;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

/// The products that the service reports; `None` if the layer was not harmonised with its job.
pub(super) fn reported_products(layer: &Layer) -> Option<Vec<JobProduct>> {
    let (_, text) = layer.metadata().iter().find(|(key, _)| key == JOB_TOTALS)?;
    serde_json::from_str(text).ok()
}

/// One line for each product that the service reports or that the rows have; `None` if the layer was not harmonised with its
/// job. What only one side has is null on the other.
pub(super) fn against(
    layer: &Layer,
    unit: &RateUnit,
    parts: &[Part],
    applied: &[f64],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Layer>> {
    let Some(mut reported) = reported_products(layer) else { return Ok(None) };
    let names = products(parts);
    let is_only = reported.len() == 1 && names.len() == 1;
    let is_same = |product: &JobProduct, name: &str| is_same_product(product.name.as_deref().unwrap_or_default(), name);
    for name in &names {
        let is_known = reported.iter().any(|product| is_same(product, name));
        if is_only
            && !is_known
            && !name.is_empty()
            && let Some(other) = reported.first().and_then(|product| product.name.as_deref())
        {
            let message = format!(
                "the rows are of product `{name}`, but the job reports `{other}`; they are compared all the same, which is wrong \
                 if these are two products"
            );
            diagnostics.push(Diagnostic::new(Code::ProductContradicts, message));
        } else if !is_only && !is_known {
            reported.push(JobProduct { name: Some((*name).to_owned()), ..JobProduct::default() });
        }
    }
    let factor = display_factor(unit);
    let mut lines: Vec<(String, [f64; 5])> = Vec::new();
    for product in &reported {
        let name = product.name.clone().unwrap_or_default();
        let own: Vec<&Part> = parts.iter().filter(|part| is_only || is_same(product, &part.product)).collect();
        let nothing = if own.is_empty() { f64::NAN } else { 0.0 };
        let (mut amount, mut area) = (nothing, nothing);
        for part in own {
            for (k, row) in part.rows().iter().copied().enumerate() {
                if part.counts(k) && part.is_working(k) {
                    area += part.area(k);
                    amount += if applied[row].is_nan() { 0.0 } else { applied[row] * part.area(k) / HECTARE };
                }
            }
        }
        let weight = product.weight();
        let planted = weight.filter(|_| unit.amount == "kg");
        let reported = product.amount.zip(factor).map(|(amount, factor)| amount * factor).or(planted);
        let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
        lines.push((name, [amount, known(reported), area, known(product.area), known(weight)]));
    }
    let numbers = |pick: &dyn Fn(&[f64; 5]) -> f64| nullable(lines.iter().map(|(_, values)| pick(values)));
    let texts: LargeStringArray =
        lines.iter().map(|(name, _)| Some(name.as_str()).filter(|name| !name.is_empty())).collect();
    let number = |name, unit: &str| field(name, DataType::Float64, unit);
    let columns = vec![
        (field("product", DataType::LargeUtf8, ""), Arc::new(texts) as ArrayRef),
        (number("applied", unit.amount), numbers(&|values| values[0])),
        (number("reported", unit.amount), numbers(&|values| values[1])),
        (number("difference", "1"), numbers(&|values| (values[0] - values[1]) / values[1])),
        (number("worked_area", "m2"), numbers(&|values| values[2])),
        (number("reported_area", "m2"), numbers(&|values| values[3])),
        (number("area_difference", "1"), numbers(&|values| (values[2] - values[3]) / values[3])),
        (number("reported_weight", "kg"), numbers(&|values| values[4])),
    ];
    Layer::from_columns(layer.name(), layer.source(), columns).map(Some)
}

/// From the display's unit of amounts, which its rates name, to that of the comparison.
fn display_factor(unit: &RateUnit) -> Option<f64> {
    let logged = unit.logged?.to_string();
    let (amount, _) = logged.split_once('/')?;
    Unit::parse(amount)?.factor(Unit::parse(unit.amount)?, None).ok()
}
