//! Replies before encoding: status, headers and a content kind of specification 2.1.

use std::fs::File;

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderName};

use super::paging::PageBounds;
use headland_api::envelope::SERVICE_RESPONSE;
use headland_api::{Index, Shape};
use headland_base::error::Error;
use headland_wire::{Name, Value};

/// A reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) content: Content,
}

/// Content of a reply.
#[derive(Debug)]
pub(super) enum Content {
    /// A detail or a `ServiceResponse`.
    Record(&'static Shape, Value),
    /// A `ServiceIndex`: envelope and items of a page.
    List { index: &'static Index, envelope: Value, items: Vec<Value> },
    /// A file with its name.
    File { name: String, bytes: Bytes },
    /// A stored upload, streamed from disk.
    Stored { name: String, file: File, length: u64 },
    /// Plain text.
    Text(String),
    /// An HTML page.
    WebPage(&'static str),
    /// JSON without a shape, from the dispatch service.
    Payload { tree: serde_json::Value, media_type: &'static str },
    /// No body and no content type.
    Nothing,
}

/// A reply, or the error reply that replaces it.
pub(super) type Answer = Result<Reply, Reply>;

impl Reply {
    /// Creates a reply without headers.
    pub(super) fn new(status: StatusCode, content: Content) -> Self {
        Self { status, headers: Vec::new(), content }
    }

    /// Creates a plain text reply.
    pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        Self::new(status, Content::Text(text.into()))
    }

    /// Creates a `ServiceResponse`.
    pub(super) fn service_response(status: StatusCode, status_text: &str, info: impl Into<String>) -> Self {
        let fields = vec![
            (Name::Borrowed("status"), Value::Text(status_text.to_owned())),
            (Name::Borrowed("error_info"), Value::Text(info.into())),
        ];
        Self::new(status, Content::Record(&SERVICE_RESPONSE, Value::Record(fields)))
    }

    /// Creates an `INVALID_REQUEST` reply.
    pub(super) fn invalid(status: StatusCode, info: impl Into<String>) -> Self {
        Self::service_response(status, "INVALID_REQUEST", info)
    }

    /// Creates a 401 reply that names the failed check.
    pub(super) fn unauthorized(failed: impl Into<String>) -> Self {
        Self::invalid(StatusCode::UNAUTHORIZED, failed)
    }

    /// Creates a 404 reply for a record that the customer does not have.
    pub(super) fn not_found(what: &str, id: &str) -> Self {
        Self::invalid(StatusCode::NOT_FOUND, format!("There is no {what} `{id}`."))
    }

    /// Creates a 501 reply for an endpoint that the sandbox does not support.
    pub(super) fn not_supported(name: &str) -> Self {
        Self::invalid(StatusCode::NOT_IMPLEMENTED, format!("This sandbox does not imitate {name} yet."))
    }

    /// Creates a 400 reply.
    pub(super) fn bad_request(info: impl Into<String>) -> Self {
        Self::invalid(StatusCode::BAD_REQUEST, info)
    }

    /// Creates a reply that requests a wait in seconds.
    pub(super) fn more_time(status: StatusCode, seconds: u64) -> Self {
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
        Self::service_response(status, "MORE_TIME_NEEDED", format!("{hours:02}:{minutes:02}:{:02}", seconds % 60))
            .with_header(header::RETRY_AFTER, seconds.to_string())
    }

    /// Creates a page of a list.
    pub(super) fn list(index: &'static Index, bounds: &PageBounds, size: u64, items: Vec<Value>) -> Self {
        let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let envelope = Value::Record(vec![
            (Name::Borrowed("total_count"), integer(bounds.total)),
            (Name::Borrowed("page_size"), integer(size)),
            (Name::Borrowed("is_previous_page"), Value::Boolean(bounds.is_previous)),
            (Name::Borrowed("is_next_page"), Value::Boolean(bounds.is_next)),
            (Name::Borrowed("page_index"), integer(bounds.asked.page)),
            (Name::Borrowed("total_pages"), integer(bounds.pages)),
        ]);
        Self::new(StatusCode::OK, Content::List { index, envelope, items })
    }

    /// Adds a header.
    pub(super) fn with_header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Returns the reply for database errors (specification 7) and for file errors of uploads.
fn unavailable() -> Reply {
    Reply::text(StatusCode::SERVICE_UNAVAILABLE, "Resources exhausted. Try again.")
}

impl From<rusqlite::Error> for Reply {
    fn from(_: rusqlite::Error) -> Self {
        unavailable()
    }
}

impl From<std::io::Error> for Reply {
    fn from(_: std::io::Error) -> Self {
        unavailable()
    }
}

impl From<Error> for Reply {
    fn from(_: Error) -> Self {
        unavailable()
    }
}
