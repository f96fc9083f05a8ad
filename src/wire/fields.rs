//! Fields of a record as any content type finds them: by name, once, from text.

use super::names;
use super::time::{self, Read};
use super::value::{Name, Value};
use crate::api::{Field, Kind, Shape};

/// The name under which a list's items are kept beside the fields of its envelope; no field has it.
pub(super) const ITEMS: &str = "(items)";

/// Keeps the first value of a name unless it was null: a hoisted object repeats some of its parent's fields.
pub(super) fn put(fields: &mut Vec<(Name, Value)>, name: Name, value: Value) {
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) if *known == Value::Null => *known = value,
        Some(_) => {}
        None => fields.push((name, value)),
    }
}

/// Finds a field by its name on the wire; fields mostly come in the order of the shape, so that place is tried first.
pub(super) fn field_of(shape: &'static Shape, wire: &str, position: usize) -> Option<&'static Field> {
    if let Some(field) = shape.fields.get(position).filter(|field| field.wire == wire) {
        return Some(field);
    }
    shape
        .fields
        .iter()
        .find(|field| field.wire == wire)
        .or_else(|| shape.fields.iter().find(|field| is_named(field, wire)))
}

fn is_named(field: &Field, wire: &str) -> bool {
    names::same(field.wire, wire) || field.also.iter().any(|name| names::same(name, wire))
}

/// Finds the list whose items have that name: services also repeat the items without an element around them.
pub(super) fn list_of(shape: &'static Shape, wire: &str) -> Option<&'static Field> {
    shape.fields.iter().find(|field| matches!(field.kind, Kind::Records(_, element) if names::same(element, wire)))
}

/// A bare address as an item, where items have one (specification 2.6 calls the available files a list of URLs).
pub(super) fn bare_uri(shape: &'static Shape, text: &str) -> Option<Value> {
    shape.field("uri").map(|field| Value::Record(vec![(Name::Borrowed(field.snake), Value::Text(text.to_owned()))]))
}

/// Reads a text as a value of that type; `None` where it is not one. An empty text is null unless a text was asked
/// for.
pub(super) fn scalar(kind: Kind, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    match kind {
        Kind::Text => Some(Value::Text(text.to_owned())),
        _ if trimmed.is_empty() => Some(Value::Null),
        Kind::Id => Some(Value::Text(trimmed.to_owned())),
        Kind::Boolean => match trimmed {
            "1" => Some(Value::Boolean(true)),
            "0" => Some(Value::Boolean(false)),
            _ if trimmed.eq_ignore_ascii_case("true") => Some(Value::Boolean(true)),
            _ if trimmed.eq_ignore_ascii_case("false") => Some(Value::Boolean(false)),
            _ => None,
        },
        Kind::Integer => trimmed.parse().ok().map(Value::Integer),
        Kind::Decimal => trimmed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Decimal),
        Kind::Time => match time::read(trimmed) {
            Read::Time(time) => Some(Value::Time(time)),
            Read::Nothing => Some(Value::Null),
            Read::Wrong => None,
        },
        Kind::Record(_) | Kind::Records(..) => None,
    }
}

/// A type in the words of an error.
pub(super) fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "an id",
        Kind::Text => "a text",
        Kind::Boolean => "true or false",
        Kind::Integer => "a whole number",
        Kind::Decimal => "a number",
        Kind::Time => "an ISO 8601 time",
        Kind::Record(_) => "an object",
        Kind::Records(..) => "a list",
    }
}
