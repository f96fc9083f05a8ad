//! What a planter logs: the population of seeds, how well they were singled, and the force on the row units.

use super::attributes::{Cells, Table};
use super::deterministic_math::{real, scaled, unscaled, whole};
use super::job_spec::{Record, Total, Work};
use super::plane::Point;
use super::rng::{noise, stream};
use super::swaths::{LENGTH_DECIMALS, Marks};

/// The target of each zone of a field, over the usual population.
const ZONES: [f64; 3] = [0.88, 1.0, 1.08];

/// Measures the population at every mark.
pub(super) fn record(work: &Work, marks: Marks) -> Record {
    let mut rng = stream(work.seed, &[3]);
    let (target, measured) = marks
        .list
        .iter()
        .map(|mark| {
            let target = target(work, mark.place);
            (target, whole(real(target) * (0.985 + 0.012 * noise(&mut rng))))
        })
        .unzip();
    Record { marks, target, measured }
}

/// The population that is asked for at a place; prescriptions are written in hundreds of seeds.
pub(super) fn target(work: &Work, place: Point) -> i64 {
    let seeds = work.crop.seeds / 10_000.0 * work.units.area.1;
    whole(seeds * work.field.zone(place, ZONES) / 100.0) * 100
}

/// The planted seeds: population times area.
pub(super) fn total(work: &Work, record: &Record) -> Total {
    let metre = work.units.length.1;
    let factor = metre * metre / work.units.area.1;
    let marks = &record.marks;
    let products: i64 = record.measured.iter().zip(&marks.list).map(|(seeds, mark)| seeds * mark.distance).sum();
    let value = unscaled(products, LENGTH_DECIMALS) * unscaled(marks.swath, LENGTH_DECIMALS) * factor;
    let columns = ["POPULATION", "SWATHWIDTH", "DISTANCE"].map(String::from).to_vec();
    Total { label: "Planted seeds".into(), unit: "seeds".into(), value, factor, columns }
}

/// Adds the columns of a planter job.
pub(super) fn columns(work: &Work, record: &Record, table: &mut Table) {
    let mut rng = work.side_stream();
    work.place_columns(record, table);
    let rows = || record.marks.list.iter();
    let unit = work.units.population;
    let targets = record.target.iter().map(|seeds| (rng.u16(..) > 200).then_some(*seeds));
    table.numbers("TARGETPOP", unit, (9, 0), targets);
    table.numbers("POPULATION", unit, (9, 0), record.measured.iter().map(|seeds| Some(*seeds)));
    let singled: Vec<i64> = rows().map(|_| scaled(98.4 + 0.4 * noise(&mut rng), 2)).collect();
    let doubles: Vec<i64> = singled.iter().map(|singled| whole(real(10_000 - singled) * rng.f64())).collect();
    table.numbers("SINGULATN", "%", (6, 2), singled.iter().map(|value| Some(*value)));
    table.numbers("DOUBLES", "%", (6, 2), doubles.iter().map(|value| Some(*value)));
    let skips = singled.iter().zip(&doubles).map(|(singled, doubles)| Some(10_000 - singled - doubles));
    table.numbers("SKIPS", "%", (6, 2), skips);
    let force = rows().map(|mark| {
        let kilograms = 70.0 * work.field.relief.at(mark.place) + 6.0 * noise(&mut rng);
        (rng.u8(..) > 0).then(|| scaled(kilograms / work.units.mass.1, 1))
    });
    table.numbers("DOWNFORCE", work.units.mass.0, (7, 1), force);
    table.other("CLUTCHON", Cells::Truths(rows().map(|_| true).collect()));
    table.word("CROP", 16, work.crop.name);
    table.word("VARIETY", 20, work.crop.variety);
    table.word("OPERATOR", 12, work.operator);
}
