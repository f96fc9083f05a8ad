//! Field operations: creation, release, mixes and targets, and assignment to equipment.

use serde_json::{Value, json};

use super::dispatch_records::{Kind, NewRecord};
use super::payload::{Object, edit_items, field, has_id, merge_fields, new_id, required, text};
use super::replies::{Call, conflict, deleted};
use crate::reply::{Answer, Reply};

/// Status of a new field operation (specification 3).
pub(super) const PRE_RELEASED: &str = "Pre-Released";

/// Status after the release.
pub(super) const RELEASED: &str = "Released";

pub(super) fn create(call: &Call<'_>, given: Object) -> Answer {
    text(&given, "operation")?;
    let new = NewRecord { customer: call.customer, kind: Kind::Operation, section: "" };
    let made = call.state.store.add_record(&new, |id| operation(id, PRE_RELEASED, given))?;
    let path = format!("/api/fieldoperations/{}", id_of(&made));
    Ok(call.created(made, &path))
}

/// Builds a stored field operation from the service's fields and the payload.
pub(super) fn operation(id: &str, status: &str, given: Object) -> Object {
    merge_fields(
        [("id", json!(id)), ("status", json!(status)), ("assignments", json!([])), ("completions", json!([]))],
        given,
    )
}

pub(super) fn release(call: &Call<'_>) -> Answer {
    change(call, |operation| {
        if operation.get("status").and_then(Value::as_str) != Some(PRE_RELEASED) {
            return Err(conflict(format!("The field operation `{}` is {RELEASED} already.", call.id())));
        }
        operation.insert("status".to_owned(), json!(RELEASED));
        Ok(operation.clone())
    })
}

/// Sets a field of a field operation to the payload.
pub(super) fn set_field(call: &Call<'_>, name: &str, given: Object) -> Answer {
    replace_field(call, name, Value::Object(given))
}

/// Sets all mixes. The payload is the list, or an object with the field `mixes`.
pub(super) fn set_mixes(call: &Call<'_>, given: Value) -> Answer {
    let mixes = match given {
        Value::Object(given) => field(&given, "mixes").cloned().unwrap_or_default(),
        list => list,
    };
    if mixes.is_array() {
        replace_field(call, "mixes", mixes)
    } else {
        Err(Reply::bad_request("mixes must be a list."))
    }
}

fn replace_field(call: &Call<'_>, name: &str, value: Value) -> Answer {
    change(call, |operation| {
        // The original payload may contain the name in another letter case.
        operation.retain(|known, _| known == name || !known.eq_ignore_ascii_case(name));
        operation.insert(name.to_owned(), value);
        Ok(operation.clone())
    })
}

fn change(call: &Call<'_>, work: impl FnOnce(&mut Object) -> Result<Object, Reply>) -> Answer {
    let changed = call.state.store.change_record(call.customer, Kind::Operation, call.id(), work)?;
    changed.map(|operation| call.changed(operation)).ok_or_else(|| missing(call.id()))
}

/// Deletes a field operation with its assignments and completions.
pub(super) fn delete(call: &Call<'_>) -> Answer {
    if call.state.store.remove_record(call.customer, Kind::Operation, call.id())? {
        Ok(deleted())
    } else {
        Err(missing(call.id()))
    }
}

/// Assigns a field operation to equipment. Several assignments are allowed.
pub(super) fn assign(call: &Call<'_>, given: Object) -> Answer {
    let store = &call.state.store;
    let equipment = store.record(call.customer, Kind::Equipment, call.id())?;
    let equipment = equipment.as_ref().map(id_of).ok_or_else(|| Reply::not_found("equipment", call.id()))?;
    let operation = required(&given, "fieldOperationId")?;
    let made = store.change_record(call.customer, Kind::Operation, &operation, |operation| {
        let id = id_of(operation);
        edit_items(operation, "assignments", |assignments| {
            if assignments.iter().any(|known| has_id(known, "equipmentId", &equipment)) {
                let info = format!("The field operation `{id}` is assigned to the equipment `{equipment}` already.");
                return Err(conflict(info));
            }
            let set = [("id", json!(new_id())), ("equipmentId", json!(equipment)), ("fieldOperationId", json!(id))];
            let assignment = merge_fields(set, given);
            assignments.push(Value::Object(assignment.clone()));
            Ok(assignment)
        })
    })?;
    let made = made.ok_or_else(|| missing(&operation))?;
    let path = format!("/api/equipment/{equipment}/assignments/{}", id_of(&made));
    Ok(call.created(made, &path))
}

/// Returns the id of a stored record.
pub(super) fn id_of(object: &Object) -> String {
    object.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn missing(id: &str) -> Reply {
    Reply::not_found("field operation", id)
}
