//! Connects headland's client to the service, both on the service's clock, so that waits of minutes take no time.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests expect by unwrapping")]

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use headland::api::{self, Endpoint};
use headland::client::{Arguments, Client, Delivered, Target, Timeouts, Token, UploadFile};
use headland::clock::{Clock, Sleep};
use headland::limiter::Window;
use headland::sandbox::fields::Coverage;
use headland::sandbox::{Options, Sandbox};
use headland::secret::Secret;
use headland::transport::{BaseUrl, HttpClient};
use headland::wire::{Content, Value};

use super::client_config::config_of;
use super::raw_client::{generated, options, start, zip_of};

/// The service's clock; each sleep advances it.
struct ServiceTime(Arc<Sandbox>);

impl Clock for ServiceTime {
    fn now(&self) -> DateTime<Utc> {
        self.0.now()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let sandbox = Arc::clone(&self.0);
        Box::pin(async move {
            // Longer sleeps than any pause of these tests are deadlines, which must not end first.
            if duration > Duration::from_secs(240) {
                pending::<()>().await;
            }
            tokio::task::yield_now().await;
            sandbox.advance(duration);
        })
    }
}

pub(crate) fn client(sandbox: &Arc<Sandbox>, windows: &[Window]) -> Client {
    client_that_accepts(Content::Json, sandbox, windows)
}

pub(crate) fn client_that_accepts(accept: Content, sandbox: &Arc<Sandbox>, windows: &[Window]) -> Client {
    let keys = sandbox.keys();
    client_of(accept, [&keys.api_key, &keys.shared_secret, &keys.access_key], sandbox, windows, Timeouts::default())
}

/// A client whose calls have this deadline.
pub(crate) fn client_with_deadline(call: Duration, sandbox: &Arc<Sandbox>, windows: &[Window]) -> Client {
    let keys = [&sandbox.keys().api_key, &sandbox.keys().shared_secret, &sandbox.keys().access_key].map(String::as_str);
    client_of(Content::Json, keys, sandbox, windows, Timeouts { call, ..Timeouts::default() })
}

/// A client without a limit, with another access key.
pub(crate) fn client_with_key(access_key: &str, sandbox: &Arc<Sandbox>) -> Client {
    let keys = sandbox.keys();
    client_of(Content::Json, [&keys.api_key, &keys.shared_secret, access_key], sandbox, &[], Timeouts::default())
}

/// The same with another API key or another secret.
pub(crate) fn client_with_secret(api_key: &str, secret: &str, sandbox: &Arc<Sandbox>) -> Client {
    client_of(Content::Json, [api_key, secret, &sandbox.keys().access_key], sandbox, &[], Timeouts::default())
}

fn client_of(
    accept: Content,
    keys: [&str; 3],
    sandbox: &Arc<Sandbox>,
    windows: &[Window],
    timeout: Timeouts,
) -> Client {
    let mut config = config_of(&sandbox.base_url(), keys);
    config.rate_limits = windows.to_vec();
    // On this clock a sleep of up to 240 s ends immediately. Bounds of a body must be longer, or disabled.
    config.timeout = Timeouts { read: Duration::from_secs(300), min_throughput: 0, ..timeout };
    config.accept = accept;
    let token = || Some(Token::Fixed(Secret::new(sandbox.keys().dispatch_token.as_str())));
    (config.dispatch_url, config.dispatch_token) = (Some(sandbox.dispatch_url()), token());
    (config.legacy_orders_url, config.legacy_token) = (Some(sandbox.legacy_orders_url()), token());
    let base = BaseUrl::parse(&config.base_url).unwrap();
    let transport = HttpClient::new(&base, Duration::from_secs(10), Duration::from_secs(60), None).unwrap();
    Client::with_parts(config, Arc::new(transport), Arc::new(ServiceTime(Arc::clone(sandbox)))).unwrap()
}

pub(crate) fn row(name: &str) -> &'static Endpoint {
    api::row(name).unwrap()
}

pub(crate) fn arguments_for(name: &str, given: &[(&str, &str)]) -> Arguments {
    let given: Vec<_> = given.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Arguments::new(row(name), &given).unwrap()
}

pub(crate) async fn list(client: &Client, name: &str) -> Vec<Value> {
    let mut pages = client.pages(row(name), arguments_for(name, &[]), Some(7), None).unwrap();
    let mut records = Vec::new();
    while let Some(page) = pages.next_page().await.unwrap() {
        records.extend(page);
    }
    records
}

async fn detail(client: &Client, id: &str) -> Value {
    client.detail(row("job_data.get"), &arguments_for("job_data.get", &[("id", id)])).await.unwrap()
}

pub(crate) async fn file(client: &Client, id: &str, format: &str) -> Vec<u8> {
    let arguments = arguments_for("job_data.download", &[("id", id), ("format", format)]);
    match client.download(row("job_data.download"), &arguments, Target::Memory, None).await.unwrap() {
        Delivered::Bytes(bytes) => bytes,
        Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
    }
}

pub(crate) fn id_of(record: &Value) -> String {
    record.get("id").and_then(Value::as_text).unwrap().to_owned()
}

/// A sprayer's job with coverage: those are small.
pub(crate) fn small_job() -> String {
    generated()
        .jobs
        .iter()
        .find(|job| job.coverage == Coverage::Recorded && job.sub_type == "Sprayer")
        .unwrap()
        .id
        .clone()
}

/// The fields without addresses.
fn without_addresses(record: &Value) -> Vec<(String, Value)> {
    let Value::Record(fields) = record else { panic!("no record: {record:?}") };
    let is_address = |name: &str| name == "uri" || name == "available_files";
    let mut fields: Vec<_> = fields
        .iter()
        .filter(|(name, _)| !is_address(name))
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect();
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    fields
}

#[tokio::test]
async fn service_with_all_variants_returns_the_same_records_and_files() {
    let wild = Options { variants: vec!["wild".to_owned()], ..options() };
    let (plain, wild) = (Arc::new(start(options())), Arc::new(start(wild)));
    let (of_plain, of_wild) = (client(&plain, &[]), client(&wild, &[]));
    for name in ["job_data.list", "field_computers.list"] {
        let (expected, found) = (list(&of_plain, name).await, list(&of_wild, name).await);
        assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(without_addresses(expected), without_addresses(found));
        }
    }
    for job in list(&of_plain, "job_data.list").await.iter().take(20) {
        let id = id_of(job);
        let (expected, found) = (detail(&of_plain, &id).await, detail(&of_wild, &id).await);
        assert_eq!(products(&expected), products(&found));
        assert_eq!(without_products(&expected), without_products(&found));
    }
    let id = small_job();
    assert_eq!(file(&of_wild, &id, "SHP").await, file(&of_plain, &id, "SHP").await);
    let upload = UploadFile { name: "a.jdp.zip".to_owned(), content: zip_of("a.shp", b"x").into() };
    let created = of_wild.upload(row("job_data.upload"), &arguments_for("job_data.upload", &[]), upload).await.unwrap();
    assert_eq!(id_of(&list(&of_wild, "job_data.list").await[0]), created.id);
}

fn products(job: &Value) -> Vec<Vec<(String, Value)>> {
    match job.get("products") {
        Some(Value::List(products)) => products.iter().map(without_products).collect(),
        other => panic!("no products: {other:?}"),
    }
}

/// Nested lists contain records whose fields have another order.
fn without_products(record: &Value) -> Vec<(String, Value)> {
    let mut fields = without_addresses(record);
    fields.retain(|(_, value)| !matches!(value, Value::List(_)));
    fields
}

#[tokio::test]
async fn pull_waits_for_conversions_and_windows_without_a_429() {
    let windows = [(30, 60), (15, 30)].map(|(calls, seconds)| Window { calls, period: Duration::from_secs(seconds) });
    for sliding in [false, true] {
        let sandbox = Arc::new(start(Options { rate_limits: windows.to_vec(), sliding, ..options() }));
        let begin = sandbox.now();
        let client = client(&sandbox, &windows);
        for job in list(&client, "job_data.list").await {
            detail(&client, &id_of(&job)).await;
        }
        let calls = sandbox.requests().len();
        assert!(calls > 60);
        assert!(sandbox.requests().iter().all(|request| request.status == 200), "sliding: {sliding}");
        let least = Duration::from_secs(30 * (calls as u64).div_ceil(15).saturating_sub(1));
        let took = (sandbox.now() - begin).to_std().unwrap();
        assert!(took >= least && took < least + Duration::from_secs(10), "{calls} calls in {took:?}");
        let asked = sandbox.now();
        assert!(file(&client, &small_job(), "SHP").await.starts_with(b"PK"));
        assert!(sandbox.now() - asked >= chrono::TimeDelta::seconds(30), "the conversion's time");
    }
}

#[tokio::test]
async fn client_recovers_from_every_transient_fault() {
    let sandbox = Arc::new(start(Options { conversion_time: Duration::ZERO, ..options() }));
    let client = client(&sandbox, &[]);
    let id = small_job();
    let expected = file(&client, &id, "BIN").await;
    for kind in ["too-many-requests", "unavailable", "more-time", "reset", "lost-reply", "truncated"] {
        sandbox.add_fault("job_data.download", kind, 1).unwrap();
        assert_eq!(file(&client, &id, "BIN").await, expected, "{kind}");
    }
    let before = list(&client, "job_data.list").await.len();
    sandbox.add_fault("job_data.upload", "lost-reply", 1).unwrap();
    let upload = UploadFile { name: "once.jdp.zip".to_owned(), content: zip_of("a.shp", b"x").into() };
    let created = client.upload(row("job_data.upload"), &arguments_for("job_data.upload", &[]), upload).await.unwrap();
    let after = list(&client, "job_data.list").await;
    assert_eq!((after.len(), id_of(&after[0])), (before + 1, created.id));
    sandbox.add_fault("*", "skew", 2).unwrap();
    assert_eq!(file(&client, &id, "BIN").await, expected);
    assert_eq!(client.take_warnings().len(), 1);
}
