//! Generates the docstrings of the methods: documentation of the row, result, exceptions, an example.

use headland::api::row::Body;
use headland::api::{Endpoint, Method, Returns, Service, legacy_orders};

use crate::methods::{Mode, arguments, is_of_locations};
use crate::text::{entry, summary, wrap};

/// The documentation of a method.
pub(crate) fn docstring(row: &Endpoint, mode: Mode) -> String {
    const INDENT: &str = "        ";
    if mode == Mode::Async {
        return format!("{INDENT}\"\"\"Like `Client.{}`, {}.\"\"\"\n", row.full_name, difference(row));
    }
    let (first, rest) = summary(row.doc);
    let mut out = format!("{INDENT}\"\"\"{first}.\n\n");
    if !rest.is_empty() {
        out.push_str(&wrap(rest, INDENT));
        out.push('\n');
    }
    if let Some((_, replacement)) = legacy_orders::REPLACED_BY.iter().find(|(name, _)| *name == row.full_name) {
        out.push_str(&wrap(&format!("The dispatch service's `{replacement}` replaces it."), INDENT));
        out.push('\n');
    }
    let path = format!("`{} {}`, specification {}.", row.method.as_str(), row.path, row.section);
    out.push_str(&wrap(&path, INDENT));
    let (required, optional) = arguments(row, "str | os.PathLike[str] | BinaryIO | None = None");
    if !(required.is_empty() && optional.is_empty()) {
        out.push_str(&format!("\n{INDENT}Args:\n"));
        for [name, _, _, doc] in required.iter().chain(&optional) {
            out.push_str(&entry(name, doc, &format!("{INDENT}    ")));
        }
    }
    out.push_str(&format!("\n{INDENT}Returns:\n{}", wrap(&returned(row), &format!("{INDENT}    "))));
    out.push_str(&format!("\n{INDENT}Raises:\n"));
    for (class, when) in raises(row) {
        out.push_str(&entry(class, when, &format!("{INDENT}    ")));
    }
    out.push_str(&format!("\n{INDENT}Examples:\n{INDENT}    >>> {}\n\n{INDENT}\"\"\"\n", row.example));
    out
}

/// How a method of the asynchronous client differs from its synchronous one.
fn difference(row: &Endpoint) -> &'static str {
    match row.returns {
        Returns::Index(_) | Returns::Listing(_) => "as a list that `async for` reads",
        Returns::Conversion => "as a coroutine that gives an `AsyncConversion`",
        _ => "as a coroutine",
    }
}

/// The example of a row for one of the clients.
pub(crate) fn example(row: &Endpoint, mode: Mode) -> String {
    match (mode, row.returns) {
        (Mode::Sync, _) => row.example.to_owned(),
        (Mode::Async, Returns::Index(_) | Returns::Listing(_)) => row.example.replace(" for ", " async for "),
        (Mode::Async, Returns::Detail(_)) if row.example.contains(")[") => {
            row.example.replace("client.", "(await client.").replace(")[", "))[")
        }
        (Mode::Async, _) => row.example.replace("client.", "await client."),
    }
}

fn returned(row: &Endpoint) -> String {
    match row.returns {
        Returns::Detail(shape) => {
            format!("{} as a dict, see `records.{}`.", shape.doc.trim_end_matches('.'), shape.name)
        }
        Returns::Index(index) => format!(
            "A lazy list of dicts, see `records.{}`; pages are read as it is iterated, each record once. It is a table \
             as well: `to_arrow()`, `to_pandas()`{}.",
            index.item.name,
            if is_of_locations(index) { ", and a map: `to_geopandas()`" } else { "" },
        ),
        Returns::Table { row, .. } => format!(
            "A table of rows as dicts, see `records.{}`, and as Arrow and pandas: `to_arrow()`, `to_pandas()`.",
            row.name
        ),
        Returns::File => "The bytes of the file, the path it was written to, or the file object it was written \
                          into."
            .to_owned(),
        Returns::Created => "`id` and `uri` of the new record.".to_owned(),
        Returns::Conversion => {
            "A handle with `ready()`, `wait()` and `result()`; its `id` can be stored and picked up \
                                by another process."
                .to_owned()
        }
        Returns::Layer => {
            "The layer: an Arrow table with geometry, coordinate system, units and diagnostics.".to_owned()
        }
        Returns::OneOf(index) => format!(
            "{} as a dict, see `records.{}`; None where the service has none.",
            index.item.doc.split(". ").next().unwrap_or_default().trim_end_matches('.'),
            index.item.name
        ),
        Returns::Nothing | Returns::NotImplemented => "None.".to_owned(),
        Returns::Payload => "What the service answers, None where that is nothing; where it only names a new record, that \
                             one's `id` and `uri`. Its fields are not specified: their names become snake_case and ids str, \
                             and all else is as it came."
            .to_owned(),
        Returns::Listing(listing) => format!(
            "A lazy list of {} as dicts, whose fields are not specified: their names become snake_case and ids str, and \
             all else is as it came; pages are read as it is iterated.",
            listing.name
        ),
    }
}

/// The exceptions of a call, and their causes.
pub(crate) fn raises(row: &Endpoint) -> Vec<(&'static str, &'static str)> {
    if row.service() != Service::FieldData {
        return raises_with_token(row);
    }
    let mut out = vec![
        ("AuthenticationError", "The service refused the credentials, the signature or the time stamp."),
        ("TransportError", "The connection failed."),
    ];
    if row.path.contains('{') {
        out.push(("NotFound", "There is no such record for this access key."));
    }
    let is_converted = row.section.contains("4.4");
    let has_formats = row.parameter("format").is_some_and(|format| !format.is_constant());
    if is_converted {
        out.push(("NoCoverage", "The job recorded no coverage."));
        out.push(("ConversionFailed", "The service could not convert the job."));
        out.push(("NotReady", "The service needs more time than the deadline leaves."));
    }
    match row.returns {
        Returns::Layer => out.push(("ArchiveError", "The archive cannot be read.")),
        Returns::File if has_formats && !is_converted => {
            out.push(("InvalidRequest", "The service has no such format."));
        }
        Returns::Nothing => {
            out.push(("Conflict", "The same map, or another file of its name, is queued for that computer already."));
            out.push(("NotReady", "The field computer has not fetched the map within `timeout`."));
        }
        Returns::Created => {
            out.push((
                "InvalidRequest",
                "The file breaks a rule of the service; the rules known here are checked before it is sent.",
            ));
            out.push((
                "UploadOutcomeUnknown",
                "The reply was lost, and the list does not tell whether the upload arrived.",
            ));
        }
        _ => {}
    }
    out
}

/// The same for the dispatch service and the legacy order service.
fn raises_with_token(row: &Endpoint) -> Vec<(&'static str, &'static str)> {
    let mut out = vec![
        ("ConfigurationError", "The service's address or its token is not configured."),
        ("AuthenticationError", "The service refused the token."),
        ("TransportError", "The connection failed."),
    ];
    if row.path.contains('{') {
        out.push(("NotFound", "There is no such record for this token."));
    }
    if row.body == Body::Json {
        out.push(("InvalidRequest", "The service refused the payload; the message has its words."));
    }
    if row.method != Method::Get {
        out.push(("Conflict", "The state of the record does not allow it."));
    }
    if row.method == Method::Post {
        out.push(("UploadOutcomeUnknown", "The reply was lost; it was not sent again, since that might do it twice."));
    }
    out
}
