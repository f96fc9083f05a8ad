//! Uploads: checks a file and sends it once.

use http::HeaderMap;
use http::header::LOCATION;

use super::arguments::{Arguments, decode};
use super::lost_upload::{Created, look_up};
use super::multipart::{UploadFile, check_name, form};
use super::setup::Client;
use super::upload_rules;
use crate::transport::{Call, FullResponse, is_truncated_document};
use headland_api::row::Takes;
use headland_api::{Endpoint, Parameter};
use headland_base::error::{Error, Kind, Result};
use headland_wire::Content;

/// Sends a file and returns the new record.
pub(super) async fn upload(
    client: &Client,
    row: &'static Endpoint,
    arguments: &Arguments,
    file: UploadFile,
) -> Result<Created> {
    let part = check(row, arguments, &file)?;
    let name = &*file.name;
    let call = arguments.call(row, &[], Some(form(part.wire, name, &file.content, &arguments.parts())))?;
    client.own_uploads.begin(row, name);
    let outcome = send(client, row, name, &call).await;
    match &outcome {
        Ok(created) => client.own_uploads.end(row, name, std::slice::from_ref(&created.id)),
        Err(error) => client.own_uploads.end(row, name, &error.facts().candidates),
    }
    outcome
}

/// Checks a file by the rules of its row and returns the parameter of the file; no call is made.
pub(super) fn check(row: &'static Endpoint, arguments: &Arguments, file: &UploadFile) -> Result<&'static Parameter> {
    let Some(part) = row.parameters.iter().find(|parameter| parameter.takes == Takes::File) else {
        return Err(Error::new(Kind::Type, format!("{} accepts no file", row.full_name)));
    };
    let wrong = |why: &str| {
        Error::new(Kind::Value, format!("`{}` {why}", part.name)).with(|facts| facts.endpoint = Some(row.full_name))
    };
    if file.content.is_empty() {
        return Err(wrong("is empty"));
    }
    check_name(&file.name).map_err(|why| wrong(&why))?;
    upload_rules::check(row, arguments.get("file_type"), &file.name, &file.content)
        .map_err(|rule| Error::new(Kind::InvalidRequest, rule).with(|facts| facts.endpoint = Some(row.full_name)))?;
    Ok(part)
}

async fn send(client: &Client, row: &'static Endpoint, name: &str, call: &Call) -> Result<Created> {
    let context = client.context();
    let mut attempts = context.attempts(call, context.timeouts.call);
    let unknown = match attempts.read_full().await {
        // In a body that may be truncated, an address at the end may be truncated too.
        Ok(response) => {
            match created(client, row, &response.headers, if is_complete(&response) { &response.body } else { b"" }) {
                Some(created) => return Ok(created),
                None => attempts.finish(
                    Error::new(
                        Kind::UploadOutcomeUnknown,
                        "the service accepted the file but did not return its location",
                    )
                    .with(|facts| facts.status = Some(response.status)),
                ),
            }
        }
        Err(error) if error.kind() == Kind::UploadOutcomeUnknown => error,
        Err(error) => return Err(error),
    };
    let timeout = context.timeouts.call;
    tokio::select! {
        biased;
        found = look_up(client, row, name, attempts.sent_at(), &unknown) => found,
        () = context.clock.sleep(timeout) => {
            Err(unknown.map_message(|said| format!("{said}. The lookup took longer than {} s", timeout.as_secs_f64())))
        }
    }
}

/// Whether a body is complete: its end is marked, or it is closed JSON or XML.
fn is_complete(response: &FullResponse) -> bool {
    let is_document = Content::from_body(response.body.trim_ascii_start()).is_some();
    response.is_framed || (is_document && !is_truncated_document(&response.body))
}

/// The address of the new record: from `Location`, or else from an address of that kind in the body.
fn created(client: &Client, row: &'static Endpoint, headers: &HeaderMap, body: &[u8]) -> Option<Created> {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = String::from_utf8_lossy(body).replace("\\/", "/");
    [location, find_uri(&body, row.path)].into_iter().flatten().find_map(|uri| {
        let path = uri.split(['?', '#']).next()?.trim_end_matches('/');
        let (before, id) = path.rsplit_once('/')?;
        let is_ours = before.to_ascii_lowercase().ends_with(row.path) && !id.is_empty();
        is_ours.then(|| Created { id: decode(id), uri: client.context().base.absolute(&uri) })
    })
}

/// The first address in a text whose path continues after `path`.
fn find_uri(text: &str, path: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ',' | '{' | '}' | '[' | ']');
    let path = format!("{path}/");
    text.split(is_end).find(|word| word.to_ascii_lowercase().contains(&path)).map(str::to_owned)
}
