//! What all calls of a client have in common: where to, who signs, who grants, whose time; and the signing of one.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::table::Class;
use super::{Base, Notices, Request, Skew, Transport};
use crate::api::Endpoint;
use crate::clock::Clock;
use crate::error::{Error, Kind, Result};
use crate::limiter::Limiter;
use crate::secret::hint;
use crate::signing::{Credentials, Signed};
use crate::wire::Content;

/// Everything that calls have in common.
#[derive(Clone)]
pub struct Caller {
    /// Where the service is.
    pub base: Base,
    /// Who signs.
    pub credentials: Credentials,
    /// Who grants.
    pub limiter: Limiter,
    /// Whose time counts.
    pub clock: Arc<dyn Clock>,
    /// Who sends.
    pub transport: Arc<dyn Transport>,
    /// What was learnt about our clock.
    pub skew: Arc<Skew>,
    /// Where warnings go.
    pub notices: Arc<Notices>,
    /// How long a call may take.
    pub limits: Limits,
    /// How pauses are varied.
    pub jitter: Jitter,
    /// The content type that is asked for (specification 4.5).
    pub accept: Content,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For opening a connection.
    pub connect: Duration,
    /// For every wait for bytes.
    pub read: Duration,
    /// For a call with all its attempts and pauses.
    pub call: Duration,
}

/// How pauses are varied, so that clients that failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Between half of a pause and all of it.
    Random,
    /// Not at all: for tests.
    Fixed,
}

/// One call of a row.
#[derive(Clone, Debug)]
pub struct Call {
    /// The row.
    pub row: &'static Endpoint,
    /// The encoded path below the base.
    pub path: String,
    /// The query.
    pub query: Vec<(&'static str, String)>,
    /// Content type and bytes of the request.
    pub content: Option<(String, Bytes)>,
}

impl Caller {
    /// Signs with the time of this moment: a wait for the limiter may outlast the life of a signature.
    pub(super) fn sign(&self, call: &Call, class: Class, correction: i64) -> Result<Request> {
        let Caller { base, credentials, clock, .. } = self;
        let query: Vec<(&str, &str)> = call.query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let address = base.address(&call.path, &query);
        let timestamp = clock.now().timestamp().saturating_add(correction);
        let (api_key, access_key) = (credentials.api_key.expose(), credentials.access_key.expose());
        let method = call.row.method;
        let signed =
            Signed { method: method.as_str(), host: base.host(), path: &address.path, timestamp, api_key, access_key };
        let signature = signed.signature(&credentials.signing_key);
        let encodings = if class == Class::File { "identity" } else { "gzip, deflate" };
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-ss-apikey", api_key),
            ("x-ss-accesskey", access_key),
            ("x-ss-signature", &signature),
            ("x-ss-timestamp", &timestamp.to_string()),
        ] {
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                Error::new(Kind::Configuration, format!("the value for {name} holds characters that cannot be sent"))
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        headers.insert(ACCEPT, HeaderValue::from_static(self.accept.media_type()));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encodings));
        let body = match &call.content {
            Some((media_type, bytes)) => {
                let media_type = HeaderValue::from_str(media_type)
                    .map_err(|_| Error::new(Kind::Value, "the content type cannot be sent"))?;
                headers.insert(CONTENT_TYPE, media_type);
                Some(bytes.clone())
            }
            None => None,
        };
        Ok(Request { method, url: address.url, headers, body })
    }

    /// A text of the service without our keys, should it repeat them.
    #[must_use]
    pub fn without_keys(&self, text: &str) -> String {
        [&self.credentials.api_key, &self.credentials.access_key].iter().fold(text.to_owned(), |text, key| {
            let key = key.expose();
            if key.is_empty() { text } else { text.replace(key, &hint(key)) }
        })
    }
}
