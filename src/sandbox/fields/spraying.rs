//! What a sprayer or a spreader logs: the rate that was asked for and the rate that was applied.

use super::attributes::{Cells, Table};
use super::deterministic_math::{real, scaled, unscaled, whole};
use super::job_spec::{Record, Total, Work};
use super::plane::Point;
use super::rng::{between, noise, stream};
use super::swaths::{LENGTH_DECIMALS, Marks};

/// Decimals of rates.
pub(super) const RATE: u8 = 2;

/// The target of each zone of a field, over the usual rate.
const ZONES: [f64; 3] = [0.8, 1.0, 1.15];

/// Measures the rate at every mark.
pub(super) fn record(work: &Work, marks: Marks) -> Record {
    let mut rng = stream(work.seed, &[3]);
    let (target, measured) = marks
        .list
        .iter()
        .map(|mark| {
            let target = target(work, mark.place);
            // The controller needs a moment to find the rate after a turn.
            let lag = if mark.from_end == 0 { 0.93 } else { 1.0 };
            (target, whole(real(target) * lag * (1.0 + 0.02 * noise(&mut rng))))
        })
        .unzip();
    Record { marks, target, measured }
}

/// The rate that is asked for at a place, in hundredths.
pub(super) fn target(work: &Work, place: Point) -> i64 {
    // Litres or kilograms a hectare.
    let usual = if work.dry { 180.0 } else { 140.0 };
    let rate = usual / in_one(work) * work.units.area.1 / 10_000.0;
    scaled(rate * work.field.zone(place, ZONES), 1) * 10
}

/// Litres or kilograms in one of the display's units.
const fn in_one(work: &Work) -> f64 {
    if work.dry { work.units.mass.1 } else { work.units.volume.1 }
}

/// What was applied: rate times area, in the unit of the display.
pub(super) fn total(work: &Work, record: &Record) -> Total {
    let metre = work.units.length.1;
    let factor = metre * metre / work.units.area.1;
    let marks = &record.marks;
    let products: i64 = record.measured.iter().zip(&marks.list).map(|(rate, mark)| rate * mark.distance).sum();
    let value = unscaled(products, RATE + LENGTH_DECIMALS) * unscaled(marks.swath, LENGTH_DECIMALS) * factor;
    let (label, unit) =
        if work.dry { ("Applied mass", work.units.mass.0) } else { ("Applied volume", work.units.volume.0) };
    let columns = ["APPLDRATE", "SWATHWIDTH", "DISTANCE"].map(String::from).to_vec();
    Total { label: label.into(), unit: unit.into(), value, factor, columns }
}

/// Adds the columns of an as-applied job.
pub(super) fn columns(work: &Work, record: &Record, table: &mut Table) {
    let mut rng = work.side_stream();
    work.place_columns(record, table);
    let unit = if work.dry { work.units.mass_rate } else { work.units.volume_rate };
    // Where the operator drives by hand there is no target.
    let targets = record.target.iter().map(|rate| (rng.u16(..) > 260).then_some(*rate));
    table.numbers("TARGETRATE", unit, (9, RATE), targets);
    table.numbers("APPLDRATE", unit, (9, RATE), record.measured.iter().map(|rate| Some(*rate)));
    let marks = &record.marks;
    if !work.dry {
        let (unit, kilopascals) = work.units.pressure;
        let pressures = marks.list.iter().map(|mark| {
            let pressure = 55.0 * marks.speed(mark, work.units) * (1.0 + 0.03 * noise(&mut rng));
            Some(scaled(pressure / kilopascals, 1))
        });
        table.numbers("PRESSURE", unit, (7, 1), pressures);
    }
    let (wind, warmth) = (between(&mut rng, 1.5, 5.0), between(&mut rng, 14.0, 24.0));
    let (unit, metres_a_second) = work.units.speed;
    let winds = marks.list.iter().map(|mark| Some(scaled(wind * (1.0 + mark.seconds / 40_000.0) / metres_a_second, 1)));
    table.numbers("WINDSPEED", unit, (5, 1), winds);
    let temperatures = marks.list.iter().map(|mark| Some(scaled(warmth + mark.seconds / 3600.0, 1)));
    table.numbers("AIRTEMP", "degC", (5, 1), temperatures);
    table.other("BOOMON", Cells::Truths(record.measured.iter().map(|rate| *rate > 0).collect()));
    table.word("PRODUCT", 24, work.product);
    table.word("OPERATOR", 12, work.operator);
}
