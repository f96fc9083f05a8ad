//! Requests over HTTP: certificates always checked, redirects never followed, time-outs for every wait.

use std::error::Error as _;
use std::path::Path;
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

use super::{Base, BodyStream, Fault, FaultKind, Reply, Request, SendFuture, Transport};
use crate::error::{Error, Result};

/// Uploads slower than this count as stuck.
const SLOWEST_UPLOAD: u64 = 8 * 1024;

/// Connections that rest longer are not used again: servers close them, and the next request would be lost.
const REST: Duration = Duration::from_secs(15);

/// The connections of one client in one runtime.
///
/// A connection is driven by the tokio runtime it was opened in, and belongs to the process that opened it: each
/// runtime needs an `HttpClient` of its own, and so does a process after a fork.
#[derive(Clone, Debug)]
pub struct HttpClient {
    client: Client,
    connect: Duration,
    read: Duration,
}

impl HttpClient {
    /// Sets up connections to `base`; the certificates in `ca_file` are trusted besides the system's.
    pub fn new(base: &Base, connect: Duration, read: Duration, ca_file: Option<&Path>) -> Result<Self> {
        // Fails only where the process has a provider already, which is as good.
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
                .pool_idle_timeout(REST)
                .https_only(base.is_https());
            if base.is_loopback() { builder.no_proxy() } else { builder }
        };
        let client = if base.is_https() {
            let system = builder().tls_certs_merge(extra.clone()).build();
            match system {
                // A machine without any certificates of its own can still trust the given ones.
                Err(_) if !extra.is_empty() => builder().tls_certs_only(extra).build(),
                other => other,
            }
        } else {
            builder().tls_certs_only(Vec::new()).build()
        };
        let client = client.map_err(|error| {
            let message =
                format!("cannot set up TLS: {}. Install the system's CA certificates or pass ca_file", story(&error));
            Error::of_setting("certificates", message)
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
        let mut patience = self.connect.saturating_add(self.read);
        if let Some(body) = request.body {
            let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
            patience = patience.saturating_add(Duration::from_secs(length.checked_div(SLOWEST_UPLOAD).unwrap_or(0)));
            builder = builder.body(body);
        }
        let read = self.read;
        // A runtime that is only driven during calls has not seen yet which resting connections the server closed,
        // and a request sent on one of those is lost. The first pause lets the runtime hear of it, the second lets
        // the connection act on it.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        match tokio::time::timeout(patience, builder.send()).await {
            Err(_) => Err(silent(patience)),
            Ok(Err(error)) => Err(fault(&error)),
            Ok(Ok(mut response)) => {
                let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
                Ok(Reply { status, headers, body: stream(response, read) })
            }
        }
    }
}

impl Transport for HttpClient {
    fn send(&self, request: Request) -> SendFuture<'_> {
        Box::pin(self.exchange(request))
    }
}

fn stream(response: reqwest::Response, patience: Duration) -> BodyStream {
    Box::pin(futures_util::stream::unfold(Some(response), move |response| async move {
        let mut response = response?;
        match tokio::time::timeout(patience, response.chunk()).await {
            Ok(Ok(Some(chunk))) => Some((Ok(chunk), Some(response))),
            Ok(Ok(None)) => None,
            Ok(Err(error)) => Some((Err(Fault { kind: FaultKind::Cut, message: story(&error) }), None)),
            Err(_) => Some((Err(Fault { kind: FaultKind::Cut, ..silent(patience) }), None)),
        }
    }))
}

fn silent(patience: Duration) -> Fault {
    Fault { kind: FaultKind::Timeout, message: format!("nothing came for {} s", patience.as_secs_f64()) }
}

fn fault(error: &reqwest::Error) -> Fault {
    let kind = if error.is_builder() {
        FaultKind::Request
    } else if error.is_connect() {
        if mentions_tls(error) {
            FaultKind::Tls
        } else if mentions_name(error) {
            FaultKind::Name
        } else if mentions_refusal(error) {
            FaultKind::Refused
        } else {
            FaultKind::Connect
        }
    } else if error.is_timeout() {
        FaultKind::Timeout
    } else {
        FaultKind::Reset
    };
    Fault { kind, message: story(error) }
}

fn mentions_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    // An I/O error shows what it wraps through `get_ref`, not through `source`.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    wrapped.is_some_and(|inner| mentions_tls(inner)) || error.source().is_some_and(mentions_tls)
}

/// Whether the look-up of a name failed, or it is no name at all. The layers below have no types for it that can be
/// named, but these words.
fn mentions_name(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.to_string().as_str(), "dns error" | "invalid dns name") || error.source().is_some_and(mentions_name)
}

/// Whether nothing listens on the port.
fn mentions_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::ConnectionRefused) || error.source().is_some_and(mentions_refusal)
}

/// The proxy that calls to `base` go through, without its password; none is used for this machine itself.
#[must_use]
pub fn proxy_of(base: &Base) -> Option<String> {
    let address = base.as_str().parse::<http::Uri>().ok().filter(|_| !base.is_loopback())?;
    let proxy = Matcher::from_system().intercept(&address)?;
    let host = proxy.uri().host()?;
    Some(proxy.uri().port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The last cause says the most; the first line of reqwest only repeats the address.
fn story(error: &reqwest::Error) -> String {
    let mut last = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        last = cause.to_string();
        source = cause.source();
    }
    last
}

fn certificates(path: &Path) -> Result<Vec<Certificate>> {
    let wrong = |why: &str| Error::of_setting("ca_file", format!("ca_file `{}` {why}", path.display()));
    let pem = std::fs::read(path).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|_| wrong("holds no certificates in PEM form"))?;
    if found.is_empty() { Err(wrong("holds no certificates in PEM form")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_is_too_long_is_a_request_that_was_not_sent() {
        let base = Base::parse("http://127.0.0.1:9").unwrap();
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
