//! Rows of a job sorted by track and time: one track for each section of each machine.

use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

use crate::columns::derived::GAP;
use crate::columns::row_ratios::median;
use crate::rows::field_rows::FieldRows;
use crate::rows::logged_rows::SAME_LOCATION;
use crate::rows::order::RowOrder;

/// Speed in m/s of rows without time and interval.
const USUAL_SPEED: f64 = 2.0;
/// Longest step without a time, in seconds.
const LONGEST_STEP: f64 = 60.0;
/// Radians by which headings differ from the motion where they are not headings of the machine.
const CONTRADICTED: f64 = std::f64::consts::PI / 15.0;
/// Radians by which the heading of a single row differs from a motion that turns by less than `STEADY` a row.
const SINGLE: f64 = std::f64::consts::PI / 6.0;
const STEADY: f64 = std::f64::consts::PI / 18.0;
/// One of this many headings is contradicted before it is said.
const SAID: usize = 50;
/// Metres between two rows either side, above which they move.
const MOVING: f64 = 0.5;
/// Moving rows that a test of the headings needs.
const LEAST_MOVING: usize = 20;

/// Headings of a machine that the motion contradicts.
pub(crate) struct WrongHeadings {
    pub(crate) machine: i64,
    pub(crate) rows: usize,
    /// The median difference.
    pub(crate) radians: f64,
    /// Whether they agree with the motion once x and y of the positions are exchanged.
    pub(crate) is_exchanged: bool,
}

/// Rows sorted by machine, section and time. Index `k` of all vectors is the same row.
pub(crate) struct TrackRows {
    /// Index of the row in the layer.
    pub(crate) row: Vec<usize>,
    /// Rows of each track.
    pub(crate) tracks: Vec<Range<usize>>,
    /// Index of the track.
    pub(crate) track: Vec<u32>,
    /// Position of the machine in `machines`.
    pub(crate) machine: Vec<u32>,
    /// Jobs and numbers of the machines.
    pub(crate) machines: Vec<(u32, i64)>,
    /// Whether times are logged, else they follow from intervals.
    pub(crate) has_time: bool,
    pub(crate) time: Vec<f64>,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) heading: Vec<f64>,
    pub(crate) interval: Vec<f64>,
    pub(crate) distance: Vec<f64>,
    pub(crate) width: Vec<f64>,
    /// Number of the product; rows of one time and place differ in it alone where a mix was applied.
    pub(crate) product: Vec<u32>,
    pub(crate) working: Option<Vec<bool>>,
}

impl TrackRows {
    /// Sorts the rows. Rows without a time come last in their track, so that times can be searched. The columns leave `rows`.
    pub(crate) fn new(rows: &mut FieldRows) -> Self {
        let RowOrder { row, tracks, time, source, .. } = std::mem::take(&mut rows.order);
        let has_time = time.is_some();
        let pick = |column: Vec<f64>| row.iter().map(|row| column[*row]).collect::<Vec<f64>>();
        let interval = pick(std::mem::take(&mut rows.interval));
        let distance = pick(std::mem::take(&mut rows.distance));
        let time = time.map_or_else(|| counted(&tracks, &interval, &distance), pick);
        let mut track = vec![0_u32; row.len()];
        for (number, range) in (0_u32..).zip(&tracks) {
            track[range.clone()].fill(number);
        }
        Self {
            track,
            machine: row.iter().map(|row| source[*row]).collect(),
            machines: std::mem::take(&mut rows.machines),
            has_time,
            time,
            x: pick(std::mem::take(&mut rows.x)),
            y: pick(std::mem::take(&mut rows.y)),
            heading: pick(std::mem::take(&mut rows.heading)),
            interval,
            distance,
            width: pick(std::mem::take(&mut rows.width)),
            product: row.iter().map(|row| rows.product.get(*row).copied().unwrap_or(0)).collect(),
            working: rows.working.take().map(|working| row.iter().map(|row| working[*row]).collect()),
            tracks,
            row,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.row.len()
    }

    /// The values of a column of the layer in the order of the tracks.
    pub(crate) fn sorted(&self, column: &[f64]) -> Vec<f64> {
        self.row.iter().map(|row| column[*row]).collect()
    }

    /// Values in the order of the tracks, in the order of the layer.
    pub(crate) fn unsorted<T: Clone + Default>(&self, values: &[T]) -> Vec<T> {
        let mut column = vec![T::default(); values.len()];
        for (row, value) in self.row.iter().zip(values) {
            column[*row] = value.clone();
        }
        column
    }

    /// Passes the rows of each machine and time: the sections of a header. Rows without a time are in none.
    pub(crate) fn visit_moments(&self, visit: impl FnMut(&[usize])) {
        self.visit_groups(|_| true, |k| self.machine[k], |k| self.time[k], visit);
    }

    /// Passes the rows that `is_in` accepts by their source and moment, in order of source and time. Rows without a time are in
    /// none.
    pub(crate) fn visit_groups(
        &self,
        is_in: impl Fn(usize) -> bool,
        source: impl Fn(usize) -> u32,
        moment: impl Fn(usize) -> f64,
        visit: impl FnMut(&[usize]),
    ) {
        let mut order: Vec<usize> = (0..self.len()).filter(|k| self.time[*k].is_finite() && is_in(*k)).collect();
        order.sort_unstable_by(|a, b| {
            source(*a).cmp(&source(*b)).then(self.time[*a].total_cmp(&self.time[*b])).then(a.cmp(b))
        });
        let is_one = |a: &usize, b: &usize| source(*a) == source(*b) && moment(*a).total_cmp(&moment(*b)).is_eq();
        order.chunk_by(is_one).for_each(visit);
    }

    /// Speed in m/s; not a number where it is unknown.
    pub(crate) fn speed(&self, k: usize) -> f64 {
        if self.interval[k] > 0.0 { self.distance[k] / self.interval[k] } else { f64::NAN }
    }

    /// Seconds from the first to the last row of a run.
    pub(crate) fn seconds(&self, run: &Range<usize>) -> f64 {
        self.time[run.end - 1] - self.time[run.start]
    }

    /// Whether a row follows the row before in its track without a gap in time.
    pub(crate) fn follows(&self, k: usize) -> bool {
        k > 0
            && self.track[k] == self.track[k - 1]
            && self.time[k] - self.time[k - 1] <= GAP * self.interval[k].max(0.1)
    }

    /// Positions of the machines.
    pub(crate) fn machine_positions(&self) -> Range<u32> {
        0..u32::try_from(self.machines.len()).unwrap_or(u32::MAX)
    }

    /// Direction of the motion over two rows either side, in radians; not a number without motion. Rows that `is_bad` marks
    /// take no part.
    fn motion(&self, is_bad: &[bool]) -> Vec<f64> {
        let mut motion = vec![f64::NAN; self.len()];
        let linked = |a: usize, b: usize| self.time[b] - self.time[a] <= 4.0 * GAP * self.interval[b].max(0.1);
        for track in &self.tracks {
            let good: Vec<usize> = track.clone().filter(|k| !is_bad[*k] && self.x[*k].is_finite()).collect();
            for (index, k) in good.iter().enumerate() {
                let back = good[index.saturating_sub(2)..index].iter().find(|back| linked(**back, *k));
                let ahead = good[index + 1..(index + 3).min(good.len())].iter().rfind(|ahead| linked(*k, **ahead));
                let (back, ahead) = (back.unwrap_or(k), ahead.unwrap_or(k));
                let (dx, dy) = (self.x[*ahead] - self.x[*back], self.y[*ahead] - self.y[*back]);
                if dx.hypot(dy) > SAME_LOCATION {
                    motion[*k] = dy.atan2(dx);
                }
            }
        }
        motion
    }

    /// Settles the headings: those that the motion contradicts are replaced by its direction, and missing ones as well, be it
    /// all of a machine or single rows of a straight way. A row without motion keeps the heading of the row before. Returns the
    /// headings that were contradicted.
    pub(crate) fn settle_headings(&mut self, is_bad: &[bool]) -> Vec<WrongHeadings> {
        let motion = self.motion(is_bad);
        let mut contradicted = Vec::new();
        for machine in self.machine_positions() {
            let own = |k: &usize| self.machine[*k] == machine;
            let is_moving =
                |k: &usize| self.distance[*k] > MOVING && motion[*k].is_finite() && self.heading[*k].is_finite();
            let off = |k: usize| turn(motion[k], self.heading[k]).abs();
            let moving: Vec<usize> = (0..self.len()).filter(|k| own(k) && is_moving(k)).collect();
            let middle = median(moving.iter().map(|k| off(*k)).collect());
            let is_steady = |k: usize| {
                let around = [k.checked_sub(1), k.checked_add(1).filter(|next| *next < motion.len())];
                around.iter().all(|other| other.is_some_and(|other| turn(motion[k], motion[other]).abs() < STEADY))
            };
            // Where nothing is worked, a heading changes nothing.
            let is_working = |k: usize| self.working.as_ref().is_none_or(|working| working[k]);
            let is_single = |k: &usize| off(*k) > SINGLE && is_working(*k) && is_steady(*k);
            let (wrong, middle): (Vec<usize>, f64) = if moving.len() >= LEAST_MOVING && middle > CONTRADICTED {
                ((0..self.len()).filter(own).collect(), middle)
            } else {
                let single: Vec<usize> = moving.iter().copied().filter(is_single).collect();
                let middle = median(single.iter().map(|k| off(*k)).collect());
                (single, middle)
            };
            if wrong.len() * SAID > moving.len() {
                let exchanged = |k: &usize| turn(motion[*k], FRAC_PI_2 - self.heading[*k]).abs();
                contradicted.push(WrongHeadings {
                    machine: self.machines[machine as usize].1,
                    rows: wrong.len(),
                    radians: middle,
                    is_exchanged: median(moving.iter().map(exchanged).collect()) < CONTRADICTED,
                });
            }
            for k in wrong {
                self.heading[k] = f64::NAN;
            }
        }
        for (heading, motion) in self.heading.iter_mut().zip(motion) {
            if heading.is_nan() {
                *heading = motion;
            }
        }
        for track in self.tracks.clone() {
            for k in track.clone().skip(1) {
                if !self.heading[k].is_finite() {
                    self.heading[k] = self.heading[k - 1];
                }
            }
            for k in track.rev().skip(1) {
                if !self.heading[k].is_finite() && self.track[k] == self.track[k + 1] {
                    self.heading[k] = self.heading[k + 1];
                }
            }
        }
        contradicted
    }

    /// Rows that repeat another row: the same time of the same track again, or the same location twice in succession. Rows of
    /// another product are none, since several are applied at once.
    pub(crate) fn duplicates(&self) -> Vec<bool> {
        let mut is_repeated = vec![false; self.len()];
        for track in &self.tracks {
            for k in track.clone().skip(1) {
                let earlier = (track.start..k).rev().take(MOST_PRODUCTS);
                is_repeated[k] = earlier
                    .take_while(|other| self.is_one_place(*other, k))
                    .any(|other| self.product[other] == self.product[k]);
            }
        }
        is_repeated
    }

    /// Whether the machine is where it was a while before, as far as positions say; false for a row of the same moment.
    pub(crate) fn stays(&self, k: usize) -> bool {
        let first = self.tracks.get(self.track[k] as usize).map_or(k, |track| track.start);
        let mut earlier = (first..k).rev().take(MOST_PRODUCTS).take_while(|other| self.is_one_place(*other, k));
        earlier
            .find(|other| self.product[*other] == self.product[k])
            .is_some_and(|other| self.time[k] > self.time[other])
    }

    /// Metres from the position of the row before in the track; not a number for the first one.
    pub(crate) fn step(&self, k: usize) -> f64 {
        let before = k.checked_sub(1).filter(|before| self.track[*before] == self.track[k]);
        before.map_or(f64::NAN, |before| (self.x[k] - self.x[before]).hypot(self.y[k] - self.y[before]))
    }

    /// Rows of one time and product within a metre of an earlier row of the file, although both are wider: a copy of the log
    /// with other digits.
    pub(crate) fn twins(&self) -> Vec<bool> {
        let mut is_twin = vec![false; self.len()];
        if !self.has_time {
            return is_twin;
        }
        let mut order: Vec<usize> = (0..self.len()).filter(|k| self.time[*k].is_finite()).collect();
        order.sort_unstable_by(|a, b| self.time[*a].total_cmp(&self.time[*b]).then(self.row[*a].cmp(&self.row[*b])));
        for moment in
            order.chunk_by(|a, b| self.time[*a].total_cmp(&self.time[*b]).is_eq()).filter(|rows| rows.len() > 1)
        {
            for (index, k) in moment.iter().enumerate().skip(1) {
                let earlier = &moment[index.saturating_sub(MOST_SECTIONS)..index];
                is_twin[*k] = earlier.iter().any(|other| {
                    let reach = (0.4 * self.width[*k].min(self.width[*other])).min(1.0);
                    let metres = (self.x[*k] - self.x[*other]).hypot(self.y[*k] - self.y[*other]);
                    !is_twin[*other] && self.product[*k] == self.product[*other] && metres < reach
                });
            }
        }
        is_twin
    }

    /// Rows at exactly the location of an earlier row of the file and later by one time for all: a copy of the log with another
    /// clock. Positions of a second pass differ by more.
    pub(crate) fn copies(&self) -> Vec<bool> {
        let mut is_copy = vec![false; self.len()];
        let mut order: Vec<usize> =
            (0..self.len()).filter(|k| self.x[*k].is_finite() && self.time[*k].is_finite()).collect();
        let location = |k: usize| (self.x[k].to_bits(), self.y[k].to_bits(), self.product[k]);
        // Most logs have few locations twice, which one number for each shows.
        let mut locations: Vec<u64> =
            order.iter().map(|k| self.x[*k].to_bits().rotate_left(32) ^ self.y[*k].to_bits()).collect();
        locations.sort_unstable();
        if locations.windows(2).filter(|pair| pair[0] == pair[1]).count() * LEAST_COPY <= self.len() {
            return is_copy;
        }
        order.sort_unstable_by_key(|k| (location(*k), self.row[*k]));
        let mut pairs = Vec::new();
        for rows in order.chunk_by(|a, b| location(*a) == location(*b)) {
            pairs.extend(rows.iter().skip(1).map(|k| (*k, self.time[*k] - self.time[rows[0]])));
        }
        let shift = median(pairs.iter().map(|(_, shift)| *shift).collect());
        let interval = median(self.interval.clone());
        pairs.retain(|(_, other)| (other - shift).abs() < 1.0);
        // A machine that stands is at one location for more than an interval.
        let is_clock = shift.abs() > LEAST_SHIFT || (shift.abs() > 0.0 && shift.abs() < PART * interval);
        if self.has_time && is_clock && pairs.len() * LEAST_COPY > self.len() {
            for (k, _) in pairs {
                is_copy[k] = true;
            }
        }
        is_copy
    }

    /// Whether two rows of a track are at one time or one location.
    fn is_one_place(&self, a: usize, b: usize) -> bool {
        let is_one_time = self.has_time && self.time[b] - self.time[a] == 0.0;
        let step = (self.x[b] - self.x[a]).hypot(self.y[b] - self.y[a]);
        is_one_time || (step < SAME_LOCATION && !self.time[b].is_nan())
    }

    /// Whether a row is one more product of the row before, at its time and location.
    pub(crate) fn is_mixed_in(&self, k: usize) -> bool {
        k > 0
            && self.track[k] == self.track[k - 1]
            && self.product[k] != self.product[k - 1]
            && (self.x[k] - self.x[k - 1]).hypot(self.y[k] - self.y[k - 1]) < SAME_LOCATION
            && self.is_one_place(k - 1, k)
    }
}

/// Of the rows, one of this many is in a copy of the log at least.
const LEAST_COPY: usize = 50;
/// Seconds between a log and its copy: more than a machine stands still.
const LEAST_SHIFT: f64 = 60.0;
/// Or a part of the interval, in which no machine logs again.
const PART: f64 = 0.8;

/// Sections of one time that are compared at most.
const MOST_SECTIONS: usize = 64;

/// Products of one mix at most.
pub(crate) const MOST_PRODUCTS: usize = 16;

/// Seconds of rows without a time: their intervals, else those of their distances, summed along each track.
fn counted(tracks: &[Range<usize>], interval: &[f64], distance: &[f64]) -> Vec<f64> {
    let mut time = vec![0.0; interval.len()];
    for track in tracks {
        let mut clock = 0.0;
        for k in track.clone() {
            clock += if interval[k] > 0.0 {
                interval[k]
            } else if distance[k] > 0.0 {
                (distance[k] / USUAL_SPEED).min(LONGEST_STEP)
            } else {
                1.0
            };
            time[k] = clock;
        }
    }
    time
}

/// Difference of two headings, from -pi to pi.
pub(crate) fn turn(from: f64, to: f64) -> f64 {
    let difference = (to - from).rem_euclid(2.0 * std::f64::consts::PI);
    if difference > std::f64::consts::PI { difference - 2.0 * std::f64::consts::PI } else { difference }
}
