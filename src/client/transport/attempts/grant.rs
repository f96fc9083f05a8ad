//! Waits for the rate limit before each attempt of a call.

use std::time::Duration;

use super::super::context::QueueTime;
use super::super::wait_messages::{exceeded_advice, exceeds_timeout, limit_reason, next_call_message, with_detail};
use super::Attempts;
use crate::limiter::{Patience, Slot};
use headland_base::error::{Error, Kind, Result};

/// A wait is reported again if its end is later by this.
const LATER: Duration = Duration::from_secs(2);

impl Attempts<'_> {
    pub(super) async fn grant(&mut self) -> Result<Option<Slot>> {
        let lease = self.context.timeouts.connect.saturating_add(self.context.timeouts.read).saturating_mul(2);
        let (rate_limit_error, time_left) = (self.rate_limit_error.take(), self.time_left());
        let limiter = &self.context.limiter;
        let (patience, begun) = match self.context.queue_time {
            QueueTime::Counted => (Patience::Total(time_left), None),
            QueueTime::Free => (Patience::Requested(time_left), Some(self.context.clock.elapsed())),
        };
        let mut waiting = self.context.waiting();
        let (clock, mut reported_end) = (&self.context.clock, Duration::ZERO);
        let on_wait = |pause| {
            // Other processes may take the slot that this call waits for.
            let end = clock.elapsed().saturating_add(pause);
            if !waiting.is_reported() || end > reported_end.saturating_add(LATER) {
                reported_end = end;
                waiting.report(pause, || limit_reason(&limiter.budget()));
            }
        };
        let granted = limiter.grant_with(lease, patience, on_wait).await;
        if let Some(begun) = begun {
            let waited = self.context.clock.elapsed().saturating_sub(begun);
            self.deadline = self.deadline.saturating_add(waited);
        }
        match granted {
            Ok(slot) => Ok(slot),
            Err(exceeded) => {
                let message = format!(
                    "{}{}; {}",
                    next_call_message(&exceeded),
                    exceeds_timeout(self.time_left(), self.timeout),
                    exceeded_advice(&exceeded)
                );
                let error = match rate_limit_error {
                    Some(error) => with_detail(&error, &message),
                    None => Error::new(Kind::RateLimited, message),
                };
                Err(self.finish(error.with(|facts| facts.retry_after = Some(exceeded.ready_in))))
            }
        }
    }
}
