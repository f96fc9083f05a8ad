//! A round: one reading of all lists and the work that follows from it, over as many runs as it takes.
//!
//! What a killed run has read is not read again by the next one: that goes on with the round. A round that is older than
//! the overlap of cursors is given up for a fresh one, since its lists say too little by then.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::journal::{Changes, Journal, ReadTxn, WriteTxn};
use super::options::Options;
use crate::error::Result;

/// Where the journal keeps it, and the number of the last one.
const CYCLE_KEY: &str = "round";
const COUNT_KEY: &str = "rounds";

/// A round that has begun and not ended. What was done in it is told by its number and not by the time, since clocks are
/// set back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SyncCycle {
    /// Its number.
    pub(super) number: u64,
    /// When it began.
    pub(super) began: DateTime<Utc>,
    /// Lists of the account whose reading has begun.
    begun: BTreeSet<String>,
    /// Those that were read to their end.
    done: BTreeSet<String>,
    /// The number of its relist, where it lists all jobs.
    pub(super) relist: Option<u64>,
    /// Records of jobs and grain carts that were not known before it.
    pub(super) new: u64,
    /// Those that have changed.
    pub(super) changed: u64,
    /// Those that are gone.
    pub(super) gone: u64,
    /// Whether it was read for a plan, and no sync has gone on with it yet.
    #[serde(default)]
    pub(super) is_plan: bool,
}

/// Who enters a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CycleMode {
    /// A plan, which reads the lists and leaves what follows from them to a sync.
    Plan,
    /// A sync, which does all of it.
    Sync,
}

impl SyncCycle {
    /// The round that was begun and not ended.
    pub(super) fn load(txn: &ReadTxn) -> Result<Option<Self>> {
        let text = txn.get_meta(CYCLE_KEY)?.filter(|text| !text.is_empty());
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Goes on with the round that is open, or begins one.
    pub(super) fn resume_or_begin(
        journal: &Journal,
        options: &Options,
        mode: CycleMode,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        journal.write(|txn| {
            txn.begin_run(now)?;
            let unfinished = Self::load(txn)?;
            // A plan does not make the sync finished that stopped before it.
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
            // The journal keeps microseconds, and what is done at once is not to lie before its round.
            let cycle = Self { number, began: now.trunc_subsecs(6), relist, is_plan, ..Self::default() };
            cycle.save(txn)?;
            Ok(cycle)
        })
    }

    /// Counts what a page of a list brought.
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

    /// Ends it: all that follows from its lists was done.
    pub(super) fn finish(journal: &Journal) -> Result<()> {
        journal.write(Self::abandon)
    }

    /// Gives up the round that is open: the next one reads all lists again.
    pub(super) fn abandon(txn: &WriteTxn<'_>) -> Result<()> {
        txn.set_meta(CYCLE_KEY, "")
    }

    fn save(&self, txn: &WriteTxn<'_>) -> Result<()> {
        txn.set_meta(CYCLE_KEY, &serde_json::to_string(self).unwrap_or_default())
    }

    /// Whether the reading of a list of the account has begun.
    pub(super) fn has_begun(&self, list: &str) -> bool {
        self.begun.contains(list)
    }

    /// Whether a list of the account was read to its end.
    pub(super) fn has_read(&self, list: &str) -> bool {
        self.done.contains(list)
    }

    /// Whether any list of the account was.
    pub(super) fn has_read_any_list(&self) -> bool {
        !self.done.is_empty()
    }

    /// Keeps that a page of a list was read, or its last one.
    pub(super) fn mark_page_read(txn: &WriteTxn<'_>, list: &str, is_at_end: bool) -> Result<()> {
        let Some(mut cycle) = Self::load(txn)? else { return Ok(()) };
        let is_changed = cycle.begun.insert(list.to_owned()) | (is_at_end && cycle.done.insert(list.to_owned()));
        if is_changed { cycle.save(txn) } else { Ok(()) }
    }
}

/// Whether all jobs have to be listed: neither `date` nor the order of ids is promised to tell of every change.
pub(super) fn is_relist_due(txn: &ReadTxn, options: &Options, now: DateTime<Utc>) -> Result<bool> {
    let last = txn.relist()?.last_full_at;
    Ok(!last.is_some_and(|last| is_within(last, options.relist, now)))
}

/// Whether `then` lies at most `span` before `now`; a time that is still to come was written by a clock that was wrong.
fn is_within(then: DateTime<Utc>, span: Duration, now: DateTime<Utc>) -> bool {
    let age = now.signed_duration_since(then);
    age >= TimeDelta::zero() && TimeDelta::from_std(span).is_ok_and(|span| age < span)
}
