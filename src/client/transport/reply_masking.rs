//! Masks secrets in replies: all headers, bodies and errors of a service pass through here before they are used.

use http::header::LOCATION;
use http::{HeaderMap, HeaderValue};

use super::{FullResponse, ServiceContext};
use headland_api::Endpoint;
use headland_base::error::Error;
use headland_base::names;
use headland_base::secret_masking::SecretKind;
use headland_wire::mask;

/// The row whose reply contains the access key by definition (specification 2.7).
const ACCESS_KEY_ROW: &str = "access_key";

fn is_access_key(kind: SecretKind, path: &str) -> bool {
    kind == SecretKind::AccessKey && path.rsplit('.').next().is_some_and(|field| names::same(field, "AccessKey"))
}

impl ServiceContext {
    /// Masks secrets in headers. `Location` is unchanged, because it is followed; errors that quote it are masked.
    pub(super) fn masked_headers(&self, mut headers: HeaderMap) -> HeaderMap {
        for (_, value) in headers.iter_mut().filter(|(name, _)| *name != LOCATION) {
            let Ok(text) = value.to_str() else { continue };
            let masked = self.secrets.mask(text);
            if masked != text
                && let Ok(masked) = HeaderValue::from_str(&masked)
            {
                *value = masked;
            }
        }
        headers
    }

    /// Masks values that are secrets in a 2XX reply, and adds a warning that names their fields.
    pub(super) fn masked_reply(&self, row: &Endpoint, reply: FullResponse) -> FullResponse {
        let is_own = if row.full_name == ACCESS_KEY_ROW { is_access_key } else { |_: SecretKind, _: &str| false };
        let Some(masked) = mask(&reply.body, &self.secrets, is_own) else { return reply };
        if let Some((kind, path)) = masked.fields.first() {
            let others = match masked.fields.len().saturating_sub(1) {
                0 => String::new(),
                1 => " and 1 other field".to_owned(),
                others => format!(" and {others} other fields"),
            };
            self.warnings.add(format!(
                "the reply to {} repeats the {} in `{path}`{others}: the value is masked; ask the operator why the \
                 service returns secrets",
                row.full_name,
                kind.name()
            ));
        }
        FullResponse { body: masked.body, ..reply }
    }

    /// Masks secrets in an error, including the texts of the service.
    #[must_use]
    pub fn masked_error(&self, error: Error) -> Error {
        error.map_texts(|text| self.secrets.mask(text).into_owned())
    }
}
