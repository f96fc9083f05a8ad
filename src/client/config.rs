//! How a client is set up, and the checks before the first call.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderValue;

use crate::error::{Error, Kind, Result};
use crate::limiter::{DEFAULT_WINDOWS, Window};
use crate::secret::{Secret, SecretKind, Secrets};
use crate::signing::{Credentials, SigningKey};
use crate::wire::Content;

/// The recommended maximum of specification 4.1.
pub(super) const LARGEST_PAGE: u32 = 1_000;

/// How a client is set up; `Client::new` checks it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address of the service.
    pub base_url: String,
    /// The partner's API key.
    pub api_key: Secret,
    /// The partner's shared secret, as base64.
    pub shared_secret: Secret,
    /// The customer's access key.
    pub access_key: Secret,
    /// The address of the dispatch service, for its rows.
    pub dispatch_url: Option<String>,
    /// The token for the dispatch service.
    pub dispatch_token: Option<Token>,
    /// One address of the legacy order service.
    pub legacy_dispatch_url: Option<String>,
    /// The other one, which is taken where both are given.
    pub legacy_orders_url: Option<String>,
    /// The token for the legacy order service.
    pub legacy_token: Option<Token>,
    /// The windows of the limiter. Empty turns it off.
    pub rate_limits: Vec<Window>,
    /// Where the limiter keeps its count.
    pub limiter_state: LimiterState,
    /// The content type that records are asked for in; whatever comes is read.
    pub accept: Content,
    /// Records asked for in a page.
    pub page_size: u32,
    /// How long things may take.
    pub timeout: Timeout,
    /// Certificates that are trusted besides the system's, as PEM.
    pub ca_file: Option<PathBuf>,
}

/// Where a bearer token comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// The same for all calls.
    Fixed(Secret),
    /// Each call brings one, by [`Client::bearing`](super::Client::bearing).
    PerCall,
}

/// Where the limiter keeps its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimiterState {
    /// The file in the user's state folder that all processes share.
    Shared,
    /// A file of the user's choice.
    File(PathBuf),
    /// This client's process alone.
    Memory,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// Opening a connection.
    pub connect: Duration,
    /// Any wait for bytes.
    pub read: Duration,
    /// A call with all its attempts and pauses, and every record, list or error that it brings. Once a file arrives,
    /// `min_throughput` and `read` count in its place.
    pub call: Duration,
    /// Bytes a second that a file must come at, measured over 30 seconds: 1,024. Zero turns the check off.
    pub min_throughput: u64,
}

impl Default for Timeout {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(60),
            call: Duration::from_secs(600),
            min_throughput: 1_024,
        }
    }
}

impl Config {
    /// A configuration with the defaults of the design.
    #[must_use]
    pub fn new(base_url: &str, api_key: Secret, shared_secret: Secret, access_key: Secret) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key,
            shared_secret,
            access_key,
            dispatch_url: None,
            dispatch_token: None,
            legacy_dispatch_url: None,
            legacy_orders_url: None,
            legacy_token: None,
            rate_limits: DEFAULT_WINDOWS.to_vec(),
            limiter_state: LimiterState::Shared,
            accept: Content::Json,
            page_size: LARGEST_PAGE,
            timeout: Timeout::default(),
            ca_file: None,
        }
    }

    /// All secrets, of whichever service.
    pub(super) fn secrets(&self) -> Secrets {
        let tokens = [&self.dispatch_token, &self.legacy_token].into_iter().filter_map(|token| match token {
            Some(Token::Fixed(token)) => Some(token),
            _ => None,
        });
        let keys = Secrets::default()
            .with(SecretKind::ApiKey, &self.api_key)
            .with(SecretKind::AccessKey, &self.access_key)
            .with(SecretKind::SharedSecret, &self.shared_secret);
        tokens.fold(keys, |known, token| known.with(SecretKind::Token, token))
    }

    /// Checks everything but the address, and gives what signs.
    pub(super) fn check(&self) -> Result<Credentials> {
        check_page_size(self.page_size)?;
        for (name, value) in [("api_key", &self.api_key), ("access_key", &self.access_key)] {
            if value.expose().trim().is_empty() {
                return Err(Error::of_setting(name, format!("{name} is empty")));
            }
            if HeaderValue::from_str(value.expose()).is_err() || value.expose().trim() != value.expose() {
                let message = format!("{name} holds a blank, line end or other character that keys do not have");
                return Err(Error::of_setting(name, message));
            }
        }
        for Window { calls, period } in &self.rate_limits {
            if *calls == 0 || period.is_zero() {
                return Err(wrong("rate_limits: a window needs at least one call and a length above zero".to_owned()));
            }
        }
        let Timeout { connect, read, call, .. } = self.timeout;
        if [connect, read, call].iter().any(Duration::is_zero) {
            return Err(wrong("timeout: connect, read and call must be above zero".to_owned()));
        }
        Ok(Credentials {
            api_key: self.api_key.clone(),
            access_key: self.access_key.clone(),
            signing_key: SigningKey::from_base64(self.shared_secret.expose())?,
        })
    }
}

/// Refuses page sizes that the service does not take.
pub(super) fn check_page_size(page_size: u32) -> Result<()> {
    if page_size == 0 {
        let why = "page_size=0, the whole list in one reply, is deprecated by the service: iterate over the pages, \
                   which reads all of them";
        return Err(Error::new(Kind::Value, why));
    }
    if page_size > LARGEST_PAGE {
        let message = format!("page_size={page_size} is above {LARGEST_PAGE}, the largest page that is recommended");
        return Err(Error::new(Kind::Value, message));
    }
    Ok(())
}

fn wrong(message: String) -> Error {
    Error::new(Kind::Configuration, message)
}
