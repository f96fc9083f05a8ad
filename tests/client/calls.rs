//! Tests one call: what is signed and sent, what is retried, and the errors of each failure.

use std::time::Duration;

use headland::client::{Client, Config};
use headland::error::Kind;
use headland::limiter::Window;
use headland::signing::{SigningInput, SigningKey};
use headland::transport::FaultKind;
use headland::wire::Value;

use crate::support::*;

const KEY: &str = r#"{"AccessKey":"k","ID":"1","IsActive":true}"#;
const MORE_TIME: &str = r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#;

async fn access_key(client: &Client) -> headland::error::Result<Value> {
    client.detail(row("access_key"), &arguments("access_key", &[])).await
}

#[tokio::test(start_paused = true)]
async fn account_name_does_not_reveal_its_key() {
    let script = Script::new(|_, _| Ok(ok(KEY)));
    let account = |base: &str, key: &str| {
        let access_key = headland::secret::Secret::new(key);
        client_of(Config { base_url: base.to_owned(), access_key, ..config() }, &script).account()
    };
    let one = account("https://api.example.com/V1", "AccessKeyXyZ789");
    assert_eq!(one, account("https://api.example.com/V1/", "AccessKeyXyZ789"));
    assert_ne!(one, account("https://api.example.com/V1", "AccessKeyXyZ780"));
    assert_ne!(one, account("https://api.example.com/V2", "AccessKeyXyZ789"));
    assert!(one.len() == 64 && !one.contains("XyZ"), "{one}");
}

#[tokio::test(start_paused = true)]
async fn signature_covers_the_sent_request() {
    let script = Script::new(|_, _| Ok(ok(r#"{"ID":"A b","JobType":"Yield"}"#)));
    let client = client(&script);
    let job = client.detail(row("job_data.get"), &arguments("job_data.get", &[("id", "A b")])).await.unwrap();
    assert_eq!(job.get("id").and_then(Value::as_text), Some("A b"));
    let request = script.request(0);
    assert_eq!(request.url, "https://api.example.com/V1/jobdata/A%20b");
    let header = |name: &str| request.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("x-ss-timestamp"), START.to_string());
    assert_eq!(header("accept"), "application/json");
    let signed = SigningInput {
        method: "GET",
        host: "api.example.com",
        path: "/V1/jobdata/A%20b",
        timestamp: START,
        api_key: "ApiKeyAbC123",
        access_key: "AccessKeyXyZ789",
    };
    assert!(signed.verify(&SigningKey::from_base64(SECRET).unwrap(), &header("x-ss-signature")));
    let shown = format!("{request:?} {client:?} {}", client.describe());
    assert!(!shown.contains("ApiKeyAbC123") && !shown.contains("AccessKeyXyZ789"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn timestamp_is_taken_when_the_request_is_sent() {
    let script = Script::new(|_, _| Ok(ok(KEY)));
    let rate_limits = vec![Window { calls: 1, period: Duration::from_secs(300) }];
    let client = client_of(Config { rate_limits, ..config() }, &script);
    access_key(&client).await.unwrap();
    access_key(&client).await.unwrap();
    let time: i64 = script.request(1).headers["x-ss-timestamp"].to_str().unwrap().parse().unwrap();
    assert!(time >= START + 300, "signed when the limiter had granted the slot");
}

#[tokio::test(start_paused = true)]
async fn transient_failure_is_retried_after_the_wait_of_the_service() {
    for (first, pause) in [
        (canned(503, "Resources exhausted. Try again."), 0.5),
        (canned(503, "Resources exhausted. Try again.").with("retry-after", 7), 7.0),
        (canned(429, "Exceeded maximum requests.").with("retry-after", 11), 11.0),
        (canned(429, "Exceeded maximum requests.").with("x-ratelimit-reset", 13), 13.0),
        (canned(202, MORE_TIME).with("retry-after", 5), 5.0),
        (canned(200, MORE_TIME), 30.0),
        (canned(500, "boom"), 0.5),
    ] {
        let start = tokio::time::Instant::now();
        let mut first = Some(first);
        let script = Script::new(move |_, _| Ok(first.take().unwrap_or_else(|| ok(KEY))));
        access_key(&client(&script)).await.unwrap();
        assert_eq!(script.count(), 2);
        assert!((seconds(start) - pause).abs() < 0.01, "{} s instead of {pause} s", seconds(start));
    }
    for kind in [FaultKind::Name, FaultKind::Connect, FaultKind::Reset, FaultKind::Timeout, FaultKind::Truncated] {
        let script = Script::new(move |number, _| if number < 2 { Err(fault(kind)) } else { Ok(ok(KEY)) });
        access_key(&client(&script)).await.unwrap();
        assert_eq!(script.count(), 3, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn status_429_blocks_the_limiter_and_the_call_is_retried() {
    let start = tokio::time::Instant::now();
    let script =
        Script::new(|number, _| Ok(if number == 0 { canned(429, "").with("retry-after", 20) } else { ok(KEY) }));
    let rate_limits = vec![Window { calls: 30, period: Duration::from_secs(60) }];
    let client = client_of(Config { rate_limits, ..config() }, &script);
    access_key(&client).await.unwrap();
    assert!(seconds(start) >= 20.0 && seconds(start) < 20.1, "{}", seconds(start));
}

#[tokio::test(start_paused = true)]
async fn permanent_failure_is_an_error_after_few_attempts() {
    for (kind, attempts) in [
        (FaultKind::Connect, 4),
        (FaultKind::Reset, 4),
        (FaultKind::Timeout, 4),
        (FaultKind::Tls, 1),
        (FaultKind::Request, 1),
    ] {
        let script = Script::new(move |_, _| Err(fault(kind)));
        let error = access_key(&client(&script)).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().attempts), (Kind::Transport, Some(attempts)), "{kind:?}");
        assert!(error.message().contains("api.example.com"), "{error}");
    }
    for (status, kind) in [
        (400, Kind::InvalidRequest),
        (401, Kind::Authentication),
        (403, Kind::PermissionDenied),
        (404, Kind::NotFound),
        (405, Kind::MethodNotAllowed),
        (409, Kind::Conflict),
        (302, Kind::Transport),
    ] {
        let body = r#"{"status":"INVALID_REQUEST","errorInfo":"No such thing","result":"trace 9"}"#;
        let script = Script::new(move |_, _| Ok(canned(status, body)));
        let error = access_key(&client(&script)).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (kind, 1), "{status}");
        let facts = error.facts();
        assert_eq!((facts.status, facts.endpoint, facts.method), (Some(status), Some("access_key"), Some("GET")));
        assert_eq!(facts.result.as_deref(), Some("trace 9"));
    }
}

#[tokio::test(start_paused = true)]
async fn lasting_failure_ends_with_the_deadline_of_the_call() {
    let start = tokio::time::Instant::now();
    let script = Script::new(|_, _| Ok(canned(503, "Resources exhausted. Try again.")));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().status), (Kind::ServiceUnavailable, Some(503)));
    assert!(error.message().contains("Resources exhausted"), "{error}");
    assert!(seconds(start) <= 600.0 && seconds(start) > 500.0, "{}", seconds(start));
    assert!(script.count() < 30, "pauses grow");
    // A wait beyond the deadline is not started.
    let start = tokio::time::Instant::now();
    let script = Script::new(|_, _| Ok(canned(429, "").with("retry-after", 3600)));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::RateLimited, 1));
    assert_eq!(error.facts().retry_after, Some(Duration::from_secs(3600)));
    assert!(seconds(start) < 1.0);
}

#[tokio::test(start_paused = true)]
async fn hanging_request_ends_with_the_deadline() {
    let start = tokio::time::Instant::now();
    let script = Script::slow(Duration::from_secs(86_400), |_, _| Ok(ok(KEY)));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().elapsed), (Kind::Transport, Some(Duration::from_secs(600))));
    assert!(seconds(start) < 600.1);
}

fn date(seconds: i64) -> String {
    chrono::DateTime::from_timestamp(START + seconds, 0).unwrap().format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[tokio::test(start_paused = true)]
async fn wrong_clock_is_corrected_with_one_warning() {
    for (skew, said, warning) in [
        (3600, "TimeStamp check failed", "3600 s behind the service"),
        (-3600, "TimeStamp check failed", "3600 s ahead of the service"),
        (3600, "Unauthorized", "3600 s behind the service"),
        (40, "Request expired", "40 s behind the service"),
    ] {
        let script = Script::slow(Duration::from_millis(20), move |_, request| {
            let time: i64 = request.headers["x-ss-timestamp"].to_str().unwrap().parse().unwrap();
            let right = (time - START - skew).abs() <= 1;
            Ok(if right { ok(KEY) } else { canned(401, said).with("date", date(skew)) })
        });
        let client = client(&script);
        let both = tokio::join!(access_key(&client), access_key(&client));
        both.0.unwrap();
        both.1.unwrap();
        access_key(&client).await.unwrap();
        assert_eq!(script.count(), 5, "later calls are right at once");
        let warnings = client.take_warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(warning), "{warnings:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn missing_date_is_in_the_error_and_a_rejected_key_is_no_clock_error() {
    let script = Script::new(|_, _| Ok(canned(401, "TimeStamp check failed")));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::Authentication, 1));
    assert!(error.message().contains("no Date"), "{error}");
    assert_eq!(error.facts().check.as_deref(), Some("TimeStamp check failed"));

    let script = Script::new(|_, _| Ok(canned(401, "Signature check failed").with("date", date(2))));
    let client_ = client(&script);
    let error = access_key(&client_).await.unwrap_err();
    assert_eq!(script.count(), 1);
    assert_eq!(error.facts().check.as_deref(), Some("Signature check failed"));
    assert!(client_.take_warnings().is_empty());

    // A service whose Date does not help is corrected for only once.
    let script = Script::new(|_, _| Ok(canned(401, "TimeStamp check failed").with("date", date(3600))));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::Authentication, 2));
}

#[tokio::test(start_paused = true)]
async fn echoed_keys_are_masked() {
    let script = Script::new(|_, _| Ok(canned(401, "Unknown access key AccessKeyXyZ789 of ApiKeyAbC123")));
    let error = access_key(&client(&script)).await.unwrap_err();
    let text = format!("{error} {error:?} {:?}", error.facts());
    assert!(!text.contains("AccessKeyXyZ789") && !text.contains("ApiKeyAbC123"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn web_page_instead_of_json_is_an_error() {
    let script =
        Script::new(|_, _| Ok(ok("<!DOCTYPE html><title>Hotel WLAN</title>").with("content-type", "text/html")));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().status), (Kind::Decode, Some(200)));
    assert!(error.message().contains("a web page (text/html)"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn short_body_is_requested_again() {
    let script = Script::new(|number, _| {
        Ok(if number == 0 { ok(&KEY[..20]).with("content-length", KEY.len()) } else { ok(KEY) })
    });
    access_key(&client(&script)).await.unwrap();
    assert_eq!(script.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn compressed_replies_are_decoded() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(KEY.as_bytes()).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    zlib.write_all(KEY.as_bytes()).unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    raw.write_all(KEY.as_bytes()).unwrap();
    for (encoding, body) in
        [("gzip", gzip.finish().unwrap()), ("deflate", zlib.finish().unwrap()), ("Deflate", raw.finish().unwrap())]
    {
        let script = Script::new(move |_, request| {
            assert_eq!(request.headers["accept-encoding"], "gzip, deflate");
            Ok(ok(body.clone()).with("content-encoding", encoding).with("content-length", body.len()))
        });
        let key = access_key(&client(&script)).await.unwrap();
        assert_eq!(key.get("is_active").and_then(Value::as_boolean), Some(true), "{encoding}");
    }
}

#[tokio::test(start_paused = true)]
async fn reply_with_unknown_content_encoding_names_it() {
    let script = Script::new(|_, _| Ok(ok("\u{1b}(").with("content-encoding", "br")));
    let error = access_key(&client(&script)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Transport);
    let words = "`Content-Encoding: br` is unknown; headland accepts gzip and deflate";
    assert!(error.message().contains(words), "{error}");
}

#[tokio::test(start_paused = true)]
async fn invalid_configuration_is_an_error() {
    let script = Script::new(|_, _| Ok(ok(KEY)));
    let refuse = |config: Config| {
        Client::with_parts(config, script.clone(), std::sync::Arc::new(headland::clock::SystemClock)).unwrap_err()
    };
    for (config, word) in [
        (Config { base_url: "http://example.com".to_owned(), ..config() }, "plain http"),
        (Config { shared_secret: headland::secret::Secret::new("not base64 at all"), ..config() }, "base64"),
        (Config { api_key: headland::secret::Secret::new("a\r\nX: 1"), ..config() }, "api_key"),
        (Config { access_key: headland::secret::Secret::new(""), ..config() }, "access_key"),
        (Config { rate_limits: vec![Window { calls: 0, period: Duration::from_secs(1) }], ..config() }, "rate_limits"),
    ] {
        let error = refuse(config);
        assert_eq!(error.kind(), Kind::Configuration, "{error}");
        assert!(error.message().contains(word), "{error}");
    }
    assert_eq!(refuse(Config { page_size: 0, ..config() }).kind(), Kind::Value);
}

/// Futures of calls are `Send`: a runtime of several threads may drive them.
#[test]
fn calls_work_in_any_runtime() {
    fn movable<T: Send>(_: impl FnOnce() -> T) {}
    let script = Script::new(|_, _| Ok(ok(KEY)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let client = runtime.block_on(async { client(&script) });
    let job = || arguments("job_data.download", &[("id", "1")]);
    movable(|| access_key(&client));
    movable(|| {
        let client = client.clone();
        async move { client.download(row("job_data.download"), &job(), headland::client::Target::Memory, None).await }
    });
    movable(|| {
        let client = client.clone();
        async move {
            let file = headland::client::UploadFile { name: "a".to_owned(), content: bytes::Bytes::new() };
            client.upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file).await
        }
    });
    movable(|| {
        let client = client.clone();
        async move {
            let given = arguments("job_data.request", &[("id", "1")]);
            let mut conversion = client.conversion(row("job_data.request"), given)?;
            conversion.wait(None).await?;
            conversion.result(headland::client::Target::Memory).await
        }
    });
}

#[tokio::test(start_paused = true)]
async fn correction_is_reported_once_and_in_the_error_of_a_later_failure() {
    let offset = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(3_600));
    let theirs = offset.clone();
    let script = Script::new(move |_, request| {
        let skew = theirs.load(std::sync::atomic::Ordering::Relaxed);
        let time: i64 = request.headers["x-ss-timestamp"].to_str().unwrap().parse().unwrap();
        let right = (time - START - skew).abs() <= 1;
        Ok(canned(if right { 404 } else { 401 }, "").with("date", date(skew)))
    });
    let client = client(&script);
    for (skew, warnings) in [(3_600, 1), (3_600, 0), (-3_600, 1), (3_600, 0), (-3_600, 0)] {
        offset.store(skew, std::sync::atomic::Ordering::Relaxed);
        let error = access_key(&client).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound, "{error}");
        let measured = error.facts().clock_skew.unwrap();
        assert!((measured - f64::from(i32::try_from(skew).unwrap())).abs() <= 1.0, "{measured}");
        assert_eq!(client.take_warnings().len(), warnings, "{skew}");
    }
}
