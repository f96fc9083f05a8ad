//! The work behind a conversion: archives are made while clients wait, so that the reply that delivers one is quick.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use super::accounts::{Accounts, ArchiveFormat};
use super::fields::Job;

/// A thread that makes archives one after the other; it ends when the service does.
#[derive(Debug)]
pub(super) struct Converter(Sender<(Job, u64, ArchiveFormat)>);

impl Converter {
    /// Starts the thread. Where the system gives none, each archive is made by the request that delivers it.
    pub(super) fn new(accounts: Arc<Accounts>) -> Self {
        let (sender, jobs) = channel::<(Job, u64, ArchiveFormat)>();
        let work = move || {
            for (job, revision, format) in jobs {
                // A failure shows again, with its reason, in the reply to whoever asks for the file.
                drop(accounts.archive(&job, revision, format));
            }
        };
        drop(std::thread::Builder::new().name("headland-conversions".to_owned()).spawn(work));
        Self(sender)
    }

    /// Has an archive of a revision of a job made.
    pub(super) fn enqueue(&self, job: &Job, revision: u64, format: ArchiveFormat) {
        // Without a thread nobody listens, and the request that delivers the file makes it.
        drop(self.0.send((job.clone(), revision, format)));
    }
}
