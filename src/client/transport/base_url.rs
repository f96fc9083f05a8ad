//! The base address of a service and the addresses below it.

use std::net::IpAddr;

use reqwest::Url;

use headland_base::error::{Error, Result};

/// The argument that gives the base address of the field data API.
const BASE_URL: &str = "base_url";

/// A checked base address.
#[derive(Clone, Debug)]
pub struct BaseUrl {
    /// The argument of the client that sets it.
    argument: &'static str,
    url: Url,
    host: String,
    is_loopback: bool,
}

/// One address below the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The complete address, with the query.
    pub url: String,
    /// The path exactly as it is sent and signed.
    pub path: String,
}

impl BaseUrl {
    /// Checks the base address of the field data API.
    pub fn parse(text: &str) -> Result<Self> {
        Self::from_argument(BASE_URL, text)
    }

    /// Checks a base address that the client receives as `argument`. It must be `https`, or `http` to a loopback
    /// address. A path prefix is kept, with or without a slash at its end.
    pub fn from_argument(argument: &'static str, text: &str) -> Result<Self> {
        let wrong = |why: &str| Error::for_setting(argument, format!("{argument} `{}` {why}", redacted_base(text)));
        let mut url = Url::parse(text.trim()).map_err(|error| {
            wrong(&format!("is not a URL ({error}): write it as `https://host` or `https://host/path`"))
        })?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(wrong("must begin with `https://`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("must not contain a user name or a password: the service uses keys"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("must not have a query or a fragment"));
        }
        let Some(name) = url.host_str().map(str::to_owned).filter(|name| !name.is_empty()) else {
            return Err(wrong("has no host"));
        };
        let is_loopback = is_loopback(&name);
        if url.scheme() == "http" && !is_loopback {
            return Err(wrong(
                "is plain http: only TLS encrypts and protects query, body and tokens; use `https://` (plain http is \
                 allowed only to this machine)",
            )
            .with(|facts| facts.setting = (argument == BASE_URL).then_some("plain http")));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        // The value that hyper sends as `Host`: with the port, unless it is the scheme's default.
        let host = url.port().map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
        Ok(Self { argument, url, host, is_loopback })
    }

    /// The address of an encoded `path` below the base.
    #[must_use]
    pub fn address(&self, path: &str, query: &[(&str, &str)]) -> Address {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Address { path: url.path().to_owned(), url: url.into() }
    }

    /// The same host with another path prefix, or with another host name in the signature.
    #[must_use]
    pub fn varied(&self, prefix: Option<&str>, signed_host: Option<&str>) -> Self {
        let mut other = self.clone();
        if let Some(prefix) = prefix {
            other.url.set_path(prefix.trim_end_matches('/'));
        }
        if let Some(host) = signed_host {
            host.clone_into(&mut other.host);
        }
        other
    }

    /// Resolves an address from the service, which may be relative to the base.
    #[must_use]
    pub fn absolute(&self, uri: &str) -> String {
        self.url.join(uri).map_or_else(|_| uri.to_owned(), String::from)
    }

    /// The path prefix, without a slash at its end.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// The host name and the port, which may be the scheme's default.
    #[must_use]
    pub fn name_and_port(&self) -> (&str, u16) {
        let name = self.url.host_str().unwrap_or_default();
        (name.trim_start_matches('[').trim_end_matches(']'), self.url.port_or_known_default().unwrap_or_default())
    }

    /// The argument of the client that sets it.
    #[must_use]
    pub fn argument(&self) -> &'static str {
        self.argument
    }

    /// The host as it is sent and signed.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the host is a loopback address.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The address without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }
}

fn is_loopback(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Formats a base address for a message. A text without a dot or a colon may be a key that was passed as the wrong
/// argument, so it is not shown.
fn redacted_base(text: &str) -> String {
    if text.trim().is_empty() || text.contains(['.', ':']) { redacted(text) } else { "(not shown)".to_owned() }
}

/// Formats an address for a message: without the user information before `@`, which may hold a password, and without
/// the query.
#[must_use]
pub fn redacted(text: &str) -> String {
    let text = text.trim().split(['?', '#']).next().unwrap_or_default();
    match (text.find("//"), text.rfind('@')) {
        (Some(start), Some(end)) if start < end => {
            let front = text.get(..start).unwrap_or_default();
            let back = text.get(end..).unwrap_or_default();
            format!("{front}//(hidden){back}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::error::Kind;

    #[test]
    fn base_url_prefix_slash_and_port_are_normalised() {
        for (text, host, url, path) in [
            ("https://api.example.com", "api.example.com", "https://api.example.com/jobdata/1?a=b+c", "/jobdata/1"),
            ("https://API.example.com/", "api.example.com", "https://api.example.com/jobdata/1?a=b+c", "/jobdata/1"),
            ("https://x.org:443/V1/", "x.org", "https://x.org/V1/jobdata/1?a=b+c", "/V1/jobdata/1"),
            ("https://x.org:8443/V1", "x.org:8443", "https://x.org:8443/V1/jobdata/1?a=b+c", "/V1/jobdata/1"),
            ("http://127.0.0.1:80/", "127.0.0.1", "http://127.0.0.1/jobdata/1?a=b+c", "/jobdata/1"),
            ("http://[::1]:8000", "[::1]:8000", "http://[::1]:8000/jobdata/1?a=b+c", "/jobdata/1"),
        ] {
            let base = BaseUrl::parse(text).unwrap();
            assert_eq!(base.host(), host, "{text}");
            let address = base.address("/jobdata/1", &[("a", "b c")]);
            assert_eq!((address.url.as_str(), address.path.as_str()), (url, path), "{text}");
        }
        assert_eq!(BaseUrl::parse("https://x.org/V1/").unwrap().as_str(), "https://x.org/V1");
    }

    #[test]
    fn encoded_path_is_sent_unchanged() {
        let base = BaseUrl::parse("https://x.org/v1").unwrap();
        assert_eq!(base.address("/jobdata/a%2Fb%20c", &[]).path, "/v1/jobdata/a%2Fb%20c");
    }

    #[test]
    fn plain_http_beyond_loopback_is_an_error() {
        for text in ["http://localhost:8000", "http://127.9.9.9", "http://[::1]"] {
            assert!(BaseUrl::parse(text).unwrap().is_loopback(), "{text}");
        }
        for text in ["http://example.com", "http://localhost.example.com", "http://10.0.0.1", "http://127.0.0.1.nip.io"]
        {
            let error = BaseUrl::parse(text).unwrap_err();
            assert_eq!(error.kind(), Kind::Configuration, "{text}");
            assert!(error.message().contains("plain http"), "{error}");
        }
    }

    #[test]
    fn invalid_base_url_error_has_no_password() {
        for text in
            ["", "example.com", "ftp://x.org", "https://", "https://x.org/?a=1", "https://joe:hunter2@x.org", "hunter2"]
        {
            let error = BaseUrl::parse(text).unwrap_err();
            assert_eq!(error.kind(), Kind::Configuration, "{text}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
