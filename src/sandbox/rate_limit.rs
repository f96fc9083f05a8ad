//! The rate limit: fixed or sliding windows for each API key, and the headers that tell of them (specification 8).
//!
//! What counts: every request that names a known API key, whatever its signature is and whether or not its address
//! exists. A request that is refused with 429 does not count, so a client that waits as it is told gets through.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::clock::{after, seconds_until};
use crate::limiter::Window;

/// The counts of one API key.
#[derive(Debug)]
pub(super) struct RateLimit {
    windows: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    window: Window,
    kind: Kind,
}

/// How a window counts.
#[derive(Debug)]
enum Kind {
    /// It starts at the first call after the last one ended.
    Fixed { ends: DateTime<Utc>, calls: u32 },
    /// It holds for every stretch of its length: the times at which the counted calls leave it.
    Sliding { leave: VecDeque<DateTime<Utc>> },
}

/// What the headers of a reply say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// `X-RateLimit-Limit`: calls at most in the window that is nearest to its limit.
    pub(super) limit: u32,
    /// `X-RateLimit-Remaining`: calls left in it.
    pub(super) remaining: u32,
    /// `X-RateLimit-Reset`: whole seconds until a fixed window ends, or until the oldest call leaves a sliding one.
    pub(super) reset: u64,
    /// `Retry-After` where the request was refused: whole seconds until one would be let through.
    pub(super) refused: Option<u64>,
}

impl RateLimit {
    /// Counts from nothing. No windows, no limit.
    pub(super) fn new(windows: &[Window], sliding: bool) -> Self {
        let counted = |window: &Window| Counted {
            window: *window,
            kind: if sliding {
                Kind::Sliding { leave: VecDeque::new() }
            } else {
                Kind::Fixed { ends: DateTime::<Utc>::MIN_UTC, calls: 0 }
            },
        };
        Self { windows: windows.iter().map(counted).collect() }
    }

    /// Counts a request unless a window is full. `None` where there is no limit.
    pub(super) fn arrive(&mut self, now: DateTime<Utc>) -> Option<Standing> {
        for counted in &mut self.windows {
            counted.forget(now);
        }
        let wait = self.windows.iter().filter(|counted| counted.remaining() == 0).map(|full| full.reset(now)).max();
        if wait.is_none() {
            for counted in &mut self.windows {
                counted.count(now);
            }
        }
        let tightest = self.windows.iter().min_by_key(|counted| {
            let (remaining, reset) = (counted.remaining(), counted.reset(now));
            (remaining, std::cmp::Reverse(reset))
        })?;
        Some(Standing {
            limit: tightest.window.calls,
            remaining: tightest.remaining(),
            reset: tightest.reset(now),
            refused: wait,
        })
    }
}

impl Counted {
    /// Lets go of what has left the window.
    fn forget(&mut self, now: DateTime<Utc>) {
        match &mut self.kind {
            Kind::Fixed { ends, calls } => {
                if *ends <= now {
                    *calls = 0;
                }
            }
            Kind::Sliding { leave } => {
                while leave.front().is_some_and(|time| *time <= now) {
                    leave.pop_front();
                }
            }
        }
    }

    fn count(&mut self, now: DateTime<Utc>) {
        let leaves = after(now, self.window.period);
        match &mut self.kind {
            Kind::Fixed { ends, calls } => {
                if *calls == 0 {
                    *ends = leaves;
                }
                *calls = calls.saturating_add(1);
            }
            Kind::Sliding { leave } => leave.push_back(leaves),
        }
    }

    fn remaining(&self) -> u32 {
        let calls = match &self.kind {
            Kind::Fixed { calls, .. } => *calls,
            Kind::Sliding { leave } => u32::try_from(leave.len()).unwrap_or(u32::MAX),
        };
        self.window.calls.saturating_sub(calls)
    }

    fn reset(&self, now: DateTime<Utc>) -> u64 {
        match &self.kind {
            Kind::Fixed { ends, .. } => seconds_until(now, *ends),
            Kind::Sliding { leave } => leave.front().map_or(0, |time| seconds_until(now, *time)),
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

    fn at(milliseconds: i64) -> DateTime<Utc> {
        DateTime::<Utc>::from_timestamp_millis(1_000_000 + milliseconds).unwrap()
    }

    #[test]
    fn a_fixed_window_starts_with_its_first_call_and_frees_all_at_once() {
        let mut limit = RateLimit::new(&[window(2, 60)], false);
        let first = limit.arrive(at(0)).unwrap();
        assert_eq!(first, Standing { limit: 2, remaining: 1, reset: 60, refused: None });
        assert_eq!(limit.arrive(at(59_000)).unwrap().reset, 1);
        assert_eq!(limit.arrive(at(59_001)).unwrap().refused, Some(1));
        assert_eq!(limit.arrive(at(60_000)).unwrap(), first);
        assert_eq!(limit.arrive(at(60_001)).unwrap().refused, None);
    }

    #[test]
    fn a_sliding_window_frees_one_call_at_a_time_and_refused_ones_do_not_count() {
        let mut limit = RateLimit::new(&[window(2, 60)], true);
        limit.arrive(at(0));
        limit.arrive(at(30_000));
        for attempt in 0..5 {
            let refused = limit.arrive(at(30_500 + attempt)).unwrap();
            assert_eq!(refused, Standing { limit: 2, remaining: 0, reset: 30, refused: Some(30) });
        }
        assert_eq!(limit.arrive(at(60_000)).unwrap().refused, None);
        assert_eq!(limit.arrive(at(60_001)).unwrap().refused, Some(30));
    }

    #[test]
    fn of_several_windows_the_headers_tell_of_the_tightest() {
        let mut limit = RateLimit::new(&[window(3, 60), window(2, 10)], false);
        assert_eq!(limit.arrive(at(0)).unwrap().limit, 2);
        limit.arrive(at(0));
        assert_eq!(limit.arrive(at(0)).unwrap().refused, Some(10));
        assert_eq!(limit.arrive(at(10_000)).unwrap(), Standing { limit: 3, remaining: 0, reset: 50, refused: None });
        assert_eq!(limit.arrive(at(10_000)).unwrap().refused, Some(50));
    }

    #[test]
    fn no_window_is_no_limit() {
        assert_eq!(RateLimit::new(&[], true).arrive(at(0)), None);
    }
}
