//! Calls of the dispatch service and the legacy order service.
//!
//! The specification shows their purpose but not their payloads (4.6). So a mapping is sent unchanged, and the reply is
//! decoded without a shape.

use http::HeaderMap;
use http::header::{CONTENT_TYPE, LOCATION};

use super::arguments::Arguments;
use super::arguments::decode;
use super::record::describe_body;
use super::setup::Client;
use crate::transport::{Attempts, BaseUrl, FullResponse};
use headland_api::{Endpoint, Method, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_base::names::strip_bom;
use headland_wire::{Name, Value, decode_plain};

/// Makes the call and returns an object, a list or nothing.
pub(super) async fn payload(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
    if !matches!(row.returns, Returns::Payload) {
        return Err(Error::new(Kind::Type, format!("{} returns no payload", row.full_name)));
    }
    let context = client.context_for(row)?;
    let call = arguments.call(row, &[], None)?;
    let mut attempts = context.attempts(&call, context.timeouts.call);
    match attempts.read_full().await {
        Ok(response) => decode_reply(row, &context.base, &call.path, &response)
            .map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(response.status)))),
        // The first request deleted it and its reply was lost. So the second request finds nothing.
        Err(error) if row.method == Method::Delete && is_gone(&error) && attempts.may_have_arrived() => Ok(Value::Null),
        Err(error) => Err(with_call_context(row, error, &attempts)),
    }
}

/// 410 states that the resource existed.
fn is_gone(error: &Error) -> bool {
    error.kind() == Kind::NotFound || error.facts().status == Some(410)
}

/// Adds the context of this call to the message of an error.
fn with_call_context(row: &'static Endpoint, error: Error, attempts: &Attempts<'_>) -> Error {
    match error.kind() {
        // A POST is sent once, and no list shows its result: field operations are only listed for their equipment, and
        // completions nowhere.
        Kind::UploadOutcomeUnknown => attempts.finish(error.map_message(|said| {
            format!(
                "the outcome of {} is unknown: {said}. It was not sent again, because a repeated POST may be executed \
                 twice; check the service before you repeat it",
                row.full_name
            )
        })),
        // A `ServiceResponse` with a status that the specification does not list.
        Kind::ConversionFailed | Kind::NoCoverage => error.with_kind(Kind::InvalidRequest),
        _ => error,
    }
}

fn decode_reply(row: &'static Endpoint, base: &BaseUrl, path: &str, response: &FullResponse) -> Result<Value> {
    let text = strip_bom(&response.body).trim_ascii();
    if text.is_empty() {
        let is_new = row.method == Method::Post || response.status == 201;
        return Ok(is_new
            .then(|| record_from_location(base, path, &response.headers))
            .flatten()
            .unwrap_or(Value::Null));
    }
    decode_json(&response.headers, text).map_err(|error| {
        if row.method == Method::Get {
            return error;
        }
        let done = format!("the service executed it (HTTP {}), but {}", response.status, error.message());
        Error::new(Kind::Decode, done)
    })
}

/// Decodes a body as JSON; the error describes a body that is not JSON.
pub(super) fn decode_json(headers: &HeaderMap, text: &[u8]) -> Result<Value> {
    let read = decode_plain(text);
    if read.is_ok() || matches!(text.first(), Some(b'{' | b'[' | b'"')) {
        return read;
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_plain = content_type.is_some_and(|content_type| content_type.to_ascii_lowercase().starts_with("text/plain"));
    match std::str::from_utf8(text) {
        // A word such as `OK` is valid, but carries no data.
        Ok(word) if is_plain => Ok(Value::Text(word.to_owned())),
        _ => {
            let description = describe_body(content_type, text);
            Err(Error::new(Kind::Decode, format!("expected application/json, got {description}")))
        }
    }
}

/// The new record from `Location`, for a reply without a body (field notes).
fn record_from_location(base: &BaseUrl, path: &str, headers: &HeaderMap) -> Option<Value> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    let uri =
        base.next_link(path, location).map_or_else(|_| base.absolute(location), |below| below.as_str().to_owned());
    let id = decode(uri.split(['?', '#']).next()?.trim_end_matches('/').rsplit('/').next()?);
    let field = |name: &'static str, text: String| (Name::Borrowed(name), Value::Text(text));
    (!id.is_empty()).then(|| Value::Record(vec![field("id", id), field("uri", uri)]))
}
