//! A round: one reading of all lists and the work that follows from it, over as many runs as it takes.
//!
//! What a killed run has read is not read again by the next one: that goes on with the round. A round that is older than
//! the overlap of cursors is given up for a fresh one, since its lists say too little by then.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::journal::{Changes, Journal, Look, Step};
use super::options::Options;
use crate::error::Result;

/// Where the journal keeps it, and the number of the last one.
const NAME: &str = "round";
const COUNT: &str = "rounds";

/// A round that has begun and not ended. What was done in it is told by its number and not by the time, since clocks are
/// set back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
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
pub(super) enum Entry {
    /// A plan, which reads the lists and leaves what follows from them to a sync.
    Plan,
    /// A sync, which does all of it.
    Sync,
}

impl Round {
    /// The round that was begun and not ended.
    pub(super) fn open(look: &Look) -> Result<Option<Self>> {
        let text = look.about(NAME)?.filter(|text| !text.is_empty());
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Goes on with the round that is open, or begins one.
    pub(super) fn enter(journal: &Journal, options: &Options, entry: Entry, now: DateTime<Utc>) -> Result<Self> {
        journal.step(|step| {
            step.begin_run(now)?;
            let open = Self::open(step)?;
            // A plan does not make the sync finished that stopped before it.
            let is_plan = entry == Entry::Plan && open.as_ref().is_none_or(|round| round.is_plan);
            if let Some(round) = open.filter(|round| is_within(round.began, options.overlap, now)) {
                let round = Self { is_plan, ..round };
                round.keep(step)?;
                return Ok(round);
            }
            let relist = if is_relist_due(step, options, now)? { Some(step.begin_relist()?) } else { None };
            let last = step.about(COUNT)?.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            let number = last.saturating_add(1);
            step.set_about(COUNT, &number.to_string())?;
            // The journal keeps microseconds, and what is done at once is not to lie before its round.
            let round = Self { number, began: now.trunc_subsecs(6), relist, is_plan, ..Self::default() };
            round.keep(step)?;
            Ok(round)
        })
    }

    /// Counts what a page of a list brought.
    pub(super) fn count(step: &Step<'_>, changes: Changes, gone: u64) -> Result<()> {
        let Some(mut round) = Self::open(step)? else { return Ok(()) };
        if changes.new == 0 && changes.changed == 0 && gone == 0 {
            return Ok(());
        }
        round.new = round.new.saturating_add(changes.new);
        round.changed = round.changed.saturating_add(changes.changed);
        round.gone = round.gone.saturating_add(gone);
        round.keep(step)
    }

    /// Ends it: all that follows from its lists was done.
    pub(super) fn end(journal: &Journal) -> Result<()> {
        journal.step(Self::give_up)
    }

    /// Gives up the round that is open: the next one reads all lists again.
    pub(super) fn give_up(step: &Step<'_>) -> Result<()> {
        step.set_about(NAME, "")
    }

    fn keep(&self, step: &Step<'_>) -> Result<()> {
        step.set_about(NAME, &serde_json::to_string(self).unwrap_or_default())
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
    pub(super) fn has_read_a_list(&self) -> bool {
        !self.done.is_empty()
    }

    /// Keeps that a page of a list was read, or its last one.
    pub(super) fn mark(step: &Step<'_>, list: &str, is_at_end: bool) -> Result<()> {
        let Some(mut round) = Self::open(step)? else { return Ok(()) };
        let is_news = round.begun.insert(list.to_owned()) | (is_at_end && round.done.insert(list.to_owned()));
        if is_news { round.keep(step) } else { Ok(()) }
    }
}

/// Whether all jobs have to be listed: neither `date` nor the order of ids is promised to tell of every change.
pub(super) fn is_relist_due(look: &Look, options: &Options, now: DateTime<Utc>) -> Result<bool> {
    let last = look.relist()?.last_full_at;
    Ok(!last.is_some_and(|last| is_within(last, options.relist, now)))
}

/// Whether `then` lies at most `span` before `now`; a time that is still to come was written by a clock that was wrong.
fn is_within(then: DateTime<Utc>, span: Duration, now: DateTime<Utc>) -> bool {
    let age = now.signed_duration_since(then);
    age >= TimeDelta::zero() && TimeDelta::from_std(span).is_ok_and(|span| age < span)
}
