//! The seconds of each row, by the clock or by distance and speed, and what contradicts the clock.

use crate::columns::added::Added;
use crate::columns::arrays::computed_column;
use crate::columns::canonical::YIELDS;
use crate::columns::derived::{GAP, Rows, resolution};
use crate::columns::provenance as keys;
use crate::columns::row_ratios::median;
use crate::rows::layer_order::{order, positions};
use crate::rows::order::RowOrder;
use crate::times::numbers::RUNNING;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Rows that a test needs.
const LEAST_ROWS: usize = 50;
/// Intervals that are logged / intervals by the clock, in sum.
const INTERVALS: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Speed that is logged / distance by interval, in the median.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.9..=1.0 / 0.9;
/// Metres per second of a machine that works, in the median.
const WORKING: std::ops::RangeInclusive<f64> = 0.1..=15.0;
/// Metres of a row, or metres in a second, of a machine that moves.
const MOVING: f64 = 0.3;

/// Seconds of each row by the clock; distances may have no unit yet.
pub(crate) fn clock_intervals(layer: &Layer, rows: &Rows) -> Option<Vec<f64>> {
    rows.times.as_ref()?;
    let (x, y) = positions(layer, |name| rows.get(name));
    let distance = rows.get("distance").unwrap_or_default();
    order(layer, rows, (&x, &y), None).intervals(&x, &y, distance, clock_step(rows))
}

/// The step of the clock in seconds.
#[expect(clippy::cast_precision_loss, reason = "at most a day in microseconds")]
fn clock_step(rows: &Rows) -> f64 {
    rows.times.as_ref().map_or(0.0, |times| rows.resolution.max(resolution(times)) as f64 / 1e6)
}

/// The median speed in m/s of the rows that move.
fn usual_speed(distance: &[f64], seconds: impl Iterator<Item = f64>) -> f64 {
    let moving = distance.iter().zip(seconds).filter(|(metres, seconds)| **metres > MOVING && *seconds > 0.0);
    median(moving.map(|(metres, seconds)| metres / seconds).collect())
}

/// Leaves out a clock by which no machine works, such as minutes and seconds that are read as hours and minutes.
pub(crate) fn check_clock(layer: &Layer, rows: &mut Rows, added: &mut Vec<Added>, diagnostics: &mut Vec<Diagnostic>) {
    let Some((times, distance)) = rows.times.as_ref().zip(rows.get("distance")) else { return };
    let is_wrong = |speed: f64| speed.is_finite() && !WORKING.contains(&speed);
    #[expect(clippy::cast_precision_loss, reason = "the time of a job is far below 2^53 microseconds")]
    let steps = times.iter().zip(times.iter().skip(1)).map(|(before, after)| {
        before.zip(*after).map_or(f64::NAN, |(before, after)| after.abs_diff(before) as f64 / 1e6)
    });
    // The steps in the order of the file mostly show at once that the clock is right.
    if !rows.polygons.is_empty() || !is_wrong(usual_speed(distance.get(1..).unwrap_or_default(), steps)) {
        return;
    }
    let Some(intervals) = clock_intervals(layer, rows) else { return };
    let speed = usual_speed(distance, intervals.into_iter());
    if is_wrong(speed) {
        let source = source(added, "time", keys::SOURCE).unwrap_or_default();
        let message = format!(
            "the machine moves {speed:.3} m/s in the median row by column `{source}`, which is not used: its times have another form \
             or unit, such as minutes and seconds read as hours and minutes; pass right ones as `columns={{\"time\": ...}}`"
        );
        diagnostics.push(Diagnostic::new(Code::TimeUnreadable, message));
        added.retain(|column| !["time", "order"].contains(&column.field.name().as_str()));
        rows.times = None;
    }
}

/// Adds the interval by the clock, else by distance and speed. One that is logged stays, unless these contradict it.
pub(crate) fn settle_interval(
    layer: &Layer,
    order: &RowOrder,
    (x, y): (&[f64], &[f64]),
    rows: &mut Rows,
    added: &mut Vec<Added>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let distance = rows.get("distance").unwrap_or_default();
    let by_time = order.intervals(x, y, distance, clock_step(rows)).map(|intervals| (intervals, "time"));
    let by_speed = || {
        let seconds = |[distance, speed]: [f64; 2]| if speed > 0.0 { distance / speed } else { f64::NAN };
        rows.combine(["distance", "speed"], seconds).map(|intervals| (intervals, "distance / speed"))
    };
    let has_clock = by_time.is_some();
    let Some((intervals, source)) = by_time.or_else(by_speed) else { return };
    if let Some(logged) = rows.get("interval") {
        let known = || logged.iter().zip(&intervals).filter(|(one, other)| **one > 0.0 && **other > 0.0);
        let [claimed, found] = known().fold([0.0, 0.0], |sums, (one, other)| [sums[0] + one, sums[1] + other]);
        if known().count() < LEAST_ROWS || INTERVALS.contains(&(claimed / found)) {
            if has_clock {
                diagnostics.extend(other_speed(rows, logged, "that is logged", diagnostics));
            }
            return;
        }
        let message = format!(
            "the interval that is logged is {:.2} times that by {source}, which is used; if it has another unit, pass it as \
             `units=`",
            claimed / found
        );
        diagnostics.push(Diagnostic::new(Code::IntervalContradicts, message));
        added.retain(|column| column.field.name() != "interval");
    } else if has_clock {
        diagnostics.extend(other_speed(rows, &intervals, "by the times", diagnostics));
        diagnostics.extend(counted_seconds(rows, added));
    }
    added.push(computed_column(layer, "interval", "s", source, &intervals));
    rows.columns.insert("interval", intervals);
}

/// A diagnostic if a logged speed contradicts distances and intervals: the clock does not count seconds, or the speed is wrong.
fn other_speed(rows: &Rows, intervals: &[f64], source: &str, said: &[Diagnostic]) -> Option<Diagnostic> {
    let (speed, distance) = rows.get("speed").zip(rows.get("distance"))?;
    let moving =
        speed.iter().zip(distance).zip(intervals).filter(|((speed, metres), _)| **speed > MOVING && **metres > MOVING);
    let ratios: Vec<f64> = moving.map(|((speed, metres), seconds)| speed * seconds / metres).collect();
    let is_enough = ratios.len() >= LEAST_ROWS && said.iter().all(|said| said.code != Code::UnitsContradict);
    let ratio = median(ratios);
    (is_enough && ratio.is_finite() && !SPEEDS.contains(&ratio)).then(|| {
        let message = format!(
            "the interval {source} is {ratio:.2} times distance / speed in the median row: the clock does not count seconds, and \
             masses by a flow are wrong by that, or the speed has another unit; nothing is corrected: pass the right column as \
             `columns=`, or its unit as `units=`"
        );
        Diagnostic::new(Code::IntervalContradicts, message)
    })
}

/// A diagnostic if whole numbers of an unknown origin are taken as seconds for the mass of a flow, and no other column shows it.
fn counted_seconds(rows: &Rows, added: &[Added]) -> Option<Diagnostic> {
    let is_counted = source(added, "time", keys::RULE) == Some(RUNNING) && clock_step(rows) >= 1.0;
    let is_shown = ["speed"].iter().chain(YIELDS).any(|name| rows.get(name).is_some());
    (is_counted && !is_shown && rows.get("flow").is_some()).then(|| {
        let message = format!(
            "the whole numbers of column `{}` are taken as seconds, which no other column shows: if they count rows, all masses are \
             wrong by that; pass the seconds of a row as `columns={{\"interval\": ...}}`",
            source(added, "time", keys::SOURCE).unwrap_or_default()
        );
        Diagnostic::new(Code::IntervalAssumed, message)
    })
}

fn source<'a>(added: &'a [Added], name: &str, key: &str) -> Option<&'a str> {
    added.iter().find(|column| column.field.name() == name)?.field.metadata().get(key).map(String::as_str)
}

/// Adds the speed: distance / interval. The distance after a gap is that of the gap.
pub(crate) fn add_speed(layer: &Layer, order: &RowOrder, rows: &mut Rows, added: &mut Vec<Added>) {
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
