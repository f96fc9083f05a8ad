//! The balance of a cleaning: what every row logged is on the map, or is left out at one place.

use crate::cleaning::clean_rows::{CleanRows, allowed_bits};
use crate::cleaning::reasons::{DUPLICATE, POSITION, main_reason};
use crate::columns::canonical::JobKind;

/// Metres of a row, below which a machine stands.
const STANDING: f64 = 0.1;

/// Of its distance, the step between positions of a row below which they stay.
const FROZEN: f64 = 0.25;

/// Where a row went; each is at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// On ground of its own that a map shows.
    #[default]
    Map,
    /// Used, but on ground that other rows cover, or without an amount.
    Again,
    /// It repeats another row.
    Copy,
    /// Its position stays, although it logs a distance.
    Frozen,
    /// The machine stands.
    Standing,
    /// It works by its state, but turns, and has no ground.
    Turning,
    /// Left out for the reasons of the report.
    LeftOut,
}

/// Rows with their amount and their ground in m2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) rows: i64,
    pub(crate) amount: f64,
    pub(crate) m2: f64,
}

impl Sums {
    pub(crate) fn add(&mut self, [amount, m2]: [f64; 2]) {
        self.rows += 1;
        self.amount += amount;
        self.m2 += m2;
    }
}

impl CleanRows {
    /// Ground of a row as logged: distance times width, else that of its polygon.
    pub(crate) fn logged_ground(&self, k: usize) -> f64 {
        let m2 = self.rows.distance[k] * self.rows.width[k];
        if m2.is_finite() { m2 } else { self.ground.coverage.full[k] }
    }

    /// What a row logged, without a shift: kilograms or the amount, and the ground of a row that works by its state. The grain
    /// of a pass arrives after the header is up, too.
    pub(crate) fn logged(&self, k: usize) -> [f64; 2] {
        let amount = self.masses.logged.as_ref().or(self.amount.as_ref()).map_or(f64::NAN, |amount| amount[k]);
        let is_working = self.rows.working.as_ref().is_none_or(|working| working[k]);
        let m2 = if is_working && !self.rows.is_mixed_in(k) { self.logged_ground(k) } else { 0.0 };
        [amount, m2].map(|value| if value.is_finite() { value } else { 0.0 })
    }

    /// The same where it was harvested or applied: the amount of the ground of a row, and the ground that is new; a row that
    /// covers nothing has what it logged.
    pub(crate) fn placed(&self, k: usize) -> [f64; 2] {
        let known = |values: Option<&Vec<f64>>| values.map(|values| values[k]).filter(|value| value.is_finite());
        let amount = known(self.masses.best().or(self.amount.as_ref())).or_else(|| known(self.masses.outside.as_ref()));
        let has_swath = self.reasons[k] & (DUPLICATE | POSITION) == 0 && self.ground.coverage.full[k] > 0.0;
        let m2 = if self.used[k] || has_swath { self.ground.coverage.fresh[k] } else { self.logged(k)[1] };
        [amount.unwrap_or(0.0), m2]
    }

    /// The first reason of a row that is not used.
    pub(crate) fn reason(&self, k: usize) -> &'static str {
        let notes = allowed_bits(self.kind == JobKind::Yield, &self.recipe);
        main_reason(self.reasons[k] & !notes, self.used[k])
    }

    /// Where a row went.
    pub(crate) fn place(&self, k: usize) -> Place {
        let amount = self.masses.best().or(self.amount.as_ref());
        let is_duplicate = self.reasons[k] & DUPLICATE != 0;
        let is_moving = self.rows.distance[k] > STANDING;
        let is_working = self.rows.working.as_ref().is_some_and(|working| working[k]);
        let has_rate = self.kind != JobKind::Yield || self.has_rate(k);
        if self.used[k] {
            let is_on_map = has_rate && amount.is_none_or(|amount| amount[k].is_finite());
            return if is_on_map {
                Place::Map
            } else if self.rows.step(k) < FROZEN * self.rows.distance[k] {
                Place::Frozen
            } else {
                Place::Again
            };
        }
        // Without times, nothing tells a machine that stands from a copy but the distance.
        if is_duplicate && if self.rows.has_time { !self.rows.stays(k) } else { is_moving } {
            Place::Copy
        } else if !is_moving {
            Place::Standing
        } else if is_duplicate {
            Place::Frozen
        } else if is_working && self.passes.number[k] == 0 && self.reasons[k] & POSITION == 0 {
            Place::Turning
        } else {
            Place::LeftOut
        }
    }
}
