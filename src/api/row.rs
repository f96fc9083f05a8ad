//! Description of an endpoint: a row of the endpoint table.

use super::shape::Shape;

/// One endpoint, which is one method of the client.
///
/// Two rows may have the same method and path: `/jobdata/{id}` is a detail without `format`, and a file with it.
#[derive(Debug)]
pub struct Endpoint {
    /// Group and name as written after `client.`, such as `job_data.list`.
    pub full_name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path below the base address in lower case, with `{id}` for a parameter.
    pub path: &'static str,
    /// The parameters in the order of the Python signature; paging adds two more.
    pub parameters: &'static [Parameter],
    /// Whether the call accepts `pagesize` and `page` (specification 4.1).
    pub paged: bool,
    /// The kind of the request body.
    pub body: Body,
    /// The kind of the result.
    pub returns: Returns,
    /// Whether the same request may be sent again after its reply was lost.
    pub repeatable: bool,
    /// Its documentation in full sentences; the first sentence is the summary.
    pub doc: &'static str,
    /// The sections of the specification.
    pub section: &'static str,
    /// A runnable example in one statement. It may use `client`, `computer_id`, `hub_id`, `job_id`, `map_id`, `cart_id`
    /// and `folder`. It may also use the file objects `archive` (a zip of job data), `shapefile` (a zip of a
    /// prescription) and `cart` (a GRC file). The asynchronous example is derived from it.
    pub example: &'static str,
}

/// An HTTP method that the interface uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads a record.
    Get,
    /// Creates a record.
    Post,
    /// Changes a record.
    Put,
    /// Deletes a record.
    Delete,
}

impl Method {
    /// The method as it is sent and signed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// A parameter of a call.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name in Python.
    pub name: &'static str,
    /// The name on the wire.
    pub wire: &'static str,
    /// The location of the parameter in the request.
    pub place: Place,
    /// The accepted values.
    pub takes: Takes,
    /// The value that is sent by default. `None` for a parameter of the path means that it is required.
    pub default: Option<&'static str>,
    /// Its documentation.
    pub doc: &'static str,
}

/// The location of a parameter in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The path.
    Path,
    /// The query.
    Query,
    /// An entry of the multipart body.
    Part,
    /// The whole body, as JSON.
    Body,
}

/// The accepted values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// An identifier: a text, or a whole number in decimal.
    Id,
    /// A whole number from 0 up, as a number or in decimal text.
    Number,
    /// A date, an aware datetime, or either as ISO 8601 text.
    Time,
    /// A word of letters, digits and dashes that the service defines.
    Word,
    /// One of these words, in any letter case.
    OneOf(&'static [&'static str]),
    /// A file: a path, bytes or a binary file object.
    File,
    /// A mapping of JSON values.
    Mapping,
    /// A mapping or a list of JSON values.
    MappingOrList,
}

/// The kind of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// No body.
    None,
    /// `multipart/form-data`, with an entry for each parameter in [`Place::Part`].
    Multipart,
    /// `application/json`, from the parameter in [`Place::Body`].
    Json,
}

/// The kind of a result.
#[derive(Clone, Copy, Debug)]
pub enum Returns {
    /// One record.
    Detail(&'static Shape),
    /// The only record in the envelope of a list, or none if the list is empty.
    OneOf(&'static Index),
    /// A list in pages.
    Index(&'static Index),
    /// The bytes of a file.
    File,
    /// 201 with the address of the new record.
    Created,
    /// A file that may take time: a handle that polls, waits and delivers (specification 4.4).
    Conversion,
    /// A file that may take time, read into a `Layer`.
    Layer,
    /// The parts of a record as rows of one table.
    Table {
        /// The record that the service sends.
        detail: &'static Shape,
        /// A row of the table.
        row: &'static Shape,
    },
    /// No data, only success.
    Nothing,
    /// The reply of the dispatch service or the legacy order service: an object, a list or nothing. The specification
    /// shows no payloads (4.6).
    Payload,
    /// A raw list in pages that follow `Location` (specification 4.7).
    Listing(&'static Listing),
    /// No result: the specification lists the address as not implemented, so the client has no method for it.
    NotImplemented,
}

/// A list: its item kind, and whether its order is specified.
#[derive(Debug)]
pub struct Index {
    /// The name of the item kind: the array's key in JSON, the element's name in XML (specification 2.1).
    pub kind: &'static str,
    /// The shape of an item.
    pub item: &'static Shape,
    /// Whether the list is newest-first, so that its pages can be read while it grows.
    pub newest_first: bool,
}

/// A list of the dispatch service or the legacy order service. The specification does not show its items (2.8).
#[derive(Debug)]
pub struct Listing {
    /// The name of its items, in the plural.
    pub name: &'static str,
}

/// The service of a row. Each has its own address and credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// The field data API, whose requests are signed (specification 5).
    FieldData,
    /// The dispatch service, which uses a bearer token (4.6, 5.6).
    Dispatch,
    /// The legacy order service, at either of its two addresses (4.6).
    LegacyOrders,
}

impl Parameter {
    /// An identifier in the path.
    #[must_use]
    pub const fn id(name: &'static str, doc: &'static str) -> Self {
        Self { name, wire: name, place: Place::Path, takes: Takes::Id, default: None, doc }
    }

    /// The payload of a request.
    #[must_use]
    pub const fn mapping(name: &'static str, doc: &'static str) -> Self {
        Self { name, wire: name, place: Place::Body, takes: Takes::Mapping, default: None, doc }
    }

    /// The payload of a request, which may be a list.
    #[must_use]
    pub const fn mapping_or_list(name: &'static str, doc: &'static str) -> Self {
        Self { takes: Takes::MappingOrList, ..Self::mapping(name, doc) }
    }

    /// A parameter of the query.
    #[must_use]
    pub const fn query(
        name: &'static str,
        wire: &'static str,
        takes: Takes,
        default: Option<&'static str>,
        doc: &'static str,
    ) -> Self {
        Self { name, wire, place: Place::Query, takes, default, doc }
    }

    /// Whether the parameter accepts only one word, which is always sent and is not an argument of the method.
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        matches!(self.takes, Takes::OneOf(words) if words.len() == 1)
    }

    /// Whether each call sends a value. An optional parameter without a default is not sent.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.default.is_some() || self.place != Place::Query
    }
}

impl Endpoint {
    /// The encoded values of the path parameters, if a path has the form of this row in any letter case.
    #[must_use]
    pub fn match_path<'a>(&self, path: &'a str) -> Option<Vec<&'a str>> {
        let (mut expected, mut found) = (self.path.split('/'), path.split('/'));
        let mut values = Vec::new();
        loop {
            match (expected.next(), found.next()) {
                (None, None) => return Some(values),
                (Some(word), Some(segment)) if word.starts_with('{') && !segment.is_empty() => values.push(segment),
                (Some(word), Some(segment)) if word.eq_ignore_ascii_case(segment) => {}
                _ => return None,
            }
        }
    }

    /// The group, empty for rows of the client itself.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.full_name.rsplit_once('.').map_or("", |(group, _)| group)
    }

    /// The name of the method.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.full_name.rsplit_once('.').map_or(self.full_name, |(_, name)| name)
    }

    /// The service that the row belongs to.
    #[must_use]
    pub fn service(&self) -> Service {
        match self.full_name.split('.').next() {
            Some("dispatch") => Service::Dispatch,
            Some("legacy_orders") => Service::LegacyOrders,
            _ => Service::FieldData,
        }
    }

    /// Whether the service implements the endpoint. If not, the client has no method for it.
    #[must_use]
    pub fn is_implemented(&self) -> bool {
        !matches!(self.returns, Returns::NotImplemented)
    }

    /// The parameter with a Python name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
