//! The mirror of an account as its user holds it: plan, sync, status, verify.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::archive_log;
use super::archive_store::{Finding, Trouble};
use super::dataset;
use super::ingest::{forget_damaged, mend, mend_ledger};
use super::journal::{Journal, Look, Published, Record};
use super::layout::Folder;
use super::lists::{self, List};
use super::locations;
use super::options::Options;
use super::plan::Plan;
use super::progress::{Phase, Progress};
use super::publisher;
use super::queue::{NOTHING, Queue, Work, perform};
use super::status::{self, Status};
use super::sync;
use super::sync_cycle::{Entry, Round};
use super::writer::{Run, ends_all};
use crate::client::Client;
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;

/// A round whose lists are older than this when a sync begins is ended, and another one is begun at once: who syncs
/// expects what is new now.
const STALE: Duration = Duration::from_secs(3_600);

/// So often does a round pull what its publications find gone.
const PULLS: u32 = 5;

/// What a sync did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Jobs and grain carts that were new.
    pub new: u64,
    /// Those that had changed.
    pub changed: u64,
    /// Those that are gone.
    pub gone: u64,
    /// Calls that were finished.
    pub calls: u64,
    /// Bytes of the archives that came.
    pub bytes: u64,
    /// The generation that was published; `None` where nothing had changed.
    pub generation: Option<u64>,
    /// Rows of the dataset, where one was published.
    pub rows: Option<u64>,
    /// What the user should know of: records that were set aside until the next sync, lists that the key does not give.
    pub notes: Vec<String>,
}

/// What a look at everything found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Archives that were read.
    pub archives: u64,
    /// What is not as it should be, in sentences.
    pub findings: Vec<String>,
}

/// The mirror of an account in a folder.
#[derive(Clone, Debug)]
pub struct Mirror {
    path: PathBuf,
    client: Option<Client>,
    options: Options,
}

impl Mirror {
    /// A mirror in `path`. Nothing is made or opened yet; without a client it can be looked at and not synced.
    pub fn open(path: &Path, client: Option<Client>, options: Options) -> Result<Self> {
        if options.concurrency == 0 {
            return Err(Error::new(Kind::Value, "a sync needs at least one call at once"));
        }
        Ok(Self { path: path.to_owned(), client, options })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn client(&self) -> Result<&Client> {
        let why = "this mirror was opened without a client: pass one to plan or to sync";
        self.client.as_ref().ok_or_else(|| Error::new(Kind::Configuration, why))
    }

    fn now(&self) -> chrono::DateTime<Utc> {
        self.client.as_ref().map_or_else(Utc::now, |client| client.clock().now())
    }

    /// Reads the lists that are due and says what a sync has to do. The sync that follows does not read them again.
    pub async fn plan(&self) -> Result<Plan> {
        self.plan_telling(&Progress::default()).await
    }

    /// The same, and tells how far it has come: the lists of a large account take their time.
    pub async fn plan_telling(&self, progress: &Progress) -> Result<Plan> {
        let run = Run::open(&self.path, self.client()?, &self.options, progress)?;
        progress.update(|told| told.phase = Phase::Lists);
        let round = Round::enter(&run.journal, &self.options, Entry::Plan, run.now())?;
        read_lists(&run, &round).await?;
        let queue = load(&run, &round)?;
        let budget = run.client.budget()?;
        run.journal.look(|look| {
            let calls = look.calls()?;
            let made = |purpose: &str| {
                calls.iter().filter(|calls| calls.purpose == purpose).map(|calls| calls.this_run).sum::<u64>()
            };
            Plan::of(look, Round::open(look)?.as_ref(), &queue, &budget, (made("lists"), made("details")))
        })
    }

    /// Says what there is to do by the journal alone, without a call: what is new since is not in it.
    pub fn plan_offline(&self) -> Result<Plan> {
        let folder = Folder::open(&self.path, false)?;
        let journal = Journal::open(&folder, self.client.as_ref().map(Client::account).as_deref())?;
        let budget = match &self.client {
            Some(client) => client.budget()?,
            None => crate::limiter::Budget {
                remaining: u32::MAX,
                next_call_in: Duration::ZERO,
                reset_in: Duration::ZERO,
                windows: Vec::new(),
                service_wait: None,
            },
        };
        journal.look(|look| {
            let queue = Queue::load(look, Vec::new(), 0, self.now())?;
            Plan::of(look, Round::open(look)?.as_ref(), &queue, &budget, (0, 0))
        })
    }

    /// Pulls all that is new or has changed and publishes it. Dropped on the way, it leaves everything in order, and the
    /// next sync goes on where it stopped.
    pub async fn sync(&self, progress: &Progress) -> Result<Outcome> {
        let run = Run::open(&self.path, self.client()?, &self.options, progress)?;
        let begun = run.now();
        let mut outcome = Outcome::default();
        loop {
            let round = Round::enter(&run.journal, &self.options, Entry::Sync, run.now())?;
            let age = begun.signed_duration_since(round.began);
            let is_stale = TimeDelta::from_std(STALE).is_ok_and(|stale| age > stale);
            let done = one_round(&run, &round, is_stale, &mut outcome).await;
            let counted = run.journal.look(Round::open)?.unwrap_or_else(|| round.clone());
            outcome.new = outcome.new.saturating_add(counted.new);
            outcome.changed = outcome.changed.saturating_add(counted.changed);
            outcome.gone = outcome.gone.saturating_add(counted.gone);
            done?;
            Round::end(&run.journal)?;
            if !is_stale {
                break;
            }
        }
        progress.update(|told| {
            told.phase = Phase::Done;
            told.left = Some(Duration::ZERO);
        });
        let told = progress.snapshot();
        (outcome.calls, outcome.bytes, outcome.notes) = (told.calls_done, told.bytes, run.take_notes());
        Ok(outcome)
    }

    /// How it stands, without a call.
    pub fn status(&self) -> Result<Status> {
        status::read(&self.path, &self.options, self.now())
    }

    /// Reads the journal, every archive and every published file and compares these with their digests; `deep` reads the rows
    /// of every archive again and compares those with the dataset's, too. What is missing or damaged among the archives is
    /// asked for by the next sync, and what is among the published files is written anew. A journal that is damaged is an
    /// error.
    pub fn verify(&self, deep: bool, cancel: &Cancel) -> Result<Verification> {
        let folder = Folder::open(&self.path, false)?;
        let journal = Journal::open(&folder, None)?;
        let (expected, lost, damaged, taken) = journal.look(|look| {
            look.check()?;
            Ok((look.archives()?, status::lost(&folder, look)?, look.damaged()?, look.taken()?))
        })?;
        let of_journal = damaged.iter().map(|damaged| Finding {
            trouble: Trouble::Damaged,
            path: folder.journal_path(),
            detail: format!("{damaged} is not what was written; sync again, which reads it anew"),
        });
        let of_ledger = archive_log::check(folder.path(), &taken)?;
        let of_journal: Vec<Finding> = of_journal.chain(of_ledger.clone()).collect();
        let of_store = folder.store().verify(&expected, cancel)?;
        let mut of_dataset = dataset::verify(&folder, deep, cancel)?;
        of_dataset.extend(lost);
        let findings: Vec<String> =
            of_journal.iter().chain(&of_store).chain(&of_dataset).map(ToString::to_string).collect();
        if !findings.is_empty() {
            drop((folder, journal));
            // Where somebody syncs the folder just now, the next look has it mended.
            if let Ok(folder) = Folder::open(&self.path, true) {
                let journal = Journal::open(&folder, None)?;
                if of_ledger.is_some() {
                    mend_ledger(&folder, &journal)?;
                }
                forget_damaged(&journal)?;
                mend(&journal, &of_store, self.now())?;
                if !of_dataset.is_empty() {
                    dataset::mend(&folder, &of_dataset)?;
                    // What is published counts as older than any revision, so that the next sync publishes again.
                    journal.step(|step| match step.published()? {
                        Some(before) => step.set_published(Published { revision: 0, ..before }),
                        None => Ok(()),
                    })?;
                }
            }
        }
        Ok(Verification { archives: u64::try_from(expected.len()).unwrap_or(u64::MAX), findings })
    }
}

/// The lists, then the work that follows from them, then its publication; what is stale is left to the next round's.
///
/// A publication that finds archives gone publishes nothing, and they are pulled first.
async fn one_round(run: &Run, round: &Round, is_stale: bool, outcome: &mut Outcome) -> Result<()> {
    run.progress.update(|told| told.phase = Phase::Lists);
    let mut pulled = read_lists(run, round).await;
    for _ in 0..PULLS {
        if pulled.is_ok() {
            pulled = pull(run, round).await;
        }
        // A pull that the service or the key has ended publishes what it has; a disk that is full takes no more.
        if (pulled.is_ok() && is_stale) || pulled.as_ref().is_err_and(|error| error.kind() == Kind::File) {
            return pulled;
        }
        run.progress.update(|told| {
            told.phase = Phase::Publishing;
            (told.waiting_until, told.limit_until) = (None, None);
        });
        if let Some(published) = publisher::finish(run).await? {
            (outcome.generation, outcome.rows) = (Some(published.generation), Some(published.rows));
        }
        if pulled.is_err() || !run.journal.look(Look::has_lost)? {
            return pulled;
        }
    }
    let message = format!(
        "archives in `{}` are lost as fast as they are fetched: see which program removes or changes files there, or \
         whether the disk is at fault, and sync again; what was published before stays",
        run.folder.path().display()
    );
    Err(Error::new(Kind::File, message))
}

/// Makes the calls that are left. What was lost before it is asked for then; no more is lost meanwhile, since nothing is
/// published until then.
async fn pull(run: &Run, round: &Round) -> Result<()> {
    let had_lost = run.journal.look(Look::has_lost)?;
    let mut queue = load(run, round)?;
    sync::pull(run, &mut queue).await?;
    if had_lost { run.journal.step(|step| step.set_lost(false)) } else { Ok(()) }
}

/// The work that is left; lists of locations that were begun go on.
fn load(run: &Run, round: &Round) -> Result<Queue> {
    let devices = locations::due(run, round)?;
    run.journal.look(|look| Queue::load(look, devices, round.number, run.now()))
}

/// Reads the lists of the account, then the details of computers, which tell whose locations a list holds, and the first
/// page of each list of locations, which tells how many there are.
async fn read_lists(run: &Run, round: &Round) -> Result<()> {
    lists::read_all(run, round).await?;
    let computers = run.journal.look(|look| {
        // What the service does not describe, it will not describe: some legacy devices.
        let is_due = |computer: &Record| match &computer.detail {
            None => true,
            Some(detail) => {
                let is_of_round = computer.detail_at.is_some_and(|at| at >= round.began);
                round.relist.is_some() && !is_of_round && detail != NOTHING
            }
        };
        let mut computers = locations::present(look, List::Computers)?;
        computers.retain(is_due);
        Ok(computers)
    })?;
    let details = computers.into_iter().map(|computer| Work::Record { list: List::Computers, id: computer.id });
    all(run, details.collect()).await?;
    let mut fresh = Vec::new();
    for device in locations::due(run, round)? {
        if !run.journal.look(|look| device.has_begun(look))? {
            fresh.push(Work::Locations(device, round.number));
        }
    }
    all(run, fresh).await
}

/// Makes calls, several at once. One that fails for reasons of its record is noted, and made again by the next sync.
async fn all(run: &Run, work: Vec<Work>) -> Result<()> {
    let calls = stream::iter(work).map(|work| async move {
        match perform(run, &work).await {
            Err(error) if !ends_all(&error) => {
                run.note(format!("{}: {error}", sync::named(&work)));
                Ok(())
            }
            other => other.map(drop),
        }
    });
    calls.buffer_unordered(run.options.concurrency).try_collect().await
}
