//! The local sandbox service on loopback, with synthetic fields of known truth.
//!
//! Not supported: TLS, and the conversion of uploaded display files.
//!
//! Modules by layer:
//!
//! - HTTP: `server`, `service`, `authenticate`, `routes`, `negotiate`, `rate_limit`, `response`.
//! - Endpoints: `job_data`, `job_files`, `field_computers`, `field_hubs`, `prescription_maps`,
//!   `locations`, `grain_carts`, `access_scope`.
//! - Storage: `database`, `map_store`, `cart_store`, `accounts`, `upload_files`. `telemetry` computes its records from the
//!   clock. `job_changes` changes jobs on behalf of tests.
//! - `dispatch` has the same layers for the dispatch service and the legacy order service.
//!
//! Field computers are online by a timetable. Computer 1 of an account is online in the first ten minutes of each half
//! hour (UTC). Computer 2 is online in the next ten minutes, computer 3 in the last ten. An online computer polls for
//! maps at each minute divisible by five. Hubs report every 30 seconds and computers every five minutes, day and night.

mod access_scope;
mod accounts;
mod authenticate;
mod cart_store;
mod clock;
mod database;
mod database_job_changes;
mod dispatch;
mod encode;
mod encode_job;
mod encode_xml;
mod faults;
mod field_computers;
mod field_hubs;
pub mod fields;
mod grain_carts;
mod job_changes;
mod job_data;
mod job_files;
mod keys;
mod locations;
mod locked;
mod map_store;
mod multipart;
mod negotiate;
mod paging;
mod prescription_maps;
mod private_files;
mod query;
mod rate_limit;
mod reply;
mod response;
mod routes;
mod server;
mod service;
mod service_state;
mod spray_jobs;
mod telemetry;
mod upload_check;
mod upload_files;
mod variants;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};

pub use faults::{EVERY_ENDPOINT, FAULTS, Fault, FaultRow};
pub use keys::Keys;
pub use service::Request;
pub use spray_jobs::SprayedJob;
pub use variants::{VARIANTS, Variant, VariantRow, WILD};

use locked::locked;
use variants::ActiveVariants;

use headland_base::error::{Error, Kind, Result};
use headland_client::limiter::Window;
use headland_reader::layer::Cancel;

/// Settings of the service.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder of the state, which survives a killed process and a power failure. `None` keeps the state in memory and
    /// temporary files.
    pub data: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 selects a free port.
    pub port: u16,
    /// Seed of the keys and of the generated accounts.
    pub seed: u64,
    /// How harvests are written; logged ones come with tank mixes. Small jobs are always ideal.
    pub harvest: fields::HarvestStyle,
    /// Number of small jobs that replace the usual jobs of the first customer, for tests with many jobs. Each has a
    /// dozen records; the files of each second job are available without a wait.
    pub small_jobs: Option<u32>,
    /// Windows of the rate limit; an empty list disables the limit.
    pub rate_limits: Vec<Window>,
    /// Whether windows slide. A fixed window starts at the first call after the previous window ended.
    pub sliding: bool,
    /// Duration of a conversion, on the service's clock.
    pub conversion_time: Duration,
    /// Names of [`VARIANTS`]; [`WILD`] enables all that change no value.
    pub variants: Vec<String>,
    /// Whether the clock is manual: it moves only by [`Sandbox::advance`].
    pub manual_clock: bool,
    /// Ends the start, which takes seconds with logged harvests.
    pub cancel: Cancel,
}

impl Default for Options {
    /// The values of the specification: 30 calls per 60 seconds, no variants. Conversions take five seconds.
    fn default() -> Self {
        Self {
            data: None,
            port: 0,
            seed: 0,
            harvest: fields::HarvestStyle::Ideal,
            small_jobs: None,
            rate_limits: vec![Window { calls: 30, period: Duration::from_secs(60) }],
            sliding: false,
            conversion_time: Duration::from_secs(5),
            variants: Vec::new(),
            manual_clock: false,
            cancel: Cancel::default(),
        }
    }
}

/// A running service. Dropping it stops the service.
pub struct Sandbox {
    service: Arc<service::Service>,
    server: server::Server,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("base_url", &self.base_url()).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Starts a service. It accepts requests when this returns.
    pub fn start(options: Options) -> Result<Self> {
        let Options { data, port, seed, harvest, small_jobs, .. } = options;
        let Options { rate_limits, sliding, conversion_time, variants, manual_clock, cancel, .. } = options;
        if rate_limits.iter().any(|window| window.calls == 0 || window.period.is_zero()) {
            return Err(Error::new(Kind::Value, "a window of the rate limit needs at least one call and some time"));
        }
        if small_jobs.is_some() && harvest == fields::HarvestStyle::Logged {
            return Err(Error::new(
                Kind::Value,
                "small jobs are ideal harvests: use either small jobs or logged harvests",
            ));
        }
        let variants = ActiveVariants::parse(&variants)?;
        let ring = keys::KeyRing::new(seed)?;
        let mut style = fields::AccountStyle::from(harvest);
        style.tank_mixes |= variants.has(Variant::TankMixes);
        let store = database::Database::open(data.as_deref(), seed)?;
        store.check_harvest(harvest)?;
        let accounts = accounts::Accounts::new(seed, style, small_jobs, &cancel)?;
        let clock = clock::ServiceClock::new(manual_clock);
        let fill = || {
            for customer in 0..keys::CUSTOMERS {
                store.add_generated(customer, accounts.stored_jobs(customer))?;
                store.add_generated_maps(customer, accounts.maps(customer))?;
                store.add_generated_carts(customer, accounts.stored_carts(customer))?;
            }
            dispatch::fill(&store, seed)?;
            store.first_start(clock.now())
        };
        let map_error =
            |error: rusqlite::Error| Error::new(Kind::File, format!("the sandbox cannot write its database: {error}"));
        let log_start = fill().map(telemetry::log_start).map_err(map_error)?;
        let (listener, port) = server::bind(port)?;
        let base = format!("http://127.0.0.1:{port}");
        let known = store.upload_files().map_err(map_error)?;
        let uploads = upload_files::UploadFiles::open(data.as_deref(), &known)?;
        let state =
            service_state::ServiceState { store, uploads, accounts, variants, conversion_time, base, log_start };
        let service = Arc::new(service::Service {
            ring,
            clock,
            faults: faults::Faults::default(),
            rate_limit: Mutex::new(rate_limit::RateLimit::new(&rate_limits, sliding)),
            log: Mutex::default(),
            state: Arc::new(state),
            port,
        });
        let server = server::Server::start(listener, Arc::clone(&service))?;
        Ok(Self { service, server })
    }

    /// Base URL without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        self.service.state.base.clone()
    }

    /// URL of the dispatch service without a trailing slash.
    #[must_use]
    pub fn dispatch_url(&self) -> String {
        format!("{}{}", self.base_url(), dispatch::Address::Dispatch.path())
    }

    /// First URL of the legacy order service.
    #[must_use]
    pub fn legacy_dispatch_url(&self) -> String {
        format!("{}{}", self.base_url(), dispatch::Address::LegacyDispatch.path())
    }

    /// Second URL of the legacy order service. Both URLs share one state.
    #[must_use]
    pub fn legacy_orders_url(&self) -> String {
        format!("{}{}", self.base_url(), dispatch::Address::LegacyOrders.path())
    }

    /// Ids and names of the equipment of the customer of `dispatch_token`. No endpoint lists them.
    pub fn equipment(&self) -> Result<Vec<(String, String)>> {
        self.names_of(dispatch::Kind::Equipment)
    }

    /// Ids and names of that customer's accounts. The legacy order service lists products by account.
    pub fn accounts(&self) -> Result<Vec<(String, String)>> {
        self.names_of(dispatch::Kind::Account)
    }

    fn names_of(&self, kind: dispatch::Kind) -> Result<Vec<(String, String)>> {
        let names = self.service.state.store.list_names(0, kind);
        names.map_err(|error| Error::new(Kind::File, format!("the sandbox cannot read its database: {error}")))
    }

    /// Keys and tokens that the service accepts.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.service.ring.keys
    }

    /// Current time on the service's clock.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.service.clock.now()
    }

    /// Moves the service's clock forward, whether it is manual or running.
    pub fn advance(&self, span: Duration) {
        self.service.clock.advance(span);
    }

    /// Applies a fault of [`FAULTS`] to the next `times` requests to `endpoint`, a full name or `*`.
    pub fn add_fault(&self, endpoint: &str, kind: &str, times: u32) -> Result<()> {
        self.service.faults.add(endpoint, kind, times)
    }

    /// Removes the pending faults.
    pub fn clear_faults(&self) {
        self.service.faults.clear();
    }

    /// Received requests, oldest first; the last 100,000 are logged.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        locked(&self.service.log).iter().cloned().collect()
    }

    /// Truth of each generated job with a shapefile, for the customer of `access_key`.
    pub fn truth(&self) -> Result<Vec<fields::Truth>> {
        self.service.state.accounts.truth(0)
    }

    /// True map of a job with a logged harvest, for that customer, in square cells with a side in metres.
    pub fn harvest_grid(&self, job_id: &str, cell: f64) -> Result<fields::HarvestGrid> {
        self.service.state.accounts.harvest_grid(0, job_id, cell)
    }

    /// Truth of each generated grain cart file of the customer of `access_key`.
    #[must_use]
    pub fn cart_truth(&self) -> Vec<fields::CartTruth> {
        self.service.state.accounts.carts(0).iter().map(fields::GrainCart::truth).collect()
    }

    /// Stops the service and waits for its thread. Accessors then return the last state.
    pub fn stop(&mut self) {
        self.server.stop();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop();
    }
}
