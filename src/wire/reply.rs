//! The three kinds of reply of specification 2.1, read from either content type.

use super::fields::ITEMS;
use super::value::Value;
use super::{json, xml};
use crate::api::{Index, Shape};
use crate::error::{Error, Kind, Result};

/// The content type of a reply that is not a file (specification 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `application/json`.
    Json,
    /// `text/xml`.
    Xml,
}

impl Content {
    /// The value for `Accept` and `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Xml => "text/xml",
        }
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Total records in the list, where the service gives it.
    pub total_count: Option<u64>,
    /// Whether pages exist after this one.
    pub is_next_page: bool,
    /// The records of this page.
    pub items: Vec<Value>,
}

/// The service's word on an error or a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceResponse {
    /// Overall status, such as `MORE_TIME_NEEDED`.
    pub status: String,
    /// Text for the user, or a wait as `hh:mm:ss`.
    pub error_info: String,
    /// Details for support; the literal `nil` of the service is no detail.
    pub result: Option<String>,
}

/// Reads one record.
pub fn decode_detail(content: Content, body: &[u8], shape: &'static Shape) -> Result<Value> {
    match content {
        Content::Json => json::decode_detail(body, shape),
        Content::Xml => xml::decode_detail(body, shape),
    }
}

/// Reads one page of a list.
pub fn decode_index(content: Content, body: &[u8], index: &'static Index) -> Result<Page> {
    match content {
        Content::Json => json::decode_index(body, index),
        Content::Xml => xml::decode_index(body, index),
    }
}

/// Reads a `ServiceResponse`, whatever the content type says: services answer with one where a file was asked for.
/// `None` where the body is something else.
#[must_use]
pub fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0xEF | 0xBB | 0xBF))?;
    match first {
        b'{' => json::decode_response(body),
        b'<' => xml::decode_response(body),
        _ => None,
    }
}

/// Makes a page of an envelope's fields and items.
pub(super) fn page_of(record: Value, index: &Index) -> Result<Page> {
    let mut page = Page { total_count: None, is_next_page: false, items: Vec::new() };
    let mut is_envelope = false;
    let Value::Record(fields) = record else { return Err(wrong_envelope(index.kind)) };
    for (name, value) in fields {
        match (name.as_ref(), value) {
            ("total_count", Value::Integer(count)) => page.total_count = u64::try_from(count).ok(),
            ("is_next_page", Value::Boolean(more)) => page.is_next_page = more,
            (ITEMS, Value::List(items)) => page.items.extend(items),
            _ => continue,
        }
        is_envelope = true;
    }
    if is_envelope { Ok(page) } else { Err(wrong_envelope(index.kind)) }
}

fn wrong_envelope(kind: &str) -> Error {
    Error::new(
        Kind::Decode,
        format!("the reply is not a ServiceIndex of {kind}: it has neither TotalCount nor IsNextPage nor {kind}"),
    )
}

/// Makes a `ServiceResponse` of its members, where they are one. A detail has a `Status` too (a job, a map): a
/// `ServiceResponse` is told by its `errorInfo`, or by having nothing else.
pub(super) fn response_of(text: impl Fn(&str) -> Option<String>, members: usize) -> Option<ServiceResponse> {
    let status = text("status")?;
    let error_info = text("errorInfo");
    if error_info.is_none() && members > 2 {
        return None;
    }
    Some(ServiceResponse {
        status,
        error_info: error_info.unwrap_or_default(),
        result: text("result").filter(|text| !text.is_empty() && text != "nil"),
    })
}
