//! One asking for a file that may take time, for those who have many to ask for and wait for all of them at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::Arguments;
use super::destination::{Delivered, Destination, Sink, Target};
use super::download::pause;
use super::receive_file::{FileCall, FileResult, request_file};
use super::setup::Client;
use crate::api::Endpoint;
use crate::error::{Error, Result};

/// What one asking for a file brought.
#[derive(Debug)]
pub enum PollResult {
    /// The whole, checked file, brought to the disk.
    File(PathBuf),
    /// It is not ready: nobody should ask before the wait is over.
    MoreTime {
        /// What the service stated, else a pause that grows with each asking.
        wait: Duration,
    },
    /// A file that came whole and is damaged as often as it is asked for.
    Damaged {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        error: Error,
    },
}

impl Client {
    /// Asks for a file once and puts it into a folder, under the name that the service gives it; `polls` is how often it
    /// was asked for before. Trouble on the way is got over as in every call.
    ///
    /// That there is no coverage and that a conversion failed are errors of these kinds (specification 4.4).
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
        // A folder was asked for, so that there are no bytes.
        Delivered::Bytes(_) => Ok(PathBuf::new()),
    }
}
