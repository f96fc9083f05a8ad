//! Issues of shapes, pending until it is known which of their rows are deleted.

use std::collections::{BTreeMap, BTreeSet};

use crate::archive::{Code, Diagnostic};
use crate::layer::issues::IssueCounter;

/// Consecutive records with the same number of issues of one kind.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    count: u32,
    times: u32,
}

/// Issues of shapes: counted for rows that were returned, pending for rows that may be deleted.
///
/// A file with the same issue in every record is one run, which bounds the memory.
#[derive(Clone, Default)]
pub(in crate::layer) struct PendingIssues {
    resolved: IssueCounter,
    pending: BTreeMap<Code, Vec<Run>>,
}

impl PendingIssues {
    /// Counts one issue. Records arrive in ascending order.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, issue: Code, record: u64) {
        let runs = self.pending.entry(issue).or_default();
        match runs.last_mut() {
            Some(run) if run.count == 1 && run.first == record => run.times = run.times.saturating_add(1),
            Some(run) if run.times == 1 && run.first.checked_add(u64::from(run.count)) == Some(record) => {
                run.count = run.count.saturating_add(1);
            }
            // A second issue at the last record of a run starts a new run.
            Some(run) if run.times == 1 && run.first.saturating_add(u64::from(run.count)) > record => {
                run.count = run.count.saturating_sub(1);
                runs.push(Run { first: record, count: 1, times: 2 });
            }
            _ => runs.push(Run { first: record, count: 1, times: 1 }),
        }
    }

    /// Counts the pending issues of rows before `end` that are not deleted, and drops the others.
    pub(super) fn resolve(&mut self, deleted: &BTreeSet<u64>, end: u64) {
        for (issue, runs) in std::mem::take(&mut self.pending) {
            for run in runs {
                let last = run.first.saturating_add(u64::from(run.count)).min(end);
                let mut deleted_in_run = deleted.range(run.first..last.max(run.first));
                let first = match deleted_in_run.clone().next() {
                    Some(first) if *first == run.first => {
                        (run.first..last).find(|record| deleted_in_run.next() != Some(record))
                    }
                    _ => (run.first < last).then_some(run.first),
                };
                let Some(first) = first else { continue };
                let count = last.saturating_sub(run.first);
                let count = count.saturating_sub(deleted.range(run.first..last).count() as u64);
                self.resolved.add_many(issue, first, count.saturating_mul(u64::from(run.times)));
            }
        }
    }

    /// Adds one diagnostic per kind of issue.
    pub(super) fn report(&self, member: &str, diagnostics: &mut Vec<Diagnostic>) {
        self.resolved.report(member, None, diagnostics);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_of_deleted_records_do_not_count() {
        let reported = |deleted: &[u64], end: u64| {
            let mut pending = PendingIssues::default();
            for record in [0, 1, 2, 2, 2, 3, 7, 8, 8] {
                pending.add(Code::OpenRing, record);
            }
            pending.resolve(&deleted.iter().copied().collect(), end);
            let mut diagnostics = Vec::new();
            pending.report("t.shp", &mut diagnostics);
            diagnostics
                .into_iter()
                .map(|diagnostic| {
                    (diagnostic.message.split_once('(').map(|(_, end)| end.to_owned()), diagnostic.record)
                })
                .next()
        };
        let some = |text: &str, record| Some((Some(text.to_owned()), Some(record)));
        assert_eq!(reported(&[], 9), some("9 times, first at record 0)", 0));
        assert_eq!(reported(&[0, 1, 8], 9), some("5 times, first at record 2)", 2));
        assert_eq!(reported(&[0, 2, 3], 8), some("2 times, first at record 1)", 1));
        assert_eq!(reported(&[0], 0), None);
        assert_eq!(reported(&[0, 1, 2, 3, 7, 8], 9), None);
    }
}
