//! Tests windows against simulated servers: no overflow for any latency, and little waste.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::clock::{Clock, Sleep, SystemClock};
use headland::limiter::{Limiter, RateLimitHeaders, StoreLocation};
use proptest::prelude::*;

use crate::series::cases;
use crate::support::*;

/// One call that takes `latency` and arrives at the server after a fraction of it.
async fn call(limiter: &Limiter, clock: &Paused, latency: Duration, arrival: f64, arrivals: &Mutex<Vec<Duration>>) {
    let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
    slot.mark_sent();
    let before = latency.mul_f64(arrival);
    tokio::time::sleep(before).await;
    arrivals.lock().unwrap().push(clock.elapsed());
    tokio::time::sleep(latency.saturating_sub(before)).await;
    slot.complete(&RateLimitHeaders::default());
}

#[test]
fn target_150_calls_overflow_nothing_and_waste_less_than_three_percent() {
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

/// The real time, with a list of the waits.
#[derive(Default)]
struct Counted(Mutex<Vec<Duration>>);

impl Clock for Counted {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        SystemClock.now()
    }

    fn elapsed(&self) -> Duration {
        SystemClock.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.0.lock().unwrap().push(duration);
        SystemClock.sleep(duration)
    }
}

#[test]
fn windows_do_not_overflow_in_real_time_and_little_is_wasted() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = StoreLocation::File(folder.path().join("limits.sqlite3"));
    let clock = Arc::new(Counted::default());
    let limiter = Limiter::unshared(&place, "https://x.org", KEY, &[window(10, 200)], Arc::clone(&clock) as _);
    let started = std::time::Instant::now();
    let mut arrivals = Vec::new();
    runtime.block_on(async {
        for _ in 0..40 {
            let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
            slot.mark_sent();
            arrivals.push(started.elapsed());
            slot.complete(&RateLimitHeaders::default());
        }
    });
    assert!(fullest(&arrivals, Duration::from_millis(200)) <= 10);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(600), "{took:?}");
    // The machine may be slow, so what counts are the waits that were asked for: three of 0.2 s, each as a slot and as the end
    // of its wait. Bounds of at least a second are none.
    let waited: Duration = clock.0.lock().unwrap().iter().filter(|wait| **wait < Duration::from_secs(1)).sum();
    assert!(waited < Duration::from_millis(1_300), "three waits of 0.2 s took {waited:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48), ..ProptestConfig::default() })]

    #[test]
    fn no_window_overflows_for_any_latency(
        first in (1_u32..8, 20_u64..2_000),
        second in (1_u32..12, 20_u64..4_000),
        tasks in 1_usize..6,
        latencies in prop::collection::vec((0_u64..900, 0.0_f64..=1.0, 0_u64..300), 5..40),
        in_file: bool,
        dropped in prop::collection::vec(any::<bool>(), 8),
    ) {
        let windows = [window(first.0, first.1), window(second.0, second.1)];
        let folder = tempfile::tempdir().unwrap();
        let place = if in_file { StoreLocation::File(folder.path().join("limits.sqlite3")) } else { StoreLocation::Memory };
        let arrivals = runtime().block_on(async {
            let clock = Paused::new();
            let arrivals = Arc::new(Mutex::new(Vec::new()));
            let one = Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone());
            // A second limiter of the same file acts as another process.
            let other = if in_file {
                Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone())
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
                            // Dropped while it waits, in flight, or while its reply is in flight.
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

#[test]
fn empty_windows_mean_no_limit() {
    runtime().block_on(async {
        let limiter = memory(&[], &Paused::new());
        assert!(limiter.grant(MINUTE, HOUR).await.unwrap().is_none());
    });
}
