//! Rate limit with fixed or sliding windows per API key, and the values of its headers (specification 8).
//!
//! Each request with a known API key counts, regardless of its signature and path. A request refused with 429 does not
//! count, so a client that waits for `Retry-After` seconds is admitted.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::clock::{add_span, seconds_until};
use headland_client::limiter::Window;

/// Windows of one API key.
#[derive(Debug)]
pub(super) struct RateLimit {
    windows: Vec<CallWindow>,
}

#[derive(Debug)]
struct CallWindow {
    window: Window,
    kind: Counter,
}

/// Calls counted in a window.
#[derive(Debug)]
enum Counter {
    /// Starts at the first call after the previous window ended.
    Fixed { ends: DateTime<Utc>, calls: u32 },
    /// Applies to each interval of its length. `expiries` are the times at which counted calls leave the window.
    Sliding { expiries: VecDeque<DateTime<Utc>> },
}

/// Values of the rate limit headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowState {
    /// `X-RateLimit-Limit`: maximum calls of the window closest to its limit.
    pub(super) limit: u32,
    /// `X-RateLimit-Remaining`: remaining calls of that window.
    pub(super) remaining: u32,
    /// `X-RateLimit-Reset`: seconds until a fixed window ends, or until the oldest call leaves a sliding window.
    pub(super) reset: u64,
    /// `Retry-After` of a refused request: seconds until a request is admitted.
    pub(super) retry_after: Option<u64>,
}

impl RateLimit {
    /// Creates empty windows. Without windows there is no limit.
    pub(super) fn new(windows: &[Window], sliding: bool) -> Self {
        let new_window = |window: &Window| CallWindow {
            window: *window,
            kind: if sliding {
                Counter::Sliding { expiries: VecDeque::new() }
            } else {
                Counter::Fixed { ends: DateTime::<Utc>::MIN_UTC, calls: 0 }
            },
        };
        Self { windows: windows.iter().map(new_window).collect() }
    }

    /// Counts a request unless a window is full. Returns `None` without a limit.
    pub(super) fn count_request(&mut self, now: DateTime<Utc>) -> Option<WindowState> {
        for window in &mut self.windows {
            window.expire(now);
        }
        let wait = self.windows.iter().filter(|window| window.remaining() == 0).map(|full| full.reset(now)).max();
        if wait.is_none() {
            for window in &mut self.windows {
                window.add_call(now);
            }
        }
        let tightest = self.windows.iter().min_by_key(|window| {
            let (remaining, reset) = (window.remaining(), window.reset(now));
            (remaining, std::cmp::Reverse(reset))
        })?;
        Some(WindowState {
            limit: tightest.window.calls,
            remaining: tightest.remaining(),
            reset: tightest.reset(now),
            retry_after: wait,
        })
    }
}

impl CallWindow {
    /// Removes the calls that have left the window.
    fn expire(&mut self, now: DateTime<Utc>) {
        match &mut self.kind {
            Counter::Fixed { ends, calls } => {
                if *ends <= now {
                    *calls = 0;
                }
            }
            Counter::Sliding { expiries } => {
                while expiries.front().is_some_and(|time| *time <= now) {
                    expiries.pop_front();
                }
            }
        }
    }

    fn add_call(&mut self, now: DateTime<Utc>) {
        let leaves = add_span(now, self.window.period);
        match &mut self.kind {
            Counter::Fixed { ends, calls } => {
                if *calls == 0 {
                    *ends = leaves;
                }
                *calls = calls.saturating_add(1);
            }
            Counter::Sliding { expiries } => expiries.push_back(leaves),
        }
    }

    fn remaining(&self) -> u32 {
        let calls = match &self.kind {
            Counter::Fixed { calls, .. } => *calls,
            Counter::Sliding { expiries } => u32::try_from(expiries.len()).unwrap_or(u32::MAX),
        };
        self.window.calls.saturating_sub(calls)
    }

    fn reset(&self, now: DateTime<Utc>) -> u64 {
        match &self.kind {
            Counter::Fixed { ends, .. } => seconds_until(now, *ends),
            Counter::Sliding { expiries } => expiries.front().map_or(0, |time| seconds_until(now, *time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn window(calls: u32, seconds: u64) -> Window {
        Window { calls, period: Duration::from_secs(seconds) }
    }

    fn time_at(milliseconds: i64) -> DateTime<Utc> {
        DateTime::<Utc>::from_timestamp_millis(1_000_000 + milliseconds).unwrap()
    }

    #[test]
    fn fixed_window_starts_at_its_first_call_and_resets_all_calls() {
        let mut limit = RateLimit::new(&[window(2, 60)], false);
        let first = limit.count_request(time_at(0)).unwrap();
        assert_eq!(first, WindowState { limit: 2, remaining: 1, reset: 60, retry_after: None });
        assert_eq!(limit.count_request(time_at(59_000)).unwrap().reset, 1);
        assert_eq!(limit.count_request(time_at(59_001)).unwrap().retry_after, Some(1));
        assert_eq!(limit.count_request(time_at(60_000)).unwrap(), first);
        assert_eq!(limit.count_request(time_at(60_001)).unwrap().retry_after, None);
    }

    #[test]
    fn sliding_window_frees_calls_individually_and_ignores_refused_calls() {
        let mut limit = RateLimit::new(&[window(2, 60)], true);
        limit.count_request(time_at(0));
        limit.count_request(time_at(30_000));
        for attempt in 0..5 {
            let refused = limit.count_request(time_at(30_500 + attempt)).unwrap();
            assert_eq!(refused, WindowState { limit: 2, remaining: 0, reset: 30, retry_after: Some(30) });
        }
        assert_eq!(limit.count_request(time_at(60_000)).unwrap().retry_after, None);
        assert_eq!(limit.count_request(time_at(60_001)).unwrap().retry_after, Some(30));
    }

    #[test]
    fn headers_describe_the_tightest_window() {
        let mut limit = RateLimit::new(&[window(3, 60), window(2, 10)], false);
        assert_eq!(limit.count_request(time_at(0)).unwrap().limit, 2);
        limit.count_request(time_at(0));
        assert_eq!(limit.count_request(time_at(0)).unwrap().retry_after, Some(10));
        assert_eq!(
            limit.count_request(time_at(10_000)).unwrap(),
            WindowState { limit: 3, remaining: 0, reset: 50, retry_after: None }
        );
        assert_eq!(limit.count_request(time_at(10_000)).unwrap().retry_after, Some(50));
    }

    #[test]
    fn rate_limit_without_windows_is_unlimited() {
        assert_eq!(RateLimit::new(&[], true).count_request(time_at(0)), None);
    }
}
