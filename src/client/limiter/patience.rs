//! How long a call waits for a slot, and the error after that.

use std::time::Duration;

use super::sliding_window::{Micros, NextSlot, time_until, to_duration};

/// How often the log is read again while a call of another process is in flight: its end notifies no task here.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// How long a call waits for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// At most for this time, regardless of the reason.
    Total(Duration),
    /// At most for this time if the service requested the wait; without limit for the windows, whose wait is known to
    /// end.
    Requested(Duration),
}

/// No slot is free before the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineExceeded {
    /// Time until a call may start, as far as it is known.
    pub ready_in: Duration,
    /// The wait that the service requested, if that is the reason.
    pub service_wait: Option<Duration>,
}

impl Patience {
    /// The rest after a wait. The service limits each of its waits separately.
    pub(super) fn after(self, waited: Duration) -> Self {
        match self {
            Self::Total(timeout) => Self::Total(timeout.saturating_sub(waited)),
            Self::Requested(_) => self,
        }
    }

    pub(super) fn check(self, now: Micros, next: NextSlot) -> Result<(), DeadlineExceeded> {
        let (time, timeout) = match self {
            Self::Total(timeout) => (next.time, timeout),
            Self::Requested(timeout) => (next.blocked_until, timeout),
        };
        if time_until(now, time) > timeout { Err(deadline_exceeded(now, next)) } else { Ok(()) }
    }
}

pub(super) fn deadline_exceeded(now: Micros, next: NextSlot) -> DeadlineExceeded {
    DeadlineExceeded {
        ready_in: time_until(now, next.time).max(POLL_INTERVAL),
        service_wait: next.requested.map(to_duration),
    }
}
