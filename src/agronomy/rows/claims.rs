//! Tests what the columns of a layer claim of its rows before masses and ground follow from it: order, interval, state.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Int32Array};
use arrow_schema::DataType;

use crate::columns::added::{Added, split};
use crate::columns::arrays::computed_column;
use crate::columns::canonical::JobKind;
use crate::columns::cell_values::numbers;
use crate::columns::derived::Rows;
use crate::columns::row_ratios::median;
use crate::rows::intervals::{add_speed, check_clock, settle_interval};
use crate::rows::layer_order::{order, positions};
use crate::rows::lengths::{fill_distances, fill_widths};
use crate::rows::order::RowOrder;
use crate::rows::order_fit::Fit;
use crate::rows::sensor_values::sensor_values;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Seconds by which grain can be logged after it was cut, at most.
const LONGEST_DELAY: u32 = 15;
/// Of the grain, the part on rows that do not work, above which the state is not one of the machine.
const MOST_IDLE: f64 = 0.5;
/// Rows that a test of the state needs.
const LEAST_ROWS: usize = 50;
/// Of the usual grain or product of a row, what a row that works has at least.
const LEAST_AMOUNT: f64 = 0.25;
/// Of the rows of a code, those with grain or product, above which the machine works.
const MOST_WORKING: f64 = 0.8;
/// Seeds per hectare that are planted in the median at least.
const LEAST_SEEDS: f64 = 1_000.0;

/// Settles the order, the interval and the state of the rows, and says what contradicts. Without an order, rows whose interval
/// is not logged get none, so that no mass follows.
pub(crate) fn settle(
    layer: &Layer,
    kind: JobKind,
    rows: &mut Rows,
    added: &mut Vec<Added>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    check_clock(layer, rows, added, diagnostics);
    let (x, y) = positions(layer, |name| rows.get(name));
    let mut counter = rows.columns.remove("order");
    let mut found = order(layer, rows, (&x, &y), counter.as_deref());
    if rows.times.is_none() && counter.is_none() && !found.fit.is_whole() {
        // Where rows are missing in every order, one in which they go on along tracks is right as well.
        counter = counting_column(layer, rows, (&x, &y), Fit::is_whole);
        if counter.is_none() && found.fit.is_random() {
            counter = counting_column(layer, rows, (&x, &y), |fit| !fit.is_random());
        }
        if counter.is_some() {
            found = order(layer, rows, (&x, &y), counter.as_deref());
        }
    }
    if counter.is_some() && rows.times.is_none() {
        added.push(ranks(layer, &found.row));
    }
    // The proofs of units may have said that the distances have another one.
    let said: Vec<Code> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    diagnostics.extend(found.diagnostics().into_iter().filter(|new| !said.contains(&new.code)));
    if !found.fit.is_random() {
        settle_interval(layer, &found, (&x, &y), rows, added, diagnostics);
    }
    if let Some(interval) = rows.get("interval").filter(|_| found.fit.uses_steps()) {
        let steps = found.distances(&x, &y, interval);
        for (metres, step) in rows.columns.get_mut("distance").into_iter().flatten().zip(steps) {
            *metres = if step.is_finite() { step } else { *metres };
        }
        rows.has_steps = true;
    }
    if rows.get("speed").is_none() {
        add_speed(layer, &found, rows, added);
    }
    settle_state(layer, kind, &found, rows, added, diagnostics);
    if !found.fit.is_random() {
        diagnostics.extend(sensor_values(kind, &found, rows));
        fill_distances(&found, (&x, &y), rows);
        fill_widths(&found, rows);
    }
    if kind == JobKind::Planting {
        diagnostics.extend(few_seeds(rows, added));
    }
}

/// Ranks of the rows in their order, as the column `order`.
fn ranks(layer: &Layer, row: &[usize]) -> Added {
    let mut ranks = vec![0_i32; row.len()];
    for (rank, row) in (0_i32..).zip(row) {
        ranks[*row] = rank;
    }
    let array: ArrayRef = Arc::new(Int32Array::from(ranks));
    let mut column = computed_column(layer, "order", "", "a column that counts the rows", &vec![0.0; row.len()]);
    column.field = column.field.with_data_type(DataType::Int32);
    column.arrays = split(layer, &array);
    column
}

/// A column of whole numbers, none of which is there twice, in whose order the steps between rows fit.
fn counting_column(
    layer: &Layer,
    rows: &Rows,
    places: (&[f64], &[f64]),
    fits: impl Fn(Fit) -> bool,
) -> Option<Vec<f64>> {
    let schema = layer.schema();
    let numeric = schema
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| matches!(field.data_type(), DataType::Int32 | DataType::Int64 | DataType::Float64));
    numeric.map(|(index, _)| numbers(layer, index)).find(|column| {
        let mut sorted: Vec<f64> = column.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let is_counter =
            sorted.iter().all(|value| value.fract() == 0.0) && sorted.windows(2).all(|pair| pair[0] < pair[1]);
        is_counter && fits(order(layer, rows, places, Some(column)).fit)
    })
}

/// Settles the state of the machine: codes whose rows nearly all have grain or product mean work, and a state is left out if most
/// of the grain or product is on rows that do not work by it, at every delay.
fn settle_state(
    layer: &Layer,
    kind: JobKind,
    order: &RowOrder,
    rows: &mut Rows,
    added: &mut Vec<Added>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(position) = added.iter().position(|column| column.field.name() == "working") else { return };
    let state = &added[position];
    let mut flags: Vec<Option<bool>> = state.arrays.iter().flat_map(|array| array.as_boolean().iter()).collect();
    let names = if kind == JobKind::Yield {
        &["flow", "yield_wet_mass", "yield_dry_mass", "yield_wet_volume", "yield_dry_volume", "yield"][..]
    } else {
        &["applied_rate"]
    };
    let Some(amount) = names.iter().find_map(|name| rows.get(name)) else { return };
    if amount.len() != flags.len() || amount.iter().filter(|value| **value > 0.0).count() < LEAST_ROWS {
        return;
    }
    let longest = if kind == JobKind::Yield { LONGEST_DELAY } else { 0 };
    let delays = || (0..=longest).map(|seconds| amounts_later(order, amount, f64::from(seconds)));
    let source = state.field.metadata().get(crate::columns::provenance::SOURCE).cloned().unwrap_or_default();
    let what = if kind == JobKind::Yield { "grain" } else { "product" };
    let logged = flags.clone();
    let codes = working_codes(&raw_state(layer, &source), &mut flags, amount, delays);
    let is_stuck = !codes.is_empty() && !flags.contains(&Some(false));
    // The first delay that explains the state ends the search.
    if is_stuck || !delays().any(|later| idle_share(&flags, &later) <= MOST_IDLE) {
        let flags = if is_stuck { &logged } else { &flags };
        let shares = delays().map(|later| idle_share(flags, &later));
        let message = format!(
            "column `{source}` is not used as `working`: {:.0} % of the {what} is on rows that do not work by it, at any delay; \
             if its values are inverted, pass a corrected column as `columns={{\"working\": ...}}`",
            100.0 * shares.fold(1.0, f64::min)
        );
        diagnostics.push(Diagnostic::new(Code::WorkingContradicts, message));
        added.remove(position);
        rows.columns.remove("working");
    } else if !codes.is_empty() {
        let names: Vec<String> = codes.iter().map(f64::to_string).collect();
        let message = format!(
            "rows of column `{source}` with {} count as working, since nearly all of them have {what}; if the machine does not \
             work there, pass a corrected column as `columns={{\"working\": ...}}`",
            names.join(", ")
        );
        diagnostics.push(Diagnostic::new(Code::WorkingContradicts, message));
        let number = |flag: &Option<bool>| flag.map_or(f64::NAN, |flag| f64::from(u8::from(flag)));
        rows.columns.insert("working", flags.iter().map(number).collect());
        let array: ArrayRef = Arc::new(BooleanArray::from(flags));
        added[position].arrays = split(layer, &array);
    }
}

/// Of all grain that is logged later, the part of the rows that are idle.
fn idle_share(flags: &[Option<bool>], later: &[f64]) -> f64 {
    let known = || flags.iter().zip(later).filter(|(_, grain)| **grain > 0.0);
    let all: f64 = known().map(|(_, grain)| *grain).sum();
    known().filter(|(flag, _)| **flag == Some(false)).map(|(_, grain)| *grain).sum::<f64>() / all
}

/// What is logged `seconds` after each row. Without times, rows are a second each.
fn amounts_later(order: &RowOrder, amount: &[f64], seconds: f64) -> Vec<f64> {
    let mut found = vec![f64::NAN; amount.len()];
    for track in &order.tracks {
        let rows = &order.row[track.clone()];
        let mut later = 0;
        for (index, row) in rows.iter().enumerate() {
            while later + 1 < rows.len()
                && order.time.as_ref().map_or_else(
                    || {
                        f64::from(u32::try_from(later.saturating_sub(index)).unwrap_or(u32::MAX)) < seconds
                            || later < index
                    },
                    |time| time[rows[later]] < time[*row] + seconds,
                )
            {
                later += 1;
            }
            found[*row] = amount[rows[later]];
        }
    }
    found
}

/// The numbers of the column that the state comes from; empty for other columns.
fn raw_state(layer: &Layer, source: &str) -> Vec<f64> {
    let schema = layer.schema();
    let index = schema.fields().iter().position(|field| field.name() == source && field.data_type().is_numeric());
    index.map(|index| numbers(layer, index)).unwrap_or_default()
}

/// Sets the flags of codes above 1 that mean no work by their lowest bit, although at any delay nearly all of their rows have
/// grain or product: masks of sections, or one more kind of work. Returns the codes.
fn working_codes<L: Iterator<Item = Vec<f64>>>(
    raw: &[f64],
    flags: &mut [Option<bool>],
    amount: &[f64],
    delays: impl Fn() -> L,
) -> Vec<f64> {
    let of_rows = raw.iter().zip(flags.iter());
    let mut idle: Vec<f64> =
        of_rows.filter(|(code, flag)| **flag == Some(false) && **code > 1.0).map(|(code, _)| *code).collect();
    idle.sort_unstable_by(f64::total_cmp);
    let mut codes: Vec<(f64, usize)> =
        idle.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|rows| (rows[0], rows.len())).collect();
    codes.retain(|(_, count)| *count >= LEAST_ROWS);
    if !codes.is_empty() {
        // The last grain of a pass trickles for long.
        let least = LEAST_AMOUNT * median(amount.iter().copied().filter(|value| *value > 0.0).collect());
        let mut delays = delays();
        while !codes.is_empty()
            && let Some(later) = delays.next()
        {
            #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
            codes.retain(|(code, count)| {
                let own = raw.iter().zip(&later).filter(|(own, grain)| own.total_cmp(code).is_eq() && **grain > least);
                own.count() as f64 > MOST_WORKING * *count as f64
            });
        }
    }
    let codes: Vec<f64> = codes.into_iter().map(|(code, _)| code).collect();
    for (flag, code) in flags.iter_mut().zip(raw) {
        if codes.contains(code) {
            *flag = Some(true);
        }
    }
    codes
}

/// A diagnostic if fewer seeds are planted than any planter plants.
fn few_seeds(rows: &Rows, added: &[Added]) -> Option<Diagnostic> {
    let rate = added.iter().find(|column| column.field.name() == "applied_rate")?;
    rate.field.metadata().get("unit").filter(|unit| unit.starts_with("seeds"))?;
    let usual = median(rows.get("applied_rate")?.iter().copied().filter(|rate| *rate > 0.0).collect());
    (usual < LEAST_SEEDS).then(|| {
        let message = format!(
            "the planted rate is {usual:.0} per hectare in the median; if its column is in thousands of seeds, pass `units=` with \
             `ksds/ac` or `ksds/ha`"
        );
        Diagnostic::new(Code::UnitsContradict, message)
    })
}
