//! The time and the section of each row, where the display logs a coarse clock, no time or no section.

use std::collections::HashMap;

use super::field_rows::FieldRows;
use super::row_ratios::median;

/// Metres: rows that are nearer to each other are at the same location.
pub(super) const SAME_LOCATION: f64 = 0.01;
/// Speed in m/s of rows without time and interval.
const USUAL_SPEED: f64 = 2.0;
/// Longest step without a time, in seconds.
const LONGEST_STEP: f64 = 60.0;

/// Seconds and section of the rows, in the order of the layer.
pub(super) struct RowClock {
    pub(super) time: Vec<f64>,
    pub(super) section: Vec<i64>,
}

impl RowClock {
    /// Without times, rows follow each other in the order of the file. With a clock that is coarser than the log, rows
    /// of one time are spread evenly until the next time. Otherwise rows of one time at other locations are sections.
    pub(super) fn new(rows: &FieldRows) -> Self {
        let Some(time) = &rows.time else {
            return Self { time: file_clock(rows), section: rows.section.clone() };
        };
        if is_coarse(rows, time) {
            return Self { time: spread(rows, time), section: rows.section.clone() };
        }
        let is_logged = rows.section.iter().any(|section| Some(section) != rows.section.first());
        let section = if is_logged { rows.section.clone() } else { sections(rows, time) };
        Self { time: time.clone(), section }
    }
}

/// Intervals summed in the order of the file, by machine and section.
fn file_clock(rows: &FieldRows) -> Vec<f64> {
    let mut clocks: HashMap<(i64, i64), f64> = HashMap::new();
    let steps = rows.machine.iter().zip(&rows.section).zip(&rows.interval).zip(&rows.distance);
    let next = |(((machine, section), interval), distance): (((&i64, &i64), &f64), &f64)| {
        let step = if *interval > 0.0 {
            *interval
        } else if *distance > 0.0 {
            (distance / USUAL_SPEED).min(LONGEST_STEP)
        } else {
            1.0
        };
        let clock = clocks.entry((*machine, *section)).or_default();
        *clock += step;
        *clock
    };
    steps.map(next).collect()
}

/// Rows of one machine and logged section with the same time, in order of time; rows of one time are in the order of the
/// file.
fn groups(rows: &FieldRows, time: &[f64]) -> Vec<Vec<usize>> {
    let source = |row: usize| (rows.machine[row], rows.section[row]);
    let mut order: Vec<usize> = (0..time.len()).collect();
    order.sort_by(|a, b| source(*a).cmp(&source(*b)).then(time[*a].total_cmp(&time[*b])));
    let is_one = |a: &usize, b: &usize| source(*a) == source(*b) && time[*a].total_cmp(&time[*b]).is_eq();
    order.chunk_by(is_one).map(<[usize]>::to_vec).collect()
}

/// Whether rows of one time follow each other along the track, so that the clock is coarser than the log.
fn is_coarse(rows: &FieldRows, time: &[f64]) -> bool {
    let groups = groups(rows, time);
    let (mut along, mut across) = (Vec::new(), Vec::new());
    for pair in groups.windows(2) {
        let [group, next] = pair else { continue };
        let (Some(first), Some(last), Some(then)) = (group.first(), group.last(), next.first()) else { continue };
        let step = |from: usize, to: usize| (rows.x[to] - rows.x[from], rows.y[to] - rows.y[from]);
        let (dx, dy) = step(*first, *last);
        // Without logged sections, the first rows of both groups are of the same section, or follow each other.
        let (east, north) = step(*first, *then);
        let length = east.hypot(north);
        let is_same = rows.machine[*first] == rows.machine[*then] && rows.section[*first] == rows.section[*then];
        if dx.hypot(dy) > SAME_LOCATION && length > SAME_LOCATION && is_same {
            along.push(((dx * east + dy * north) / length).abs());
            across.push(((dx * north - dy * east) / length).abs());
        }
    }
    median(along) > median(across)
}

/// Times of rows that share one with others, spread evenly until the next time of the machine. Rows at one location keep
/// one time.
fn spread(rows: &FieldRows, time: &[f64]) -> Vec<f64> {
    let mut spread = time.to_vec();
    let mut next_time: HashMap<(i64, i64), f64> = HashMap::new();
    for group in groups(rows, time).into_iter().rev() {
        let Some(first) = group.first().copied() else { continue };
        let mut steps: Vec<f64> = Vec::with_capacity(group.len());
        for (row, before) in group.iter().zip(std::iter::once(&first).chain(&group)) {
            let has_moved = (rows.x[*row] - rows.x[*before]).hypot(rows.y[*row] - rows.y[*before]) > SAME_LOCATION;
            steps.push(steps.last().copied().unwrap_or(0.0) + if has_moved { 1.0 } else { 0.0 });
        }
        let count = steps.last().copied().unwrap_or(0.0) + 1.0;
        let usual = rows.interval[first] * count;
        let until = next_time.insert((rows.machine[first], rows.section[first]), time[first]);
        let until = until.map_or(usual, |next| next - time[first]);
        // Before a gap, rows keep their interval.
        let step = if until > 0.0 && until < 3.0 * usual { until / count } else { rows.interval[first] };
        for (row, steps) in group.into_iter().zip(steps) {
            spread[row] = time[row] + step * steps;
        }
    }
    spread
}

/// Sections of rows without one: rows of one time and machine at other locations, numbered in the order of the file.
fn sections(rows: &FieldRows, time: &[f64]) -> Vec<i64> {
    let mut met: HashMap<(i64, u64), Vec<(f64, f64)>> = HashMap::new();
    let number = |(row, time): (usize, &f64)| {
        let (x, y) = (rows.x[row], rows.y[row]);
        let locations = met.entry((rows.machine[row], time.to_bits())).or_default();
        let is_here = |location: &(f64, f64)| (location.0 - x).hypot(location.1 - y) < SAME_LOCATION;
        let section = locations.iter().position(is_here).unwrap_or(locations.len());
        if section == locations.len() && time.is_finite() {
            locations.push((x, y));
        }
        i64::try_from(section).unwrap_or(i64::MAX)
    };
    time.iter().enumerate().map(number).collect()
}
