//! Generates the imports of the files in `python/headland/groups`.

use headland::api::Group;

use crate::methods::{Mode, inside};
use crate::records::{import, import_within, shapes_by_group};

/// The imports of a group's file: those whose names its body uses.
pub(crate) fn imports(group: &Group, mode: Mode, body: &str) -> String {
    let uses = |name: &str| {
        body.match_indices(name).any(|(at, _)| {
            let letter = |c: char| c.is_alphanumeric() || c == '_';
            !body[..at].ends_with(letter) && !body[at + name.len()..].starts_with(letter)
        })
    };
    let typing: Vec<&str> = ["TYPE_CHECKING", "Unpack", "cast", "overload"]
        .into_iter()
        .filter(|name| *name == "TYPE_CHECKING" || uses(name))
        .collect();
    let mut out = format!("from typing import {}\n", typing.join(", "));
    if ["with_options", "explained", "CallGroup"].into_iter().any(uses) {
        out.push('\n');
    }
    if uses("with_options") {
        out.push_str("from headland.archives import with_options\n");
    }
    if uses("explained") {
        out.push_str("from headland.argument_hints import LIST, explained\n");
    }
    if uses("CallGroup") {
        out.push_str("from headland.client.call_group import CallGroup\n");
    }
    if let Some(base) = ["ReadAll", "AsyncReadAll"].into_iter().find(|name| uses(name)) {
        out.push_str(&format!("from headland.client.read_all import {base}\n"));
    }
    if let Some(base) = ["SendPlans", "AsyncSendPlans"].into_iter().find(|name| uses(name)) {
        out.push_str(&format!("from headland.client.send_plan import {base}\n"));
    }
    let mut siblings: Vec<String> = inside(group)
        .into_iter()
        .map(|(_, other)| import(&mode.file(other.name), &[&mode.class(other.name)]))
        .collect();
    if !siblings.is_empty() {
        siblings.sort_unstable();
        out.push('\n');
        out.push_str(&siblings.concat());
    }
    out.push_str("\nif TYPE_CHECKING:\n");
    let standard = [
        ("dt.", "    import datetime as dt\n"),
        ("os.", "    import os\n"),
        ("Mapping", "    from collections.abc import Mapping\n"),
        ("Sequence", "    from collections.abc import Sequence\n"),
        ("Path", "    from pathlib import Path\n"),
        ("Any", "    from typing import Any\n"),
        ("BinaryIO", "    from typing import BinaryIO\n"),
    ];
    let standard: String = standard
        .iter()
        .filter(|(name, _)| if name.ends_with('.') { body.contains(&format!(" {name}")) } else { uses(name) })
        .map(|(_, line)| *line)
        .collect();
    // One import of a module, as linters require it.
    let standard = standard.replace("Mapping\n    from collections.abc import Sequence\n", "Mapping, Sequence\n");
    out.push_str(&standard);
    if !standard.is_empty() {
        out.push('\n');
    }
    let records: Vec<&str> = shapes_by_group()
        .iter()
        .flat_map(|(_, shapes)| shapes.iter().map(|shape| shape.name))
        .chain(["Created"])
        .filter(|name| uses(name))
        .collect();
    let own = [
        ("archives", vec!["Limits", "ReadOptions"]),
        ("client.calls", vec!["AsyncCalls", "Calls", "Upload"]),
        ("client.conversion", vec!["AsyncConversion", "Conversion"]),
        ("client.locations", vec!["AsyncLocationPages", "LocationPages"]),
        ("client.map_file", vec!["MapFile"]),
        ("client.pages", vec!["AsyncPages", "Pages"]),
        ("layer.layer", vec!["Layer"]),
        ("layer.table", vec!["Table"]),
        ("records", records),
    ];
    for (module, names) in own {
        let wanted: Vec<&str> = names.into_iter().filter(|name| uses(name)).collect();
        // The indent and the package instead of the dot take three more characters.
        for line in import_within(118, &format!("headland.{module}"), &wanted)
            .replace("from .headland", "from headland")
            .lines()
        {
            out.push_str(&format!("    {line}\n"));
        }
    }
    out
}
