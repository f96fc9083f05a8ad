//! Publication of what was pulled, on a thread of its own beside the calls.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::catalog_tables;
use super::dataset::{self, Origin, Publication, Published as Told};
use super::ingest::{drop_unused, forget_damaged, forget_lost_of_gone, set_aside};
use super::journal::{Journal, Look, Published, Wanted};
use super::layout::Folder;
use super::progress::{Event, Progress};
use super::writer::{Desk, Run};
use crate::api::job_data::JOB_DATA_DETAIL;
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;
use crate::wire::{Content, Value, decode_detail};

/// So many damaged records are named in an error.
const NAMED: usize = 5;

/// So often is a dataset made again without the archives that it refused.
const READINGS: u32 = 8;

/// A publication that goes on, or none; dropped, it ends as soon as it can, and nothing is published.
pub(super) struct Publishing<'a> {
    run: &'a Run,
    /// When the last one began.
    last: Duration,
    working: Option<Working>,
}

struct Working {
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
    outcome: oneshot::Receiver<Result<Option<Told>>>,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            // Nobody publishes once this is gone: the next run begins with the folder as it is now.
            let _ = thread.join();
        }
    }
}

impl<'a> Publishing<'a> {
    pub(super) fn idle(run: &'a Run) -> Self {
        Self { run, last: run.client.clock().elapsed(), working: None }
    }

    /// Whether none goes on.
    pub(super) fn is_idle(&self) -> bool {
        self.working.is_none()
    }

    /// Begins one where the last is long ago: long pulls are published every now and then.
    pub(super) fn begin_if_due(&mut self) -> Result<()> {
        let now = self.run.client.clock().elapsed();
        if self.working.is_none() && now.saturating_sub(self.last) >= self.run.options.publish_every {
            self.begin()?;
        }
        Ok(())
    }

    /// Begins one.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.last = self.run.client.clock().elapsed();
        let (sender, outcome) = oneshot::channel();
        let cancel = Cancel::default();
        let (desk, seen, now) = (Arc::clone(&self.run.desk), cancel.clone(), self.run.now());
        let progress = self.run.progress.clone();
        let work = move || {
            // The send fails where the run has ended: then nobody wants the outcome.
            let _ = sender.send(publish(&desk, now, &progress, &seen));
        };
        let thread = std::thread::Builder::new().name("headland-publish".to_owned()).spawn(work);
        let thread = thread.map_err(|cause| {
            let message = format!(
                "the system gave no thread to publish in: {cause}; raise the limit on threads (`ulimit -u`, `pids.max` of a \
                 container), and sync again: what was pulled is kept"
            );
            Error::new(Kind::File, message).with(|facts| facts.os_error = cause.raw_os_error())
        })?;
        self.working = Some(Working { cancel, thread: Some(thread), outcome });
        Ok(())
    }

    /// Comes back when the one that goes on has ended; never where none does.
    pub(super) async fn ended(&mut self) -> Result<()> {
        if self.working.is_none() {
            std::future::pending::<()>().await;
        }
        self.wait().await.map(drop)
    }

    /// Waits for the one that goes on, if any.
    pub(super) async fn wait(&mut self) -> Result<Option<Told>> {
        let Some(working) = &mut self.working else { return Ok(None) };
        let outcome = (&mut working.outcome).await;
        self.working = None;
        outcome.unwrap_or_else(|_| Err(Error::new(Kind::File, "the publication ended without an outcome: report this")))
    }
}

/// Publishes all that is not published yet; `None` where that is nothing, or where archives were lost.
pub(super) async fn finish(run: &Run) -> Result<Option<Told>> {
    let mut publishing = Publishing::idle(run);
    publishing.begin()?;
    let told = publishing.wait().await?;
    if told.is_some() {
        drop_unused(&run.folder, &run.journal)?;
    }
    Ok(told)
}

/// Publishes, unless archives were lost that no pull has asked for since: their rows would be missing until then.
fn publish(
    desk: &Desk,
    now: chrono::DateTime<chrono::Utc>,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Option<Told>> {
    let Desk { folder, journal, .. } = desk;
    let mut last = None;
    folder.mend_links()?;
    for _ in 0..READINGS {
        let (revision, published, has_lost) =
            journal.look(|look| Ok((look.revision()?, look.published()?, look.has_lost()?)))?;
        if has_lost {
            let why =
                "nothing is published before the archives and records that are gone were asked for again".to_owned();
            progress.happened(Event::Unavailable(why));
            return Ok(last);
        }
        // What the journal calls published may be gone from the disk: then it is published again.
        let current = folder.current()?;
        let is_shown = published.is_some_and(|published| {
            published.revision == revision
                && current.as_ref().is_some_and(|current| current.number == published.generation)
        });
        if is_shown && current.is_some_and(|current| dataset::may_stay(&current)) {
            return Ok(last);
        }
        must_be_whole(folder, journal)?;
        for id in forget_lost_of_gone(folder, journal, now)? {
            let why = format!("record {id}: its archive is gone, and the service has it no more");
            desk.note(why.clone());
            progress.happened(Event::Unavailable(why));
        }
        let (revision, wanted, tables) =
            journal.look(|look| Ok((look.revision()?, origins(desk, look)?, catalog_tables::all(look)?)))?;
        let publication = dataset::publish(folder, &wanted, &tables, cancel)?;
        let (Publication::Published(Told { refused, .. }) | Publication::Lost(refused)) = &publication;
        // All that was lost is so in one step: a kill does not leave some of it unmarked.
        let gone = || refused.iter().filter(|refusal| refusal.is_lost());
        journal.step(|step| gone().try_for_each(|refusal| step.lose(&refusal.sha256, now)))?;
        for refusal in refused {
            let what = if refusal.is_lost() {
                "its archive is gone and is asked for again".to_owned()
            } else {
                set_aside(folder, journal, &refusal.sha256, &refusal.error.message(), now)?;
                format!("quarantined: {}", refusal.error.message())
            };
            progress.happened(Event::Unavailable(format!("job {}: {what}", refusal.job_id)));
        }
        let Publication::Published(told) = publication else { return Ok(last) };
        let is_whole = told.refused.is_empty();
        if is_whole {
            journal.step(|step| step.set_published(Published { generation: told.generation, revision }))?;
            progress.happened(Event::Published { generation: told.generation, rows: told.rows });
        }
        last = Some(told);
        if is_whole {
            break;
        }
    }
    Ok(last)
}

/// Refuses to publish records that are not what was written into the journal; the next sync reads them anew.
fn must_be_whole(folder: &Folder, journal: &Journal) -> Result<()> {
    if journal.look(Look::damaged)?.is_empty() {
        return Ok(());
    }
    let damaged = forget_damaged(journal)?;
    let named: Vec<String> = damaged.iter().take(NAMED).map(ToString::to_string).collect();
    let more = damaged.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "cannot publish: the journal `{}` does not hold what was written of {}{more}, its bytes have changed on this disk; \
         sync again, which reads that anew",
        folder.journal_path().display(),
        named.join(", "),
    );
    Err(Error::new(Kind::File, message))
}

/// The archives whose rows are wanted.
fn origins(desk: &Desk, look: &Look) -> Result<Vec<Origin>> {
    let store = desk.folder.store();
    let origin = |wanted: Wanted| {
        let Wanted { kind, id, name, sub_type, created, archive, detail } = wanted;
        let detail = detail.and_then(|json| decode_detail(Content::Json, json.as_bytes(), &JOB_DATA_DETAIL).ok());
        let text = |name: &str| {
            let text = detail.as_ref().and_then(|detail| detail.get(name)).and_then(Value::as_text);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let start = match detail.as_ref().and_then(|detail| detail.get("start_date")) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        };
        let job_type = text("job_type").unwrap_or_else(|| job_type(sub_type.as_deref().unwrap_or_default()));
        let display = text("software_version");
        // One that is missing is refused where it is read.
        let path = store.path_of(&archive.sha256).unwrap_or_else(|| desk.folder.path().join(&archive.sha256));
        Origin { kind, job_id: id, sha256: archive.sha256, archive: path, job_type, start, created, display, name }
    };
    Ok(look.wanted()?.into_iter().map(origin).collect())
}

/// The Job Type of the detail that the list's other word stands for (specification 2.1, 2.6).
fn job_type(sub_type: &str) -> String {
    let kind = match sub_type {
        "Sprayer" | "As Applied" => "AsApplied",
        "" => "Unknown",
        other => other,
    };
    kind.to_owned()
}
