//! Time limits for the body of a reply: the deadline of its call, or a minimum throughput for files.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::{BodyStream, Fault, FaultKind};
use headland_base::clock::Clock;

/// The interval over which the throughput of a file is measured.
const WINDOW: Duration = Duration::from_secs(30);

/// The time limit of one body.
pub(super) struct BodyTimeout {
    clock: Arc<dyn Clock>,
    /// The deadline of the call, by the clock for deadlines.
    deadline: Duration,
    /// The timeout of the call, for the message.
    timeout: Duration,
    /// Replaces the deadline for files.
    throughput: Option<Throughput>,
}

/// The minimum throughput, and the bytes of the current interval.
struct Throughput {
    /// Bytes per second; zero disables the check.
    minimum: u64,
    /// Time spent waiting for bytes, without the time that the receiver takes to process them.
    waited: Duration,
    received: u64,
}

impl Throughput {
    fn required(&self) -> u64 {
        self.minimum.saturating_mul(WINDOW.as_secs())
    }
}

impl BodyTimeout {
    /// A record that must be received within `time_left`, the rest of the `timeout` of its call.
    pub(super) fn for_record(clock: &Arc<dyn Clock>, time_left: Duration, timeout: Duration) -> Self {
        Self {
            clock: Arc::clone(clock),
            deadline: clock.elapsed().saturating_add(time_left),
            timeout,
            throughput: None,
        }
    }

    /// A file that must be received at `minimum` bytes per second.
    pub(super) fn for_file(clock: &Arc<dyn Clock>, time_left: Duration, timeout: Duration, minimum: u64) -> Self {
        let throughput = Some(Throughput { minimum, waited: Duration::ZERO, received: 0 });
        Self { throughput, ..Self::for_record(clock, time_left, timeout) }
    }

    /// Applies the deadline of the call from now on, because the body is not the expected file.
    pub(super) fn apply_call_deadline(&mut self) {
        self.throughput = None;
    }

    /// The next bytes of `stream`, or the fault of a body that takes too long.
    pub(super) async fn next(&mut self, stream: &mut BodyStream) -> Option<Result<Bytes, Fault>> {
        let began = self.clock.elapsed();
        let time_left = match &self.throughput {
            Some(Throughput { minimum: 0, .. }) => return stream.next().await,
            Some(throughput) => WINDOW.saturating_sub(throughput.waited),
            None => self.deadline.saturating_sub(began),
        };
        let clock = &self.clock;
        let expired = async {
            clock.sleep(time_left).await;
            // Another task of this thread drives the connection and may have been busy for longer than the limit. Bytes
            // that were received meanwhile take precedence.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        };
        let chunk = tokio::select! {
            biased;
            chunk = stream.next() => chunk,
            () = expired => return Some(Err(self.timeout_fault())),
        };
        if let (Some(throughput), Some(Ok(bytes))) = (&mut self.throughput, &chunk) {
            throughput.waited = throughput.waited.saturating_add(self.clock.elapsed().saturating_sub(began));
            throughput.received = throughput.received.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            if throughput.received >= throughput.required() {
                (throughput.waited, throughput.received) = (Duration::ZERO, 0);
            }
        }
        chunk
    }

    fn timeout_fault(&self) -> Fault {
        let message = match &self.throughput {
            Some(throughput) => format!(
                "received {} bytes in {} s, less than the {} bytes per second of `min_throughput`",
                throughput.received,
                WINDOW.as_secs(),
                throughput.minimum
            ),
            None => format!("the call exceeded its timeout of {} s", self.timeout.as_secs_f64()),
        };
        Fault { kind: FaultKind::Truncated, message }
    }
}
