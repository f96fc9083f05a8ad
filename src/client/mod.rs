//! What users do with the service: calls, pages, downloads, uploads, conversions.

mod act;
mod arguments;
mod config;
mod conversion;
mod destination;
mod download;
mod fetch;
mod file_check;
mod file_name;
mod multipart;
mod pages;
mod prefetch;
mod products;
mod receive;
mod record;
mod seen;
mod upload;
pub mod upload_rules;
mod uploads;
mod uri;

use std::sync::Arc;

use crate::api::Endpoint;
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::limiter::{Budget, Limiter, Place, Window, default_file};
use crate::secret::hint;
use crate::transport::{Base, Caller, HttpClient, Jitter, Limits, Notices, Skew, Transport};
use crate::wire::Value;

pub use arguments::Arguments;
pub use config::{Config, LimiterState, Timeout};
pub use conversion::Conversion;
pub use destination::{Delivered, Target};
pub use fetch::{Decode, Records};
pub use multipart::UploadFile;
pub use pages::Pages;
pub use products::Rows;
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
        let base = Base::parse(&config.base_url)?;
        let transport = Arc::new(connections(&base, &config)?);
        Self::assemble(config, base, transport, Arc::new(SystemClock), Jitter::Random, Limiter::shared)
    }

    /// A client of any transport and any clock, whose pauses are not varied: for tests.
    pub fn with_parts(config: Config, transport: Arc<dyn Transport>, clock: Arc<dyn Clock>) -> Result<Self> {
        let base = Base::parse(&config.base_url)?;
        Self::assemble(config, base, transport, clock, Jitter::Fixed, |place, base, key, windows, clock| {
            Limiter::alone(&place, base, key, windows, clock)
        })
    }

    fn assemble(
        config: Config,
        base: Base,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        jitter: Jitter,
        limiter: impl FnOnce(Place, &str, &str, &[Window], Arc<dyn Clock>) -> Limiter,
    ) -> Result<Self> {
        let credentials = config.check()?;
        let notices = Arc::new(Notices::default());
        let place = place(&config, &notices);
        let limiter = limiter(place, base.as_str(), config.api_key.expose(), &config.rate_limits, Arc::clone(&clock));
        let limits = limits(&config);
        let skew = Arc::new(Skew::default());
        let accept = config.accept;
        let caller = Caller { base, credentials, limiter, clock, transport, skew, notices, limits, jitter, accept };
        Ok(Self { config: Arc::new(config), caller: Arc::new(caller), uploads: Arc::default() })
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

    /// Downloads a file, waiting for its conversion until the deadline of the call.
    pub async fn download(&self, row: &'static Endpoint, arguments: &Arguments, target: Target) -> Result<Delivered> {
        download::download(self, row, arguments, target).await
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

    fn config(&self) -> &Config {
        &self.config
    }
}

fn connections(base: &Base, config: &Config) -> Result<HttpClient> {
    HttpClient::new(base, config.timeout.connect, config.timeout.read, config.ca_file.as_deref())
}

fn limits(config: &Config) -> Limits {
    Limits { connect: config.timeout.connect, read: config.timeout.read, call: config.timeout.call }
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
