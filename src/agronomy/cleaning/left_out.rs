//! Compares what a cleaning uses with what was logged, and says what is left out and which argument changes it.

use crate::cleaning::balance::{Place, Sums};
use crate::cleaning::clean_rows::CleanRows;
use crate::cleaning::reasons::{self, REASONS, Reason};
use crate::columns::canonical::JobKind;
use crate::columns::derived::HECTARE;
use crate::maps::rate_limit::RateLimit;
use headland_reader::archive::{Code, Diagnostic};

/// Of the mass or ground, what a result holds at least. Healthy harvests have 0.88 to 0.99, and 0.83 without a delay.
const LEAST_USED: f64 = 0.80;
/// Reasons that a message lists.
const LISTED: usize = 3;
/// Part by which the mean of the used rows may differ from that of all grain on all ground.
const MOST_MEAN: f64 = 0.03;
/// The same of a result of fewer rows than this.
const FEW: i64 = 200;
const MOST_MEAN_OF_FEW: f64 = 0.08;
/// Of the mass, the product or the ground, what is on no ground of a map before it is said.
const LEAST_SAID: f64 = 0.02;
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

/// One of this many rows has no rate before it is said.
const LEAST_WITHOUT: usize = 200;

/// What the rows logged but for copies, and where it went.
#[derive(Default)]
struct Balance {
    logged: Sums,
    /// By [`Place`].
    places: [Sums; 7],
    /// Ground once in m2, of all rows and by place.
    covered: f64,
    fresh: [f64; 7],
    /// Ground of all rows that work by their state, and of those without a swath.
    worked: f64,
    lost: f64,
}

impl Balance {
    fn of(rows: &CleanRows) -> Self {
        let mut balance = Self::default();
        for k in 0..rows.passes.number.len() {
            let (place, fresh) = (rows.place(k), rows.ground.coverage.fresh[k]);
            balance.places[place as usize].add(rows.placed(k));
            balance.fresh[place as usize] += fresh;
            balance.covered += fresh;
            if place == Place::Copy {
                continue;
            }
            let logged = rows.logged(k);
            balance.logged.add(logged);
            // Without a state, turns are rows like others.
            if rows.rows.working.is_some() {
                let is_lost = place == Place::Frozen || rows.ground.coverage.full[k] <= 0.0;
                balance.worked += logged[1];
                balance.lost += if is_lost { logged[1] } else { 0.0 };
            }
        }
        balance
    }

    fn at(&self, place: Place) -> &Sums {
        &self.places[place as usize]
    }

    /// Kilograms per hectare of the map.
    fn mean(&self) -> f64 {
        self.at(Place::Map).amount / self.at(Place::Map).m2 * HECTARE
    }

    /// Of the mass of the field at the mean of the map, what a place has more.
    fn excess(&self, place: Place) -> f64 {
        (self.at(place).amount / self.mean() * HECTARE - self.fresh[place as usize]) / self.covered
    }
}

/// All diagnostics about what is left out.
pub(crate) fn left_out(rows: &CleanRows) -> Vec<Diagnostic> {
    let balance = Balance::of(rows);
    let (places, said): (Vec<Place>, Vec<Diagnostic>) = without_ground(rows, &balance).into_iter().unzip();
    much_left_out(rows, &balance)
        .into_iter()
        .chain(said)
        .chain(other_mean(rows, &balance, &places))
        .chain(empty_ground(rows, &balance))
        .chain(without_rate(rows))
        .chain(high_rates(rows))
        .chain(applied_twice(rows))
        .collect()
}

fn much_left_out(rows: &CleanRows, balance: &Balance) -> Option<Diagnostic> {
    let share = |used: f64, all: f64| if all > 0.0 { used / all } else { 1.0 };
    let (logged, map) = (balance.logged.amount, *balance.at(Place::Map));
    let is_harvest = rows.kind == JobKind::Yield;
    let mass = share(map.amount, logged);
    let ground = share(map.m2, balance.covered);
    let placed = 1.0 - share(balance.lost, balance.worked.max(f64::MIN_POSITIVE));
    let nothing = rows.passes.number.iter().all(|pass| *pass == 0) && !rows.passes.number.is_empty();
    if mass >= LEAST_USED && ground >= LEAST_USED && placed >= LEAST_USED && !nothing {
        return None;
    }
    let unit = if is_harvest { "kg" } else { rows.amount_unit };
    let mut parts = Vec::new();
    if mass < LEAST_USED {
        let what = if is_harvest { "mass" } else { "product" };
        parts.push(format!("{:.0} of {logged:.0} {unit} of the {what}", map.amount));
    }
    let mut of_ground = |m2: f64, all: f64, what| {
        parts.push(format!("{:.2} of {:.2} ha of the {what} ground", m2 / HECTARE, all / HECTARE));
    };
    if ground < LEAST_USED {
        of_ground(map.m2, balance.covered, "covered");
    }
    if placed < LEAST_USED {
        of_ground(balance.worked - balance.lost, balance.worked, "worked");
    }
    if parts.is_empty() {
        parts.push("no row".to_owned());
    }
    let message = format!("the result holds {} only; largest reasons: {}", parts.join(" and "), largest(rows, unit));
    Some(Diagnostic::new(Code::MuchLeftOut, message))
}

/// Diagnostics of rows whose amount is on no ground of a map, from 2 % of all on.
fn without_ground(rows: &CleanRows, balance: &Balance) -> Vec<(Place, Diagnostic)> {
    let is_harvest = rows.kind == JobKind::Yield;
    let unit = if is_harvest { "kg" } else { rows.amount_unit };
    let causes = [Place::Frozen, Place::Turning, Place::Standing, Place::Again];
    let said = causes.into_iter().filter_map(|place| {
        let Sums { rows: count, amount, m2 } = *balance.at(place);
        let is_much = [amount > LEAST_SAID * balance.logged.amount, m2 > LEAST_SAID * balance.logged.m2];
        let (code, is_said, what) = match place {
            Place::Frozen => (
                Code::GroundIncomplete,
                is_much[0] || is_much[1],
                "have the position of the row before, though they log a distance, as where positions are frozen; they are in no \
                 mean and on no map",
            ),
            Place::Turning => (
                Code::GroundIncomplete,
                is_harvest && is_much[0] && is_much[1],
                "work by their state, but turn, and have no ground, though their grain counts in `field_means`; if they harvest, \
                 pass a larger `turn` in the `recipe` of `headland.clean`",
            ),
            Place::Standing => (
                Code::MeanContradicts,
                is_harvest && is_much[0],
                "log grain while the machine stands, which counts in `field_means` and is on no map; if it is none, make the flow \
                 null there",
            ),
            _ => (
                Code::MeanContradicts,
                is_harvest && balance.excess(place) > LEAST_SAID,
                "log grain on ground that other rows cover, as where a part of a job is logged twice; it counts in `field_means` \
                 and is on no map: leave one of them out",
            ),
        };
        let message = format!("{count} rows, with {amount:.0} {unit} and {:.2} ha by distance and width, {what}", m2 / HECTARE);
        is_said.then(|| (place, Diagnostic::new(code, message)))
    });
    said.collect()
}

/// The largest reasons with their mass, ground and argument.
fn largest(rows: &CleanRows, unit: &str) -> String {
    let sums = |reason: &Reason| {
        let mut sums = Sums::default();
        let is_out = |k: &usize| !rows.used[*k] && rows.place(*k) != Place::Copy && rows.reason(*k) == reason.name;
        // Ways with the header up, too.
        let row = |k: usize| [rows.placed(k)[0], rows.logged_ground(k).max(0.0)];
        (0..rows.passes.number.len()).filter(is_out).for_each(|k| sums.add(row(k)));
        (sums.m2, sums.amount, reason.name, reason.bit)
    };
    let mut found: Vec<(f64, f64, &str, u32)> =
        REASONS.iter().map(sums).filter(|(m2, amount, ..)| *m2 > 0.0 || *amount > 0.0).collect();
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

/// A diagnostic if the mean of a map is another one than that of all grain on all ground, for other reasons than those that are
/// said.
fn other_mean(rows: &CleanRows, balance: &Balance, said: &[Place]) -> Option<Diagnostic> {
    let all = (balance.logged.amount - balance.at(Place::Frozen).amount) / balance.covered * HECTARE;
    let used = balance.mean();
    let is_known = |place: &&Place| **place != Place::Frozen;
    let known: f64 = said.iter().filter(is_known).map(|place| balance.excess(*place)).sum();
    let most = if balance.at(Place::Map).rows < FEW { MOST_MEAN_OF_FEW } else { MOST_MEAN };
    let is_other = (all / used - 1.0 - known).abs() > most;
    (rows.kind == JobKind::Yield && is_other).then(|| {
        let message = format!(
            "the rows that are used have {used:.0} kg/ha, but all logged grain on all covered ground is {all:.0} kg/ha: rows \
             lack values, ground is counted that has no grain, or grain is left out; largest reasons: {}",
            largest(rows, "kg")
        );
        Diagnostic::new(Code::MeanContradicts, message)
    })
}

/// A diagnostic if ground counts as harvested that has no grain.
fn empty_ground(rows: &CleanRows, balance: &Balance) -> Option<Diagnostic> {
    let kg = rows.masses.wet.as_ref().filter(|_| rows.kind == JobKind::Yield)?;
    let is_empty = |k: &usize| rows.passes.number[*k] > 0 && kg[*k] <= 0.0;
    let empty: f64 = (0..rows.passes.number.len()).filter(is_empty).map(|k| rows.ground.coverage.fresh[k]).sum();
    (empty > MOST_EMPTY * balance.covered).then(|| {
        let message = format!(
            "{:.2} of {:.2} ha of the covered ground are of rows that work by their state and have no grain; if the machine \
             only drove there, correct the column of the state",
            empty / HECTARE,
            balance.covered / HECTARE
        );
        Diagnostic::new(Code::MeanContradicts, message)
    })
}

/// A diagnostic if rates are far above all others, which are used as they are.
fn high_rates(rows: &CleanRows) -> Option<Diagnostic> {
    let amount = rows.amount.as_ref().filter(|_| rows.kind != JobKind::Yield)?;
    let rate = |k: usize| amount[k] / (rows.rows.distance[k] * rows.rows.width[k]) * HECTARE;
    let limit = RateLimit::of((0..amount.len()).map(rate))?;
    let high = || (0..amount.len()).map(rate).filter(|rate| rate.is_finite() && limit.is_outlier(*rate));
    let (count, most) = (high().count(), high().fold(0.0, f64::max));
    (count > 0).then(|| {
        let message = format!(
            "{count} rows have far more than {:.0} {unit}/ha, the usual rate, and up to {most:.0} {unit}/ha; they are used as they are",
            limit.usual,
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
