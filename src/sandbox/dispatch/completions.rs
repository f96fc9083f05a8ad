//! Completions of field operations, and the requirements of operation types.

use serde_json::{Value, json};

use super::dispatch_records::Kind;
use super::operations::{id_of, missing};
use super::payload::{Object, edit_items, field, has_id, merge_fields, new_id, text};
use super::replies::{Call, deleted, json_content};
use crate::reply::{Answer, Reply};
use headland_base::times::iso::{self, Read};

/// Operation types of the generated records. The service accepts any other type.
pub(super) const KNOWN_TYPES: [&str; 3] = ["Spraying", "Planting", "Spreading"];

/// Maximum number of requirements of an operation type.
const MAX_REQUIREMENTS: usize = 200;

/// Allowed types of a requirement.
const TYPES: [&str; 4] = ["text", "number", "boolean", "dateTime"];

/// Default requirements of an operation type: name, type, whether required.
const DEFAULTS: [(&str, &str, bool); 5] = [
    ("startTime", "dateTime", true),
    ("endTime", "dateTime", true),
    ("operator", "text", false),
    ("area", "number", false),
    ("notes", "text", false),
];

/// Returns the default requirements as JSON.
pub(super) fn default_requirements() -> Vec<Value> {
    let one = |(name, kind, required): (&str, &str, bool)| json!({"name": name, "type": kind, "required": required, "custom": false});
    DEFAULTS.into_iter().map(one).collect()
}

/// Returns the requirements of an operation type, or the defaults (specification 4.6).
pub(super) fn requirements(call: &Call<'_>) -> Answer {
    let found = call.state.store.record(call.customer, Kind::Requirements, call.id())?;
    let object = found.map_or_else(
        || json!({"operation": call.id(), "isDefault": true, "requirements": default_requirements()}),
        Value::Object,
    );
    Ok(Reply::new(http::StatusCode::OK, json_content(object)))
}

/// Sets the requirements of an operation type.
pub(super) fn set_requirements(call: &Call<'_>, given: Object) -> Answer {
    let Some(Value::Array(list)) = field(&given, "requirements") else {
        return Err(Reply::bad_request("requirements must be a list."));
    };
    if list.len() > MAX_REQUIREMENTS {
        return Err(Reply::bad_request(format!("requirements must have at most {MAX_REQUIREMENTS} entries.")));
    }
    let mut set: Vec<Object> = Vec::new();
    for requirement in list {
        let one = one_requirement(requirement, set.len())?;
        if set.iter().any(|other| name_of(other).eq_ignore_ascii_case(name_of(&one))) {
            return Err(Reply::bad_request(format!("The requirement `{}` is listed twice.", name_of(&one))));
        }
        set.push(one);
    }
    let set = [("operation", json!(call.id())), ("isDefault", json!(false)), ("requirements", json!(set))];
    let object = merge_fields(set, given);
    call.state.store.set_record(call.customer, Kind::Requirements, call.id(), &object)?;
    Ok(call.changed(object))
}

/// Converts a requirement to its stored form. `position` counts from 0.
fn one_requirement(given: &Value, position: usize) -> Result<Object, Reply> {
    let refuse = |what: &str| Reply::bad_request(format!("requirements[{position}] {what}."));
    let Value::Object(given) = given else { return Err(refuse("must be an object")) };
    let Some(name) = text(given, "name")? else { return Err(refuse("has no name")) };
    let kind = match text(given, "type")? {
        None => Value::Null,
        Some(kind) => match TYPES.iter().find(|known| known.eq_ignore_ascii_case(&kind)) {
            Some(known) => json!(known),
            None => return Err(refuse(&format!("has the type `{kind}`; it must be one of {}", TYPES.join(", ")))),
        },
    };
    let is_required = match field(given, "required") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(required)) => *required,
        Some(_) => return Err(refuse("must have `required` as true or false")),
    };
    let is_custom = !DEFAULTS.iter().any(|(known, ..)| known.eq_ignore_ascii_case(&name));
    let set = [("name", json!(name)), ("type", kind), ("required", json!(is_required)), ("custom", json!(is_custom))];
    Ok(merge_fields(set, given.clone()))
}

fn name_of(requirement: &Object) -> &str {
    requirement.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Rejects a completion with missing required fields or wrong types. The message names each field.
pub(super) fn check_completion(completion: &Object, requirements: &[Value]) -> Result<(), Reply> {
    let (mut lacking, mut wrong) = (Vec::new(), Vec::new());
    for requirement in requirements.iter().filter_map(Value::as_object) {
        let name = name_of(requirement);
        let kind = requirement.get("type").and_then(Value::as_str).unwrap_or_default();
        match field(completion, name).filter(|value| !is_blank(value)) {
            None if requirement.get("required") == Some(&Value::Bool(true)) => lacking.push(name),
            Some(value) if !fits(value, kind) => wrong.push(format!("{name} must be a {kind}")),
            _ => {}
        }
    }
    let mut sentences = Vec::new();
    if !lacking.is_empty() {
        sentences.push(format!("The completion lacks required fields: {}.", lacking.join(", ")));
    }
    if !wrong.is_empty() {
        sentences.push(format!("The completion has invalid fields: {}.", wrong.join(", ")));
    }
    if sentences.is_empty() { Ok(()) } else { Err(Reply::bad_request(sentences.join(" "))) }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn fits(value: &Value, kind: &str) -> bool {
    match kind {
        "text" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "dateTime" => value.as_str().is_some_and(|text| matches!(iso::read(text), Read::Time(_))),
        _ => true,
    }
}

/// Returns the requirements for the type of the requested field operation.
fn requirements_of_operation(call: &Call<'_>) -> Result<Vec<Value>, Reply> {
    let store = &call.state.store;
    let operation = store.record(call.customer, Kind::Operation, call.id())?.ok_or_else(|| missing(call.id()))?;
    let Some(kind) = text(&operation, "operation")? else { return Ok(default_requirements()) };
    let found = store.record(call.customer, Kind::Requirements, &kind)?;
    Ok(match found.as_ref().and_then(|found| found.get("requirements")) {
        Some(Value::Array(requirements)) => requirements.clone(),
        _ => default_requirements(),
    })
}

pub(super) fn create(call: &Call<'_>, given: Object) -> Answer {
    check_completion(&given, &requirements_of_operation(call)?)?;
    let completion = merge_fields([("id", json!(new_id()))], given);
    change(call, |completions| {
        completions.push(Value::Object(completion.clone()));
        Ok(())
    })?;
    let path = format!("/api/fieldoperations/{}/completions/{}", call.id(), id_of(&completion));
    Ok(call.created(completion, &path))
}

/// Replaces a completion and keeps its id.
pub(super) fn modify(call: &Call<'_>, given: Object) -> Answer {
    let requirements = requirements_of_operation(call)?;
    let modified = change(call, |completions| {
        let stored = completions.iter_mut().find(|known| has_id(known, "id", call.second_id()));
        let Some(stored) = stored else { return Err(unknown(call)) };
        check_completion(&given, &requirements)?;
        let id = stored.get("id").cloned().unwrap_or_default();
        let completion = merge_fields([("id", id)], given);
        *stored = Value::Object(completion.clone());
        Ok(completion)
    })?;
    Ok(call.changed(modified))
}

pub(super) fn delete(call: &Call<'_>) -> Answer {
    change(call, |completions| {
        let before = completions.len();
        completions.retain(|known| !has_id(known, "id", call.second_id()));
        if completions.len() == before { Err(unknown(call)) } else { Ok(()) }
    })?;
    Ok(deleted())
}

fn change<T>(call: &Call<'_>, work: impl FnOnce(&mut Vec<Value>) -> Result<T, Reply>) -> Result<T, Reply> {
    let changed = call.state.store.change_record(call.customer, Kind::Operation, call.id(), |operation| {
        edit_items(operation, "completions", work)
    })?;
    changed.ok_or_else(|| missing(call.id()))
}

fn unknown(call: &Call<'_>) -> Reply {
    Reply::not_found("completion", call.second_id())
}
