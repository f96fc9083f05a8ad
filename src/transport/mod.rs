//! One request to one reply, and the loop that decides what to do with it.

mod attempts;
mod auth;
mod base_url;
mod body;
mod body_timeout;
mod certificate;
mod classify;
mod context;
mod error_body;
mod http_client;
mod location;
mod probe;
mod reply_masking;
mod retry_policy;
mod skew;
mod wait_errors;
mod warnings;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use http::HeaderMap;

use crate::api::Method;

pub use attempts::{AttemptResult, Attempts, FullResponse, LARGEST_RECORD};
pub use auth::Auth;
pub use base_url::{BaseUrl, redacted};
pub use body::{Body, is_truncated_document, unmarked_end_fault};
pub use certificate::Certificate;
pub use classify::{Classified, classify_response};
pub use context::{Call, Jitter, ServiceContext, Timeouts};
pub use http_client::{HttpClient, proxy_for};
pub use location::NextLink;
pub use probe::Probe;
pub use retry_policy::Outcome;
pub use skew::Skew;
pub use warnings::Warnings;

/// A request with what proves who sends it, ready to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// The whole address, with the query.
    pub url: String,
    /// Every header but `Host` and `Content-Length`.
    pub headers: HeaderMap,
    /// The body; `None` for requests that carry nothing.
    pub body: Option<Bytes>,
}

/// The body of a reply as it arrives.
pub type BodyStream = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// A reply, its body still on the way.
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers as sent.
    pub headers: HeaderMap,
    /// The bytes as sent, before any `Content-Encoding` is undone.
    pub body: BodyStream,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).field("headers", &self.headers).finish_non_exhaustive()
    }
}

/// Where an exchange failed; it decides what may be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The request could not be built, as for an address that is too long. Nothing was sent.
    Request,
    /// Nobody knows the name of the host. Nothing was sent.
    Name,
    /// No connection: port, route, proxy. Nothing was sent.
    Connect,
    /// The same, because nothing listens on the port. Nothing was sent.
    Refused,
    /// The TLS handshake failed, as with an untrusted certificate. Nothing was sent.
    Tls,
    /// Nothing came within the time-out; the request may have arrived.
    Timeout,
    /// The connection broke before a reply came; the request may have arrived.
    Reset,
    /// The body of the reply ended early.
    Truncated,
}

/// A failed exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it failed.
    pub kind: FaultKind,
    /// What the layer below said.
    pub message: String,
}

/// The future of one exchange.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send + 'a>>;

/// Sends one request and gives the reply; the body of a reply is a stream.
pub trait Transport: Send + Sync + 'static {
    /// Sends the request once. Redirects are not followed and nothing is repeated.
    fn send(&self, request: Request) -> SendFuture<'_>;
}
