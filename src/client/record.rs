//! Reads one record: from a detail call, or from a list with one item.

use http::header::CONTENT_TYPE;

use super::arguments::Arguments;
use super::setup::Client;
use crate::transport::FullResponse;
use headland_api::locations::DEVICE_LOCATION;
use headland_api::{Endpoint, Index, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_base::names::strip_bom;
use headland_wire::{Content, Page, Value, check_values, decode_detail, decode_index, is_page};

/// Reads the detail of a record; null if the service returns an empty list for it.
pub(super) async fn detail(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
    let decode: &(dyn Fn(Content, &[u8]) -> Result<Value> + Send + Sync) = match row.returns {
        Returns::Detail(shape) | Returns::Table { detail: shape, .. } => {
            &move |content, body| decode_detail(content, body, shape)
        }
        Returns::OneOf(index) => &move |content, body| decode_single(content, body, index),
        _ => return Err(Error::new(Kind::Type, format!("{} returns no detail", row.full_name))),
    };
    let call = arguments.call(row, &[], None)?;
    let context = client.context();
    let mut attempts = context.attempts(&call, context.timeouts.call);
    let response = attempts.read_full().await?;
    content_of(&response, context.accept)
        .and_then(|content| decode(content, &response.body))
        .and_then(|record| check_id(row, arguments, record))
        .map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(response.status))))
}

/// Checks that the record has the requested id.
///
/// A location has its own id and may be that of another device, so it is not compared. A hub in flat form may have the
/// id of its report, whose device is the hub (specification 2.4).
fn check_id(row: &'static Endpoint, arguments: &Arguments, record: Value) -> Result<Value> {
    let is_location = matches!(row.returns, Returns::OneOf(index) if index.item.name == DEVICE_LOCATION.name);
    let (Some(requested), Some(received)) = (arguments.get("id"), id_of(&record)) else { return Ok(record) };
    let device = record.get("report").unwrap_or(&record).get("device_id").and_then(Value::as_text);
    if is_location || same_id(&received, requested) || device.is_some_and(|device| same_id(device, requested)) {
        return Ok(record);
    }
    let received: String = received.chars().take(100).collect();
    let message = format!("expected the record with the id `{requested}`, got the one with the id `{received}`");
    Err(Error::new(Kind::Decode, message).with(|facts| facts.field = Some("ID".to_owned())))
}

fn id_of(record: &Value) -> Option<String> {
    match record.get("id")? {
        Value::Text(id) => Some(id.clone()),
        // The detail of a prescription map has no id in the specification (2.5).
        Value::Unknown(tree) if tree.is_number() => Some(tree.to_string()),
        Value::Unknown(tree) => tree.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Whether two ids are equal. Ids are opaque; GUIDs have letters of either case.
pub(super) fn same_id(left: &str, right: &str) -> bool {
    left.trim().eq_ignore_ascii_case(right.trim())
}

/// The only record of a list, null if the list is empty. A record without the envelope is accepted if it has an id,
/// because the specification does not show this shape.
fn decode_single(content: Content, body: &[u8], index: &'static Index) -> Result<Value> {
    match decode_index(content, body, index) {
        Ok(page) => single_item(page),
        Err(error) => {
            let bare = decode_detail(content, body, index.item).ok();
            bare.filter(|record| matches!(record.get("id"), Some(Value::Text(_)))).ok_or(error)
        }
    }
}

/// The record of an envelope that contains and counts no other. With several records, the requested one is unknown.
fn single_item(page: Page) -> Result<Value> {
    const SHOWN: usize = 5;
    let received = page.items.len();
    let counted = page.total_count.unwrap_or_default();
    if received > 1 {
        let id = |record: &Value| record.get("id").and_then(Value::as_text).unwrap_or("none").to_owned();
        let ids: Vec<String> = page.items.iter().take(SHOWN).map(id).collect();
        let more = if received > SHOWN { ", ..." } else { "" };
        let message = format!("expected one record, got {received}, with the ids {}{more}", ids.join(", "));
        return Err(Error::new(Kind::Decode, message));
    }
    if counted > 1 {
        let message = format!("expected one record, got {received}, and the reply counts {counted}");
        return Err(Error::new(Kind::Decode, message));
    }
    Ok(page.items.into_iter().next().unwrap_or(Value::Null))
}

/// The content type of a body, regardless of the requested type. Other content, such as the web page of a proxy, is an
/// error that describes it.
pub(super) fn content_of(response: &FullResponse, requested: Content) -> Result<Content> {
    check_values(&response.body)?;
    let text = strip_bom(&response.body).trim_ascii_start();
    let content_type = response.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_html = || content_type.is_some_and(|text| text.to_ascii_lowercase().contains("html"));
    match Content::from_body(text) {
        Some(Content::Json) => Ok(Content::Json),
        Some(Content::Xml) if !is_html() && !is_page(text) => Ok(Content::Xml),
        _ => {
            let requested = requested.media_type();
            let received = describe_body(content_type, text);
            Err(Error::new(Kind::Decode, format!("expected {requested}, got {received}")))
        }
    }
}

/// Describes a body by its type and first characters.
pub(super) fn describe_body(content_type: Option<&str>, body: &[u8]) -> String {
    if body.is_empty() {
        return "an empty reply".to_owned();
    }
    let start = String::from_utf8_lossy(body.get(..body.len().min(200)).unwrap_or_default());
    let is_page = is_page(body);
    let start: String = start.chars().filter(|c| !c.is_control()).take(60).collect();
    let content_type = content_type.unwrap_or("no content type");
    if is_page { format!("a web page ({content_type}): `{start}`") } else { format!("{content_type}: `{start}`") }
}
