//! Tests probes: one call, sent once, with the full outcome of its reply, for the doctor.

use std::time::Duration;

use chrono::DateTime;
use headland::client::{Client, Config, Variation};
use headland::error::{Kind, Result};
use headland::limiter::Window;
use headland::signing::{SigningInput, SigningKey};
use headland::transport::{FaultKind, Probe};
use headland::wire::Value;

use crate::support::{SECRET, START, Script, canned, client, client_of, config, fault, ok, query, row};

const KEY: &str = r#"{"AccessKey":"AccessKeyXyZ789","ID":"1","IsActive":true}"#;

fn date(skew: i64) -> String {
    DateTime::from_timestamp(START + skew, 0).unwrap().format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

async fn probe(client: &Client) -> Result<Probe<Value>> {
    client.examine(row("access_key"), Variation::default()).await
}

#[tokio::test(start_paused = true)]
async fn probe_is_sent_once_and_returns_the_outcome_of_the_reply() {
    for (status, body, kind) in [
        (401, "Signature check failed", Kind::Authentication),
        (429, "Exceeded maximum requests.", Kind::RateLimited),
        (500, "boom", Kind::ServiceUnavailable),
        (202, r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#, Kind::NotReady),
        (200, "<html>please sign in, AccessKeyXyZ789</html>", Kind::Decode),
    ] {
        let script = Script::new(move |_, _| Ok(canned(status, body).with("date", date(0))));
        let probe = probe(&client(&script)).await.unwrap();
        let error = probe.outcome.unwrap_err();
        assert_eq!((error.kind(), error.facts().status, script.count()), (kind, Some(status), 1), "{error}");
        assert_eq!(probe.fault, None);
        assert!(!error.to_string().contains("AccessKeyXyZ789"), "{error}");
    }
    for kind in [FaultKind::Name, FaultKind::Connect, FaultKind::Tls, FaultKind::Timeout, FaultKind::Reset] {
        let script = Script::new(move |_, _| Err(fault(kind)));
        let probe = probe(&client(&script)).await.unwrap();
        assert_eq!((probe.fault.map(|fault| fault.kind), script.count()), (Some(kind), 1));
        assert_eq!(probe.outcome.unwrap_err().kind(), Kind::Transport);
    }
}

#[tokio::test(start_paused = true)]
async fn clock_is_measured_on_success() {
    for skew in [-90, 0, 7, 3600] {
        let script = Script::new(move |_, _| Ok(ok(KEY).with("date", date(skew))));
        let probe = probe(&client(&script)).await.unwrap();
        // `Date` has whole seconds, which limits the precision.
        assert!((probe.skew.unwrap() - skew).abs() <= 1, "{:?} instead of {skew}", probe.skew);
        assert!(!probe.is_corrected);
        assert!(probe.outcome.is_ok());
    }
    let script = Script::new(|_, _| Ok(ok(KEY)));
    assert_eq!(probe(&client(&script)).await.unwrap().skew, None);
}

#[tokio::test(start_paused = true)]
async fn measured_clock_applies_to_the_next_request() {
    let script = Script::new(|_, request| {
        let time: i64 = request.headers["x-ss-timestamp"].to_str().unwrap().parse().unwrap();
        let is_right = (time - START - 3600).abs() <= 1;
        Ok(if is_right { ok(KEY) } else { canned(401, "TimeStamp check failed").with("date", date(3600)) })
    });
    let client = client(&script);
    let first = probe(&client).await.unwrap();
    assert!(first.is_corrected && first.is_about_time);
    assert!(probe(&client).await.unwrap().outcome.is_ok());
}

#[tokio::test(start_paused = true)]
async fn variation_changes_the_signed_text_and_never_the_host() {
    let script = Script::new(|_, _| Ok(ok(KEY)));
    let client = client_of(Config { base_url: "https://api.example.com:8443/V1".to_owned(), ..config() }, &script);
    let key = SigningKey::from_base64(SECRET).unwrap();
    for (variation, url, host, path) in [
        (Variation::default(), "https://api.example.com:8443/V1/accesskey", "api.example.com:8443", "/V1/accesskey"),
        (
            Variation { prefix: Some(""), signed_host: None },
            "https://api.example.com:8443/accesskey",
            "api.example.com:8443",
            "/accesskey",
        ),
        (
            Variation { prefix: Some("/v1"), signed_host: Some("api.example.com") },
            "https://api.example.com:8443/v1/accesskey",
            "api.example.com",
            "/v1/accesskey",
        ),
    ] {
        client.examine(row("access_key"), variation).await.unwrap();
        let request = script.request(script.count() - 1);
        assert_eq!(request.url, url);
        let signed = SigningInput {
            method: "GET",
            host,
            path,
            timestamp: START,
            api_key: "ApiKeyAbC123",
            access_key: "AccessKeyXyZ789",
        };
        assert!(signed.verify(&key, request.headers["x-ss-signature"].to_str().unwrap()), "{url}");
    }
}

#[tokio::test(start_paused = true)]
async fn list_probe_requests_one_record_and_returns_the_count() {
    let list = r#"{"TotalCount":56,"IsNextPage":true,"JobData":[]}"#;
    let script = Script::new(move |_, _| Ok(ok(list).with("x-ratelimit-remaining", 12)));
    let probe = client(&script).examine(row("job_data.list"), Variation::default()).await.unwrap();
    assert_eq!((probe.outcome.unwrap(), probe.rate_limit.remaining), (Value::Integer(56), Some(12)));
    assert_eq!(query(&script.request(0), "pageSize").as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn full_limiter_is_an_error_immediately_and_status_429_blocks_it() {
    let script = Script::new(|_, _| Ok(canned(429, "").with("retry-after", 20)));
    let rate_limits = vec![Window { calls: 30, period: Duration::from_secs(60) }];
    let client = client_of(Config { rate_limits, ..config() }, &script);
    probe(&client).await.unwrap();
    let refused = probe(&client).await.unwrap_err();
    assert_eq!((refused.kind(), script.count()), (Kind::RateLimited, 1));
    assert_eq!(refused.facts().retry_after, Some(Duration::from_secs(20)));
}
