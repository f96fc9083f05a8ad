//! The limiter against servers that count: no window overflows, nothing is wasted, and processes share one budget.

#![expect(clippy::unwrap_used, reason = "helpers of tests say what they expect by unwrapping, as the tests do")]

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use headland::clock::{Clock, Sleep, SystemClock};
use headland::limiter::{Heard, Limiter, Place, Refusal, Window};
use proptest::prelude::*;
use tokio::time::Instant;

/// Tokio's paused time, with a wall clock that can be set.
struct Paused {
    start: Instant,
    step: AtomicI64,
}

impl Paused {
    fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), step: AtomicI64::new(0) })
    }

    fn set_back(&self, by: Duration) {
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

const KEY: &str = "ApiKeyAbC123";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

fn window(calls: u32, milliseconds: u64) -> Window {
    Window { calls, period: Duration::from_millis(milliseconds) }
}

fn memory(windows: &[Window], clock: &Arc<Paused>) -> Limiter {
    Limiter::alone(&Place::Memory, "https://x.org", KEY, windows, clock.clone())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// The most arrivals in any stretch of `period`; sliding windows and fixed ones of every phase are such stretches.
fn fullest(arrivals: &[Duration], period: Duration) -> usize {
    let mut arrivals = arrivals.to_vec();
    arrivals.sort_unstable();
    (0..arrivals.len())
        .map(|first| arrivals[first..].iter().take_while(|at| **at < arrivals[first] + period).count())
        .max()
        .unwrap_or(0)
}

/// One call that takes `latency` and arrives at the server after a part of it.
async fn call(limiter: &Limiter, clock: &Paused, latency: Duration, arrival: f64, arrivals: &Mutex<Vec<Duration>>) {
    let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
    slot.sent();
    let before = latency.mul_f64(arrival);
    tokio::time::sleep(before).await;
    arrivals.lock().unwrap().push(clock.elapsed());
    tokio::time::sleep(latency.saturating_sub(before)).await;
    slot.settle(&Heard::default());
}

#[test]
fn the_bar_150_calls_overflow_nothing_and_waste_less_than_three_percent() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 2_000), window(15, 1_000)], &clock);
        let arrivals = Mutex::new(Vec::new());
        for _ in 0..150 {
            call(&limiter, &clock, Duration::from_millis(2), 0.5, &arrivals).await;
        }
        let took = clock.elapsed().as_secs_f64();
        let arrivals = arrivals.into_inner().unwrap();
        assert!(fullest(&arrivals, Duration::from_secs(1)) <= 15);
        assert!(fullest(&arrivals, Duration::from_secs(2)) <= 30);
        assert!(took <= 9.0 * 1.03, "{took} s");
    });
}

#[test]
fn in_real_time_the_windows_hold_and_little_is_wasted() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = Place::File(folder.path().join("limits.sqlite3"));
    let limiter = Limiter::alone(&place, "https://x.org", KEY, &[window(10, 200)], Arc::new(SystemClock));
    let started = std::time::Instant::now();
    let mut arrivals = Vec::new();
    runtime.block_on(async {
        for _ in 0..40 {
            let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
            slot.sent();
            arrivals.push(started.elapsed());
            slot.settle(&Heard::default());
        }
    });
    assert!(fullest(&arrivals, Duration::from_millis(200)) <= 10);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(600), "{took:?}");
    assert!(took < Duration::from_millis(1_500), "three waits of 0.2 s took {took:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_window_overflows_whatever_the_latencies(
        first in (1_u32..8, 20_u64..2_000),
        second in (1_u32..12, 20_u64..4_000),
        tasks in 1_usize..6,
        latencies in prop::collection::vec((0_u64..900, 0.0_f64..=1.0, 0_u64..300), 5..40),
        in_file: bool,
        dropped in prop::collection::vec(any::<bool>(), 8),
    ) {
        let windows = [window(first.0, first.1), window(second.0, second.1)];
        let folder = tempfile::tempdir().unwrap();
        let place = if in_file { Place::File(folder.path().join("limits.sqlite3")) } else { Place::Memory };
        let arrivals = runtime().block_on(async {
            let clock = Paused::new();
            let arrivals = Arc::new(Mutex::new(Vec::new()));
            let one = Limiter::alone(&place, "https://x.org", KEY, &windows, clock.clone());
            // A second gate to the same file is what another process has.
            let other = if in_file {
                Limiter::alone(&place, "https://x.org", KEY, &windows, clock.clone())
            } else {
                one.clone()
            };
            let mut running = Vec::new();
            for task in 0..tasks {
                let limiter = if task % 2 == 0 { one.clone() } else { other.clone() };
                let (clock, arrivals) = (clock.clone(), arrivals.clone());
                let mine: Vec<_> = latencies.iter().skip(task).step_by(tasks).copied().collect();
                let gives_up = dropped[task % dropped.len()];
                running.push(tokio::spawn(async move {
                    for (index, (latency, arrival, pause)) in mine.into_iter().enumerate() {
                        let latency = Duration::from_millis(latency);
                        let work = call(&limiter, &clock, latency, arrival, &arrivals);
                        if gives_up && index % 3 == 2 {
                            // Dropped while it waits, on its way, or on its way back.
                            let _ = tokio::time::timeout(latency, work).await;
                        } else {
                            work.await;
                        }
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                    }
                }));
            }
            for task in running {
                task.await.unwrap();
            }
            arrivals.lock().unwrap().clone()
        });
        for window in windows {
            prop_assert!(fullest(&arrivals, window.period) <= window.calls as usize, "{window:?}");
        }
    }
}

async fn spend(limiter: &Limiter, calls: u32) {
    for _ in 0..calls {
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.sent();
        slot.settle(&Heard::default());
    }
}

async fn hear(limiter: &Limiter, heard: Heard) {
    let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
    slot.sent();
    slot.settle(&heard);
}

fn told(limit: u32, remaining: u32, reset: u64) -> Heard {
    Heard {
        limit: Some(limit),
        remaining: Some(remaining),
        reset: Some(Duration::from_secs(reset)),
        ..Heard::default()
    }
}

#[test]
fn calls_of_others_are_counted_until_the_reset_and_our_own_are_not_counted_twice() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000), window(15, 30_000)], &clock);
        spend(&limiter, 4).await;
        hear(&limiter, told(30, 25, 7)).await;
        assert_eq!(limiter.budget().windows[0].1, 5, "our own log explains what the server counts");
        hear(&limiter, told(30, 4, 7)).await;
        assert_eq!(limiter.budget().windows[0].1, 26, "twenty calls are not ours");
        assert_eq!(limiter.budget().remaining, 0, "the shorter window has to assume that they were just made");
        hear(&limiter, told(30, 3, 7)).await;
        assert!(clock.elapsed() >= Duration::from_secs(7), "this call had to wait for the reset");
        assert!(clock.elapsed() < Duration::from_secs(8));
    });
}

#[test]
fn a_limit_below_the_windows_caps_them_and_one_that_matches_does_not() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000), window(15, 30_000)], &clock);
        hear(&limiter, told(15, 14, 30)).await;
        assert_eq!(limiter.budget().remaining, 14);
        spend(&limiter, 14).await;
        hear(&limiter, told(10, 9, 60)).await;
        assert!(clock.elapsed() >= Duration::from_secs(30));
        assert_eq!(limiter.budget().remaining, 0, "16 calls in the minute, and the server says ten");
    });
}

#[test]
fn a_limit_above_the_windows_never_loosens_them_nor_stops_them() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(5, 10_000)], &clock);
        hear(&limiter, told(1_000, 600, 3_000)).await;
        assert_eq!(limiter.budget().remaining, 4, "400 calls of others leave more than we want");
        hear(&limiter, told(1_000, 1, 50)).await;
        assert_eq!(limiter.budget().remaining, 1, "but the last one of the server is the last one");
    });
}

#[test]
fn a_429_stops_everybody_until_its_time_and_then_they_go_on() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000)], &clock);
        hear(&limiter, Heard { block: Some(Duration::from_secs(12)), ..Heard::default() }).await;
        let budget = limiter.budget();
        assert_eq!((budget.remaining, budget.next_call_in), (0, Duration::from_secs(12)));
        spend(&limiter, 1).await;
        assert_eq!(clock.elapsed().as_secs(), 12);
    });
}

#[test]
fn a_wait_beyond_the_deadline_is_refused_at_once() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(2, 60_000)], &clock);
        spend(&limiter, 2).await;
        let Refusal { ready_in } = limiter.grant(MINUTE, Duration::from_secs(10)).await.unwrap_err();
        assert!(ready_in > Duration::from_secs(59) && ready_in < Duration::from_secs(61), "{ready_in:?}");
        assert_eq!(clock.elapsed(), Duration::ZERO, "nobody waited");
        // Behind two others, the third has to wait for a second round.
        let patient: Vec<_> = (0..2)
            .map(|_| {
                let limiter = limiter.clone();
                tokio::spawn(async move { spend(&limiter, 1).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let Refusal { ready_in } = limiter.grant(MINUTE, Duration::from_secs(100)).await.unwrap_err();
        assert!(ready_in > Duration::from_secs(118), "{ready_in:?}");
        assert_eq!(clock.elapsed(), Duration::ZERO);
        for task in patient {
            task.await.unwrap();
        }
    });
}

#[test]
fn waiters_are_served_in_the_order_of_asking_and_one_that_leaves_frees_its_place() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(1, 1_000)], &clock);
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..6)
            .map(|number| {
                let (limiter, order) = (limiter.clone(), order.clone());
                tokio::spawn(async move {
                    spend(&limiter, 1).await;
                    order.lock().unwrap().push(number);
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(10)).await;
        tasks[1].abort();
        tasks[3].abort();
        for task in tasks {
            let _ = task.await;
        }
        assert_eq!(*order.lock().unwrap(), [0, 2, 4, 5]);
        assert_eq!(clock.elapsed().as_secs(), 3, "nobody waited for those who left");
    });
}

#[test]
fn a_slot_that_was_never_used_is_given_back_and_a_dropped_request_counts_from_the_drop() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(1, 1_000)], &clock);
        drop(limiter.grant(MINUTE, HOUR).await.unwrap());
        assert_eq!(limiter.budget().remaining, 1);
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.sent();
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(limiter.budget().remaining, 0, "in flight it counts as now");
        drop(slot);
        spend(&limiter, 1).await;
        assert!(clock.elapsed() >= Duration::from_millis(1_700));
    });
}

#[test]
fn a_clock_that_is_set_back_blocks_for_no_longer_than_the_window() {
    runtime().block_on(async {
        for place_in_file in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let clock = Paused::new();
            let place = if place_in_file { Place::File(folder.path().join("x.sqlite3")) } else { Place::Memory };
            let limiter = Limiter::alone(&place, "https://x.org", KEY, &[window(3, 10_000)], clock.clone());
            spend(&limiter, 2).await;
            hear(&limiter, Heard { block: Some(Duration::from_secs(4)), ..Heard::default() }).await;
            clock.set_back(HOUR);
            let budget = limiter.budget();
            assert!(budget.next_call_in <= Duration::from_millis(10_010), "{budget:?}");
            spend(&limiter, 1).await;
            assert!(clock.elapsed() <= Duration::from_millis(10_100), "{:?}", clock.elapsed());
        }
    });
}

#[test]
fn two_gates_to_one_file_share_a_budget_and_another_key_has_its_own() {
    runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("limits.sqlite3");
        let place = Place::File(path.clone());
        let clock = Paused::new();
        let windows = [window(5, 60_000)];
        let one = Limiter::alone(&place, "https://x.org", KEY, &windows, clock.clone());
        let two = Limiter::alone(&place, "https://x.org", KEY, &windows, clock.clone());
        let stranger = Limiter::alone(&place, "https://x.org", "another key", &windows, clock.clone());
        spend(&one, 3).await;
        assert_eq!((two.budget().remaining, stranger.budget().remaining), (2, 5));
        hear(&two, Heard { block: Some(Duration::from_secs(9)), ..Heard::default() }).await;
        assert_eq!(one.budget().next_call_in, Duration::from_secs(9));
        // While a call of the other gate is in flight, this one looks again and again.
        let mut slot = stranger.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.sent();
        drop(slot);
        drop((one, two, stranger));
        for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()), "the key is not stored");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    });
}

#[test]
fn a_call_in_flight_elsewhere_is_waited_for_and_its_end_is_noticed() {
    runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("limits.sqlite3"));
        let clock = Paused::new();
        let windows = [window(1, 1_000)];
        let one = Limiter::alone(&place, "https://x.org", KEY, &windows, clock.clone());
        let two = Limiter::alone(&place, "https://x.org", KEY, &windows, clock.clone());
        let mut slot = one.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.sent();
        let waiter = tokio::spawn(async move { spend(&two, 1).await });
        tokio::time::sleep(Duration::from_secs(3)).await;
        slot.settle(&Heard::default());
        waiter.await.unwrap();
        let took = clock.elapsed();
        assert!(took >= Duration::from_secs(4) && took < Duration::from_millis(4_100), "{took:?}");
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_told_once_and_memory_serves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"not a folder").unwrap();
    for place in [Place::File(file.join("limits.sqlite3")), Place::File(file.clone())] {
        runtime().block_on(async {
            let clock = Paused::new();
            let limiter = Limiter::alone(&place, "https://x.org", KEY, &[window(2, 1_000)], clock.clone());
            spend(&limiter, 1).await;
            assert_eq!(limiter.budget().remaining, 1);
            let warning = limiter.take_warning().unwrap();
            assert!(warning.contains("this process alone") && warning.contains("file"), "{warning}");
            assert_eq!(limiter.take_warning(), None);
        });
    }
}

#[test]
fn no_windows_mean_no_limit() {
    runtime().block_on(async {
        let limiter = memory(&[], &Paused::new());
        assert!(limiter.grant(MINUTE, HOUR).await.unwrap().is_none());
    });
}
