//! The three kinds of reply of specification 2.1, read from either content type.

use super::json;
use super::value::Value;
use crate::api::{Index, Shape};
use crate::error::Result;

/// The content type of a reply that is not a file (specification 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `application/json`.
    Json,
}

impl Content {
    /// The value for `Accept` and `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
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
    }
}

/// Reads one page of a list.
pub fn decode_index(content: Content, body: &[u8], index: &'static Index) -> Result<Page> {
    match content {
        Content::Json => json::decode_index(body, index),
    }
}

/// Reads a `ServiceResponse`, whatever the content type says: services answer with one where a file was asked for.
/// `None` where the body is something else.
#[must_use]
pub fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0xEF | 0xBB | 0xBF))?;
    match first {
        b'{' => json::decode_response(body),
        _ => None,
    }
}
