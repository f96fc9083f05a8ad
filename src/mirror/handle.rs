//! Handle to the mirror of an account: plan, sync, status and verify.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::archive_log;
use super::archive_repair::{repair, repair_archive_log};
use super::call_queue::{Queue, Task};
use super::dataset;
use super::estimate::Plan;
use super::execute_call::{NULL_DETAIL, execute};
use super::journal::{Journal, Published, ReadTxn, Record};
use super::layout::Folder;
use super::lists::{self, List};
use super::location_lists;
use super::options::Options;
use super::progress::{Phase, Progress};
use super::publisher_thread;
use super::renewed_key;
use super::status::{self, Status};
use super::sync;
use super::sync_cycle::{CycleMode, SyncCycle};
use super::writer::{MirrorWriter, is_fatal};
use headland_base::error::{Error, Kind, Result};
use headland_client::Client;
use headland_reader::layer::Cancel;

/// A cycle with older lists at the start of a sync is finished and followed by another. The user expects the latest
/// state.
const STALE_AFTER: Duration = Duration::from_secs(3_600);

/// Pulls per cycle of archives that a publication found missing.
const MAX_PULLS: u32 = 5;

/// Result of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// New jobs and grain carts.
    pub new: u64,
    /// Changed jobs and grain carts.
    pub changed: u64,
    /// Removed jobs and grain carts.
    pub gone: u64,
    /// Jobs and grain carts whose file failed or cannot be read, at the end.
    pub failed: u64,
    /// Finished calls.
    pub calls: u64,
    /// Bytes of the downloaded archives.
    pub bytes: u64,
    /// Published generation; `None` if nothing changed.
    pub generation: Option<u64>,
    /// Rows of the dataset, if it was published.
    pub rows: Option<u64>,
    /// Messages for the user: records skipped until the next sync, lists that the access key cannot read, and ids of the
    /// filter without a job.
    pub notes: Vec<String>,
}

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Archives that were read.
    pub archives: u64,
    /// Problems, one sentence each.
    pub findings: Vec<String>,
}

/// Mirror of an account in a folder.
#[derive(Clone, Debug)]
pub struct Mirror {
    path: PathBuf,
    client: Option<Client>,
    options: Options,
}

impl Mirror {
    /// Mirror in `path`. Creates nothing, and reads the journal only for a job type of the filter that the specification
    /// does not have. Without a client it cannot sync.
    pub fn open(path: &Path, client: Option<Client>, options: Options) -> Result<Self> {
        if options.concurrency == 0 {
            return Err(Error::new(Kind::Value, "a sync needs at least one concurrent call"));
        }
        if options.filter.has_unlisted_types() {
            options.filter.check_types(&status::listed_types(path)?)?;
        }
        Ok(Self { path: path.to_owned(), client, options })
    }

    fn client(&self) -> Result<&Client> {
        let why = "this mirror was opened without a client: pass one to plan or to sync";
        self.client.as_ref().ok_or_else(|| Error::new(Kind::Configuration, why))
    }

    fn now(&self) -> chrono::DateTime<Utc> {
        self.client.as_ref().map_or_else(Utc::now, |client| client.clock().now())
    }

    /// Opens the folder for writing. One call compares another access key with the mirror.
    async fn open_writer(&self, progress: &Progress) -> Result<MirrorWriter> {
        let client = self.client()?.with_free_queue_time();
        let folder = Folder::open(&self.path, true)?;
        let has_called = renewed_key::accept(&folder, &client, &self.options).await?;
        let writer = MirrorWriter::open(folder, client, &self.options, progress)?;
        renewed_key::set_base_url(&writer.journal, &writer.client)?;
        if has_called {
            writer.count_finished_call();
        }
        Ok(writer)
    }

    /// Reads the due lists, and details where the filter needs them, and returns the work of a sync. The next sync does
    /// not read these again.
    pub async fn plan(&self, progress: &Progress) -> Result<Plan> {
        let writer = self.open_writer(progress).await?;
        progress.update(|snapshot| snapshot.phase = Phase::Lists);
        let cycle = SyncCycle::resume_or_begin(&writer.journal, &self.options, CycleMode::Plan, writer.now())?;
        read_lists(&writer, &cycle).await?;
        let queue = load_queue(&writer, &cycle)?;
        let budget = writer.client.budget();
        writer.journal.read(|txn| {
            let calls = txn.calls()?;
            let made = |purpose: &str| {
                calls.iter().filter(|calls| calls.purpose == purpose).map(|calls| calls.this_run).sum::<u64>()
            };
            let (cycle, made) = (SyncCycle::load(txn)?, (made("lists"), made("details")));
            Plan::from_journal(txn, cycle.as_ref(), (&queue, &self.options.filter), &budget, made)
        })
    }

    /// Plan from the journal alone, without calls. Changes since the last lists are not included, and the access key is
    /// not compared with the mirror.
    pub fn plan_offline(&self) -> Result<Plan> {
        let folder = Folder::open(&self.path, false)?;
        let journal = Journal::open(&folder, None)?;
        let budget = match &self.client {
            Some(client) => client.budget(),
            None => headland_client::limiter::Budget {
                remaining: u32::MAX,
                next_call_in: Duration::ZERO,
                reset_in: Duration::ZERO,
                windows: Vec::new(),
                service_wait: None,
            },
        };
        journal.read(|txn| {
            let filter = &self.options.filter;
            let queue = Queue::load(txn, Vec::new(), 0, filter, self.now())?;
            Plan::from_journal(txn, SyncCycle::load(txn)?.as_ref(), (&queue, filter), &budget, (0, 0))
        })
    }

    /// Downloads everything new or changed and publishes it. After a drop at any await, the next sync resumes.
    pub async fn sync(&self, progress: &Progress) -> Result<Outcome> {
        let writer = self.open_writer(progress).await?;
        let begun = writer.now();
        let mut outcome = Outcome::default();
        loop {
            let cycle = SyncCycle::resume_or_begin(&writer.journal, &self.options, CycleMode::Sync, writer.now())?;
            let age = begun.signed_duration_since(cycle.began);
            let is_stale = TimeDelta::from_std(STALE_AFTER).is_ok_and(|stale| age > stale);
            let done = run_cycle(&writer, &cycle, is_stale, &mut outcome).await;
            let counted = writer.journal.read(SyncCycle::load)?.unwrap_or_else(|| cycle.clone());
            outcome.new = outcome.new.saturating_add(counted.new);
            outcome.changed = outcome.changed.saturating_add(counted.changed);
            outcome.gone = outcome.gone.saturating_add(counted.gone);
            done?;
            SyncCycle::finish(&writer.journal)?;
            if !is_stale {
                break;
            }
        }
        progress.update(|snapshot| {
            snapshot.phase = Phase::Done;
            snapshot.time_left = Some(Duration::ZERO);
        });
        writer.journal.read(|txn| self.options.filter.notes(txn))?.into_iter().for_each(|note| writer.add_note(note));
        let snapshot = progress.snapshot();
        outcome.failed = writer.journal.read(ReadTxn::count_failed)?;
        (outcome.calls, outcome.bytes, outcome.notes) = (snapshot.calls_done, snapshot.bytes, writer.take_notes());
        Ok(outcome)
    }

    /// State of the mirror, without calls.
    pub fn status(&self) -> Result<Status> {
        status::read(&self.path, &self.options, self.now())
    }

    /// Verifies the journal, every archive and every published file against checksums.
    ///
    /// With `deep`, the rows of every archive are read again and compared with the dataset. The next sync downloads
    /// missing or damaged archives and rewrites published files. A damaged journal file is an error.
    pub fn verify(&self, deep: bool, cancel: &Cancel) -> Result<Verification> {
        let folder = Folder::open(&self.path, false)?;
        let journal = Journal::open(&folder, None)?;
        let (expected, lost, logged) = journal.read(|txn| {
            txn.check()?;
            Ok((txn.archives()?, status::find_lost(&folder, txn)?, txn.logged_archives()?))
        })?;
        let log_finding = archive_log::check(folder.path(), &logged)?;
        let archive_findings = folder.store().verify(&expected, cancel)?;
        let mut dataset_findings = dataset::verify(&folder, deep, cancel)?;
        dataset_findings.extend(lost);
        let findings: Vec<String> =
            log_finding.iter().chain(&archive_findings).chain(&dataset_findings).map(ToString::to_string).collect();
        if !findings.is_empty() {
            drop((folder, journal));
            // If another process is syncing the folder, a later verification repairs it.
            if let Ok(folder) = Folder::open(&self.path, true) {
                let journal = Journal::open(&folder, None)?;
                if log_finding.is_some() {
                    repair_archive_log(&folder, &journal)?;
                }
                repair(&journal, &archive_findings)?;
                if !dataset_findings.is_empty() {
                    dataset::repair(&folder, &dataset_findings)?;
                    // Revision 0 is older than any other, so the next sync publishes again.
                    journal.write(|txn| match txn.published()? {
                        Some(before) => txn.set_published(Published { revision: 0, ..before }),
                        None => Ok(()),
                    })?;
                }
            }
        }
        Ok(Verification { archives: u64::try_from(expected.len()).unwrap_or(u64::MAX), findings })
    }
}

/// Reads the lists, makes the remaining calls, and publishes. Stale work is left to the next cycle.
///
/// A publication that finds archives missing publishes nothing; they are downloaded first.
async fn run_cycle(writer: &MirrorWriter, cycle: &SyncCycle, is_stale: bool, outcome: &mut Outcome) -> Result<()> {
    writer.progress.update(|snapshot| snapshot.phase = Phase::Lists);
    let mut pulled = read_lists(writer, cycle).await;
    for _ in 0..MAX_PULLS {
        if pulled.is_ok() {
            pulled = pull(writer, cycle).await;
        }
        // After an error of the service or the key, publishes what is there; a full disk has no space for it.
        if (pulled.is_ok() && is_stale) || pulled.as_ref().is_err_and(|error| error.kind() == Kind::File) {
            return pulled;
        }
        writer.progress.update(|snapshot| {
            snapshot.phase = Phase::Publishing;
            (snapshot.waiting_until, snapshot.limit_until) = (None, None);
        });
        if let Some(published) = publisher_thread::finish(writer).await? {
            (outcome.generation, outcome.rows) = (Some(published.generation), Some(published.rows));
        }
        if pulled.is_err() || !writer.journal.read(ReadTxn::has_lost)? {
            return pulled;
        }
    }
    let message = format!(
        "archives in `{}` keep getting lost: check whether a program removes or changes files there, or \
         the disk fails, and sync again; the published state is kept",
        writer.folder.path().display()
    );
    Err(Error::new(Kind::File, message))
}

/// Makes the remaining calls, including those for lost archives. No more archives are lost meanwhile, since nothing is
/// published.
async fn pull(writer: &MirrorWriter, cycle: &SyncCycle) -> Result<()> {
    let had_lost = writer.journal.read(ReadTxn::has_lost)?;
    let mut queue = load_queue(writer, cycle)?;
    sync::pull(writer, &mut queue).await?;
    if had_lost { writer.journal.write(|txn| txn.set_lost(false)) } else { Ok(()) }
}

/// Remaining work. Unfinished lists of locations are resumed.
fn load_queue(writer: &MirrorWriter, cycle: &SyncCycle) -> Result<Queue> {
    let devices = location_lists::due_devices(writer, cycle)?;
    writer.journal.read(|txn| Queue::load(txn, devices, cycle.number, &writer.options.filter, writer.now()))
}

/// Reads the lists of the account, details of computers, and first pages of locations.
///
/// Details state whose locations a list holds. First pages state the number of locations.
async fn read_lists(writer: &MirrorWriter, cycle: &SyncCycle) -> Result<()> {
    lists::read_all(writer, cycle).await?;
    let computers = writer.journal.read(|txn| {
        // An empty detail is not requested again; some legacy devices have none.
        let is_due = |computer: &Record| match &computer.detail {
            None => true,
            Some(detail) => {
                let is_of_cycle = computer.detail_at.is_some_and(|at| at >= cycle.began);
                cycle.relist.is_some() && !is_of_cycle && detail != NULL_DETAIL
            }
        };
        let mut computers = location_lists::present_records(txn, List::Computers)?;
        computers.retain(is_due);
        Ok(computers)
    })?;
    let details = computers.into_iter().map(|computer| Task::Record { list: List::Computers, id: computer.id });
    run_concurrently(writer, details.collect()).await?;
    let mut fresh = Vec::new();
    for device in location_lists::due_devices(writer, cycle)? {
        if !writer.journal.read(|txn| device.has_begun(txn))? {
            fresh.push(Task::Locations(device, cycle.number));
        }
    }
    run_concurrently(writer, fresh).await?;
    read_open_kinds(writer).await
}

/// Reads the details of jobs whose label leaves open whether the filter includes them.
async fn read_open_kinds(writer: &MirrorWriter) -> Result<()> {
    let filter = &writer.options.filter;
    let mut open = writer.journal.read(|txn| txn.details_due(usize::MAX))?;
    open.retain(|item| filter.needs_detail(item));
    let details = open.into_iter().map(|item| Task::Detail { id: item.id, stamp: item.stamp });
    run_concurrently(writer, details.collect()).await
}

/// Makes calls concurrently. A call that fails for its record alone is noted and repeated by the next sync.
async fn run_concurrently(writer: &MirrorWriter, tasks: Vec<Task>) -> Result<()> {
    let calls = stream::iter(tasks).map(|task| async move {
        match execute(writer, &task).await {
            Err(error) if !is_fatal(&error) => {
                writer.add_note(format!("{}: {error}", sync::describe_task(&task)));
                Ok(())
            }
            other => other.map(drop),
        }
    });
    calls.buffer_unordered(writer.options.concurrency).try_collect().await
}
