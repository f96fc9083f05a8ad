//! Compares what a cleaning uses with what was logged, and says what is left out and which argument changes it.

use crate::cleaning::clean_rows::CleanRows;
use crate::cleaning::reasons::{self, REASONS};
use crate::columns::canonical::JobKind;
use crate::columns::derived::HECTARE;
use headland_reader::archive::{Code, Diagnostic};

/// Of the mass or ground, what a result holds at least. Healthy harvests have 0.88 to 0.99, and 0.83 without a delay.
const LEAST_USED: f64 = 0.80;
/// Reasons that a message lists.
const LISTED: usize = 3;
/// Part by which the mean of the used rows may differ from that of all grain on all ground.
const MOST_MEAN: f64 = 0.08;
/// Of the product, what is applied on covered ground before it is said.
const MOST_AGAIN: f64 = 0.05;
/// Of the ground of a harvest, what has no grain at most.
const MOST_EMPTY: f64 = 0.05;

/// What changes that rows are left out for a reason.
fn argument(bit: u32) -> &'static str {
    match bit {
        reasons::NOT_WORKING => "`columns={\"working\": ...}` of `harmonize`, or `turn` of the recipe",
        reasons::ENDS => "`ends` of the recipe",
        reasons::SPEED => "`speeds` of the recipe",
        reasons::POSITION => "`position_jump` of the recipe",
        reasons::LIMITS => "`limits` of the recipe, in kg/ha",
        reasons::EDGE => "`edge` of the recipe, or another `boundary=`",
        reasons::SPIKE => "`keep=[\"spike\"]` or `delay=`",
        reasons::LOCAL => "`keep=[\"local\"]` or `delay=`",
        _ => "`keep=`",
    }
}

/// Rates above this many times their 90th percentile are said.
const HIGH_RATE: f64 = 10.0;
/// One of this many rows has no rate before it is said.
const LEAST_WITHOUT: usize = 200;

/// Sums of all rows, and of those that a result uses.
struct Sums {
    logged: f64,
    used: f64,
    /// Ground once in m2, and the part behind the result.
    covered: f64,
    behind: f64,
    /// Ground of all rows that work as they were logged, and of those without a swath.
    worked: f64,
    lost: f64,
}

/// Kilograms, or what was applied, of each row as it was logged.
fn logged_amounts(rows: &CleanRows) -> Option<&Vec<f64>> {
    rows.masses.logged.as_ref().or(rows.amount.as_ref())
}

/// The same of each row on its ground.
fn placed_amounts(rows: &CleanRows) -> Option<&Vec<f64>> {
    rows.masses.dry.as_ref().or(rows.masses.wet.as_ref()).or(rows.amount.as_ref())
}

fn sums(rows: &CleanRows) -> Sums {
    let (logged, placed) = (logged_amounts(rows), placed_amounts(rows));
    let is_harvest = rows.kind == JobKind::Yield;
    let mut sums = Sums { logged: 0.0, used: 0.0, covered: 0.0, behind: 0.0, worked: 0.0, lost: 0.0 };
    let finite = |values: Option<&Vec<f64>>, k: usize| values.map(|values| values[k]).filter(|value| value.is_finite());
    for k in (0..rows.passes.number.len()).filter(|k| rows.reasons[*k] & reasons::DUPLICATE == 0) {
        sums.logged += finite(logged, k).unwrap_or(0.0);
        sums.covered += rows.ground.coverage.fresh[k];
        let is_behind =
            rows.used[k] && (!is_harvest || rows.has_rate(k)) && (placed.is_none() || finite(placed, k).is_some());
        if is_behind {
            sums.used += finite(placed, k).unwrap_or(0.0);
            sums.behind += rows.ground.coverage.fresh[k];
        }
        // Without a state, turns are rows like others.
        let is_working = rows.rows.working.as_ref().is_some_and(|working| working[k]);
        let worked = rows.rows.distance[k] * rows.rows.width[k];
        if is_working && worked > 0.0 {
            sums.worked += worked;
            sums.lost += if rows.ground.coverage.full[k] > 0.0 { 0.0 } else { worked };
        }
    }
    sums
}

/// All diagnostics about what is left out.
pub(crate) fn left_out(rows: &CleanRows) -> Vec<Diagnostic> {
    let sums = sums(rows);
    much_left_out(rows, &sums)
        .into_iter()
        .chain(other_mean(rows, &sums))
        .chain(empty_ground(rows, &sums))
        .chain(without_rate(rows))
        .chain(high_rates(rows))
        .chain(applied_twice(rows))
        .collect()
}

fn much_left_out(rows: &CleanRows, sums: &Sums) -> Option<Diagnostic> {
    let share = |used: f64, all: f64| if all > 0.0 { used / all } else { 1.0 };
    let is_harvest = rows.kind == JobKind::Yield;
    let mass = share(sums.used, sums.logged);
    let ground = share(sums.behind, sums.covered);
    let placed = 1.0 - share(sums.lost, sums.worked.max(f64::MIN_POSITIVE));
    let nothing = rows.passes.number.iter().all(|pass| *pass == 0) && !rows.passes.number.is_empty();
    if mass >= LEAST_USED && ground >= LEAST_USED && placed >= LEAST_USED && !nothing {
        return None;
    }
    let unit = if is_harvest { "kg" } else { rows.amount_unit };
    let mut parts = Vec::new();
    if mass < LEAST_USED {
        let what = if is_harvest { "mass" } else { "product" };
        parts.push(format!("{:.0} of {:.0} {unit} of the {what}", sums.used, sums.logged));
    }
    if ground < LEAST_USED {
        parts.push(format!("{:.2} of {:.2} ha of the covered ground", sums.behind / HECTARE, sums.covered / HECTARE));
    }
    if placed < LEAST_USED {
        let kept = sums.worked - sums.lost;
        parts.push(format!("{:.2} of {:.2} ha of the worked ground", kept / HECTARE, sums.worked / HECTARE));
    }
    if parts.is_empty() {
        parts.push("no row".to_owned());
    }
    let message = format!("the result holds {} only; largest reasons: {}", parts.join(" and "), largest(rows, unit));
    Some(Diagnostic::new(Code::MuchLeftOut, message))
}

/// The largest reasons with their mass, ground and argument.
fn largest(rows: &CleanRows, unit: &str) -> String {
    let allowed = crate::cleaning::clean_rows::allowed_bits(rows.kind == JobKind::Yield, &rows.recipe);
    let amounts = logged_amounts(rows);
    let mut found: Vec<(f64, f64, &str, u32)> = REASONS
        .iter()
        .filter(|reason| reason.bit & allowed == 0)
        .map(|reason| {
            let mut sums = (0.0, 0.0);
            for k in (0..rows.passes.number.len()).filter(|k| rows.reasons[*k] & reason.bit != 0) {
                sums.0 += amounts.map(|amounts| amounts[k]).filter(|kg| kg.is_finite()).unwrap_or(0.0);
                sums.1 += (rows.rows.distance[k] * rows.rows.width[k]).max(0.0);
            }
            (sums.1, sums.0, reason.name, reason.bit)
        })
        .filter(|(m2, amount, ..)| *m2 > 0.0 || *amount > 0.0)
        .collect();
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.3.cmp(&b.3)));
    let lines = found.into_iter().take(LISTED).map(|(m2, amount, name, bit)| {
        let amount = if amount > 0.0 { format!("{amount:.0} {unit}, ") } else { String::new() };
        format!("`{name}` ({amount}{:.2} ha: {})", m2 / HECTARE, argument(bit))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        "no reason is marked: values are missing, or ground is covered before".to_owned()
    } else {
        lines.join(", ")
    }
}

/// A diagnostic if the used rows have another mean than all grain on all ground: values that no row shows, such as dropouts.
fn other_mean(rows: &CleanRows, sums: &Sums) -> Option<Diagnostic> {
    let (all, used) = (sums.logged / sums.covered * HECTARE, sums.used / sums.behind * HECTARE);
    let is_other = (used / all - 1.0).abs() > MOST_MEAN;
    (rows.kind == JobKind::Yield && is_other).then(|| {
        let message = format!(
            "the rows that are used have {used:.0} kg/ha, but all logged grain on all covered ground is {all:.0} kg/ha: rows \
             lack values, ground is counted that has no grain, or grain is left out"
        );
        Diagnostic::new(Code::MeanContradicts, message)
    })
}

/// A diagnostic if ground counts as harvested that has no grain.
fn empty_ground(rows: &CleanRows, sums: &Sums) -> Option<Diagnostic> {
    let kg = rows.masses.wet.as_ref().filter(|_| rows.kind == JobKind::Yield)?;
    let is_empty = |k: &usize| rows.passes.number[*k] > 0 && kg[*k] <= 0.0;
    let empty: f64 = (0..rows.passes.number.len()).filter(is_empty).map(|k| rows.ground.coverage.fresh[k]).sum();
    (empty > MOST_EMPTY * sums.covered).then(|| {
        let message = format!(
            "{:.2} of {:.2} ha of the covered ground are of rows that work by their state and have no grain; if the machine \
             only drove there, correct the column of the state",
            empty / HECTARE,
            sums.covered / HECTARE
        );
        Diagnostic::new(Code::MeanContradicts, message)
    })
}

/// A diagnostic if rates are far above all others, which are used as they are.
fn high_rates(rows: &CleanRows) -> Option<Diagnostic> {
    let amount = rows.amount.as_ref().filter(|_| rows.kind != JobKind::Yield)?;
    let rate = |k: usize| amount[k] / (rows.rows.distance[k] * rows.rows.width[k]) * HECTARE;
    let mut rates: Vec<f64> = (0..amount.len()).map(rate).filter(|rate| *rate > 0.0 && rate.is_finite()).collect();
    let index = rates.len().checked_sub(1)? * 9 / 10;
    let limit = HIGH_RATE * *rates.select_nth_unstable_by(index, f64::total_cmp).1;
    let most = rates.iter().copied().fold(0.0, f64::max);
    let count = rates.iter().filter(|rate| **rate > limit).count();
    (count > 0).then(|| {
        let message = format!(
            "{count} rows have more than {limit:.0} {unit}/ha, {HIGH_RATE} times the 90th percentile of the rates, and up to \
             {most:.0} {unit}/ha; they are used as they are",
            unit = rows.amount_unit
        );
        Diagnostic::new(Code::RateHigh, message)
    })
}

/// A diagnostic if much was applied on ground that was covered before: by overlaps, or by rates of a machine that was off.
fn applied_twice(rows: &CleanRows) -> Option<Diagnostic> {
    let amount = rows.amount.as_ref().filter(|_| rows.kind != JobKind::Yield)?;
    let is_copy = |k: usize| rows.reasons[k] & reasons::DUPLICATE != 0;
    let known = || (0..amount.len()).filter(|k| rows.passes.number[*k] > 0 && amount[*k] > 0.0 && !is_copy(*k));
    let all: f64 = known().map(|k| amount[k]).sum();
    let again: f64 = known().map(|k| amount[k] * rows.ground.share[rows.first_product(k)].clamp(0.0, 1.0)).sum();
    (again > MOST_AGAIN * all).then(|| {
        let message = format!(
            "{again:.0} of {all:.0} {} were applied on ground that was covered before, so that the mean of the map is above the \
             rate; if the machine was off there, pass `columns={{\"working\": ...}}` to `harmonize`",
            rows.amount_unit
        );
        Diagnostic::new(Code::AppliedTwice, message)
    })
}

/// A diagnostic if rows of a job that applies something have no rate.
fn without_rate(rows: &CleanRows) -> Option<Diagnostic> {
    let amount = rows.amount.as_ref().filter(|_| rows.kind != JobKind::Yield)?;
    let is_in = |k: &usize| rows.passes.number[*k] > 0 && rows.ground.coverage.full[*k] > 0.0;
    let count = (0..rows.passes.number.len()).filter(is_in).count();
    let without = (0..rows.passes.number.len()).filter(|k| is_in(k) && amount[*k].is_nan()).count();
    (without * LEAST_WITHOUT > count).then(|| {
        let message = format!(
            "{without} of {count} working rows have no rate: their ground counts as worked, but is in no rate and no amount"
        );
        Diagnostic::new(Code::NoValues, message)
    })
}
