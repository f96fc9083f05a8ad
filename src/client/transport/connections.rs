//! Connection pools that the clients of one runtime share: one for each kind of address, CA file and proxy.

use std::error::Error as _;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

use super::BaseUrl;
use super::system_certificates::{certificates_without_file, unreadable_certificates};
use headland_base::error::{Error, Result};

/// Connections that are idle for longer are not reused: servers close them, and the next request would be lost.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// How often all ready tasks of a runtime run until closed connections have ended.
const SETTLING_TURNS: usize = 8;

/// Variables that a pool reads when it is opened.
const VARIABLES: [&str; 10] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Pools with their settings.
type Pools = Vec<(Settings, Weak<Client>)>;

/// The open pools of one runtime in one process. Clones share them.
///
/// A pool is closed with the last client that uses it.
#[derive(Clone, Default)]
pub struct Connections {
    pools: Arc<Mutex<Pools>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

/// The settings of a pool. Clients with equal ones share it. The variables may contain the password of a proxy.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Settings {
    is_https: bool,
    is_loopback: bool,
    connect: Duration,
    /// The content of `ca_file`, which may be replaced while a program runs.
    extra: Vec<u8>,
    variables: Vec<Option<OsString>>,
}

impl Settings {
    pub(super) fn new(base: &BaseUrl, connect: Duration, ca_file: Option<&Path>) -> Result<Self> {
        let extra = ca_file.map(read_certificates).transpose()?.unwrap_or_default();
        let variables = VARIABLES.iter().map(std::env::var_os).collect();
        Ok(Self { is_https: base.is_https(), is_loopback: base.is_loopback(), connect, extra, variables })
    }

    fn build(&self) -> Result<Client> {
        // Fails only if the process has already installed a provider, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = Client::builder()
                .user_agent(concat!("headland/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .no_gzip()
                .no_deflate()
                .connect_timeout(self.connect)
                .pool_idle_timeout(IDLE_TIMEOUT)
                .https_only(self.is_https);
            if self.is_loopback { builder.no_proxy() } else { builder }
        };
        let mut extra = Certificate::from_pem_bundle(&self.extra).unwrap_or_default();
        let client = if !self.is_https {
            builder().tls_certs_only(Vec::new()).build()
        } else if let Some(mut system) = certificates_without_file() {
            system.append(&mut extra);
            builder().tls_certs_only(system).build()
        } else {
            match builder().tls_certs_merge(extra.clone()).build() {
                // Without system certificates, the given ones can still be trusted.
                Err(_) if !extra.is_empty() => builder().tls_certs_only(extra).build(),
                other => other,
            }
        };
        client.map_err(|error| match unreadable_certificates() {
            Some(why) => Error::for_setting("SSL_CERT_FILE", format!("cannot set up TLS: {why}; correct or unset it")),
            None => Error::for_setting(
                "certificates",
                format!(
                    "cannot set up TLS: {}. Install the system's CA certificates or pass ca_file",
                    root_cause(&error)
                ),
            ),
        })
    }
}

impl Connections {
    /// Lets the tasks of closed connections run in their runtime: each notices it, shuts down and ends.
    pub async fn settle() {
        for _ in 0..SETTLING_TURNS {
            tokio::task::yield_now().await;
        }
    }

    /// The pool with these settings: an open one, or a new one.
    pub(super) fn open(&self, settings: &Settings) -> Result<Arc<Client>> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|(_, pool)| pool.strong_count() > 0);
        if let Some(pool) = pools.iter().find(|(known, _)| known == settings).and_then(|(_, pool)| pool.upgrade()) {
            return Ok(pool);
        }
        let pool = Arc::new(settings.build()?);
        pools.push((settings.clone(), Arc::downgrade(&pool)));
        Ok(pool)
    }
}

fn read_certificates(path: &Path) -> Result<Vec<u8>> {
    let wrong = |why: &str| Error::for_setting("ca_file", format!("ca_file `{}` {why}", path.display()));
    let pem = std::fs::read(path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let found = Certificate::from_pem_bundle(&pem).unwrap_or_default();
    if found.is_empty() { Err(wrong("contains no certificates in PEM format")) } else { Ok(pem) }
}

/// The last cause is the most specific; the first line of reqwest only repeats the address.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut last = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        last = cause.to_string();
        source = cause.source();
    }
    last
}
