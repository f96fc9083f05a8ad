//! Background thread that generates archives while clients wait for a conversion.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use super::accounts::{Accounts, ArchiveFormat};
use super::fields::Job;

/// A thread that generates archives sequentially. It ends with the service.
#[derive(Debug)]
pub(super) struct Converter(Sender<(Job, u64, ArchiveFormat)>);

impl Converter {
    /// Starts the thread. Without a thread, the request for an archive generates it.
    pub(super) fn new(accounts: Arc<Accounts>) -> Self {
        let (sender, jobs) = channel::<(Job, u64, ArchiveFormat)>();
        let work = move || {
            for (job, revision, format) in jobs {
                // A request for the file repeats the failure and returns its reason.
                drop(accounts.archive(&job, revision, format));
            }
        };
        drop(std::thread::Builder::new().name("headland-conversions".to_owned()).spawn(work));
        Self(sender)
    }

    /// Queues the archive of a revision of a job.
    pub(super) fn enqueue(&self, job: &Job, revision: u64, format: ArchiveFormat) {
        // If the thread did not start, the request for the file generates the archive.
        drop(self.0.send((job.clone(), revision, format)));
    }
}
