//! HTTP transport and the attempt loop: one request, its reply, and the retry policy.

mod activity;
mod attempts;
mod auth;
mod base_url;
mod body;
mod body_timeout;
mod certificate;
mod classify;
mod connections;
mod context;
mod error_body;
mod faults;
mod http_client;
mod location;
mod proxy;
mod reply_masking;
mod retry_policy;
mod single_attempt;
mod skew;
mod system_certificates;
mod timeouts;
mod wait_messages;
mod warnings;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use http::HeaderMap;

use headland_api::Method;

pub use activity::{Event, Observe, Observer, Waiting};
pub use attempts::{AttemptResult, Attempts, LARGEST_RECORD};
pub use auth::Auth;
pub use base_url::{BaseUrl, redacted};
pub use body::{Body, is_truncated_document, unmarked_end_fault};
pub use certificate::Certificate;
pub use classify::{Classified, classify_response};
pub use connections::Connections;
pub use context::{Call, Jitter, QueueTime, ServiceContext};
pub use http_client::HttpClient;
pub use location::NextLink;
pub use proxy::{ignored_proxy, proxy_for};
pub use retry_policy::Outcome;
pub use single_attempt::Probe;
pub use skew::Skew;
pub use timeouts::Timeouts;
pub use warnings::Warnings;

/// A request with its credentials, ready to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// The complete address, with the query.
    pub url: String,
    /// All headers except `Host` and `Content-Length`.
    pub headers: HeaderMap,
    /// The body; `None` for requests without one.
    pub body: Option<Bytes>,
}

/// The body of a reply as a stream.
pub type BodyStream = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// A reply whose body is not read yet.
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers as received.
    pub headers: HeaderMap,
    /// The bytes as received, before `Content-Encoding` is decoded.
    pub body: BodyStream,
}

/// A reply whose body was read completely.
#[derive(Clone, Debug)]
pub struct FullResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the reply marks the end of its body, so that the body is known to be complete.
    pub is_framed: bool,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).field("headers", &self.headers).finish_non_exhaustive()
    }
}

/// The stage at which an exchange failed. It decides whether a retry is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The request could not be built, for example because the address is too long. Nothing was sent.
    Request,
    /// The host name cannot be resolved. Nothing was sent.
    Name,
    /// No connection: port, route or proxy. Nothing was sent.
    Connect,
    /// No connection, because no process listens on the port. Nothing was sent.
    Refused,
    /// The TLS handshake failed, for example because of an untrusted certificate. Nothing was sent.
    Tls,
    /// No bytes within the timeout; the service may have received the request.
    Timeout,
    /// The connection broke before a reply; the service may have received the request.
    Reset,
    /// The body of the reply is incomplete.
    Truncated,
}

/// A failed exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The stage at which it failed.
    pub kind: FaultKind,
    /// The message of the lower layer.
    pub message: String,
}

/// The future of one exchange.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send + 'a>>;

/// Sends one request and returns the reply, whose body is a stream.
pub trait Transport: Send + Sync + 'static {
    /// Sends the request once, without redirects or retries.
    fn send(&self, request: Request) -> SendFuture<'_>;

    /// The proxy of requests to `base`, without its password.
    fn proxy(&self, _base: &BaseUrl) -> Option<String> {
        None
    }

    /// Closes the idle connections that no other client uses. A later request opens a new one.
    fn close(&self) {}
}
