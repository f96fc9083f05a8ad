//! The rate limit: fixed or sliding windows for each API key, and the headers that tell of them (specification 8).
//!
//! What counts: every request that names a known API key, whatever its signature is and whether or not its address
//! exists. A request that is refused with 429 does not count, so a client that waits as it is told gets through.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::clock::{add_span, seconds_until};
use crate::limiter::Window;

/// The counts of one API key.
#[derive(Debug)]
pub(super) struct RateLimit {
    windows: Vec<CallWindow>,
}

#[derive(Debug)]
struct CallWindow {
    window: Window,
    kind: Counter,
}

/// How a window counts.
#[derive(Debug)]
enum Counter {
    /// It starts at the first call after the last one ended.
    Fixed { ends: DateTime<Utc>, calls: u32 },
    /// It holds for every stretch of its length: the times at which the counted calls leave it.
    Sliding { expiries: VecDeque<DateTime<Utc>> },
}

/// What the headers of a reply say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowState {
    /// `X-RateLimit-Limit`: calls at most in the window that is nearest to its limit.
    pub(super) limit: u32,
    /// `X-RateLimit-Remaining`: calls left in it.
    pub(super) remaining: u32,
    /// `X-RateLimit-Reset`: whole seconds until a fixed window ends, or until the oldest call leaves a sliding one.
    pub(super) reset: u64,
    /// `Retry-After` where the request was refused: whole seconds until one would be let through.
    pub(super) retry_after: Option<u64>,
}

impl RateLimit {
    /// Counts from nothing. No windows, no limit.
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

    /// Counts a request unless a window is full. `None` where there is no limit.
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
    /// Lets go of what has left the window.
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
    fn a_fixed_window_starts_with_its_first_call_and_frees_all_at_once() {
        let mut limit = RateLimit::new(&[window(2, 60)], false);
        let first = limit.count_request(time_at(0)).unwrap();
        assert_eq!(first, WindowState { limit: 2, remaining: 1, reset: 60, retry_after: None });
        assert_eq!(limit.count_request(time_at(59_000)).unwrap().reset, 1);
        assert_eq!(limit.count_request(time_at(59_001)).unwrap().retry_after, Some(1));
        assert_eq!(limit.count_request(time_at(60_000)).unwrap(), first);
        assert_eq!(limit.count_request(time_at(60_001)).unwrap().retry_after, None);
    }

    #[test]
    fn a_sliding_window_frees_one_call_at_a_time_and_refused_ones_do_not_count() {
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
    fn of_several_windows_the_headers_tell_of_the_tightest() {
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
    fn no_window_is_no_limit() {
        assert_eq!(RateLimit::new(&[], true).count_request(time_at(0)), None);
    }
}
