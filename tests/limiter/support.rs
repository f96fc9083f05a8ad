//! Provides simulated time, and calls that spend the budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use headland::clock::{Clock, Sleep};
use headland::limiter::{Limiter, RateLimitHeaders, StoreLocation, Window};
use tokio::time::Instant;

/// Tokio's paused time with a wall clock that can be set.
pub(crate) struct Paused {
    start: Instant,
    step: AtomicI64,
}

impl Paused {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), step: AtomicI64::new(0) })
    }

    pub(crate) fn set_forward(&self, by: Duration) {
        self.step.fetch_add(i64::try_from(by.as_micros()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn set_back(&self, by: Duration) {
        self.step.fetch_sub(i64::try_from(by.as_micros()).unwrap(), Ordering::Relaxed);
    }
}

impl Clock for Paused {
    fn now(&self) -> DateTime<Utc> {
        let passed = i64::try_from(self.start.elapsed().as_micros()).unwrap();
        DateTime::from_timestamp_micros(1_790_000_000_000_000 + passed + self.step.load(Ordering::Relaxed)).unwrap()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

pub(crate) const KEY: &str = "ApiKeyAbC123";
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn window(calls: u32, milliseconds: u64) -> Window {
    Window { calls, period: Duration::from_millis(milliseconds) }
}

pub(crate) fn memory(windows: &[Window], clock: &Arc<Paused>) -> Limiter {
    Limiter::unshared(&StoreLocation::Memory, "https://x.org", KEY, windows, clock.clone())
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// The most arrivals in any interval of `period`, which covers sliding windows and fixed ones of every phase.
pub(crate) fn fullest(arrivals: &[Duration], period: Duration) -> usize {
    let mut arrivals = arrivals.to_vec();
    arrivals.sort_unstable();
    (0..arrivals.len())
        .map(|first| arrivals[first..].iter().take_while(|at| **at < arrivals[first] + period).count())
        .max()
        .unwrap_or(0)
}

pub(crate) async fn spend(limiter: &Limiter, calls: u32) {
    for _ in 0..calls {
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        slot.complete(&RateLimitHeaders::default());
    }
}

pub(crate) async fn call_with_headers(limiter: &Limiter, heard: RateLimitHeaders) {
    let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
    slot.mark_sent();
    slot.complete(&heard);
}

/// A 429 that requests a wait in seconds.
pub(crate) fn refused(seconds: u64) -> RateLimitHeaders {
    let wait = Some(Duration::from_secs(seconds));
    RateLimitHeaders { retry_after: wait, block: wait, ..RateLimitHeaders::default() }
}

pub(crate) fn limit_headers(limit: u32, remaining: u32, reset: u64) -> RateLimitHeaders {
    RateLimitHeaders {
        limit: Some(limit),
        remaining: Some(remaining),
        reset: Some(Duration::from_secs(reset)),
        ..RateLimitHeaders::default()
    }
}
