//! Context that all calls to a service share, and the request of one call.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

use super::activity::Waiting;
use super::base_url::Address;
use super::classify::Classified;
use super::faults::classify_fault;
use super::retry_policy::RetryClass;
use super::skew::Stamp;
use super::timeouts::Timeouts;
use super::{Auth, BaseUrl, Fault, NextLink, Observer, Reply, Request, Skew, Transport, Warnings};
use crate::limiter::Limiter;
use headland_api::{Endpoint, Method};
use headland_base::clock::Clock;
use headland_base::error::{Error, Kind, Result};
use headland_base::secret_masking::Secrets;
use headland_wire::Content;

/// The parts that all calls to a service share.
#[derive(Clone)]
pub struct ServiceContext {
    /// Base address of the service.
    pub base: BaseUrl,
    /// Authentication.
    pub auth: Auth,
    /// Secrets that are masked in replies.
    pub secrets: Secrets,
    /// Rate limiter.
    pub limiter: Limiter,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// HTTP transport.
    pub transport: Arc<dyn Transport>,
    /// Measured clock difference.
    pub skew: Arc<Skew>,
    /// Warnings for the user.
    pub warnings: Arc<Warnings>,
    /// Receives requests and waits.
    pub observer: Observer,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// Variation of pauses.
    pub jitter: Jitter,
    /// The content type that requests accept (specification 4.5).
    pub accept: Content,
    /// Whether waits for the rate limit count against the timeout of a call.
    pub queue_time: QueueTime,
}

impl std::fmt::Debug for ServiceContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceContext").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// Variation of pauses, so that clients that failed together do not retry at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Between half of a pause and the whole pause.
    Random,
    /// No variation, for tests.
    Fixed,
}

/// Whether waits for the rate limit of this client count against the timeout of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueTime {
    /// They do.
    #[default]
    Counted,
    /// Only waits that the service requests do. A sync has many calls, all of which get their turn.
    Free,
}

/// One call of a row.
#[derive(Clone, Debug)]
pub struct Call {
    /// The endpoint.
    pub row: &'static Endpoint,
    /// The encoded path below the base.
    pub path: String,
    /// The query.
    pub query: Vec<(&'static str, String)>,
    /// The address of the next page as sent by the service, instead of path and query.
    pub next: Option<NextLink>,
    /// Content type and bytes of the body.
    pub content: Option<(String, Bytes)>,
}

impl Call {
    /// The id in the path: what stands where the path of the endpoint has a parameter.
    pub(super) fn id(&self) -> Option<String> {
        let mut parts = self.row.path.split('/').zip(self.path.split('/'));
        let (_, id) = parts.find(|(name, _)| name.starts_with('{'))?;
        Some(percent_decode_str(id).decode_utf8_lossy().into_owned())
    }
}

impl ServiceContext {
    /// A wait of a call that is not reported yet.
    #[must_use]
    pub fn waiting(&self) -> Waiting<'_> {
        Waiting::new(&self.observer, &*self.clock)
    }

    /// Classifies a fault of a request to this service.
    pub(super) fn classify_fault(&self, fault: &Fault) -> Classified {
        classify_fault(fault, self.base.host(), self.transport.proxy(&self.base).as_deref())
    }

    /// Reports a request that was answered or failed.
    pub(super) fn report_request(
        &self,
        call: &Call,
        attempt: u32,
        sent_at: Duration,
        sent: &std::result::Result<Reply, Fault>,
    ) {
        self.observer.report_request(|| {
            let outcome = match sent {
                Ok(reply) => format!("status {}", reply.status),
                Err(fault) => fault.message.clone(),
            };
            let (name, method, path) = (call.row.full_name, call.row.method.as_str(), &call.path);
            let milliseconds = self.clock.elapsed().saturating_sub(sent_at).as_millis();
            let attempt = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            let text = format!("{name}: {method} {path}, {outcome} after {milliseconds} ms{attempt}");
            self.secrets.mask(&text).into_owned()
        });
    }

    /// Builds the request, signed with the current time in `stamp`: waiting for the limiter may take longer than a
    /// signature is valid.
    pub(super) fn request(&self, call: &Call, class: RetryClass, stamp: Stamp) -> Result<Request> {
        let method = call.row.method;
        let address = call.address(&self.base);
        // Enough for all headers of a request and its connection, so that the map never grows.
        let mut headers = HeaderMap::with_capacity(12);
        self.auth.authenticate(&mut headers, &self.base, method, &address.path, stamp.time.timestamp())?;
        headers.insert(ACCEPT, HeaderValue::from_static(self.accept.media_type()));
        let encodings = if class == RetryClass::File { "identity" } else { "gzip, deflate" };
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encodings));
        if !self.auth.is_signed() && matches!(method, Method::Post | Method::Put) {
            // The dispatch service may answer with the object or without a body (field notes). This header requests the
            // object (RFC 7240, section 4.2: <https://www.rfc-editor.org/rfc/rfc7240#section-4.2>).
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
    /// The address of the request.
    fn address(&self, base: &BaseUrl) -> Address {
        if let Some(next) = &self.next {
            return next.address();
        }
        let query: Vec<(&str, &str)> = self.query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        base.address(&self.path, &query)
    }
}
