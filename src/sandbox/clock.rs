//! The service's clock: the system clock or a manual clock, with an offset that `advance` increases.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A clock with an offset.
#[derive(Debug)]
pub(super) struct ServiceClock {
    manual_start: Option<DateTime<Utc>>,
    offset_micros: AtomicI64,
}

impl ServiceClock {
    /// Creates a clock at the current time. A manual clock does not run.
    pub(super) fn new(is_manual: bool) -> Self {
        Self { manual_start: is_manual.then(Utc::now), offset_micros: AtomicI64::new(0) }
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        add_micros(self.manual_start.unwrap_or_else(Utc::now), self.offset_micros.load(Ordering::SeqCst))
    }

    /// Moves the clock forward.
    pub(super) fn advance(&self, span: Duration) {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let add = |moved: i64| Some(moved.saturating_add(micros));
        // The closure always returns `Some`, so both results hold the previous value.
        let (Ok(_) | Err(_)) = self.offset_micros.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add);
    }
}

fn add_micros(time: DateTime<Utc>, microseconds: i64) -> DateTime<Utc> {
    time.checked_add_signed(TimeDelta::microseconds(microseconds)).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Adds a span to a time. Saturates at the maximum time.
pub(super) fn add_span(time: DateTime<Utc>, span: Duration) -> DateTime<Utc> {
    add_micros(time, i64::try_from(span.as_micros()).unwrap_or(i64::MAX))
}

/// Seconds from `now` to `then`, rounded up; 0 if `then` has passed.
pub(super) fn seconds_until(now: DateTime<Utc>, then: DateTime<Utc>) -> u64 {
    let micros = u64::try_from((then - now).num_microseconds().unwrap_or(i64::MAX)).unwrap_or(0);
    micros.div_ceil(1_000_000)
}

/// Formats a time for the `Date` header ([RFC 9110, 5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7)).
pub(super) fn http_date(time: DateTime<Utc>) -> String {
    time.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_clock_moves_only_by_advance_and_saturates() {
        let clock = ServiceClock::new(true);
        let start = clock.now();
        assert_eq!(clock.now(), start);
        clock.advance(Duration::from_millis(1_500));
        assert_eq!(clock.now() - start, TimeDelta::milliseconds(1_500));
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), DateTime::<Utc>::MAX_UTC);
    }

    #[test]
    fn spans_are_rounded_up_to_seconds() {
        let now = DateTime::<Utc>::from_timestamp(1_000, 0).unwrap();
        assert_eq!(seconds_until(now, now + TimeDelta::microseconds(1)), 1);
        assert_eq!(seconds_until(now, now + TimeDelta::seconds(2)), 2);
        assert_eq!(seconds_until(now, now - TimeDelta::seconds(2)), 0);
        assert_eq!(http_date(now), "Thu, 01 Jan 1970 00:16:40 GMT");
    }
}
