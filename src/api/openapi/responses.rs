//! Responses: the success replies of each row, and the errors of specification 7.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schemas::{index_name, reference};
use crate::envelope::SERVICE_RESPONSE;
use crate::row::Takes;
use crate::{Body, Endpoint, Method, Returns, Service};

/// Headers of each rate-limited reply (specification 8).
const RATE: [&str; 3] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/// Both content types of records (specification 4.5).
const RECORDS: [&str; 2] = ["application/json", "text/xml"];

/// Media types of files. The service documents none of them for a format.
const FILES: [&str; 3] = ["application/zip", "application/octet-stream", "text/csv"];

/// A success response under construction.
#[derive(Default)]
struct Response {
    descriptions: Vec<String>,
    headers: Vec<&'static str>,
    content: Vec<(&'static str, Value)>,
}

impl Response {
    fn new(description: impl Into<String>, headers: &[&'static str]) -> Self {
        Self { descriptions: vec![description.into()], headers: headers.to_vec(), content: Vec::new() }
    }

    fn records(mut self, schema: &Value) -> Self {
        self.content.extend(RECORDS.map(|media_type| (media_type, schema.clone())));
        self
    }

    fn with_content(mut self, media_type: &'static str, schema: Value) -> Self {
        self.content.push((media_type, schema));
        self
    }

    /// Merges the response of another row of the same operation.
    fn add(&mut self, other: Self) {
        let Self { descriptions, headers, content } = other;
        self.descriptions
            .extend(descriptions.into_iter().filter(|text| !self.descriptions.contains(text)).collect::<Vec<_>>());
        self.headers.extend(headers.into_iter().filter(|name| !self.headers.contains(name)).collect::<Vec<_>>());
        let known = |one: &(&'static str, Value)| !self.content.contains(one);
        self.content.extend(content.into_iter().filter(known).collect::<Vec<_>>());
    }

    fn into_value(self) -> Value {
        let mut content = Map::new();
        for (media_type, _) in &self.content {
            let mut schemas: Vec<&Value> =
                self.content.iter().filter(|(other, _)| other == media_type).map(|(_, schema)| schema).collect();
            let schema = match schemas.as_slice() {
                [_] => schemas.pop().cloned().unwrap_or_default(),
                several => json!({ "anyOf": several }),
            };
            content.insert((*media_type).to_owned(), json!({ "schema": schema }));
        }
        response_object(&self.descriptions.join(" "), &self.headers, content)
    }
}

fn response_object(description: &str, headers: &[&str], content: Map<String, Value>) -> Value {
    let mut response = Map::new();
    response.insert("description".to_owned(), json!(description));
    if !headers.is_empty() {
        let named = |name: &&str| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
        response.insert("headers".to_owned(), Value::Object(headers.iter().map(named).collect()));
    }
    if !content.is_empty() {
        response.insert("content".to_owned(), Value::Object(content));
    }
    Value::Object(response)
}

/// Returns the responses of an operation by status.
pub(super) fn responses(rows: &[&'static Endpoint]) -> Value {
    let mut successes: BTreeMap<u16, Response> = BTreeMap::new();
    let mut all: BTreeMap<u16, Value> = BTreeMap::new();
    for row in rows {
        for (status, response) in success_responses(row) {
            successes.entry(status).or_default().add(response);
        }
        for error in ERRORS.iter().filter(|error| (error.applies_to)(row)) {
            all.insert(error.status, json!({ "$ref": format!("#/components/responses/{}", error.name) }));
        }
    }
    all.extend(successes.into_iter().map(|(status, response)| (status, response.into_value())));
    Value::Object(all.into_iter().map(|(status, response)| (status.to_string(), response)).collect())
}

/// Returns the success responses of a row by status.
fn success_responses(row: &Endpoint) -> Vec<(u16, Response)> {
    let service_response = reference(SERVICE_RESPONSE.name);
    match row.returns {
        Returns::Detail(shape) | Returns::Table { detail: shape, .. } => {
            vec![(200, Response::new(shape.doc, &RATE).records(&reference(shape.name)))]
        }
        Returns::Index(index) | Returns::OneOf(index) => {
            let description = match row.returns {
                Returns::Index(_) => "A page of the list.",
                _ => "A list with the one record, or with none.",
            };
            vec![(200, Response::new(description, &RATE).records(&reference(&index_name(index))))]
        }
        Returns::File | Returns::Conversion | Returns::Layer => {
            let description = "With `format`, the file; or in its place a ServiceResponse whose status is \
                               `MORE_TIME_NEEDED` or `NO_COVERAGE`, or tells why the conversion failed.";
            let headers = [&RATE[..], &["Content-Disposition", "Retry-After"]].concat();
            let mut response = Response::new(description, &headers).records(&service_response);
            for media_type in FILES {
                response = response.with_content(media_type, json!({ "type": "string", "format": "binary" }));
            }
            if row
                .parameter("format")
                .is_some_and(|format| matches!(format.takes, Takes::OneOf(words) if words.contains(&"XML")))
            {
                let doc = "The file that `format=XML` asks for (4.4): the parsed RAD files, whose form is not shown.";
                response = response.with_content("text/xml", json!({ "description": doc }));
            }
            vec![(200, response)]
        }
        Returns::Created => {
            let headers = [&RATE[..], &["Location"]].concat();
            let description = "The address of the new record, as text and in `Location`.";
            vec![(201, Response::new(description, &headers).with_content("text/plain", json!({ "type": "string" })))]
        }
        Returns::Nothing => {
            let description = "It is done. A ServiceResponse in this place says that it is not, and why.";
            let response = Response::new(description, &RATE)
                .with_content("text/plain", json!({ "type": "string" }))
                .records(&service_response);
            vec![(200, response)]
        }
        // POST and PUT may return any of the three (field notes). The body of a DELETE reply is not documented.
        Returns::Payload => {
            let shown = |headers: &[&'static str]| {
                Response::new("What the service answers.", headers).with_content("application/json", json!({}))
            };
            let nothing = || Response::new("It is done.", &[]);
            match row.method {
                Method::Get => vec![(200, shown(&[]))],
                Method::Delete => vec![(200, shown(&[])), (204, nothing())],
                Method::Post | Method::Put => vec![(200, shown(&[])), (201, shown(&["Location"])), (204, nothing())],
            }
        }
        Returns::Listing(listing) => {
            let description = format!("A page of {}: the raw list. A page past the end is empty.", listing.name);
            let schema = json!({ "type": "array", "items": {} });
            vec![(
                200,
                Response::new(description, &["Location", "x-total-count"]).with_content("application/json", schema),
            )]
        }
        Returns::NotImplemented => Vec::new(),
    }
}

/// A response with an error, or with 202 instead of the requested content.
struct ErrorResponse {
    status: u16,
    name: &'static str,
    doc: &'static str,
    headers: &'static [&'static str],
    body: ErrorBody,
    applies_to: fn(&Endpoint) -> bool,
}

/// The body of such a response.
enum ErrorBody {
    /// A `ServiceResponse` in either content type.
    Record,
    /// Plain text.
    Text,
    /// Not documented.
    Unknown,
}

fn is_signed(row: &Endpoint) -> bool {
    row.service() == Service::FieldData
}

fn is_dispatch(row: &Endpoint) -> bool {
    !is_signed(row)
}

/// The errors of specification 7. The bodies of dispatch errors are not documented.
static ERRORS: &[ErrorResponse] = &[
    field_data_error(202, "MoreTimeNeeded", "The service needs more time: ask again after `Retry-After` seconds."),
    field_data_error(400, "BadRequest", "Something in the request was wrong; `errorInfo` says what."),
    field_data_error(
        401,
        "Unauthorized",
        "A check of the keys, the signature or the time stamp failed; `errorInfo` may say which.",
    ),
    field_data_error(403, "Forbidden", "The access key does not permit these data."),
    field_data_error(404, "NotFound", "There is no such record for this customer, or nothing at this address."),
    ErrorResponse {
        headers: &["Allow"],
        ..field_data_error(405, "MethodNotAllowed", "The method is not allowed for this address and these keys.")
    },
    field_data_error(406, "NotAcceptable", "`Accept` allows neither JSON nor XML."),
    ErrorResponse {
        applies_to: |row| row.full_name == "prescription_maps.send",
        ..field_data_error(
            409,
            "Conflict",
            "The map, or a file of the same name, is already queued; it is not queued again.",
        )
    },
    ErrorResponse {
        applies_to: |row| row.body == Body::Multipart,
        ..field_data_error(413, "TooLarge", "The file is too large. The limit is not shown.")
    },
    ErrorResponse {
        headers: &["Retry-After"],
        body: ErrorBody::Text,
        ..field_data_error(429, "TooManyRequests", "The rate limit is exceeded until the window resets.")
    },
    ErrorResponse {
        applies_to: |row| !row.is_implemented(),
        ..field_data_error(501, "NotImplemented", "The specification lists this address as not implemented.")
    },
    ErrorResponse {
        headers: &["Retry-After"],
        body: ErrorBody::Text,
        ..field_data_error(
            503,
            "Unavailable",
            "Database trouble: `Resources exhausted. Try again.` Wait before further requests.",
        )
    },
    dispatch_error(400, "DispatchBadRequest", "Something in the request was wrong."),
    ErrorResponse {
        headers: &["WWW-Authenticate"],
        ..dispatch_error(401, "DispatchUnauthorized", "The token is missing, unknown or expired.")
    },
    dispatch_error(403, "DispatchForbidden", "The token does not permit this."),
    dispatch_error(404, "DispatchNotFound", "There is no such record, or nothing at this address."),
    ErrorResponse {
        headers: &["Allow"],
        ..dispatch_error(405, "DispatchMethodNotAllowed", "The method is not allowed for this address.")
    },
    dispatch_error(409, "DispatchConflict", "The state of the record does not allow this."),
    ErrorResponse {
        applies_to: |row| row.body == Body::Json,
        ..dispatch_error(413, "DispatchTooLarge", "The payload is too large. The limit is not shown.")
    },
    ErrorResponse {
        applies_to: |row| row.body == Body::Json,
        ..dispatch_error(415, "DispatchUnsupportedMediaType", "The payload is not sent as JSON.")
    },
    ErrorResponse { headers: &["Retry-After"], ..dispatch_error(429, "DispatchTooManyRequests", "Too many requests.") },
    ErrorResponse {
        headers: &["Retry-After"],
        ..dispatch_error(503, "DispatchUnavailable", "The service is in trouble.")
    },
];

const fn field_data_error(status: u16, name: &'static str, doc: &'static str) -> ErrorResponse {
    let headers: &[&str] = if status == 202 { &["Retry-After"] } else { &[] };
    ErrorResponse { status, name, doc, headers, body: ErrorBody::Record, applies_to: is_signed }
}

const fn dispatch_error(status: u16, name: &'static str, doc: &'static str) -> ErrorResponse {
    ErrorResponse { status, name, doc, headers: &[], body: ErrorBody::Unknown, applies_to: is_dispatch }
}

/// Returns the error responses as components.
pub(super) fn error_responses() -> Value {
    let component = |error: &ErrorResponse| {
        let service_response = reference(SERVICE_RESPONSE.name);
        let (kinds, schema): (&[&str], Value) = match error.body {
            ErrorBody::Record => (&RECORDS, service_response),
            ErrorBody::Text => (&["text/plain"], json!({ "type": "string" })),
            ErrorBody::Unknown => (&["application/json", "application/problem+json", "text/plain"], json!({})),
        };
        let content = kinds.iter().map(|kind| ((*kind).to_owned(), json!({ "schema": schema }))).collect();
        let limited: &[&str] = if matches!(error.body, ErrorBody::Unknown) { &[] } else { &RATE };
        (error.name.to_owned(), response_object(error.doc, &[limited, error.headers].concat(), content))
    };
    Value::Object(ERRORS.iter().map(component).collect())
}

/// Returns the response headers as components.
pub(super) fn headers() -> Value {
    let count = || json!({ "type": "integer", "minimum": 0 });
    let text = || json!({ "type": "string" });
    let headers = [
        (RATE[0], "Requests in all in a window of the rate limit.", count()),
        (RATE[1], "Requests left before the window resets.", count()),
        (RATE[2], "Seconds until the window resets.", count()),
        ("Retry-After", "Seconds to wait before asking again.", count()),
        ("Location", "The address of the new record, or of the next page of a list.", text()),
        ("x-total-count", "Results in the whole set, where `$count` asks for it.", count()),
        ("Content-Disposition", "The suggested file name.", text()),
        ("Allow", "The methods that the address takes.", text()),
        ("WWW-Authenticate", "`Bearer`.", text()),
    ];
    let component = |(name, doc, schema): (&str, &str, Value)| {
        (name.to_owned(), json!({ "description": doc, "required": false, "schema": schema }))
    };
    Value::Object(headers.into_iter().map(component).collect())
}
