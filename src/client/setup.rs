//! The client and its construction: keys, connections, rate limiter, clock and services.

use std::sync::Arc;

use super::config::{Config, LimiterState};
use super::dispatch_services::Services;
use super::own_uploads::OwnUploads;
use crate::limiter::{Budget, Limiter, StoreLocation, Window, default_file};
use crate::transport::{
    Auth, BaseUrl, Connections, HttpClient, Jitter, QueueTime, ServiceContext, Skew, Timeouts, Transport, Warnings,
};
use headland_api::Endpoint;
use headland_base::clock::{Clock, SystemClock};
use headland_base::error::Result;
use headland_base::hex::hex;
use headland_base::secret::{Secret, hint};

/// The reason for an unshared budget if there is no folder for its file.
const NO_FOLDER: &str = "this system has no folder for state (no HOME), so only this process counts its calls; pass a \
     path as limiter_state to share the budget";

/// A client; clones share their state.
///
/// Its connections belong to the tokio runtime that first uses them. A second runtime, and a forked process, need a
/// client of their own, which shares the budget.
#[derive(Clone)]
pub struct Client {
    config: Arc<Config>,
    context: Arc<ServiceContext>,
    services: Arc<Services>,
    /// The token of a call to one of those services, if it is not configured as a fixed token.
    token: Option<Secret>,
    pub(super) own_uploads: Arc<OwnUploads>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Client {
    /// A client of the real service, with the clock of this machine.
    pub fn new(config: Config) -> Result<Self> {
        Self::with_connections(config, &Connections::default())
    }

    /// Same as [`Client::new`], but shares connections with other clients of the same runtime.
    pub fn with_connections(config: Config, connections: &Connections) -> Result<Self> {
        let Timeouts { connect, read, .. } = config.timeout;
        let (connections, ca_file) = (connections.clone(), config.ca_file.clone());
        let connect = move |base: &BaseUrl| -> Result<Arc<dyn Transport>> {
            Ok(Arc::new(HttpClient::shared(&connections, base, connect, read, ca_file.as_deref())?))
        };
        Self::assemble(config, connect, Arc::new(SystemClock), Jitter::Random, Limiter::shared)
    }

    /// A client with any transport and clock and without jitter, for tests.
    pub fn with_parts(config: Config, transport: Arc<dyn Transport>, clock: Arc<dyn Clock>) -> Result<Self> {
        let connect = move |_: &BaseUrl| Ok(Arc::clone(&transport));
        Self::assemble(config, connect, clock, Jitter::Fixed, |store_location, base, key, windows, clock| {
            Limiter::unshared(&store_location, base, key, windows, clock)
        })
    }

    fn assemble(
        config: Config,
        mut connect: impl FnMut(&BaseUrl) -> Result<Arc<dyn Transport>>,
        clock: Arc<dyn Clock>,
        jitter: Jitter,
        limiter: impl FnOnce(StoreLocation, &str, &str, &[Window], Arc<dyn Clock>) -> Limiter,
    ) -> Result<Self> {
        let base = BaseUrl::parse(&config.base_url)?;
        let transport = connect(&base)?;
        let auth = Auth::Signed(config.check()?);
        let warnings = Arc::new(Warnings::default());
        let store_location = store_location(&config, &warnings);
        let limiter =
            limiter(store_location, base.as_str(), config.api_key.expose(), &config.rate_limits, Arc::clone(&clock));
        let timeouts = config.timeout;
        let skew = Arc::new(Skew::default());
        let accept = config.accept;
        let (secrets, observer) = (config.secrets(), config.observer.clone());
        let context = ServiceContext {
            base,
            auth,
            secrets,
            limiter,
            clock,
            transport,
            skew,
            warnings,
            observer,
            timeouts,
            jitter,
            accept,
            queue_time: QueueTime::Counted,
        };
        let services = Arc::new(Services::new(&config, &context, connect)?);
        let (config, context) = (Arc::new(config), Arc::new(context));
        Ok(Self { config, context, services, token: None, own_uploads: Arc::default() })
    }

    /// The same client with a token for calls to the dispatch service or the legacy order service. `None` keeps the
    /// configured token.
    #[must_use]
    pub fn with_token(&self, token: Option<Secret>) -> Self {
        Self { token, ..self.clone() }
    }

    /// The same client whose waits for the rate limit do not count against the timeout of a call, for many calls whose
    /// end is not urgent.
    #[must_use]
    pub fn with_free_queue_time(&self) -> Self {
        let context = ServiceContext { queue_time: QueueTime::Free, ..self.context.as_ref().clone() };
        Self { context: Arc::new(context), ..self.clone() }
    }

    /// Identifies the account, for stored copies of its data: a digest of the base address and the access key. An
    /// access key is random, so it cannot be guessed from the digest.
    #[must_use]
    pub fn account(&self) -> String {
        use sha2::Digest as _;
        let key = self.config.access_key.expose();
        hex(&sha2::Sha256::digest(format!("headland account\n{}\n{key}", self.context.base.as_str())))
    }

    /// Closes the connections that no other client uses. They end when their runtime is next driven.
    pub fn close(&self) {
        self.context.transport.close();
        self.services.close();
    }

    /// Checks that the row's service is configured; the error names the missing argument.
    pub fn check_service(&self, row: &'static Endpoint) -> Result<()> {
        self.context_for(row).map(drop)
    }

    /// The base address, and the host as it is sent and signed.
    #[must_use]
    pub fn address(&self) -> (&str, &str) {
        (self.context.base.as_str(), self.context.base.host())
    }

    /// The clock of the client.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.context.clock
    }

    /// Why the budget is not shared with other processes although it should be.
    #[must_use]
    pub fn budget_not_shared_reason(&self) -> Option<String> {
        let lacks_folder = lacks_folder(&self.config);
        self.context.limiter.not_shared_reason().or_else(|| lacks_folder.then(|| NO_FOLDER.to_owned()))
    }

    /// The unused part of the rate limit.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.context.limiter.budget()
    }

    /// Returns the warnings since the last call.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        let mut warnings = self.context.warnings.take();
        warnings.extend(self.context.limiter.take_warning());
        warnings
    }

    /// One line for `repr`, without secrets.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "Client(base_url={:?}, api_key={:?}, access_key={:?})",
            self.context.base.as_str(),
            hint(self.config.api_key.expose()),
            hint(self.config.access_key.expose())
        )
    }

    pub(super) fn context(&self) -> &ServiceContext {
        &self.context
    }

    /// The context of the row's service; the error names the missing argument of the client.
    pub(super) fn context_for(&self, row: &'static Endpoint) -> Result<ServiceContext> {
        let other = self.services.context(row, self.token.as_ref())?;
        Ok(other.unwrap_or_else(|| self.context().clone()))
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }
}

fn store_location(config: &Config, warnings: &Warnings) -> StoreLocation {
    if config.rate_limits.is_empty() {
        return StoreLocation::Memory;
    }
    match &config.limiter_state {
        LimiterState::Memory => StoreLocation::Memory,
        LimiterState::File(path) => StoreLocation::File(path.clone()),
        LimiterState::Shared => default_file().map_or_else(
            || {
                warnings.add(NO_FOLDER.to_owned());
                StoreLocation::Memory
            },
            StoreLocation::File,
        ),
    }
}

/// Whether the budget should be shared, but the system names no folder for it.
fn lacks_folder(config: &Config) -> bool {
    !config.rate_limits.is_empty() && config.limiter_state == LimiterState::Shared && default_file().is_none()
}
