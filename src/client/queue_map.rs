//! Commands: calls that change something and return no data, such as queuing a prescription map for a field computer.
//!
//! The specification shows neither the status codes of the two conflicts (7) nor the body of a 200, so no text is
//! interpreted. An empty reply is success if its end is marked. After any other 2XX reply, the lists of the field
//! computer show whether the map is there. A map that only seems to be queued would be missing in the field.

use http::header::CONTENT_TYPE;

use super::arguments::Arguments;
use super::pages::Pages;
use super::record::{describe_body, same_id};
use super::setup::Client;
use crate::transport::FullResponse;
use headland_api::field_computers::STATES;
use headland_api::{self as api, Endpoint, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_base::names::strip_bom;
use headland_wire::{Value, is_page};

/// The list of maps that were sent to a field computer.
pub(super) const SENT_MAPS: &str = "field_computers.prescription_maps";

/// A reply with this status has no body (RFC 9110, section 15.3.5:
/// <https://www.rfc-editor.org/rfc/rfc9110#section-15.3.5>).
const NO_CONTENT: u16 = 204;

/// Advice if it remains unknown whether the map is queued.
const CHECK_HINT: &str =
    "check the prescription maps of the field computer with the state `queued` before you repeat it";

/// Sends a command.
pub(super) async fn send_command(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<()> {
    if !matches!(row.returns, Returns::Nothing) {
        return Err(Error::new(Kind::Type, format!("{} returns a value", row.full_name)));
    }
    let call = arguments.call(row, &[], None)?;
    let context = client.context();
    let mut attempts = context.attempts(&call, context.timeouts.call);
    let (error, states) = match attempts.read_full().await {
        Ok(response) if (response.is_framed || response.status == NO_CONTENT) && text_of(&response).is_empty() => {
            return Ok(());
        }
        Ok(response) => (attempts.finish(unexpected_body(&response)), STATES),
        // A `ServiceResponse` with a text and a status that the specification does not list for a send.
        Err(error) if matches!(error.kind(), Kind::ConversionFailed | Kind::NoCoverage | Kind::NotReady) => {
            (error.with_kind(Kind::InvalidRequest), STATES)
        }
        Err(error) if matches!(error.kind(), Kind::InvalidRequest | Kind::Conflict) => {
            let error = conflict_by_status(error);
            // The first request may have been executed although its reply was lost. Then the refused request is a
            // repetition.
            if !attempts.may_have_arrived() {
                return Err(explain_conflict(error));
            }
            (error, STATES.get(..1).unwrap_or_default())
        }
        Err(error) => return Err(explain_missing(error)),
    };
    match is_sent(client, arguments, states).await {
        Ok(true) => Ok(()),
        Ok(false) if matches!(error.kind(), Kind::InvalidRequest) => {
            Err(append(&error, "and the field computer has no such map, queued or delivered"))
        }
        Ok(false) => Err(error),
        Err(why) => {
            let why = format!("and headland cannot read whether the map is queued ({}); {CHECK_HINT}", why.message());
            Err(append(&error, &why))
        }
    }
}

/// An invalid request has a 4XX status. `INVALID_REQUEST` with another status is a conflict (specification 7).
fn conflict_by_status(error: Error) -> Error {
    let is_conflict = error.facts().status.is_some_and(|status| status < 400);
    if is_conflict { error.with_kind(Kind::Conflict) } else { error }
}

/// The error for a 2XX reply with a body, or with an empty body whose end is not marked.
fn unexpected_body(response: &FullResponse) -> Error {
    let text = text_of(response);
    let content_type = response.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_html = content_type.is_some_and(|text| text.to_ascii_lowercase().contains("html"));
    let kind = if is_html || is_page(text) { Kind::Decode } else { Kind::InvalidRequest };
    let message = if text.is_empty() {
        "the empty reply has no end mark and may be truncated".to_owned()
    } else {
        format!("expected an empty reply, got {}", describe_body(content_type, text))
    };
    Error::new(kind, message).with(|facts| facts.status = Some(response.status))
}

fn text_of(response: &FullResponse) -> &[u8] {
    strip_bom(&response.body).trim_ascii()
}

/// Whether a list of the field computer contains the map; each list is read once.
async fn is_sent(client: &Client, arguments: &Arguments, states: &[&str]) -> Result<bool> {
    let (map, computer) = (arguments.get("rx_id"), arguments.get("field_computer_id"));
    let (Some(map), Some(computer)) = (map, computer) else { return Ok(false) };
    Ok(state_of(client, map, computer, states).await?.is_some())
}

/// The first of the states in which the field computer lists the map; each list is read once.
pub(super) async fn state_of<'a>(
    client: &Client,
    map: &str,
    computer: &str,
    states: &[&'a str],
) -> Result<Option<&'a str>> {
    for state in states {
        if sent_maps(client, computer, state).await?.iter().any(|sent| has_id(sent, map)) {
            return Ok(Some(state));
        }
    }
    Ok(None)
}

/// The maps that a field computer lists in a state.
pub(super) async fn sent_maps(client: &Client, computer: &str, state: &str) -> Result<Vec<Value>> {
    let Some(list) = api::row(SENT_MAPS) else { return Ok(Vec::new()) };
    let given = [("id", computer.to_owned()), ("state", state.to_owned())];
    let mut pages = Pages::new(client.clone(), list, Arguments::new(list, &given)?, None, None)?;
    let mut found = Vec::new();
    while let Some(page) = pages.next_page().await.map_err(explain_missing)? {
        found.extend(page);
    }
    Ok(found)
}

/// Whether an item of a list has this id.
pub(super) fn has_id(item: &Value, wanted: &str) -> bool {
    item.get("id").and_then(Value::as_text).is_some_and(|id| same_id(id, wanted))
}

/// Says of a missing record which lists have the ids.
pub(super) fn explain_missing(error: Error) -> Error {
    if error.kind() != Kind::NotFound {
        return error;
    }
    append(
        &error,
        "so nothing was sent; `headland ls field_computers` (`client.field_computers.list()`) has the ids of field \
         computers, `headland ls prescription_maps` (`client.prescription_maps.list()`) those of maps",
    )
}

/// Says of a conflict how it ends.
fn explain_conflict(error: Error) -> Error {
    if error.kind() != Kind::Conflict {
        return error;
    }
    append(
        &error,
        "so nothing was sent; wait until the queued map is delivered, or upload this one under another file name \
         (`client.prescription_maps.plan(map, computer)` shows what is queued)",
    )
}

fn append(error: &Error, more: &str) -> Error {
    // The words of the service are quoted as they are, and may be a sentence.
    error.clone().map_message(|message| match more.strip_prefix("so ") {
        Some(rest) if message.ends_with('.') => format!("{message} So {rest}"),
        _ => format!("{message}, {more}"),
    })
}
