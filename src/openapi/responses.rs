//! Responses: what a row gives where all is well, and the errors of specification 7.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schemas::{index_name, reference};
use crate::api::envelope::SERVICE_RESPONSE;
use crate::api::row::Takes;
use crate::api::{Body, Endpoint, Method, Returns, Service};

/// On every rate-limited reply (specification 8).
const RATE: [&str; 3] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/// Both content types of records (specification 4.5).
const RECORDS: [&str; 2] = ["application/json", "text/xml"];

/// What files come as; the service promises none of them for any format.
const FILES: [&str; 3] = ["application/zip", "application/octet-stream", "text/csv"];

/// A response where all is well, before it is written.
#[derive(Default)]
struct Response {
    says: Vec<String>,
    headers: Vec<&'static str>,
    content: Vec<(&'static str, Value)>,
}

impl Response {
    fn new(says: impl Into<String>, headers: &[&'static str]) -> Self {
        Self { says: vec![says.into()], headers: headers.to_vec(), content: Vec::new() }
    }

    fn records(mut self, schema: &Value) -> Self {
        self.content.extend(RECORDS.map(|media_type| (media_type, schema.clone())));
        self
    }

    fn holding(mut self, media_type: &'static str, schema: Value) -> Self {
        self.content.push((media_type, schema));
        self
    }

    /// The same response with what another row of the operation gives.
    fn add(&mut self, other: Self) {
        let Self { says, headers, content } = other;
        self.says.extend(says.into_iter().filter(|text| !self.says.contains(text)).collect::<Vec<_>>());
        self.headers.extend(headers.into_iter().filter(|name| !self.headers.contains(name)).collect::<Vec<_>>());
        let known = |one: &(&'static str, Value)| !self.content.contains(one);
        self.content.extend(content.into_iter().filter(known).collect::<Vec<_>>());
    }

    fn write(self) -> Value {
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
        written(&self.says.join(" "), &self.headers, content)
    }
}

fn written(description: &str, headers: &[&str], content: Map<String, Value>) -> Value {
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

/// The responses of an operation, by status.
pub(super) fn of(rows: &[&'static Endpoint]) -> Value {
    let mut good: BTreeMap<u16, Response> = BTreeMap::new();
    let mut all: BTreeMap<u16, Value> = BTreeMap::new();
    for row in rows {
        for (status, response) in given(row) {
            good.entry(status).or_default().add(response);
        }
        for refusal in REFUSALS.iter().filter(|refusal| (refusal.meets)(row)) {
            all.insert(refusal.status, json!({ "$ref": format!("#/components/responses/{}", refusal.name) }));
        }
    }
    all.extend(good.into_iter().map(|(status, response)| (status, response.write())));
    Value::Object(all.into_iter().map(|(status, response)| (status.to_string(), response)).collect())
}

/// What a row gives where all is well.
fn given(row: &Endpoint) -> Vec<(u16, Response)> {
    let word = reference(SERVICE_RESPONSE.name);
    match row.returns {
        Returns::Detail(shape) | Returns::Table { detail: shape, .. } => {
            vec![(200, Response::new(shape.doc, &RATE).records(&reference(shape.name)))]
        }
        Returns::Index(index) | Returns::OneOf(index) => {
            let says = match row.returns {
                Returns::Index(_) => "A page of the list.",
                _ => "A list with the one record, or with none.",
            };
            vec![(200, Response::new(says, &RATE).records(&reference(&index_name(index))))]
        }
        Returns::File | Returns::Conversion | Returns::Layer => {
            let says = "With `format`, the file; or in its place a ServiceResponse whose status is `MORE_TIME_NEEDED` or \
                        `NO_COVERAGE`, or tells why the conversion failed.";
            let headers = [&RATE[..], &["Content-Disposition", "Retry-After"]].concat();
            let mut response = Response::new(says, &headers).records(&word);
            for media_type in FILES {
                response = response.holding(media_type, json!({ "type": "string", "format": "binary" }));
            }
            if row
                .parameter("format")
                .is_some_and(|format| matches!(format.takes, Takes::OneOf(words) if words.contains(&"XML")))
            {
                let doc = "The file that `format=XML` asks for (4.4): the parsed RAD files, whose form is not shown.";
                response = response.holding("text/xml", json!({ "description": doc }));
            }
            vec![(200, response)]
        }
        Returns::Created => {
            let headers = [&RATE[..], &["Location"]].concat();
            let says = "The address of the new record, as text and in `Location`.";
            vec![(201, Response::new(says, &headers).holding("text/plain", json!({ "type": "string" })))]
        }
        Returns::Nothing => {
            let says = "It is done. A ServiceResponse in this place says that it is not, and why.";
            let response = Response::new(says, &RATE).holding("text/plain", json!({ "type": "string" })).records(&word);
            vec![(200, response)]
        }
        // POST and PUT answer with any of the three (field notes); what was deleted is not shown again.
        Returns::Payload => {
            let shown = |headers: &[&'static str]| {
                Response::new("What the service answers.", headers).holding("application/json", json!({}))
            };
            let nothing = || Response::new("It is done.", &[]);
            match row.method {
                Method::Get => vec![(200, shown(&[]))],
                Method::Delete => vec![(200, shown(&[])), (204, nothing())],
                Method::Post | Method::Put => vec![(200, shown(&[])), (201, shown(&["Location"])), (204, nothing())],
            }
        }
        Returns::Listing(listing) => {
            let says = format!("A page of {}: the raw list. A page past the end is empty.", listing.name);
            let schema = json!({ "type": "array", "items": {} });
            vec![(200, Response::new(says, &["Location", "x-total-count"]).holding("application/json", schema))]
        }
        Returns::NotImplemented => Vec::new(),
    }
}

/// A response that is not what was asked for.
struct Refusal {
    status: u16,
    name: &'static str,
    doc: &'static str,
    headers: &'static [&'static str],
    body: Words,
    meets: fn(&Endpoint) -> bool,
}

/// What such a response carries.
enum Words {
    /// A `ServiceResponse` in either content type.
    Record,
    /// A plain text.
    Text,
    /// It is not shown what.
    Unknown,
}

fn is_signed(row: &Endpoint) -> bool {
    row.service() == Service::FieldData
}

fn is_dispatch(row: &Endpoint) -> bool {
    !is_signed(row)
}

/// The table of specification 7, as components; those of dispatch have bodies that are not shown.
static REFUSALS: &[Refusal] = &[
    refusal(202, "MoreTimeNeeded", "The service needs more time: ask again after `Retry-After` seconds."),
    refusal(400, "BadRequest", "Something in the request was wrong; `errorInfo` says what."),
    refusal(
        401,
        "Unauthorized",
        "A check of the keys, the signature or the time stamp failed; `errorInfo` may say which.",
    ),
    refusal(403, "Forbidden", "The access key does not permit these data."),
    refusal(404, "NotFound", "There is no such record for this customer, or nothing at this address."),
    Refusal {
        headers: &["Allow"],
        ..refusal(405, "MethodNotAllowed", "The method is not allowed for this address and these keys.")
    },
    refusal(406, "NotAcceptable", "`Accept` allows neither JSON nor XML."),
    Refusal {
        meets: |row| row.body == Body::Multipart,
        ..refusal(408, "TooSlow", "The body came too slowly. The limit is not shown.")
    },
    Refusal {
        meets: |row| row.full_name == "prescription_maps.send",
        ..refusal(409, "Conflict", "The map, or a file of the same name, is already queued; it is not queued again.")
    },
    Refusal {
        meets: |row| row.body == Body::Multipart,
        ..refusal(413, "TooLarge", "The file is too large. The limit is not shown.")
    },
    Refusal {
        headers: &["Retry-After"],
        body: Words::Text,
        ..refusal(429, "TooManyRequests", "The rate limit is exceeded until the window resets.")
    },
    Refusal {
        meets: |row| !row.is_implemented(),
        ..refusal(501, "NotImplemented", "The specification lists this address as not implemented.")
    },
    Refusal {
        headers: &["Retry-After"],
        body: Words::Text,
        ..refusal(
            503,
            "Unavailable",
            "Database trouble: `Resources exhausted. Try again.` Wait before further requests.",
        )
    },
    of_dispatch(400, "DispatchBadRequest", "Something in the request was wrong."),
    Refusal {
        headers: &["WWW-Authenticate"],
        ..of_dispatch(401, "DispatchUnauthorized", "The token is missing, unknown or expired.")
    },
    of_dispatch(403, "DispatchForbidden", "The token does not permit this."),
    of_dispatch(404, "DispatchNotFound", "There is no such record, or nothing at this address."),
    Refusal {
        headers: &["Allow"],
        ..of_dispatch(405, "DispatchMethodNotAllowed", "The method is not allowed for this address.")
    },
    Refusal {
        meets: |row| row.body == Body::Json,
        ..of_dispatch(408, "DispatchTooSlow", "The payload came too slowly. The limit is not shown.")
    },
    of_dispatch(409, "DispatchConflict", "The state of the record does not allow this."),
    Refusal {
        meets: |row| row.body == Body::Json,
        ..of_dispatch(413, "DispatchTooLarge", "The payload is too large. The limit is not shown.")
    },
    Refusal {
        meets: |row| row.body == Body::Json,
        ..of_dispatch(415, "DispatchUnsupportedMediaType", "The payload is not sent as JSON.")
    },
    Refusal { headers: &["Retry-After"], ..of_dispatch(429, "DispatchTooManyRequests", "Too many requests.") },
    Refusal { headers: &["Retry-After"], ..of_dispatch(503, "DispatchUnavailable", "The service is in trouble.") },
];

const fn refusal(status: u16, name: &'static str, doc: &'static str) -> Refusal {
    let headers: &[&str] = if status == 202 { &["Retry-After"] } else { &[] };
    Refusal { status, name, doc, headers, body: Words::Record, meets: is_signed }
}

const fn of_dispatch(status: u16, name: &'static str, doc: &'static str) -> Refusal {
    Refusal { status, name, doc, headers: &[], body: Words::Unknown, meets: is_dispatch }
}

/// The refusals as components.
pub(super) fn refusals() -> Value {
    let component = |refusal: &Refusal| {
        let word = reference(SERVICE_RESPONSE.name);
        let (kinds, schema): (&[&str], Value) = match refusal.body {
            Words::Record => (&RECORDS, word),
            Words::Text => (&["text/plain"], json!({ "type": "string" })),
            Words::Unknown => (&["application/json", "application/problem+json", "text/plain"], json!({})),
        };
        let content = kinds.iter().map(|kind| ((*kind).to_owned(), json!({ "schema": schema }))).collect();
        let limited: &[&str] = if matches!(refusal.body, Words::Unknown) { &[] } else { &RATE };
        (refusal.name.to_owned(), written(refusal.doc, &[limited, refusal.headers].concat(), content))
    };
    Value::Object(REFUSALS.iter().map(component).collect())
}

/// The headers of responses as components.
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
