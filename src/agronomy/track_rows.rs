//! Rows of a job sorted by track and time: one track for each section of each machine.

use std::ops::Range;

use super::derived::GAP;
use super::field_rows::FieldRows;
use super::row_clock::{RowClock, SAME_LOCATION};

/// Rows sorted by machine, section and time. Index `k` of all vectors is the same row.
pub(super) struct TrackRows {
    /// Index of the row in the layer.
    pub(super) row: Vec<usize>,
    /// Rows of each track.
    pub(super) tracks: Vec<Range<usize>>,
    /// Index of the track.
    pub(super) track: Vec<u32>,
    /// Position of the machine in `machines`.
    pub(super) machine: Vec<u32>,
    /// Numbers of the machines in ascending order.
    pub(super) machines: Vec<i64>,
    /// Whether times are logged, else they follow from intervals.
    pub(super) has_time: bool,
    pub(super) time: Vec<f64>,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) heading: Vec<f64>,
    pub(super) interval: Vec<f64>,
    pub(super) distance: Vec<f64>,
    pub(super) width: Vec<f64>,
    pub(super) working: Option<Vec<bool>>,
}

impl TrackRows {
    /// Sorts the rows. Rows without a time come last in their track, so that times can be searched. The columns leave `rows`.
    pub(super) fn new(rows: &mut FieldRows) -> Self {
        let RowClock { time, section } = RowClock::new(rows);
        let has_time = rows.time.take().is_some();
        let count = rows.x.len();
        let key = |row: usize| (rows.machine[row], section[row]);
        let mut row: Vec<usize> = (0..count).collect();
        row.sort_by(|a, b| key(*a).cmp(&key(*b)).then_with(|| order_of_time(time[*a], time[*b])));
        let pick = |column: Vec<f64>| row.iter().map(|row| column[*row]).collect::<Vec<f64>>();
        let (mut tracks, mut track, mut machine) = (Vec::new(), vec![0_u32; count], vec![0_u32; count]);
        let mut machines: Vec<i64> = Vec::new();
        let mut start = 0;
        for end in 1..=count {
            if end < count && key(row[end]) == key(row[start]) {
                continue;
            }
            let number = rows.machine[row[start]];
            if machines.last() != Some(&number) {
                machines.push(number);
            }
            track[start..end].fill(u32::try_from(tracks.len()).unwrap_or(u32::MAX));
            machine[start..end].fill(u32::try_from(machines.len() - 1).unwrap_or(u32::MAX));
            tracks.push(start..end);
            start = end;
        }
        Self {
            tracks,
            track,
            machine,
            machines,
            has_time,
            time: pick(time),
            x: pick(std::mem::take(&mut rows.x)),
            y: pick(std::mem::take(&mut rows.y)),
            heading: pick(std::mem::take(&mut rows.heading)),
            interval: pick(std::mem::take(&mut rows.interval)),
            distance: pick(std::mem::take(&mut rows.distance)),
            width: pick(std::mem::take(&mut rows.width)),
            working: rows.working.take().map(|working| row.iter().map(|row| working[*row]).collect()),
            row,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.row.len()
    }

    /// The values of a column of the layer in the order of the tracks.
    pub(super) fn sorted(&self, column: &[f64]) -> Vec<f64> {
        self.row.iter().map(|row| column[*row]).collect()
    }

    /// Values in the order of the tracks, in the order of the layer.
    pub(super) fn unsorted<T: Clone + Default>(&self, values: &[T]) -> Vec<T> {
        let mut column = vec![T::default(); values.len()];
        for (row, value) in self.row.iter().zip(values) {
            column[*row] = value.clone();
        }
        column
    }

    /// Rows of each machine and time: the sections of a header. Rows without a time are in none.
    pub(super) fn moments(&self) -> Vec<Vec<usize>> {
        self.collect(|_| true, |k| self.machine[k], |k| self.time[k])
    }

    /// Rows that `is_in` accepts by their source and moment, in order of source and time. Rows without a time are in none.
    pub(super) fn collect(
        &self,
        is_in: impl Fn(usize) -> bool,
        source: impl Fn(usize) -> u32,
        moment: impl Fn(usize) -> f64,
    ) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.len()).filter(|k| self.time[*k].is_finite() && is_in(*k)).collect();
        order.sort_by(|a, b| source(*a).cmp(&source(*b)).then(self.time[*a].total_cmp(&self.time[*b])));
        let is_one = |a: &usize, b: &usize| source(*a) == source(*b) && moment(*a).total_cmp(&moment(*b)).is_eq();
        order.chunk_by(is_one).map(<[usize]>::to_vec).collect()
    }

    /// Speed in m/s; not a number where it is unknown.
    pub(super) fn speed(&self, k: usize) -> f64 {
        if self.interval[k] > 0.0 { self.distance[k] / self.interval[k] } else { f64::NAN }
    }

    /// Whether a row follows the row before in its track without a gap in time.
    pub(super) fn follows(&self, k: usize) -> bool {
        k > 0
            && self.track[k] == self.track[k - 1]
            && self.time[k] - self.time[k - 1] <= GAP * self.interval[k].max(0.1)
    }

    /// Positions of the machines.
    pub(super) fn machine_positions(&self) -> Range<u32> {
        0..u32::try_from(self.machines.len()).unwrap_or(u32::MAX)
    }

    /// Replaces headings of rows that have none by the direction of motion over two rows either side. Rows that
    /// `is_bad` marks take no part. A row without motion keeps the heading of the row before.
    pub(super) fn fill_headings(&mut self, is_bad: &[bool]) {
        for track in self.tracks.clone() {
            let good: Vec<usize> = track.clone().filter(|k| !is_bad[*k] && self.x[*k].is_finite()).collect();
            for (index, k) in good.iter().enumerate() {
                if self.heading[*k].is_finite() {
                    continue;
                }
                let linked = |a: usize, b: usize| self.time[b] - self.time[a] <= 4.0 * GAP * self.interval[b].max(0.1);
                let back = (index.saturating_sub(2)..=index).map(|index| good[index]).find(|back| linked(*back, *k));
                let ahead =
                    (index..=(index + 2).min(good.len() - 1)).rev().map(|index| good[index]).find(|a| linked(*k, *a));
                let (back, ahead) = (back.unwrap_or(*k), ahead.unwrap_or(*k));
                let (dx, dy) = (self.x[ahead] - self.x[back], self.y[ahead] - self.y[back]);
                if dx.hypot(dy) > SAME_LOCATION {
                    self.heading[*k] = dy.atan2(dx);
                }
            }
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
    }

    /// Rows that repeat another row: the same time of the same track again, or the same location twice in succession.
    pub(super) fn duplicates(&self) -> Vec<bool> {
        let is_repeated = |k: usize| {
            if k == 0 || self.track[k] != self.track[k - 1] {
                return false;
            }
            let is_same_time = self.has_time && self.time[k] - self.time[k - 1] == 0.0;
            let step = (self.x[k] - self.x[k - 1]).hypot(self.y[k] - self.y[k - 1]);
            is_same_time || (step < SAME_LOCATION && !self.time[k].is_nan())
        };
        (0..self.len()).map(is_repeated).collect()
    }
}

fn order_of_time(a: f64, b: f64) -> std::cmp::Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}
