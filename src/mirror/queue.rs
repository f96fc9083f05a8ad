//! The calls that are left: in which order they are made, and what each of them does.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::ingest::{set_aside, take_in};
use super::journal::{FileState, Item, ItemKind, Look, Step};
use super::lists::{self, List};
use super::locations::{self, Device};
use super::progress::Event;
use super::writer::Run;
use crate::client::{Arguments, Asked};
use crate::error::{Error, Kind, Result};
use crate::layer::{self, Code, ReadOptions, Source};
use crate::wire::encode_json;

/// The format of job data that is mirrored.
const FORMAT: &str = "SHP";

/// The detail of a record that the service does not describe.
pub(super) const NOTHING: &str = "null";

/// A file to ask for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct File {
    /// The version of the record.
    stamp: String,
    id: String,
    is_cart: bool,
    /// How often it was asked for.
    times: u32,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// A file: it comes, or it is not ready.
    File(File),
    /// The detail of a job.
    Detail { id: String, stamp: String },
    /// The detail of a record without a file.
    Record { list: List, id: String },
    /// The next page of a list of locations; a reading that begins is of that round.
    Locations(Device, u64),
}

/// What comes after a call.
#[derive(Debug)]
pub(super) enum After {
    /// Nothing.
    Done,
    /// The file is asked for again, not before that time.
    Ripens(File, DateTime<Utc>, Duration),
    /// Another call.
    More(Work),
}

/// The calls that are left.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Conversions, by when they are ripe: by the wall clock, which goes on while a laptop sleeps, or by the clock for
    /// deadlines, which nobody sets back.
    converting: BinaryHeap<Reverse<(DateTime<Utc>, Duration, File)>>,
    files: VecDeque<File>,
    details: VecDeque<Work>,
    others: VecDeque<Work>,
}

/// How many calls are left, by what for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Files that the service makes.
    pub(super) converting: u64,
    /// Files that were never asked for.
    pub(super) files: u64,
    /// Details.
    pub(super) details: u64,
    /// Pages of locations.
    pub(super) lists: u64,
}

impl Left {
    /// Calls at least.
    pub(super) fn least(self) -> u64 {
        [self.converting, self.files, self.details, self.lists].iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl Queue {
    /// What the journal says is left; `devices` are those whose lists are read.
    pub(super) fn load(look: &Look, devices: Vec<Device>, round: u64, now: DateTime<Utc>) -> Result<Self> {
        let mut queue = Self::default();
        for item in look.in_state("asked", usize::MAX)? {
            if let FileState::Asked { ripe_at, times } = item.file {
                // No service asks for a longer wait than a day: such a time was written by a clock that was wrong.
                let ripe_at = if ripe_at.signed_duration_since(now) > TimeDelta::days(1) { now } else { ripe_at };
                queue.converting.push(Reverse((ripe_at, Duration::MAX, File::of(&item, times))));
            }
        }
        queue.files = look.unasked(usize::MAX)?.iter().map(|item| File::of(item, 0)).collect();
        let details = look.details_due(usize::MAX)?;
        queue.details = details.into_iter().map(|item| Work::Detail { id: item.id, stamp: item.stamp }).collect();
        let maps = look.records_without_detail(List::Maps.records(), usize::MAX)?;
        queue.others = maps.into_iter().map(|id| Work::Record { list: List::Maps, id }).collect();
        queue.others.extend(devices.into_iter().map(|device| Work::Locations(device, round)));
        Ok(queue)
    }

    /// The call to make now: ripe conversions, files that were never asked for, details, everything else. `None` where
    /// there is none or all that is left ripens.
    pub(super) fn take(&mut self, now: DateTime<Utc>, elapsed: Duration) -> Option<Work> {
        if self.is_ripe(now, elapsed)
            && let Some(Reverse((.., file))) = self.converting.pop()
        {
            return Some(Work::File(file));
        }
        self.files.pop_front().map(Work::File).or_else(|| self.details.pop_front()).or_else(|| self.others.pop_front())
    }

    fn is_ripe(&self, now: DateTime<Utc>, elapsed: Duration) -> bool {
        self.converting.peek().is_some_and(|Reverse((at, until, _))| *at <= now || *until <= elapsed)
    }

    /// Whether some call can be made without waiting for a conversion.
    pub(super) fn has_more(&self) -> bool {
        !(self.files.is_empty() && self.details.is_empty() && self.others.is_empty())
    }

    /// When the first conversion is ripe.
    pub(super) fn next_ripe(&self) -> Option<DateTime<Utc>> {
        self.converting.peek().map(|Reverse((at, ..))| *at)
    }

    /// When the last one is.
    pub(super) fn last_ripe(&self) -> Option<DateTime<Utc>> {
        self.converting.iter().map(|Reverse((at, ..))| *at).max()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.converting.is_empty() && !self.has_more()
    }

    /// Puts in what comes after a call.
    pub(super) fn put(&mut self, after: After) {
        match after {
            After::Done => {}
            After::Ripens(file, at, until) => self.converting.push(Reverse((at, until, file))),
            After::More(work) => self.others.push_front(work),
        }
    }

    /// How many calls are left at least.
    pub(super) fn left(&self, look: &Look) -> Result<Left> {
        let mut left = self.left_in_short();
        left.lists = 0;
        for work in &self.others {
            if let Work::Locations(device, _) = work {
                left.lists = left.lists.saturating_add(device.pages_left(look)?);
            }
        }
        Ok(left)
    }

    /// The same, with one call for each list of locations.
    pub(super) fn left_in_short(&self) -> Left {
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        let lists = self.others.iter().filter(|work| matches!(work, Work::Locations(..))).count();
        Left {
            converting: count(self.converting.len()),
            files: count(self.files.len()),
            details: count(self.details.len().saturating_add(self.others.len()).saturating_sub(lists)),
            lists: count(lists),
        }
    }
}

impl File {
    fn of(item: &Item, times: u32) -> Self {
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
pub(super) async fn perform(run: &Run, work: &Work) -> Result<After> {
    match work {
        Work::File(file) => ask(run, file).await,
        Work::Detail { id, stamp } => {
            let detail = detail(run, "job_data.get", id).await?;
            run.journal.step(|step| {
                step.set_detail(ItemKind::Job, id, stamp, detail.json())?;
                step.set_no_detail(id, detail.refused())?;
                step.count_call("details")
            })?;
            Ok(After::Done)
        }
        Work::Record { list, id } => {
            let name = if *list == List::Maps { "prescription_maps.get" } else { "field_computers.get" };
            let detail = detail(run, name, id).await?;
            run.journal.step(|step| {
                step.set_record_detail(list.records(), id, detail.json(), run.now())?;
                step.count_call("details")
            })?;
            Ok(After::Done)
        }
        Work::Locations(device, round) => {
            let more = locations::read_page(run, device, *round).await?;
            Ok(if more { After::More(work.clone()) } else { After::Done })
        }
    }
}

/// What the service says of a record.
enum Detail {
    /// As JSON.
    Given(String),
    /// Why there is none.
    Refused(String),
}

impl Detail {
    fn json(&self) -> &str {
        match self {
            Self::Given(json) => json,
            Self::Refused(_) => NOTHING,
        }
    }

    fn refused(&self) -> Option<&str> {
        match self {
            Self::Given(_) => None,
            Self::Refused(why) => Some(why),
        }
    }
}

/// The detail of a record. Of one that the service has no more or does not describe (some legacy devices,
/// specification 4.2) there is none, and it is not asked for again.
///
/// What a detail says of a conversion depends on when it is asked for, and what is known of the file stands with the
/// file: those two fields are left out, so that a mirror holds the same whatever came first.
async fn detail(run: &Run, row_name: &str, id: &str) -> Result<Detail> {
    let row = lists::row(row_name)?;
    let shape = lists::item_shape(row)?;
    let detail = match run.client.detail(row, &Arguments::new(row, &[("id", id.to_owned())])?).await {
        Ok(detail) => detail,
        Err(error) if is_about_the_record(&error) => {
            run.note(format!("{row_name} of {id}: {error}"));
            run.called();
            return Ok(Detail::Refused(error.message().into_owned()));
        }
        Err(error) => return Err(error),
    };
    run.called();
    let mut detail = encode_json(shape, &detail);
    if let (Some(fields), "job_data.get") = (detail.as_object_mut(), row_name) {
        fields.retain(|name, _| !matches!(name.as_str(), "Status" | "AvailableFiles"));
    }
    Ok(Detail::Given(detail.to_string()))
}

/// Whether the service has said no to this one record.
fn is_about_the_record(error: &Error) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::PermissionDenied | Kind::MethodNotAllowed | Kind::InvalidRequest)
}

/// Notes totals of a grain cart file that are not the sums of its loads: loads may be missing. A file that cannot be read
/// is found where it is published.
fn note_totals(run: &Run, id: &str, path: &Path) {
    let Ok(layer) = layer::read(&Source::Path(path.to_owned()), &ReadOptions::default()) else { return };
    for differing in layer.diagnostics().iter().filter(|diagnostic| diagnostic.code == Code::TotalDiffers) {
        run.note(format!("grain cart file {id}: {} ({})", differing.message, differing.code));
    }
}

async fn ask(run: &Run, file: &File) -> Result<After> {
    let (kind, id, stamp) = (file.kind(), file.id.as_str(), file.stamp.as_str());
    let row = lists::row(if file.is_cart { "grain_carts.download" } else { "job_data.download" })?;
    let format = (!file.is_cart).then(|| ("format", FORMAT.to_owned()));
    let given: Vec<(&str, String)> = [("id", file.id.clone())].into_iter().chain(format).collect();
    let folder = run.folder.incoming(stamp)?;
    let asked = run.client.ask_once(row, &Arguments::new(row, &given)?, &folder, file.times).await;
    let is_file = matches!(asked, Ok(Asked::File(_) | Asked::Damaged { .. }));
    if !is_file {
        run.folder.disk().remove_folder(&folder)?;
    }
    let now = run.now();
    let count = |step: &Step<'_>| step.count_call("files");
    let tell = |why: &str| {
        let what = if file.is_cart { "grain cart file" } else { "job" };
        run.progress.happened(Event::Unavailable(format!("{what} {id}: {why}")));
    };
    let settle = |state: FileState| {
        run.journal.step(|step| {
            step.set_file(kind, id, stamp, &state, now)?;
            count(step)
        })
    };
    let after = match asked {
        Ok(Asked::File(path)) => {
            let stored = take_in(&run.folder, &run.journal, (kind, id, stamp), &path, now, count)?;
            run.progress.update(|told| told.bytes = told.bytes.saturating_add(stored.bytes));
            if file.is_cart {
                note_totals(run, id, &stored.path);
            }
            After::Done
        }
        Ok(Asked::Damaged { path, error }) => {
            let stored = take_in(&run.folder, &run.journal, (kind, id, stamp), &path, now, count)?;
            set_aside(&run.folder, &run.journal, &stored.sha256, &error.message(), now)?;
            tell(&format!("quarantined: {}", error.message()));
            After::Done
        }
        Ok(Asked::MoreTime { wait }) => {
            let ripe_at = TimeDelta::from_std(wait).ok().and_then(|wait| now.checked_add_signed(wait));
            let ripe_at = ripe_at.unwrap_or(now);
            let times = file.times.saturating_add(1);
            run.journal.step(|step| {
                step.set_file(kind, id, stamp, &FileState::Asked { ripe_at, times }, now)?;
                step.count_call("conversions")
            })?;
            let until = run.client.clock().elapsed().saturating_add(wait);
            After::Ripens(File { times, ..file.clone() }, ripe_at, until)
        }
        Err(error) if error.kind() == Kind::NoCoverage => {
            settle(FileState::NoCoverage { reason: error.message().into_owned() })?;
            tell(&format!("no coverage: {}", error.message()));
            After::Done
        }
        // An archive error is about a file that is longer than any may be.
        Err(error) if matches!(error.kind(), Kind::ConversionFailed | Kind::Archive) || is_about_the_record(&error) => {
            let status = error.facts().conversion.clone();
            settle(FileState::Failed { reason: error.message().into_owned(), status })?;
            tell(&format!("failed: {}", error.message()));
            After::Done
        }
        Err(error) => return Err(error),
    };
    run.called();
    Ok(after)
}
