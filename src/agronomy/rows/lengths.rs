//! Settles the distance and the width of rows: null and contradicted ones follow from the rows around them.

use crate::columns::derived::{GAP, Rows};
use crate::columns::row_ratios::running_median;
use crate::rows::order::RowOrder;

/// Part by which a distance may differ from that at the usual speed and from the step between positions.
const DISTANCE_JUMP: f64 = 0.45;
/// Rows around a row whose median speed is the usual one.
const DISTANCE_ROWS: usize = 15;
/// Steps between positions that replace a distance are at most this long, in metres.
const LONGEST_STEP: f64 = 30.0;
/// Metres between positions of a machine that stands, at most.
const STANDING: f64 = 0.5;
/// Columns of what was applied or yielded on the ground of a row.
const AMOUNTS: [&str; 6] =
    ["applied_rate", "yield_wet_mass", "yield_dry_mass", "yield_dry_matter", "yield_wet_volume", "yield_dry_volume"];
/// Widths are equal if they are within this many metres.
pub(crate) const WIDTH_STEP: f64 = 0.001;

/// The distances, with the step between positions for those that are null, or that the speed of the rows around and the step
/// contradict. Columns are in the order of the layer.
pub(crate) fn used_distances(
    order: &RowOrder,
    (x, y): (&[f64], &[f64]),
    interval: &[f64],
    mut distance: Vec<f64>,
) -> Vec<f64> {
    if order.fit.uses_steps() {
        return order.distances(x, y, interval);
    }
    for track in &order.tracks {
        let rows = &order.row[track.clone()];
        let speeds: Vec<f64> = rows.iter().map(|row| distance[*row] / interval[*row]).collect();
        let usual = running_median(&speeds, DISTANCE_ROWS);
        for (index, row) in rows.iter().enumerate() {
            let expected = usual[index] * interval[*row];
            let step = index.checked_sub(1).map_or(f64::NAN, |before| {
                let before = rows[before];
                let seconds = order.time.as_ref().map_or(0.0, |time| time[*row] - time[before]);
                let step = (x[*row] - x[before]).hypot(y[*row] - y[before]);
                if seconds <= GAP * interval[*row].max(0.1) && step < LONGEST_STEP { step } else { f64::NAN }
            });
            let is_off = |other: f64| (distance[*row] / other - 1.0).abs() > DISTANCE_JUMP;
            if distance[*row].is_nan() || (distance[*row] <= 0.0 && step > STANDING) {
                distance[*row] = if step.is_nan() { expected } else { step };
            } else if is_off(expected) && is_off(step) && step.is_finite() {
                distance[*row] = step;
            }
        }
    }
    distance
}

/// Fills null distances from which areas and amounts are computed; the column of the layer stays as it was logged.
pub(crate) fn fill_distances(order: &RowOrder, places: (&[f64], &[f64]), rows: &mut Rows) {
    let Some((logged, interval)) = rows.get("distance").zip(rows.get("interval")) else { return };
    if !logged.iter().any(|distance| distance.is_nan()) {
        return;
    }
    let used = used_distances(order, places, interval, logged.to_vec());
    let one = |(logged, used): (&f64, f64)| if logged.is_nan() { used } else { *logged };
    let filled = logged.iter().zip(used).map(one).collect();
    rows.columns.insert("distance", filled);
}

/// Fills null widths of rows that applied or yielded something, like the distances.
pub(crate) fn fill_widths(order: &RowOrder, rows: &mut Rows) {
    // The mass of a flow needs no width.
    let amount = AMOUNTS.iter().find_map(|name| rows.get(name)).filter(|_| rows.get("flow").is_none());
    let Some((logged, amount)) = rows.get("swath_width").zip(amount) else { return };
    if !logged.iter().any(|width| width.is_nan()) {
        return;
    }
    let used = filled_widths(logged.to_vec(), order).into_iter().zip(amount);
    let one = |(logged, (used, amount)): (&f64, (f64, &f64))| if *amount > 0.0 { used } else { *logged };
    let filled = logged.iter().zip(used).map(one).collect();
    rows.columns.insert("swath_width", filled);
}

/// The widths, with the usual one of the track for those that are null.
pub(crate) fn filled_widths(mut width: Vec<f64>, order: &RowOrder) -> Vec<f64> {
    for track in &order.tracks {
        let rows = &order.row[track.clone()];
        if rows.iter().any(|row| width[*row].is_nan()) {
            let usual = usual_width(rows.iter().map(|row| width[*row]));
            for row in rows {
                if width[*row].is_nan() {
                    width[*row] = usual;
                }
            }
        }
    }
    width
}

/// The most frequent width above 0; of equally frequent ones, the largest. Not a number without any.
pub(crate) fn usual_width(widths: impl Iterator<Item = f64>) -> f64 {
    let mut widths: Vec<f64> = widths.filter(|width| *width > 0.0).map(|width| (width / WIDTH_STEP).round()).collect();
    widths.sort_unstable_by(f64::total_cmp);
    let most = widths.chunk_by(|a, b| a.total_cmp(b).is_eq()).max_by_key(|same| same.len());
    most.and_then(<[f64]>::first).map_or(f64::NAN, |width| width * WIDTH_STEP)
}
