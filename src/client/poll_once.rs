//! One asking for a file that may take time, for those who have many to ask for and wait for all of them at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::Arguments;
use super::destination::{Delivered, Destination, Sink, Target};
use super::download::pause;
use super::receive_file::{Answer, FileCall, ask};
use super::setup::Client;
use crate::api::Endpoint;
use crate::error::{Error, Result};

/// What one asking for a file brought.
#[derive(Debug)]
pub enum Asked {
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
    /// Asks for a file once and puts it into a folder, under the name that the service gives it; `asked` is how often it
    /// was asked for before. Trouble on the way is got over as in every call.
    ///
    /// That there is no coverage and that a conversion failed are errors of these kinds (specification 4.4).
    pub async fn ask_once(
        &self,
        row: &'static Endpoint,
        arguments: &Arguments,
        folder: &Path,
        asked: u32,
    ) -> Result<Asked> {
        let file = FileCall::new(row, arguments)?;
        let destination = Destination::of(&Target::Disk { to: folder.to_owned(), overwrite: false })?;
        let caller = self.caller();
        let mut attempts = caller.attempts(&file.call, caller.limits.call);
        match ask(&mut attempts, &file, &destination).await? {
            Answer::File(sink) => {
                let path = keep(&destination, sink).map_err(|error| attempts.finish(error))?;
                Ok(Asked::File(path))
            }
            Answer::Damaged(sink, error) => {
                let path = keep(&destination, sink).map_err(|error| attempts.finish(error))?;
                Ok(Asked::Damaged { path, error })
            }
            Answer::MoreTime(judged) => Ok(Asked::MoreTime { wait: pause(&judged, asked) }),
        }
    }
}

fn keep(destination: &Destination, sink: Sink) -> Result<PathBuf> {
    match destination.deliver(sink)? {
        Delivered::File(path) => Ok(path),
        // A folder was asked for, so that there are no bytes.
        Delivered::Bytes(_) => Ok(PathBuf::new()),
    }
}
