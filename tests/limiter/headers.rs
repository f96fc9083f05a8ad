//! What the server's headers do, who is served first, and which waits are refused.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::clock::Clock as _;
use headland::limiter::{DeadlineExceeded, Limiter, RateLimitHeaders, StoreLocation};

use crate::support::*;

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
        hear(&limiter, RateLimitHeaders { block: Some(Duration::from_secs(12)), ..RateLimitHeaders::default() }).await;
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
        let DeadlineExceeded { ready_in, .. } = limiter.grant(MINUTE, Duration::from_secs(10)).await.unwrap_err();
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
        let DeadlineExceeded { ready_in, .. } = limiter.grant(MINUTE, Duration::from_secs(100)).await.unwrap_err();
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
        slot.mark_sent();
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
            let place = if place_in_file {
                StoreLocation::File(folder.path().join("x.sqlite3"))
            } else {
                StoreLocation::Memory
            };
            let limiter = Limiter::unshared(&place, "https://x.org", KEY, &[window(3, 10_000)], clock.clone());
            spend(&limiter, 2).await;
            hear(&limiter, RateLimitHeaders { block: Some(Duration::from_secs(4)), ..RateLimitHeaders::default() })
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
fn a_slow_reply_does_not_make_our_own_calls_those_of_others() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(5, 1_000)], &clock);
        spend(&limiter, 4).await;
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        // The server counted all five when this call arrived; by its reply the first four have left the window.
        clock.sleep(Duration::from_millis(1_010)).await;
        slot.complete(&told(5, 0, 1));
        assert_eq!(limiter.budget().remaining, 4, "only the call of the slow reply counts");
    });
}
