//! What a row of the table says of an endpoint.

use super::shape::Shape;

/// One endpoint, as one method of the client.
///
/// Two rows may share a method and a path: without `format`, `/jobdata/{id}` is a detail, with it a file.
#[derive(Debug)]
pub struct Endpoint {
    /// Group and name as users write them after `client.`, such as `job_data.list`.
    pub full_name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path below the base address, lower case, with `{id}` where a parameter goes.
    pub path: &'static str,
    /// The parameters in the order of the Python signature; paging adds its own two.
    pub parameters: &'static [Parameter],
    /// Whether the call takes `pagesize` and `page` (specification 4.1).
    pub paged: bool,
    /// What the request carries.
    pub body: Body,
    /// What comes back.
    pub returns: Returns,
    /// Whether the same request may be sent again when its reply is lost.
    pub repeatable: bool,
    /// What it does, in full sentences; the first is the summary.
    pub doc: &'static str,
    /// The sections of the specification.
    pub section: &'static str,
    /// A runnable example: one statement, in terms of `client`, `computer_id`, `hub_id`, `job_id`, `map_id`, `cart_id`,
    /// `folder`, `archive` (a zip of job data as a file object), `shapefile` (a zip of a prescription) and `cart` (a GRC
    /// file) likewise. The asynchronous example is derived from it.
    pub example: &'static str,
}

/// An HTTP method that the interface uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Make a new record.
    Post,
    /// Change a record.
    Put,
    /// Remove a record.
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
    /// Where it goes.
    pub place: Place,
    /// Which values it takes.
    pub takes: Takes,
    /// What is sent when the user says nothing; `None` in a path means that it is required.
    pub default: Option<&'static str>,
    /// What it means.
    pub doc: &'static str,
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into the path.
    Path,
    /// Into the query.
    Query,
    /// Into the multipart body.
    Part,
    /// It is the body, as JSON.
    Body,
}

/// Which values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// An identifier: a text, or a whole number written in decimal.
    Id,
    /// A whole number from 0 up, as a number or in decimal.
    Number,
    /// A date, an aware datetime, or either as ISO 8601 text.
    Time,
    /// A word of letters, digits and dashes that the service knows.
    Word,
    /// One of these words, in any letter case.
    OneOf(&'static [&'static str]),
    /// A file: a path, bytes or a binary file object.
    File,
    /// A mapping of anything that JSON can say.
    Mapping,
    /// Such a mapping, or a list of anything that JSON can say.
    MappingOrList,
}

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    None,
    /// `multipart/form-data`, an entry for each parameter in [`Place::Part`].
    Multipart,
    /// `application/json`, the parameter in [`Place::Body`].
    Json,
}

/// What comes back.
#[derive(Clone, Copy, Debug)]
pub enum Returns {
    /// One record.
    Detail(&'static Shape),
    /// The one record in the envelope of a list, or none where that is empty.
    OneOf(&'static Index),
    /// A list in pages.
    Index(&'static Index),
    /// The bytes of a file.
    File,
    /// 201 with the address of the new record.
    Created,
    /// A file that may take time: a handle that asks, waits and delivers (specification 4.4).
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
    /// Nothing but the word that it is done.
    Nothing,
    /// What the dispatch service or the legacy order service answers: an object, a list or nothing; the specification
    /// shows no payload (4.6).
    Payload,
    /// A raw list in pages that follow `Location` (specification 4.7).
    Listing(&'static Listing),
    /// Nothing ever: the specification lists the address as not implemented, so the client has no method for it.
    NotImplemented,
}

/// A list: its item kind and whether the order is promised.
#[derive(Debug)]
pub struct Index {
    /// The item kind name: the array's key in JSON, the element's name in XML (specification 2.1).
    pub kind: &'static str,
    /// The shape of an item.
    pub item: &'static Shape,
    /// Whether the newest record comes first, so that pages can be read while the list grows.
    pub newest_first: bool,
}

/// A list of the dispatch service or of the legacy order service: its items are not shown (specification 2.8).
#[derive(Debug)]
pub struct Listing {
    /// What its items are, in the plural.
    pub name: &'static str,
}

/// Which service a row belongs to: each has an address and credentials of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// The field data API, whose requests are signed (specification 5).
    FieldData,
    /// The dispatch service, which takes a bearer token (4.6, 5.6).
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

    /// Whether there is nothing to choose: it takes one word, which is always sent, and users never write it.
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        matches!(self.takes, Takes::OneOf(words) if words.len() == 1)
    }

    /// Whether it takes a value in every call: what is left out without a default is not sent.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.default.is_some() || self.place != Place::Query
    }
}

impl Endpoint {
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

    /// Whether the service does anything there, so that the client has a method for it.
    #[must_use]
    pub fn is_implemented(&self) -> bool {
        !matches!(self.returns, Returns::NotImplemented)
    }

    /// The parameter of that Python name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
