//! Progress of a sync across threads: snapshots, events, and cooperative cancellation.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use headland_client::limiter::Budget;

/// Phase of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    #[default]
    Waiting,
    /// Reads the lists.
    Lists,
    /// Requests files and details.
    Pulling,
    /// Writes the dataset.
    Publishing,
    /// Finished.
    Done,
}

impl Phase {
    /// Its text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Lists => "lists",
            Self::Pulling => "pulling",
            Self::Publishing => "publishing",
            Self::Done => "done",
        }
    }
}

/// Progress of a sync.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Current phase.
    pub phase: Phase,
    /// Finished calls.
    pub calls_done: u64,
    /// Least number of remaining calls. A file may need another call, which is known only after the first.
    pub calls_left: u64,
    /// Jobs and grain carts with a final file state: stored or unavailable.
    pub jobs_done: u64,
    /// Jobs and grain carts without a final file state.
    pub jobs_left: u64,
    /// Bytes of the downloaded archives.
    pub bytes: u64,
    /// Files in conversion by the service.
    pub converting: u64,
    /// End of the wait for the first conversion, if no other work is left.
    pub waiting_until: Option<DateTime<Utc>>,
    /// End of the wait for the rate limit, if calls are left.
    pub limit_until: Option<DateTime<Utc>>,
    /// Estimated time to the end, by the rate limit and the stated waits.
    pub time_left: Option<Duration>,
}

/// Event of a sync, for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A file is unavailable: no coverage, a failed conversion, or an unreadable archive. One sentence.
    Unavailable(String),
    /// A generation was published.
    Published {
        /// Its number.
        generation: u64,
        /// Rows of its dataset.
        rows: u64,
    },
}

/// Maximum number of unread events. Older ones are dropped; the journal contains them all.
const MAX_EVENTS: usize = 10_000;

/// Progress of a sync. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Mutex<(Snapshot, VecDeque<Event>)>>, Arc<Notify>);

impl Progress {
    /// Current progress.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.lock().0.clone()
    }

    /// Events since the last call.
    #[must_use]
    pub fn take_events(&self) -> Vec<Event> {
        self.lock().1.drain(..).collect()
    }

    /// Requests the end of a pull. No further call starts, calls in flight finish and are stored, and nothing is
    /// published.
    ///
    /// Returns whether a pull is running. Any other work is ended by dropping it.
    #[must_use]
    pub fn request_end(&self) -> bool {
        let is_pulling = self.lock().0.phase == Phase::Pulling;
        if is_pulling {
            self.1.notify_one();
        }
        is_pulling
    }

    /// Resolves once when the end of a pull is requested.
    pub(super) async fn wait_for_end(&self) {
        self.1.notified().await;
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        change(&mut self.lock().0);
    }

    pub(super) fn push_event(&self, event: Event) {
        let events = &mut self.lock().1;
        if events.len() >= MAX_EVENTS {
            events.pop_front();
        }
        events.push_back(event);
    }

    fn lock(&self) -> MutexGuard<'_, (Snapshot, VecDeque<Event>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time until the last of `calls` calls may start under the rate limit.
pub(super) fn time_at_limit(calls: u64, budget: &Budget) -> Duration {
    let window_time = |(window, used): &(headland_client::limiter::Window, u32)| {
        let free = window.calls.saturating_sub(*used);
        let beyond = calls.saturating_sub(u64::from(free));
        let rounds = beyond.div_ceil(u64::from(window.calls.max(1)));
        window.period.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
    };
    let longest = budget.windows.iter().map(window_time).max().unwrap_or_default();
    if calls == 0 { Duration::ZERO } else { longest.max(budget.next_call_in) }
}

/// Duration in seconds for people, with the precision that a waiting user needs.
#[must_use]
pub fn format_span(seconds: f64) -> String {
    let units = [(172_800.0, 86_400.0, "days"), (5_400.0, 3_600.0, "h"), (90.0, 60.0, "min")];
    let found = units.into_iter().find(|(least, ..)| seconds >= *least);
    let (_, unit, name) = found.unwrap_or((0.0, 1.0, "s"));
    let count = seconds.max(0.0) / unit;
    let digits = usize::from(unit > 60.0 && count < 10.0);
    format!("{count:.digits$} {name}")
}

/// Size in bytes for people, with decimal prefixes.
#[must_use]
pub fn format_size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let size = bytes as f64;
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")].into_iter();
    units.map(|(unit, name)| (size / unit, name)).find(|(count, _)| *count >= 1.0).map_or_else(
        || format!("{bytes} B"),
        |(count, name)| format!("{count:.digits$} {name}", digits = usize::from(count < 10.0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_client::limiter::Window;

    #[test]
    fn time_at_limit_counts_calls_used_already_8() {
        let budget = |used: u32| Budget {
            remaining: 0,
            next_call_in: Duration::ZERO,
            reset_in: Duration::ZERO,
            service_wait: None,
            windows: [(30, 60), (15, 30)]
                .map(|(calls, seconds)| (Window { calls, period: Duration::from_secs(seconds) }, used))
                .to_vec(),
        };
        for (calls, used, seconds) in [(0, 15, 0), (15, 0, 0), (16, 0, 30), (31, 0, 60), (1, 15, 30), (1_250, 0, 2_490)]
        {
            assert_eq!(time_at_limit(calls, &budget(used)).as_secs(), seconds, "{calls} after {used}");
        }
        let none = Budget { windows: Vec::new(), ..budget(0) };
        assert_eq!(time_at_limit(1_000, &none), Duration::ZERO);
    }

    #[test]
    fn events_beyond_the_cap_are_dropped_and_others_taken_once() {
        let progress = Progress::default();
        for generation in 0..=MAX_EVENTS as u64 {
            progress.push_event(Event::Published { generation, rows: 0 });
        }
        assert_eq!(progress.take_events().len(), MAX_EVENTS);
        assert_eq!(progress.take_events(), []);
    }

    #[test]
    fn durations_and_sizes_are_rounded_for_people() {
        let spans = [0.2, -5.0, 59.0, 420.0, 7_200.0, 90_000.0, 500_000.0].map(format_span);
        assert_eq!(spans, ["0 s", "0 s", "59 s", "7 min", "2.0 h", "25 h", "5.8 days"]);
        let sizes = [999, 1_200, 12_300, 4_500_000, 45_000_000, 1_200_000_000].map(format_size);
        assert_eq!(sizes, ["999 B", "1.2 kB", "12 kB", "4.5 MB", "45 MB", "1.2 GB"]);
    }
}
