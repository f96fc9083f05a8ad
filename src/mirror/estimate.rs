//! Estimates the work of a sync before it runs: changes, calls, time and bytes.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::call_queue::{Queue, Remaining};
use super::job_filter::Filter;
use super::journal::ReadTxn;
use super::progress::{format_size, format_span, time_at_limit};
use super::sync_cycle::SyncCycle;
use headland_base::error::Result;
use headland_client::limiter::Budget;

/// Planned calls for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Made by the plan. The next sync does not repeat them.
    pub made: u64,
    /// Least number of remaining calls.
    pub least: u64,
    /// Greatest number of remaining calls, unless the service asks to wait for a file more than once.
    pub most: u64,
}

/// Work of a sync.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// New jobs and grain carts.
    pub new: u64,
    /// Changed jobs and grain carts.
    pub changed: u64,
    /// Removed jobs and grain carts.
    pub gone: u64,
    /// Files not downloaded yet, regardless of when they became known.
    pub files: u64,
    /// Files not downloaded yet that the filter leaves out; `None` without a filter.
    pub filtered: Option<u64>,
    /// Whether the cycle lists all jobs, as happens regularly.
    pub is_relist: bool,
    /// When the lists were read; `None` for a plan from the journal alone.
    pub lists_read_at: Option<DateTime<Utc>>,
    /// Calls for lists, including locations.
    pub lists: Planned,
    /// Calls for details.
    pub details: Planned,
    /// First requests for files. Each returns the file, or starts its conversion.
    pub asked: Planned,
    /// Downloads of converted files.
    pub collected: Planned,
    /// Time of the remaining calls at the rate limit, minimum and maximum.
    pub time: (Duration, Duration),
    /// Estimated bytes of the files, by the mean of stored ones; `None` without any.
    pub bytes: Option<u64>,
    /// Messages for the user: ids of the filter without a job.
    pub notes: Vec<String>,
}

impl Plan {
    /// Remaining calls: minimum and maximum.
    #[must_use]
    pub fn calls_left(&self) -> (u64, u64) {
        let all = [self.lists, self.details, self.asked, self.collected];
        let sum = |count: fn(&Planned) -> u64| all.iter().map(count).fold(0, u64::saturating_add);
        (sum(|calls| calls.least), sum(|calls| calls.most))
    }

    /// Computes the remaining work from the journal. `made` holds the calls for lists and details that the plan made.
    pub(super) fn from_journal(
        txn: &ReadTxn,
        cycle: Option<&SyncCycle>,
        (queue, filter): (&Queue, &Filter),
        budget: &Budget,
        made: (u64, u64),
    ) -> Result<Self> {
        let Remaining { converting, files, details, lists } = queue.remaining(txn)?;
        let (archives, stored_bytes) = txn.count_archives()?;
        let both = |made: u64, least: u64, most: u64| Planned { made, least, most };
        let wanted = converting.saturating_add(files);
        let bytes = stored_bytes.checked_div(archives).map(|mean| mean.saturating_mul(wanted));
        let mut plan = Self {
            new: cycle.map_or(0, |cycle| cycle.new),
            changed: cycle.map_or(0, |cycle| cycle.changed),
            gone: cycle.map_or(0, |cycle| cycle.gone),
            files: wanted,
            filtered: queue.filtered(),
            is_relist: cycle.is_some_and(|cycle| cycle.relist.is_some()),
            lists_read_at: cycle.map(|cycle| cycle.began),
            lists: both(made.0, lists, lists),
            details: both(made.1, details, details),
            asked: both(0, files, files),
            collected: both(0, converting, wanted),
            time: (Duration::ZERO, Duration::ZERO),
            bytes,
            notes: filter.notes(txn)?,
        };
        let (least, most) = plan.calls_left();
        plan.time = (time_at_limit(least, budget), time_at_limit(most, budget));
        Ok(plan)
    }
}

impl fmt::Display for Plan {
    /// `212 to 230 calls, about 7 min, 1.2 GB; the filter leaves out 12 files`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = self.calls_left();
        if least == most {
            write!(f, "{least} calls")?;
        } else {
            write!(f, "{least} to {most} calls")?;
        }
        let [least, most] = [self.time.0, self.time.1].map(|time| format_span(time.as_secs_f64().max(1.0)));
        if self.time.1.is_zero() {
            write!(f, ", no wait at the client's rate limit")?;
        } else if least == most || self.time.0.is_zero() {
            write!(f, ", about {most}")?;
        } else {
            write!(f, ", {least} to {most}")?;
        }
        match self.bytes {
            _ if self.files == 0 => {}
            Some(bytes) => write!(f, ", about {}", format_size(bytes))?,
            None => write!(f, ", {} of unknown size", format_files(self.files))?,
        }
        self.filtered.map_or(Ok(()), |files| write!(f, "; the filter leaves out {}", format_files(files)))
    }
}

fn format_files(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
