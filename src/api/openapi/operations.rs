//! Path items and operations: one operation for each method of a path, from all rows that share both.

use serde_json::{Map, Value, json};

use super::services::{Addresses, security};
use super::{parameters, responses};
use crate::legacy_orders::REPLACED_BY;
use crate::{self as api, Endpoint, GROUPS, Service};

/// Returns the path items in the order of the table.
pub(super) fn paths(addresses: &Addresses) -> Value {
    let mut paths = Map::new();
    for row in api::rows() {
        if paths.contains_key(row.path) {
            continue;
        }
        let mut item = Map::new();
        if row.service() != Service::FieldData {
            item.insert("servers".to_owned(), addresses.servers(row.service()));
        }
        let path_rows: Vec<&'static Endpoint> = api::rows().filter(|other| other.path == row.path).collect();
        for first in &path_rows {
            let method = first.method.as_str().to_lowercase();
            if !item.contains_key(&method) {
                let rows: Vec<_> = path_rows.iter().copied().filter(|other| other.method == first.method).collect();
                item.insert(method, operation(first, &rows));
            }
        }
        paths.insert(row.path.to_owned(), Value::Object(item));
    }
    Value::Object(paths)
}

/// Returns one operation. `rows` are all rows of the operation; `first` gives its id, summary and tag.
fn operation(first: &Endpoint, rows: &[&'static Endpoint]) -> Value {
    let mut operation = Map::new();
    let mut put = |name: &str, value: Value| operation.insert(name.to_owned(), value);
    put("operationId", json!(first.full_name));
    put("tags", json!([tag(first.group())]));
    put("summary", json!(first.doc.split_once(". ").map_or(first.doc, |(summary, _)| summary).trim_end_matches('.')));
    put("description", json!(description(first, rows)));
    put("x-specification-sections", json!(first.section));
    put("x-headland-calls", rows.iter().map(|row| row.full_name).collect());
    if first.service() != Service::FieldData {
        put("security", security(first.service()));
    }
    if first.service() == Service::LegacyOrders {
        put("deprecated", json!(true));
    }
    if !first.is_implemented() {
        put("x-not-implemented", json!(true));
    }
    let parameters = parameters::parameters(rows);
    if !parameters.is_empty() {
        put("parameters", Value::Array(parameters));
    }
    if let Some(body) = parameters::request_body(first) {
        put("requestBody", body);
    }
    put("responses", responses::responses(rows));
    Value::Object(operation)
}

/// Joins the documentation of the rows. Paragraphs after the first name the headland call that they document.
fn description(first: &Endpoint, rows: &[&'static Endpoint]) -> String {
    let mut paragraphs = vec![first.doc.to_owned()];
    paragraphs.extend(rows.iter().skip(1).map(|row| format!("As `{}` of headland: {}", row.full_name, row.doc)));
    if let Some((_, replacement)) = REPLACED_BY.iter().find(|(legacy, _)| *legacy == first.full_name) {
        paragraphs.push(format!("Replaced by `{replacement}`."));
    }
    paragraphs.push(format!("Specification: {}.", first.section));
    paragraphs.join("\n\n")
}

/// Returns the tag of a group. Rows without a group belong to the access key.
fn tag(group: &str) -> &str {
    if group.is_empty() { "access_key" } else { group }
}

/// Returns one tag per group of rows.
pub(super) fn tags() -> Value {
    GROUPS.iter().map(|group| json!({ "name": tag(group.name), "description": group.doc })).collect()
}
