//! The replies of specification 2.1: a record, a page of a list, a `ServiceResponse`.

use super::fields::ITEMS;
use super::value::{Name, Value};
use headland_api::{Index, Shape};
use headland_base::error::{Error, Kind, Result};
use headland_base::names::strip_bom;

/// The content type of a reply that is not a file (specification 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `application/json`.
    Json,
    /// `text/xml`.
    Xml,
}

impl Content {
    /// The value of `Accept` and `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Xml => "text/xml",
        }
    }

    /// Detects the content type of a body by its first character. `None`: it is neither.
    #[must_use]
    pub fn from_body(body: &[u8]) -> Option<Self> {
        match strip_bom(body).trim_ascii_start().first()? {
            b'{' => Some(Self::Json),
            b'<' => Some(Self::Xml),
            _ => None,
        }
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Total records in the list, if the service states it.
    pub total_count: Option<u64>,
    /// Whether pages exist after this one.
    pub is_next_page: bool,
    /// The records of this page.
    pub items: Vec<Value>,
}

/// The service's report of an error or a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceResponse {
    /// Overall status, such as `MORE_TIME_NEEDED`.
    pub status: String,
    /// Text for the user, or a wait as `hh:mm:ss`.
    pub error_info: String,
    /// Details for support; None for the literal `nil`.
    pub result: Option<String>,
}

/// Refuses a record without any field of its shape: it is another kind of reply.
pub(super) fn check_detail(record: Value, shape: &Shape) -> Result<Value> {
    let is_known = |(_, value): &(Name, Value)| !matches!(value, Value::Unknown(_));
    match &record {
        Value::Record(fields) if fields.iter().any(is_known) => Ok(record),
        _ => Err(Error::new(Kind::Decode, format!("the reply is not {}: it has none of its fields", shape.name))),
    }
}

/// Converts the fields of an envelope and its items to a page.
pub(super) fn to_page(record: Value, index: &Index) -> Result<Page> {
    let Value::Record(fields) = record else { return Err(wrong_envelope(index.kind)) };
    let (mut total_count, mut is_next_page, mut items) = (None, None, None::<Vec<Value>>);
    let (mut page_index, mut total_pages, mut other) = (None, None, None);
    for (name, value) in fields {
        match (name.as_ref(), value) {
            ("total_count", Value::Integer(count)) => total_count = u64::try_from(count).ok(),
            ("page_index", Value::Integer(page)) => page_index = Some(page),
            ("total_pages", Value::Integer(pages)) => total_pages = Some(pages),
            ("is_next_page", Value::Boolean(more)) => is_next_page = Some(more),
            (ITEMS, Value::List(found)) => items.get_or_insert_default().extend(found),
            (name, Value::Unknown(tree)) if tree.is_array() || tree.is_object() => other = Some(name.to_owned()),
            _ => {}
        }
    }
    if total_count.is_none() && is_next_page.is_none() && items.is_none() {
        return Err(wrong_envelope(index.kind));
    }
    // A list with another name is another list; without this check the page would seem empty.
    if let (None, Some(other)) = (&items, other) {
        let message = format!("the reply is not a ServiceIndex of {}: it contains `{other}` instead", index.kind);
        return Err(Error::new(Kind::Decode, message));
    }
    let items = items.unwrap_or_default();
    let by_number = page_index.zip(total_pages).map(|(page, pages): (i64, i64)| page.saturating_add(1) < pages);
    let is_next_page = is_next_page.or(by_number).unwrap_or(false);
    Ok(Page { total_count, is_next_page, items })
}

fn wrong_envelope(kind: &str) -> Error {
    Error::new(
        Kind::Decode,
        format!("the reply is not a ServiceIndex of {kind}: it has neither TotalCount nor IsNextPage nor {kind}"),
    )
}

/// The field that each `ServiceResponse` has.
pub(super) const STATUS: &str = "status";

/// Converts the members of an object to a `ServiceResponse`. `None`: it is something else. The details of jobs and maps also
/// have a `Status`, so a `ServiceResponse` must have an `errorInfo` or at most two members.
pub(super) fn response_from(text: impl Fn(&str) -> Option<String>, members: usize) -> Option<ServiceResponse> {
    let status = text(STATUS)?;
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
