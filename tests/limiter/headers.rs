//! Tests the effect of the server's headers, the order of waiters, and the waits that are rejected.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::clock::Clock as _;
use headland::limiter::{DeadlineExceeded, Limiter, RateLimitHeaders, StoreLocation};

use crate::support::*;

#[test]
fn calls_of_other_clients_are_counted_until_the_reset_and_own_calls_once() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000), window(15, 30_000)], &clock);
        spend(&limiter, 4).await;
        call_with_headers(&limiter, limit_headers(30, 25, 7)).await;
        assert_eq!(limiter.budget().windows[0].1, 5, "our own log explains what the server counts");
        call_with_headers(&limiter, limit_headers(30, 4, 7)).await;
        assert_eq!(limiter.budget().windows[0].1, 26, "twenty calls are not ours");
        assert_eq!(limiter.budget().remaining, 0, "the shorter window has to assume that they were just made");
        call_with_headers(&limiter, limit_headers(30, 3, 7)).await;
        assert!(clock.elapsed() >= Duration::from_secs(7), "this call had to wait for the reset");
        assert!(clock.elapsed() < Duration::from_secs(8));
    });
}

#[test]
fn limit_below_the_windows_caps_them_and_an_equal_one_does_not() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000), window(15, 30_000)], &clock);
        call_with_headers(&limiter, limit_headers(15, 14, 30)).await;
        assert_eq!(limiter.budget().remaining, 14);
        spend(&limiter, 14).await;
        call_with_headers(&limiter, limit_headers(10, 9, 60)).await;
        assert!(clock.elapsed() >= Duration::from_secs(30));
        assert_eq!(limiter.budget().remaining, 0, "16 calls in the minute, and the server says ten");
    });
}

#[test]
fn limit_above_the_windows_has_no_effect() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(5, 10_000)], &clock);
        call_with_headers(&limiter, limit_headers(1_000, 600, 3_000)).await;
        assert_eq!(limiter.budget().remaining, 4, "400 calls of others leave more than we want");
        call_with_headers(&limiter, limit_headers(1_000, 1, 50)).await;
        assert_eq!(limiter.budget().remaining, 1, "but the last one of the server is the last one");
    });
}

#[test]
fn status_429_blocks_all_calls_until_its_time() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000)], &clock);
        call_with_headers(
            &limiter,
            RateLimitHeaders { block: Some(Duration::from_secs(12)), ..RateLimitHeaders::default() },
        )
        .await;
        let budget = limiter.budget();
        assert_eq!((budget.remaining, budget.next_call_in), (0, Duration::from_secs(12)));
        spend(&limiter, 1).await;
        assert_eq!(clock.elapsed().as_secs(), 12);
    });
}

#[test]
fn wait_beyond_the_deadline_is_an_error_immediately() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(2, 60_000)], &clock);
        spend(&limiter, 2).await;
        let DeadlineExceeded { ready_in, .. } = limiter.grant(MINUTE, Duration::from_secs(10)).await.unwrap_err();
        assert!(ready_in > Duration::from_secs(59) && ready_in < Duration::from_secs(61), "{ready_in:?}");
        assert_eq!(clock.elapsed(), Duration::ZERO, "no call waited");
        // Behind two others, the third has to wait for a second round.
        let patient: Vec<_> = (0..2)
            .map(|_| {
                let limiter = limiter.clone();
                tokio::spawn(async move { spend(&limiter, 1).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let DeadlineExceeded { ready_in, .. } = limiter.grant(MINUTE, Duration::from_secs(100)).await.unwrap_err();
        assert!(ready_in > Duration::from_secs(118), "{ready_in:?}");
        assert_eq!(clock.elapsed(), Duration::ZERO);
        for task in patient {
            task.await.unwrap();
        }
    });
}

#[test]
fn waiters_are_served_in_order_and_a_cancelled_one_frees_its_turn() {
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
        assert_eq!(clock.elapsed().as_secs(), 3, "no call waited for the cancelled ones");
    });
}

#[test]
fn unused_slot_is_returned_and_a_dropped_request_counts_from_the_drop() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(1, 1_000)], &clock);
        drop(limiter.grant(MINUTE, HOUR).await.unwrap());
        assert_eq!(limiter.budget().remaining, 1);
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(limiter.budget().remaining, 0, "in flight it counts as now");
        drop(slot);
        spend(&limiter, 1).await;
        assert!(clock.elapsed() >= Duration::from_millis(1_700));
    });
}

#[test]
fn clock_set_back_blocks_no_longer_than_the_window() {
    runtime().block_on(async {
        for place_in_file in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let clock = Paused::new();
            let place = if place_in_file {
                StoreLocation::File(folder.path().join("x.sqlite3"))
            } else {
                StoreLocation::Memory
            };
            let limiter = Limiter::unshared(&place, "https://x.org", KEY, &[window(3, 10_000)], clock.clone());
            spend(&limiter, 2).await;
            call_with_headers(
                &limiter,
                RateLimitHeaders { block: Some(Duration::from_secs(4)), ..RateLimitHeaders::default() },
            )
            .await;
            clock.set_back(HOUR);
            let budget = limiter.budget();
            assert!(budget.next_call_in <= Duration::from_millis(10_010), "{budget:?}");
            spend(&limiter, 1).await;
            assert!(clock.elapsed() <= Duration::from_millis(10_100), "{:?}", clock.elapsed());
        }
    });
}

#[test]
fn slow_reply_does_not_count_own_calls_as_those_of_other_clients() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(5, 1_000)], &clock);
        spend(&limiter, 4).await;
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        // The server had counted all five when this call arrived; by its reply the first four have left the window.
        clock.sleep(Duration::from_millis(1_010)).await;
        slot.complete(&limit_headers(5, 0, 1));
        assert_eq!(limiter.budget().remaining, 4, "only the call of the slow reply counts");
    });
}
