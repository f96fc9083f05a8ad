//! Proves units in steps: positions, totals of the job, polygons, then the yield.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::columns::canonical::{DRY_YIELD, WET_YIELD, YIELDS};
use crate::columns::crops::Crop;
use crate::columns::derived::Rows;
use crate::columns::matching::{self, Match};
use crate::columns::row_ratios::{Ratio, thinned};
use crate::columns::statements::Job;
use crate::columns::unit_inference::{Candidates, Harvest, Proven, nearest, prove_yield};
use crate::rows::intervals::clock_intervals;
use crate::rows::layer_order::positions;
use crate::times::context::RowTimes;
use headland_base::error::Result;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, Unit};

/// The widths in metres that machines work.
const WIDTHS: std::ops::RangeInclusive<f64> = 1.0..=60.0;

/// Units of a distance and a width.
const LENGTHS: &[&str] = &["in", "ft", "m", "cm", "mm"];

/// Original columns by canonical name, in their own units.
pub(crate) struct Columns<'a> {
    pub(crate) layer: &'a Layer,
    times: Option<&'a RowTimes>,
    values: HashMap<&'static str, Vec<f64>>,
    /// Seconds by the clock, without and with the distances: several proofs need them.
    by_time: [OnceCell<Option<Vec<f64>>>; 2],
    /// In seconds.
    pub(crate) interval: Option<Vec<f64>>,
}

/// States the units of `matches` that can be proven. [`name_yields`] comes before it.
pub(crate) fn prove_units(
    layer: &Layer,
    matches: &mut Vec<Match>,
    times: Option<&RowTimes>,
    crop: Option<&Crop>,
    job: &Job,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Proven> {
    let proven = prove(layer, matches, times, crop, job, diagnostics)?;
    name_yields(matches);
    name_open_yields(layer, matches, diagnostics);
    Ok(proven)
}

/// Names a wet or dry yield by its unit, unless another column is that already.
pub(crate) fn name_yields(matches: &mut [Match]) {
    for index in 0..matches.len() {
        let Some(found) = matches.get(index) else { continue };
        let name = match (found.canonical, found.unit.map(|unit| unit.quantity().0)) {
            (WET_YIELD, Some(Quantity::Mass)) => "yield_wet_mass",
            (WET_YIELD, Some(_)) => "yield_wet_volume",
            (DRY_YIELD, Some(Quantity::Mass)) => "yield_dry_mass",
            (DRY_YIELD, Some(_)) => "yield_dry_volume",
            _ => continue,
        };
        if !has(matches, name)
            && let Some(found) = matches.get_mut(index)
        {
            found.canonical = name;
        }
    }
}

/// A wet or dry yield that has no name by its unit is a yield as stated, or is not used.
fn name_open_yields(layer: &Layer, matches: &mut Vec<Match>, diagnostics: &mut Vec<Diagnostic>) {
    while let Some(index) = matches.iter().position(|found| [WET_YIELD, DRY_YIELD].contains(&found.canonical)) {
        if !has(matches, "yield") {
            matches.iter_mut().skip(index).take(1).for_each(|found| found.canonical = "yield");
            continue;
        }
        let found = matches.remove(index);
        let (schema, name) = (layer.schema(), found.canonical);
        let message = format!(
            "column `{}` is not used: its unit is unknown, or another column is its {name}",
            schema.field(found.column).name()
        );
        diagnostics.push(Diagnostic::new(Code::ColumnNotUsed, message));
    }
}

fn prove(
    layer: &Layer,
    matches: &mut [Match],
    times: Option<&RowTimes>,
    crop: Option<&Crop>,
    job: &Job,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Proven> {
    let is_open = |name: &&str| matches.iter().any(|found| found.canonical == *name && found.unit.is_none());
    let open_lengths = ["interval", "distance", "swath_width", "speed", "flow"].iter().any(is_open);
    let open_yields: Vec<&'static str> = YIELDS
        .iter()
        .copied()
        .filter(|name| has(matches, name) && (open_lengths || is_open(name) || *name == "yield"))
        .collect();
    if !open_lengths && open_yields.is_empty() {
        return Ok(Proven::default());
    }
    let mut columns = Columns::read(layer, matches, times);
    columns.state_interval(matches);
    prove_lengths(matches, &columns, job)?;
    let mut proven = Proven::default();
    for name in open_yields {
        let column = matches.iter().find(|found| found.canonical == name).map(|found| found.column);
        let may_guess_interval = times.is_none() && !has(matches, "interval");
        let found = prove_named(name, &columns, crop, may_guess_interval, matches, diagnostics);
        proven = Proven {
            interval: proven.interval.or(found.interval),
            kg_per_bushel: proven.kg_per_bushel.or(found.kg_per_bushel),
            // That of a volume says nothing of a mass in another column.
            moisture_basis: found.moisture_basis.filter(|_| is_dry_mass(matches, column)).or(proven.moisture_basis),
        };
    }
    prove_speed(matches, &columns);
    Ok(proven)
}

/// Proves the units and the basis of one yield.
pub(crate) fn prove_named(
    name: &'static str,
    columns: &Columns<'_>,
    crop: Option<&Crop>,
    may_guess_interval: bool,
    matches: &mut [Match],
    diagnostics: &mut Vec<Diagnostic>,
) -> Proven {
    let Some(reported) = columns.get(name) else { return Proven::default() };
    let wet_mass = metric(columns, matches, "yield_wet_mass", "kg/ha").filter(|_| name != "yield_wet_mass");
    let harvest = Harvest {
        distance: columns.get("distance"),
        swath: columns.get("swath_width"),
        flow: columns.get("flow"),
        interval: columns.interval.as_deref(),
        moisture: columns.get("moisture"),
        reported,
        wet_mass: wet_mass.as_deref().filter(|_| columns.get("flow").is_none()),
    };
    let is_usable = |unit: &Unit| harvest.swath.is_none_or(|widths| is_width(widths, *unit));
    let candidates = Candidates {
        distances: candidates(matches, "distance", &["in", "ft", "m"]),
        swaths: candidates(matches, "swath_width", &["in", "ft", "m"]).into_iter().filter(is_usable).collect(),
        flows: candidates(matches, "flow", &["lb/s", "kg/s", "t/h"]),
        yields: candidates(matches, name, yield_units(name)),
        may_guess_interval,
    };
    prove_yield(name, &harvest, &candidates, crop, matches, diagnostics)
}

/// Distance by the positions of rows; swath width by the polygon of the row, or by the applied area of the job.
pub(crate) fn prove_lengths(matches: &mut [Match], columns: &Columns<'_>, job: &Job) -> Result<()> {
    let layer = columns.layer;
    let open_distance = columns.get("distance").filter(|_| unit(matches, "distance").is_none());
    if let Some(distance) = open_distance {
        let steps = steps(layer, columns);
        let ratios = thinned(&Ratio { columns: &[distance, &steps], moisture: None }, |row, _| quotient(row));
        let found = nearest(ratios, &factors(LENGTHS, "m"), 0.05, 0.05);
        state(matches, "distance", found, "distance / step between positions: median");
    }
    let Some(distance) = metric(columns, matches, "distance", "m") else { return Ok(()) };
    let Some(swath) = columns.get("swath_width").filter(|_| unit(matches, "swath_width").is_none()) else {
        return Ok(());
    };
    let units = factors(LENGTHS, "m");
    let area: Vec<f64> = distance.iter().zip(swath).map(|(distance, swath)| distance * swath).collect();
    if layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6)) {
        let polygons: Vec<f64> = layer.areas()?.into_iter().map(|area| area.unwrap_or(f64::NAN)).collect();
        let ratios = thinned(&Ratio { columns: &[&area, &polygons], moisture: None }, |row, _| quotient(row));
        state(
            matches,
            "swath_width",
            nearest(ratios, &units, 0.03, 0.15),
            "distance x width / area of the polygon: median",
        );
    }
    if let Some(applied) = job.area.filter(|applied| *applied > 0.0 && unit(matches, "swath_width").is_none()) {
        let total: f64 = area.iter().filter(|area| area.is_finite()).sum();
        let ratios = vec![total / applied; area.len()];
        state(
            matches,
            "swath_width",
            nearest(ratios, &units, 0.03, 0.15),
            "distance x width / applied area of the job:",
        );
    }
    Ok(())
}

pub(crate) fn prove_speed(matches: &mut [Match], columns: &Columns<'_>) {
    let Some(speed) = columns.get("speed").filter(|_| unit(matches, "speed").is_none()) else { return };
    let (Some(distance), Some(interval)) = (metric(columns, matches, "distance", "m"), &columns.interval) else {
        return;
    };
    let ratios = thinned(&Ratio { columns: &[speed, &distance, interval], moisture: None }, |row, _| match row {
        [speed, distance, interval] => speed * interval / distance,
        _ => f64::NAN,
    });
    let found = nearest(ratios, &factors(&["mph", "km/h", "m/s", "ft/s", "kn"], "m/s"), 0.05, 0.05);
    state(matches, "speed", found, "speed x interval / distance: median");
}

impl<'a> Columns<'a> {
    /// Reads the columns. [`Self::state_interval`] comes before a proof.
    pub(crate) fn read(layer: &'a Layer, matches: &[Match], times: Option<&'a RowTimes>) -> Self {
        let used = [
            "distance",
            "swath_width",
            "flow",
            "interval",
            "speed",
            "moisture",
            "pass_number",
            "section",
            "machine",
            "longitude",
            "latitude",
        ];
        let is_used = |name: &str| used.contains(&name) || YIELDS.contains(&name);
        let used = matches.iter().filter(|found| is_used(found.canonical));
        let values = used.map(|found| (found.canonical, matching::values(layer, found))).collect();
        Self { layer, times, values, by_time: Default::default(), interval: None }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[f64]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// The interval by the units of `matches`, else by the clock, which proves the unit of one that is logged without it.
    pub(crate) fn state_interval(&mut self, matches: &mut [Match]) {
        let is_needed = !has(matches, "interval") || unit(matches, "interval").is_none();
        let distance = metric(self, matches, "distance", "m");
        let by_time = if is_needed { self.by_time(distance.as_deref()) } else { None };
        if let (Some(logged), Some(steps)) =
            (self.get("interval").filter(|_| unit(matches, "interval").is_none()), by_time)
        {
            let ratios = thinned(&Ratio { columns: &[logged, steps], moisture: None }, |row, _| quotient(row));
            let units = factors(&["s", "min", "ms"], "s");
            state(matches, "interval", nearest(ratios, &units, 0.05, 0.05), "interval / mean step of time: median");
        }
        self.interval = if has(matches, "interval") {
            metric(self, matches, "interval", "s")
        } else {
            by_time.map(<[f64]>::to_vec)
        };
    }

    fn by_time(&self, distance: Option<&[f64]>) -> Option<&[f64]> {
        let times = self.times?;
        let intervals = || {
            let keys = ["section", "machine", "longitude", "latitude"].into_iter();
            let known = keys.filter_map(|name| Some((name, self.get(name)?.to_vec())));
            let rows = Rows {
                columns: known.chain(distance.map(|distance| ("distance", distance.to_vec()))).collect(),
                times: Some(times.micros.clone()),
                resolution: times.resolution,
                ..Rows::default()
            };
            clock_intervals(self.layer, &rows)
        };
        self.by_time[usize::from(distance.is_some())].get_or_init(intervals).as_deref()
    }
}

/// The length in metres from the row before, of the same machine, section and pass.
fn steps(layer: &Layer, columns: &Columns<'_>) -> Vec<f64> {
    let (x, y) = positions(layer, |name| columns.get(name));
    let key = |name: &str, row: usize| {
        columns.get(name).and_then(|column| column.get(row)).map_or(0, |value| value.to_bits())
    };
    let mut last: HashMap<[u64; 3], usize> = HashMap::new();
    let step = |row: usize| {
        if x[row].is_nan() {
            return f64::NAN;
        }
        let before = last.insert(["machine", "section", "pass_number"].map(|name| key(name, row)), row);
        before.map_or(f64::NAN, |before| (x[row] - x[before]).hypot(y[row] - y[before]))
    };
    (0..x.len()).map(step).collect()
}

fn is_dry_mass(matches: &[Match], column: Option<usize>) -> bool {
    matches.iter().any(|found| Some(found.column) == column && found.canonical == "yield_dry_mass")
}

pub(crate) fn has(matches: &[Match], name: &str) -> bool {
    matches.iter().any(|found| found.canonical == name)
}

pub(crate) fn unit(matches: &[Match], name: &str) -> Option<Unit> {
    matches.iter().find(|found| found.canonical == name)?.unit
}

/// A column in `to`, if its unit is known.
pub(crate) fn metric(columns: &Columns<'_>, matches: &[Match], name: &str, to: &str) -> Option<Vec<f64>> {
    let factor = unit(matches, name)?.factor(Unit::parse(to)?, None).ok()?;
    Some(columns.get(name)?.iter().map(|value| value * factor).collect())
}

fn candidates(matches: &[Match], name: &str, all: &[&str]) -> Vec<Unit> {
    unit(matches, name).map_or_else(|| all.iter().filter_map(|text| Unit::parse(text)).collect(), |unit| vec![unit])
}

fn yield_units(name: &str) -> &'static [&'static str] {
    match name {
        "yield" | WET_YIELD | DRY_YIELD => &["bu/ac", "m3/ha", "kg/ha", "t/ha", "lb/ac"],
        "yield_wet_mass" | "yield_dry_mass" | "yield_dry_matter" => &["kg/ha", "t/ha", "lb/ac"],
        _ => &["bu/ac", "m3/ha"],
    }
}

/// Units and their factors to `to`.
fn factors(units: &[&str], to: &str) -> Vec<(Unit, f64)> {
    let factor =
        |text: &&str| Unit::parse(text).and_then(|unit| Some((unit, unit.factor(Unit::parse(to)?, None).ok()?)));
    units.iter().filter_map(factor).collect()
}

fn is_width(widths: &[f64], unit: Unit) -> bool {
    let usual = crate::columns::row_ratios::median(widths.iter().copied().filter(|width| *width > 0.0).collect());
    Unit::parse("m")
        .and_then(|metre| unit.factor(metre, None).ok())
        .is_some_and(|factor| WIDTHS.contains(&(usual * factor)))
}

pub(crate) fn quotient(row: &[f64]) -> f64 {
    match row {
        [one, other] => one / other,
        _ => f64::NAN,
    }
}

fn state(matches: &mut [Match], name: &str, proven: Option<(Unit, f64)>, how: &str) {
    let found = matches.iter_mut().find(|found| found.canonical == name);
    if let (Some(found), Some((unit, ratio))) = (found, proven) {
        found.unit = Some(unit);
        found.unit_in = Some(unit.to_string());
        found.evidence = Some(format!("{how} {ratio:.4}"));
    }
}
