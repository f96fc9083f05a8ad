//! Generates `python/headland/records`: a `TypedDict` for each shape, a file for each group.

use std::collections::HashSet;

use headland::api::{self, Field, Kind, Returns, Shape};

use crate::text::{MARK, entry, wrap};

/// The shapes of each group that no earlier group returns; each shape follows those that it contains.
pub(crate) fn shapes_by_group() -> Vec<(String, Vec<&'static Shape>)> {
    let mut seen = HashSet::new();
    api::GROUPS
        .iter()
        .map(|group| {
            let mut found = Vec::new();
            for row in group.rows {
                match row.returns {
                    Returns::Detail(shape) => visit(shape, &mut found, &mut seen),
                    Returns::Table { row, .. } => visit(row, &mut found, &mut seen),
                    Returns::Index(index) | Returns::OneOf(index) => visit(index.item, &mut found, &mut seen),
                    Returns::File
                    | Returns::Created
                    | Returns::Conversion
                    | Returns::Layer
                    | Returns::Nothing
                    | Returns::Payload
                    | Returns::Listing(_)
                    | Returns::NotImplemented => {}
                }
            }
            (file_of(group.name), found)
        })
        // The dispatch service and the legacy order service document no payload, so their groups have no records.
        .filter(|(_, found): &(_, Vec<_>)| !found.is_empty())
        .collect()
}

/// The file name of a group; the rows of the client itself also have one.
pub(crate) fn file_of(group: &str) -> String {
    if group.is_empty() { "client".to_owned() } else { group.replace('.', "_") }
}

fn visit(shape: &'static Shape, found: &mut Vec<&'static Shape>, seen: &mut HashSet<&'static str>) {
    if !seen.insert(shape.name) {
        return;
    }
    for inner in shape.fields.iter().filter_map(inner) {
        visit(inner, found, seen);
    }
    found.push(shape);
}

fn inner(field: &Field) -> Option<&'static Shape> {
    match field.kind {
        Kind::Record(shape) | Kind::Records(shape, _) => Some(shape),
        _ => None,
    }
}

/// `python/headland/records/*.py`, each with its path below `python/headland`.
pub(crate) fn records() -> Vec<(String, String)> {
    let groups = shapes_by_group();
    let mut files: Vec<(String, String)> =
        groups.iter().map(|(file, shapes)| (format!("records/{file}.py"), group(file, shapes, &groups))).collect();
    files.push(("records/__init__.py".to_owned(), everything(&groups)));
    files
}

/// The file that re-exports all records.
fn everything(groups: &[(String, Vec<&Shape>)]) -> String {
    let mut out = format!(
        "{MARK}\"\"\"The records of the service as typed dicts.\n\n\
         A record has the fields that the service sent; fields that are not listed here are kept, too, under snake_case\n\
         names. Times are aware datetimes in UTC, ids are strings, and what has no value is None.\n\"\"\"\n\n\
         from typing import TypedDict\n\n"
    );
    let mut imports: Vec<String> = groups
        .iter()
        .map(|(file, shapes)| import(file, &shapes.iter().map(|shape| shape.name).collect::<Vec<_>>()))
        .collect();
    imports.sort_unstable();
    out.push_str(&imports.concat());
    let mut names: Vec<&str> = groups.iter().flat_map(|(_, shapes)| shapes.iter().map(|shape| shape.name)).collect();
    names.push("Created");
    names.sort_unstable();
    out.push_str("\n__all__ = [\n");
    for name in names {
        out.push_str(&format!("    \"{name}\",\n"));
    }
    out.push_str(
        "]\n\n\nclass Created(TypedDict):\n    \"\"\"A record that an upload made.\n\n    Specification 4.3.\n\n    \
         Attributes:\n        id: Id of the new record.\n        uri: Address of the new record.\n\n    \"\"\"\n\n    \
         id: str\n    uri: str\n",
    );
    out
}

/// An import from a sibling, on one line if it fits.
pub(crate) fn import(file: &str, names: &[&str]) -> String {
    import_within(121, file, names)
}

/// The same with `width` characters left on the line, including its end.
pub(crate) fn import_within(width: usize, file: &str, names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    let line = format!("from .{file} import {}\n", names.join(", "));
    if names.is_empty() {
        String::new()
    } else if line.len() <= width {
        line
    } else {
        format!("from .{file} import (\n{})\n", names.iter().map(|name| format!("    {name},\n")).collect::<String>())
    }
}

fn group(file: &str, shapes: &[&'static Shape], groups: &[(String, Vec<&'static Shape>)]) -> String {
    let has_time = shapes.iter().any(|shape| shape.fields.iter().any(|field| matches!(field.kind, Kind::Time)));
    let mut imports = if has_time { "    import datetime as dt\n".to_owned() } else { String::new() };
    for (other, theirs) in groups.iter().filter(|(other, _)| *other != file) {
        let used: Vec<&str> = shapes
            .iter()
            .flat_map(|shape| shape.fields.iter().filter_map(inner))
            .filter(|inner| theirs.iter().any(|shape| shape.name == inner.name))
            .map(|inner| inner.name)
            .collect();
        if !used.is_empty() {
            let gap = if imports.is_empty() { "" } else { "\n" };
            imports.push_str(&format!("{gap}    {}", import(other, &used)));
        }
    }
    let has_own_id = |shape: &&Shape| !is_summary(shape) && shape.fields.iter().any(|field| field.snake == "id");
    let required = if shapes.iter().any(has_own_id) { "Required, " } else { "" };
    let typing = if imports.is_empty() {
        format!("from typing import {required}TypedDict\n")
    } else {
        format!("from typing import TYPE_CHECKING, {required}TypedDict\n\nif TYPE_CHECKING:\n{imports}")
    };
    let mut out = format!(
        "{MARK}\"\"\"The records of `{file}` as typed dicts.\"\"\"\n\nfrom __future__ import annotations\n\n{typing}"
    );
    for shape in shapes {
        let total = if is_summary(shape) { "" } else { ", total=False" };
        out.push_str(&format!("\n\nclass {}(TypedDict{total}):\n", shape.name));
        out.push_str(&format!("    \"\"\"{}\n\n", shape.doc));
        out.push_str(&wrap(&format!("Specification {}.", shape.section), "    "));
        out.push_str("\n    Attributes:\n");
        for field in shape.fields {
            out.push_str(&entry(field.snake, &with_unit(field), "        "));
        }
        out.push_str("\n    \"\"\"\n\n");
        for field in shape.fields {
            let annotation = match annotation(field) {
                address if is_summary(shape) && field.snake == "uri" => address.replace(" | None", ""),
                own if field.snake == "id" && !is_summary(shape) => format!("Required[{own}]"),
                other => other,
            };
            out.push_str(&format!("    {}: {annotation}\n", field.snake));
        }
    }
    out
}

/// Whether a shape is a summary item of a list. Specification 2.1 always sends its fields.
fn is_summary(shape: &Shape) -> bool {
    shape.section == "2.1"
}

/// The documentation of a field with its unit, since users search for units.
pub(crate) fn with_unit(field: &Field) -> String {
    match field.unit {
        None | Some("1") => field.doc.to_owned(),
        Some("unknown") => format!("{} Unit: unknown.", field.doc),
        Some(unit) => format!("{} Unit: {unit}.", field.doc),
    }
}

/// The type of a field. A record always has its own id, so type checkers need no proof of it.
pub(crate) fn annotation(field: &Field) -> String {
    match field.kind {
        Kind::Id if field.snake == "id" => "str".to_owned(),
        Kind::Id | Kind::Text => "str | None".to_owned(),
        Kind::Boolean => "bool | None".to_owned(),
        Kind::Integer => "int | None".to_owned(),
        Kind::Decimal => "float | None".to_owned(),
        Kind::Time => "dt.datetime | None".to_owned(),
        Kind::Record(shape) => format!("{} | None", shape.name),
        Kind::Records(shape, _) => format!("list[{}]", shape.name),
        Kind::Integers => "list[int] | None".to_owned(),
    }
}
