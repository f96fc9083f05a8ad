//! The table of rate steps: what was applied for each rate that was asked for, and how fast the machine reached it.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray};
use arrow_schema::DataType;

use super::causes::is_step;
use super::choose_targets::Targets;
use super::classes::Class;
use super::classes::Compared;
use super::part::{Part, products};
use super::rate_target::{RateUnit, Target};
use crate::columns::added::field;
use crate::columns::cell_values::nullable;
use crate::columns::derived::HECTARE;
use crate::columns::row_ratios::median;
use headland_base::error::Result;
use headland_reader::layer::Layer;

/// Rates of a table; of more different ones, those that agree in fewer digits are one.
const MOST_RATES: usize = 40;

/// Rows with one target.
#[derive(Default)]
struct Step {
    rows: i64,
    ground: f64,
    /// Sums of ground times target, rate and squared deviation from the target.
    target: f64,
    rate: f64,
    squares: f64,
    changes: i64,
    /// Seconds from a change of the target to the first row within the tolerance.
    settling: Vec<f64>,
}

/// The steps of all targets and products.
pub(super) fn steps(
    layer: &Layer,
    unit: &RateUnit,
    parts: &[Part],
    targets: &Targets,
    compared: &[Compared],
    applied: &[f64],
    tolerance: f64,
) -> Result<Layer> {
    let mut lines: Vec<(String, String, Step)> = Vec::new();
    for (target, found) in targets.all.iter().zip(compared) {
        for product in products(parts) {
            let own: Vec<&Part> = parts.iter().filter(|part| part.product == product).collect();
            for step in steps_of(&own, target, found, applied, tolerance) {
                lines.push((target.name.clone(), product.to_owned(), step));
            }
        }
    }
    let numbers = |pick: &dyn Fn(&Step) -> f64| nullable(lines.iter().map(|(_, _, step)| pick(step)));
    let integers = |pick: &dyn Fn(&Step) -> i64| -> ArrayRef {
        Arc::new(lines.iter().map(|(_, _, step)| Some(pick(step))).collect::<Int64Array>())
    };
    let texts = |cells: LargeStringArray| -> ArrayRef { Arc::new(cells) };
    let number = |name, unit: &str| field(name, DataType::Float64, unit);
    let count = |name| field(name, DataType::Int64, "");
    let settled = |step: &Step| i64::try_from(step.settling.len()).unwrap_or(i64::MAX);
    let columns = vec![
        (field("target", DataType::LargeUtf8, ""), texts(lines.iter().map(|(name, ..)| Some(name.as_str())).collect())),
        (
            field("product", DataType::LargeUtf8, ""),
            texts(lines.iter().map(|(_, name, _)| Some(name.as_str()).filter(|name| !name.is_empty())).collect()),
        ),
        (number("target_rate", &unit.per_ha), numbers(&|step| step.target / step.ground)),
        (number("mean", &unit.per_ha), numbers(&|step| step.rate / step.ground)),
        (number("sd", &unit.per_ha), numbers(&|step| deviation(step))),
        (number("ha", "ha"), numbers(&|step| step.ground / HECTARE)),
        (count("rows"), integers(&|step| step.rows)),
        (count("changes"), integers(&|step| step.changes)),
        (count("settled"), integers(&settled)),
        (number("settling_time", "s"), numbers(&|step| median(step.settling.clone()))),
    ];
    Layer::from_columns(layer.name(), layer.source(), columns)
}

/// Standard deviation of the rate, weighted by ground. The deviations are those from the target, so that they lose no digits.
fn deviation(step: &Step) -> f64 {
    let mean = (step.rate - step.target) / step.ground;
    (step.squares / step.ground - mean * mean).max(0.0).sqrt()
}

fn steps_of(parts: &[&Part], target: &Target, found: &Compared, applied: &[f64], tolerance: f64) -> Vec<Step> {
    let is_rated = |row: usize| found.class[row].is_some_and(Class::is_rated);
    let rows = || parts.iter().flat_map(|part| part.rows().iter().copied().filter(|row| is_rated(*row)));
    let digits = (1..=4).rev().find(|digits| distinct(rows().map(|row| target.rates[row]), *digits) <= MOST_RATES);
    let digits = digits.unwrap_or(1);
    let mut keys: Vec<u64> = rows().map(|row| rounded(target.rates[row], digits).to_bits()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut steps: Vec<Step> = keys.iter().map(|_| Step::default()).collect();
    let place = |rate: f64| keys.binary_search(&rounded(rate, digits).to_bits()).ok();
    for part in parts {
        for (k, row) in part.rows().iter().copied().enumerate().filter(|(_, row)| is_rated(*row)) {
            let Some(step) = place(target.rates[row]).and_then(|place| steps.get_mut(place)) else { continue };
            let (ground, rate) = (part.ground(k), target.rates[row]);
            step.rows += 1;
            step.ground += ground;
            step.target += ground * rate;
            step.rate += ground * applied[row];
            step.squares += ground * (applied[row] - rate).powi(2);
        }
        settle(part, target, found, tolerance, |rate, seconds| {
            if let Some(step) = place(rate).and_then(|place| steps.get_mut(place)) {
                step.changes += 1;
                step.settling.extend(seconds);
            }
        });
    }
    steps
}

/// Passes each change of the target within a pass, and the seconds until the rate is first within the tolerance; none if the
/// target changes again or the pass ends before.
fn settle(part: &Part, target: &Target, found: &Compared, tolerance: f64, mut visit: impl FnMut(f64, Option<f64>)) {
    let clean = part.clean();
    let (rows, pass) = (&clean.rows, &clean.passes.number);
    let rate = |k: usize| target.rates[rows.row[k]];
    for track in &rows.tracks {
        let used: Vec<usize> = track.clone().filter(|k| pass[*k] > 0 && part.counts(*k)).collect();
        for (place, pair) in used.windows(2).enumerate() {
            let (before, first) = (pair[0], pair[1]);
            let is_change = pass[before] == pass[first] && rate(first) > 0.0 && is_step(rate(before), rate(first));
            if !is_change {
                continue;
            }
            let is_steady = |k: &usize| pass[*k] == pass[first] && (rate(*k) / rate(first) - 1.0).abs() <= tolerance;
            let mut later = used[place + 1..].iter().copied().take_while(is_steady);
            let settled = later.find(|k| found.class[rows.row[*k]] == Some(Class::Within));
            visit(rate(first), settled.map(|k| rows.time[k] - rows.time[first]));
        }
    }
}

/// Number of different rates that agree in some digits.
fn distinct(rates: impl Iterator<Item = f64>, digits: i32) -> usize {
    let mut rounded: Vec<u64> = rates.map(|rate| rounded(rate, digits).to_bits()).collect();
    rounded.sort_unstable();
    rounded.dedup();
    rounded.len()
}

/// A rate above 0 with some significant digits.
fn rounded(rate: f64, digits: i32) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a rate")]
    let exponent = rate.log10().floor() as i32;
    let scale = 10_f64.powi(digits - 1 - exponent);
    (rate * scale).round() / scale
}
