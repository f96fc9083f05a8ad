//! Records out as XML, by their shapes: Pascal case, records in an element of their field, items without a wrapper.

use quick_xml::escape::escape;
use serde_json::Value as Tree;

use super::time;
use super::value::Value;
use crate::api::{Kind, Shape};

/// Writes a record as a document whose root is the shape's name.
#[must_use]
pub fn encode(shape: &Shape, record: &Value) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>");
    write_record(&mut out, shape.name, shape, record);
    out
}

/// Writes a record as one element, as it stands in a list.
fn write_record(out: &mut String, element: &str, shape: &Shape, record: &Value) {
    wrap(out, element, |out| write_fields(out, shape, record));
}

fn write_fields(out: &mut String, shape: &Shape, record: &Value) {
    for field in shape.fields.iter().filter(|field| field.derived.is_none()) {
        match (field.kind, record.get(field.snake)) {
            (_, None) => {}
            // The XML of a hub is flat where its JSON nests the report (specification 2.4).
            (Kind::Record(inner), Some(value)) => write_fields(out, inner, value),
            (Kind::Records(inner, item), Some(Value::List(records))) => wrap(out, field.wire, |out| {
                for record in records {
                    write_record(out, item, inner, record);
                }
            }),
            (_, Some(value)) => wrap(out, field.wire, |out| write_scalar(out, value)),
        }
    }
    if let Value::Record(fields) = record {
        for (name, value) in fields {
            if let Value::Unknown(tree) = value {
                write_tree(out, name, tree);
            }
        }
    }
}

fn wrap(out: &mut String, element: &str, inside: impl FnOnce(&mut String)) {
    out.push('<');
    out.push_str(element);
    out.push('>');
    inside(out);
    out.push_str("</");
    out.push_str(element);
    out.push('>');
}

fn write_scalar(out: &mut String, value: &Value) {
    match value {
        Value::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Integer(number) => out.push_str(&number.to_string()),
        Value::Decimal(number) => out.push_str(&number.to_string()),
        Value::Text(text) => out.push_str(&escape(text.as_str())),
        Value::Time(at) => out.push_str(&time::write(at)),
        Value::Null | Value::List(_) | Value::Record(_) | Value::Unknown(_) => {}
    }
}

fn write_tree(out: &mut String, name: &str, tree: &Tree) {
    match tree {
        Tree::Array(values) => values.iter().for_each(|value| write_tree(out, name, value)),
        Tree::Object(members) => wrap(out, name, |out| {
            for (name, value) in members {
                write_tree(out, name, value);
            }
        }),
        Tree::Null => wrap(out, name, |_| {}),
        Tree::String(text) => wrap(out, name, |out| out.push_str(&escape(text.as_str()))),
        other => wrap(out, name, |out| out.push_str(&other.to_string())),
    }
}
