//! Encodes records as JSON by their shapes.

use serde_json::{Map, Value as Tree};

use super::value::Value;
use headland_api::{Field, Kind, Shape};

/// Encodes a record: its fields in the order of the shape, then its extra fields.
#[must_use]
pub fn encode(shape: &Shape, record: &Value) -> Tree {
    let mut object = Map::new();
    for field in shape.fields.iter().filter(|field| field.derived.is_none()) {
        if let Some(value) = record.get(field.snake) {
            object.insert(field.wire.to_owned(), encode_field(field, value));
        }
    }
    if let Value::Record(fields) = record {
        for (name, value) in fields {
            if let Value::Unknown(tree) = value {
                object.insert(name.to_string(), (**tree).clone());
            }
        }
    }
    Tree::Object(object)
}

fn encode_field(field: &Field, value: &Value) -> Tree {
    match (field.kind, value) {
        (Kind::Record(shape), record @ Value::Record(_)) => encode(shape, record),
        (Kind::Records(shape, _), Value::List(items)) => {
            Tree::Array(items.iter().map(|item| encode(shape, item)).collect())
        }
        (_, Value::List(_) | Value::Record(_)) => Tree::Null,
        (_, value) => value.to_json(),
    }
}
