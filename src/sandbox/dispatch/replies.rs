//! What a request to the dispatch service or the legacy order service is, and what is answered to a POST, a PUT and a DELETE.

use http::header::{self, HeaderName};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::address::Address;
use super::payload::Object;
use crate::sandbox::faults::Fault;
use crate::sandbox::query::Query;
use crate::sandbox::reply::{Answer, Content, Reply};
use crate::sandbox::state::ServiceState;
use crate::sandbox::variants::Variant;
use crate::wire::Value as Field;

/// The type of the error bodies under the variant `problem-json` (RFC 9457).
const PROBLEM_JSON: &str = "application/problem+json";

/// A request that passed the checks.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) state: &'a ServiceState,
    pub(super) customer: u32,
    pub(super) address: Address,
    /// The path and the query as they were sent.
    pub(super) path: &'a str,
    pub(super) sent_query: &'a str,
    pub(super) query: &'a Query,
    /// The values of the path's parameters; empty where there are fewer.
    pub(super) ids: [String; 2],
    pub(super) headers: &'a HeaderMap,
    pub(super) faults: &'a [Fault],
}

impl Call<'_> {
    /// The first parameter of the path.
    pub(super) fn id(&self) -> &str {
        let [id, _] = &self.ids;
        id
    }

    /// The second one.
    pub(super) fn second_id(&self) -> &str {
        let [_, id] = &self.ids;
        id
    }

    /// 201 with what was made and its address, a path below that of the service.
    pub(super) fn created(&self, record: Object, path: &str) -> Reply {
        let location = format!("{}{}{path}", self.state.base, self.address.path());
        self.mutation_reply(StatusCode::CREATED, record).with_header(header::LOCATION, location)
    }

    /// 200 with what was changed.
    pub(super) fn changed(&self, object: Object) -> Reply {
        self.mutation_reply(StatusCode::OK, object)
    }

    /// The object, or 204 with nothing: as `Prefer` wants it, else as the habits are.
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

/// What `Prefer` says of the body (RFC 7240).
fn preference(headers: &HeaderMap) -> Option<&'static str> {
    let texts = headers.get_all("prefer").iter().map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
    let wishes: Vec<String> = texts
        .flat_map(|text| text.split([',', ';']).map(|wish| wish.replace([' ', '"'], "")).collect::<Vec<_>>())
        .collect();
    [REPRESENTATION, "return=minimal"].into_iter().find(|known| wishes.iter().any(|wish| wish == known))
}

/// 204 for what was deleted.
pub(super) fn deleted() -> Reply {
    Reply::new(StatusCode::NO_CONTENT, Content::Nothing)
}

/// JSON.
pub(super) fn json_content(tree: Value) -> Content {
    Content::Payload { tree, media_type: "application/json" }
}

/// 409 with words.
pub(super) fn conflict(info: impl Into<String>) -> Reply {
    Reply::invalid(StatusCode::CONFLICT, info)
}

/// The answer in the form that errors have here: a `ServiceResponse`, or under the variant a problem of RFC 9457.
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
