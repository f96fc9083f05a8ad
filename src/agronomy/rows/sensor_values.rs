//! Tests what sensors and displays log along the tracks: one value for long, an offset, and a unit that changes.

use std::collections::HashMap;

use crate::columns::canonical::{JobKind, YIELDS};
use crate::columns::derived::Rows;
use crate::columns::row_ratios::{median, median_and_range};
use crate::rows::order::RowOrder;
use crate::rows::order_fit::{LEAST_STEPS, as_f64};
use headland_reader::archive::{Code, Diagnostic};

/// Rows of one value in succession that are no chance: so many, and so many times the usual number.
const LEAST_RUN: usize = 20;
const TIMES_USUAL: f64 = 10.0;
/// Of the rows, those in such runs, before it is said, and different values of a sensor that is not stuck.
const MOST_STUCK: f64 = 0.05;
const VARYING: usize = 10;
/// Seconds after work in which no grain reaches the sensor any more.
const EMPTY: f64 = 40.0;
/// Of the usual flow, what is logged then before it is said.
const MOST_OFFSET: f64 = 0.03;
/// Ratios of one amount in two units of displays, by how much they can be off, and the units. Operators change rates too, most
/// by round ratios such as 1.12 and 2.2.
const UNITS: [(f64, f64, &str); 7] = [
    (1.120_851, 0.000_5, "lb/ac and kg/ha"),
    (2.204_623, 0.001, "kg and lb"),
    (2.471_054, 0.008, "amounts for an acre and for a hectare"),
    (3.785_412, 0.003, "US gallons and litres"),
    (9.353_956, 0.01, "gal/ac and L/ha"),
    (13.684_06, 0.01, "L/ha and fl oz/ac"),
    (1_000.0, 0.01, "a unit and its thousandth"),
];
/// The same of rates that vary, of large ratios only, and of single rates of a map.
const VARIED: f64 = 0.05;
const SINGLE: f64 = 0.003;
/// Quartiles of logarithms of one rate are within the first, and of rates that vary less than a change within a part of it.
const CONSTANT: f64 = 0.05;
const NARROW: f64 = 0.5;
/// Different rates of a map at most.
const MOST_RATES: usize = 50;

/// Diagnostics of the values. Nothing is corrected.
pub(crate) fn sensor_values(kind: JobKind, order: &RowOrder, rows: &Rows) -> Vec<Diagnostic> {
    if kind != JobKind::Yield {
        return unit_changes(order, rows).into_iter().collect();
    }
    let grain = ["flow"].iter().chain(YIELDS).find(|name| rows.get(name).is_some());
    let found = [("moisture", Code::MoistureUnusual), (grain.unwrap_or(&"flow"), Code::FlowUnusual)];
    let stuck = found.into_iter().filter_map(|(name, code)| Some(Diagnostic::new(code, stuck(order, rows, name)?)));
    stuck.chain(flow_offset(order, rows)).collect()
}

/// What is said of a sensor that gives one value for long, once or again and again, and changes otherwise.
fn stuck(order: &RowOrder, rows: &Rows, name: &str) -> Option<String> {
    let (values, working) = (rows.get(name)?, rows.get("working").unwrap_or_default());
    // In turns, many displays keep the last value.
    let is_measured = |row: &&usize| values[**row] > 0.0 && working.get(**row) != Some(&0.0);
    let mut runs: Vec<(usize, f64)> = Vec::new();
    for track in &order.tracks {
        let own: Vec<f64> = order.row[track.clone()].iter().filter(is_measured).map(|row| values[*row]).collect();
        runs.extend(own.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|run| (run.len(), run[0])));
    }
    let usual = median(runs.iter().map(|(count, _)| as_f64(*count)).collect());
    let is_long = |count: usize| count >= LEAST_RUN && as_f64(count) >= TIMES_USUAL * usual;
    let (long, others): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(count, _)| is_long(*count));
    let sum = |runs: &[(usize, f64)]| runs.iter().map(|(count, _)| *count).sum::<usize>();
    let (most, value) = long.iter().copied().max_by_key(|(count, _)| *count)?;
    let share = as_f64(sum(&long)) / as_f64(sum(&long) + sum(&others));
    let mut different: Vec<u64> = others.iter().map(|(_, value)| value.to_bits()).collect();
    different.sort_unstable();
    different.dedup();
    (share > MOST_STUCK && different.len() > VARYING).then(|| {
        format!(
            "`{name}` stays the same for long in {:.0} % of the rows that work, such as {value:.2} in {most} in succession, and \
             changes otherwise, as of a sensor that is stuck; the values are kept: if it was, make them null",
            100.0 * share
        )
    })
}

/// A diagnostic if the flow is not 0 on rows that do not work, longer after work than any delay.
fn flow_offset(order: &RowOrder, rows: &Rows) -> Option<Diagnostic> {
    let (flow, working, time) = (rows.get("flow")?, rows.get("working")?, order.time.as_ref()?);
    let mut empty = Vec::new();
    for own in order.row.chunk_by(|a, b| order.source[*a] == order.source[*b]) {
        let mut own: Vec<usize> = own.iter().copied().filter(|row| time[*row].is_finite()).collect();
        own.sort_by(|a, b| time[*a].total_cmp(&time[*b]));
        let mut last = f64::NEG_INFINITY;
        for row in own {
            if working[row] != 0.0 {
                last = time[row];
            } else if time[row] - last > EMPTY && flow[row].is_finite() {
                empty.push(flow[row]);
            }
        }
    }
    let works = (0..flow.len()).filter(|row| working[*row] > 0.0 && flow[*row] > 0.0).map(|row| flow[row]);
    let (count, usual) = (empty.len(), median(works.collect()));
    let offset = median(empty);
    (count >= LEAST_STEPS && offset > MOST_OFFSET * usual).then(|| {
        let message = format!(
            "the flow is {offset:.2} kg/s in the median of {count} rows {EMPTY} s and more after work, which is {:.0} % of the usual \
             one: if its zero drifted, all masses are too high by that; nothing is corrected: pass a corrected column as \
             `columns={{\"flow\": ...}}`",
            100.0 * offset / usual
        );
        Diagnostic::new(Code::FlowUnusual, message)
    })
}

/// A diagnostic if the rates are those in another unit from some row on.
fn unit_changes(order: &RowOrder, rows: &Rows) -> Option<Diagnostic> {
    let found = ["applied_rate", "target_rate"].map(|name| Some((name, unit_change(order, rows.get(name)?)?)));
    let names: Vec<String> = found.iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
    let (row, ratio, units) = found.iter().flatten().map(|(_, change)| *change).next()?;
    let message = format!(
        "from row {row} on, {} is {ratio:.4} times that before it, as between {units}: did the display change its unit? Nothing \
         is corrected: harmonise both parts apart with their own `units=`",
        names.join(" and ")
    );
    Some(Diagnostic::new(Code::FlowChanges, message))
}

/// The row from which on a rate is another by the ratio of two units, to the end; the ratio, and the units.
fn unit_change(order: &RowOrder, rates: &[f64]) -> Option<(usize, f64, &'static str)> {
    order.row.chunk_by(|a, b| order.source[*a] == order.source[*b]).find_map(|own| {
        let mut own: Vec<usize> =
            own.iter().copied().filter(|row| rates[*row] > 0.0 && rates[*row].is_finite()).collect();
        if let Some(time) = &order.time {
            own.sort_by(|a, b| time[*a].total_cmp(&time[*b]));
        }
        let logs: Vec<f64> = own.iter().map(|row| rates[*row].ln()).collect();
        let (row, step, units) = usual_change(&logs).or_else(|| map_change(&logs))?;
        Some((own[row], step.exp(), units))
    })
}

/// The row at which the means before and after it differ most, the logarithm of the ratio and the units, if it is that of units.
fn usual_change(logs: &[f64]) -> Option<(usize, f64, &'static str)> {
    let (all, sum) = (as_f64(logs.len()), logs.iter().sum::<f64>());
    let mut before = 0.0;
    let apart = logs.iter().enumerate().map(|(row, value)| {
        let count = as_f64(row);
        let square = (before / count - (sum - before) / (all - count)).powi(2) * count * (all - count);
        before += value;
        (row, if square.is_finite() { square } else { 0.0 })
    });
    let (row, _) = apart.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (before, after) = parts_at(logs, row)?;
    let [(old, one), (new, other)] = [before, after].map(|part| median_and_range(part.to_vec()));
    let (step, spread) = (new - old, one.max(other));
    let error = (one.powi(2) / as_f64(before.len()) + other.powi(2) / as_f64(after.len())).sqrt();
    let is_known = |(factor, part, _): &&(f64, f64, &str)| {
        let off = (step.abs() - factor.ln()).abs();
        if spread < CONSTANT {
            off < *part && 2.0 * error < *part
        } else {
            *factor > 2.0 && spread < NARROW * step.abs() && off < VARIED
        }
    };
    UNITS.iter().find(is_known).map(|(_, _, units)| (row, step, *units))
}

/// The same, where a map varies the rate: no rate of the rows after it is one of those before, but most are in another unit.
fn map_change(logs: &[f64]) -> Option<(usize, f64, &'static str)> {
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (row, value) in logs.iter().enumerate() {
        last.insert(value.to_bits(), row);
        if last.len() > MOST_RATES {
            return None;
        }
    }
    let mut until = 0;
    let starts = logs.iter().enumerate().filter(|(row, value)| {
        let is_start = *row > until;
        until = until.max(last.get(&value.to_bits()).copied().unwrap_or(0));
        is_start
    });
    let starts: Vec<usize> = starts.map(|(row, _)| row).collect();
    starts.into_iter().find_map(|row| {
        let (_, after) = parts_at(logs, row)?;
        let rates: Vec<f64> =
            last.iter().filter(|(_, last)| **last < row).map(|(bits, _)| f64::from_bits(*bits)).collect();
        let steps = UNITS.iter().flat_map(|unit| [(unit.0.ln(), unit), (-unit.0.ln(), unit)]);
        let is_one =
            |step: f64, part: f64, rate: f64| rates.iter().any(|old| (rate - old - step).abs() < part.min(SINGLE));
        let mut found = steps.filter(|(step, (_, part, _))| {
            2 * after.iter().filter(|rate| is_one(*step, *part, **rate)).count() > after.len()
        });
        found.next().map(|(step, (_, _, units))| (row, step, *units))
    })
}

/// The values before a row and from it on, if both are enough.
fn parts_at(logs: &[f64], row: usize) -> Option<(&[f64], &[f64])> {
    logs.split_at_checked(row).filter(|(before, after)| before.len().min(after.len()) >= LEAST_STEPS)
}
