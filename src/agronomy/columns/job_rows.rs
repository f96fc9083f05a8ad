//! Compares what the service reports of a job with its harmonised rows.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use chrono::DateTime;

use crate::columns::added::Added;
use crate::columns::canonical::JobKind;
use crate::columns::crops::Crop;
use crate::columns::derived::{HECTARE, Rows};
use crate::columns::provenance as keys;
use crate::columns::statements::Job;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::units::Unit;

/// Parts by which the mass, the product and the ground of the rows may differ from what the service reports. Displays count
/// overlapped ground in different ways.
const SAME_MASS: f64 = 0.05;
const SAME_GROUND: f64 = 0.20;

/// Microseconds between the first row and the start of its job, above which both are said.
const SAME_START: i64 = 3 * 86_400_000_000;

/// Units in which displays report what was applied.
const REPORTED: [&str; 6] = ["L", "gal", "kg", "lb", "seeds", "ksds"];

/// A diagnostic if the rows hold another mass, product or ground than the service reports of the job.
pub(crate) fn other_totals(job: &Job, kind: JobKind, rows: &Rows, added: &[Added]) -> Option<Diagnostic> {
    let mut parts = Vec::new();
    let is_other = |found: f64, reported: f64, limit: f64| found > 0.0 && (found / reported - 1.0).abs() > limit;
    if kind == JobKind::Yield {
        let reported: f64 = job.products.iter().filter_map(|product| product.total_weight).sum();
        let [wet, dry] = ["wet_mass", "dry_mass"].map(|name| sum(added, name).unwrap_or_default());
        // Displays report grain as harvested; a dry total would be nearly the same.
        let is_dry = dry > 0.0 && !is_other(dry, reported, SAME_MASS);
        if reported > 0.0 && is_other(wet, reported, SAME_MASS) && !is_dry {
            parts.push(format!("{reported:.0} kg of grain, but the rows hold {wet:.0} kg"));
        }
    } else if let [product] = job.products.as_slice() {
        let (reported, found) = (product.amount.unwrap_or_default(), sum(added, "amount").unwrap_or_default());
        if let Some((found, unit)) = nearest(found, unit_of(added), reported)
            && is_other(found, reported, SAME_MASS)
        {
            parts.push(format!("{reported:.1} {unit} of product, but the rows hold {found:.1} {unit}"));
        }
    }
    // The products of a mix have one ground.
    let largest = job.products.iter().filter_map(|product| product.area).fold(0.0, f64::max);
    if let (Some(area), Some(worked)) = (job.area, sum(added, "worked_area"))
        && is_other(worked, area, SAME_GROUND)
        && is_other(worked, largest, SAME_GROUND)
    {
        parts.push(format!("{:.2} ha, but the rows work {:.2} ha", area / HECTARE, worked / HECTARE));
    }
    if parts.is_empty() {
        return None;
    }
    let first = rows.times.iter().flatten().flatten().min();
    if let (Some(first), Some(start)) = (first, job.start)
        && first.saturating_sub(start).saturating_abs() > SAME_START
    {
        let day = |micros: i64| DateTime::from_timestamp_micros(micros).map(|time| time.date_naive().to_string());
        let [start, first] = [start, *first].map(|micros| day(micros).unwrap_or_default());
        parts.push(format!("the start on {start}, but the first row is of {first}"));
    }
    let message = format!(
        "the job reports {}: `job` is that of other rows, the layer is a part of its job, or a column or its unit is wrong",
        parts.join(", and ")
    );
    Some(Diagnostic::new(Code::TotalContradicts, message))
}

/// A diagnostic if all rows name another crop than the job.
pub(crate) fn other_crop(job: &Job, added: &[Added]) -> Option<Diagnostic> {
    let named = job.crop.as_deref().and_then(Crop::find)?;
    let column = added.iter().find(|column| column.field.name() == "crop")?;
    let texts = || {
        column.arrays.iter().filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter().flatten())
    };
    let own = texts().next().and_then(Crop::find)?;
    (own != named && texts().all(|text| Crop::find(text) == Some(own))).then(|| {
        let message = format!(
            "the job is of the crop `{}`, but its rows name `{}`: pass the job of these rows, or state the right one as `crop=`",
            named.name, own.name
        );
        Diagnostic::new(Code::CropContradicts, message)
    })
}

/// The sum of a computed column; `None` without one.
fn sum(added: &[Added], name: &str) -> Option<f64> {
    let column = added.iter().find(|column| column.field.name() == name)?;
    let arrays = column.arrays.iter().filter_map(|array| array.as_primitive_opt::<Float64Type>());
    Some(arrays.flat_map(|array| array.iter().flatten()).sum())
}

/// The unit of what was applied.
fn unit_of(added: &[Added]) -> Option<Unit> {
    let amount = added
        .iter()
        .find(|column| column.field.name() == "amount" && column.field.metadata().contains_key(keys::SOURCE));
    Unit::parse(amount?.field.metadata().get("unit")?)
}

/// An amount in the unit in which it is nearest to the reported one, whose unit is that of the display.
fn nearest(found: f64, unit: Option<Unit>, reported: f64) -> Option<(f64, &'static str)> {
    let unit = unit.filter(|_| reported > 0.0 && found > 0.0)?;
    let all = REPORTED.iter().filter_map(|name| Some((found * unit.factor(Unit::parse(name)?, None).ok()?, *name)));
    all.min_by(|a, b| (a.0 / reported).ln().abs().total_cmp(&(b.0 / reported).ln().abs()))
}
