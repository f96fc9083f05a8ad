//! What a sync has to do, before it does it.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::journal::ReadTxn;
use super::progress::{format_duration, format_size, time_at_limit};
use super::queue::{Queue, Remaining};
use super::sync_cycle::SyncCycle;
use crate::error::Result;
use crate::limiter::Budget;

/// Planned for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Made for the plan: the sync that follows does not make them again.
    pub made: u64,
    /// Left to make at least.
    pub least: u64,
    /// Left to make at most, unless the service asks to wait for a file more than once.
    pub most: u64,
}

/// What a sync has to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Jobs and grain carts that are new.
    pub new: u64,
    /// Those that have changed.
    pub changed: u64,
    /// Those that are gone.
    pub gone: u64,
    /// Files that are not here yet, whenever they became known.
    pub files: u64,
    /// Whether all jobs are listed, as is done every now and then.
    pub is_relist: bool,
    /// When the lists that it stands on were read; `None` for a plan from the journal alone.
    pub lists_read_at: Option<DateTime<Utc>>,
    /// Planned for lists, locations among them.
    pub lists: Planned,
    /// Planned for details.
    pub details: Planned,
    /// First askings for files: each gives the file, or has the service make it.
    pub asked: Planned,
    /// Collecting files that the service had to make.
    pub collected: Planned,
    /// How long the calls that are left take at the limit, at least and at most.
    pub time: (Duration, Duration),
    /// Bytes of the files, by the mean of those that are known; `None` where none is.
    pub bytes: Option<u64>,
}

impl Plan {
    /// Planned of the whole sync, those that the plan made among them: at least and at most.
    #[must_use]
    pub fn calls(&self) -> (u64, u64) {
        let all = [self.lists, self.details, self.asked, self.collected];
        let sum = |count: fn(&Planned) -> u64| all.iter().map(count).fold(0, u64::saturating_add);
        (sum(|calls| calls.made.saturating_add(calls.least)), sum(|calls| calls.made.saturating_add(calls.most)))
    }

    /// Planned that are left: at least and at most.
    #[must_use]
    pub fn calls_left(&self) -> (u64, u64) {
        let all = [self.lists, self.details, self.asked, self.collected];
        let sum = |count: fn(&Planned) -> u64| all.iter().map(count).fold(0, u64::saturating_add);
        (sum(|calls| calls.least), sum(|calls| calls.most))
    }

    /// Counts what is left.
    pub(super) fn from_journal(
        txn: &ReadTxn,
        cycle: Option<&SyncCycle>,
        queue: &Queue,
        budget: &Budget,
        made: (u64, u64),
    ) -> Result<Self> {
        let Remaining { converting, files, details, lists } = queue.remaining(txn)?;
        let summary = txn.summary()?;
        let both = |made: u64, least: u64, most: u64| Planned { made, least, most };
        let wanted = converting.saturating_add(files);
        let bytes = summary.bytes.checked_div(summary.archives).map(|mean| mean.saturating_mul(wanted));
        let mut plan = Self {
            new: cycle.map_or(0, |cycle| cycle.new),
            changed: cycle.map_or(0, |cycle| cycle.changed),
            gone: cycle.map_or(0, |cycle| cycle.gone),
            files: wanted,
            is_relist: cycle.is_some_and(|cycle| cycle.relist.is_some()),
            lists_read_at: cycle.map(|cycle| cycle.began),
            lists: both(made.0, lists, lists),
            details: both(made.1, details, details),
            asked: both(0, files, files),
            collected: both(0, converting, wanted),
            time: (Duration::ZERO, Duration::ZERO),
            bytes: bytes.filter(|_| summary.archives > 0),
        };
        let (least, most) = plan.calls_left();
        plan.time = (time_at_limit(least, budget), time_at_limit(most, budget));
        Ok(plan)
    }
}

impl fmt::Display for Plan {
    /// `212 to 230 calls, about 7 min, 1.2 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = self.calls_left();
        if least == most {
            write!(f, "{least} calls")?;
        } else {
            write!(f, "{least} to {most} calls")?;
        }
        let (least, most) = (format_duration(self.time.0), format_duration(self.time.1));
        if self.time.1.is_zero() {
            write!(f, ", at once")?;
        } else if least == most || self.time.0.is_zero() {
            write!(f, ", about {most}")?;
        } else {
            write!(f, ", {least} to {most}")?;
        }
        match self.bytes {
            _ if self.files == 0 => Ok(()),
            Some(bytes) => write!(f, ", about {}", format_size(bytes)),
            None => write!(f, ", {} files of unknown size", self.files),
        }
    }
}
