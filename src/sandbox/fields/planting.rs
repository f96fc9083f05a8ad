//! Generates the log of a planter: seed population, singulation, and downforce of the row units.

use super::attributes::{Cells, Table};
use super::deterministic_math::{i64_to_f64, round_to_i64, scaled, unscaled};
use super::job_spec::{JobLog, JobSpec, Total};
use super::plane::Point;
use super::rng::{noise, stream};
use super::swaths::{LENGTH_DECIMALS, SwathLog};

/// Target of each zone relative to the usual population.
const ZONES: [f64; 3] = [0.88, 1.0, 1.08];

/// Measures the population at each point.
pub(super) fn measure(spec: &JobSpec, swaths: SwathLog) -> JobLog {
    let mut rng = stream(spec.seed, &[3]);
    let (target, measured) = swaths
        .points
        .iter()
        .map(|point| {
            let target = target(spec, point.location);
            (target, round_to_i64(i64_to_f64(target) * (0.985 + 0.012 * noise(&mut rng))))
        })
        .unzip();
    JobLog { swaths, target, measured, added: Vec::new(), harvest: None }
}

/// Returns the target population at a location, in hundreds of seeds as in prescriptions.
pub(super) fn target(spec: &JobSpec, location: Point) -> i64 {
    let seeds = spec.crop.seeds / 10_000.0 * spec.units.area.1;
    round_to_i64(seeds * spec.field.zone_value(location, ZONES) / 100.0) * 100
}

/// Returns the planted seeds: population times area.
pub(super) fn total(spec: &JobSpec, log: &JobLog) -> Total {
    let metre = spec.units.length.1;
    let factor = metre * metre / spec.units.area.1;
    let swaths = &log.swaths;
    let products: i64 = log.measured.iter().zip(&swaths.points).map(|(seeds, point)| seeds * point.distance).sum();
    let value = unscaled(products, LENGTH_DECIMALS) * unscaled(swaths.swath, LENGTH_DECIMALS) * factor;
    let columns = ["POPULATION", "SWATHWIDTH", "DISTANCE"].map(String::from).to_vec();
    Total { label: "Planted seeds".into(), unit: "seeds".into(), value, factor, columns }
}

/// Adds the columns of a planter job.
pub(super) fn add_columns(spec: &JobSpec, log: &JobLog, table: &mut Table) {
    let mut rng = spec.secondary_rng();
    spec.add_machine_columns(log, table);
    let rows = || log.swaths.points.iter();
    let unit = spec.units.population;
    let targets = log.target.iter().map(|seeds| (rng.u16(..) > 200).then_some(*seeds));
    table.add_numbers("TARGETPOP", unit, (9, 0), targets);
    table.add_numbers("POPULATION", unit, (9, 0), log.measured.iter().map(|seeds| Some(*seeds)));
    let singled: Vec<i64> = rows().map(|_| scaled(98.4 + 0.4 * noise(&mut rng), 2)).collect();
    let doubles: Vec<i64> =
        singled.iter().map(|singled| round_to_i64(i64_to_f64(10_000 - singled) * rng.f64())).collect();
    table.add_numbers("SINGULATN", "%", (6, 2), singled.iter().map(|value| Some(*value)));
    table.add_numbers("DOUBLES", "%", (6, 2), doubles.iter().map(|value| Some(*value)));
    let skips = singled.iter().zip(&doubles).map(|(singled, doubles)| Some(10_000 - singled - doubles));
    table.add_numbers("SKIPS", "%", (6, 2), skips);
    let force = rows().map(|point| {
        let kilograms = 70.0 * spec.field.relief.value_at(point.location) + 6.0 * noise(&mut rng);
        (rng.u8(..) > 0).then(|| scaled(kilograms / spec.units.mass.1, 1))
    });
    table.add_numbers("DOWNFORCE", spec.units.mass.0, (7, 1), force);
    table.add_column("CLUTCHON", Cells::Booleans(rows().map(|_| true).collect()));
    table.add_constant("CROP", 16, spec.crop.name);
    table.add_constant("VARIETY", 20, spec.crop.variety);
    table.add_constant("OPERATOR", 12, spec.operator);
}
