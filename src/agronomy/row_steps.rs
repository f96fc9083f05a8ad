//! Computes the interval and the distance of rows from times and positions, where they are not logged.

use std::collections::HashMap;

use super::derived::GAP;
use super::row_ratios::median;

/// Steps between rows of one machine and section, in the order of the file.
pub(super) struct Steps<'a> {
    /// The row before, of the same machine and section.
    previous: Vec<Option<usize>>,
    /// Seconds since the earliest row.
    time: Option<&'a [f64]>,
    /// Metres in a plane.
    x: &'a [f64],
    y: &'a [f64],
}

impl<'a> Steps<'a> {
    pub(super) fn new(machine: &[i64], section: &[i64], time: Option<&'a [f64]>, x: &'a [f64], y: &'a [f64]) -> Self {
        let mut last = HashMap::new();
        let keys = machine.iter().zip(section).enumerate();
        Self { previous: keys.map(|(row, key)| last.insert(key, row)).collect(), time, x, y }
    }

    /// Seconds from the row before. NaN without times, and for the first row.
    fn durations(&self) -> Vec<f64> {
        let between = |row: usize, before: usize| Some(self.time?.get(row)? - self.time?.get(before)?);
        let rows = self.previous.iter().enumerate();
        rows.map(|(row, before)| before.and_then(|before| between(row, before)).unwrap_or(f64::NAN)).collect()
    }

    /// Metres from the row before. NaN for the first row.
    fn lengths(&self) -> Vec<f64> {
        let between = |row: usize, before: usize| {
            let east = self.x.get(row)? - self.x.get(before)?;
            Some(east.hypot(self.y.get(row)? - self.y.get(before)?))
        };
        let rows = self.previous.iter().enumerate();
        rows.map(|(row, before)| before.and_then(|before| between(row, before)).unwrap_or(f64::NAN)).collect()
    }

    /// The interval of all rows by the clock: the time between rows without gaps, divided by their number.
    ///
    /// Several rows may share a time, if the clock is coarse. `None` if it ticks fewer than ten times.
    pub(super) fn interval(&self) -> Option<f64> {
        let durations = self.durations();
        let usual = median(durations.iter().copied().filter(|step| *step >= 0.0).collect());
        let tick = smallest(&durations)?;
        let is_usable = |step: &f64| *step >= 0.0 && *step <= GAP * usual.max(tick);
        let usable: Vec<f64> = durations.into_iter().filter(is_usable).collect();
        let total: f64 = usable.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
        let mean = total / usable.len() as f64;
        (total >= tick * 10.0).then_some(mean)
    }

    /// The distance of each row from the row before, by their positions. NaN after gaps.
    ///
    /// A gap is a step of more than 3.5 intervals, or of 3.5 times the median length without times.
    pub(super) fn distances(&self, interval: &[f64]) -> Vec<f64> {
        let (mut lengths, durations) = (self.lengths(), self.durations());
        let longest = median(lengths.clone()) * GAP;
        let tick = smallest(&durations).unwrap_or(0.0);
        for ((length, duration), interval) in lengths.iter_mut().zip(durations).zip(interval) {
            let is_joined = if self.time.is_some() {
                (0.0..=GAP * interval.max(tick)).contains(&duration)
            } else {
                *length <= longest
            };
            if !is_joined {
                *length = f64::NAN;
            }
        }
        let first_rows = self.next_lengths(&lengths);
        lengths.into_iter().zip(first_rows).map(|(length, next)| if length.is_nan() { next } else { length }).collect()
    }

    /// The length of the step after each row.
    fn next_lengths(&self, lengths: &[f64]) -> Vec<f64> {
        let mut next = vec![f64::NAN; lengths.len()];
        for (before, length) in self.previous.iter().zip(lengths) {
            if let Some(slot) = before.and_then(|before| next.get_mut(before)) {
                *slot = *length;
            }
        }
        next
    }
}

/// The least positive step.
fn smallest(durations: &[f64]) -> Option<f64> {
    durations.iter().copied().filter(|step| *step > 0.0).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [i64; 8] = [0; 8];

    #[test]
    fn coarse_clock_gives_the_mean_interval() {
        // Three rows per second, and a gap of a minute.
        let time: Vec<f64> = (0..600).map(|row| f64::from(row / 3) + if row < 300 { 0.0 } else { 60.0 }).collect();
        let (zeros, places) = (vec![0; 600], vec![0.0; 600]);
        let steps = Steps::new(&zeros, &zeros, Some(&time), &places, &places);
        let interval = steps.interval().unwrap();
        assert!((interval - 1.0 / 3.0).abs() < 0.005, "{interval}");
        let flat = vec![5.0; 600];
        assert_eq!(Steps::new(&zeros, &zeros, Some(&flat), &places, &places).interval(), None);
        assert_eq!(Steps::new(&zeros, &zeros, None, &places, &places).interval(), None);
    }

    #[test]
    fn distance_is_the_step_within_a_track() {
        let time = [0.0, 1.0, 2.0, 3.0, 60.0, 61.0, 62.0, 63.0];
        let x = [0.0, 2.0, 4.0, 7.0, 100.0, 102.0, 104.0, 106.0];
        let found = Steps::new(&ONE, &ONE, Some(&time), &x, &[0.0; 8]).distances(&[1.0; 8]);
        // First rows have the step to the next one.
        assert_eq!(found, [2.0, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0, 2.0]);
        let found = Steps::new(&ONE, &ONE, None, &x, &[0.0; 8]).distances(&[1.0; 8]);
        assert_eq!(found, [2.0, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0, 2.0]);
        // Sections alternate.
        let section = [1, 2, 1, 2, 1, 2, 1, 2];
        let x = [0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0];
        let y = [0.0, 9.0, 0.0, 9.0, 0.0, 9.0, 0.0, 9.0];
        let time = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
        assert_eq!(Steps::new(&ONE, &section, Some(&time), &x, &y).distances(&[1.0; 8]), [2.0; 8]);
    }
}
