//! Authentication of requests: a signature for the field data API, a bearer token for the other two services.

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::BaseUrl;
use crate::signing::{Credentials, SigningInput};
use headland_api::Method;
use headland_base::error::{Error, Kind, Result};
use headland_base::secret::Secret;

/// The credentials of a client for one service.
#[derive(Clone, Debug)]
pub enum Auth {
    /// The four headers of specification 5.1.
    Signed(Credentials),
    /// `Authorization: Bearer`, as the dispatch service and the legacy order service accept it (field notes; 5.6 does
    /// not show it). No key of the field data API is sent there. `None` if each call passes its token and this one did
    /// not.
    Bearer(Option<Secret>),
}

impl Auth {
    /// Adds the authentication headers of one request.
    pub(super) fn authenticate(
        &self,
        headers: &mut HeaderMap,
        base: &BaseUrl,
        method: Method,
        path: &str,
        timestamp: i64,
    ) -> Result<()> {
        let credentials = match self {
            Self::Signed(credentials) => credentials,
            Self::Bearer(token) => {
                let missing = || Error::new(Kind::Configuration, "the token callable returned None for this call");
                let token = token.as_ref().ok_or_else(missing)?;
                return insert_header(headers, AUTHORIZATION, &format!("Bearer {}", token.expose()));
            }
        };
        let (api_key, access_key) = (credentials.api_key.expose(), credentials.access_key.expose());
        let method = method.as_str();
        let signed = SigningInput { method, host: base.host(), path, timestamp, api_key, access_key };
        let signature = signed.signature(&credentials.signing_key);
        insert_header(headers, HeaderName::from_static("x-ss-apikey"), api_key)?;
        insert_header(headers, HeaderName::from_static("x-ss-accesskey"), access_key)?;
        insert_header(headers, HeaderName::from_static("x-ss-signature"), &signature)?;
        insert_header(headers, HeaderName::from_static("x-ss-timestamp"), &timestamp.to_string())
    }

    /// Whether requests contain their time, so that the local clock matters.
    pub(super) const fn is_signed(&self) -> bool {
        matches!(self, Self::Signed(_))
    }

    /// The name of the credential in messages.
    pub(super) const fn credential_name(&self) -> &'static str {
        match self {
            Self::Signed(_) => "access key",
            Self::Bearer(_) => "token",
        }
    }
}

fn insert_header(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Result<()> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        Error::new(
            Kind::Configuration,
            format!("the value for {name} contains characters that a header cannot contain"),
        )
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}
