//! What the service answers, before it is bytes: a status, headers and one of the kinds of specification 2.1.

use std::fs::File;

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderName};

use super::paging::PageBounds;
use crate::api::envelope::SERVICE_RESPONSE;
use crate::api::{Index, Shape};
use crate::error::Error;
use crate::wire::{Name, Value};

/// A reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) content: Content,
}

/// What a reply carries.
#[derive(Debug)]
pub(super) enum Content {
    /// One record: a detail or a `ServiceResponse`.
    Record(&'static Shape, Value),
    /// A `ServiceIndex`: its envelope and the items of the page.
    List { index: &'static Index, envelope: Value, items: Vec<Value> },
    /// A file with its name.
    File { name: String, bytes: Bytes },
    /// A kept file of an upload, which is read while it is sent.
    Stored { name: String, file: File, length: u64 },
    /// A plain text.
    Text(String),
    /// A web page.
    WebPage(&'static str),
    /// JSON that no shape describes: what the dispatch service answers.
    Payload { tree: serde_json::Value, media_type: &'static str },
    /// No body at all, and no type of one.
    Nothing,
}

/// What is answered, or what is answered instead.
pub(super) type Answer = Result<Reply, Reply>;

impl Reply {
    /// A reply without further headers.
    pub(super) fn new(status: StatusCode, content: Content) -> Self {
        Self { status, headers: Vec::new(), content }
    }

    /// A plain text.
    pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        Self::new(status, Content::Text(text.into()))
    }

    /// A `ServiceResponse`.
    pub(super) fn service_response(status: StatusCode, status_text: &str, info: impl Into<String>) -> Self {
        let fields = vec![
            (Name::Borrowed("status"), Value::Text(status_text.to_owned())),
            (Name::Borrowed("error_info"), Value::Text(info.into())),
        ];
        Self::new(status, Content::Record(&SERVICE_RESPONSE, Value::Record(fields)))
    }

    /// Something in the request was wrong.
    pub(super) fn invalid(status: StatusCode, info: impl Into<String>) -> Self {
        Self::service_response(status, "INVALID_REQUEST", info)
    }

    /// 401 with the check that failed.
    pub(super) fn unauthorized(failed: impl Into<String>) -> Self {
        Self::invalid(StatusCode::UNAUTHORIZED, failed)
    }

    /// 404 for a record that is not there for this customer.
    pub(super) fn not_found(what: &str, id: &str) -> Self {
        Self::invalid(StatusCode::NOT_FOUND, format!("There is no {what} `{id}`."))
    }

    /// 501 for a row that this sandbox does not answer.
    pub(super) fn not_supported(name: &str) -> Self {
        Self::invalid(StatusCode::NOT_IMPLEMENTED, format!("This sandbox does not imitate {name} yet."))
    }

    /// 400.
    pub(super) fn bad_request(info: impl Into<String>) -> Self {
        Self::invalid(StatusCode::BAD_REQUEST, info)
    }

    /// A wait of so many seconds.
    pub(super) fn more_time(status: StatusCode, seconds: u64) -> Self {
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
        Self::service_response(status, "MORE_TIME_NEEDED", format!("{hours:02}:{minutes:02}:{:02}", seconds % 60))
            .with_header(header::RETRY_AFTER, seconds.to_string())
    }

    /// A page of a list.
    pub(super) fn list(
        index: &'static Index,
        total: u64,
        page: u64,
        bounds: &PageBounds,
        size: u64,
        items: Vec<Value>,
    ) -> Self {
        let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let envelope = Value::Record(vec![
            (Name::Borrowed("total_count"), integer(total)),
            (Name::Borrowed("page_size"), integer(size)),
            (Name::Borrowed("is_previous_page"), Value::Boolean(bounds.is_previous)),
            (Name::Borrowed("is_next_page"), Value::Boolean(bounds.is_next)),
            (Name::Borrowed("page_index"), integer(page)),
            (Name::Borrowed("total_pages"), integer(bounds.pages)),
        ]);
        Self::new(StatusCode::OK, Content::List { index, envelope, items })
    }

    /// The same reply with one more header.
    pub(super) fn with_header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Database trouble, in the words of specification 7; trouble with files of uploads is the same to a client.
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
