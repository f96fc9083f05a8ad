//! Compares the yields of machines on neighbouring ground, which agree if their sensors are calibrated.

use std::collections::BTreeMap;

use crate::cleaning::clean::CleanRows;
use crate::cleaning::delays::MachineDelay;
use crate::columns::row_ratios::median;
use crate::rows::lengths::usual_width;
use crate::rows::neighbours::Neighbours;
use headland_reader::archive::{Code, Diagnostic};

/// Ratios of yields that need no word.
const AGREEING: std::ops::RangeInclusive<f64> = 0.9..=1.0 / 0.9;
/// Pairs of rows that a ratio needs.
const LEAST_PAIRS: usize = 100;
/// Swath widths within which rows of two machines are neighbours.
const REACH: f64 = 1.6;
/// At most about this many rows look for a neighbour.
const MOST_ROWS: usize = 8_000;

/// A diagnostic if machines of a harvest differ on neighbouring ground.
pub(crate) fn machines_differ(rows: &CleanRows) -> Option<Diagnostic> {
    let kg = rows.masses.dry.as_ref().or(rows.masses.wet.as_ref()).filter(|_| rows.rows.machines.len() > 1)?;
    let rate = |k: usize| kg[k] / rows.ground.coverage.fresh[k];
    let is_in = |k: &usize| rows.used[*k] && rows.has_rate(*k) && rate(*k) > 0.0;
    let inside: Vec<usize> = (0..rows.used.len()).filter(is_in).collect();
    let place = |column: &[f64]| inside.iter().map(|k| column[*k]).collect::<Vec<f64>>();
    let (xs, ys) = (place(&rows.rows.x), place(&rows.rows.y));
    let reach = REACH * usual_width(inside.iter().map(|k| rows.rows.width[*k]));
    if reach.is_nan() || reach <= 0.0 {
        return None;
    }
    let points = Neighbours::new(&xs, &ys, reach);
    let mut near = Vec::new();
    let mut ratios: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for i in (0..inside.len()).step_by(inside.len().div_ceil(MOST_ROWS).max(1)) {
        points.within(xs[i], ys[i], reach, &mut near);
        let machine = rows.rows.machine[inside[i]];
        let others = near.iter().map(|j| *j as usize).filter(|j| rows.rows.machine[inside[*j]] != machine);
        let distance = |j: &usize| (xs[*j] - xs[i]).hypot(ys[*j] - ys[i]);
        let Some(j) = others.min_by(|a, b| distance(a).total_cmp(&distance(b))) else { continue };
        let other = rows.rows.machine[inside[j]];
        let ratio = rate(inside[i]) / rate(inside[j]);
        let (pair, ratio) = if machine < other { ((machine, other), ratio) } else { ((other, machine), 1.0 / ratio) };
        ratios.entry(pair).or_default().push(ratio);
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
