//! Downloads: asked for, waited for, streamed to their place.

use std::time::Duration;

use super::arguments::Arguments;
use super::destination::{Delivered, Destination, Target};
use super::receive_file::{Answer, FileCall, ask};
use super::setup::Client;
use crate::api::Endpoint;
use crate::error::{Kind, Result};
use crate::transport::{Attempts, Judged};

/// Pauses between askings where the service states none; they double up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Downloads a file of at most `most` bytes, waiting for it until the deadline of the call.
pub(super) async fn download(
    client: &Client,
    row: &'static Endpoint,
    arguments: &Arguments,
    target: Target,
    most: Option<u64>,
) -> Result<Delivered> {
    let mut file = FileCall::new(row, arguments)?;
    file.most = most.unwrap_or(file.most);
    let destination = Destination::of(&target)?;
    let caller = client.caller();
    let mut attempts = caller.attempts(&file.call, caller.limits.call);
    let mut asked = 0;
    loop {
        match ask(&mut attempts, &file, &destination).await? {
            Answer::File(sink) => return destination.deliver(sink).map_err(|error| attempts.finish(error)),
            Answer::Damaged(_, error) => return Err(error),
            Answer::MoreTime(judged) => {
                let pause = pause(&judged, asked);
                asked = asked.saturating_add(1);
                wait(client, &attempts, &judged, pause).await?;
            }
        }
    }
}

/// Waits, unless the deadline comes first: then it is an error at once, since nothing would come of waiting.
async fn wait(client: &Client, attempts: &Attempts<'_>, judged: &Judged, pause: Duration) -> Result<()> {
    let left = attempts.left();
    if pause >= left {
        let mut error = judged.error.clone();
        error = not_ready(&error, pause, left);
        return Err(attempts.finish(error));
    }
    client.caller().clock.sleep(pause).await;
    Ok(())
}

/// The error of a file that is not ready at the deadline.
pub(super) fn not_ready(error: &crate::error::Error, pause: Duration, left: Duration) -> crate::error::Error {
    let message = format!(
        "the service needs more time for this file: it asks to come back in {:.1} s, and the deadline is in {:.1} s",
        pause.as_secs_f64(),
        left.as_secs_f64()
    );
    let error = error.clone().as_kind(Kind::NotReady).reworded(|_| message);
    error.with(|facts| facts.retry_after = Some(pause))
}

/// What the service stated, else a pause that doubles with each asking.
pub(super) fn pause(judged: &Judged, asked: u32) -> Duration {
    judged
        .wait
        .filter(|wait| !wait.is_zero())
        .unwrap_or_else(|| FIRST_PAUSE.saturating_mul(1 << asked.min(10)).min(LONGEST_PAUSE))
}
