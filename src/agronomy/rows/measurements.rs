//! Groups rows that log parts of one flow measurement, so that they are accepted or rejected together.
//!
//! A display that logs five times a second, or each section of a header with one sensor, writes the same harvest in more
//! rows. What is a spike must not depend on that.

use std::ops::Range;

use crate::columns::row_ratios::median;
use crate::rows::outliers::{Deviation, Flows, Limits, deviations};
use crate::rows::track_rows::TrackRows;

/// Rows with shorter intervals, in seconds, are judged by the second.
const SHORT: f64 = 0.75;

/// How the flow of rows deviates. `is_shared` says that all sections have one sensor; repeated rows are not judged.
pub(crate) fn row_deviations(
    rows: &TrackRows,
    flows: &Flows<'_>,
    is_shared: bool,
    is_repeated: impl Fn(usize) -> bool,
    limits: &Limits,
) -> Vec<Deviation> {
    let is_short = median(rows.interval.clone()) < SHORT;
    if !is_short && !is_shared {
        return deviations(rows, flows, limits);
    }
    let measurements = Measurements::new(rows, is_shared, is_short, is_repeated);
    let found = deviations(&measurements.rows(rows), &measurements.flows(flows), limits);
    let mut of_rows = vec![Deviation::default(); rows.len()];
    for (one, found) in measurements.members.iter().zip(found) {
        one.rows.iter().for_each(|k| of_rows[*k] = found);
    }
    of_rows
}

/// Logged rows by measurement, sorted by track and time.
struct Measurements {
    members: Vec<Members>,
    tracks: Vec<Range<usize>>,
}

/// Rows of a measurement, which has at least one.
struct Members {
    rows: Vec<usize>,
    /// Machine or track.
    source: u32,
    /// Number of different times.
    times: f64,
}

impl Measurements {
    /// Collects the rows of each second, or of each time.
    fn new(rows: &TrackRows, is_shared: bool, is_short: bool, is_repeated: impl Fn(usize) -> bool) -> Self {
        let source = |k: usize| if is_shared { rows.machine[k] } else { rows.track[k] };
        // Times count from the first row.
        let moment = |k: usize| if is_short { (rows.time[k] + 1e-6).floor() } else { rows.time[k] };
        let mut members: Vec<Members> = Vec::new();
        rows.visit_groups(
            |k| !is_repeated(k),
            source,
            moment,
            |group| {
                let changes = group.windows(2).filter(|pair| rows.time[pair[0]] < rows.time[pair[1]]);
                let times = 1.0 + changes.map(|_| 1.0).sum::<f64>();
                members.push(Members { source: source(group[0]), rows: group.to_vec(), times });
            },
        );
        let mut tracks: Vec<Range<usize>> = Vec::new();
        for track in members.chunk_by(|a, b| a.source == b.source) {
            let start = tracks.last().map_or(0, |last| last.end);
            tracks.push(start..start + track.len());
        }
        Self { members, tracks }
    }

    /// The mean of each measurement.
    fn means(&self, column: &[f64]) -> Vec<f64> {
        let count = |one: &Members| one.rows.iter().map(|_| 1.0).sum::<f64>();
        let mean = |one: &Members| one.rows.iter().map(|k| column[*k]).sum::<f64>() / count(one);
        self.members.iter().map(mean).collect()
    }

    /// The sum over sections, as a mean over times, of the rows that `is_in` accepts; not a number without one.
    fn sums(&self, column: &[f64], is_in: impl Fn(usize) -> bool) -> Vec<f64> {
        let sum = |one: &Members| {
            let mut values = one.rows.iter().filter(|k| is_in(**k)).map(|k| column[*k]).peekable();
            if values.peek().is_some() { values.sum::<f64>() / one.times } else { f64::NAN }
        };
        self.members.iter().map(sum).collect()
    }

    fn firsts<T: Copy>(&self, column: &[T]) -> Vec<T> {
        self.members.iter().map(|one| column[one.rows[0]]).collect()
    }

    /// One row for each measurement: in the middle of its rows, as wide as all sections.
    fn rows(&self, rows: &TrackRows) -> TrackRows {
        let interval =
            self.means(&rows.interval).iter().zip(&self.members).map(|(mean, one)| mean * one.times).collect();
        TrackRows {
            row: self.firsts(&rows.row),
            tracks: self.tracks.clone(),
            track: self.members.iter().map(|one| one.source).collect(),
            machine: self.firsts(&rows.machine),
            machines: rows.machines.clone(),
            has_time: rows.has_time,
            time: self.means(&rows.time),
            x: self.means(&rows.x),
            y: self.means(&rows.y),
            heading: self.firsts(&rows.heading),
            interval,
            distance: self.firsts(&rows.distance),
            width: self.sums(&rows.width, |k| rows.width[k].is_finite()),
            product: self.firsts(&rows.product),
            working: None,
        }
    }

    fn flows(&self, flows: &Flows<'_>) -> Flows<'static> {
        let all = |is: &[bool]| self.members.iter().map(|one| one.rows.iter().all(|k| is[*k])).collect();
        let any = |is: &[bool]| self.members.iter().map(|one| one.rows.iter().any(|k| is[*k])).collect();
        let pass = |one: &Members| one.rows.iter().map(|k| flows.pass[*k]).max().unwrap_or(0);
        // Ground whose flow is not logged is not compared with that of other sections.
        let is_measured = |k: usize| flows.logged[k].is_finite() && flows.shifted[k].is_finite();
        Flows {
            logged: self.sums(&flows.logged, is_measured).into(),
            shifted: self.sums(&flows.shifted, is_measured).into(),
            per_second: self.sums(&flows.per_second, is_measured).into(),
            x: self.means(&flows.x).into(),
            y: self.means(&flows.y).into(),
            delay: self.firsts(&flows.delay),
            pass: self.members.iter().map(pass).collect(),
            has_rate: any(&flows.has_rate),
            is_trusted: all(&flows.is_trusted),
            is_first: any(&flows.is_first),
        }
    }
}
