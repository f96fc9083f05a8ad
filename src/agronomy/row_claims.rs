//! Tests what the columns of a layer claim of its rows before masses and ground follow from it: order, interval, state.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int32Array};
use arrow_schema::DataType;

use super::added_columns::{Added, split};
use super::canonical_arrays::computed_column;
use super::cell_values::numbers;
use super::columns::JobKind;
use super::derived::{GAP, Rows, resolution};
use super::logged_rows::LoggedRows;
use super::row_order::RowOrder;
use crate::archive::{Code, Diagnostic};
use crate::error::Result;
use crate::layer::Layer;

/// Metres of a degree of latitude.
const DEGREE: f64 = 111_195.0;
/// Seconds by which grain can be logged after it was cut, at most.
const LONGEST_DELAY: u32 = 15;
/// Of the grain, the part on rows that do not work, above which the state is not one of the machine.
const MOST_IDLE: f64 = 0.5;
/// Rows that a test of the state needs.
const LEAST_ROWS: usize = 50;

/// Positions of the rows in metres, for steps between neighbours only; not a number without one.
pub(super) fn positions(layer: &Layer, rows: &Rows) -> Result<(Vec<f64>, Vec<f64>)> {
    let by_columns = || {
        let (x, y) = (rows.get("longitude")?, rows.get("latitude")?);
        Some(x.iter().zip(y).map(|(x, y)| (x.abs() <= 180.0 && y.abs() <= 90.0).then_some((*x, *y))).collect())
    };
    let found: Option<Vec<Option<(f64, f64)>>> = layer.positions()?.or_else(by_columns);
    let Some(found) = found else { return Ok((vec![f64::NAN; layer.len()], vec![f64::NAN; layer.len()])) };
    let latitude = super::row_ratios::median(found.iter().flatten().map(|(_, y)| *y).collect());
    let cosine = latitude.to_radians().cos();
    let metres =
        |place: Option<(f64, f64)>| place.map_or((f64::NAN, f64::NAN), |(x, y)| (x * DEGREE * cosine, y * DEGREE));
    Ok(found.into_iter().map(metres).unzip())
}

/// The order of the rows of a layer by its columns. `counter` counts the rows.
pub(super) fn order(layer: &Layer, rows: &Rows, (x, y): (&[f64], &[f64]), counter: Option<&[f64]>) -> RowOrder {
    // Before units are proved, a column that is no number is empty.
    let whole = |name: &str| rows.get(name).filter(|column| column.len() == layer.len());
    #[expect(clippy::cast_possible_truncation, reason = "integers that were read as such")]
    let integers = |name: &str| -> Vec<i64> {
        whole(name).map_or_else(
            || vec![0; layer.len()],
            |column| column.iter().map(|value| if value.is_nan() { 0 } else { *value as i64 }).collect(),
        )
    };
    let machine = integers("machine");
    let mut known = machine.clone();
    known.sort_unstable();
    known.dedup();
    let position = |number: &i64| u32::try_from(known.binary_search(number).unwrap_or(0)).unwrap_or(u32::MAX);
    let source: Vec<u32> = machine.iter().map(position).collect();
    let time = seconds(rows);
    RowOrder::new(&LoggedRows {
        source: &source,
        section: &integers("section"),
        time: time.as_deref(),
        order: counter,
        x,
        y,
        distance: whole("distance").unwrap_or_default(),
        has_shapes: layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6)),
    })
}

/// Seconds since the first time; `None` without times.
fn seconds(rows: &Rows) -> Option<Vec<f64>> {
    let times = rows.times.as_ref()?;
    let first = times.iter().flatten().min()?;
    #[expect(clippy::cast_precision_loss, reason = "the time of a job is far below 2^53 microseconds")]
    let seconds = |time: &Option<i64>| time.map_or(f64::NAN, |time| time.saturating_sub(*first) as f64 / 1e6);
    Some(times.iter().map(seconds).collect())
}

/// Seconds of each row by the clock; distances may have no unit yet.
pub(super) fn clock_intervals(layer: &Layer, rows: &Rows) -> Result<Option<Vec<f64>>> {
    if rows.times.is_none() {
        return Ok(None);
    }
    let (x, y) = positions(layer, rows)?;
    let distance = rows.get("distance").unwrap_or_default();
    Ok(order(layer, rows, (&x, &y), None).intervals(&x, &y, distance, clock_step(rows)))
}

/// The step of the clock in seconds.
#[expect(clippy::cast_precision_loss, reason = "at most a day in microseconds")]
fn clock_step(rows: &Rows) -> f64 {
    rows.times.as_ref().map_or(0.0, |times| rows.resolution.max(resolution(times)) as f64 / 1e6)
}

/// Settles the order, the interval and the state of the rows, and says what contradicts. Without an order, rows whose interval
/// is not logged get none, so that no mass follows.
pub(super) fn settle(
    layer: &Layer,
    kind: JobKind,
    rows: &mut Rows,
    added: &mut Vec<Added>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let (x, y) = positions(layer, rows)?;
    let mut counter = rows.columns.remove("order");
    let mut found = order(layer, rows, (&x, &y), counter.as_deref());
    if rows.times.is_none() && counter.is_none() && found.fit.is_random() {
        counter = counting_column(layer, rows, (&x, &y));
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
    if rows.get("interval").is_none() && !found.fit.is_random() {
        let distance = rows.get("distance").unwrap_or_default();
        let by_time = found.intervals(&x, &y, distance, clock_step(rows)).map(|intervals| (intervals, "time"));
        let by_speed = || {
            let seconds = |[distance, speed]: [f64; 2]| if speed > 0.0 { distance / speed } else { f64::NAN };
            rows.combine(["distance", "speed"], seconds).map(|intervals| (intervals, "distance / speed"))
        };
        if let Some((intervals, source)) = by_time.or_else(by_speed) {
            added.push(computed_column(layer, "interval", "s", source, &intervals));
            rows.columns.insert("interval", intervals);
        }
    }
    if rows.get("speed").is_none() {
        add_speed(layer, &found, rows, added);
    }
    settle_state(kind, &found, rows, added, diagnostics);
    Ok(())
}

/// Adds the speed: distance / interval. The distance after a gap is that of the gap.
fn add_speed(layer: &Layer, order: &RowOrder, rows: &mut Rows, added: &mut Vec<Added>) {
    let speed = |[distance, interval]: [f64; 2]| if interval > 0.0 { distance / interval } else { f64::NAN };
    let Some(mut speeds) = rows.combine(["distance", "interval"], speed) else { return };
    if let (Some(time), Some(interval)) = (&order.time, rows.get("interval")) {
        for (row, before) in order.steps() {
            if time[row] - time[before] > GAP * interval[row] {
                speeds[row] = f64::NAN;
            }
        }
    }
    added.push(computed_column(layer, "speed", "m/s", "distance / interval", &speeds));
    rows.columns.insert("speed", speeds);
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
fn counting_column(layer: &Layer, rows: &Rows, places: (&[f64], &[f64])) -> Option<Vec<f64>> {
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
        is_counter && !order(layer, rows, places, Some(column)).fit.is_random()
    })
}

/// Leaves the state of the machine out if most of the grain or product is on rows that do not work, at every delay.
fn settle_state(
    kind: JobKind,
    order: &RowOrder,
    rows: &Rows,
    added: &mut Vec<Added>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(position) = added.iter().position(|column| column.field.name() == "working") else { return };
    let state = &added[position];
    let flags = state.arrays.iter().flat_map(|array| array.as_boolean().iter());
    let is_idle: Vec<bool> = flags.map(|flag| flag == Some(false)).collect();
    let names = if kind == JobKind::Yield {
        &["flow", "yield_wet_mass", "yield_dry_mass", "yield_wet_volume", "yield_dry_volume", "yield"][..]
    } else {
        &["applied_rate"]
    };
    let Some(amount) = names.iter().find_map(|name| rows.get(name)) else { return };
    if amount.len() != is_idle.len() || amount.iter().filter(|value| **value > 0.0).count() < LEAST_ROWS {
        return;
    }
    let longest = if kind == JobKind::Yield { LONGEST_DELAY } else { 0 };
    let shares = (0..=longest).map(|seconds| idle_share(order, &is_idle, amount, f64::from(seconds)));
    let least = shares.fold(f64::INFINITY, f64::min);
    if least <= MOST_IDLE || least.is_infinite() {
        return;
    }
    let source = state.field.metadata().get(super::provenance::SOURCE).cloned().unwrap_or_default();
    let what = if kind == JobKind::Yield { "grain" } else { "product" };
    let message = format!(
        "column `{source}` is not used as `working`: {:.0} % of the {what} is on rows that do not work by it, at any delay; if \
         its values are inverted, pass a corrected column as `columns={{\"working\": ...}}`",
        100.0 * least
    );
    diagnostics.push(Diagnostic::new(Code::WorkingContradicts, message));
    added.remove(position);
}

/// Of all grain that is logged `seconds` after rows, the part of the rows that are idle.
fn idle_share(order: &RowOrder, is_idle: &[bool], amount: &[f64], seconds: f64) -> f64 {
    let (mut idle, mut all) = (0.0, 0.0);
    for track in &order.tracks {
        let rows = &order.row[track.clone()];
        let mut later = 0;
        for (index, row) in rows.iter().enumerate() {
            // Without times, rows are a second each.
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
            let grain = amount[rows[later]];
            if grain > 0.0 {
                all += grain;
                idle += if is_idle[*row] { grain } else { 0.0 };
            }
        }
    }
    idle / all
}
