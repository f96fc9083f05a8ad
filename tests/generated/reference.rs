//! Generates `python/docs/reference`: a page for each group, a section for each row, and the page that lists all calls.

use headland::api::legacy_orders::REPLACED_BY;
use headland::api::{Body, Endpoint, GROUPS, Group, Method, Place, Returns, Service};

use crate::command_line::command;
use crate::docstrings::{example, raises};
use crate::methods::{Mode, arguments, returns};
use crate::records::{file_of, shapes_by_group};
use crate::reference_records::fields;
use crate::reference_tables::replacements;

/// First line of every generated page; it is not rendered.
pub(crate) const MARK: &str = "% Generated from the table in `src/api`; change that and run `make generate`.\n\n";

/// The pages that explain a section of the specification, by its number.
const RULES: &[(&str, &str)] = &[
    ("2.1", "paging"),
    ("2.2", "devices"),
    ("2.3", "devices"),
    ("2.4", "devices"),
    ("2.5", "prescription_maps"),
    ("2.6", "job_data"),
    ("2.7", "credentials"),
    ("2.8", "grain_carts"),
    ("3", "prescription_maps"),
    ("4.3", "uploads"),
    ("4.4", "job_data"),
    ("4.6", "dispatch"),
    ("4.7", "dispatch"),
    ("6", "devices"),
];

const FILE: &str = "str | os.PathLike[str] | bytes | typing.BinaryIO";

/// Every page of calls, each with its path below `python/docs`.
pub(crate) fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<_> = groups().map(|group| (format!("reference/{}.md", page_of(group)), page(group))).collect();
    pages.push(("reference/index.md".to_owned(), overview()));
    pages
}

/// The groups that have calls, not only nested groups.
fn groups() -> impl Iterator<Item = &'static Group> {
    GROUPS.iter().filter(|group| !group.rows.is_empty())
}

fn page_of(group: &Group) -> String {
    file_of(group.name)
}

fn title(group: &Group) -> &'static str {
    if group.name.is_empty() { "access_key" } else { group.name }
}

/// The list of all calls.
fn overview() -> String {
    let mut out = format!(
        "{MARK}# Calls\n\nEvery call of the interface, in the order of its specification. `client` is a \
         {{py:class}}`~headland.Client`; {{py:class}}`~headland.AsyncClient` has the same calls, to be awaited, and its \
         lists are read with `async for`. Paths are relative to the base address of their service.\n\n\
         (names-of-examples)=\n:::{{admonition}} What the examples speak of\n:class: note\n\nEvery example on these pages runs in headland's \
         own tests, against {{py:meth}}`hl.Sandbox.demo() <headland.Sandbox.demo>`, and speaks of: `hl` (the package), `service` (the local service), `client`, ids \
         (`computer_id`, `hub_id`, `job_id`, `map_id`, `cart_id`; in dispatch `operation_id`, `equipment_id`, \
         `completion_id`; in the legacy service `order_id`, `account_id`), `folder` (where downloads go), `archive` (a zip of job data as \
         a file object), `shapefile` (a zip of one shapefile), `cart` (a GRC file) and `completion_body` (a mapping). On the command \
         line the ids are shell variables such as `$JOB_ID`, and the credentials stand in the environment, as {{doc}}`../getting_started` \
         shows.\n:::\n"
    );
    for group in groups() {
        out.push_str(&format!("\n## {}\n\n{}\n\n| Call | What it does |\n|---|---|\n", title(group), group.doc));
        for row in group.rows {
            let name = if row.is_implemented() {
                format!("{{py:meth}}`~client.{}`", row.full_name)
            } else {
                "not implemented by the service".to_owned()
            };
            let (summary, _) = crate::text::summary(row.doc);
            out.push_str(&format!("| {name} | {summary}. `{}` |\n", request(row)));
        }
    }
    out.push_str("\n```{toctree}\n:hidden:\n\n");
    for group in groups() {
        out.push_str(&format!("{}\n", page_of(group)));
    }
    out.push_str("records\n```\n");
    out
}

fn page(group: &Group) -> String {
    let mut out = format!("{MARK}# {}\n\n{}\n", title(group), group.doc);
    match group.rows.first().map(Endpoint::service) {
        Some(Service::Dispatch) => out.push_str(
            "\nPaths are relative to the address of the dispatch service, whose requests carry a bearer token: \
             {doc}`../rules/dispatch`. The fields of its payloads are not specified, so a body is sent as it is given.\n",
        ),
        Some(Service::LegacyOrders) => out.push_str(&format!(
            "\nPaths are relative to an address of the legacy order service, whose requests carry a bearer token: \
             {{doc}}`../rules/dispatch`. It is centred on users, the dispatch service on equipment, so a replacement \
             does the same work and takes other ids.\n\n## What replaces it\n\n{}",
            replacements()
        )),
        _ => {}
    }
    for row in group.rows {
        out.push_str(&section(row));
    }
    out
}

fn request(row: &Endpoint) -> String {
    format!("{} {}", row.method.as_str(), row.path)
}

/// The numbers of sections, linked to the pages that explain them; section 3 has the states of several services.
pub(crate) fn sections(numbers: &str, service: Service) -> String {
    let page = |number: &str| match (number, service) {
        ("3", Service::Dispatch | Service::LegacyOrders) => Some("dispatch"),
        _ => RULES.iter().find(|(known, _)| *known == number).map(|(_, page)| *page),
    };
    let linked: Vec<String> = numbers
        .split(", ")
        .map(|number| page(number).map_or(number.to_owned(), |page| format!("[{number}](../rules/{page}.md)")))
        .collect();
    format!("Specification {}.", linked.join(", "))
}

fn section(row: &Endpoint) -> String {
    if !row.is_implemented() {
        return format!(
            "\n## `{}`\n\n**Not implemented by the service**, so there is no method for it, and the local service answers 501. \
             {}\n\n{}\n",
            request(row),
            row.doc,
            sections(row.section, row.service())
        );
    }
    let mut out = format!(
        "\n## {}\n\n```{{py:method}} client.{}\n```\n\n`{}`\n\n{}\n\n{}\n",
        row.full_name,
        signature(row),
        request(row),
        row.doc,
        sections(row.section, row.service())
    );
    if let Some((_, replacement)) = REPLACED_BY.iter().find(|(legacy, _)| *legacy == row.full_name) {
        out.push_str(&format!("\nReplaced by {{py:meth}}`client.{replacement}`.\n"));
    }
    out.push_str(&parameters(row));
    out.push_str(&format!("\n**Pages**: {}\n", paging(row)));
    out.push_str(&format!("\n**Gives** {}\n", given(row)));
    out.push_str(
        "\n**Raises**, besides [what every call can raise](../rules/errors.md):\n\n| Exception | When |\n|---|---|\n",
    );
    for (class, when) in raises(row) {
        out.push_str(&format!("| {{py:exc}}`~headland.{class}` | {when} |\n"));
    }
    out.push_str(&format!("\n**When the reply is lost**: {}\n", lost(row)));
    let (sync, other) = (example(row, Mode::Sync), example(row, Mode::Async));
    out.push_str(&format!("\n**Example**\n\n```python\n{sync}\n```\n"));
    out.push_str(&if sync == other {
        "\nWith an asynchronous client it is written the same way; the list is read with `async for`.\n".to_owned()
    } else {
        format!("\nWith an asynchronous client:\n\n```python\n{other}\n```\n")
    });
    out.push_str(&format!("\nOn the command line:\n\n```console\n$ {}\n```\n", command(row)));
    out
}

/// The call with its arguments and their full types: pages show the last part and link it.
fn signature(row: &Endpoint) -> String {
    let (required, optional) = arguments(row, &format!("{FILE} | None = None").replace(" | bytes", ""));
    let mut parts: Vec<String> = required.iter().map(|[name, kind, ..]| format!("{name}: {}", full(kind))).collect();
    if !optional.is_empty() {
        parts.push("*".to_owned());
        parts.extend(optional.iter().map(|[name, kind, default, _]| match &**default {
            "" => format!("{name}: {}", full(kind)),
            default => format!("{name}: {} = {default}", full(kind)),
        }));
    }
    let given = qualified(&returns(row, Mode::Sync));
    format!("{}({}) -> {given}", row.full_name, parts.join(", "))
}

/// The type of the result of a method, each name with its module.
fn qualified(given: &str) -> String {
    let module = |name: &str| match name {
        "None" => "",
        "Any" | "BinaryIO" => "typing.",
        "Path" => "pathlib.",
        _ if is_record(name) => "headland.records.",
        _ if name.starts_with(char::is_uppercase) => "headland.",
        _ => "",
    };
    let mut out = String::new();
    for part in given.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let name = part.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        out.push_str(module(name));
        out.push_str(part);
    }
    out
}

fn is_record(name: &str) -> bool {
    name == "Created" || shapes_by_group().iter().any(|(_, shapes)| shapes.iter().any(|shape| shape.name == name))
}

/// A type with the modules of its names.
fn full(kind: &str) -> String {
    let with_modules = kind
        .replace("dt.", "datetime.")
        .replace("Sequence[", "collections.abc.Sequence[")
        .replace("Mapping[", "collections.abc.Mapping[");
    let each = with_modules.split(" | ").map(|part| match part {
        "Upload" => FILE.to_owned(),
        "MapFile" => "headland.Prescription | str | os.PathLike[str] | bytes".to_owned(),
        "Limits" => "headland.Limits".to_owned(),
        "BinaryIO" => "typing.BinaryIO".to_owned(),
        "Unpack[ReadOptions]" => "typing.Unpack[headland.archives.ReadOptions]".to_owned(),
        _ => part.to_owned(),
    });
    each.collect::<Vec<_>>().join(" | ")
}

fn parameters(row: &Endpoint) -> String {
    let (required, optional) = arguments(row, "str | os.PathLike[str] | BinaryIO | None = None");
    let constants: String = row
        .parameters
        .iter()
        .filter(|parameter| parameter.is_constant())
        .filter_map(|parameter| Some(format!("\n`{}={}` is always sent.\n", parameter.wire, parameter.default?)))
        .collect();
    if required.is_empty() && optional.is_empty() {
        return format!("\n**Parameters**: none.\n{constants}");
    }
    let mut out =
        "\n**Parameters**\n\n| Name | Type | Default | Meaning | On the wire |\n|---|---|---|---|---|\n".to_owned();
    for (entry, is_required) in
        required.iter().map(|entry| (entry, true)).chain(optional.iter().map(|entry| (entry, false)))
    {
        let [name, kind, default, doc] = entry;
        let default = match (is_required, &**default) {
            (true, _) => "required".to_owned(),
            (false, "") => "none".to_owned(),
            (false, default) => format!("`{default}`"),
        };
        let kind = full(kind).replace("typing.", "").replace("collections.abc.", "").replace(" | ", "`, `");
        out.push_str(&format!("| `{name}` | `{kind}` | {default} | {doc} | {} |\n", wire(row, name)));
    }
    out + &constants
}

/// The part of the request that contains an argument.
fn wire(row: &Endpoint, name: &str) -> String {
    match (row.parameter(name), name, row.returns) {
        (Some(parameter), ..) => match parameter.place {
            Place::Path => format!("`{{{}}}` in the path", parameter.wire),
            Place::Query => format!("`{}` in the query", parameter.wire),
            Place::Part => format!("the entry `{}` of the form", parameter.wire),
            Place::Body => "the body, as JSON".to_owned(),
        },
        (None, "page_size", Returns::Listing(_)) => "`$top` in the query".to_owned(),
        (None, "page", Returns::Listing(_)) => "`$skip` in the query".to_owned(),
        (None, "page_size", _) => "`pagesize` in the query".to_owned(),
        (None, "page", _) => "`page` in the query".to_owned(),
        _ => "not sent".to_owned(),
    }
}

fn paging(row: &Endpoint) -> &'static str {
    match (row.paged, row.returns) {
        (true, Returns::Listing(_)) => {
            "read as they are wanted, each at the `Location` that the page before it names ([dispatch](../rules/dispatch.md))."
        }
        (true, Returns::Index(index)) if index.newest_first => {
            "read as they are wanted, newest record first; a list that grows meanwhile gives each record once \
             ([paging](../rules/paging.md))."
        }
        (true, _) => {
            "read as they are wanted; if the list changes meanwhile, it is read again for what is new \
             ([paging](../rules/paging.md))."
        }
        (false, _) => "not paged.",
    }
}

fn given(row: &Endpoint) -> String {
    match row.returns {
        Returns::Detail(shape) => {
            format!("a [{}](#record-{}).\n\n{}", shape.name, shape.name.to_lowercase(), fields(shape))
        }
        Returns::Index(index) => format!(
            "a lazy list, {{py:class}}`~headland.Pages`, of [{}](#record-{}). Its items stand under `{}` on the wire.\n\n{}",
            index.item.name,
            index.item.name.to_lowercase(),
            index.kind,
            fields(index.item)
        ),
        Returns::OneOf(index) => format!(
            "the one [{}](#record-{}) of the list that the service sends, or `None` where that list is empty.\n\n{}",
            index.item.name,
            index.item.name.to_lowercase(),
            fields(index.item)
        ),
        Returns::File => {
            "the bytes of the file; with `to`, the path or the file object that it was written to. A file that stands \
                          there stays unless `overwrite=True`, and a download that breaks off leaves nothing behind."
                .to_owned()
        }
        Returns::Created => {
            "the [Created](#record-created) record: `id` and `uri`, from the `Location` of the reply or from its body."
                .to_owned()
        }
        Returns::Conversion => {
            "a handle, {py:class}`~headland.Conversion`, with `ready()`, `wait()` and `result()`; its `id` can be \
                                stored and picked up by another process."
                .to_owned()
        }
        Returns::Layer => {
            "a {py:class}`~headland.Layer`: an Arrow table with geometry, coordinate system, units and diagnostics."
                .to_owned()
        }
        Returns::Table { row: shape, .. } => format!(
            "a {{py:class}}`~headland.Table` whose rows are [{}](#record-{}).\n\n{}",
            shape.name,
            shape.name.to_lowercase(),
            fields(shape)
        ),
        Returns::Nothing | Returns::NotImplemented => "nothing.".to_owned(),
        Returns::Payload => "what the service answers, or `None` where it answers nothing; where it only names a new record, \
                             that one's `id` and `uri`. Its fields are not specified: their names become snake_case and ids \
                             `str`, and all else is as it came."
            .to_owned(),
        Returns::Listing(listing) => format!(
            "a lazy list, {{py:class}}`~headland.Pages`, of {} as `dict`s. Their fields are not specified: their names become \
             snake_case and ids `str`, and all else is as it came.",
            listing.name
        ),
    }
}

/// How a call handles a lost reply.
fn lost(row: &Endpoint) -> &'static str {
    match (row.repeatable, row.method, row.body, row.returns) {
        (true, Method::Get, ..) => "asked again, since reading changes nothing.",
        (true, _, _, Returns::Nothing) => {
            "sent again, since doing it twice is the same as once: \"already queued\" after a lost reply counts as done."
        }
        (true, Method::Delete, ..) => {
            "sent again, since doing it twice is the same as doing it once: what is gone by then counts as deleted."
        }
        (true, ..) => "sent again, since doing it twice is the same as doing it once.",
        (false, _, Body::Multipart, _) => {
            "never sent again. Exactly one new record of that name in the list settles it; otherwise the call raises \
             `UploadOutcomeUnknown` with the ids that it may be."
        }
        (false, ..) => "never sent again, since that might do it twice: the call raises `UploadOutcomeUnknown`.",
    }
}
