//! The order in which rows were logged: tracks of machines and sections, and the steps between their rows.
//!
//! Rows of a file can be sorted by anything, thinned, or of two machines that no column tells apart. Steps of time and of
//! positions are therefore taken along tracks, in the order of time, else of a column that counts the rows, else of the
//! file, and tested before anything follows from them.

use std::cell::LazyCell;
use std::ops::Range;

use crate::columns::derived::GAP;
use crate::columns::row_ratios::{median, running_median};
use crate::rows::logged_rows::{LoggedRows, SAME_LOCATION};
use crate::rows::order_fit::{Fit, LEAST_STEPS, LONG_STEP, fit};
use crate::rows::track_continuity::{are_sections, is_interleaved, separate, share_flow};
use headland_reader::archive::{Code, Diagnostic};

/// Of the way to the next tick of a coarse clock, what its rows are apart at least.
const LEAST_ALONG: f64 = 0.25;

/// What is said of rows of one time, and of sections of one flow.
const ONE_TIME: &str =
    "all rows have one time, so that they are taken in the order of the file, and no delay is estimated";
const ONE_FLOW: &str = "the sections of each moment log the same flow, whose sum is taken as the flow of the machine; if each \
                        section logs the flow of the whole machine, keep one of them, with the width of all";

/// Rows sorted by source, section and time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowOrder {
    /// Row of the layer, in the order of the tracks. Other vectors are in the order of the layer.
    pub(crate) row: Vec<usize>,
    /// Rows of each source and section in `row`.
    pub(crate) tracks: Vec<Range<usize>>,
    /// Seconds, spread evenly where the clock is coarser than the log. `None` if nothing logs a time.
    pub(crate) time: Option<Vec<f64>>,
    /// Machine of each row; where no column tells machines apart, they are numbered by their tracks.
    pub(crate) source: Vec<u32>,
    /// Number of machines that only their tracks distinguish.
    pub(crate) separated: usize,
    /// Whether rows of one time follow each other along the track.
    pub(crate) is_coarse: bool,
    /// Whether most polygons share their time with others, which are no sections then.
    is_shared: bool,
    /// What the times and the sections show.
    said: Vec<(Code, &'static str)>,
    pub(crate) fit: Fit,
}

impl RowOrder {
    /// Sorts the rows into tracks. Rows without a time come last in their track.
    pub(crate) fn new(logged: &LoggedRows<'_>) -> Self {
        // A clock that stands still is none.
        let stands = logged.time.is_some_and(|time| {
            let mut known = time.iter().filter(|time| time.is_finite());
            let first = known.next();
            time.len() >= LEAST_STEPS && known.all(|time| Some(time) == first)
        });
        let is_stopped = stands && !logged.has_shapes;
        let logged = &LoggedRows { time: logged.time.filter(|_| !is_stopped), ..*logged };
        let mut source = logged.source.to_vec();
        let mut section = logged.section.to_vec();
        let mut row: Vec<usize> = (0..source.len()).collect();
        sort(&mut row, logged, &source, &section, logged.time);
        let moments = moments(&row, &source, &section, logged.time);
        let has_several = !moments.is_empty();
        // Rows that are logged again, and products of one mix, are at one location, and of one track.
        let is_apart =
            |a: usize, b: usize| (logged.x[a] - logged.x[b]).hypot(logged.y[a] - logged.y[b]) > SAME_LOCATION;
        let has_apart =
            moments.iter().any(|moment| row[moment.clone()].windows(2).any(|pair| is_apart(pair[0], pair[1])));
        let is_shared = logged.has_shapes && has_several && 2 * moments.len() <= row.len();
        let is_coarse = has_several && is_coarse(logged, &row, &moments);
        let spread = if is_coarse { logged.time.map(|time| spread(logged, &row, &moments, time)) } else { None };
        let time = spread.as_deref().or(logged.time);
        let is_one_section = section.iter().all(|one| Some(one) == section.first());
        let has_sections = !logged.has_shapes && (!is_one_section || (has_apart && !is_coarse));
        let mut has_one_flow = has_sections && time.is_some_and(|time| share_flow(logged, &source, time));
        let mut separated = 0;
        // Nothing else changes the order of the rows.
        let mut is_sorted = spread.is_none();
        if is_one_section && !logged.has_shapes {
            if !is_sorted {
                sort(&mut row, logged, &source, &section, time);
                is_sorted = true;
            }
            let is_mixed = is_interleaved(logged, &row, &source);
            if is_mixed || (has_apart && !is_coarse) {
                let numbers = separate(logged, &row, &source, time);
                is_sorted = false;
                // Several machines never have one flow.
                let is_open = !is_mixed || has_one_flow;
                if is_open && are_sections(logged, &row, &source, &numbers, time) {
                    section = numbers.iter().map(|number| i64::from(*number)).collect();
                } else if numbers.iter().any(|number| *number > 0) {
                    separated = number_sources(&mut source, &numbers);
                    has_one_flow = false;
                }
            }
        }
        if !is_sorted {
            sort(&mut row, logged, &source, &section, time);
        }
        let tracks = runs_of(&row, |a, b| source[a] == source[b] && section[a] == section[b]);
        let fit = if logged.has_shapes { Fit::default() } else { fit(logged, &row, &tracks) };
        let time = spread.or_else(|| logged.time.map(<[f64]>::to_vec));
        let said = [(is_stopped, Code::TimesMissing, ONE_TIME), (has_one_flow, Code::MassAssumed, ONE_FLOW)];
        let said = said.into_iter().filter(|said| said.0).map(|(_, code, message)| (code, message)).collect();
        Self { row, tracks, time, source, separated, is_coarse, is_shared, said, fit }
    }

    /// What the steps say of the order, as diagnostics.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        if self.separated > 0 {
            let message = format!(
                "{} machines logged rows at the same times, or the clock of one was set, and no column numbers them, so \
                 their rows are separated by position; add a column `machine` of numbers, or clean each machine alone",
                self.separated
            );
            diagnostics.push(Diagnostic::new(Code::MachinesUnknown, message));
        }
        if self.fit.is_random() {
            diagnostics.push(Diagnostic::new(Code::RowsNotInOrder, self.unordered()));
        } else if let Some((code, message)) = self.scaled() {
            diagnostics.push(Diagnostic::new(code, message));
        } else if let Some([share, of_way]) = self.fit.missing_shares() {
            let message = format!(
                "{:.0} % of the rows are further from the row before than the distance that they log, over {:.0} % of the way: \
                 rows are missing between them, and their ground and grain with them",
                100.0 * share,
                100.0 * of_way
            );
            diagnostics.push(Diagnostic::new(Code::RowsMissing, message));
        }
        diagnostics.extend(self.said.iter().map(|(code, message)| Diagnostic::new(*code, *message)));
        if self.fit.is_rough {
            let message =
                "the distances have so few different values that they miss the steps between positions, which are used";
            diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
        } else if self.fit.is_short() && self.fit.ratio.is_none() {
            let message = "the distances are longer than the steps between positions, which are used; if the distances have \
                           another unit, pass it as `units=`";
            diagnostics.push(Diagnostic::new(Code::UnitsContradict, message));
        }
        diagnostics
    }

    /// What is said of distances that are not those of the steps by one ratio.
    fn scaled(&self) -> Option<(Code, String)> {
        let ratio = self.fit.ratio?;
        if let Some(times) = self.fit.thinned {
            let message = format!(
                "the steps between positions are {times} times as long as the distances, as where one of {times} rows of a log is \
                 kept: times and steps between the rows that are there are used, and their values count for those between"
            );
            return Some((Code::RowsMissing, message));
        }
        let what =
            if self.fit.uses_steps() { "the steps are used" } else { "amounts by area follow from the distances" };
        let message = format!(
            "the distances are {ratio:.3} times the steps between positions, so that one of both has another unit or coordinate \
             system, or a wrong calibration; {what}: pass the unit of the distances as `units=`, or the system as `crs=`"
        );
        Some((if self.fit.is_long() { Code::RowsMissing } else { Code::UnitsContradict }, message))
    }

    /// Why rows in no order have no mass and no passes.
    pub(crate) fn unordered(&self) -> String {
        let advice = if self.time.is_some() {
            "their times or positions are not those of single rows, such as positions of four decimals of a degree"
        } else {
            "pass a time or a column that counts the rows, such as `columns={\"order\": ...}`"
        };
        format!(
            "only {} of {} steps between rows go on along a track: the rows are in no order of a log, so that nothing tells \
             their steps and passes; {advice}",
            self.fit.fitting, self.fit.steps
        )
    }

    /// The order of the rows that `is_in` selects.
    pub(crate) fn part(&self, is_in: impl Fn(usize) -> bool) -> Self {
        let (mut row, mut tracks) = (Vec::new(), Vec::new());
        for track in &self.tracks {
            let start = row.len();
            row.extend(self.row[track.clone()].iter().copied().filter(|row| is_in(*row)));
            if row.len() > start {
                tracks.push(start..row.len());
            }
        }
        Self { row, tracks, ..self.clone() }
    }

    /// Pairs of a row and the row before it in its track.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        self.tracks.iter().flat_map(|track| self.row[track.clone()].windows(2)).map(|pair| (pair[1], pair[0]))
    }

    /// Seconds of each row by the clock, or nothing if it says too little.
    ///
    /// It is the usual step of time of the source. A row whose step between positions is longer than its distance misses
    /// rows before it, and has the part of the step of time that its distance has. A row whose time differs much from the
    /// usual one keeps it if its distance does, too. `resolution` is the step of the clock in seconds.
    pub(crate) fn intervals(&self, x: &[f64], y: &[f64], distance: &[f64], resolution: f64) -> Option<Vec<f64>> {
        /// Where the clock resolves this part of a step, the median step is exact.
        const FINE: f64 = 100.0;
        /// Rows of which most have another step where the log has another rate.
        const STRETCH: usize = 121;
        let time = self.time.as_deref().filter(|_| !self.is_shared)?;
        let distance = if self.fit.is_rough { &[] } else { distance };
        let scale = self.fit.ratio.map_or(1.0, f64::recip);
        let (mut raw, mut is_part) = (vec![f64::NAN; time.len()], vec![false; time.len()]);
        let mut last = None;
        for (row, before) in self.steps() {
            // A copy of the log with another clock repeats rows of a machine that moves.
            let is_again = |a: usize, b: usize| {
                (x[a] - x[b]).abs() + (y[a] - y[b]).abs() <= 0.0 && distance.get(a).is_some_and(|metres| *metres > 0.0)
            };
            if is_again(row, before) {
                last = last.or(Some(before));
                continue;
            }
            let before = last.take().filter(|first| is_again(before, *first)).unwrap_or(before);
            let seconds = time[row] - time[before];
            let step = (x[row] - x[before]).hypot(y[row] - y[before]);
            let own = scale * distance.get(if self.fit.is_ahead { before } else { row }).copied().unwrap_or(f64::NAN);
            is_part[row] = own > 0.0 && step > LONG_STEP * own;
            raw[row] = if is_part[row] { seconds * own / step } else { seconds };
        }
        let mut found = vec![f64::NAN; time.len()];
        for rows in self.row.chunk_by(|a, b| self.source[*a] == self.source[*b]) {
            let middle = median(rows.iter().map(|row| raw[*row]).filter(|step| *step > 0.0).collect());
            let usual = if middle >= FINE * resolution && !self.is_coarse {
                middle
            } else {
                // Turns and missing rows are longer.
                let longest = LONG_STEP * middle.max(resolution) + resolution;
                // Parts of steps are the shorter ones of a noise, unless most are.
                let parts = rows.iter().filter(|row| is_part[**row]).count();
                let is_used = |row: &&usize| !is_part[**row] || 2 * parts > rows.len();
                let near = || rows.iter().filter(is_used).map(|row| raw[*row]).filter(|step| *step <= longest);
                let (sum, count) = near()
                    .filter(|step| *step > 0.0 || (self.is_coarse && *step == 0.0))
                    .fold((0.0, 0.0), |(s, n), step| (s + step, n + 1.0));
                if sum >= 10.0 * resolution { sum / count } else { f64::NAN }
            };
            // A log of another rate from some time on has other steps in every row.
            let is_other_rate = |local: &f64| *local > LONG_STEP * usual || *local < usual / LONG_STEP;
            let ordered: Vec<f64> = rows.iter().map(|row| raw[*row]).collect();
            let has_other = ordered.chunks(STRETCH / 2).any(|rows| is_other_rate(&median(rows.to_vec())));
            let local = if has_other && !self.is_coarse { running_median(&ordered, STRETCH) } else { Vec::new() };
            let speed = LazyCell::new(|| {
                median(rows.iter().map(|row| distance.get(*row).map_or(f64::NAN, |own| own / raw[*row])).collect())
            });
            for (index, row) in rows.iter().enumerate() {
                let own = distance.get(*row).copied().unwrap_or(f64::NAN);
                let usual = local.get(index).copied().filter(is_other_rate).unwrap_or(usual);
                let is_other = raw[*row] > LONG_STEP * usual || raw[*row] < usual / LONG_STEP;
                let off = |seconds: f64| (own / seconds / *speed).ln().abs();
                let is_right = || raw[*row] > 0.0 && raw[*row] <= GAP * usual && off(raw[*row]) < 0.8 * off(usual);
                found[*row] = if is_other && !self.is_coarse && is_right() { raw[*row] } else { usual };
            }
        }
        found.iter().any(|interval| interval.is_finite()).then_some(found)
    }

    /// The distance of each row from the row before, by their positions. NaN after gaps; first rows have the next step.
    ///
    /// A gap is a step of more than 3.5 intervals, or of 3.5 times the median length without times.
    pub(crate) fn distances(&self, x: &[f64], y: &[f64], interval: &[f64]) -> Vec<f64> {
        let length = |(row, before): (usize, usize)| (x[row] - x[before]).hypot(y[row] - y[before]);
        let longest = GAP * median(self.steps().map(length).collect());
        let mut found = vec![f64::NAN; x.len()];
        let mut next = vec![f64::NAN; x.len()];
        for (row, before) in self.steps() {
            let metres = length((row, before));
            let is_joined = match &self.time {
                Some(time) => time[row] - time[before] <= GAP * interval[row].max(0.1),
                None => metres <= longest,
            };
            if is_joined {
                found[row] = metres;
                next[before] = metres;
            }
        }
        found.into_iter().zip(next).map(|(own, next)| if own.is_nan() { next } else { own }).collect()
    }
}

/// Ranges of `row` whose rows are linked.
fn runs_of(row: &[usize], is_one: impl Fn(usize, usize) -> bool) -> Vec<Range<usize>> {
    let mut start = 0;
    let chunks = row.chunk_by(|a, b| is_one(*a, *b));
    chunks
        .map(|chunk| {
            start += chunk.len();
            start - chunk.len()..start
        })
        .collect()
}

/// Sorts rows by source, section and time; rows of one time by the order column, else in the order of the file.
fn sort(row: &mut [usize], logged: &LoggedRows<'_>, source: &[u32], section: &[i64], time: Option<&[f64]>) {
    let number = |column: Option<&[f64]>, row: usize| {
        // Null comes last.
        column.map_or(0.0, |column| if column[row].is_nan() { f64::INFINITY } else { column[row] })
    };
    let key = |row: usize| (source[row], section[row]);
    let compare = |a: usize, b: usize| {
        key(a)
            .cmp(&key(b))
            .then_with(|| number(time, a).total_cmp(&number(time, b)))
            .then_with(|| number(logged.order, a).total_cmp(&number(logged.order, b)))
            .then(a.cmp(&b))
    };
    // Most files are in order already.
    if !row.is_sorted_by(|a, b| compare(*a, *b).is_le()) {
        row.sort_unstable_by(|a, b| compare(*a, *b));
    }
}

/// Rows of one source, section and time; empty if each row is a moment of its own, as without times.
fn moments(row: &[usize], source: &[u32], section: &[i64], time: Option<&[f64]>) -> Vec<Range<usize>> {
    let is_one = |a: usize, b: usize| {
        let is_one_time = time.is_some_and(|time| time[a].total_cmp(&time[b]).is_eq() && time[a].is_finite());
        is_one_time && source[a] == source[b] && section[a] == section[b]
    };
    if row.windows(2).any(|pair| is_one(pair[0], pair[1])) { runs_of(row, is_one) } else { Vec::new() }
}

/// Whether rows of one time follow each other along the track, so that the clock is coarser than the log.
fn is_coarse(logged: &LoggedRows<'_>, row: &[usize], moments: &[Range<usize>]) -> bool {
    let (mut along, mut across, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for pair in moments.windows(2) {
        let [group, next] = pair else { continue };
        let (first, last, then) = (row[group.start], row[group.end - 1], row[next.start]);
        let step = |to: usize| (logged.x[to] - logged.x[first], logged.y[to] - logged.y[first]);
        let ((dx, dy), (east, north)) = (step(last), step(then));
        let length = east.hypot(north);
        let is_same = logged.source[first] == logged.source[then] && logged.section[first] == logged.section[then];
        if dx.hypot(dy) > SAME_LOCATION && length > SAME_LOCATION && is_same {
            along.push(((dx * east + dy * north) / length).abs());
            across.push(((dx * north - dy * east) / length).abs());
            shares.push((dx * east + dy * north) / (length * length));
        }
    }
    // Two rows a tick are half of the way to the next tick apart, and more rows are further.
    median(along) > median(across) && median(shares) > LEAST_ALONG
}

/// Times of rows that share one with others, spread evenly until the next time. Rows at one location keep one time.
fn spread(logged: &LoggedRows<'_>, row: &[usize], moments: &[Range<usize>], time: &[f64]) -> Vec<f64> {
    let is_step = |before: usize, row: usize| {
        (logged.x[row] - logged.x[before]).hypot(logged.y[row] - logged.y[before]) > SAME_LOCATION
    };
    let count = |moment: &Range<usize>| {
        row[moment.clone()].windows(2).filter(|pair| is_step(pair[0], pair[1])).fold(1.0, |count, _| count + 1.0)
    };
    let until = |index: usize| {
        let (one, next) = (row[moments[index].start], row[moments.get(index + 1)?.start]);
        let is_same = logged.source[one] == logged.source[next] && logged.section[one] == logged.section[next];
        is_same.then(|| time[next] - time[one])
    };
    let usual = (0..moments.len()).filter_map(|index| Some(until(index)? / count(&moments[index])));
    let usual = median(usual.collect());
    let mut spread = time.to_vec();
    for (index, moment) in moments.iter().enumerate() {
        let count = count(moment);
        // Before a gap, rows keep their interval.
        let step = until(index).filter(|until| *until < 3.0 * usual * count).map_or(usual, |until| until / count);
        let (mut place, mut before) = (0.0, row[moment.start]);
        for row in &row[moment.clone()] {
            place += if is_step(before, *row) { 1.0 } else { 0.0 };
            spread[*row] = time[*row] + step * place;
            before = *row;
        }
    }
    spread
}

/// Numbers sources by their tracks, and returns how many there are.
fn number_sources(source: &mut [u32], numbers: &[u32]) -> usize {
    let mut pairs: Vec<(u32, u32)> = source.iter().copied().zip(numbers.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (source, number) in source.iter_mut().zip(numbers) {
        let position = pairs.binary_search(&(*source, *number)).unwrap_or(0);
        *source = u32::try_from(position).unwrap_or(u32::MAX);
    }
    pairs.len()
}
