//! Polls once for a file that may take time, for callers that wait for many files at the same time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::Arguments;
use super::destination::{Delivered, Destination, Sink, Target};
use super::download::pause;
use super::receive_file::{FileCall, FileResult, request_file};
use super::setup::Client;
use headland_api::Endpoint;
use headland_base::error::{Error, Result};

/// The result of one poll.
#[derive(Debug)]
pub enum PollResult {
    /// The complete, checked file on disk.
    File(PathBuf),
    /// The file is not ready. The caller must wait before the next poll.
    MoreTime {
        /// The wait that the service stated, else a pause that grows with each poll.
        wait: Duration,
    },
    /// A file that was received completely, but was damaged in each attempt.
    Damaged {
        /// The path of the damaged file.
        path: PathBuf,
        /// The damage.
        error: Error,
    },
}

impl Client {
    /// Polls once for a file and stores it in a folder under the name that the service suggests. `polls` is the number
    /// of earlier polls. Transient errors are retried as usual.
    ///
    /// Missing coverage and a failed conversion are errors of the kinds for them (specification 4.4).
    pub async fn poll_file(
        &self,
        row: &'static Endpoint,
        arguments: &Arguments,
        folder: &Path,
        polls: u32,
    ) -> Result<PollResult> {
        let file = FileCall::new(row, arguments)?;
        let destination = Destination::from_target(&Target::Disk { to: folder.to_owned(), overwrite: false })?;
        let context = self.context();
        let mut attempts = context.attempts(&file.call, context.timeouts.call);
        match request_file(&mut attempts, &file, &destination).await? {
            FileResult::File(sink) => {
                let path = store(&destination, sink).map_err(|error| attempts.finish(error))?;
                Ok(PollResult::File(path))
            }
            FileResult::Damaged(sink, error) => {
                let path = store(&destination, sink).map_err(|error| attempts.finish(error))?;
                Ok(PollResult::Damaged { path, error })
            }
            FileResult::MoreTime(classified) => Ok(PollResult::MoreTime { wait: pause(&classified, polls) }),
        }
    }
}

fn store(destination: &Destination, sink: Sink) -> Result<PathBuf> {
    match destination.deliver(sink)? {
        Delivered::File(path) => Ok(path),
        // The target is a folder, so no bytes are returned.
        Delivered::Bytes(_) => Ok(PathBuf::new()),
    }
}
