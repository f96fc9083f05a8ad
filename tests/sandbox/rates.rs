//! The rate limit and its headers (specification 8).

use std::sync::Arc;
use std::time::Duration;

use headland::sandbox::Options;

use super::caller::{get, limited, start, upload};

#[test]
fn the_31st_call_in_a_minute_is_refused_until_the_window_resets() {
    let sandbox = start(Options { moved_clock: true, ..Options::default() });
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
    // A refused upload is read to its end, so that its sender sees the reply.
    assert_eq!(upload(&sandbox, "a.jdp.zip", &vec![0; 30_000_000]).send().status, 429);
    let statuses: Vec<u16> = sandbox.requests().iter().map(|request| request.status).collect();
    assert_eq!(statuses, [401, 401, 404, 200, 200, 429]);
    assert_eq!(sandbox.requests()[2].path, "/nothing");
}

#[test]
fn no_more_calls_get_through_together_than_alone() {
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
fn a_window_without_calls_is_refused() {
    let window = headland::limiter::Window { calls: 0, period: Duration::from_secs(1) };
    let error = headland::sandbox::Sandbox::start(Options { rate_limits: vec![window], ..Options::default() });
    assert_eq!(error.unwrap_err().kind(), headland::error::Kind::Value);
}
