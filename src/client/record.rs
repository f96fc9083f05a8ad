//! One record: a detail call, or an index with one.

use http::header::CONTENT_TYPE;

use super::{Arguments, Client};
use crate::api::{Endpoint, Returns};
use crate::error::{Error, Kind, Result};
use crate::transport::Whole;
use crate::wire::{Content, Value, decode_detail, decode_index};

/// Reads the detail of a record.
pub(super) async fn detail(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<Value> {
    let Returns::Detail(shape) = row.returns else {
        return Err(Error::new(Kind::Type, format!("{} gives no detail", row.full_name)));
    };
    let call = arguments.call(row, &[], None)?;
    let caller = client.caller();
    let mut attempts = caller.attempts(&call, caller.limits.call);
    let whole = attempts.whole().await?;
    must_be_json(&whole)
        .and_then(|()| decode_detail(Content::Json, &whole.body, shape))
        .map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(whole.status))))
}

/// Reads the one record of an index.
pub(super) async fn one_of(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<Option<Value>> {
    let Returns::OneOf(index) = row.returns else {
        return Err(Error::new(Kind::Type, format!("{} gives no single record", row.full_name)));
    };
    let call = arguments.call(row, &[], None)?;
    let caller = client.caller();
    let mut attempts = caller.attempts(&call, caller.limits.call);
    let whole = attempts.whole().await?;
    must_be_json(&whole)
        .and_then(|()| decode_index(Content::Json, &whole.body, index))
        .map(|page| page.items.into_iter().next())
        .map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(whole.status))))
}

/// Tells what came instead of JSON, such as the web page of a proxy.
pub(super) fn must_be_json(whole: &Whole) -> Result<()> {
    let text = whole.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&whole.body).trim_ascii_start();
    if matches!(text.first(), Some(b'{' | b'[')) {
        return Ok(());
    }
    let content_type = whole.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    Err(Error::new(Kind::Decode, format!("JSON was asked for, but {} came", what_came(content_type, text))))
}

/// Names a body by its type and its first characters.
pub(super) fn what_came(content_type: Option<&str>, body: &[u8]) -> String {
    if body.is_empty() {
        return "an empty reply".to_owned();
    }
    let start = String::from_utf8_lossy(body.get(..body.len().min(200)).unwrap_or_default());
    let lower = start.to_ascii_lowercase();
    let is_page = lower.contains("<!doctype html") || lower.contains("<html");
    let start: String = start.chars().filter(|c| !c.is_control()).take(60).collect();
    let content_type = content_type.unwrap_or("no content type");
    if is_page { format!("a web page ({content_type}): `{start}`") } else { format!("{content_type}: `{start}`") }
}
