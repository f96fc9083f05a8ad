//! Tests waits for the rate limit: which of them a call waits for, and the errors for the others.

use std::time::Duration;

use headland::client::{Client, Config, Timeouts};
use headland::error::{Kind, Result};
use headland::limiter::Window;
use headland::wire::Value;

use crate::support::*;

const KEY: &str = r#"{"AccessKey":"k","ID":"1","IsActive":true}"#;

async fn access_key(client: &Client) -> Result<Value> {
    client.detail(row("access_key"), &arguments("access_key", &[])).await
}

/// A client with or without a limiter, whose calls have a deadline in seconds.
fn patient(script: &std::sync::Arc<Script>, is_limited: bool, call: u64) -> Client {
    let rate_limits = if is_limited { vec![Window { calls: 30, period: Duration::from_secs(60) }] } else { Vec::new() };
    let timeout = Timeouts { call: Duration::from_secs(call), ..config().timeout };
    client_of(Config { rate_limits, timeout, ..config() }, script)
}

#[tokio::test(start_paused = true)]
async fn excessive_wait_is_probed_after_five_minutes_by_the_call_that_received_it() {
    for (header, value) in [("retry-after", "1000000000"), ("x-ratelimit-reset", "1790000000"), ("retry-after", "301")]
    {
        let start = tokio::time::Instant::now();
        let script =
            Script::new(move |number, _| Ok(if number == 0 { canned(429, "").with(header, value) } else { ok(KEY) }));
        access_key(&patient(&script, true, 600)).await.unwrap();
        assert!((seconds(start) - 300.0).abs() < 0.1 && script.count() == 2, "{header}: {value}: {}", seconds(start));
    }
}

#[tokio::test(start_paused = true)]
async fn wait_requested_twice_is_accepted_and_reported() {
    let start = tokio::time::Instant::now();
    let script = Script::new(|_, _| Ok(canned(429, "Enough for today.").with("retry-after", 1_000_000_000)));
    let client = patient(&script, true, 600);
    let error = access_key(&client).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().status, script.count()), (Kind::RateLimited, Some(429), 2));
    assert_eq!(
        error.message(),
        "the rate limit is exceeded: Enough for today; the service asked to wait 24 hours or longer, and the next call \
         may start in 86400.0 s, but only 300.0 s of this call's timeout of 600 s are left; call again after that"
    );
    assert!((seconds(start) - 300.0).abs() < 0.1, "{}", seconds(start));
    let budget = client.budget();
    let day = Duration::from_secs(86_400);
    assert_eq!((budget.next_call_in, budget.service_wait), (day, Some(day)));
    // The next call fails with the wait without being sent.
    let error = access_key(&client).await.unwrap_err();
    assert!(error.message().contains("asked to wait 24 hours or longer") && script.count() == 2, "{error}");
    assert_eq!(error.facts().retry_after, Some(day));
}

#[tokio::test(start_paused = true)]
async fn error_names_the_wait_and_the_remaining_time() {
    for (status, is_limited, header, wait, call, figures) in [
        (429, true, "retry-after", 3_600, 60, ["3600 s", "300.0 s", "60.0 s", "timeout of 60 s"]),
        (429, true, "x-ratelimit-reset", 200, 60, ["200 s", "200.0 s", "60.0 s", "timeout of 60 s"]),
        (429, false, "retry-after", 3_600, 600, ["3600 s", "3600 s", "600.0 s", "timeout of 600 s"]),
        (503, true, "retry-after", 3_600, 600, ["3600 s", "3600 s", "600.0 s", "timeout of 600 s"]),
        (503, true, "retry-after", 1_790_000_000, 600, ["24 hours or longer", "asks", "600.0 s", "timeout of 600 s"]),
    ] {
        let start = tokio::time::Instant::now();
        let script = Script::new(move |_, _| Ok(canned(status, "Not now.").with(header, wait)));
        let error = access_key(&patient(&script, is_limited, call)).await.unwrap_err();
        let message = error.message();
        assert!(message.contains("Not now; the service ask"), "{message}");
        assert!(figures.iter().all(|figure| message.contains(figure)), "{message}");
        assert!(seconds(start) < 0.1 && error.facts().retry_after.is_some(), "no wait was in vain");
    }
    // If the pause is the client's own, the error names no wait.
    let script = Script::new(|_, _| Ok(canned(503, "Not now.")));
    let error = access_key(&patient(&script, false, 10)).await.unwrap_err();
    assert!(!error.message().contains("asks to wait"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn probe_with_a_broken_connection_is_sent_again() {
    let start = tokio::time::Instant::now();
    let script = Script::new(|number, _| match number {
        0 | 3 => Ok(canned(429, "").with("retry-after", 1_000_000_000)),
        1 | 2 => Err(fault(headland::transport::FaultKind::Reset)),
        _ => Ok(ok(KEY)),
    });
    let client = patient(&script, true, 600);
    let error = access_key(&client).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::RateLimited, 4), "{error}");
    assert!(seconds(start) < 305.0, "{}", seconds(start));
}

#[tokio::test(start_paused = true)]
async fn waits_for_the_own_limit_are_free_if_requested_and_otherwise_the_error_says_what_to_do() {
    let timeout = Timeouts { call: Duration::from_secs(10), ..config().timeout };
    let rate_limits = vec![Window { calls: 1, period: Duration::from_secs(60) }];
    let script = Script::new(|_, _| Ok(ok(KEY)));
    let client = client_of(Config { rate_limits, timeout, ..config() }, &script);
    let start = tokio::time::Instant::now();
    let free = client.with_free_queue_time();
    let done = futures_util::future::join_all((0..25).map(|_| access_key(&free))).await;
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert!((seconds(start) - 24.0 * 60.0).abs() < 1.0, "{}", seconds(start));
    let error = access_key(&client).await.unwrap_err();
    assert_eq!(error.kind(), Kind::RateLimited);
    assert_eq!(
        error.message(),
        "the rate limit allows the next call in 60.0 s, but only 10.0 s of this call's timeout of 10 s are left; make \
             fewer calls at once, call again after that, or allow a longer wait with timeout=Timeout(call=...), in seconds"
    );
}

#[tokio::test(start_paused = true)]
async fn waits_that_the_service_requests_count_even_if_those_for_the_own_limit_are_free() {
    for wait in [Some(7), Some(3_600), None] {
        let start = tokio::time::Instant::now();
        let script = Script::new(move |_, _| {
            let refusal = canned(429, "Not now.");
            Ok(if let Some(wait) = wait { refusal.with("retry-after", wait) } else { refusal })
        });
        let error = access_key(&patient(&script, true, 60).with_free_queue_time()).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (Kind::RateLimited, Some(429)), "{error}");
        assert!(seconds(start) < 120.0, "{wait:?}: {}", seconds(start));
    }
}
