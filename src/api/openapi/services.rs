//! Server addresses and security schemes.

use serde_json::{Map, Value, json};

use crate::Service;

/// Addresses of the services. An unknown address becomes a server variable of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The field data API.
    pub field_data: Option<String>,
    /// The dispatch service.
    pub dispatch: Option<String>,
    /// The legacy order service, at its first address.
    pub legacy_dispatch: Option<String>,
    /// The legacy order service, at its second address.
    pub legacy_orders: Option<String>,
}

impl Addresses {
    /// Returns the server objects of a service.
    pub(super) fn servers(&self, service: Service) -> Value {
        let server = |variable: &str, known: Option<&String>, example: &str, doc: &str| match known {
            Some(url) => json!({ "url": url, "description": doc }),
            None => json!({
                "url": format!("{{{variable}}}"),
                "description": doc,
                "variables": { (variable): { "default": example, "description": "The address that you were given." } },
            }),
        };
        match service {
            Service::FieldData => {
                json!([server(
                    "base_url",
                    self.field_data.as_ref(),
                    "https://fields.example.com",
                    "The field data API."
                )])
            }
            Service::Dispatch => json!([server(
                "dispatch_url",
                self.dispatch.as_ref(),
                "https://dispatch.example.com",
                "The dispatch service."
            )]),
            Service::LegacyOrders => json!([
                server(
                    "legacy_dispatch_url",
                    self.legacy_dispatch.as_ref(),
                    "https://legacy-dispatch.example.com",
                    "The legacy order service."
                ),
                server(
                    "legacy_orders_url",
                    self.legacy_orders.as_ref(),
                    "https://legacy-orders.example.com",
                    "The legacy order service, at its other address."
                ),
            ]),
        }
    }
}

/// Returns the security requirement of a service. The field data API requires all four headers together.
pub(super) fn security(service: Service) -> Value {
    match service {
        Service::FieldData => json!([{ "apiKey": [], "signature": [], "accessKey": [], "timeStamp": [] }]),
        Service::Dispatch => json!([{ "dispatchToken": [] }]),
        Service::LegacyOrders => json!([{ "legacyToken": [] }]),
    }
}

pub(super) fn schemes() -> Value {
    let header = |name: &str, doc: &str| json!({ "type": "apiKey", "in": "header", "name": name, "description": doc });
    let bearer = |doc: &str| json!({ "type": "http", "scheme": "bearer", "description": doc });
    let schemes = [
        ("apiKey", header("X-SS-APIKey", "The API key that was issued to the partner.")),
        (
            "signature",
            header(
                "X-SS-Signature",
                "The signature of the request, made with the partner's shared secret as the description of this \
                 document says (5.4).",
            ),
        ),
        ("accessKey", header("X-SS-AccessKey", "The access key that a customer issued through the portal.")),
        (
            "timeStamp",
            header(
                "X-SS-TimeStamp",
                "Seconds since 1970-01-01 00:00:00 UTC when the request was made; 120 later it is void.",
            ),
        ),
        ("dispatchToken", bearer("The token of the dispatch service. How it is obtained is not shown (5.6).")),
        ("legacyToken", bearer("The token of the legacy order service. How it is obtained is not shown (5.6).")),
    ];
    Value::Object(schemes.into_iter().map(|(name, scheme)| (name.to_owned(), scheme)).collect::<Map<_, _>>())
}
