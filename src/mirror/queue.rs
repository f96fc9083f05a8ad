//! Queue of the remaining calls, their order, and their execution.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::filter::Filter;
use super::ingest::{ingest, quarantine};
use super::journal::{FileState, Item, ItemKind, REFUSED, ReadTxn, WriteTxn};
use super::lists::{self, List};
use super::locations::{self, Device};
use super::progress::Event;
use super::writer::MirrorWriter;
use headland_base::error::{Error, Kind, Result};
use headland_client::{Arguments, PollResult};
use headland_reader::layer::{self, Code, ReadOptions, Source};
use headland_wire::encode_json;

/// Format of mirrored job data.
const FORMAT: &str = "SHP";

/// Stored detail of a record without one.
pub(super) const NULL_DETAIL: &str = "null";

/// Request for a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileRequest {
    /// Version of the record.
    stamp: String,
    id: String,
    is_cart: bool,
    /// Number of requests so far.
    times: u32,
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
        for item in txn.in_state("asked", usize::MAX)? {
            if let FileState::Asked { ready_at, times } = item.file {
                // Waits of services are at most a day. A later time was written by a wrong clock.
                let ready_at = if ready_at.signed_duration_since(now) > TimeDelta::days(1) { now } else { ready_at };
                queue.converting.push(Reverse((ready_at, Duration::MAX, FileRequest::from_item(&item, times))));
            }
        }
        let mut files = txn.unasked(usize::MAX)?;
        let unasked = files.len();
        files.retain(|item| filter.includes_file(item));
        let filtered = u64::try_from(unasked.saturating_sub(files.len())).unwrap_or(u64::MAX);
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
    fn from_item(item: &Item, times: u32) -> Self {
        Self { stamp: item.stamp.clone(), id: item.id.clone(), is_cart: item.kind == ItemKind::Cart, times }
    }

    /// Id of its record.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> ItemKind {
        if self.is_cart { ItemKind::Cart } else { ItemKind::Job }
    }
}

/// Makes a call and stores its result.
pub(super) async fn execute(writer: &MirrorWriter, task: &Task) -> Result<NextStep> {
    match task {
        Task::File(file) => request_file(writer, file).await,
        Task::Detail { id, stamp } => {
            let detail = fetch_detail(writer, "job_data.get", id).await?;
            writer.journal.write(|txn| {
                txn.set_detail(ItemKind::Job, id, stamp, detail.json())?;
                txn.set_no_detail(id, detail.refused())?;
                txn.count_call("details")
            })?;
            Ok(NextStep::Done)
        }
        Task::Record { list, id } => {
            let name = if *list == List::Maps { "prescription_maps.get" } else { "field_computers.get" };
            let detail = fetch_detail(writer, name, id).await?;
            writer.journal.write(|txn| {
                txn.set_record_detail(list.records(), id, detail.json(), writer.now())?;
                txn.count_call("details")
            })?;
            Ok(NextStep::Done)
        }
        Task::Locations(device, cycle) => {
            let more = locations::read_page(writer, device, *cycle).await?;
            Ok(if more { NextStep::Another(task.clone()) } else { NextStep::Done })
        }
    }
}

/// Detail of a record.
enum Detail {
    /// As JSON.
    Found(String),
    /// Reason why there is none.
    Refused(String),
}

impl Detail {
    fn json(&self) -> &str {
        match self {
            Self::Found(json) => json,
            Self::Refused(_) => NULL_DETAIL,
        }
    }

    fn refused(&self) -> Option<&str> {
        match self {
            Self::Found(_) => None,
            Self::Refused(why) => Some(why),
        }
    }
}

/// Detail of a record. Not requested again if the record was removed, or if the service has no detail (some legacy
/// devices, specification 4.2).
///
/// Drops two fields: the conversion status depends on the time of the request, and the available files are stored as
/// the file state. So the content of a mirror does not depend on the order of calls.
async fn fetch_detail(writer: &MirrorWriter, row_name: &str, id: &str) -> Result<Detail> {
    let row = lists::endpoint(row_name)?;
    let shape = lists::item_shape(row)?;
    let detail = match writer.client.detail(row, &Arguments::new(row, &[("id", id.to_owned())])?).await {
        Ok(detail) => detail,
        Err(error) if is_record_error(&error) => {
            writer.add_note(format!("{row_name} of {id}: {error}"));
            writer.count_finished_call();
            return Ok(Detail::Refused(error.message().into_owned()));
        }
        Err(error) => return Err(error),
    };
    writer.count_finished_call();
    let mut detail = encode_json(shape, &detail);
    if let (Some(fields), "job_data.get") = (detail.as_object_mut(), row_name) {
        fields.retain(|name, _| !matches!(name.as_str(), "Status" | "AvailableFiles"));
    }
    Ok(Detail::Found(detail.to_string()))
}

/// Whether the service refused this single record.
fn is_record_error(error: &Error) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::PermissionDenied | Kind::MethodNotAllowed | Kind::InvalidRequest)
}

/// Notes totals of a grain cart file that differ from the sums of its loads, since loads may be missing. An unreadable
/// file is reported at the publication.
fn note_wrong_totals(writer: &MirrorWriter, id: &str, path: &Path) {
    let Ok(layer) = layer::read(&Source::Path(path.to_owned()), &ReadOptions::default()) else { return };
    for differing in layer.diagnostics().iter().filter(|diagnostic| diagnostic.code == Code::TotalDiffers) {
        writer.add_note(format!("grain cart file {id}: {} ({})", differing.message, differing.code));
    }
}

async fn request_file(writer: &MirrorWriter, file: &FileRequest) -> Result<NextStep> {
    let (kind, id, stamp) = (file.kind(), file.id.as_str(), file.stamp.as_str());
    let row = lists::endpoint(if file.is_cart { "grain_carts.download" } else { "job_data.download" })?;
    let format = (!file.is_cart).then(|| ("format", FORMAT.to_owned()));
    let arguments: Vec<(&str, String)> = [("id", file.id.clone())].into_iter().chain(format).collect();
    let folder = writer.folder.incoming(stamp)?;
    let asked = writer.client.poll_file(row, &Arguments::new(row, &arguments)?, &folder, file.times).await;
    let is_file = matches!(asked, Ok(PollResult::File(_) | PollResult::Damaged { .. }));
    if !is_file {
        writer.folder.disk().remove_folder(&folder)?;
    }
    let now = writer.now();
    let count = |txn: &WriteTxn<'_>| txn.count_call("files");
    let report = |why: &str| {
        let what = if file.is_cart { "grain cart file" } else { "job" };
        writer.progress.push_event(Event::Unavailable(format!("{what} {id}: {why}")));
    };
    let set_state = |state: FileState| {
        writer.journal.write(|txn| {
            txn.set_file(kind, id, stamp, &state, now)?;
            count(txn)
        })
    };
    let next = match asked {
        Ok(PollResult::File(path)) => {
            let stored = ingest(&writer.folder, &writer.journal, (kind, id, stamp), &path, now, count)?;
            writer.progress.update(|snapshot| snapshot.bytes = snapshot.bytes.saturating_add(stored.bytes));
            if file.is_cart {
                note_wrong_totals(writer, id, &stored.path);
            }
            NextStep::Done
        }
        Ok(PollResult::Damaged { path, error }) => {
            let stored = ingest(&writer.folder, &writer.journal, (kind, id, stamp), &path, now, count)?;
            quarantine(&writer.folder, &writer.journal, &stored.sha256, &error.message(), now)?;
            report(&format!("quarantined: {}", error.message()));
            NextStep::Done
        }
        Ok(PollResult::MoreTime { wait }) => {
            let ready_at = TimeDelta::from_std(wait).ok().and_then(|wait| now.checked_add_signed(wait));
            let ready_at = ready_at.unwrap_or(now);
            let times = file.times.saturating_add(1);
            writer.journal.write(|txn| {
                txn.set_file(kind, id, stamp, &FileState::Asked { ready_at, times }, now)?;
                txn.count_call("conversions")
            })?;
            let until = writer.client.clock().elapsed().saturating_add(wait);
            NextStep::Retry(FileRequest { times, ..file.clone() }, ready_at, until)
        }
        Err(error) if error.kind() == Kind::NoCoverage => {
            set_state(FileState::NoCoverage { reason: error.message().into_owned() })?;
            report(&format!("no coverage: {}", error.message()));
            NextStep::Done
        }
        // An archive error means that the file exceeds the size limit.
        Err(error) if matches!(error.kind(), Kind::ConversionFailed | Kind::Archive) || is_record_error(&error) => {
            let refused = (error.kind() == Kind::PermissionDenied).then(|| REFUSED.to_owned());
            let status = refused.or_else(|| error.facts().conversion.clone());
            set_state(FileState::Failed { reason: error.message().into_owned(), status })?;
            report(&format!("failed: {}", error.message()));
            NextStep::Done
        }
        Err(error) => return Err(error),
    };
    writer.count_finished_call();
    Ok(next)
}
