//! Activity of calls for logs and displays: requests that ended, and waits.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use headland_base::clock::Clock;

/// Shorter waits are not reported.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// One event of a call. Texts contain no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request was answered or failed.
    Request(String),
    /// A call waits; later events of the same wait have the same id.
    Wait {
        /// Identifies the wait in this process.
        id: u64,
        /// How long, what for, and until when.
        text: String,
        /// The expected length.
        pause: Duration,
    },
    /// The wait with this id has ended.
    Resumed(u64),
}

/// Receives the events of calls in the thread that makes the call, and must not block.
pub trait Observe: Send + Sync {
    /// Whether requests are received too. They are many, and their texts take time.
    fn wants_requests(&self) -> bool;

    /// Receives an event.
    fn receive(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> Observe for F {
    fn wants_requests(&self) -> bool {
        true
    }

    fn receive(&self, event: Event) {
        self(event);
    }
}

/// The receiver of the events of a client, if there is one.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<dyn Observe>>);

impl Observer {
    /// An observer of all calls of a client.
    pub fn new(observe: impl Observe + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }

    /// Reports a request. The text is only built if the event is received.
    pub(super) fn report_request(&self, text: impl FnOnce() -> String) {
        if let Some(observe) = self.0.as_ref().filter(|observe| observe.wants_requests()) {
            observe.receive(Event::Request(text()));
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.0.is_some()).finish()
    }
}

/// A wait of a call. It ends when this is dropped, also if the call is cancelled.
pub struct Waiting<'a> {
    observer: &'a Observer,
    clock: &'a dyn Clock,
    id: Option<u64>,
}

impl<'a> Waiting<'a> {
    /// A wait that is not reported yet.
    pub(super) fn new(observer: &'a Observer, clock: &'a dyn Clock) -> Self {
        Self { observer, clock, id: None }
    }

    /// Reports that the call waits for `reason`, probably for `pause`.
    pub fn report(&mut self, pause: Duration, reason: impl FnOnce() -> String) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Observer(Some(observe)) = self.observer else { return };
        if pause < MIN_WAIT {
            return;
        }
        let id = *self.id.get_or_insert_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
        let seconds = pause.as_secs().saturating_add(u64::from(pause.subsec_millis() >= 500));
        let end = chrono::TimeDelta::from_std(pause).ok().and_then(|pause| self.clock.now().checked_add_signed(pause));
        let until = end.map(|end| format!(", until {}", end.format("%H:%M:%S UTC"))).unwrap_or_default();
        observe.receive(Event::Wait { id, text: format!("waiting {seconds} s for {}{until}", reason()), pause });
    }

    /// Whether the wait was reported.
    #[must_use]
    pub const fn is_reported(&self) -> bool {
        self.id.is_some()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let (Some(id), Observer(Some(observe))) = (self.id, self.observer) {
            observe.receive(Event::Resumed(id));
        }
    }
}
