//! Generates the log of a combine: grain flow, moisture, and the yield that the display computes.

use super::attributes::{Cells, Table};
use super::deterministic_math::{i64_to_f64, scaled, unscaled};
use super::job_spec::{JobLog, JobSpec, Total};
use super::rng::{Surface, noise, stream, uniform};
use super::swaths::{LoggedPoint, SwathLog};
use super::units::BUSHEL;

/// Decimals of the flow.
pub(super) const FLOW: u8 = 3;

/// Measures the grain flow at each point.
pub(super) fn measure(spec: &JobSpec, swaths: SwathLog) -> JobLog {
    let mut rng = stream(spec.seed, &[3]);
    let radius = spec.field.area.sqrt() / 1.7;
    let season = Surface::new(&mut rng, 5, 0.2, radius);
    let year = uniform(&mut rng, 0.85, 1.15);
    let seconds = unscaled(swaths.cycle, 2);
    let measured = swaths
        .points
        .iter()
        .map(|point| {
            // Grain needs some time from the header to the sensor, so the flow starts and ends late.
            let filling = match point.from_end {
                0 => 0.45,
                1 => 0.85,
                _ => 1.0,
            };
            let fertile = spec.field.soil.value_at(point.location) * season.value_at(point.location);
            let grain = spec.crop.grain * year * fertile * filling * (1.0 + 0.05 * noise(&mut rng));
            let flow = grain.max(0.0) / 10_000.0 * SwathLog::area(point, spec.units) / seconds;
            scaled(flow / spec.units.mass.1, FLOW)
        })
        .collect();
    JobLog { swaths, target: Vec::new(), measured, added: Vec::new(), harvest: None }
}

/// Returns the harvested mass: flow times time.
pub(super) fn total(spec: &JobSpec, log: &JobLog) -> Total {
    let factor = spec.units.mass.1;
    let flows: i64 = log.measured.iter().sum();
    let value = unscaled(flows, FLOW) * unscaled(log.swaths.cycle, 2) * factor;
    Total {
        label: "Harvested mass".into(),
        unit: "kg".into(),
        value,
        factor,
        columns: vec!["FLOW".into(), "CYCLE".into()],
    }
}

/// Adds the columns of a yield job.
pub(super) fn add_columns(spec: &JobSpec, log: &JobLog, table: &mut Table) {
    let JobLog { swaths, measured, .. } = log;
    spec.add_machine_columns(log, table);
    let moisture = log.harvest.as_ref().map_or_else(|| measure_moisture(spec, swaths), |log| log.moisture.clone());
    let header = log
        .harvest
        .as_ref()
        .map_or_else(|| measured.iter().map(|flow| *flow > 0).collect(), |log| log.is_header_down.clone());
    table.add_numbers("MOISTURE", "%", (6, 2), moisture.iter().copied());
    table.add_numbers("FLOW", spec.units.flow, (8, FLOW), measured.iter().map(|flow| Some(*flow)));
    let kilograms = |flow: &i64| unscaled(*flow, FLOW) * spec.units.mass.1 * i64_to_f64(swaths.cycle) / 100.0;
    // Logged rows with the header up, or of a standing machine, have no yield.
    let is_cut = |point: &LoggedPoint, is_down: bool| log.harvest.is_none() || (is_down && point.distance > 0);
    let rows = || {
        let yields = swaths.points.iter().zip(measured).zip(&moisture).zip(&header);
        yields.map(|(((point, flow), moisture), is_down)| (point, flow, moisture.filter(|_| is_cut(point, *is_down))))
    };
    let (unit, litres) = spec.units.grain_rate;
    let kilograms_in_one = spec.crop.bushel / BUSHEL * litres;
    let yields = rows().map(|(point, flow, moisture)| {
        // The display computes no yield without moisture.
        let areas = SwathLog::area(point, spec.units) / spec.units.area.1;
        moisture.map(|_| scaled(kilograms(flow) / kilograms_in_one / areas, 2))
    });
    table.add_numbers("VRYIELDVOL", unit, (8, 2), yields);
    let dry = rows().map(|(point, flow, moisture)| {
        let areas = SwathLog::area(point, spec.units) / spec.units.area.1;
        let share = moisture.map(|moisture| 1.0 - unscaled(moisture, 2) / 100.0)?;
        Some(scaled(kilograms(flow) / spec.units.mass.1 * share / areas, 1))
    });
    table.add_numbers("DRYMATTER", spec.units.mass_rate, (9, 1), dry);
    table.add_column("HEADERDOWN", Cells::Booleans(header));
    table.add_constant("CROP", 16, spec.crop.name);
    table.add_constant("VARIETY", 20, spec.crop.variety);
    table.add_constant("OPERATOR", 12, spec.operator);
}

/// Measures the moisture at each point, in hundredths of a percent.
fn measure_moisture(spec: &JobSpec, swaths: &SwathLog) -> Vec<Option<i64>> {
    let mut rng = spec.secondary_rng();
    swaths
        .points
        .iter()
        .map(|point| {
            let percent = spec.crop.moisture * (2.0 - spec.field.soil.value_at(point.location)).clamp(0.7, 1.3);
            let percent = percent * (1.0 + 0.02 * noise(&mut rng));
            // The sensor has dropouts.
            (rng.u16(..) > 260).then(|| scaled(percent, 2))
        })
        .collect()
}
