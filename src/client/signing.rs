//! Canonical text and HMAC of a request (specification 5.4), as pure functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

use headland_base::error::{Error, Result};
use headland_base::secret::Secret;

/// The credentials of a request: API key and shared secret of the partner, access key of the customer.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The partner's API key, sent as `X-SS-APIKey`.
    pub api_key: Secret,
    /// The customer's access key, sent as `X-SS-AccessKey`.
    pub access_key: Secret,
    /// The partner's decoded shared secret.
    pub signing_key: SigningKey,
}

/// The decoded shared secret. Its `Debug` hides the bytes.
#[derive(Clone)]
pub struct SigningKey(Vec<u8>);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(hidden)")
    }
}

impl SigningKey {
    /// Decodes the shared secret. If it is not base64, the `Configuration` error does not show it.
    pub fn from_base64(shared_secret: &str) -> Result<Self> {
        let text = shared_secret.trim();
        match STANDARD.decode(text) {
            Ok(bytes) if !bytes.is_empty() => Ok(Self(bytes)),
            _ => Err(Error::for_setting(
                "shared_secret",
                format!(
                    "the shared secret is not base64 ({} characters, not shown): copy it again as it was issued, \
                     with its `=` signs and without quotes",
                    text.chars().count()
                ),
            )),
        }
    }
}

/// The signed parts of a request. Query and body are not signed (specification 5.4).
#[derive(Clone, Copy, Debug)]
pub struct SigningInput<'a> {
    /// The HTTP method, in any case.
    pub method: &'a str,
    /// The host as sent in `Host`, with the port if the base address has one (field notes, Signature).
    pub host: &'a str,
    /// The absolute path as written, without the query; it is never percent-decoded.
    pub path: &'a str,
    /// Seconds since 1970, the value of `X-SS-TimeStamp`.
    pub timestamp: i64,
    /// The API key as issued.
    pub api_key: &'a str,
    /// The access key as issued.
    pub access_key: &'a str,
}

impl SigningInput<'_> {
    /// The signed text: six values, each followed by CRLF.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        format!(
            "{}\r\n{}\r\n{}\r\n{}\r\n{}\r\n{}\r\n",
            self.method.to_ascii_uppercase(),
            self.host.to_lowercase(),
            self.path.to_lowercase(),
            self.timestamp,
            self.api_key,
            self.access_key
        )
    }

    /// The value of `X-SS-Signature`.
    #[must_use]
    pub fn signature(&self, key: &SigningKey) -> String {
        STANDARD.encode(self.mac(key).finalize().into_bytes())
    }

    /// Whether `signature` is correct, compared in constant time.
    #[must_use]
    pub fn verify(&self, key: &SigningKey, signature: &str) -> bool {
        STANDARD.decode(signature).is_ok_and(|bytes| self.mac(key).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, key: &SigningKey) -> Hmac<Sha1> {
        // HMAC accepts keys of every length ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)), so the error of the
        // trait cannot occur. An empty key keeps the function total and signs nothing that a service would accept.
        let mut mac = Hmac::<Sha1>::new_from_slice(&key.0)
            .unwrap_or_else(|_| Hmac::<Sha1>::new(&hmac::digest::Key::<Hmac<Sha1>>::default()));
        mac.update(self.canonical_text().as_bytes());
        mac
    }
}
