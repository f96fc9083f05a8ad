//! Scales a map to a weighed total.

use std::collections::BTreeSet;

use crate::cleaning::clean_rows::CleanRows;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};

/// Factors that the calibration of a sensor explains.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// Factors of the rows of a map.
pub(crate) struct Factors {
    /// Factor of each row, in the order of the tracks.
    pub(crate) by_row: Vec<f64>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Factors that bring the mass of the map to weighed wet kilograms: of all machines, or of single ones.
///
/// The mass of a machine is the mean rate of its used rows on all the ground that it worked, since the grain of rows that
/// mislead was weighed as well.
pub(crate) fn scale_factors(rows: &CleanRows, totals: &[(Option<i64>, f64)]) -> Result<Factors> {
    let mut factors = Factors { by_row: vec![1.0; rows.passes.number.len()], diagnostics: Vec::new() };
    for (machine, total) in totals {
        if !(*total > 0.0 && total.is_finite()) {
            return Err(invalid(format!("`total`: expected weighed kilograms above 0, got {total}")));
        }
        let Some(kg) = &rows.masses.wet else {
            return Err(invalid(
                "`total`: the layer has no mass to scale; it is no harvest, or logs no flow".to_owned(),
            ));
        };
        let is_own =
            |k: usize| machine.is_none_or(|machine| rows.rows.machines[rows.rows.machine[k] as usize].1 == machine);
        let numbers: BTreeSet<i64> = rows.rows.machines.iter().map(|(_, number)| *number).collect();
        if let Some(machine) = machine.filter(|machine| !numbers.contains(machine)) {
            let known = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(invalid(format!("`total`: the layer has no machine {machine}; it has {known}")));
        }
        let (mut mass, mut rated, mut covered) = (0.0, 0.0, 0.0);
        for k in (0..rows.passes.number.len()).filter(|k| is_own(*k)) {
            covered += rows.ground.coverage.fresh[k];
            if rows.used[k] && rows.has_rate(k) && kg[k].is_finite() {
                mass += kg[k];
                rated += rows.ground.coverage.fresh[k];
            }
        }
        let factor = total / (mass / rated * covered);
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(invalid("`total`: no row has a mass to scale".to_owned()));
        }
        for k in (0..rows.passes.number.len()).filter(|k| is_own(*k)) {
            factors.by_row[k] = factor;
        }
        let of = machine.map_or_else(String::new, |machine| format!(" of machine {machine}"));
        let message = format!(
            "masses{of} are multiplied by {factor:.4}, so that the worked ground holds {total} kg as harvested"
        );
        factors.diagnostics.push(Diagnostic::new(Code::MapScaled, message));
        if !PLAUSIBLE.contains(&factor) {
            let message = format!(
                "`total` is {total} kg, but the rows hold {:.0} kg{of}: it is in kilograms as harvested, not in tonnes, pounds or \
                 bushels",
                total / factor
            );
            factors.diagnostics.push(Diagnostic::new(Code::TotalContradicts, message));
        }
    }
    Ok(factors)
}

fn invalid(message: String) -> Error {
    Error::for_argument("total", message)
}
