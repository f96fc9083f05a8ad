//! The calls that are left: in which order they are made, and what each of them does.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::ingest::{ingest, quarantine};
use super::journal::{FileState, Item, ItemKind, ReadTxn, WriteTxn};
use super::lists::{self, List};
use super::locations::{self, Device};
use super::progress::Event;
use super::writer::MirrorWriter;
use crate::client::{Arguments, Asked};
use crate::error::{Error, Kind, Result};
use crate::layer::{self, Code, ReadOptions, Source};
use crate::wire::encode_json;

/// The format of job data that is mirrored.
const FORMAT: &str = "SHP";

/// The detail of a record that the service does not describe.
pub(super) const NULL_DETAIL: &str = "null";

/// A file to ask for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileRequest {
    /// The version of the record.
    stamp: String,
    id: String,
    is_cart: bool,
    /// How often it was asked for.
    times: u32,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// A file: it comes, or it is not ready.
    File(FileRequest),
    /// The detail of a job.
    Detail { id: String, stamp: String },
    /// The detail of a record without a file.
    Record { list: List, id: String },
    /// The next page of a list of locations; a reading that begins is of that round.
    Locations(Device, u64),
}

/// What comes after a call.
#[derive(Debug)]
pub(super) enum NextStep {
    /// Nothing.
    Done,
    /// The file is asked for again, not before that time.
    Retry(FileRequest, DateTime<Utc>, Duration),
    /// Another call.
    Another(Task),
}

/// The calls that are left.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Conversions, by when they are ripe: by the wall clock, which goes on while a laptop sleeps, or by the clock for
    /// deadlines, which nobody sets back.
    converting: BinaryHeap<Reverse<(DateTime<Utc>, Duration, FileRequest)>>,
    files: VecDeque<FileRequest>,
    details: VecDeque<Task>,
    others: VecDeque<Task>,
}

/// How many calls are left, by what for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    /// Files that the service makes.
    pub(super) converting: u64,
    /// Files that were never asked for.
    pub(super) files: u64,
    /// Details.
    pub(super) details: u64,
    /// Pages of locations.
    pub(super) lists: u64,
}

impl Remaining {
    /// Calls at least.
    pub(super) fn min_calls(self) -> u64 {
        [self.converting, self.files, self.details, self.lists].iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl Queue {
    /// What the journal says is left; `devices` are those whose lists are read.
    pub(super) fn load(txn: &ReadTxn, devices: Vec<Device>, cycle: u64, now: DateTime<Utc>) -> Result<Self> {
        let mut queue = Self::default();
        for item in txn.in_state("asked", usize::MAX)? {
            if let FileState::Asked { ready_at, times } = item.file {
                // No service asks for a longer wait than a day: such a time was written by a clock that was wrong.
                let ready_at = if ready_at.signed_duration_since(now) > TimeDelta::days(1) { now } else { ready_at };
                queue.converting.push(Reverse((ready_at, Duration::MAX, FileRequest::from_item(&item, times))));
            }
        }
        queue.files = txn.unasked(usize::MAX)?.iter().map(|item| FileRequest::from_item(item, 0)).collect();
        let details = txn.details_due(usize::MAX)?;
        queue.details = details.into_iter().map(|item| Task::Detail { id: item.id, stamp: item.stamp }).collect();
        let maps = txn.records_without_detail(List::Maps.records(), usize::MAX)?;
        queue.others = maps.into_iter().map(|id| Task::Record { list: List::Maps, id }).collect();
        queue.others.extend(devices.into_iter().map(|device| Task::Locations(device, cycle)));
        Ok(queue)
    }

    /// The call to make now: ripe conversions, files that were never asked for, details, everything else. `None` where
    /// there is none or all that is left ripens.
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

    /// Whether some call can be made without waiting for a conversion.
    pub(super) fn has_immediate_tasks(&self) -> bool {
        !(self.files.is_empty() && self.details.is_empty() && self.others.is_empty())
    }

    /// When the first conversion is ripe.
    pub(super) fn next_ready_at(&self) -> Option<DateTime<Utc>> {
        self.converting.peek().map(|Reverse((ready_at, ..))| *ready_at)
    }

    /// When the last one is.
    pub(super) fn last_ready_at(&self) -> Option<DateTime<Utc>> {
        self.converting.iter().map(|Reverse((ready_at, ..))| *ready_at).max()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.converting.is_empty() && !self.has_immediate_tasks()
    }

    /// Puts in what comes after a call.
    pub(super) fn schedule(&mut self, next: NextStep) {
        match next {
            NextStep::Done => {}
            NextStep::Retry(file, ready_at, until) => self.converting.push(Reverse((ready_at, until, file))),
            NextStep::Another(task) => self.others.push_front(task),
        }
    }

    /// How many calls are left at least.
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

    /// The same, with one call for each list of locations.
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

    /// The id of its record.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> ItemKind {
        if self.is_cart { ItemKind::Cart } else { ItemKind::Job }
    }
}

/// Makes a call and keeps what came of it.
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

/// What the service says of a record.
enum Detail {
    /// As JSON.
    Found(String),
    /// Why there is none.
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

/// The detail of a record. Of one that the service has no more or does not describe (some legacy devices,
/// specification 4.2) there is none, and it is not asked for again.
///
/// What a detail says of a conversion depends on when it is asked for, and what is known of the file stands with the
/// file: those two fields are left out, so that a mirror holds the same whatever came first.
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

/// Whether the service has said no to this one record.
fn is_record_error(error: &Error) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::PermissionDenied | Kind::MethodNotAllowed | Kind::InvalidRequest)
}

/// Notes totals of a grain cart file that are not the sums of its loads: loads may be missing. A file that cannot be read
/// is found where it is published.
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
    let asked = writer.client.ask_once(row, &Arguments::new(row, &arguments)?, &folder, file.times).await;
    let is_file = matches!(asked, Ok(Asked::File(_) | Asked::Damaged { .. }));
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
        Ok(Asked::File(path)) => {
            let stored = ingest(&writer.folder, &writer.journal, (kind, id, stamp), &path, now, count)?;
            writer.progress.update(|snapshot| snapshot.bytes = snapshot.bytes.saturating_add(stored.bytes));
            if file.is_cart {
                note_wrong_totals(writer, id, &stored.path);
            }
            NextStep::Done
        }
        Ok(Asked::Damaged { path, error }) => {
            let stored = ingest(&writer.folder, &writer.journal, (kind, id, stamp), &path, now, count)?;
            quarantine(&writer.folder, &writer.journal, &stored.sha256, &error.message(), now)?;
            report(&format!("quarantined: {}", error.message()));
            NextStep::Done
        }
        Ok(Asked::MoreTime { wait }) => {
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
        // An archive error is about a file that is longer than any may be.
        Err(error) if matches!(error.kind(), Kind::ConversionFailed | Kind::Archive) || is_record_error(&error) => {
            let status = error.facts().conversion.clone();
            set_state(FileState::Failed { reason: error.message().into_owned(), status })?;
            report(&format!("failed: {}", error.message()));
            NextStep::Done
        }
        Err(error) => return Err(error),
    };
    writer.count_finished_call();
    Ok(next)
}
