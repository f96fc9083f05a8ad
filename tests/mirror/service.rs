//! Runs the local service and its client on one simulated time. The time stops while a request is in flight, and jumps
//! to the next timer when both are idle.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::StreamExt as _;
use headland::client::{Client, Config};
use headland::clock::{Clock, Sleep};
use headland::limiter::Window;
use headland::mirror::{Mirror, Options as MirrorOptions};
use headland::sandbox::{Options, Request as Arrived, Sandbox};
use headland::transport::{BaseUrl, Fault, HttpClient, Reply, Request, SendFuture, Transport};

use crate::client_config::config_of;

/// Both windows of specification 8.
pub(crate) const WINDOWS: [Window; 2] =
    [Window { calls: 30, period: Duration::from_secs(60) }, Window { calls: 15, period: Duration::from_secs(30) }];

/// A service, the time that it shares with its clients, and a folder for a mirror.
pub(crate) struct Service {
    pub(crate) sandbox: Arc<Sandbox>,
    time: Arc<Time>,
    folder: tempfile::TempDir,
}

/// Tokio's paused time, which the service's clock follows.
struct Time {
    start: tokio::time::Instant,
    began: DateTime<Utc>,
    sandbox: Arc<Sandbox>,
    /// How far the service's clock was moved.
    moved: Mutex<Duration>,
    /// How far the wall clock of the client is ahead.
    ahead: Mutex<Duration>,
}

impl Time {
    fn settle(&self) {
        let mut moved = self.moved.lock().unwrap();
        let passed = self.start.elapsed();
        self.sandbox.advance(passed.saturating_sub(*moved));
        *moved = passed;
    }
}

impl Clock for Time {
    fn now(&self) -> DateTime<Utc> {
        self.began + self.start.elapsed() + *self.ahead.lock().unwrap()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The real connection. Paused time does not move while a blocking task runs, and there is one for each request.
struct HoldingTransport {
    inner: HttpClient,
    time: Arc<Time>,
}

/// Stops the time until the sender is dropped.
pub(crate) fn hold_time() -> Sender<()> {
    let (sender, receiver) = channel::<()>();
    tokio::task::spawn_blocking(move || receiver.recv());
    sender
}

impl Transport for HoldingTransport {
    fn send(&self, request: Request) -> SendFuture<'_> {
        Box::pin(async move {
            let held = hold_time();
            self.time.settle();
            let Reply { status, headers, body } = self.inner.send(request).await?;
            let body = body.map(move |chunk: Result<_, Fault>| {
                let _ = &held;
                chunk
            });
            Ok(Reply { status, headers, body: Box::pin(body) })
        })
    }
}

impl Service {
    /// A service with a simulated clock, and a folder for a mirror that does not exist yet.
    pub(crate) fn start(options: Options) -> Self {
        let sandbox = Arc::new(Sandbox::start(Options { manual_clock: true, ..options }).unwrap());
        let time = Time {
            start: tokio::time::Instant::now(),
            began: sandbox.now(),
            sandbox: Arc::clone(&sandbox),
            moved: Mutex::default(),
            ahead: Mutex::default(),
        };
        Self { sandbox, time: Arc::new(time), folder: tempfile::tempdir().unwrap() }
    }

    /// The folder of the mirror.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("farm")
    }

    pub(crate) fn client(&self, windows: &[Window]) -> Client {
        self.client_by(&self.sandbox.keys().access_key, windows)
    }

    pub(crate) fn client_by(&self, access_key: &str, windows: &[Window]) -> Client {
        self.client_with(access_key, |config| config.rate_limits = windows.to_vec())
    }

    pub(crate) fn client_with(&self, access_key: &str, change: impl FnOnce(&mut Config)) -> Client {
        let keys = self.sandbox.keys();
        let mut config = config_of(&self.sandbox.base_url(), [&keys.api_key, &keys.shared_secret, access_key]);
        change(&mut config);
        let base = BaseUrl::parse(&config.base_url).unwrap();
        let inner = HttpClient::new(&base, Duration::from_secs(10), Duration::from_secs(60), None).unwrap();
        let transport = HoldingTransport { inner, time: Arc::clone(&self.time) };
        Client::with_parts(config, Arc::new(transport), Arc::clone(&self.time) as Arc<dyn Clock>).unwrap()
    }

    pub(crate) fn mirror(&self, windows: &[Window], options: MirrorOptions) -> Mirror {
        Mirror::open(&self.path(), Some(self.client(windows)), options).unwrap()
    }

    /// The time since the service was started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.time.elapsed()
    }

    /// Advances the time.
    pub(crate) async fn wait(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
        self.time.settle();
    }

    /// Sets the wall clocks of the client and the service forward, as after a laptop's sleep. Timers are not affected.
    pub(crate) fn jump(&self, duration: Duration) {
        *self.time.ahead.lock().unwrap() += duration;
        self.sandbox.advance(duration);
    }

    /// Sets the wall clock of the client ahead of the service's.
    pub(crate) fn ahead(&self, duration: Duration) {
        *self.time.ahead.lock().unwrap() = duration;
    }

    /// The number of received requests.
    pub(crate) fn count(&self) -> usize {
        self.sandbox.requests().len()
    }

    /// The requests after the first `skip`.
    pub(crate) fn since(&self, skip: usize) -> Vec<Arrived> {
        self.sandbox.requests().split_off(skip)
    }
}

/// Whether a small job is one of those that a service with many jobs adds later: their ids grow by one.
pub(crate) fn is_spare(id: &str, first: u64) -> bool {
    id.parse::<u64>().unwrap() >= 100_000_000_000_000 + first
}

/// Whether a request of the log asks for a file.
pub(crate) fn is_file(request: &Arrived) -> bool {
    request.query.to_ascii_lowercase().contains("format=")
}

/// A copy of a folder's files, by their relative paths.
pub(crate) fn tree(folder: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut queue = vec![folder.to_owned()];
    while let Some(path) = queue.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                queue.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A zip with one member.
pub(crate) fn zip_of(member: &str, content: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(content).unwrap();
    zip.finish().unwrap().into_inner()
}
