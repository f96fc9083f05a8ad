//! The whole service on loopback, with fields of known truth.
//!
//! Not imitated: TLS; the conversion of a display's own files that were uploaded. Three layers: HTTP (`server`, `service`,
//! `checks`, `routes`, `accept`, `patience`, `write`), meaning (`job_data`, `files`, `conversions`, `field_computers`, `field_hubs`,
//! `prescription_maps`, `locations`, `grain_carts`, `delegation`), storage (`store`, `maps`, `store_carts`, `accounts`;
//! `upload_files`; `telemetry` computes instead; `changes` is what whoever runs it does to its jobs). `dispatch` is the same in small, for the dispatch service and the legacy order service.
//!
//! Field computers come online by a timetable: the first of an account in the first ten minutes of every half hour
//! (UTC), the second in the ten minutes after, the third in the last ten; while online, they poll for maps at the
//! minutes that five divides. Hubs report at every 30 seconds and computers at every five minutes, around the clock.

mod access_scope;
mod accounts;
mod authenticate;
mod cart_store;
mod clock;
mod converter;
mod dispatch;
mod encode;
mod encode_job;
mod encode_xml;
mod faults;
mod field_computers;
mod field_hubs;
pub mod fields;
mod grain_carts;
mod job_data;
mod job_edits;
mod job_files;
mod keys;
mod locations;
mod locked;
mod map_store;
mod multipart;
mod negotiate;
mod paging;
mod prescription_maps;
mod query;
mod rate_limit;
mod reply;
mod response;
mod routes;
mod server;
mod service;
mod slow_requests;
mod state;
mod store;
mod store_edits;
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
pub use variants::{VARIANTS, Variant, VariantRow, WILD};

use locked::locked;
use variants::ActiveVariants;

use crate::error::{Error, Kind, Result};
use crate::limiter::Window;

/// How a service is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the state, which then survives a kill and a power cut; without it, memory and temporary files.
    pub data: Option<PathBuf>,
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// What keys and generated accounts follow from.
    pub seed: u64,
    /// How many small jobs the first customer has in place of the usual ones, for tests of many: each has a dozen
    /// records, and the files of every other one need no conversion.
    pub small_jobs: Option<u32>,
    /// The windows of the rate limit; none turns the limit off.
    pub rate_limits: Vec<Window>,
    /// Whether windows slide; otherwise each starts at the first call after the last one ended.
    pub sliding: bool,
    /// How long a conversion takes.
    pub conversion_time: Duration,
    /// Names of [`VARIANTS`]; [`WILD`] turns on all.
    pub variants: Vec<String>,
    /// Whether the clock stands still but for [`Sandbox::advance`].
    pub manual_clock: bool,
}

impl Default for Options {
    /// As the specification says: 30 calls per 60 seconds, no variants; conversions take five seconds.
    fn default() -> Self {
        Self {
            data: None,
            port: 0,
            seed: 0,
            small_jobs: None,
            rate_limits: vec![Window { calls: 30, period: Duration::from_secs(60) }],
            sliding: false,
            conversion_time: Duration::from_secs(5),
            variants: Vec::new(),
            manual_clock: false,
        }
    }
}

/// A running service; dropping it stops it.
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
    /// Starts a service; it takes requests as soon as this returns.
    pub fn start(options: Options) -> Result<Self> {
        let Options { data, port, seed, small_jobs, rate_limits, sliding, conversion_time, variants, manual_clock } =
            options;
        if rate_limits.iter().any(|window| window.calls == 0 || window.period.is_zero()) {
            return Err(Error::new(Kind::Value, "a window of the rate limit needs at least one call and some time"));
        }
        let variants = ActiveVariants::parse(&variants)?;
        let ring = keys::KeyRing::new(seed)?;
        let accounts = Arc::new(accounts::Accounts::new(seed, small_jobs));
        let store = store::Store::open(data.as_deref(), seed)?;
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
        let converter = converter::Converter::new(Arc::clone(&accounts));
        let known = store.upload_files().map_err(map_error)?;
        let uploads = upload_files::UploadFiles::open(data.as_deref(), &known)?;
        let state =
            state::ServiceState { store, uploads, accounts, converter, variants, conversion_time, base, log_start };
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

    /// The base address, without a slash at the end.
    #[must_use]
    pub fn base_url(&self) -> String {
        self.service.state.base.clone()
    }

    /// The address of the dispatch service, without a slash at the end.
    #[must_use]
    pub fn dispatch_url(&self) -> String {
        format!("{}{}", self.base_url(), dispatch::Address::Dispatch.path())
    }

    /// The first address of the legacy order service.
    #[must_use]
    pub fn legacy_dispatch_url(&self) -> String {
        format!("{}{}", self.base_url(), dispatch::Address::LegacyDispatch.path())
    }

    /// The second address of the legacy order service; both share what they remember.
    #[must_use]
    pub fn legacy_orders_url(&self) -> String {
        format!("{}{}", self.base_url(), dispatch::Address::LegacyOrders.path())
    }

    /// The id and the name of each piece of equipment of the customer of `dispatch_token`: no row of the interface
    /// lists them.
    pub fn equipment(&self) -> Result<Vec<(String, String)>> {
        self.names_of(dispatch::Kind::Equipment)
    }

    /// The id and the name of each account of that customer, of which the legacy order service lists products.
    pub fn accounts(&self) -> Result<Vec<(String, String)>> {
        self.names_of(dispatch::Kind::Account)
    }

    fn names_of(&self, kind: dispatch::Kind) -> Result<Vec<(String, String)>> {
        let names = self.service.state.store.list_names(0, kind);
        names.map_err(|error| Error::new(Kind::File, format!("the sandbox cannot read its database: {error}")))
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.service.ring.keys
    }

    /// The time by the service's clock.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.service.clock.now()
    }

    /// Moves the service's clock forward, one that stands still and one that runs.
    pub fn advance(&self, by: Duration) {
        self.service.clock.advance(by);
    }

    /// Lets the next `times` requests to `endpoint`, a full name or `*`, meet a fault of [`FAULTS`].
    pub fn add_fault(&self, endpoint: &str, kind: &str, times: u32) -> Result<()> {
        self.service.faults.add(endpoint, kind, times)
    }

    /// Forgets the faults that are left.
    pub fn clear_faults(&self) {
        self.service.faults.clear();
    }

    /// What arrived, oldest first: the last 100,000 requests.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        locked(&self.service.log).iter().cloned().collect()
    }

    /// The truth of each generated job of the customer of `access_key` that has a shape file.
    pub fn truth(&self) -> Result<Vec<fields::Truth>> {
        self.service.state.accounts.truth(0)
    }

    /// The truth of each generated grain cart file of the customer of `access_key`.
    #[must_use]
    pub fn cart_truth(&self) -> Vec<fields::CartTruth> {
        self.service.state.accounts.carts(0).iter().map(fields::GrainCart::truth).collect()
    }

    /// Stops the service and waits for its thread; what it answers afterwards is what it knew.
    pub fn stop(&mut self) {
        self.server.stop();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop();
    }
}
