//! What a combine logs: the flow of grain, its moisture, and the yield that the display makes of them.

use super::attributes::{Cells, Table};
use super::deterministic_math::{real, scaled, unscaled};
use super::job_spec::{Record, Total, Work};
use super::rng::{Surface, between, noise, stream};
use super::swaths::Marks;
use super::units::BUSHEL;

/// Decimals of the flow.
const FLOW: u8 = 3;

/// Measures the flow of grain at every mark.
pub(super) fn record(work: &Work, marks: Marks) -> Record {
    let mut rng = stream(work.seed, &[3]);
    let radius = work.field.area.sqrt() / 1.7;
    let season = Surface::new(&mut rng, 5, 0.2, radius);
    let year = between(&mut rng, 0.85, 1.15);
    let seconds = unscaled(marks.cycle, 2);
    let measured = marks
        .list
        .iter()
        .map(|mark| {
            // Grain takes a moment from the header to the sensor, and flows on for a moment after the last stalk.
            let filling = match mark.from_end {
                0 => 0.45,
                1 => 0.85,
                _ => 1.0,
            };
            let fertile = work.field.soil.at(mark.place) * season.at(mark.place);
            let grain = work.crop.grain * year * fertile * filling * (1.0 + 0.05 * noise(&mut rng));
            let flow = grain.max(0.0) / 10_000.0 * marks.area(mark, work.units) / seconds;
            scaled(flow / work.units.mass.1, FLOW)
        })
        .collect();
    Record { marks, target: Vec::new(), measured }
}

/// The harvested mass: flow times time.
pub(super) fn total(work: &Work, record: &Record) -> Total {
    let factor = work.units.mass.1;
    let flows: i64 = record.measured.iter().sum();
    let value = unscaled(flows, FLOW) * unscaled(record.marks.cycle, 2) * factor;
    Total {
        label: "Harvested mass".into(),
        unit: "kg".into(),
        value,
        factor,
        columns: vec!["FLOW".into(), "CYCLE".into()],
    }
}

/// Adds the columns of a yield job.
pub(super) fn columns(work: &Work, record: &Record, table: &mut Table) {
    let Record { marks, measured, .. } = record;
    let mut rng = work.side_stream();
    work.place_columns(record, table);
    let moisture: Vec<Option<i64>> = marks
        .list
        .iter()
        .map(|mark| {
            let percent = work.crop.moisture * (2.0 - work.field.soil.at(mark.place)).clamp(0.7, 1.3);
            let percent = percent * (1.0 + 0.02 * noise(&mut rng));
            // The sensor drops out now and then.
            (rng.u16(..) > 260).then(|| scaled(percent, 2))
        })
        .collect();
    table.numbers("MOISTURE", "%", (6, 2), moisture.iter().copied());
    table.numbers("FLOW", work.units.flow, (8, FLOW), measured.iter().map(|flow| Some(*flow)));
    let kilograms = |flow: &i64| unscaled(*flow, FLOW) * work.units.mass.1 * real(marks.cycle) / 100.0;
    let rows = || marks.list.iter().zip(measured).zip(&moisture);
    let (unit, litres) = work.units.grain_rate;
    let kilograms_in_one = work.crop.bushel / BUSHEL * litres;
    let yields = rows().map(|((mark, flow), moisture)| {
        // The display makes no yield without a moisture.
        let areas = marks.area(mark, work.units) / work.units.area.1;
        moisture.map(|_| scaled(kilograms(flow) / kilograms_in_one / areas, 2))
    });
    table.numbers("VRYIELDVOL", unit, (8, 2), yields);
    let dry = rows().map(|((mark, flow), moisture)| {
        let areas = marks.area(mark, work.units) / work.units.area.1;
        let share = moisture.map(|moisture| 1.0 - unscaled(moisture, 2) / 100.0)?;
        Some(scaled(kilograms(flow) / work.units.mass.1 * share / areas, 1))
    });
    table.numbers("DRYMATTER", work.units.mass_rate, (9, 1), dry);
    table.other("HEADERDOWN", Cells::Truths(measured.iter().map(|flow| *flow > 0).collect()));
    table.word("CROP", 16, work.crop.name);
    table.word("VARIETY", 20, work.crop.variety);
    table.word("OPERATOR", 12, work.operator);
}
