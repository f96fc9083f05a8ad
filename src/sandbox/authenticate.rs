//! Checks the four signature headers in the order of specification 5.2 and 5.3.

use chrono::{DateTime, Utc};
use http::HeaderMap;
use http::header::HOST;

use super::keys::{Grant, KeyRing};
use headland_client::signing::SigningInput;

/// Accepted difference between time stamp and clock, in seconds, in both directions.
const LIFETIME: u64 = 120;

const API_KEY: &str = "X-SS-APIKey";
const SIGNATURE: &str = "X-SS-Signature";
const ACCESS_KEY: &str = "X-SS-AccessKey";
const TIME_STAMP: &str = "X-SS-TimeStamp";

/// The signed parts of a request.
pub(super) struct AuthRequest<'a> {
    pub(super) method: &'a str,
    /// The path as sent, never percent-decoded.
    pub(super) path: &'a str,
    pub(super) headers: &'a HeaderMap,
    /// Port of the listener.
    pub(super) port: u16,
}

/// Whether the request names a known API key. Such a request counts for the rate limit.
pub(super) fn names_known_key(headers: &HeaderMap, ring: &KeyRing) -> bool {
    text(headers, API_KEY).is_some_and(|key| key == ring.keys.api_key)
}

/// Returns the access key and its grant, or a message that names the failed check. Revoked and expired keys pass: the
/// caller decides what they may read.
pub(super) fn authenticate(
    request: &AuthRequest<'_>,
    ring: &KeyRing,
    now: DateTime<Utc>,
) -> Result<(String, Grant), String> {
    let (mut missing, mut header) = (Vec::new(), |name| text(request.headers, name).ok_or(name));
    let values = [API_KEY, SIGNATURE, TIME_STAMP, ACCESS_KEY].map(&mut header);
    missing.extend(values.iter().filter_map(|value| value.as_ref().err().copied()));
    let [Ok(api_key), Ok(signature), Ok(sent_at), Ok(access_key)] = values else {
        return Err(format!("missing header {}", missing.join(", ")));
    };
    if api_key != ring.keys.api_key {
        return Err("API key check failed: the service does not know this API key".to_owned());
    }
    let Ok(timestamp) = sent_at.parse::<i64>() else {
        return Err(format!("timestamp check failed: {TIME_STAMP} is not whole seconds since 1970-01-01 UTC"));
    };
    let is_signed = hosts(request).iter().any(|host| {
        let (method, path) = (request.method, request.path);
        SigningInput { method, host, path, timestamp, api_key: &api_key, access_key: &access_key }
            .verify(&ring.signing_key, &signature)
    });
    if !is_signed {
        return Err("signature check failed: the signature does not match the request".to_owned());
    }
    let age = now.timestamp().saturating_sub(timestamp);
    if age.unsigned_abs() > LIFETIME {
        return Err(if age > 0 {
            format!("timestamp check failed: request older than {LIFETIME} seconds")
        } else {
            format!("timestamp check failed: request more than {LIFETIME} seconds ahead of the service's clock")
        });
    }
    match ring.grant(&access_key) {
        Some(grant) => Ok((access_key, grant)),
        None => Err("access key check failed: the service does not know this access key".to_owned()),
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Returns the hosts that a client may have signed: as sent, without port and with port (field notes, Signature).
fn hosts(request: &AuthRequest<'_>) -> Vec<String> {
    let sent = request.headers.get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes())).unwrap_or_default();
    let name = match sent.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => &sent,
    };
    let mut hosts = vec![sent.to_string(), name.to_owned(), format!("{name}:{}", request.port)];
    hosts.dedup();
    hosts
}
