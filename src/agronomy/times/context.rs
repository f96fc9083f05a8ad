//! Times of rows with their evidence, and what reading them needs: time zone, and the start of the job.

use headland_base::times::DAY;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// Microseconds of an hour.
const HOUR: i64 = DAY / 24;

/// Times of the rows.
#[derive(Debug)]
pub(crate) struct RowTimes {
    /// Microseconds since 1970.
    pub(crate) micros: Vec<Option<i64>>,
    /// Whether they are on the display's clock, whose zone is unknown.
    pub(crate) is_local: bool,
    /// The form in which they were read.
    pub(crate) form: &'static str,
    /// How the order of day, month and year was read, where it can be another.
    pub(crate) evidence: Option<String>,
    /// The columns that they come from.
    pub(crate) columns: Vec<usize>,
    /// The step of the clock in microseconds, where decimals of a day limit it; else 1.
    pub(crate) resolution: i64,
}

impl RowTimes {
    pub(crate) fn new(micros: Vec<Option<i64>>, form: &'static str, columns: Vec<usize>) -> Self {
        Self { micros, is_local: true, form, evidence: None, columns, resolution: 1 }
    }

    /// The times of the first rows.
    pub(crate) fn head(&self, rows: usize) -> Self {
        Self {
            micros: self.micros.iter().take(rows).copied().collect(),
            evidence: None,
            columns: self.columns.clone(),
            ..*self
        }
    }

    /// The first record behind a change of the clock: the only one that steps back, by more than half an hour.
    pub(crate) fn clock_change(&self) -> Option<usize> {
        let known = || self.micros.iter().enumerate().filter_map(|(record, micros)| Some((record, (*micros)?)));
        let steps = known().zip(known().skip(1)).map(|((_, before), (record, after))| (record, before - after));
        let mut back = steps.filter(|(_, step)| *step > 0);
        let (record, step) = back.next().filter(|_| back.next().is_none())?;
        (HOUR / 2..=HOUR).contains(&step).then_some(record)
    }
}

/// What is known beside the column of times.
pub(crate) struct TimeContext<'a> {
    pub(crate) layer: &'a Layer,
    /// The column of dates.
    pub(crate) date: Option<usize>,
    /// The start of the job, in microseconds since 1970.
    pub(crate) start: Option<i64>,
}

impl TimeContext<'_> {
    /// Seconds from the start of the job on, else from 1970 on with a diagnostic.
    pub(crate) fn since_start(&self, seconds: &[f64], form: &'static str, said: &mut Vec<Diagnostic>) -> RowTimes {
        if self.start.is_none() {
            said.push(Diagnostic::from_code(Code::DateAssumed));
        }
        let start = self.start.unwrap_or(0);
        #[expect(clippy::cast_possible_truncation, reason = "the callers leave out more than a year")]
        let micros = |second: &f64| second.is_finite().then(|| start.saturating_add((second * 1e6).round() as i64));
        let times = RowTimes::new(seconds.iter().map(micros).collect(), form, Vec::new());
        RowTimes { is_local: self.start.is_none(), ..times }
    }

    /// Times of day from the start of the job on. A step back of half a day or more is midnight.
    pub(crate) fn unwrapped(&self, clocks: &[Option<i64>], said: &mut Vec<Diagnostic>) -> Vec<Option<i64>> {
        if self.start.is_none() {
            said.push(Diagnostic::from_code(Code::DateAssumed));
        }
        let mut day = 0_i64;
        let mut previous: Option<i64> = None;
        let mut next = |clock: i64| {
            if let (None, Some(start)) = (previous, self.start) {
                // The start is that of another clock: the day is the one that brings the first time nearest to it.
                day = start.saturating_sub(clock).saturating_add(DAY / 2).div_euclid(DAY).saturating_mul(DAY);
            }
            if previous.is_some_and(|previous| previous.saturating_sub(clock) > DAY / 2) {
                day = day.saturating_add(DAY);
            }
            previous = Some(clock);
            day.checked_add(clock)
        };
        clocks.iter().map(|clock| clock.and_then(&mut next)).collect()
    }
}
