//! Configuration of a client, and its checks before the first call.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderValue;

use crate::limiter::Window;
use crate::signing::{Credentials, SigningKey};
use crate::transport::{Observer, Timeouts};
use headland_base::error::{Error, Kind, Result};
use headland_base::secret::Secret;
use headland_base::secret_masking::{SecretKind, Secrets};
use headland_wire::Content;

/// The recommended maximum page size (specification 4.1).
pub(super) const LARGEST_PAGE: u32 = 1_000;

/// Configuration of a client; `Client::new` checks it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address of the field data API.
    pub base_url: String,
    /// The partner's API key.
    pub api_key: Secret,
    /// The partner's shared secret, as base64.
    pub shared_secret: Secret,
    /// The customer's access key.
    pub access_key: Secret,
    /// The address of the dispatch service.
    pub dispatch_url: Option<String>,
    /// The token for the dispatch service.
    pub dispatch_token: Option<Token>,
    /// One address of the legacy order service.
    pub legacy_dispatch_url: Option<String>,
    /// Another address of the legacy order service, which takes precedence.
    pub legacy_orders_url: Option<String>,
    /// The token for the legacy order service.
    pub legacy_token: Option<Token>,
    /// The windows of the rate limiter. An empty list disables it.
    pub rate_limits: Vec<Window>,
    /// Where the rate limiter stores its count.
    pub limiter_state: LimiterState,
    /// The content type that requests accept; replies of either type are read.
    pub accept: Content,
    /// Records per page.
    pub page_size: u32,
    /// Timeouts.
    pub timeout: Timeouts,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Receives requests and waits.
    pub observer: Observer,
}

/// The source of a bearer token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// One token for all calls.
    Fixed(Secret),
    /// A new token for each call, set by [`Client::with_token`](super::Client::with_token).
    PerCall,
}

/// Where the rate limiter stores its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimiterState {
    /// The file in the user's state folder, shared by all processes.
    Shared,
    /// A given file.
    File(PathBuf),
    /// The memory of this process.
    Memory,
}

impl Config {
    /// The secrets of all services.
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

    /// Checks all settings except the address, and returns the signing credentials.
    pub fn check(&self) -> Result<Credentials> {
        check_page_size(self.page_size)?;
        for (name, value) in [("api_key", &self.api_key), ("access_key", &self.access_key)] {
            if value.expose().trim().is_empty() {
                return Err(Error::for_setting(name, format!("{name} is empty")));
            }
            if HeaderValue::from_str(value.expose()).is_err() || value.expose().trim() != value.expose() {
                let message = format!("{name} contains a blank, line end or other character that keys cannot contain");
                return Err(Error::for_setting(name, message));
            }
        }
        for Window { calls, period } in &self.rate_limits {
            if *calls == 0 || period.is_zero() {
                return Err(wrong("rate_limits: a window needs at least one call and a length above zero".to_owned()));
            }
        }
        let Timeouts { connect, read, call, .. } = self.timeout;
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

/// Checks a page size against the range of the service.
pub(super) fn check_page_size(page_size: u32) -> Result<()> {
    if page_size == 0 {
        let why = "page_size=0, the whole list in one reply, is deprecated by the service: iterate over the pages, \
                   which reads all of them";
        return Err(Error::new(Kind::Value, why));
    }
    if page_size > LARGEST_PAGE {
        let message = format!("page_size={page_size} is above {LARGEST_PAGE}, the largest recommended page");
        return Err(Error::new(Kind::Value, message));
    }
    Ok(())
}

fn wrong(message: String) -> Error {
    Error::new(Kind::Configuration, message)
}
