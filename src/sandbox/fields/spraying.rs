//! Generates the log of a sprayer or spreader: target rate and applied rate.

use super::attributes::{Cells, Table};
use super::deterministic_math::{i64_to_f64, round_to_i64, scaled, unscaled};
use super::job_spec::{JobLog, JobSpec, ProductTotal, Total};
use super::plane::Point;
use super::product_rates::{RATE, ZONES};
use super::rng::{noise, stream, uniform};
use super::swaths::{LENGTH_DECIMALS, SwathLog};
use super::tank_mix;

/// Measures the rate at each point.
pub(super) fn measure(spec: &JobSpec, swaths: SwathLog) -> JobLog {
    let mut rng = stream(spec.seed, &[3]);
    let (target, measured) = swaths
        .points
        .iter()
        .map(|point| {
            let target = target(spec, point.location);
            // The controller needs some time to reach the rate after a turn.
            let lag = if point.from_end == 0 { 0.93 } else { 1.0 };
            (target, round_to_i64(i64_to_f64(target) * lag * (1.0 + 0.02 * noise(&mut rng))))
        })
        .unzip();
    let added = tank_mix::measure(spec, &swaths);
    JobLog { swaths, target, measured, added, harvest: None }
}

/// Returns the target rate at a location, in hundredths.
pub(super) fn target(spec: &JobSpec, location: Point) -> i64 {
    // Litres or kilograms per hectare.
    let usual = if spec.is_dry { 180.0 } else { 140.0 };
    let rate = usual / in_one(spec) * spec.units.area.1 / 10_000.0;
    scaled(rate * spec.field.zone_value(location, ZONES), 1) * 10
}

/// Litres or kilograms per unit of the display.
const fn in_one(spec: &JobSpec) -> f64 {
    if spec.is_dry { spec.units.mass.1 } else { spec.units.volume.1 }
}

/// Returns the applied amount of all products: rate times area, in the unit of the display.
pub(super) fn total(spec: &JobSpec, log: &JobLog) -> Total {
    let rates = log.added.iter().fold(rate_by_length(log, &log.measured), |sum, product| {
        sum.saturating_add(rate_by_length(log, &product.measured))
    });
    let value = amount(spec, log, rates);
    let factor = area_factor(spec);
    let (label, unit) =
        if spec.is_dry { ("Applied mass", spec.units.mass.0) } else { ("Applied volume", spec.units.volume.0) };
    let columns = ["APPLDRATE", "SWATHWIDTH", "DISTANCE"].map(String::from).to_vec();
    Total { label: label.into(), unit: unit.into(), value, factor, columns }
}

/// Returns the applied amount of each product.
pub(super) fn product_totals(spec: &JobSpec, log: &JobLog) -> Vec<ProductTotal> {
    let unit = if spec.is_dry { spec.units.mass.0 } else { spec.units.volume.0 };
    let added = log.added.iter().map(|product| (product.name, &product.measured));
    std::iter::once((spec.product, &log.measured))
        .chain(added)
        .map(|(name, rates)| {
            let value = amount(spec, log, rate_by_length(log, rates));
            ProductTotal { name: name.to_owned(), unit: unit.to_owned(), value }
        })
        .collect()
}

/// Areas of the display's unit per square of its length unit.
fn area_factor(spec: &JobSpec) -> f64 {
    let metre = spec.units.length.1;
    metre * metre / spec.units.area.1
}

/// Returns the exact sum of rates times lengths.
fn rate_by_length(log: &JobLog, rates: &[i64]) -> i64 {
    rates.iter().zip(&log.swaths.points).map(|(rate, point)| rate * point.distance).sum()
}

fn amount(spec: &JobSpec, log: &JobLog, rate_by_length: i64) -> f64 {
    let swath = unscaled(log.swaths.swath, LENGTH_DECIMALS);
    unscaled(rate_by_length, RATE + LENGTH_DECIMALS) * swath * area_factor(spec)
}

/// Adds the columns of an as-applied job.
pub(super) fn add_columns(spec: &JobSpec, log: &JobLog, table: &mut Table) {
    let mut rng = spec.secondary_rng();
    spec.add_machine_columns(log, table);
    let unit = if spec.is_dry { spec.units.mass_rate } else { spec.units.volume_rate };
    // In manual mode there is no target.
    let targets = log.target.iter().map(|rate| (rng.u16(..) > 260).then_some(*rate));
    table.add_numbers("TARGETRATE", unit, (9, RATE), targets);
    table.add_numbers("APPLDRATE", unit, (9, RATE), log.measured.iter().map(|rate| Some(*rate)));
    let swaths = &log.swaths;
    if !spec.is_dry {
        let (unit, kilopascals) = spec.units.pressure;
        let pressures = swaths.points.iter().map(|point| {
            let pressure = 55.0 * swaths.speed(point, spec.units) * (1.0 + 0.03 * noise(&mut rng));
            Some(scaled(pressure / kilopascals, 1))
        });
        table.add_numbers("PRESSURE", unit, (7, 1), pressures);
    }
    let (wind, warmth) = (uniform(&mut rng, 1.5, 5.0), uniform(&mut rng, 14.0, 24.0));
    let (unit, metres_a_second) = spec.units.speed;
    let winds =
        swaths.points.iter().map(|point| Some(scaled(wind * (1.0 + point.seconds / 40_000.0) / metres_a_second, 1)));
    table.add_numbers("WINDSPEED", unit, (5, 1), winds);
    let temperatures = swaths.points.iter().map(|point| Some(scaled(warmth + point.seconds / 3600.0, 1)));
    table.add_numbers("AIRTEMP", "degC", (5, 1), temperatures);
    table.add_column("BOOMON", Cells::Booleans(log.measured.iter().map(|rate| *rate > 0).collect()));
    table.add_constant("PRODUCT", 24, spec.product);
    table.add_constant("OPERATOR", 12, spec.operator);
}
