//! Work orders of the legacy order service and their completions. Each order belongs to an operator.

use http::StatusCode;
use serde_json::{Value, json};

use super::completions::{check_completion, default_requirements};
use super::dispatch_records::{Kind, NewRecord};
use super::operations::id_of;
use super::payload::{Object, field, merge_fields, required, text};
use super::replies::{Call, conflict, deleted, json_content};
use crate::reply::{Answer, Reply};

/// Operators of a customer.
pub(super) const OPERATORS: [&str; 2] = [TOKEN_OPERATOR, "operator-2"];

/// Operator of the bearer token.
pub(super) const TOKEN_OPERATOR: &str = "operator-1";

pub(super) fn create(call: &Call<'_>, given: Object) -> Answer {
    let operator = operator(&given)?.unwrap_or(TOKEN_OPERATOR);
    let new = NewRecord { customer: call.customer, kind: Kind::Order, section: operator };
    let made = call.state.store.add_record(&new, |id| order(id, operator, given))?;
    let path = format!("/api/order/{}", id_of(&made));
    Ok(call.created(made, &path))
}

/// Builds a stored work order from the service's fields and the payload.
pub(super) fn order(id: &str, operator: &str, given: Object) -> Object {
    merge_fields([("id", json!(id)), ("operator", json!(operator)), ("completion", Value::Null)], given)
}

/// Replaces the payload of an order. The operator stays unless the payload names another.
pub(super) fn update(call: &Call<'_>, given: Object) -> Answer {
    let id = required(&given, "id")?;
    let named = operator(&given)?;
    let changed = change(call, &id, |order| {
        let kept = |name: &str| order.get(name).cloned().unwrap_or_default();
        let operator = named.map_or_else(|| kept("operator"), |named| json!(named));
        let set = [("id", kept("id")), ("operator", operator), ("completion", kept("completion"))];
        *order = merge_fields(set, given);
        Ok(order.clone())
    })?;
    Ok(call.changed(changed))
}

/// Deletes an order with its completion.
pub(super) fn delete(call: &Call<'_>) -> Answer {
    if call.state.store.remove_record(call.customer, Kind::Order, call.id())? {
        Ok(deleted())
    } else {
        Err(missing(call.id()))
    }
}

/// Assigns orders to another operator. Changes none if an order is unknown.
pub(super) fn reassign(call: &Call<'_>, given: &Object) -> Answer {
    let ids = match field(given, "orderIds") {
        Some(Value::Array(ids)) => ids
            .iter()
            .map(|id| id.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
            .ok_or_else(|| Reply::bad_request("orderIds must be a list of strings."))?,
        Some(_) => return Err(Reply::bad_request("orderIds must be a list of strings.")),
        None => vec![required(given, "orderId")?],
    };
    let operator = operator(given)?.ok_or_else(|| Reply::bad_request("operator is missing."))?;
    for id in &ids {
        call.state.store.record(call.customer, Kind::Order, id)?.ok_or_else(|| missing(id))?;
    }
    for id in &ids {
        change(call, id, |order| {
            order.insert("operator".to_owned(), json!(operator));
            Ok(())
        })?;
    }
    let done = merge_fields([("orderIds", json!(ids)), ("operator", json!(operator))], Object::new());
    Ok(call.changed(done))
}

/// Returns the requirements of all completions: legacy orders have no operation type.
pub(super) fn requirements() -> Reply {
    Reply::new(StatusCode::OK, json_content(json!({"isDefault": true, "requirements": default_requirements()})))
}

pub(super) fn create_completion(call: &Call<'_>, given: Object) -> Answer {
    let id = required(&given, "orderId")?;
    let made = change(call, &id, |order| {
        if order.get("completion").is_some_and(|completion| !completion.is_null()) {
            return Err(conflict(format!("The work order `{id}` has a completion already.")));
        }
        complete_order(order, given)
    })?;
    let path = format!("/api/workorder/{id}/completion");
    Ok(call.created(made, &path))
}

pub(super) fn update_completion(call: &Call<'_>, given: Object) -> Answer {
    let id = required(&given, "orderId")?;
    let changed = change(call, &id, |order| {
        has_completion(order, &id)?;
        complete_order(order, given)
    })?;
    Ok(call.changed(changed))
}

pub(super) fn delete_completion(call: &Call<'_>) -> Answer {
    change(call, call.id(), |order| {
        has_completion(order, call.id())?;
        order.insert("completion".to_owned(), Value::Null);
        Ok(())
    })?;
    Ok(deleted())
}

fn complete_order(order: &mut Object, given: Object) -> Result<Object, Reply> {
    check_completion(&given, &default_requirements())?;
    let completion = merge_fields([("orderId", json!(id_of(order)))], given);
    order.insert("completion".to_owned(), Value::Object(completion.clone()));
    Ok(completion)
}

fn has_completion(order: &Object, id: &str) -> Result<(), Reply> {
    match order.get("completion") {
        None | Some(Value::Null) => Err(Reply::not_found("completion of the work order", id)),
        Some(_) => Ok(()),
    }
}

/// Returns the operator in a payload, from `operator` or `user`.
fn operator(given: &Object) -> Result<Option<&'static str>, Reply> {
    let named = match text(given, "operator")? {
        Some(named) => Some(named),
        None => text(given, "user")?,
    };
    let Some(named) = named else { return Ok(None) };
    let known = OPERATORS.into_iter().find(|known| known.eq_ignore_ascii_case(&named));
    known.map(Some).ok_or_else(|| Reply::bad_request(format!("There is no operator `{named}`.")))
}

fn change<T>(call: &Call<'_>, id: &str, work: impl FnOnce(&mut Object) -> Result<T, Reply>) -> Result<T, Reply> {
    call.state.store.change_record(call.customer, Kind::Order, id, work)?.ok_or_else(|| missing(id))
}

fn missing(id: &str) -> Reply {
    Reply::not_found("work order", id)
}
