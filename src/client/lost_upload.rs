//! Finds out whether an upload whose reply was lost arrived: searches the list for its record.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::arguments::Arguments;
use super::pages::Pages;
use super::record;
use super::setup::Client;
use headland_api::{self as api, Endpoint, Method, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_wire::Value;

/// The list is requested from this much before the call, because the service accepts clocks that differ by as much
/// (specification 5.2). The service's own clock decides which records are new.
const MAX_CLOCK_SKEW: chrono::Duration = chrono::Duration::seconds(120);

/// `Date` and `CreateDate` have whole seconds, rounded or truncated.
const DATE_PRECISION: chrono::Duration = chrono::Duration::seconds(2);

/// Pauses before each search of the list: the service may still be storing the file.
const LOOKUP_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(2), Duration::from_secs(6)];

/// A new record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its id.
    pub id: String,
    /// Its address.
    pub uri: String,
}

/// Searches the list for the record of a lost reply. Exactly one new record is the result; nothing is sent again.
pub(super) async fn look_up(
    client: &Client,
    row: &'static Endpoint,
    name: &str,
    sent_at: Duration,
    unknown: &Error,
) -> Result<Created> {
    let list = api::rows().find(|other| {
        other.method == Method::Get && other.path == row.path && matches!(other.returns, Returns::Index(_))
    });
    let Some(list) = list else { return Err(unknown.clone()) };
    let mut found = Vec::new();
    for pause in LOOKUP_PAUSES {
        if !pause.is_zero() {
            let mut waiting = client.context().waiting();
            waiting.report(pause, || "the list to show the uploaded file".to_owned());
            client.context().clock.sleep(pause).await;
        }
        found = match candidates(client, row, list, name, sent_at).await {
            Ok(found) => found,
            Err(error) => {
                let more = format!("The lookup failed, too: {}", error.message());
                return Err(unknown.clone().map_message(|said| format!("{said}. {more}")));
            }
        };
        if !found.is_empty() {
            break;
        }
    }
    match found.as_slice() {
        [Candidate { created, is_new: true }] if !client.own_uploads.has_concurrent(row, name) => Ok(created.clone()),
        [] => {
            let more = format!("The list shows no new `{name}` yet; it was not sent again");
            let error = unknown.clone().map_message(|said| format!("{said}. {more}"));
            // The reply reported an error and no record was stored: the outcome is that error, not a lost reply.
            let is_trouble = error.facts().status.is_some_and(|status| status >= 500);
            Err(if is_trouble { error.with_kind(Kind::ServiceUnavailable) } else { error })
        }
        several => {
            let ids: Vec<String> = several.iter().map(|candidate| candidate.created.id.clone()).collect();
            let more = format!(
                "The list shows `{name}` under {}, and it is unknown which of them is this upload; it was not sent again",
                ids.join(", ")
            );
            Err(unknown.clone().map_message(|said| format!("{said}. {more}")).with(|facts| facts.candidates = ids))
        }
    }
}

struct Candidate {
    created: Created,
    /// Whether the record is newer than the request by the service's clock. False if either date is missing.
    is_new: bool,
}

/// The records with that name that the request of `sent_at` may have created.
async fn candidates(
    client: &Client,
    row: &'static Endpoint,
    list: &'static Endpoint,
    name: &str,
    sent_at: Duration,
) -> Result<Vec<Candidate>> {
    let context = client.context();
    let ago = chrono::Duration::from_std(context.clock.elapsed().saturating_sub(sent_at)).unwrap_or_default();
    let ours = context.skew.time(&*context.clock) - ago;
    let ours = ours.checked_sub_signed(MAX_CLOCK_SKEW).unwrap_or(ours);
    let given: Vec<(&str, String)> =
        list.parameter("date").map(|date| (date.name, ours.to_rfc3339())).into_iter().collect();
    let mut pages = Pages::new(client.clone(), list, Arguments::new(list, &given)?, None, None)?;
    let mut items = Vec::new();
    while let Some(page) = pages.next_page().await? {
        items.extend(page);
    }
    // The `Date` of the list gives the time of the request by the clock that dates records.
    let theirs = context.skew.service_time_at(sent_at).and_then(|time| time.checked_sub_signed(DATE_PRECISION));
    let earliest = theirs.unwrap_or(ours);
    let mut found = Vec::new();
    for item in items {
        let text = |field: &str| item.get(field).and_then(Value::as_text).unwrap_or_default().to_owned();
        if !text("name").eq_ignore_ascii_case(name) || client.own_uploads.is_own(row, &text("id")) {
            continue;
        }
        let created = match item.get("create_date") {
            Some(Value::Time(time)) => Some(*time),
            _ => created_at(client, list, &text("id")).await,
        };
        if created.is_none_or(|time| time >= earliest) {
            let is_new = created.is_some() && theirs.is_some();
            found.push(Candidate { created: Created { id: text("id"), uri: text("uri") }, is_new });
        }
    }
    Ok(found)
}

/// The creation time from the record's detail, for lists whose items have no dates. `None` if it is missing or
/// unreadable; the record remains a candidate.
async fn created_at(client: &Client, list: &'static Endpoint, id: &str) -> Option<DateTime<Utc>> {
    let path = format!("{}/{{id}}", list.path);
    let detail = api::rows().find(|other| {
        other.method == Method::Get && other.path == path && matches!(other.returns, Returns::Detail(_))
    })?;
    let arguments = Arguments::new(detail, &[("id", id.to_owned())]).ok()?;
    match record::detail(client, detail, &arguments).await.ok()?.get("create_date") {
        Some(Value::Time(time)) => Some(*time),
        _ => None,
    }
}
