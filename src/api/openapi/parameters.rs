//! Path parameters, query parameters and request bodies.

use serde_json::{Map, Value, json};

use crate::row::Takes;
use crate::{Body, Endpoint, Parameter, Place, Service};

/// Returns the parameters of all rows of an operation without duplicates.
pub(super) fn parameters(rows: &[&'static Endpoint]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    let mut parameters = Vec::new();
    for row in rows {
        for parameter in row.parameters.iter().filter(|one| matches!(one.place, Place::Path | Place::Query)) {
            if !names.contains(&parameter.wire) {
                names.push(parameter.wire);
                parameters.push(parameter_object(parameter, rows));
            }
        }
    }
    if rows.iter().any(|row| row.paged) {
        let is_signed = rows.iter().all(|row| row.service() == Service::FieldData);
        parameters.extend(if is_signed { page_parameters() } else { dispatch_page_parameters() });
    }
    parameters
}

fn parameter_object(parameter: &Parameter, rows: &[&'static Endpoint]) -> Value {
    let is_path = parameter.place == Place::Path;
    let mut schema = schema(parameter.takes);
    // A parameter that some rows lack has no server default: without it, the service returns another kind of reply.
    let is_in_all = rows.iter().all(|row| row.parameter(parameter.name).is_some());
    if let (Some(default), false, true, Value::Object(schema)) = (parameter.default, is_path, is_in_all, &mut schema) {
        schema.insert("default".to_owned(), json!(default));
    }
    json!({
        "name": parameter.wire,
        "in": if is_path { "path" } else { "query" },
        "required": is_path,
        "description": parameter.doc,
        "schema": schema,
    })
}

/// `pagesize` and `page` (specification 4.1).
fn page_parameters() -> Vec<Value> {
    vec![
        json!({
            "name": "pagesize",
            "in": "query",
            "required": false,
            "description": "Records per page, also written `pageSize`. At most 1000 are recommended. 0, the complete list \
                            without pages, is deprecated.",
            "schema": { "type": "integer", "minimum": 0, "default": 20 },
        }),
        json!({
            "name": "page",
            "in": "query",
            "required": false,
            "description": "Zero-based index of the page.",
            "schema": { "type": "integer", "minimum": 0, "default": 0 },
        }),
    ]
}

/// `$top`, `$skip` and `$count` (specification 4.7).
fn dispatch_page_parameters() -> Vec<Value> {
    let one = |name: &str, doc: &str, schema: Value| json!({ "name": name, "in": "query", "required": false, "description": doc, "schema": schema });
    vec![
        one(
            "$top",
            "Number of results to return. The service may return fewer: its own limit differs for each call.",
            json!({ "type": "integer", "minimum": 1 }),
        ),
        one("$skip", "Offset, in pages.", json!({ "type": "integer", "minimum": 0 })),
        one(
            "$count",
            "Whether `x-total-count` gives the number of results in the whole set.",
            json!({ "type": "boolean" }),
        ),
    ]
}

/// Returns the request body, or `None` for a row without one.
pub(super) fn request_body(row: &Endpoint) -> Option<Value> {
    match row.body {
        Body::None => None,
        Body::Json => {
            let body = row.parameters.iter().find(|one| one.place == Place::Body);
            let (doc, takes) = body.map_or(("", Takes::Mapping), |one| (one.doc, one.takes));
            let content = json!({ "application/json": { "schema": schema(takes) } });
            Some(json!({ "required": true, "description": doc, "content": content }))
        }
        Body::Multipart => {
            let parts = || row.parameters.iter().filter(|one| one.place == Place::Part);
            let properties: Map<String, Value> = parts()
                .map(|part| {
                    let mut schema = schema(part.takes);
                    if let Value::Object(schema) = &mut schema {
                        schema.insert("description".to_owned(), json!(part.doc));
                    }
                    (part.wire.to_owned(), schema)
                })
                .collect();
            let required: Vec<&str> = parts().map(|part| part.wire).collect();
            let schema = json!({ "type": "object", "required": required, "properties": properties });
            Some(json!({
                "required": true,
                "description": "Parts are identified by their names only; a file is sent with its file name.",
                "content": { "multipart/form-data": { "schema": schema } },
            }))
        }
    }
}

/// Returns the JSON schema of the accepted values.
fn schema(takes: Takes) -> Value {
    match takes {
        Takes::Id => json!({ "type": "string", "minLength": 1 }),
        Takes::Number => json!({ "type": "integer", "minimum": 0 }),
        Takes::Time => json!({ "type": "string", "format": "date-time" }),
        Takes::Word => json!({ "type": "string", "pattern": "^[A-Za-z0-9-]+$" }),
        Takes::OneOf(words) => json!({ "type": "string", "enum": words }),
        Takes::File => json!({ "type": "string", "format": "binary" }),
        Takes::Mapping => json!({ "type": "object" }),
        Takes::MappingOrList => json!({ "type": ["object", "array"] }),
    }
}
