//! Infers units that no file states: only one combination of units makes mass, flow, area and yield agree.
//!
//! Grain that flows past the sensor in one interval is the yield times the area of the row. Each combination of candidate
//! units gives a ratio of the two; the true one gives 1. What all combinations close to 1 agree on is proven.

use crate::columns::crops::{CROPS, Crop};
use crate::columns::market_moisture::at_moisture;
use crate::columns::matching::Match;
use crate::columns::row_ratios::{Ratio, median, median_and_range, thinned};
use crate::columns::values::UNEXPLAINED;
use crate::columns::yield_basis::{YieldBasis, yield_basis};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::units::{Quantity, Unit};

/// Fewer rows prove nothing.
const MIN_ROWS: usize = 200;

/// Units of flow, distance and swath width, and the interval, that have to be known.
const MIN_KNOWN: usize = 2;

/// With more unknown units, wrong combinations come close to 1 by chance.
const MAX_OPEN: usize = 2;

/// Combinations whose ratio is this close to 1 are possible.
const POSSIBLE: f64 = 0.010;
/// At least one combination has to be this close to 1.
const ACCEPTED: f64 = 0.005;
/// The accepted combination has to have an interquartile range below this.
const MAX_RANGE: f64 = 0.15;
/// A combination whose interquartile range is this many times that of the best is impossible: moisture spreads it.
const MAX_SPREAD: f64 = 1.5;

/// Percent of water at which displays dry, in addition to those of the crops.
const DISPLAY_MOISTURES: &[f64] = &[13.0, 13.5, 14.0, 14.5, 15.0, 15.5];

/// The basis of a reported yield.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Basis {
    Wet,
    /// Dried or moistened to this percentage of water.
    Dry(f64),
    /// Dried where wetter than this percentage.
    DryWhereWetter(f64),
}

impl Basis {
    /// The share of the wet mass that is reported, at this moisture.
    fn share(self, moisture: f64) -> f64 {
        match self {
            Self::Wet => 1.0,
            Self::Dry(basis) => at_moisture(1.0, moisture, basis),
            Self::DryWhereWetter(basis) => at_moisture(1.0, moisture, basis).min(1.0),
        }
    }
}

/// One combination of units.
#[derive(Clone, Copy, Debug)]
struct Combination {
    flow: Option<Unit>,
    distance: Option<Unit>,
    swath: Option<Unit>,
    interval: f64,
    reported: Unit,
    kg_per_bushel: Option<f64>,
    /// What turns the ratio before units into one of kilograms.
    scale: f64,
    median: f64,
    range: f64,
}

/// What was proven of a yield, in addition to units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proven {
    /// Seconds of each row, where nothing states them.
    pub(crate) interval: Option<f64>,
    /// Kilograms in a bushel.
    pub(crate) kg_per_bushel: Option<f64>,
    /// Percent of water of the dry yield.
    pub(crate) moisture_basis: Option<f64>,
}

/// Columns of a harvest as the file has them; not a number is null.
pub(crate) struct Harvest<'a> {
    pub(crate) distance: Option<&'a [f64]>,
    pub(crate) swath: Option<&'a [f64]>,
    pub(crate) flow: Option<&'a [f64]>,
    /// In seconds.
    pub(crate) interval: Option<&'a [f64]>,
    pub(crate) moisture: Option<&'a [f64]>,
    /// The reported yield, and the wet mass per area that another column states.
    pub(crate) reported: &'a [f64],
    pub(crate) wet_mass: Option<&'a [f64]>,
}

/// Units of distance and swath that earlier steps leave possible.
pub(crate) struct Candidates {
    pub(crate) distances: Vec<Unit>,
    pub(crate) swaths: Vec<Unit>,
    pub(crate) flows: Vec<Unit>,
    pub(crate) yields: Vec<Unit>,
    /// Whether rows can be 1 or 2 seconds: nothing logs an interval or a time.
    pub(crate) may_guess_interval: bool,
}

/// Proves the units of flow, distance, swath width and the yield `name`, and the basis of a yield without one, which gets
/// the canonical name of that basis.
pub(crate) fn prove_yield(
    name: &'static str,
    harvest: &Harvest<'_>,
    candidates: &Candidates,
    crop: Option<&Crop>,
    matches: &mut [Match],
    diagnostics: &mut Vec<Diagnostic>,
) -> Proven {
    // One known factor leaves the others to chance.
    let known =
        [&candidates.flows, &candidates.distances, &candidates.swaths].into_iter().filter(|units| units.len() == 1);
    let is_narrow = known.count().saturating_add(usize::from(harvest.interval.is_some())) >= MIN_KNOWN;
    let open = [&candidates.flows, &candidates.distances, &candidates.swaths, &candidates.yields];
    let is_flow_used = harvest.wet_mass.is_none();
    let is_open = open.iter().filter(|units| units.len() > 1).count() > MAX_OPEN;
    if is_flow_used && (is_open || !is_narrow || (harvest.interval.is_none() && !candidates.may_guess_interval)) {
        return Proven::default();
    }
    let is_stated = open.iter().all(|units| units.len() == 1) && (crop.is_some() || is_mass(&candidates.yields));
    let bases = bases(name, harvest, crop, is_stated);
    let all = combinations(&bases, harvest, candidates, crop);
    let Some(best) = all.iter().min_by(|one, other| closeness(one).total_cmp(&closeness(other))) else {
        return Proven::default();
    };
    if is_stated {
        // Drying explains a fifth at most.
        if closeness(best) > 0.2 {
            let message = format!(
                "the stated units contradict each other: yield times area is {:.3} times the mass",
                best.median
            );
            diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
            return Proven::default();
        }
    } else if closeness(best) >= ACCEPTED || best.range >= MAX_RANGE {
        let reason = if closeness(best) < ACCEPTED {
            format!(
                ", but half of the rows differ by {:.3} and more, as where a column changes within the file",
                best.range
            )
        } else {
            String::new()
        };
        let message = format!(
            "{UNEXPLAINED} `{name}`; the nearest has a median ratio of {:.3} of yield x area to mass{reason}",
            best.median
        );
        diagnostics.push(Diagnostic::new(Code::UnitUnknown, message));
        return Proven::default();
    }
    let possible: Vec<&Combination> = all
        .iter()
        .filter(|other| is_stated || closeness(other) < POSSIBLE && other.range <= best.range * MAX_SPREAD)
        .collect();
    let evidence = format!("yield x area / mass: median {:.4}, interquartile range {:.3}", best.median, best.range);
    let mut state = |name: &str, unit: Option<Unit>, is_certain: bool| {
        let found = matches.iter_mut().find(|found| found.canonical == name && found.unit.is_none());
        if let (Some(found), Some(unit), true) = (found, unit, is_certain) {
            found.unit = Some(unit);
            found.unit_in = Some(unit.to_string());
            found.evidence = Some(evidence.clone());
        }
    };
    state("flow", best.flow, possible.iter().all(|other| other.flow == best.flow));
    state("distance", best.distance, possible.iter().all(|other| other.distance == best.distance));
    state("swath_width", best.swath, possible.iter().all(|other| other.swath == best.swath));
    let has_one_unit = possible.iter().all(|other| other.reported == best.reported);
    state(name, Some(best.reported), has_one_unit);
    let mut proven = Proven::default();
    let same = |of: fn(&Combination) -> Option<f64>| possible.iter().all(|other| of(other) == of(best));
    if harvest.interval.is_none() && same(|other| Some(other.interval)) {
        proven.interval = Some(best.interval);
    }
    if same(|other| other.kg_per_bushel) {
        proven.kg_per_bushel = best.kg_per_bushel;
    }
    let is_one_scale = possible.iter().all(|other| (other.scale / best.scale - 1.0).abs() < 1e-9);
    let found_basis = if is_one_scale { yield_basis(&wet_ratios(harvest, best.scale)) } else { None };
    if let Some(basis) = found_basis {
        if let YieldBasis::Dry(percent) = basis {
            proven.moisture_basis = percent;
        }
        let full_name = match (basis, best.kg_per_bushel.is_none()) {
            _ if name != "yield" => name,
            (YieldBasis::Wet, false) => "yield_wet_volume",
            (YieldBasis::Wet, true) => "yield_wet_mass",
            (YieldBasis::Dry(_), false) => "yield_dry_volume",
            (YieldBasis::Dry(_), true) => "yield_dry_mass",
        };
        // Another column can have that name already: the yield stays as stated then.
        let is_free = name == full_name || !matches.iter().any(|found| found.canonical == full_name);
        if let Some(found) = matches.iter_mut().find(|found| is_free && found.canonical == name) {
            found.canonical = full_name;
            if name == "yield" {
                found.evidence = Some(evidence);
            }
        }
    }
    proven
}

fn closeness(combination: &Combination) -> f64 {
    (combination.median - 1.0).abs()
}

/// All combinations, each with the median and the interquartile range of its ratio.
fn combinations(
    bases: &[Basis],
    harvest: &Harvest<'_>,
    candidates: &Candidates,
    crop: Option<&Crop>,
) -> Vec<Combination> {
    let weights: Vec<f64> = match crop {
        Some(crop) => crop.kg_per_bushel().into_iter().collect(),
        None => distinct(CROPS.iter().filter_map(Crop::kg_per_bushel)),
    };
    let reported: Vec<(Unit, Option<f64>, f64)> =
        candidates.yields.iter().flat_map(|unit| in_kg_per_hectare(*unit, &weights)).collect();
    let wet = wet_ratios(harvest, 1.0);
    let mut all = Vec::new();
    for basis in bases.iter().copied() {
        // The ratio before any unit: reported x swath x distance / (flow x interval), or reported / wet mass per area.
        let rows: Vec<f64> = wet.iter().map(|(ratio, moisture)| ratio / basis.share(*moisture)).collect();
        if rows.len() < MIN_ROWS {
            continue;
        }
        let (middle, range) = median_and_range(rows);
        let mut add = |scale: f64, combination: Combination| {
            all.push(Combination { scale, median: middle * scale, range: range * scale, ..combination });
        };
        for (unit, kg_per_bushel, kg_per_hectare) in &reported {
            let combination = Combination {
                flow: None,
                distance: None,
                swath: None,
                interval: 1.0,
                reported: *unit,
                kg_per_bushel: *kg_per_bushel,
                scale: 1.0,
                median: 0.0,
                range: 0.0,
            };
            if harvest.wet_mass.is_some() {
                add(*kg_per_hectare, combination);
                continue;
            }
            let intervals: &[f64] = if harvest.interval.is_some() { &[1.0] } else { &[1.0, 2.0] };
            for (flow, distance, swath) in triples(candidates) {
                for interval in intervals {
                    let scale = kg_per_hectare / 10_000.0 * si(distance) * si(swath) / (si(flow) * interval);
                    let units = Combination {
                        flow: Some(flow),
                        distance: Some(distance),
                        swath: Some(swath),
                        interval: *interval,
                        ..combination
                    };
                    add(scale, units);
                }
            }
        }
    }
    all
}

fn triples(candidates: &Candidates) -> impl Iterator<Item = (Unit, Unit, Unit)> {
    candidates.flows.iter().flat_map(move |flow| {
        candidates
            .distances
            .iter()
            .flat_map(move |distance| candidates.swaths.iter().map(move |swath| (*flow, *distance, *swath)))
    })
}

/// The ratio of the reported to the wet mass, and the moisture, of each row that all columns have.
fn wet_ratios(harvest: &Harvest<'_>, scale: f64) -> Vec<(f64, f64)> {
    let columns: Option<Vec<&[f64]>> = match harvest.wet_mass {
        Some(mass) => Some(vec![harvest.reported, mass]),
        None => [Some(harvest.reported), harvest.distance, harvest.swath, harvest.flow].into_iter().collect(),
    };
    let Some(mut columns) = columns else { return Vec::new() };
    columns.extend(harvest.interval.filter(|_| harvest.wet_mass.is_none()));
    let ratio = |row: &[f64]| match row {
        [reported, mass] => reported / mass,
        [reported, distance, swath, flow] => reported * distance * swath / flow,
        [reported, distance, swath, flow, interval] => reported * distance * swath / (flow * interval),
        _ => f64::NAN,
    };
    thinned(&Ratio { columns: &columns, moisture: harvest.moisture }, |row, moisture| (ratio(row) * scale, moisture))
}

/// The bases that a yield of this name can have, in units that are to be proven or stated.
fn bases(name: &str, harvest: &Harvest<'_>, crop: Option<&Crop>, is_stated: bool) -> Vec<Basis> {
    if name == "yield_dry_matter" {
        return vec![Basis::Dry(0.0)];
    }
    // A dry mass can be the wet one in every row, where all are drier than the market moisture.
    let mut bases = vec![Basis::Wet];
    if harvest.moisture.is_some() && !name.contains("wet") {
        let all = DISPLAY_MOISTURES.iter().copied().chain(CROPS.iter().filter_map(|crop| crop.market_moisture));
        let own = crop.and_then(|crop| crop.market_moisture);
        // What contradicts a statement does so at any market moisture.
        let moistures = all.filter(|percent| !is_stated || own.is_none_or(|own| own.total_cmp(percent).is_eq()));
        for percent in distinct(moistures) {
            bases.extend([Basis::Dry(percent), Basis::DryWhereWetter(percent)]);
        }
    }
    bases
}

/// How many kilograms per hectare a unit of yield is, for each weight of a bushel.
fn in_kg_per_hectare(unit: Unit, weights: &[f64]) -> Vec<(Unit, Option<f64>, f64)> {
    let Some(metric) = Unit::parse("kg/ha") else { return Vec::new() };
    if let Ok(factor) = unit.factor(metric, None) {
        return vec![(unit, None, factor)];
    }
    weights.iter().filter_map(|weight| Some((unit, Some(*weight), unit.factor(metric, Some(*weight)).ok()?))).collect()
}

fn is_mass(yields: &[Unit]) -> bool {
    yields.iter().all(|unit| unit.quantity().0 == Quantity::Mass)
}

fn distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// The factor of a unit to its SI unit: metres, or kilograms per second.
fn si(unit: Unit) -> f64 {
    let to = if unit.quantity().1.is_some() { "kg/s" } else { "m" };
    Unit::parse(to).and_then(|to| unit.factor(to, None).ok()).unwrap_or(f64::NAN)
}

/// The unit among `candidates` whose ratio to 1 is within `tolerance`, if the others are further than `distance`.
pub(crate) fn nearest(
    ratios: Vec<f64>,
    candidates: &[(Unit, f64)],
    tolerance: f64,
    distance: f64,
) -> Option<(Unit, f64)> {
    if ratios.len() < MIN_ROWS {
        return None;
    }
    let middle = median(ratios);
    let distance_to_1 = |factor: f64| (middle * factor - 1.0).abs();
    let (unit, factor) =
        *candidates.iter().min_by(|one, other| distance_to_1(one.1).total_cmp(&distance_to_1(other.1)))?;
    let is_alone = candidates.iter().all(|(other, factor)| *other == unit || distance_to_1(*factor) > distance);
    (distance_to_1(factor) < tolerance && is_alone).then_some((unit, middle * factor))
}
