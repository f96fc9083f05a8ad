//! Tests calls whose futures are not polled while they wait: they block no other call without end.
//!
//! A thread that waits for the limiter may run a signal handler that calls the same client. The waiting future is
//! polled again only after the handler.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use headland::clock::Clock as _;
use headland::limiter::{DeadlineExceeded, RateLimitHeaders, Slot};

use crate::support::*;

type Grant<'a> = Pin<Box<dyn Future<Output = Result<Option<Slot>, DeadlineExceeded>> + 'a>>;

#[test]
fn unpolled_calls_are_passed_at_every_stage() {
    for calls in 1_u32..4 {
        for stopped in 0..4 {
            for polls in 1..4 {
                for clears in [0, 3] {
                    runtime().block_on(async {
                        let clock = Paused::new();
                        let limiter = memory(&[window(calls, 10_000)], &clock);
                        spend(&limiter, calls).await;
                        let mut waiting: Vec<Grant<'_>> =
                            (0..stopped).map(|_| Box::pin(limiter.grant(MINUTE, HOUR)) as Grant<'_>).collect();
                        for _ in 0..polls {
                            for grant in &mut waiting {
                                assert!(poll_fn(|task| Poll::Ready(grant.as_mut().poll(task))).await.is_pending());
                            }
                            clock.sleep(Duration::from_secs(clears)).await;
                        }
                        // One more than a window allows.
                        spend(&limiter, calls + 1).await;
                        let took = clock.elapsed();
                        let name = format!("{stopped} stopped after {polls} polls, windows of {calls}");
                        assert!(took < Duration::from_secs(25), "{name}: {took:?}");
                        // The stopped calls continue when they are polled.
                        for grant in waiting {
                            let mut slot = grant.await.unwrap().unwrap();
                            slot.mark_sent();
                            slot.complete(&RateLimitHeaders::default());
                        }
                    });
                }
            }
        }
    }
}

#[test]
fn unpolled_request_blocks_until_its_lease_ends() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(1, 10_000)], &clock);
        let mut slot = limiter.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        spend(&limiter, 1).await;
        assert!(clock.elapsed() < Duration::from_secs(72), "{:?}", clock.elapsed());
    });
}

#[test]
fn order_is_kept_while_all_calls_are_polled() {
    for (calls, period, steps) in [(1, 1_000, 12), (2, 990, 20), (5, 2_000, 30), (15, 30_000, 40)] {
        runtime().block_on(async {
            let clock = Paused::new();
            let limiter = memory(&[window(calls, period)], &clock);
            let order = std::sync::Mutex::new(Vec::new());
            let all = (0..steps).map(|number| {
                let (limiter, order) = (limiter.clone(), &order);
                async move {
                    spend(&limiter, 1).await;
                    order.lock().unwrap().push(number);
                }
            });
            futures_util::future::join_all(all).await;
            assert!(order.lock().unwrap().is_sorted(), "{order:?}");
        });
    }
}
