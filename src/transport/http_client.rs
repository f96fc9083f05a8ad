//! HTTP client: always checks certificates, never follows redirects, and limits the time of each wait.

use std::error::Error as _;
use std::path::Path;
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

use super::{BaseUrl, BodyStream, Fault, FaultKind, Reply, Request, SendFuture, Transport};
use crate::error::{Error, Result};

/// Bytes per second; a slower upload counts as stalled.
const MIN_UPLOAD_RATE: u64 = 8 * 1024;

/// Connections that are idle for longer are not reused: servers close them, and the next request would be lost.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// The connections of one client in one runtime.
///
/// A connection is driven by the tokio runtime that opened it, and belongs to the process that opened it. Each runtime
/// needs its own `HttpClient`, and so does a process after a fork.
#[derive(Clone, Debug)]
pub struct HttpClient {
    client: Client,
    connect: Duration,
    read: Duration,
}

impl HttpClient {
    /// Configures connections to `base`. The certificates in `ca_file` are trusted in addition to the system's.
    pub fn new(base: &BaseUrl, connect: Duration, read: Duration, ca_file: Option<&Path>) -> Result<Self> {
        // Fails only if the process has already installed a provider, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let extra = ca_file.map(certificates).transpose()?.unwrap_or_default();
        let builder = || {
            let builder = Client::builder()
                .user_agent(concat!("headland/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .no_gzip()
                .no_deflate()
                .connect_timeout(connect)
                .pool_idle_timeout(IDLE_TIMEOUT)
                .https_only(base.is_https());
            if base.is_loopback() { builder.no_proxy() } else { builder }
        };
        let client = if base.is_https() {
            let system = builder().tls_certs_merge(extra.clone()).build();
            match system {
                // Without system certificates, the given ones can still be trusted.
                Err(_) if !extra.is_empty() => builder().tls_certs_only(extra).build(),
                other => other,
            }
        } else {
            builder().tls_certs_only(Vec::new()).build()
        };
        let client = client.map_err(|error| {
            let message = format!(
                "cannot set up TLS: {}. Install the system's CA certificates or pass ca_file",
                root_cause(&error)
            );
            Error::for_setting("certificates", message)
        })?;
        Ok(Self { client, connect, read })
    }

    async fn exchange(&self, request: Request) -> std::result::Result<Reply, Fault> {
        let method = match request.method {
            crate::api::Method::Get => reqwest::Method::GET,
            crate::api::Method::Post => reqwest::Method::POST,
            crate::api::Method::Put => reqwest::Method::PUT,
            crate::api::Method::Delete => reqwest::Method::DELETE,
        };
        let mut builder = self.client.request(method, &request.url).headers(request.headers);
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
    Fault { kind, message: root_cause(error) }
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

/// The proxy for calls to `base`, without its password. Loopback addresses use none.
#[must_use]
pub fn proxy_for(base: &BaseUrl) -> Option<String> {
    let address = base.as_str().parse::<http::Uri>().ok().filter(|_| !base.is_loopback())?;
    let proxy = Matcher::from_system().intercept(&address)?;
    let host = proxy.uri().host()?;
    Some(proxy.uri().port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The variable that should set a proxy for calls to `base`, but is ignored because it states no address of one. Its value
/// may contain a password.
#[must_use]
pub fn ignored_proxy(base: &BaseUrl) -> Option<&'static str> {
    let address = base.as_str().parse::<http::Uri>().ok().filter(|_| base.is_https() && !base.is_loopback())?;
    let variables = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].into_iter();
    let mut set =
        variables.filter_map(|name| Some((name, std::env::var(name).ok().filter(|value| !value.is_empty())?)));
    let (name, value) = set.next()?;
    Matcher::builder().https(value).build().intercept(&address).is_none().then_some(name)
}

/// The last cause is the most specific; the first line of reqwest only repeats the address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut last = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        last = cause.to_string();
        source = cause.source();
    }
    last
}

fn certificates(path: &Path) -> Result<Vec<Certificate>> {
    let wrong = |why: &str| Error::for_setting("ca_file", format!("ca_file `{}` {why}", path.display()));
    let pem = std::fs::read(path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|_| wrong("contains no certificates in PEM format"))?;
    if found.is_empty() { Err(wrong("contains no certificates in PEM format")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn too_long_address_is_a_request_fault() {
        let base = BaseUrl::parse("http://127.0.0.1:9").unwrap();
        let client = HttpClient::new(&base, Duration::from_secs(1), Duration::from_secs(1), None).unwrap();
        let request = Request {
            method: crate::api::Method::Post,
            url: format!("http://127.0.0.1:9/{}", "x".repeat(70_000)),
            headers: http::HeaderMap::new(),
            body: None,
        };
        assert_eq!(client.send(request).await.unwrap_err().kind, FaultKind::Request);
    }
}
