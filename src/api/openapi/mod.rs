//! Generates the OpenAPI 3.1 document of all services from the endpoint table.
//!
//! The document describes requests and replies on the wire, for clients in any language and for OpenAPI tools. It omits
//! fields that headland derives from other fields. Rows that send the same request, such as `job_data.download` and
//! `job_data.read`, become one operation.
//!
//! Specification: <https://spec.openapis.org/oas/v3.1.0>.

mod operations;
mod parameters;
mod responses;
mod schemas;
mod services;

use serde_json::{Value, json};

use crate::Service;
pub use services::Addresses;

/// The `info.description` text: signature, content types, letter case, limits and dispatch.
const DESCRIPTION: &str = "Machine and agronomic data of a customer: field computers, field hubs, prescription maps, \
job data and grain carts, with the dispatch service and the legacy order service that it replaces.\n\n\
**Signature.** Every request of the field data API carries the four headers of its security schemes. `X-SS-Signature` \
is made from six values, each followed by CRLF, in this order: the HTTP method in upper case; the host in lower case; \
the absolute path without the query, in lower case and never percent-decoded; the value of `X-SS-TimeStamp`; the API \
key; the access key. HMAC-SHA1 over the UTF-8 bytes of that text, with the base64-decoded shared secret as its key, in \
base64. A request lives for 120 seconds. Query and body are not signed, so it must travel over HTTPS.\n\n\
**Content types.** `Accept: application/json` and `Accept: text/xml` give the same records, files apart; send it \
always. `Accept-Encoding: gzip` or `deflate` packs them. In XML the root is `ServiceIndex` for lists, `ServiceResponse` \
for errors and waits, else the name of the schema, each in a namespace of its own; the items of a list follow its \
envelope without an element around them.\n\n\
**Letter case.** Paths, names of query parameters and values of `format` are read in any letter case.\n\n\
**Limits.** 30 calls in 60 seconds for each client; beyond it every request is answered with 429 until the window \
resets. A stricter figure, 15 in any 30 seconds, is stated as well.\n\n\
**Dispatch.** The dispatch service and the legacy order service stand at addresses of their own and take a bearer \
token. Payloads are JSON whose members the interface does not show. Lists come raw, without an envelope; `Location` \
holds the address of the next page.";

/// Returns the document. Unknown addresses become server variables.
#[must_use]
pub fn document(addresses: &Addresses) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Field data service",
            "summary": "From an access key to field data.",
            "description": DESCRIPTION,
            "version": env!("CARGO_PKG_VERSION"),
        },
        "servers": addresses.servers(Service::FieldData),
        "security": services::security(Service::FieldData),
        "tags": operations::tags(),
        "paths": operations::paths(addresses),
        "components": {
            "schemas": schemas::all(),
            "responses": responses::error_responses(),
            "headers": responses::headers(),
            "securitySchemes": services::schemes(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{self as api, Kind};

    fn default_document() -> Value {
        document(&Addresses::default())
    }

    #[test]
    fn each_row_belongs_to_the_operation_of_its_path_and_method() {
        let document = default_document();
        let mut operations = HashSet::new();
        for row in api::rows() {
            let method = row.method.as_str().to_lowercase();
            let operation = &document["paths"][row.path][&method];
            let calls = operation["x-headland-calls"].as_array().unwrap();
            assert!(calls.iter().any(|call| call == row.full_name), "{}", row.full_name);
            assert_eq!(operation["operationId"], calls[0], "{}", row.full_name);
            operations.insert((row.path, method));
            assert_eq!(
                operation["responses"].get("501").is_some(),
                !row.is_implemented(),
                "4.2 flags what is not implemented: {}",
                row.full_name
            );
        }
        let written: usize = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .map(|item| item.as_object().unwrap().keys().filter(|key| *key != "servers").count())
            .sum();
        assert_eq!(written, operations.len());
    }

    #[test]
    fn rows_that_share_a_path_belong_to_one_service() {
        for row in api::rows() {
            for other in api::rows().filter(|other| other.path == row.path) {
                assert_eq!(row.service(), other.service(), "{} and {}", row.full_name, other.full_name);
            }
        }
    }

    #[test]
    fn derived_fields_are_omitted_and_sent_fields_have_units() {
        let document = default_document();
        let report = &api::field_hubs::FIELD_HUB_REPORT;
        let properties = &document["components"]["schemas"][report.name]["properties"];
        for field in report.fields {
            let property = properties.get(field.wire);
            assert_eq!(property.is_some(), field.derived.is_none(), "{}", field.wire);
            if let (Some(property), Some(unit)) = (property, field.unit) {
                assert_eq!(property["x-unit"], unit, "{}", field.wire);
            }
        }
        assert_eq!(properties["Lat"]["x-unit"], "degrees");
        assert!(matches!(report.fields[0].kind, Kind::Id));
        assert_eq!(
            (&properties["ID"]["type"], &properties["DeviceId"]["type"]),
            (&json!("integer"), &json!(["string", "null"]))
        );
    }

    #[test]
    fn known_addresses_replace_server_variables() {
        let known = Addresses { field_data: Some("http://127.0.0.1:1".to_owned()), ..Addresses::default() };
        let document = document(&known);
        assert_eq!(document["servers"][0]["url"], "http://127.0.0.1:1");
        assert_eq!(document["paths"]["/api/products"]["servers"][0]["url"], "{dispatch_url}");
        assert_eq!(
            document["paths"]["/api/blends"]["servers"].as_array().unwrap().len(),
            2,
            "two legacy addresses, 4.6"
        );
        assert!(document["paths"]["/jobdata"].get("servers").is_none());
    }
}
