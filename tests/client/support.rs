//! Provides a transport that answers from a script, and a clock on tokio's paused time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::{StreamExt as _, stream};
use headland::api::{self, Endpoint};
use headland::client::{Arguments, Client, Config};
use headland::clock::{Clock, Sleep};
use headland::transport::{BodyStream, Fault, FaultKind, Reply, Request, SendFuture, Transport};

use crate::client_config::config_of;

pub(crate) const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// 2026-09-21T14:13:20Z.
pub(crate) const START: i64 = 1_790_000_000;

/// Chunks that are generated as they are read.
pub(crate) type Chunks = Box<dyn Iterator<Item = Result<Bytes, Fault>> + Send>;

/// A scripted reply.
pub(crate) struct Canned {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) chunks: Vec<Result<Bytes, Fault>>,
    /// Whether the body never ends.
    pub(crate) hangs: bool,
    /// Whether the body arrives byte by byte, with this pause before each.
    pub(crate) drips: Option<Duration>,
    /// A pause before each chunk.
    pub(crate) steps: Option<Duration>,
    /// Repeats endlessly in place of the chunks.
    pub(crate) endless: Option<Chunks>,
    /// Whether the body ends with its connection: neither chunks nor `Content-Length` mark its end.
    pub(crate) is_unframed: bool,
}

pub(crate) fn canned(status: u16, body: impl Into<Vec<u8>>) -> Canned {
    let chunks = vec![Ok(Bytes::from(body.into()))];
    let (headers, hangs, is_unframed) = (Vec::new(), false, false);
    Canned { status, headers, chunks, hangs, drips: None, steps: None, endless: None, is_unframed }
}

pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Canned {
    canned(200, body)
}

impl Canned {
    pub(crate) fn with(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// The same with another value of that header.
    pub(crate) fn replacing(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.with(name, value)
    }
}

pub(crate) fn fault(kind: FaultKind) -> Fault {
    Fault { kind, message: "as scripted".to_owned() }
}

type Answer = dyn FnMut(usize, &Request) -> Result<Canned, Fault> + Send;

/// Answers each request, and records it.
pub(crate) struct Script {
    answer: Mutex<Box<Answer>>,
    pub(crate) requests: Mutex<Vec<Request>>,
    /// Latencies of the requests, repeated from the first after the last.
    latencies: Vec<Duration>,
}

impl Script {
    pub(crate) fn new(answer: impl FnMut(usize, &Request) -> Result<Canned, Fault> + Send + 'static) -> Arc<Self> {
        Self::slow(Duration::ZERO, answer)
    }

    pub(crate) fn slow(
        latency: Duration,
        answer: impl FnMut(usize, &Request) -> Result<Canned, Fault> + Send + 'static,
    ) -> Arc<Self> {
        Self::uneven(vec![latency], answer)
    }

    /// Answers in another order than the requests, with these latencies in turn.
    pub(crate) fn uneven(
        latencies: Vec<Duration>,
        answer: impl FnMut(usize, &Request) -> Result<Canned, Fault> + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { answer: Mutex::new(Box::new(answer)), requests: Mutex::default(), latencies })
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub(crate) fn request(&self, index: usize) -> Request {
        self.requests.lock().unwrap()[index].clone()
    }
}

impl Transport for Script {
    fn send(&self, request: Request) -> SendFuture<'_> {
        Box::pin(async move {
            let number = self.count();
            self.requests.lock().unwrap().push(request.clone());
            tokio::time::sleep(self.latencies[number % self.latencies.len()]).await;
            let canned = (self.answer.lock().unwrap())(number, &request)?;
            let mut headers: http::HeaderMap =
                canned.headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            if !canned.is_unframed && !headers.contains_key("content-length") {
                headers.insert("transfer-encoding", http::HeaderValue::from_static("chunked"));
            }
            let pause = canned.drips.or(canned.steps).unwrap_or_default();
            let chunks = canned.endless.unwrap_or_else(|| Box::new(canned.chunks.into_iter()));
            let chunks: Chunks = if canned.drips.is_some() { Box::new(chunks.flat_map(bytewise)) } else { chunks };
            let chunks = stream::iter(chunks).then(move |chunk| async move {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                chunk
            });
            let body: BodyStream =
                if canned.hangs { Box::pin(chunks.chain(stream::pending())) } else { Box::pin(chunks) };
            Ok(Reply { status: canned.status, headers, body })
        })
    }
}

/// The same bytes one by one.
fn bytewise(chunk: Result<Bytes, Fault>) -> impl Iterator<Item = Result<Bytes, Fault>> {
    let bytes = chunk.unwrap();
    (0..bytes.len()).map(move |at| Ok(bytes.slice(at..=at)))
}

pub(crate) struct Paused(tokio::time::Instant);

impl Clock for Paused {
    fn now(&self) -> DateTime<Utc> {
        let passed = i64::try_from(self.0.elapsed().as_micros()).unwrap();
        DateTime::from_timestamp_micros(START * 1_000_000 + passed).unwrap()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

pub(crate) fn config() -> Config {
    config_of("https://api.example.com/V1/", ["ApiKeyAbC123", SECRET, "AccessKeyXyZ789"])
}

pub(crate) fn client_of(config: Config, script: &Arc<Script>) -> Client {
    Client::with_parts(config, script.clone(), Arc::new(Paused(tokio::time::Instant::now()))).unwrap()
}

pub(crate) fn client(script: &Arc<Script>) -> Client {
    client_of(config(), script)
}

pub(crate) fn row(name: &str) -> &'static Endpoint {
    api::row(name).unwrap()
}

pub(crate) fn arguments(name: &str, given: &[(&str, &str)]) -> Arguments {
    let given: Vec<(&str, String)> = given.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    Arguments::new(row(name), &given).unwrap()
}

/// Seconds of simulated time since `start`.
pub(crate) fn seconds(start: tokio::time::Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

/// The value of a query parameter of a request.
pub(crate) fn query(request: &Request, name: &str) -> Option<String> {
    let (_, query) = request.url.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))).map(str::to_owned)
}

/// A zip with one member.
pub(crate) fn zip_of(content: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("a/job.shp", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap().into_inner()
}
