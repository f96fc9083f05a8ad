//! Queue of the remaining calls of a sync, and their order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::job_filter::Filter;
use super::journal::{FileState, Item, ItemKind, ReadTxn};
use super::lists::List;
use super::location_lists::Device;
use headland_base::error::Result;

/// Request for a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileRequest {
    /// Version of the record.
    pub(super) stamp: String,
    pub(super) id: String,
    pub(super) is_cart: bool,
    /// Number of requests so far.
    pub(super) requests: u32,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Requests a file, which is returned or not ready yet.
    File(FileRequest),
    /// Reads the detail of a job.
    Detail { id: String, stamp: String },
    /// Reads the detail of a record without a file.
    Record { list: List, id: String },
    /// Reads the next page of a location list. A read that starts now belongs to the cycle with this number.
    Locations(Device, u64),
}

/// Work that follows from a call.
#[derive(Debug)]
pub(super) enum NextStep {
    /// None.
    Done,
    /// Request the file again: after this time of day, or after this elapsed time.
    Retry(FileRequest, DateTime<Utc>, Duration),
    /// Another call.
    Another(Task),
}

/// Remaining calls.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Conversions by the time when they are ready. Either clock suffices: the wall clock continues while a laptop
    /// sleeps, and the monotonic clock is never set back.
    converting: BinaryHeap<Reverse<(DateTime<Utc>, Duration, FileRequest)>>,
    files: VecDeque<FileRequest>,
    details: VecDeque<Task>,
    others: VecDeque<Task>,
    /// Files that the filter leaves out; `None` without a filter.
    filtered: Option<u64>,
}

/// Number of remaining calls by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    /// Files in conversion by the service.
    pub(super) converting: u64,
    /// Files not requested yet.
    pub(super) files: u64,
    /// Details.
    pub(super) details: u64,
    /// Pages of locations.
    pub(super) lists: u64,
}

impl Remaining {
    /// Least number of calls.
    pub(super) fn min_calls(self) -> u64 {
        [self.converting, self.files, self.details, self.lists].iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl Queue {
    /// Loads the remaining work from the journal. `devices` are those whose lists are read. Conversions that have begun
    /// are collected regardless of the filter, since their requests have used the rate limit.
    pub(super) fn load(
        txn: &ReadTxn,
        devices: Vec<Device>,
        cycle: u64,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let mut queue = Self::default();
        for item in txn.in_state("converting", usize::MAX)? {
            if let FileState::Converting { ready_at, requests } = item.file {
                // Waits of services are at most a day. A later time was written by a wrong clock.
                let ready_at = if ready_at.signed_duration_since(now) > TimeDelta::days(1) { now } else { ready_at };
                queue.converting.push(Reverse((ready_at, Duration::MAX, FileRequest::from_item(&item, requests))));
            }
        }
        let mut files = txn.pending(usize::MAX)?;
        let pending = files.len();
        files.retain(|item| filter.includes_file(item));
        let filtered = u64::try_from(pending.saturating_sub(files.len())).unwrap_or(u64::MAX);
        queue.filtered = filter.is_set().then_some(filtered);
        queue.files = files.iter().map(|item| FileRequest::from_item(item, 0)).collect();
        let details = txn.details_due(usize::MAX)?.into_iter().filter(|item| filter.includes_detail(item));
        queue.details = details.map(|item| Task::Detail { id: item.id, stamp: item.stamp }).collect();
        let maps = txn.records_without_detail(List::Maps.records(), usize::MAX)?;
        queue.others = maps.into_iter().map(|id| Task::Record { list: List::Maps, id }).collect();
        queue.others.extend(devices.into_iter().map(|device| Task::Locations(device, cycle)));
        Ok(queue)
    }

    /// Next call: ready conversions, new files, details, then everything else. `None` if only conversions that are not
    /// ready are left.
    pub(super) fn next_task(&mut self, now: DateTime<Utc>, elapsed: Duration) -> Option<Task> {
        if self.has_ready_conversion(now, elapsed)
            && let Some(Reverse((.., file))) = self.converting.pop()
        {
            return Some(Task::File(file));
        }
        self.files.pop_front().map(Task::File).or_else(|| self.details.pop_front()).or_else(|| self.others.pop_front())
    }

    fn has_ready_conversion(&self, now: DateTime<Utc>, elapsed: Duration) -> bool {
        self.converting.peek().is_some_and(|Reverse((ready_at, until, _))| *ready_at <= now || *until <= elapsed)
    }

    /// Whether a call can be made without waiting for a conversion.
    pub(super) fn has_immediate_tasks(&self) -> bool {
        !(self.files.is_empty() && self.details.is_empty() && self.others.is_empty())
    }

    /// When the first conversion is ready.
    pub(super) fn next_ready_at(&self) -> Option<DateTime<Utc>> {
        self.converting.peek().map(|Reverse((ready_at, ..))| *ready_at)
    }

    /// When the last conversion is ready.
    pub(super) fn last_ready_at(&self) -> Option<DateTime<Utc>> {
        self.converting.iter().map(|Reverse((ready_at, ..))| *ready_at).max()
    }

    /// Number of files that the filter leaves out; `None` without a filter.
    pub(super) fn filtered(&self) -> Option<u64> {
        self.filtered
    }

    pub(super) fn is_empty(&self) -> bool {
        self.converting.is_empty() && !self.has_immediate_tasks()
    }

    /// Adds the work that follows from a call.
    pub(super) fn schedule(&mut self, next: NextStep) {
        match next {
            NextStep::Done => {}
            NextStep::Retry(file, ready_at, until) => self.converting.push(Reverse((ready_at, until, file))),
            NextStep::Another(task) => self.others.push_front(task),
        }
    }

    /// Least number of remaining calls.
    pub(super) fn remaining(&self, txn: &ReadTxn) -> Result<Remaining> {
        let mut remaining = self.remaining_without_pages();
        remaining.lists = 0;
        for task in &self.others {
            if let Task::Locations(device, _) = task {
                remaining.lists = remaining.lists.saturating_add(device.pages_left(txn)?);
            }
        }
        Ok(remaining)
    }

    /// Like [`Queue::remaining`], with one call per location list.
    pub(super) fn remaining_without_pages(&self) -> Remaining {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let lists = self.others.iter().filter(|task| matches!(task, Task::Locations(..))).count();
        Remaining {
            converting: count(self.converting.len()),
            files: count(self.files.len()),
            details: count(self.details.len().saturating_add(self.others.len()).saturating_sub(lists)),
            lists: count(lists),
        }
    }
}

impl FileRequest {
    fn from_item(item: &Item, requests: u32) -> Self {
        Self { stamp: item.stamp.clone(), id: item.id.clone(), is_cart: item.kind == ItemKind::Cart, requests }
    }

    /// Id of its record.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn kind(&self) -> ItemKind {
        if self.is_cart { ItemKind::Cart } else { ItemKind::Job }
    }
}
