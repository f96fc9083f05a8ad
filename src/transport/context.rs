//! What all calls to a service have in common: where to, who proves, who grants, whose time; and the request of one.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::base_url::Address;
use super::retry_policy::RetryClass;
use super::skew::Stamp;
use super::{Auth, BaseUrl, NextLink, Request, Skew, Transport, Warnings};
use crate::api::{Endpoint, Method};
use crate::clock::Clock;
use crate::error::{Error, Kind, Result};
use crate::limiter::Limiter;
use crate::secret::Secrets;
use crate::wire::Content;

/// Everything that calls to a service have in common.
#[derive(Clone)]
pub struct ServiceContext {
    /// Where the service is.
    pub base: BaseUrl,
    /// How requests prove who sends them.
    pub auth: Auth,
    /// What no reply may show.
    pub secrets: Secrets,
    /// Who grants.
    pub limiter: Limiter,
    /// Whose time counts.
    pub clock: Arc<dyn Clock>,
    /// Who sends.
    pub transport: Arc<dyn Transport>,
    /// What was learnt about our clock.
    pub skew: Arc<Skew>,
    /// Where warnings go.
    pub warnings: Arc<Warnings>,
    /// How long a call may take.
    pub timeouts: Timeouts,
    /// How pauses are varied.
    pub jitter: Jitter,
    /// The content type that is asked for (specification 4.5).
    pub accept: Content,
}

impl std::fmt::Debug for ServiceContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceContext").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For opening a connection.
    pub connect: Duration,
    /// For every wait for bytes.
    pub read: Duration,
    /// For a call with all its attempts and pauses, and the bodies of its replies but for files.
    pub call: Duration,
    /// The least throughput of a file, in bytes a second.
    pub min_throughput: u64,
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
    /// The address of the next page as the service gave it, in place of path and query.
    pub next: Option<NextLink>,
    /// Content type and bytes of the request.
    pub content: Option<(String, Bytes)>,
}

impl ServiceContext {
    /// Proves itself with `stamp`, the time of this moment: a wait for the limiter may outlast the life of a signature.
    pub(super) fn request(&self, call: &Call, class: RetryClass, stamp: Stamp) -> Result<Request> {
        let method = call.row.method;
        let address = call.address(&self.base);
        // As many as a request has with those of the connection, so that the map never grows.
        let mut headers = HeaderMap::with_capacity(12);
        self.auth.authenticate(&mut headers, &self.base, method, &address.path, stamp.time.timestamp())?;
        headers.insert(ACCEPT, HeaderValue::from_static(self.accept.media_type()));
        let encodings = if class == RetryClass::File { "identity" } else { "gzip, deflate" };
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encodings));
        if !self.auth.is_signed() && matches!(method, Method::Post | Method::Put) {
            // The dispatch service may answer with the object or with nothing (field notes): this asks for the object.
            headers.insert(HeaderName::from_static("prefer"), HeaderValue::from_static("return=representation"));
        }
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
}

impl Call {
    /// Where it goes.
    fn address(&self, base: &BaseUrl) -> Address {
        if let Some(next) = &self.next {
            return next.address();
        }
        let query: Vec<(&str, &str)> = self.query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        base.address(&self.path, &query)
    }
}
