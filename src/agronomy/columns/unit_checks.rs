//! Compares stated units with positions, times, polygons, the totals of the job, the mass, and each other.

use crate::columns::canonical::YIELDS;
use crate::columns::crops::Crop;
use crate::columns::matching::{Match, values};
use crate::columns::row_ratios::{Ratio, median, thinned};
use crate::columns::statements::Job;
use crate::columns::unit_proofs::{Columns, prove_lengths, prove_named, prove_speed, quotient, unit};
use crate::times::context::RowTimes;
use headland_base::error::Result;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::Unit;

/// Rows on which stated units are compared.
const CHECKED_ROWS: usize = 5_000;

/// Metres that no machine is wide.
const TOO_WIDE: f64 = 80.0;

/// A target and an applied rate that are further apart are in different units.
const RATES: std::ops::RangeInclusive<f64> = 0.02..=50.0;

/// Reports stated units that the rows contradict. Each is proven as if nothing stated it, on the first rows.
pub(crate) fn check_units(
    layer: &Layer,
    matches: &[Match],
    times: Option<&RowTimes>,
    crop: Option<&Crop>,
    job: &Job,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let head = layer.head(CHECKED_ROWS);
    let first_times = times.map(|times| times.head(CHECKED_ROWS));
    let mut columns = Columns::read(&head, matches, first_times.as_ref());
    for name in ["interval", "distance", "swath_width", "speed"] {
        // Only all rows sum to the area of the job.
        if name == "swath_width" && job.area.is_some() {
            check_length(&mut Columns::read(layer, matches, times), name, matches, job, diagnostics)?;
        } else {
            check_length(&mut columns, name, matches, job, diagnostics)?;
        }
    }
    check_width(&head, matches, diagnostics);
    check_mass(&mut columns, matches, crop, diagnostics);
    check_target(&head, matches, diagnostics);
    Ok(())
}

/// A distance against positions, an interval against times, a width against polygons and the area of the job, and a speed
/// against distance and interval.
fn check_length(
    columns: &mut Columns<'_>,
    name: &str,
    matches: &[Match],
    job: &Job,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let Some((found, stated)) =
        matches.iter().find_map(|found| Some((found, found.unit.filter(|_| found.canonical == name)?)))
    else {
        return Ok(());
    };
    let mut open = matches.to_vec();
    open.iter_mut().filter(|found| found.canonical == name).for_each(|found| found.unit = None);
    columns.state_interval(&mut open);
    prove_lengths(&mut open, columns, job)?;
    prove_speed(&mut open, columns);
    let proven = open.iter().find(|found| found.canonical == name);
    if let Some((proven, evidence)) = proven.and_then(|proven| proven.unit.zip(proven.evidence.as_deref()))
        && proven != stated
    {
        let column = column_name(columns.layer, found);
        let message = format!(
            "column `{column}` is stated in {stated}, but the rows show {proven} ({evidence}); if they are right, pass \
             `units={{\"{column}\": \"{proven}\"}}`"
        );
        diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
    }
    Ok(())
}

/// A width that no machine has.
fn check_width(layer: &Layer, matches: &[Match], diagnostics: &mut Vec<Diagnostic>) {
    let Some(found) = matches.iter().find(|found| found.canonical == "swath_width") else { return };
    let Some(factor) = found.unit.and_then(|unit| unit.factor(Unit::parse("m")?, None).ok()) else { return };
    let widths = values(layer, found).into_iter().filter(|width| *width > 0.0);
    let usual = median(widths.collect()) * factor;
    if usual > TOO_WIDE {
        let column = column_name(layer, found);
        let message = format!(
            "column `{column}` is stated in {}, which makes machines {usual:.0} m wide; pass its unit, such as \
             `units={{\"{column}\": \"mm\"}}`",
            found.unit.map(|unit| unit.to_string()).unwrap_or_default()
        );
        diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
    }
}

/// A yield times the ground of its row against the mass that the flow or another column gives, where all are stated.
fn check_mass(columns: &mut Columns<'_>, matches: &[Match], crop: Option<&Crop>, diagnostics: &mut Vec<Diagnostic>) {
    let is_stated = |name: &&str| unit(matches, name).is_some();
    if !["flow", "distance", "swath_width"].iter().all(is_stated) {
        return;
    }
    let mut matches = matches.to_vec();
    columns.state_interval(&mut matches);
    for name in YIELDS.iter().filter(|name| **name != "yield").filter(|name| unit(&matches, name).is_some()) {
        let before = diagnostics.len();
        prove_named(name, columns, crop, false, &mut matches.clone(), diagnostics);
        // One column is enough to say it.
        if diagnostics.len() > before {
            return;
        }
    }
}

/// A target rate against the applied one.
fn check_target(layer: &Layer, matches: &[Match], diagnostics: &mut Vec<Diagnostic>) {
    let column = |name: &str| matches.iter().find(|found| found.canonical == name);
    let (Some(target), Some(applied)) = (column("target_rate"), column("applied_rate")) else { return };
    let Some(factor) = target.unit.zip(applied.unit).and_then(|(from, to)| from.factor(to, None).ok()) else { return };
    let (targets, rates) = (values(layer, target), values(layer, applied));
    let ratios = thinned(&Ratio { columns: &[&rates, &targets], moisture: None }, |row, _| quotient(row));
    let usual = median(ratios) / factor;
    if usual.is_finite() && !RATES.contains(&usual) {
        let message = format!(
            "the applied rate `{}` is {usual:.3} times the target `{}` in the median row, so one of their units is wrong; \
             pass `units=` for it",
            column_name(layer, applied),
            column_name(layer, target)
        );
        diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
    }
}

fn column_name(layer: &Layer, found: &Match) -> String {
    layer.schema().field(found.column).name().clone()
}
