//! Bounds on the time that the body of a reply may take: the deadline of its call, or a least throughput for files.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::{BodyStream, Fault, FaultKind};
use crate::clock::Clock;

/// The time over which the throughput of a file is measured.
const WINDOW: Duration = Duration::from_secs(30);

/// What bounds the time of one body.
pub(super) struct Bounds {
    clock: Arc<dyn Clock>,
    /// When the call is over, by the clock for deadlines.
    deadline: Duration,
    /// How long a call may take, for the message.
    patience: Duration,
    /// For files, in place of the deadline.
    pace: Option<Pace>,
}

/// The least throughput, and the bytes of the current window.
struct Pace {
    /// Bytes a second; zero turns the check off.
    least: u64,
    /// Time spent waiting for bytes, without the time that the receiver spends on them.
    waited: Duration,
    came: u64,
}

impl Pace {
    fn wanted(&self) -> u64 {
        self.least.saturating_mul(WINDOW.as_secs())
    }
}

impl Bounds {
    /// A body that must be there within `left`, the rest of the `patience` of its call.
    pub(super) fn of_record(clock: &Arc<dyn Clock>, left: Duration, patience: Duration) -> Self {
        Self { clock: Arc::clone(clock), deadline: clock.elapsed().saturating_add(left), patience, pace: None }
    }

    /// A file that must come at `least` bytes a second.
    pub(super) fn of_file(clock: &Arc<dyn Clock>, left: Duration, patience: Duration, least: u64) -> Self {
        let pace = Some(Pace { least, waited: Duration::ZERO, came: 0 });
        Self { pace, ..Self::of_record(clock, left, patience) }
    }

    /// What was to be a file is none: from now on the deadline of the call counts.
    pub(super) fn end_with_the_call(&mut self) {
        self.pace = None;
    }

    /// The next bytes of `stream`, or the fault of a body that takes too long.
    pub(super) async fn next(&mut self, stream: &mut BodyStream) -> Option<Result<Bytes, Fault>> {
        let began = self.clock.elapsed();
        let left = match &self.pace {
            Some(Pace { least: 0, .. }) => return stream.next().await,
            Some(pace) => WINDOW.saturating_sub(pace.waited),
            None => self.deadline.saturating_sub(began),
        };
        let clock = &self.clock;
        let over = async {
            clock.sleep(left).await;
            // The connection is driven by another task of this thread, which may have been busy for longer than that:
            // what has arrived meanwhile comes first.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        };
        let chunk = tokio::select! {
            biased;
            chunk = stream.next() => chunk,
            () = over => return Some(Err(self.fault())),
        };
        if let (Some(pace), Some(Ok(bytes))) = (&mut self.pace, &chunk) {
            pace.waited = pace.waited.saturating_add(self.clock.elapsed().saturating_sub(began));
            pace.came = pace.came.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            if pace.came >= pace.wanted() {
                (pace.waited, pace.came) = (Duration::ZERO, 0);
            }
        }
        chunk
    }

    fn fault(&self) -> Fault {
        let message = match &self.pace {
            Some(pace) => format!(
                "{} bytes came in {} s, less than the {} bytes a second of `min_throughput`",
                pace.came,
                WINDOW.as_secs(),
                pace.least
            ),
            None => format!("the {} s that this call may take are over", self.patience.as_secs_f64()),
        };
        Fault { kind: FaultKind::Cut, message }
    }
}
