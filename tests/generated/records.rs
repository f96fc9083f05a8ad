//! `python/headland/records.py`: a `TypedDict` for each shape.

use std::collections::HashSet;

use headland::api::{self, Field, Kind, Returns, Shape};

use crate::text::{MARK, entry, wrap};

/// Every shape that a row can return, each after those it contains.
pub(crate) fn shapes() -> Vec<&'static Shape> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for row in api::rows() {
        match row.returns {
            Returns::Detail(shape) => visit(shape, &mut found, &mut seen),
            Returns::Index(index) => visit(index.item, &mut found, &mut seen),
            Returns::File | Returns::Created | Returns::Conversion | Returns::Layer => {}
        }
    }
    found
}

fn visit(shape: &'static Shape, found: &mut Vec<&'static Shape>, seen: &mut HashSet<&'static str>) {
    if !seen.insert(shape.name) {
        return;
    }
    for field in shape.fields {
        if let Kind::Record(inner) | Kind::Records(inner, _) = field.kind {
            visit(inner, found, seen);
        }
    }
    found.push(shape);
}

pub(crate) fn records() -> String {
    let mut out = format!(
        "{MARK}\"\"\"The records of the service as typed dicts.\n\n\
         A record has the fields that the service sent; fields that are not listed here are kept, too, under snake_case\n\
         names. Times are aware datetimes in UTC, ids are strings, and what has no value is None.\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import TYPE_CHECKING, TypedDict\n\n\
         if TYPE_CHECKING:\n    import datetime as dt\n\n"
    );
    let mut names: Vec<&str> = shapes().iter().map(|shape| shape.name).collect();
    names.push("Created");
    names.sort_unstable();
    out.push_str("__all__ = [\n");
    for name in names {
        out.push_str(&format!("    \"{name}\",\n"));
    }
    out.push_str("]\n");
    for shape in shapes() {
        out.push_str(&format!("\n\nclass {}(TypedDict, total=False):\n", shape.name));
        out.push_str(&format!("    \"\"\"{}\n\n", shape.doc));
        out.push_str(&wrap(&format!("Specification {}.", shape.section), "    "));
        out.push_str("\n    Attributes:\n");
        for field in shape.fields {
            out.push_str(&entry(field.snake, &with_unit(field), "        "));
        }
        out.push_str("\n    \"\"\"\n\n");
        for field in shape.fields {
            out.push_str(&format!("    {}: {}\n", field.snake, annotation(field)));
        }
    }
    out.push_str(
        "\n\nclass Created(TypedDict):\n    \"\"\"A record that an upload made.\n\n    Specification 4.3.\n\n    \
         Attributes:\n        id: Id of the new record.\n        uri: Address of the new record.\n\n    \"\"\"\n\n    \
         id: str\n    uri: str\n",
    );
    out
}

/// The documentation of a field with its unit, which is what users look for.
pub(crate) fn with_unit(field: &Field) -> String {
    match field.unit {
        None | Some("1") => field.doc.to_owned(),
        Some("unknown") => format!("{} Unit: unknown.", field.doc),
        Some(unit) => format!("{} Unit: {unit}.", field.doc),
    }
}

/// The type of a field. A record always has its own id, so users need not prove it to their type checker.
fn annotation(field: &Field) -> String {
    match field.kind {
        Kind::Id if field.snake == "id" => "str".to_owned(),
        Kind::Id | Kind::Text => "str | None".to_owned(),
        Kind::Boolean => "bool | None".to_owned(),
        Kind::Integer => "int | None".to_owned(),
        Kind::Decimal => "float | None".to_owned(),
        Kind::Time => "dt.datetime | None".to_owned(),
        Kind::Record(shape) => format!("{} | None", shape.name),
        Kind::Records(shape, _) => format!("list[{}]", shape.name),
    }
}
