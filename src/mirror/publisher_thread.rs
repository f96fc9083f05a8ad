//! Publishes the dataset on a thread of its own, concurrently with the calls.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::archive_repair::{forget_missing_archives, quarantine};
use super::dataset::{self, Publication, Published as PublishedDataset};
use super::journal::{Published, ReadTxn};
use super::journal_tables;
use super::progress::{Event, Progress};
use super::source_archives::source_archives;
use super::unused_archives::collect_garbage;
use super::writer::{MirrorWriter, Workspace};
use headland_agronomy::MarketMoisture;
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;
use headland_reader::layer::Cancel;

/// Attempts at a dataset, each without the archives rejected before.
const MAX_ATTEMPTS: u32 = 8;

/// Runs at most one publication. A drop cancels it, so that nothing is published.
pub(super) struct Publisher<'a> {
    writer: &'a MirrorWriter,
    /// Start of the last publication.
    last: Duration,
    thread: Option<PublishThread>,
}

struct PublishThread {
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
    outcome: oneshot::Receiver<Result<Option<PublishedDataset>>>,
}

impl Drop for PublishThread {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            // Waits for the thread, so that it does not publish into the next run.
            let _ = thread.join();
        }
    }
}

impl<'a> Publisher<'a> {
    pub(super) fn new(writer: &'a MirrorWriter) -> Self {
        Self { writer, last: writer.client.clock().elapsed(), thread: None }
    }

    /// Whether no publication is running.
    pub(super) fn is_idle(&self) -> bool {
        self.thread.is_none()
    }

    /// Starts a publication if the last one is older than the interval of the options.
    pub(super) fn begin_if_due(&mut self) -> Result<()> {
        let now = self.writer.client.clock().elapsed();
        if self.thread.is_none() && now.saturating_sub(self.last) >= self.writer.options.publish_every {
            self.begin()?;
        }
        Ok(())
    }

    /// Starts a publication.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.last = self.writer.client.clock().elapsed();
        let (sender, outcome) = oneshot::channel();
        let cancel = Cancel::default();
        let (workspace, thread_cancel) = (Arc::clone(&self.writer.workspace), cancel.clone());
        let (progress, market) = (self.writer.progress.clone(), self.writer.options.market_moisture.clone());
        let work = move || {
            // Fails if the run has ended and the outcome is not needed.
            let _ = sender.send(publish(&workspace, &market, &progress, &thread_cancel));
        };
        let thread = std::thread::Builder::new().name("headland-publish".to_owned()).spawn(work);
        let thread = thread.map_err(|cause| {
            let message = format!(
                "cannot start the thread that publishes: {cause}; raise the thread limit (`ulimit -u`, `pids.max` of a \
                 container), and sync again: downloads are kept"
            );
            Error::new(Kind::File, message).with(|facts| facts.os_error = error_number(&cause))
        })?;
        self.thread = Some(PublishThread { cancel, thread: Some(thread), outcome });
        Ok(())
    }

    /// Waits for the running publication; pends forever if there is none.
    pub(super) async fn wait_if_running(&mut self) -> Result<()> {
        if self.thread.is_none() {
            std::future::pending::<()>().await;
        }
        self.wait().await.map(drop)
    }

    /// Waits for the running publication, if any.
    pub(super) async fn wait(&mut self) -> Result<Option<PublishedDataset>> {
        let Some(thread) = &mut self.thread else { return Ok(None) };
        let outcome = (&mut thread.outcome).await;
        self.thread = None;
        outcome.unwrap_or_else(|_| Err(Error::new(Kind::File, "the publication ended without a result: report this")))
    }
}

/// Publishes everything unpublished. `None` if there is nothing, or if archives were lost.
pub(crate) async fn finish(writer: &MirrorWriter) -> Result<Option<PublishedDataset>> {
    let mut publisher = Publisher::new(writer);
    publisher.begin()?;
    let dataset = publisher.wait().await?;
    if dataset.is_some() {
        collect_garbage(&writer.folder, &writer.journal)?;
    }
    Ok(dataset)
}

/// Publishes, unless lost archives were not requested again since: their rows would be missing.
fn publish(
    workspace: &Workspace,
    market_moisture: &MarketMoisture,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Option<PublishedDataset>> {
    let Workspace { folder, journal, .. } = workspace;
    let mut last = None;
    folder.repair_published()?;
    for _ in 0..MAX_ATTEMPTS {
        let (revision, published, has_lost) =
            journal.read(|txn| Ok((txn.revision()?, txn.published()?, txn.has_lost()?)))?;
        if has_lost {
            let why = "nothing is published until the missing archives were requested again".to_owned();
            progress.push_event(Event::Unavailable(why));
            return Ok(last);
        }
        // The generation that the journal records may be gone from the disk. Then it is published again.
        let current = folder.current()?;
        let is_shown = published.is_some_and(|published| {
            published.revision == revision
                && current.as_ref().is_some_and(|current| current.number == published.generation)
        });
        if is_shown && current.is_some_and(|current| dataset::is_usable(&current, market_moisture)) {
            return Ok(last);
        }
        // No damaged record is published.
        journal.read(ReadTxn::check)?;
        for id in forget_missing_archives(folder, journal)? {
            let why = format!("record {id}: its archive is missing, and the service no longer has it");
            workspace.add_note(why.clone());
            progress.push_event(Event::Unavailable(why));
        }
        let (revision, wanted, tables) = journal.read(|txn| {
            let wanted = source_archives(&workspace.folder, txn, market_moisture)?;
            Ok((txn.revision()?, wanted, journal_tables::build_tables(txn)?))
        })?;
        let publication = dataset::publish(folder, &wanted, &tables, cancel)?;
        let (Publication::Published(PublishedDataset { rejected, .. }) | Publication::Lost(rejected)) = &publication;
        // All losses are marked in one transaction, so that a kill cannot leave some unmarked.
        let gone = || rejected.iter().filter(|archive| archive.is_lost());
        journal.write(|txn| gone().try_for_each(|archive| txn.mark_lost(&archive.sha256)))?;
        for archive in rejected {
            let what = if archive.is_lost() {
                "its archive is missing and is requested again".to_owned()
            } else {
                quarantine(folder, journal, &archive.sha256, &archive.error.message())?;
                format!("quarantined: {}", archive.error.message())
            };
            progress.push_event(Event::Unavailable(format!("job {}: {what}", archive.job_id)));
        }
        let Publication::Published(published) = publication else { return Ok(last) };
        let is_whole = published.rejected.is_empty();
        if is_whole {
            journal.write(|txn| txn.set_published(Published { generation: published.generation, revision }))?;
            progress.push_event(Event::Published { generation: published.generation, rows: published.rows });
        }
        last = Some(published);
        if is_whole {
            break;
        }
    }
    Ok(last)
}
