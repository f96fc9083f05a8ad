//! Downloads: polls, waits for and streams a file to its destination.

use std::time::Duration;

use super::arguments::Arguments;
use super::destination::{Delivered, Destination, Target};
use super::receive_file::{FileCall, FileResult, request_file};
use super::setup::Client;
use crate::transport::{Attempts, Classified, Waiting};
use headland_api::Endpoint;
use headland_base::error::{Kind, Result};

/// Pauses between polls if the service states none; they double up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Downloads a file of at most `max_bytes` bytes. Waits for it until the deadline of the call.
pub(super) async fn download(
    client: &Client,
    row: &'static Endpoint,
    arguments: &Arguments,
    target: Target,
    max_bytes: Option<u64>,
) -> Result<Delivered> {
    let mut file = FileCall::new(row, arguments)?;
    file.max_bytes = max_bytes.unwrap_or(file.max_bytes);
    let destination = Destination::from_target(&target)?;
    let context = client.context();
    let mut attempts = context.attempts(&file.call, context.timeouts.call);
    let mut polls = 0;
    let mut waiting = client.context().waiting();
    loop {
        match request_file(&mut attempts, &file, &destination).await? {
            FileResult::File(sink) => return destination.deliver(sink).map_err(|error| attempts.finish(error)),
            FileResult::Damaged(_, error) => return Err(error),
            FileResult::MoreTime(classified) => {
                let pause = pause(&classified, polls);
                polls = polls.saturating_add(1);
                wait(client, &attempts, &classified, pause, &mut waiting).await?;
            }
        }
    }
}

/// Waits. If the deadline is earlier, returns an error immediately, because the wait would be useless.
async fn wait(
    client: &Client,
    attempts: &Attempts<'_>,
    classified: &Classified,
    pause: Duration,
    waiting: &mut Waiting<'_>,
) -> Result<()> {
    let time_left = attempts.time_left();
    if pause >= time_left {
        let mut error = classified.error.clone();
        error = not_ready(&error, pause, time_left);
        return Err(attempts.finish(error));
    }
    waiting.report(pause, || CONVERSION.to_owned());
    client.context().clock.sleep(pause).await;
    Ok(())
}

/// What a call for a file waits for.
pub(super) const CONVERSION: &str = "the service to convert the file";

/// The error of a file that is not ready at the deadline.
pub(super) fn not_ready(
    error: &headland_base::error::Error,
    pause: Duration,
    time_left: Duration,
) -> headland_base::error::Error {
    let message = format!(
        "the service needs more time for this file: it requests a retry in {:.1} s, but the deadline is in {:.1} s; \
         call again after that, or pass a longer timeout",
        pause.as_secs_f64(),
        time_left.as_secs_f64()
    );
    let error = error.clone().with_kind(Kind::NotReady).map_message(|_| message);
    error.with(|facts| facts.retry_after = Some(pause))
}

/// The wait that the service stated, else a pause that doubles with each poll.
pub(super) fn pause(classified: &Classified, polls: u32) -> Duration {
    classified
        .wait
        .filter(|wait| !wait.is_zero())
        .unwrap_or_else(|| FIRST_PAUSE.saturating_mul(1 << polls.min(10)).min(LONGEST_PAUSE))
}
