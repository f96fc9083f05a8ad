//! Converts local times to UTC with the offsets of a zone, and finds which of two times is meant when clocks go back.

use std::sync::Arc;

use arrow_array::{ArrayRef, TimestampMicrosecondArray};

use super::{LocalTimes, MINUTE, Offsets};
use crate::archive::{Code, Diagnostic};
use crate::layer::fmis::columns::{UTC, tally};
use headland_base::error::{Error, Kind, Result};

/// Microseconds by which rows may step back although they are in order of time.
const JITTER: i64 = MINUTE;

/// Longest pause between rows of one run of the machine, in microseconds.
const PAUSE: i64 = 5 * MINUTE;

/// The time of a row in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// No time, or one that does not exist.
    Missing,
    Known(i64),
    /// The local time occurs twice.
    Either(i64, i64),
}

impl LocalTimes {
    /// The times in UTC, and a diagnostic for each kind of null. `offsets` has one entry per minute.
    pub fn to_utc(&self, name: &str, offsets: &[Offsets], fold: Option<u8>) -> Result<(ArrayRef, Vec<Diagnostic>)> {
        let (mut nonexistent, mut ambiguous) = (None, None);
        let mut moments = Vec::with_capacity(self.rows.len());
        for (record, local_time) in (0_u64..).zip(&self.rows) {
            let Some(local_time) = local_time else {
                moments.push(Moment::Missing);
                continue;
            };
            let minute = self.minutes.binary_search(&local_time.micros.div_euclid(MINUTE)).ok();
            let Some((first, second)) = minute.and_then(|index| offsets.get(index)).copied() else {
                return Err(Error::new(Kind::Value, "there are fewer offsets than minutes".to_owned()));
            };
            let utc = |offset: i32| local_time.micros.saturating_sub(i64::from(offset).saturating_mul(1_000_000));
            moments.push(match (local_time.offset, fold) {
                (Some(stated), _) if stated == first || stated == second => Moment::Known(utc(stated)),
                (Some(stated), _) => return Err(offset_conflict(stated, first, record)),
                _ if first < second => {
                    tally(&mut nonexistent, record);
                    Moment::Missing
                }
                (None, Some(1)) => Moment::Known(utc(second)),
                (None, None) if first != second => Moment::Either(utc(first), utc(second)),
                _ => Moment::Known(utc(first)),
            });
        }
        decide(&mut moments);
        let values: Vec<Option<i64>> = (0_u64..)
            .zip(moments)
            .map(|(record, moment)| match moment {
                Moment::Known(micros) => Some(micros),
                Moment::Missing => None,
                Moment::Either(..) => {
                    tally(&mut ambiguous, record);
                    None
                }
            })
            .collect();
        let column: ArrayRef = Arc::new(TimestampMicrosecondArray::from(values).with_timezone(UTC));
        let mut diagnostics = Vec::new();
        let mut report = |code, met: Option<(u64, u64)>, what: &str| {
            if let Some((count, first)) = met {
                let message = format!("column `{name}`: {what} ({count} times, first at record {first})");
                diagnostics.push(Diagnostic::new(code, message).at_record(first));
            }
        };
        report(Code::BadTime, self.invalid, "cells that are not a date with a time of day are null");
        report(Code::NonexistentTime, nonexistent, Code::NonexistentTime.documentation());
        report(Code::AmbiguousTime, ambiguous, Code::AmbiguousTime.documentation());
        Ok((column, diagnostics))
    }
}

/// Decides rows whose local time occurs twice, if the rows are in order of time. Clocks went back between two of them,
/// or they continue rows whose time is known, without a pause. All others stay undecided.
fn decide(moments: &mut [Moment]) {
    let mut rows: Vec<&mut Moment> = moments.iter_mut().filter(|moment| **moment != Moment::Missing).collect();
    let known = |moment: &Moment| if let Moment::Known(micros) = moment { Some(*micros) } else { None };
    let times: Vec<i64> = rows.iter().filter_map(|moment| known(moment)).collect();
    if !times.iter().zip(times.iter().skip(1)).all(|(before, after)| after.saturating_add(JITTER) >= *before) {
        return;
    }
    let mut before = None;
    let mut start = 0_usize;
    while let Some(moment) = rows.get(start) {
        let Moment::Either(..) = **moment else {
            before = known(moment);
            start = start.saturating_add(1);
            continue;
        };
        let run: Vec<(i64, i64)> = rows
            .iter()
            .skip(start)
            .map_while(|moment| if let Moment::Either(first, second) = **moment { Some((first, second)) } else { None })
            .collect();
        let end = start.saturating_add(run.len());
        let after = rows.get(end).and_then(|moment| known(moment));
        if let Some(seconds) = second_from(&run, before, after) {
            for (row, (slot, (first, second))) in rows.iter_mut().skip(start).zip(run).enumerate() {
                **slot = Moment::Known(if row < seconds { first } else { second });
            }
        }
        start = end;
    }
}

/// The position in a run from which the second time of each row is meant. `before` and `after` are the known times
/// around it.
fn second_from(run: &[(i64, i64)], before: Option<i64>, after: Option<i64>) -> Option<usize> {
    let steps = run.iter().zip(run.iter().skip(1)).map(|(before, after)| after.0.saturating_sub(before.0));
    let mut back = (1_usize..).zip(steps).filter(|(_, step)| *step < -JITTER).map(|(row, _)| row);
    match (back.next(), back.next()) {
        (Some(row), None) => return Some(row),
        (Some(_), Some(_)) => return None,
        _ => {}
    }
    let (first, last) = (run.first()?, run.last()?);
    let is_near = |from: i64, to: i64| (-JITTER..=PAUSE).contains(&to.saturating_sub(from));
    let continues = before.is_some_and(|before| is_near(before, first.0));
    let leads = after.is_some_and(|after| is_near(last.1, after));
    match (continues, leads) {
        (true, false) => Some(run.len()),
        (false, true) => Some(0),
        _ => None,
    }
}

fn offset_conflict(stated: i32, zone: i32, record: u64) -> Error {
    let format_offset = |seconds: i32| {
        let sign = if seconds < 0 { '-' } else { '+' };
        let minutes = seconds.unsigned_abs() / 60;
        format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    };
    let message = format!(
        "a time has the UTC offset {}, but `zone` has {} at that time: pass the zone of the column",
        format_offset(stated),
        format_offset(zone)
    );
    Error::new(Kind::Value, message).with(|facts| facts.record = Some(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * MINUTE;

    /// Rows on the clock of a zone that goes back from 2:00 to 1:00, an hour after 1970 began in UTC. In local minutes.
    fn decided(minutes: &[i64]) -> Vec<Option<i64>> {
        let moment = |minute: &i64| match minute * MINUTE {
            local if local < HOUR => Moment::Known(local),
            local if local < 2 * HOUR => Moment::Either(local, local + HOUR),
            local => Moment::Known(local + HOUR),
        };
        let mut moments: Vec<Moment> = minutes.iter().map(moment).collect();
        decide(&mut moments);
        let known = |moment: &Moment| if let Moment::Known(micros) = moment { Some(micros / MINUTE) } else { None };
        moments.iter().map(known).collect()
    }

    #[test]
    fn order_of_rows_shows_which_time_is_meant() {
        let all = |minutes: &[i64]| minutes.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(decided(&[59, 60, 119, 60, 119, 120]), all(&[59, 60, 119, 120, 179, 180]));
        assert_eq!(decided(&[75, 105, 75, 105]), all(&[75, 105, 135, 165]));
        assert_eq!(decided(&[58, 60, 80]), all(&[58, 60, 80]));
        assert_eq!(decided(&[100, 119, 121]), all(&[160, 179, 181]));
    }

    #[test]
    fn rows_without_a_proof_stay_undecided() {
        assert_eq!(decided(&[80, 90]), [None, None]);
        assert_eq!(decided(&[30, 80, 90, 150]), [Some(30), None, None, Some(210)]);
        // An hour is missing: the clock of the display did not change.
        assert_eq!(decided(&[59, 60, 119, 120]), [Some(59), None, None, Some(180)]);
        assert_eq!(decided(&[80, 70, 90, 70]), [None; 4]);
        // Rows of two machines are not in order of time.
        assert_eq!(decided(&[130, 59, 61]), [Some(190), Some(59), None]);
    }
}
