//! Sync cycle: one read of all lists and the work that follows, across as many runs as needed.
//!
//! The next run resumes the cycle of a killed run and does not repeat its reads. A cycle older than the overlap of
//! cursors is abandoned, since its lists are outdated.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::journal::{Changes, Journal, ReadTxn, WriteTxn};
use super::options::Options;
use headland_base::error::Result;

/// Meta keys of the current cycle, and of the number of the last one.
const CYCLE_KEY: &str = "round";
const COUNT_KEY: &str = "rounds";

/// Unfinished cycle. Its work is identified by number, since clocks may be set back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SyncCycle {
    pub(super) number: u64,
    /// Start time.
    pub(super) began: DateTime<Utc>,
    /// Lists of the account whose read started.
    begun: BTreeSet<String>,
    /// Lists of the account that were read to the end.
    done: BTreeSet<String>,
    /// Number of its full list, if it lists all jobs.
    pub(super) relist: Option<u64>,
    /// New jobs and grain carts.
    pub(super) new: u64,
    /// Changed jobs and grain carts.
    pub(super) changed: u64,
    /// Removed jobs and grain carts.
    pub(super) gone: u64,
    /// Whether it was read for a plan and not resumed by a sync yet.
    #[serde(default)]
    pub(super) is_plan: bool,
}

/// Purpose of entering a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CycleMode {
    /// Reads the lists and leaves the remaining work to a sync.
    Plan,
    /// Does all the work.
    Sync,
}

impl SyncCycle {
    /// Loads the unfinished cycle.
    pub(super) fn load(txn: &ReadTxn) -> Result<Option<Self>> {
        let text = txn.get_meta(CYCLE_KEY)?.filter(|text| !text.is_empty());
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Resumes the unfinished cycle or begins a new one.
    pub(super) fn resume_or_begin(
        journal: &Journal,
        options: &Options,
        mode: CycleMode,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        journal.write(|txn| {
            txn.begin_run(now)?;
            let unfinished = Self::load(txn)?;
            // After an interrupted sync, a plan leaves the cycle marked as that of a sync.
            let is_plan = mode == CycleMode::Plan && unfinished.as_ref().is_none_or(|cycle| cycle.is_plan);
            if let Some(cycle) = unfinished.filter(|cycle| is_within(cycle.began, options.overlap, now)) {
                let cycle = Self { is_plan, ..cycle };
                cycle.save(txn)?;
                return Ok(cycle);
            }
            let relist = if is_relist_due(txn, options, now)? { Some(txn.begin_relist()?) } else { None };
            let last = txn.get_meta(COUNT_KEY)?.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            let number = last.saturating_add(1);
            txn.set_meta(COUNT_KEY, &number.to_string())?;
            // The journal stores microseconds. Without truncation, work in the same microsecond would precede its
            // cycle.
            let cycle = Self { number, began: now.trunc_subsecs(6), relist, is_plan, ..Self::default() };
            cycle.save(txn)?;
            Ok(cycle)
        })
    }

    /// Counts the changes of a list page.
    pub(super) fn count_changes(txn: &WriteTxn<'_>, changes: Changes, gone: u64) -> Result<()> {
        let Some(mut cycle) = Self::load(txn)? else { return Ok(()) };
        if changes.new == 0 && changes.changed == 0 && gone == 0 {
            return Ok(());
        }
        cycle.new = cycle.new.saturating_add(changes.new);
        cycle.changed = cycle.changed.saturating_add(changes.changed);
        cycle.gone = cycle.gone.saturating_add(gone);
        cycle.save(txn)
    }

    /// Finishes the cycle after all its work.
    pub(crate) fn finish(journal: &Journal) -> Result<()> {
        journal.write(|txn| txn.set_meta(CYCLE_KEY, ""))
    }

    fn save(&self, txn: &WriteTxn<'_>) -> Result<()> {
        txn.set_meta(CYCLE_KEY, &serde_json::to_string(self).unwrap_or_default())
    }

    /// Whether the read of a list started.
    pub(super) fn has_begun(&self, list: &str) -> bool {
        self.begun.contains(list)
    }

    /// Whether a list was read to the end.
    pub(super) fn has_read(&self, list: &str) -> bool {
        self.done.contains(list)
    }

    /// Whether any list was read to the end.
    pub(super) fn has_read_any_list(&self) -> bool {
        !self.done.is_empty()
    }

    /// Records the read of a page of a list, or of its last page.
    pub(super) fn mark_page_read(txn: &WriteTxn<'_>, list: &str, is_at_end: bool) -> Result<()> {
        let Some(mut cycle) = Self::load(txn)? else { return Ok(()) };
        let is_changed = cycle.begun.insert(list.to_owned()) | (is_at_end && cycle.done.insert(list.to_owned()));
        if is_changed { cycle.save(txn) } else { Ok(()) }
    }
}

/// Whether a full list of jobs is due. Other lists may miss changes, since the service does not promise that `date` or
/// ids show all.
pub(super) fn is_relist_due(txn: &ReadTxn, options: &Options, now: DateTime<Utc>) -> Result<bool> {
    Ok(!is_recent(txn.relist()?.last_full_at, options, now))
}

/// Whether the last full read of a list is recent enough, that is not as old as `relist`.
///
/// A twentieth less counts as old, so that a sync which starts a little earlier than the day before is a full one too.
pub(super) fn is_recent(last: Option<DateTime<Utc>>, options: &Options, now: DateTime<Utc>) -> bool {
    let longest = options.relist.saturating_sub(options.relist / 20);
    last.is_some_and(|last| is_within(last, longest, now))
}

/// Whether `then` is at most `span` before `now`. A future time was written by a wrong clock.
fn is_within(then: DateTime<Utc>, span: Duration, now: DateTime<Utc>) -> bool {
    let age = now.signed_duration_since(then);
    age >= TimeDelta::zero() && TimeDelta::from_std(span).is_ok_and(|span| age < span)
}
