//! What users do with the service: calls, pages, downloads, uploads, conversions.

mod act;
mod arguments;
mod config;
mod conversion;
mod destination;
mod doctor;
mod download;
mod fetch;
mod file_check;
mod file_name;
mod listing;
mod multipart;
mod once;
mod pages;
mod payload;
mod prefetch;
mod products;
mod receive;
mod record;
mod seen;
mod services;
mod upload;
pub mod upload_rules;
mod uploads;
mod uri;

use std::path::Path;
use std::sync::Arc;

use crate::api::Endpoint;
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::limiter::{Budget, Limiter, Place, Window, default_file};
use crate::secret::{Secret, hint};
use crate::transport::{Access, Base, Caller, HttpClient, Jitter, Limits, Notices, Probe, Skew, Transport};
use crate::wire::Value;

pub use arguments::Arguments;
pub use config::{Config, LimiterState, Timeout, Token};
pub use conversion::Conversion;
pub use destination::{Delivered, Target};
pub use doctor::Variation;
pub use fetch::{Decode, OnError, Records};
pub use listing::Listing;
pub use multipart::UploadFile;
pub use once::Asked;
pub use pages::{Pages, Position};
pub use products::{Rows, flatten};
use services::Services;
pub use upload::Created;
use uploads::Uploads;
pub use uri::Followed;

/// A client; cloning shares it.
///
/// Its connections belong to the tokio runtime that first uses them: a second runtime, and a process that was forked,
/// make a client of their own, which shares the budget.
#[derive(Clone)]
pub struct Client {
    config: Arc<Config>,
    caller: Arc<Caller>,
    services: Arc<Services>,
    /// The token of a call to one of those services, where it was not given once for all.
    bearer: Option<Secret>,
    uploads: Arc<Uploads>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Client {
    /// A client of the real service, by the clock of this machine.
    pub fn new(config: Config) -> Result<Self> {
        let mut connections = Connections::default();
        let timeout = config.timeout;
        let ca_file = config.ca_file.clone();
        let connect = move |base: &Base| connections.to(base, timeout, ca_file.as_deref());
        Self::assemble(config, connect, Arc::new(SystemClock), Jitter::Random, Limiter::shared)
    }

    /// A client of any transport and any clock, whose pauses are not varied: for tests.
    pub fn with_parts(config: Config, transport: Arc<dyn Transport>, clock: Arc<dyn Clock>) -> Result<Self> {
        let connect = move |_: &Base| Ok(Arc::clone(&transport));
        Self::assemble(config, connect, clock, Jitter::Fixed, |place, base, key, windows, clock| {
            Limiter::alone(&place, base, key, windows, clock)
        })
    }

    fn assemble(
        config: Config,
        mut connect: impl FnMut(&Base) -> Result<Arc<dyn Transport>>,
        clock: Arc<dyn Clock>,
        jitter: Jitter,
        limiter: impl FnOnce(Place, &str, &str, &[Window], Arc<dyn Clock>) -> Limiter,
    ) -> Result<Self> {
        let base = Base::parse(&config.base_url)?;
        let transport = connect(&base)?;
        let access = Access::Signed(config.check()?);
        let notices = Arc::new(Notices::default());
        let place = place(&config, &notices);
        let limiter = limiter(place, base.as_str(), config.api_key.expose(), &config.rate_limits, Arc::clone(&clock));
        let limits = limits(&config);
        let skew = Arc::new(Skew::default());
        let accept = config.accept;
        let secrets = config.secrets();
        let caller = Caller { base, access, secrets, limiter, clock, transport, skew, notices, limits, jitter, accept };
        let services = Arc::new(Services::new(&config, &caller, connect)?);
        let (config, caller) = (Arc::new(config), Arc::new(caller));
        Ok(Self { config, caller, services, bearer: None, uploads: Arc::default() })
    }

    /// The same client, whose calls to the dispatch service or the legacy order service carry that token; `None` leaves
    /// the one that it was set up with.
    #[must_use]
    pub fn bearing(&self, token: Option<Secret>) -> Self {
        Self { bearer: token, ..self.clone() }
    }

    /// Names the account, for those that keep its data: the base address and the access key as a digest. An access key
    /// is random, so that nobody finds it from the digest.
    #[must_use]
    pub fn account(&self) -> String {
        use sha2::Digest as _;
        use std::fmt::Write as _;
        let key = self.config.access_key.expose();
        let digest = sha2::Sha256::digest(format!("headland account\n{}\n{key}", self.caller.base.as_str()));
        digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Reads a record; null where the service has an empty list in its place.
    pub async fn detail(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
        record::detail(self, row, arguments).await
    }

    /// Reads a record and gives its parts as rows of one table.
    pub async fn rows(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<Rows> {
        products::rows(self, row, arguments).await
    }

    /// The call that an address of a record stands for, on the configured base; no call is made.
    pub fn follow(&self, uri: &str) -> Result<Followed> {
        uri::follow(&self.caller.base, uri)
    }

    /// A list, lazily: no call is made before its `next_page` or `total`.
    pub fn pages(
        &self,
        row: &'static Endpoint,
        arguments: Arguments,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> Result<Pages> {
        Pages::new(self.clone(), row, arguments, page_size, page)
    }

    /// A list of the dispatch service or the legacy order service, lazily, as [`Client::pages`].
    pub fn listing(
        &self,
        row: &'static Endpoint,
        arguments: Arguments,
        page_size: Option<u32>,
        page: Option<u64>,
    ) -> Result<Listing> {
        Listing::new(self.clone(), row, arguments, page_size, page)
    }

    /// Whether the client was told enough to call the row's service: an error names the argument that is missing.
    pub fn knows(&self, row: &'static Endpoint) -> Result<()> {
        self.caller_of(row).map(drop)
    }

    /// Makes a call of the dispatch service or the legacy order service, and gives what it answers; null where that is
    /// nothing.
    pub async fn payload(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
        payload::payload(self, row, arguments).await
    }

    /// Downloads a file, waiting for its conversion until the deadline of the call.
    pub async fn download(&self, row: &'static Endpoint, arguments: &Arguments, target: Target) -> Result<Delivered> {
        download::download(self, row, arguments, target, None).await
    }

    /// The same for a file of at most so many bytes, in place of 4 GiB.
    pub async fn download_within(
        &self,
        row: &'static Endpoint,
        arguments: &Arguments,
        target: Target,
        bytes: u64,
    ) -> Result<Delivered> {
        download::download(self, row, arguments, target, Some(bytes)).await
    }

    /// Asks for something to be done that gives nothing back, such as queuing a map for a field computer.
    pub async fn act(&self, row: &'static Endpoint, arguments: &Arguments) -> Result<()> {
        act::act(self, row, arguments).await
    }

    /// Uploads a file. It is sent once: when its reply is lost, the list is asked what became of it.
    pub async fn upload(&self, row: &'static Endpoint, file: UploadFile) -> Result<Created> {
        self.upload_with(row, &Arguments::new(row, &[])?, file).await
    }

    /// The same, with what goes into the form beside the file.
    pub async fn upload_with(
        &self,
        row: &'static Endpoint,
        arguments: &Arguments,
        file: UploadFile,
    ) -> Result<Created> {
        upload::upload(self, row, arguments, file).await
    }

    /// A handle for a file that the service may have to make first. No call is made yet.
    pub fn conversion(&self, row: &'static Endpoint, arguments: Arguments) -> Result<Conversion> {
        Conversion::new(self.clone(), row, arguments)
    }

    /// The conversion that another process named by [`Conversion::id`].
    pub fn resume(&self, id: &str) -> Result<Conversion> {
        Conversion::resume(self.clone(), id)
    }

    /// Makes a call that takes no arguments once, and tells all that its reply says; for finding out why calls fail.
    pub async fn examine(&self, row: &'static Endpoint, variation: Variation<'_>) -> Result<Probe<Value>> {
        doctor::examine(self, row, variation).await
    }

    /// The base address, and the host as it is sent and signed.
    #[must_use]
    pub fn address(&self) -> (&str, &str) {
        (self.caller.base.as_str(), self.caller.base.host())
    }

    /// Whose time the client goes by.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.caller.clock
    }

    /// Why the budget of calls is not shared with other processes although it should be.
    #[must_use]
    pub fn limiter_trouble(&self) -> Option<String> {
        self.caller.limiter.trouble()
    }

    /// What is left of the rate limit.
    pub fn budget(&self) -> Result<Budget> {
        Ok(self.caller.limiter.budget())
    }

    /// Warnings for the user since the last look.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        let mut warnings = self.caller.notices.take();
        warnings.extend(self.caller.limiter.take_warning());
        warnings
    }

    /// One line for `repr`, without secrets.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "Client(base_url={:?}, api_key={:?}, access_key={:?})",
            self.caller.base.as_str(),
            hint(self.config.api_key.expose()),
            hint(self.config.access_key.expose())
        )
    }

    fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Who calls the row's service; an error names the argument of the client that is missing.
    fn caller_of(&self, row: &'static Endpoint) -> Result<Caller> {
        let other = self.services.caller(row, self.bearer.as_ref())?;
        Ok(other.unwrap_or_else(|| self.caller().clone()))
    }

    fn config(&self) -> &Config {
        &self.config
    }
}

/// One pool of connections for each way to connect: certificates are read from disk once.
#[derive(Default)]
struct Connections {
    made: Vec<((bool, bool), Arc<dyn Transport>)>,
}

impl Connections {
    fn to(&mut self, base: &Base, timeout: Timeout, ca_file: Option<&Path>) -> Result<Arc<dyn Transport>> {
        let way = (base.is_https(), base.is_loopback());
        if let Some((_, known)) = self.made.iter().find(|(made, _)| *made == way) {
            return Ok(Arc::clone(known));
        }
        let fresh: Arc<dyn Transport> = Arc::new(HttpClient::new(base, timeout.connect, timeout.read, ca_file)?);
        self.made.push((way, Arc::clone(&fresh)));
        Ok(fresh)
    }
}

fn limits(config: &Config) -> Limits {
    let Timeout { connect, read, call, min_throughput } = config.timeout;
    Limits { connect, read, call, min_throughput }
}

fn place(config: &Config, notices: &Notices) -> Place {
    if config.rate_limits.is_empty() {
        return Place::Memory;
    }
    match &config.limiter_state {
        LimiterState::Memory => Place::Memory,
        LimiterState::File(path) => Place::File(path.clone()),
        LimiterState::Shared => default_file().map_or_else(
            || {
                notices.add(
                    "this system names no folder for state (no HOME), so the budget of calls is kept in this process \
                     alone; pass a path as limiter_state to share it"
                        .to_owned(),
                );
                Place::Memory
            },
            Place::File,
        ),
    }
}
