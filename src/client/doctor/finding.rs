//! Findings on their way to the caller, which sees each before the next call is made.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The step.
    pub name: &'static str,
    /// Whether calls get past it.
    pub is_ok: bool,
    /// What was seen.
    pub seen: String,
    /// What to do about it.
    pub next_step: Option<String>,
}

/// Where the steps put a finding for the caller to take.
#[derive(Default)]
pub(super) struct Desk(Mutex<Option<Finding>>);

impl Desk {
    /// Puts a finding down, and waits until it is taken.
    pub(super) async fn tell(&self, finding: Finding) {
        *self.lock() = Some(finding);
        poll_fn(|_| if self.lock().is_some() { Poll::Pending } else { Poll::Ready(()) }).await;
    }

    pub(super) fn take(&self) -> Option<Finding> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Finding>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
