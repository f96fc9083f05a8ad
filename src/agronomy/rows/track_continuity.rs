//! Separates the tracks of sections or machines by continuous movement, where no column names them.

use std::cell::LazyCell;

use crate::columns::row_ratios::median;
use crate::rows::logged_rows::{LoggedRows, SAME_LOCATION};
use crate::rows::order_fit::LEAST_STEPS;

/// Rows before a row among which its own track is looked for.
const LOOK_BACK: usize = 6;
/// Steps beyond this many distances leave the track, and rows within the other are of it.
const LEAVES: f64 = 2.5;
const RETURNS: f64 = 1.6;
/// Of all rows, those that leave one track for another where tracks are interleaved.
const LEAST_LEAVING: f64 = 0.2;
/// Steps in which a row is looked for at most, and metres.
const REACH: f64 = 4.0;
const LEAST_REACH: f64 = 6.0;
/// Tracks of one time at most; more rows are of the last one.
const MOST_TRACKS: usize = 64;
/// Seconds after which a track that was left can be resumed elsewhere.
const STALE: f64 = 5.0;
/// Of the rows of one time, those that are no sections of one header.
const MOST_APART: f64 = 0.2;
/// Metres between the ends of the widest boom.
const WIDEST: f64 = 60.0;

fn distance_of(logged: &LoggedRows<'_>, row: usize) -> f64 {
    logged.distance.get(row).copied().filter(|distance| *distance > 0.0).unwrap_or(f64::NAN)
}

fn apart(logged: &LoggedRows<'_>, a: usize, b: usize) -> f64 {
    (logged.x[a] - logged.x[b]).hypot(logged.y[a] - logged.y[b])
}

/// Whether rows alternate between tracks: a row is far from the row before, but a step from one of those before that.
pub(crate) fn is_interleaved(logged: &LoggedRows<'_>, row: &[usize], source: &[u32]) -> bool {
    let usual = LazyCell::new(|| median(row.windows(2).map(|pair| apart(logged, pair[0], pair[1])).collect()));
    let (mut steps, mut leaving) = (0.0, 0.0);
    for k in LOOK_BACK..row.len() {
        let (own, before) = (row[k], row[k - 1]);
        let distance = distance_of(logged, own);
        let distance = if distance.is_nan() { *usual / LEAVES } else { distance };
        if source[own] != source[before] || distance.is_nan() {
            continue;
        }
        steps += 1.0;
        if apart(logged, own, before) > LEAVES * distance {
            let back = row[k - LOOK_BACK..k - 1].iter();
            let nearest = back.map(|other| apart(logged, own, *other)).fold(f64::INFINITY, f64::min);
            leaving += if nearest <= RETURNS * distance { 1.0 } else { 0.0 };
        }
    }
    steps > 0.0 && leaving > LEAST_LEAVING * steps
}

/// The last row of a track.
#[derive(Clone, Copy)]
struct Head {
    row: usize,
    time: f64,
}

/// Numbers of the tracks of each source, from 0: a row follows the nearest track, else one that was left, else it begins one.
/// Rows of one time at one location are of one track.
pub(crate) fn separate(logged: &LoggedRows<'_>, row: &[usize], source: &[u32], time: Option<&[f64]>) -> Vec<u32> {
    let mut numbers = vec![0_u32; row.len()];
    let mut heads: Vec<Head> = Vec::new();
    // Without times, rows count.
    let clock = |k: usize| time.map_or_else(|| f64::from(u32::try_from(k).unwrap_or(u32::MAX)), |time| time[row[k]]);
    let step = {
        let steps = (1..row.len()).map(|k| clock(k) - clock(k - 1)).filter(|step| *step > 0.0);
        median(steps.collect())
    };
    let usual = median(row.iter().map(|own| distance_of(logged, *own)).collect());
    for k in 0..row.len() {
        let (own, now) = (row[k], clock(k));
        if k == 0 || source[own] != source[row[k - 1]] {
            heads.clear();
        }
        let is_free = |head: &Head| head.time < now || apart(logged, head.row, own) < SAME_LOCATION || now.is_nan();
        let reach = (REACH * if usual.is_nan() { 1.0 } else { usual }).max(LEAST_REACH);
        let nearest = |is_in: &dyn Fn(&Head) -> bool| {
            let free = heads.iter().enumerate().filter(|(_, head)| is_free(head) && is_in(head));
            free.map(|(number, head)| (apart(logged, head.row, own), number)).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let found = nearest(&|_| true)
            .filter(|(metres, _)| *metres <= reach)
            .or_else(|| nearest(&|head| now - head.time > STALE.max(3.0 * step)))
            .map(|(_, number)| number);
        let number = match found {
            Some(number) => number,
            None if heads.len() < MOST_TRACKS => {
                heads.push(Head { row: own, time: now });
                heads.len() - 1
            }
            None => MOST_TRACKS - 1,
        };
        heads[number] = Head { row: own, time: now };
        numbers[own] = u32::try_from(number).unwrap_or(u32::MAX);
    }
    numbers
}

/// Whether the tracks are sections of one header: rows of one time lie across the way that they move.
pub(crate) fn are_sections(
    logged: &LoggedRows<'_>,
    row: &[usize],
    source: &[u32],
    numbers: &[u32],
    time: Option<&[f64]>,
) -> bool {
    let Some(time) = time else { return false };
    let mut last: Vec<Option<usize>> = Vec::new();
    let (mut pairs, mut odd) = (0.0, 0.0);
    for moment in row.chunk_by(|a, b| source[*a] == source[*b] && time[*a].total_cmp(&time[*b]).is_eq()) {
        let motion = |own: usize, last: &[Option<usize>]| {
            let before =
                last.get(numbers[own] as usize).copied().flatten().filter(|before| source[*before] == source[own])?;
            Some((logged.x[own] - logged.x[before], logged.y[own] - logged.y[before]))
        };
        if let [first, others @ ..] = moment {
            for other in others.iter().filter(|other| numbers[**other] != numbers[*first]) {
                let (Some(one), Some(two)) = (motion(*first, &last), motion(*other, &last)) else { continue };
                let length = one.0.hypot(one.1);
                if length < SAME_LOCATION {
                    continue;
                }
                let between = (logged.x[*other] - logged.x[*first], logged.y[*other] - logged.y[*first]);
                let along = ((between.0 * one.0 + between.1 * one.1) / length).abs();
                let metres = between.0.hypot(between.1);
                let is_together = (two.0 - one.0).hypot(two.1 - one.1) < 0.7 * length + 0.2 * metres;
                pairs += 1.0;
                odd += if along > 1.5 * length + 1.0 || metres > WIDEST || !is_together { 1.0 } else { 0.0 };
            }
        }
        for own in moment {
            let number = numbers[*own] as usize;
            if last.len() <= number {
                last.resize(number + 1, None);
            }
            last[number] = Some(*own);
        }
    }
    odd <= MOST_APART * pairs
}

/// Whether rows of one time, which are apart, log the same flow to the last digit: each section has that of the machine.
pub(crate) fn share_flow(logged: &LoggedRows<'_>, source: &[u32], time: &[f64]) -> bool {
    let has_flow = |row: &usize| logged.flow.get(*row).is_some_and(|flow| *flow > 0.0) && time[*row].is_finite();
    let mut rows: Vec<usize> = (0..time.len()).filter(has_flow).collect();
    let compare = |a: &usize, b: &usize| source[*a].cmp(&source[*b]).then(time[*a].total_cmp(&time[*b]));
    rows.sort_by(compare);
    let (mut moments, mut shared) = (0_usize, 0_usize);
    for moment in rows.chunk_by(|a, b| compare(a, b).is_eq()) {
        let [first, others @ ..] = moment else { continue };
        if others.iter().any(|other| apart(logged, *first, *other) > SAME_LOCATION) {
            moments += 1;
            shared +=
                usize::from(others.iter().all(|other| logged.flow[*other].total_cmp(&logged.flow[*first]).is_eq()));
        }
    }
    moments >= LEAST_STEPS && 5 * shared > 4 * moments
}
