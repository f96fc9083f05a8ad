//! Tests the rate limit and its headers (specification 8).

use std::sync::Arc;
use std::time::Duration;

use headland::error::Kind;
use headland::limiter::Window;
use headland::sandbox::Options;

use super::headland_client::{arguments_for, client, client_with_deadline, row};
use super::raw_client::{call, generated, get, limited, options, start, upload, zip_of};

#[test]
fn call_31_in_a_minute_is_rejected_until_the_window_resets() {
    let sandbox = start(Options { manual_clock: true, ..Options::default() });
    for sent in 1..=30_u32 {
        let reply = get(&sandbox, "/accesskey").send();
        assert_eq!(reply.status, 200);
        assert_eq!(reply.get("x-ratelimit-limit"), Some("30"));
        assert_eq!(reply.get("x-ratelimit-remaining").unwrap(), (30 - sent).to_string());
        assert_eq!(reply.get("x-ratelimit-reset"), Some("60"));
    }
    sandbox.advance(Duration::from_millis(59_001));
    let refused = get(&sandbox, "/jobdata").send();
    assert_eq!((refused.status, refused.text().as_str()), (429, "Exceeded maximum requests."));
    assert_eq!((refused.get("retry-after"), refused.get("x-ratelimit-remaining")), (Some("1"), Some("0")));
    assert!(refused.get("date").is_some());
    sandbox.advance(Duration::from_millis(999));
    assert_eq!(get(&sandbox, "/jobdata").send().get("x-ratelimit-remaining"), Some("29"));
}

#[test]
fn every_request_with_a_known_api_key_counts_and_no_other() {
    let sandbox = limited(&[(4, 60)], false);
    let stranger = get(&sandbox, "/jobdata").with(|call| call.api_key = "stranger".to_owned()).send();
    assert_eq!(stranger.get("x-ratelimit-limit"), None);
    assert_eq!(get(&sandbox, "/jobdata").with(|call| call.late = -500).send().status, 401);
    assert_eq!(get(&sandbox, "/nothing").send().status, 404);
    let other = sandbox.keys().other_access_key.clone();
    assert_eq!(get(&sandbox, "/jobdata").by_customer(&other).send().get("x-ratelimit-remaining"), Some("1"));
    assert_eq!(get(&sandbox, "/jobdata").send().status, 200);
    // A rejected upload is read to its end, so that its sender receives the reply.
    assert_eq!(upload(&sandbox, "a.jdp.zip", &vec![0; 30_000_000]).send().status, 429);
    let statuses: Vec<u16> = sandbox.requests().iter().map(|request| request.status).collect();
    assert_eq!(statuses, [401, 401, 404, 200, 200, 429]);
    assert_eq!(sandbox.requests()[2].path, "/nothing");
}

#[test]
fn concurrent_calls_are_limited_like_sequential_ones() {
    let sandbox = Arc::new(limited(&[(30, 60)], true));
    let callers: Vec<_> = (0..40)
        .map(|_| {
            let sandbox = Arc::clone(&sandbox);
            std::thread::spawn(move || get(&sandbox, "/jobdata").send().status)
        })
        .collect();
    let statuses: Vec<u16> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 30);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 10);
}

#[test]
fn sliding_windows_free_calls_as_they_age() {
    let sandbox = limited(&[(30, 60), (2, 10)], true);
    assert_eq!(get(&sandbox, "/accesskey").send().get("x-ratelimit-limit"), Some("2"));
    sandbox.advance(Duration::from_secs(9));
    assert_eq!(get(&sandbox, "/accesskey").send().status, 200);
    assert_eq!(get(&sandbox, "/accesskey").send().get("retry-after"), Some("1"));
    sandbox.advance(Duration::from_secs(1));
    assert_eq!(get(&sandbox, "/accesskey").send().status, 200);
    assert_eq!(get(&sandbox, "/accesskey").send().get("retry-after"), Some("9"));
}

#[test]
fn window_without_calls_is_an_error() {
    let window = headland::limiter::Window { calls: 0, period: Duration::from_secs(1) };
    let error = headland::sandbox::Sandbox::start(Options { rate_limits: vec![window], ..Options::default() });
    assert_eq!(error.unwrap_err().kind(), headland::error::Kind::Value);
}

#[test]
fn every_limited_reply_has_the_rate_limit_headers_section_8() {
    let sandbox = limited(&[(100, 60)], false);
    let account = generated();
    let (job, map) = (account.jobs[0].id.as_str(), account.maps[0].id.as_str());
    let send = format!("/prescriptionmaps/{map}/fieldcomputers/{}", account.computers[0].id);
    let file = format!("/jobdata/{job}?format=BIN");
    let detail = format!("/jobdata/{job}");
    let zip = zip_of("a.shp", b"x");
    for (kind, call, status) in [
        ("", get(&sandbox, "/jobdata"), 200),
        ("", get(&sandbox, &detail), 200),
        ("", get(&sandbox, &detail).header("Accept", "text/xml"), 200),
        ("", get(&sandbox, &file), 200),
        ("", get(&sandbox, &format!("/prescriptionmaps/{map}?format=bin")), 200),
        ("", get(&sandbox, &format!("/jobdata/{job}?format=SHP")), 200),
        ("", upload(&sandbox, "a.jdp.zip", &zip), 201),
        ("", call(&sandbox, "PUT", &send), 200),
        ("", call(&sandbox, "PUT", &send), 409),
        ("", get(&sandbox, "/jobdata?page=x"), 400),
        ("", get(&sandbox, "/jobdata").with(|call| call.late = -500), 401),
        ("", get(&sandbox, "/jobdata").by_customer(&sandbox.keys().revoked_access_key), 401),
        ("", get(&sandbox, "/fieldhubs/1"), 404),
        ("", get(&sandbox, "/nowhere"), 404),
        ("", call(&sandbox, "DELETE", "/jobdata"), 405),
        ("", get(&sandbox, "/jobdata").header("Accept", "image/png"), 406),
        ("", get(&sandbox, "/fieldcomputers/all/locations"), 501),
        ("forbidden", get(&sandbox, "/jobdata"), 403),
        ("more-time", get(&sandbox, "/jobdata"), 202),
        ("redirect", get(&sandbox, "/jobdata"), 302),
        ("server-error", get(&sandbox, "/jobdata"), 500),
        ("unavailable", get(&sandbox, "/jobdata"), 503),
        ("too-many-requests", get(&sandbox, "/jobdata"), 429),
        ("web-page", get(&sandbox, &file), 200),
        ("truncated", get(&sandbox, &file), 200),
        ("no-date", get(&sandbox, "/jobdata"), 200),
    ] {
        if !kind.is_empty() {
            sandbox.add_fault("*", kind, 1).unwrap();
        }
        let left = 100 - u32::try_from(sandbox.requests().len()).unwrap() - 1;
        let reply = call.send();
        assert_eq!(reply.status, status, "{kind}: {}", reply.text());
        let headers =
            ["limit", "remaining", "reset"].map(|name| reply.get(&format!("x-ratelimit-{name}")).unwrap().to_owned());
        assert_eq!(headers, ["100".to_owned(), left.to_string(), "60".to_owned()], "{kind} {status}");
    }
}

#[tokio::test]
async fn budget_of_the_client_follows_the_rate_limit_headers_section_8() {
    let window = Window { calls: 30, period: Duration::from_secs(60) };
    let sandbox = Arc::new(start(Options { rate_limits: vec![window], ..options() }));
    let client = client(&sandbox, &[window]);
    let summary = async || client.detail(row("access_key"), &arguments_for("access_key", &[])).await.unwrap();
    assert_eq!(client.budget().remaining, 30);
    summary().await;
    assert_eq!(client.budget().remaining, 29);
    // Another client uses the same key: the service reports it, and the client waits.
    for _ in 0..10 {
        get(&sandbox, "/accesskey").send();
    }
    summary().await;
    assert_eq!(client.budget().remaining, 18);
    for _ in 0..18 {
        get(&sandbox, "/accesskey").send();
    }
    // The window is full, unknown to the client: one call is rejected, waits for the reset and succeeds.
    sandbox.advance(Duration::from_secs(20));
    let before = sandbox.now();
    summary().await;
    assert!((39..=41).contains(&(sandbox.now() - before).num_seconds()), "{}", sandbox.now() - before);
    let refused = sandbox.requests().iter().filter(|request| request.status == 429).count();
    assert_eq!(refused, 1);
    let budget = client.budget();
    assert!(budget.next_call_in.is_zero() && budget.remaining > 0, "{budget:?}");
}

#[tokio::test]
async fn status_429_beyond_the_deadline_is_an_error_and_leaves_no_budget_until_its_time_7_and_8() {
    let sandbox = Arc::new(limited(&[(1, 3_600)], false));
    get(&sandbox, "/accesskey").send();
    let windows = [Window { calls: 30, period: Duration::from_secs(60) }];
    let client = client_with_deadline(Duration::from_secs(250), &sandbox, &windows);
    let error = client.detail(row("access_key"), &arguments_for("access_key", &[])).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().status), (Kind::RateLimited, Some(429)), "{error}");
    assert_eq!(error.facts().retry_after, Some(Duration::from_secs(300)));
    assert!(error.message().contains("3600 s") && error.message().contains("250 s"), "{error}");
    assert!(error.message().contains("Exceeded maximum requests"), "{error}");
    let budget = client.budget();
    // The wait is unconfirmed: after five minutes one call probes.
    assert_eq!((budget.remaining, budget.next_call_in.as_secs().div_ceil(60)), (0, 5), "{budget:?}");
    assert_eq!(budget.service_wait.map(|wait| wait.as_secs().div_ceil(60)), Some(60), "{budget:?}");
}
