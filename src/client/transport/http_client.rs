//! HTTP client: always checks certificates, never follows redirects, and limits the time of each wait.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Client;

use super::connections::{Connections, Settings, root_cause};
use super::proxy::proxy_for;
use super::system_certificates::unreadable_certificates;
use super::{BaseUrl, BodyStream, Fault, FaultKind, Reply, Request, SendFuture, Transport};
use headland_base::error::{Error, Result};

/// Bytes per second; a slower upload counts as stalled.
const MIN_UPLOAD_RATE: u64 = 8 * 1024;

/// The connections of one client to servers of one kind, which it may share with other clients of its runtime.
///
/// A connection is driven by the tokio runtime that opened it, and belongs to the process that opened it. Each runtime
/// needs its own [`Connections`], and so does a process after a fork.
pub struct HttpClient {
    connections: Connections,
    settings: Settings,
    /// The pool; `None` after [`Transport::close`], until the next request.
    pool: Mutex<Option<Arc<Client>>>,
    connect: Duration,
    read: Duration,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

impl HttpClient {
    /// Configures connections to `base`. The certificates in `ca_file` are trusted in addition to the system's.
    pub fn new(base: &BaseUrl, connect: Duration, read: Duration, ca_file: Option<&Path>) -> Result<Self> {
        Self::shared(&Connections::default(), base, connect, read, ca_file)
    }

    /// Same as [`HttpClient::new`], but shares `connections` with other clients.
    pub fn shared(
        connections: &Connections,
        base: &BaseUrl,
        connect: Duration,
        read: Duration,
        ca_file: Option<&Path>,
    ) -> Result<Self> {
        let settings = Settings::new(base, connect, ca_file)?;
        let pool = connections.open(&settings)?;
        Ok(Self { connections: connections.clone(), settings, pool: Mutex::new(Some(pool)), connect, read })
    }

    /// The pool, opened again after a close.
    fn open(&self) -> std::result::Result<Arc<Client>, Fault> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pool.as_ref() {
            return Ok(Arc::clone(pool));
        }
        let failed = |error: Error| Fault { kind: FaultKind::Request, message: error.message().into_owned() };
        let opened = self.connections.open(&self.settings).map_err(failed)?;
        Ok(Arc::clone(pool.insert(opened)))
    }

    async fn exchange(&self, request: Request) -> std::result::Result<Reply, Fault> {
        let method = match request.method {
            headland_api::Method::Get => reqwest::Method::GET,
            headland_api::Method::Post => reqwest::Method::POST,
            headland_api::Method::Put => reqwest::Method::PUT,
            headland_api::Method::Delete => reqwest::Method::DELETE,
        };
        let pool = self.open()?;
        let mut builder = pool.request(method, &request.url).headers(request.headers);
        let mut timeout = self.connect.saturating_add(self.read);
        if let Some(body) = request.body {
            let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
            timeout = timeout.saturating_add(Duration::from_secs(length.checked_div(MIN_UPLOAD_RATE).unwrap_or(0)));
            builder = builder.body(body);
        }
        let read = self.read;
        // A runtime that is only driven during calls has not yet noticed which idle connections the server closed. A
        // request on such a connection is lost. The first yield lets the runtime notice it, the second lets the
        // connection react.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        match tokio::time::timeout(timeout, builder.send()).await {
            Err(_) => Err(timeout_fault(timeout)),
            Ok(Err(error)) => Err(fault_from(&error)),
            Ok(Ok(mut response)) => {
                let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
                Ok(Reply { status, headers, body: body_stream(response, read) })
            }
        }
    }
}

impl Transport for HttpClient {
    fn send(&self, request: Request) -> SendFuture<'_> {
        Box::pin(self.exchange(request))
    }

    fn proxy(&self, base: &BaseUrl) -> Option<String> {
        proxy_for(base)
    }

    fn close(&self) {
        *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn body_stream(response: reqwest::Response, timeout: Duration) -> BodyStream {
    Box::pin(futures_util::stream::unfold(Some(response), move |response| async move {
        let mut response = response?;
        match tokio::time::timeout(timeout, response.chunk()).await {
            Ok(Ok(Some(chunk))) => Some((Ok(chunk), Some(response))),
            Ok(Ok(None)) => None,
            Ok(Err(error)) => Some((Err(Fault { kind: FaultKind::Truncated, message: root_cause(&error) }), None)),
            Err(_) => Some((Err(Fault { kind: FaultKind::Truncated, ..timeout_fault(timeout) }), None)),
        }
    }))
}

fn timeout_fault(timeout: Duration) -> Fault {
    Fault { kind: FaultKind::Timeout, message: format!("no data was received for {} s", timeout.as_secs_f64()) }
}

fn fault_from(error: &reqwest::Error) -> Fault {
    let kind = if error.is_builder() {
        FaultKind::Request
    } else if error.is_connect() {
        if is_tls_error(error) {
            FaultKind::Tls
        } else if is_name_error(error) {
            FaultKind::Name
        } else if is_refused(error) {
            FaultKind::Refused
        } else {
            FaultKind::Connect
        }
    } else if error.is_timeout() {
        FaultKind::Timeout
    } else {
        FaultKind::Reset
    };
    let message = root_cause(error);
    let unreadable = if kind == FaultKind::Tls { unreadable_certificates() } else { None };
    Fault { kind, message: unreadable.map_or(message.clone(), |why| format!("{message} ({why})")) }
}

fn is_tls_error(error: &(dyn std::error::Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    // An I/O error exposes its inner error through `get_ref`, not through `source`.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    wrapped.is_some_and(|inner| is_tls_error(inner)) || error.source().is_some_and(is_tls_error)
}

/// Whether a name is invalid or its resolution failed. The lower layers export no error types for this, only these
/// texts.
fn is_name_error(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.to_string().as_str(), "dns error" | "invalid dns name") || error.source().is_some_and(is_name_error)
}

/// Whether nothing listens on the port.
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::ConnectionRefused) || error.source().is_some_and(is_refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn too_long_address_is_a_request_fault() {
        let base = BaseUrl::parse("http://127.0.0.1:9").unwrap();
        let client = HttpClient::new(&base, Duration::from_secs(1), Duration::from_secs(1), None).unwrap();
        let request = Request {
            method: headland_api::Method::Post,
            url: format!("http://127.0.0.1:9/{}", "x".repeat(70_000)),
            headers: http::HeaderMap::new(),
            body: None,
        };
        assert_eq!(client.send(request).await.unwrap_err().kind, FaultKind::Request);
    }
}
