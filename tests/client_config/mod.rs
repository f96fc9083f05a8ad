//! Configuration of a client in tests: no rate limit, and the count in memory.

use headland::client::{Config, LimiterState, Timeouts};
use headland::secret::Secret;
use headland::transport::Observer;
use headland::wire::Content;

/// A configuration with API key, shared secret and access key.
pub(crate) fn config_of(base_url: &str, keys: [&str; 3]) -> Config {
    let [api_key, shared_secret, access_key] = keys.map(Secret::new);
    Config {
        base_url: base_url.to_owned(),
        api_key,
        shared_secret,
        access_key,
        dispatch_url: None,
        dispatch_token: None,
        legacy_dispatch_url: None,
        legacy_orders_url: None,
        legacy_token: None,
        rate_limits: Vec::new(),
        limiter_state: LimiterState::Memory,
        accept: Content::Json,
        page_size: 1_000,
        timeout: Timeouts::default(),
        ca_file: None,
        observer: Observer::default(),
    }
}
