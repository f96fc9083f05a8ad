//! Compares yields on neighbouring ground, of several machines and before and after each time: they agree if sensors do.

use std::collections::BTreeMap;

use crate::cleaning::clean_rows::CleanRows;
use crate::cleaning::delays::MachineDelay;
use crate::columns::canonical::JobKind;
use crate::columns::row_ratios::median;
use crate::rows::lengths::usual_width;
use crate::rows::neighbours::Neighbours;
use headland_reader::archive::{Code, Diagnostic};

/// Ratios of yields that need no word.
const AGREEING: std::ops::RangeInclusive<f64> = 0.9..=1.0 / 0.9;
/// Pairs of rows that a ratio needs.
const LEAST_PAIRS: usize = 100;
/// Ratio of yields after and before a time that needs no word. Neighbouring passes differ by less in the median.
const STEADY: f64 = 1.17;
/// Of that change, what all yields after the time show at least.
const LASTING: f64 = 0.6;
/// Times at which a sensor can have changed.
const CUTS: usize = 128;
/// Swath widths within which rows are neighbours.
const REACH: f64 = 1.6;
/// At most about this many rows look for a neighbour.
const MOST_ROWS: usize = 8_000;

/// Yields of the used rows of a harvest, and which of them are neighbours.
struct Neighbouring<'a> {
    rows: &'a CleanRows,
    rate: Vec<f64>,
    inside: Vec<usize>,
}

impl<'a> Neighbouring<'a> {
    fn new(rows: &'a CleanRows) -> Option<Self> {
        let kg = rows.masses.dry.as_ref().or(rows.masses.wet.as_ref()).filter(|_| rows.kind == JobKind::Yield)?;
        let rate: Vec<f64> = kg.iter().zip(&rows.ground.coverage.fresh).map(|(kg, m2)| kg / m2).collect();
        let is_in = |k: &usize| rows.used[*k] && rows.has_rate(*k) && rate[*k] > 0.0;
        let inside = (0..rows.used.len()).filter(is_in).collect();
        Some(Self { rows, rate, inside })
    }

    /// Rows, each with the nearest one that `is_other` accepts.
    fn pairs(&self, is_other: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
        let place = |column: &[f64]| self.inside.iter().map(|k| column[*k]).collect::<Vec<f64>>();
        let (xs, ys) = (place(&self.rows.rows.x), place(&self.rows.rows.y));
        let reach = REACH * usual_width(self.inside.iter().map(|k| self.rows.rows.width[*k]));
        if reach.is_nan() || reach <= 0.0 {
            return Vec::new();
        }
        let points = Neighbours::new(&xs, &ys, reach);
        let mut near = Vec::new();
        let sample = (0..self.inside.len()).step_by(self.inside.len().div_ceil(MOST_ROWS).max(1));
        let pair = |i: usize| {
            points.within(xs[i], ys[i], reach, &mut near);
            let others = near.iter().map(|j| *j as usize).filter(|j| is_other(self.inside[i], self.inside[*j]));
            let distance = |j: &usize| (xs[*j] - xs[i]).hypot(ys[*j] - ys[i]);
            let j = others.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
            Some((self.inside[i], self.inside[j]))
        };
        sample.filter_map(pair).collect()
    }
}

/// Diagnostics if yields differ on neighbouring ground.
pub(crate) fn yields_differ(rows: &CleanRows) -> Vec<Diagnostic> {
    let Some(neighbours) = Neighbouring::new(rows) else { return Vec::new() };
    machines_differ(&neighbours).into_iter().chain(flow_changes(&neighbours)).collect()
}

/// A diagnostic if machines of a harvest differ on neighbouring ground.
fn machines_differ(neighbours: &Neighbouring<'_>) -> Option<Diagnostic> {
    let Neighbouring { rows, rate, .. } = neighbours;
    let machine = &rows.rows.machine;
    if rows.rows.machines.len() < 2 {
        return None;
    }
    let mut ratios: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for (a, b) in neighbours.pairs(|a, b| machine[a] != machine[b]) {
        let (a, b) = if machine[a] < machine[b] { (a, b) } else { (b, a) };
        ratios.entry((machine[a], machine[b])).or_default().push(rate[a] / rate[b]);
    }
    let name = |machine: u32| rows.flow.delays.get(machine as usize).map_or_else(String::new, MachineDelay::name);
    let found = ratios.into_iter().filter(|(_, ratios)| ratios.len() >= LEAST_PAIRS);
    let found = found.map(|(pair, ratios)| (pair, median(ratios))).filter(|(_, ratio)| !AGREEING.contains(ratio));
    let texts: Vec<String> = found
        .map(|((one, other), ratio)| format!("{} measures {ratio:.2} times what {} does", name(one), name(other)))
        .collect();
    (!texts.is_empty()).then(|| {
        let message = format!(
            "on neighbouring ground, {}; nothing is corrected: `headland.grid(..., total={{machine: kg}})` scales each to what \
             was weighed",
            texts.join(", ")
        );
        Diagnostic::new(Code::MachinesDiffer, message)
    })
}

/// A diagnostic if all that a machine measures after some time is higher or lower than before, on neighbouring ground too: its
/// sensor was calibrated on the way, or its column changes its unit.
fn flow_changes(neighbours: &Neighbouring<'_>) -> Option<Diagnostic> {
    let Neighbouring { rows, rate, inside } = neighbours;
    let (machine, time, pass) = (&rows.rows.machine, &rows.rows.time, &rows.passes.number);
    let pairs = neighbours.pairs(|a, b| machine[a] == machine[b] && pass[a] != pass[b]);
    let in_time = pairs.into_iter().map(|(a, b)| if time[a] < time[b] { (a, b) } else { (b, a) });
    let in_time: Vec<(usize, usize)> = in_time.collect();
    let mut by_time = inside.clone();
    by_time.sort_unstable_by(|a, b| time[*a].total_cmp(&time[*b]));
    let ratio_at = |first: &usize| {
        let at = time[*first];
        let across = in_time.iter().filter(|(a, b)| time[*a] < at && time[*b] >= at && machine[*a] == machine[*first]);
        let ratios: Vec<f64> = across.map(|(a, b)| rate[*b] / rate[*a]).collect();
        (ratios.len() >= LEAST_PAIRS).then(|| (*first, median(ratios)))
    };
    let cuts = by_time.iter().step_by(by_time.len().div_ceil(CUTS).max(1));
    let (first, ratio) = cuts.filter_map(ratio_at).max_by(|(_, a), (_, b)| a.ln().abs().total_cmp(&b.ln().abs()))?;
    let part = |is_after: bool| {
        let own = inside.iter().filter(|k| machine[**k] == machine[first] && (time[**k] >= time[first]) == is_after);
        median(own.map(|k| rate[*k]).collect())
    };
    let all = part(true) / part(false);
    let is_lasting = all.ln() * ratio.ln().signum() > LASTING * ratio.ln().abs();
    (ratio.ln().abs() > STEADY.ln() && is_lasting).then(|| {
        let message = format!(
            "from row {} on, the yield is {ratio:.2} times that before it on neighbouring ground, and {all:.2} times in all: was \
             the sensor calibrated, or does a column change its unit? Nothing is corrected: harmonise both parts apart, or \
             pass a corrected column",
            rows.rows.row[first]
        );
        Diagnostic::new(Code::FlowChanges, message)
    })
}
