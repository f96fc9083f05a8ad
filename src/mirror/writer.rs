//! State of a run that writes: folder, journal, client, progress, and notes for the user.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

use super::ingest::recover;
use super::journal::Journal;
use super::layout::Folder;
use super::options::Options;
use super::progress::Progress;
use headland_base::error::{Error, Kind, Result};
use headland_client::Client;

/// Folder, journal and notes for the user, shared by threads.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) folder: Folder,
    pub(super) journal: Journal,
    notes: Mutex<Vec<String>>,
}

impl Workspace {
    /// Adds a note for the user that does not end the run.
    pub(super) fn add_note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Run of the single writer.
#[derive(Debug)]
pub(super) struct MirrorWriter {
    pub(super) client: Client,
    pub(super) options: Options,
    pub(super) workspace: Arc<Workspace>,
    pub(super) progress: Progress,
}

impl std::ops::Deref for MirrorWriter {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

impl MirrorWriter {
    /// Opens the journal of a folder that is open for writing, and recovers from a killed run.
    pub(super) fn open(folder: Folder, client: Client, options: &Options, progress: &Progress) -> Result<Self> {
        let journal = Journal::open(&folder, Some(&client.account()))?;
        recover(&folder, &journal, client.clock().now())?;
        Ok(Self {
            client,
            options: options.clone(),
            workspace: Arc::new(Workspace { folder, journal, notes: Mutex::default() }),
            progress: progress.clone(),
        })
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.client.clock().now()
    }

    /// Counts a finished call.
    pub(super) fn count_finished_call(&self) {
        self.progress.update(|snapshot| {
            snapshot.calls_done = snapshot.calls_done.saturating_add(1);
            snapshot.calls_left = snapshot.calls_left.saturating_sub(1);
        });
    }
}

/// Whether an error concerns the service, the connection or this machine, and not a single record.
pub(super) fn is_fatal(error: &Error) -> bool {
    match error.kind() {
        Kind::Authentication | Kind::Transport | Kind::RateLimited | Kind::Configuration | Kind::File => true,
        // Unavailable after all retries of a call. Status 500 may concern a single record.
        Kind::ServiceUnavailable => error.facts().status != Some(500),
        _ => false,
    }
}
