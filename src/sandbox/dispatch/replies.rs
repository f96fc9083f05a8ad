//! Requests and replies of the dispatch service and the legacy order service.

use http::header::{self, HeaderName};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::address::Address;
use super::payload::Object;
use crate::faults::Fault;
use crate::query::Query;
use crate::reply::{Answer, Content, Reply};
use crate::service_state::ServiceState;
use crate::variants::Variant;
use headland_wire::Value as Field;

/// Media type of errors under the variant `problem-json` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)).
const PROBLEM_JSON: &str = "application/problem+json";

/// An authorized request.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) state: &'a ServiceState,
    pub(super) customer: u32,
    pub(super) address: Address,
    /// Path and query as sent.
    pub(super) path: &'a str,
    pub(super) sent_query: &'a str,
    pub(super) query: &'a Query,
    /// Path parameters; empty if missing.
    pub(super) ids: [String; 2],
    pub(super) headers: &'a HeaderMap,
    pub(super) faults: &'a [Fault],
}

impl Call<'_> {
    /// Returns the first path parameter.
    pub(super) fn id(&self) -> &str {
        let [id, _] = &self.ids;
        id
    }

    /// Returns the second path parameter.
    pub(super) fn second_id(&self) -> &str {
        let [_, id] = &self.ids;
        id
    }

    /// Returns 201 with the new record and its address; `path` is relative to the service.
    pub(super) fn created(&self, record: Object, path: &str) -> Reply {
        let location = format!("{}{}{path}", self.state.base, self.address.path());
        self.mutation_reply(StatusCode::CREATED, record).with_header(header::LOCATION, location)
    }

    /// Returns 200 with the changed record.
    pub(super) fn changed(&self, object: Object) -> Reply {
        self.mutation_reply(StatusCode::OK, object)
    }

    /// Returns the object, or 204 without a body, as `Prefer` requests; otherwise as the active variants require.
    fn mutation_reply(&self, status: StatusCode, object: Object) -> Reply {
        let wish = preference(self.headers);
        let is_shown = match wish {
            Some(wish) => wish == REPRESENTATION,
            None => !self.state.variants.has(Variant::NoContent),
        };
        let reply = if is_shown {
            Reply::new(status, json_content(Value::Object(object)))
        } else {
            Reply::new(StatusCode::NO_CONTENT, Content::Nothing)
        };
        match wish {
            Some(wish) => reply.with_header(HeaderName::from_static("preference-applied"), wish),
            None => reply,
        }
    }
}

const REPRESENTATION: &str = "return=representation";

/// Returns the `return` preference of `Prefer` ([RFC 7240](https://www.rfc-editor.org/rfc/rfc7240)).
fn preference(headers: &HeaderMap) -> Option<&'static str> {
    let texts = headers.get_all("prefer").iter().map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
    let wishes: Vec<String> = texts
        .flat_map(|text| text.split([',', ';']).map(|wish| wish.replace([' ', '"'], "")).collect::<Vec<_>>())
        .collect();
    [REPRESENTATION, "return=minimal"].into_iter().find(|known| wishes.iter().any(|wish| wish == known))
}

/// Returns 204 after a deletion.
pub(super) fn deleted() -> Reply {
    Reply::new(StatusCode::NO_CONTENT, Content::Nothing)
}

/// Wraps JSON content.
pub(super) fn json_content(tree: Value) -> Content {
    Content::Payload { tree, media_type: "application/json" }
}

/// Returns 409 with a message.
pub(super) fn conflict(info: impl Into<String>) -> Reply {
    Reply::invalid(StatusCode::CONFLICT, info)
}

/// Converts an error to its wire form: a `ServiceResponse`, or a problem of RFC 9457 under the variant `problem-json`.
pub(super) fn to_reply(answer: Answer, state: &ServiceState) -> Reply {
    let mut reply = match answer {
        Ok(reply) => return reply,
        Err(reply) => reply,
    };
    if state.variants.has(Variant::ProblemJson)
        && let Content::Record(_, Field::Record(fields)) = &reply.content
        && let Some((_, Field::Text(info))) = fields.iter().find(|(name, _)| *name == "error_info")
    {
        let tree = serde_json::json!({
            "type": "about:blank",
            "title": reply.status.canonical_reason().unwrap_or_default(),
            "status": reply.status.as_u16(),
            "detail": info,
        });
        reply.content = Content::Payload { tree, media_type: PROBLEM_JSON };
    }
    reply
}
