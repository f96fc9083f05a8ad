//! Generates `python/headland/groups`: the methods of both clients, one for each row, a file for each group.

use headland::api::locations::DEVICE_LOCATION;
use headland::api::row::{Parameter, Place, Takes};
use headland::api::{Endpoint, GROUPS, Group, Index, Returns};

use crate::docstrings::docstring;
use crate::method_imports::imports;
use crate::records::{file_of, import};
use crate::text::{MARK, pascal};

/// The client that a method is written for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    Sync,
    Async,
}

impl Mode {
    pub(crate) fn class(self, group: &str) -> String {
        let name = if group.is_empty() { "ClientRows".to_owned() } else { pascal(group) };
        format!("{}{name}", if self == Self::Async { "Async" } else { "" })
    }

    pub(crate) fn file(self, group: &str) -> String {
        format!("{}{}", file_of(group), if self == Self::Async { "_async" } else { "" })
    }

    fn name(self, sync: &str) -> String {
        format!("{}{sync}", if self == Self::Async { "Async" } else { "" })
    }
}

/// `python/headland/groups/*.py`, each with its path below `python/headland`.
pub(crate) fn groups() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for mode in [Mode::Sync, Mode::Async] {
        for group in GROUPS {
            files.push((format!("groups/{}.py", mode.file(group.name)), one(group, mode)));
        }
    }
    files.push(("groups/__init__.py".to_owned(), everything()));
    files
}

/// The groups that are attributes of a group, each with the name of the attribute; the client has those without a dot.
pub(crate) fn inside(group: &Group) -> Vec<(&'static str, &'static Group)> {
    let is_inside = |other: &'static Group| match group.name {
        "" => (!other.name.is_empty() && !other.name.contains('.')).then_some((other.name, other)),
        outer => Some((other.name.strip_prefix(outer)?.strip_prefix('.')?, other)),
    };
    GROUPS.iter().filter_map(is_inside).collect()
}

/// The file that re-exports all groups.
fn everything() -> String {
    let mut out = format!(
        "{MARK}\"\"\"The methods of both clients, one for each row of the table, a file for each group.\n\n\
         Each method only names its row and passes its arguments on; `calls.py` does the work.\n\"\"\"\n\n"
    );
    let mut imports = Vec::new();
    let mut names = Vec::new();
    for mode in [Mode::Sync, Mode::Async] {
        for group in GROUPS {
            imports.push(import(&mode.file(group.name), &[&mode.class(group.name)]));
            names.push(mode.class(group.name));
        }
    }
    imports.sort_unstable();
    names.sort_unstable();
    out.push_str(&imports.concat());
    out.push_str("\n__all__ = [\n");
    for name in names {
        out.push_str(&format!("    \"{name}\",\n"));
    }
    out.push_str("]\n");
    out
}

/// The file of one group for one client.
fn one(group: &Group, mode: Mode) -> String {
    let class = mode.class(group.name);
    let calls = mode.name("Calls");
    // Calls that take several requests, which no row of the table has.
    let base = match group.name {
        "" => String::new(),
        "job_data" => format!("({}, CallGroup)", mode.name("ReadAll")),
        "prescription_maps" => format!("({}, CallGroup)", mode.name("SendPlans")),
        _ => "(CallGroup)".to_owned(),
    };
    let mut body = format!("class {class}{base}:\n    \"\"\"{}\"\"\"\n\n", group.doc);
    let inside = inside(group);
    if inside.is_empty() {
        body.push_str(&format!(
            "    __slots__ = (\"_calls\",)\n\n    def __init__(self, calls: {calls}) -> None:\n        \
             \"\"\"Bind the group to its client's calls.\"\"\"\n        self._calls = calls\n"
        ));
    } else {
        if !group.name.is_empty() {
            let mut slots: Vec<String> = inside.iter().map(|(attribute, _)| format!("\"{attribute}\"")).collect();
            slots.sort_unstable();
            body.push_str(&format!("    __slots__ = ({})\n\n", slots.join(", ")));
        }
        body.push_str(&format!(
            "    def __init__(self, calls: {calls}) -> None:\n        \"\"\"Make the groups of calls.\"\"\"\n"
        ));
        if !group.rows.is_empty() {
            body.push_str("        self._calls = calls\n");
        }
        for (attribute, other) in inside {
            body.push_str(&format!("        self.{attribute} = {}(calls)\n", mode.class(other.name)));
        }
    }
    for row in group.rows.iter().filter(|row| row.is_implemented()) {
        body.push_str(&method(row, mode));
    }
    let summary = match mode {
        Mode::Sync => group.doc.to_owned(),
        Mode::Async => format!("{} As coroutines.", group.doc),
    };
    format!(
        "{MARK}\"\"\"{summary}\"\"\"\n\nfrom __future__ import annotations\n\n{}\n\n{body}",
        imports(group, mode, &body)
    )
}

fn method(row: &Endpoint, mode: Mode) -> String {
    let mut out = String::new();
    if matches!(row.returns, Returns::File) {
        for (target, returns) in
            [("None = None", "bytes"), ("str | os.PathLike[str]", "Path"), ("BinaryIO", "BinaryIO")]
        {
            out.push_str(&format!("\n    @overload\n{}        ...\n", signature(row, mode, target, returns)));
        }
        // Formatters keep a stub body on one line, so it is joined here.
        out = out.replace(":\n        ...\n", ": ...\n");
    }
    out.push('\n');
    if matches!(row.returns, Returns::Layer) {
        out.push_str("    @with_options\n");
    }
    if matches!(row.returns, Returns::Index(index) if index.item.name == "JobDataItem") {
        out.push_str("    @explained(LIST)\n");
    }
    out.push_str(&signature(row, mode, "str | os.PathLike[str] | BinaryIO | None = None", &returns(row, mode)));
    out.push_str(&docstring(row, mode));
    out.push_str(&body(row, mode));
    out
}

/// The type of the result of a method.
pub(crate) fn returns(row: &Endpoint, mode: Mode) -> String {
    match row.returns {
        Returns::Detail(shape) => shape.name.to_owned(),
        Returns::OneOf(index) => format!("{} | None", index.item.name),
        Returns::Index(index) if is_of_locations(index) => mode.name("LocationPages"),
        Returns::Index(index) => format!("{}[{}]", mode.name("Pages"), index.item.name),
        Returns::Table { row, .. } => format!("Table[{}]", row.name),
        Returns::File => "bytes | Path | BinaryIO".to_owned(),
        Returns::Created => "Created".to_owned(),
        Returns::Conversion => mode.name("Conversion"),
        Returns::Layer => "Layer".to_owned(),
        Returns::Nothing | Returns::NotImplemented => "None".to_owned(),
        Returns::Payload => "Any".to_owned(),
        Returns::Listing(_) => format!("{}[dict[str, Any]]", mode.name("Pages")),
    }
}

/// Whether a list can be mapped.
pub(crate) fn is_of_locations(index: &Index) -> bool {
    index.item.name == DEVICE_LOCATION.name
}

/// Lists are lazy in both modes; all other methods are coroutines in the asynchronous client.
fn is_coroutine(row: &Endpoint, mode: Mode) -> bool {
    mode == Mode::Async && !matches!(row.returns, Returns::Index(_) | Returns::Listing(_))
}

/// Parameters as `(name, type, default, documentation)`: first the required ones, then, after the star, the others.
pub(crate) fn arguments(row: &Endpoint, target: &str) -> (Vec<[String; 4]>, Vec<[String; 4]>) {
    let own = |parameter: &Parameter| {
        let kind = match (parameter.takes, parameter.default) {
            (Takes::Number, _) => "str | int | None",
            (Takes::Id, _) if parameter.name == "rx_id" => "str | int | MapFile",
            (Takes::Id, _) => "str | int",
            (Takes::Time, _) => "str | dt.date | dt.datetime | None",
            (Takes::Word | Takes::OneOf(_), _) => "str",
            (Takes::File, _) if row.group() == "prescription_maps" => "MapFile | BinaryIO",
            (Takes::File, _) => "Upload",
            (Takes::Mapping, _) => "Mapping[str, object]",
            (Takes::MappingOrList, _) => "Mapping[str, object] | Sequence[object]",
        };
        let default = parameter.default.map_or("None".to_owned(), |word| format!("\"{word}\""));
        [parameter.name.to_owned(), kind.to_owned(), default, parameter.doc.to_owned()]
    };
    let (required, mut optional): (Vec<_>, Vec<_>) = {
        let asked = || row.parameters.iter().filter(|parameter| !parameter.is_constant());
        let may_be_left_out = |parameter: &&Parameter| parameter.place == Place::Query || parameter.default.is_some();
        let required = asked().filter(|parameter| !may_be_left_out(parameter)).map(own).collect();
        let optional = asked().filter(may_be_left_out).map(own).collect();
        (required, optional)
    };
    let mut add = |name: &str, kind: &str, default: &str, doc: &str| {
        optional.push([name.to_owned(), kind.to_owned(), default.to_owned(), doc.to_owned()]);
    };
    if row.paged {
        add("page_size", "int | None", "None", "Records per page, 1 to 1000; the client's `page_size` if None.");
        add("page", "int | None", "None", "Zero-based page: that page alone; all pages if None.");
        // Raw lists have no types, so all of their values can be read.
        if matches!(row.returns, Returns::Index(_)) {
            add(
                "on_error",
                "str",
                "\"raise\"",
                "What a value does that cannot be read: `raise` is a `DecodeError`, `null` gives None in its place and a \
                 `HeadlandWarning` that names its path.",
            );
        }
    }
    match row.returns {
        Returns::File => {
            let (kind, default) = target.split_once(" = ").unwrap_or((target, ""));
            add(
                "to",
                kind,
                default,
                "A folder, which takes the file name of the service, a path, or a binary file object; None gives bytes.",
            );
            add("overwrite", "bool", "False", "Whether a file that stands there is replaced.");
            add(
                "limits",
                "Limits | None",
                "None",
                "Its `bytes` is the most that the file may have: 4 GiB, the default of `Limits`, if None.",
            );
        }
        Returns::Layer => {
            let doc = if row.section.contains("4.4") {
                "Seconds to wait for the conversion; the client's `timeout.call` if None."
            } else {
                "Seconds to wait for the file; the client's `timeout.call` if None."
            };
            add("timeout", "float | None", "None", doc);
            let doc = "How to read, as in `headland.read`, which documents each option, such as `layer` and `columns`.";
            add("**options", "Unpack[ReadOptions]", "", doc);
        }
        Returns::Created if row.group() == "prescription_maps" => {
            let doc = "Whether errors of the content are ignored, such as a rate that a display refuses. The rules of the \
                       service for zips always hold.";
            add("force", "bool", "False", doc);
        }
        Returns::Nothing => {
            let doc = "Whether to wait until the field computer has fetched the map. A map that is queued already is then \
                       followed instead of refused. A line on standard error shows the wait.";
            add("wait", "bool", "False", doc);
            let doc = "Seconds to wait, at most; the client's `timeout.call` if None. A tractor may be offline for days, so \
                       `NotReady` has a `handle` for `client.delivery`.";
            add("timeout", "float | None", "None", doc);
        }
        _ => {}
    }
    (required, optional)
}

fn signature(row: &Endpoint, mode: Mode, target: &str, returns: &str) -> String {
    let (required, optional) = arguments(row, target);
    let mut parts = vec!["self".to_owned()];
    parts.extend(required.iter().map(|[name, kind, ..]| format!("{name}: {kind}")));
    if !optional.is_empty() {
        parts.push("*".to_owned());
        parts.extend(optional.iter().map(|[name, kind, default, _]| {
            if default.is_empty() { format!("{name}: {kind}") } else { format!("{name}: {kind} = {default}") }
        }));
    }
    let prefix = if is_coroutine(row, mode) { "async def" } else { "def" };
    let line = format!("    {prefix} {}({}) -> {returns}:\n", row.name(), parts.join(", "));
    if line.chars().count() <= 121 {
        return line;
    }
    let parts: String = parts.iter().map(|part| format!("        {part},\n")).collect();
    format!("    {prefix} {}(\n{parts}    ) -> {returns}:\n", row.name())
}

fn body(row: &Endpoint, mode: Mode) -> String {
    let given: Vec<String> = row
        .parameters
        .iter()
        .filter(|parameter| parameter.takes != Takes::File && !parameter.is_constant())
        .map(|parameter| format!("\"{}\": {}", parameter.name, parameter.name))
        .collect();
    let given = format!("{{{}}}", given.join(", "));
    let name = row.full_name;
    let wait = if is_coroutine(row, mode) { "await " } else { "" };
    let call = match row.returns {
        Returns::Detail(_) | Returns::OneOf(_) => {
            let kind = returns(row, mode);
            return format!("        return cast(\"{kind}\", {wait}self._calls.detail(\"{name}\", {given}))\n");
        }
        Returns::Index(index) => {
            let kind = if is_of_locations(index) { "locations" } else { "pages" };
            format!("{kind}(\"{name}\", {given}, page_size=page_size, page=page, on_error=on_error)")
        }
        Returns::Listing(_) => format!("pages(\"{name}\", {given}, page_size=page_size, page=page)"),
        Returns::Payload => format!("payload(\"{name}\", {given})"),
        Returns::Table { .. } => format!("table(\"{name}\", {given})"),
        Returns::File => format!(
            "download(\n            \"{name}\",\n            {given},\n            to=to,\n            overwrite=overwrite,\n            limits=limits,\n        )"
        ),
        Returns::Nothing | Returns::NotImplemented => {
            return format!(
                "        {wait}self._calls.send_map(rx_id, field_computer_id, wait=wait, timeout=timeout)\n"
            );
        }
        Returns::Created if row.group() == "prescription_maps" => "upload_map(file, file_type, force=force)".to_owned(),
        Returns::Created if given == "{}" => format!("upload(\"{name}\", file)"),
        Returns::Created => format!("upload(\"{name}\", file, {given})"),
        Returns::Conversion => format!("conversion(\"{name}\", {given})"),
        Returns::Layer => {
            format!("layer(\"{name}\", {given}, timeout, options)")
        }
    };
    format!("        return {wait}self._calls.{call}\n")
}
