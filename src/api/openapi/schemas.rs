//! JSON schemas of records, from the record shapes of the table.

use serde_json::{Map, Value, json};

use crate::envelope::{SERVICE_INDEX, SERVICE_RESPONSE};
use crate::events::EVENTS;
use crate::{self as api, Derived, Field, Index, Kind, Returns, Shape};

/// Time fields that may hold a zero date instead of a value (specification 2.3). No calendar has that date.
const ZERO_DATES: &[&str] = &["GPSDateTime"];

/// Returns a reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns the schema name of a list.
pub(super) fn index_name(index: &Index) -> String {
    format!("{}Of{}", SERVICE_INDEX.name, index.item.name)
}

/// Returns all schemas: the two envelopes, then records and lists in the order of the rows.
pub(super) fn all() -> Value {
    let mut schemas = Map::new();
    add(&SERVICE_INDEX, &mut schemas);
    add(&SERVICE_RESPONSE, &mut schemas);
    for row in api::rows() {
        match row.returns {
            Returns::Detail(shape) => add(shape, &mut schemas),
            Returns::Index(index) | Returns::OneOf(index) => {
                add(index.item, &mut schemas);
                schemas.entry(index_name(index)).or_insert_with(|| list(index));
            }
            _ => {}
        }
    }
    Value::Object(schemas)
}

fn add(shape: &'static Shape, schemas: &mut Map<String, Value>) {
    if schemas.contains_key(shape.name) {
        return;
    }
    schemas.insert(shape.name.to_owned(), record(shape));
    for field in shape.fields {
        if let Kind::Record(inner) | Kind::Records(inner, _) = field.kind {
            add(inner, schemas);
        }
    }
}

/// Returns the schema of a list: the envelope's fields and the items (specification 2.1).
fn list(index: &Index) -> Value {
    let mut item = reference(index.item.name);
    if let Value::Object(item) = &mut item {
        item.insert("xml".to_owned(), json!({ "name": index.kind }));
    }
    let items = json!({ "type": "array", "items": item, "description": "The items of this page." });
    json!({
        "description": format!("A page of records of the kind {}.", index.kind),
        "allOf": [
            reference(SERVICE_INDEX.name),
            { "type": "object", "required": [index.kind], "properties": { (index.kind): items } },
        ],
        "xml": { "name": SERVICE_INDEX.name },
    })
}

/// Returns the schema of a record without derived fields. Additional properties are allowed.
fn record(shape: &'static Shape) -> Value {
    let sent = || shape.fields.iter().filter(|field| field.derived.is_none());
    let properties: Map<String, Value> = sent().map(|field| (field.wire.to_owned(), property(shape, field))).collect();
    let required: Vec<&str> = sent().filter(|field| is_required(shape, field)).map(|field| field.wire).collect();
    let mut schema = json!({
        "type": "object",
        "description": format!("{} Specification: {}.", shape.doc, shape.section),
        "properties": properties,
        "xml": { "name": shape.name },
    });
    if let (Value::Object(schema), false) = (&mut schema, required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// Whether each record of the shape has the field: an id, a field of the list envelope, or a status. The specification
/// guarantees no other field.
fn is_required(shape: &Shape, field: &Field) -> bool {
    std::ptr::eq(shape, &raw const SERVICE_INDEX) || matches!(field.wire, "ID" | "status")
}

fn property(shape: &'static Shape, field: &'static Field) -> Value {
    let mut schema = match field.kind {
        Kind::Record(inner) => {
            let mut schema = reference(inner.name);
            if let Value::Object(schema) = &mut schema {
                // OpenAPI has no annotation for flattened XML records.
                schema.insert("x-flat-in-xml".to_owned(), json!(true));
            }
            schema
        }
        Kind::Records(inner, element) => {
            let mut item = reference(inner.name);
            if let Value::Object(item) = &mut item {
                item.insert("xml".to_owned(), json!({ "name": element }));
            }
            json!({ "type": "array", "items": item, "xml": { "wrapped": true } })
        }
        kind => {
            let names = scalar(shape, field, kind);
            let nullable = [names, &["null"]].concat();
            match (is_required(shape, field), names) {
                (true, [name]) => json!({ "type": name }),
                (true, names) => json!({ "type": names }),
                (false, _) => json!({ "type": nullable }),
            }
        }
    };
    if let Value::Object(schema) = &mut schema {
        if ZERO_DATES.contains(&field.wire) {
            schema.insert("anyOf".to_owned(), json!([{ "format": "date-time" }, { "pattern": "^0000-00-00" }]));
        } else if matches!(field.kind, Kind::Time) {
            schema.insert("format".to_owned(), json!("date-time"));
        }
        if field.is_integer_id {
            schema.insert("format".to_owned(), json!("int64"));
        }
        schema.insert("description".to_owned(), json!(description(shape, field)));
        if let Some(unit) = field.unit {
            schema.insert("x-unit".to_owned(), json!(unit));
        }
    }
    schema
}

/// Returns the JSON types of a scalar. Ids of list items are integers or strings (specification 2.1).
fn scalar(shape: &Shape, field: &Field, kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Id if field.is_integer_id && shape.section == "2.1" => &["integer", "string"],
        Kind::Id if field.is_integer_id => &["integer"],
        Kind::Boolean => &["boolean"],
        Kind::Integer | Kind::Integers => &["integer"],
        Kind::Decimal => &["number"],
        Kind::Id | Kind::Text | Kind::Time | Kind::Record(_) | Kind::Records(..) => &["string"],
    }
}

/// Returns the description of a field: meaning, unit, derived fields and known values.
fn description(shape: &'static Shape, field: &Field) -> String {
    let mut sentences = vec![field.doc.to_owned()];
    if ZERO_DATES.contains(&field.wire) {
        sentences.push("On the wire, null or a zero date there.".to_owned());
    }
    match field.unit {
        None | Some("1") => {}
        Some("unknown") => sentences.push("Unit: not stated.".to_owned()),
        Some(unit) => sentences.push(format!("Unit: {unit}.")),
    }
    if matches!(field.kind, Kind::Record(_)) {
        sentences.push("In XML its members stand beside the others, without an element around them.".to_owned());
    }
    for other in shape.fields {
        match other.derived {
            Some(Derived::Bars { of } | Derived::Roaming { of }) if of == field.snake => {
                sentences.push(format!("What headland makes of it, `{}`: {}", other.snake, other.doc));
            }
            Some(Derived::EventMeaning { of }) if of == field.snake => {
                let values: Vec<String> = EVENTS.iter().map(|(code, meaning)| format!("`{code}` {meaning}")).collect();
                sentences.push(format!("Values: {}.", values.join(", ")));
            }
            _ => {}
        }
    }
    sentences.join(" ")
}
