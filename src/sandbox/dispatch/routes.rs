//! Processes a dispatch request: bearer token, row, payload and handler.

use axum::body::Body as Stream;
use http::request::Parts;
use http::{HeaderMap, header};
use serde_json::Value;

use super::address::Address;
use super::payload::Object;
use super::replies::{Call, to_reply};
use super::{body, completions, legacy, lists, operations};
use crate::faults::Fault;
use crate::keys::KeyRing;
use crate::multipart;
use crate::query::Query;
use crate::reply::{Answer, Reply};
use crate::routes::Route;
use crate::service_state::ServiceState;
use headland_api::{Body, Endpoint, Returns};

/// Returns the fault replies that differ from the field data API: a token is checked instead of a signature.
pub(crate) fn fault_reply(fault: Fault) -> Option<Reply> {
    (fault == Fault::Unauthorized).then(|| unauthorized("the token has expired"))
}

/// Returns the reply to a request below one of the addresses.
pub(crate) async fn answer(
    (state, ring): (&ServiceState, &KeyRing),
    address: Address,
    request: (&Parts, Stream),
    route: Route,
    query: &Query,
    faults: &[Fault],
) -> Reply {
    let (head, stream) = request;
    let authorized = customer(ring, &head.headers).and_then(|customer| Ok((customer, route.into_row(head)?)));
    let (customer, (row, ids)) = match authorized {
        Ok(authorized) => authorized,
        Err(reply) => {
            multipart::drain(stream).await;
            return to_reply(Err(reply), state);
        }
    };
    let given = if row.body == Body::Json {
        body::read_json(&head.headers, stream).await
    } else {
        multipart::drain(stream).await;
        Ok(Value::Object(Object::new()))
    };
    let mut ids = ids.into_iter();
    let call = Call {
        state,
        customer,
        address,
        path: head.uri.path(),
        sent_query: head.uri.query().unwrap_or_default(),
        query,
        ids: [ids.next().unwrap_or_default(), ids.next().unwrap_or_default()],
        headers: &head.headers,
        faults,
    };
    to_reply(given.and_then(|given| handle(row, &call, given)), state)
}

fn handle(row: &Endpoint, call: &Call<'_>, given: Value) -> Answer {
    let given = match given {
        given if row.full_name == "dispatch.field_operations.set_mixes" => return operations::set_mixes(call, given),
        Value::Object(given) => given,
        _ => return Err(Reply::bad_request("The body must be a JSON object.")),
    };
    match row.full_name {
        "dispatch.field_operations.create" => operations::create(call, given),
        "dispatch.field_operations.release" => operations::release(call),
        "dispatch.field_operations.set_mix" => operations::set_field(call, "mix", given),
        "dispatch.field_operations.set_target" => operations::set_field(call, "target", given),
        "dispatch.field_operations.delete" => operations::delete(call),
        "dispatch.field_operations.requirements" => completions::requirements(call),
        "dispatch.field_operations.set_requirements" => completions::set_requirements(call, given),
        "dispatch.field_operations.complete" => completions::create(call, given),
        "dispatch.field_operations.modify_completion" => completions::modify(call, given),
        "dispatch.field_operations.delete_completion" => completions::delete(call),
        "dispatch.equipment.assign" => operations::assign(call, given),
        "legacy_orders.create_order" => legacy::create(call, given),
        "legacy_orders.update_order" => legacy::update(call, given),
        "legacy_orders.delete_order" => legacy::delete(call),
        "legacy_orders.reassign" => legacy::reassign(call, &given),
        "legacy_orders.completion_requirements" => Ok(legacy::requirements()),
        "legacy_orders.create_completion" => legacy::create_completion(call, given),
        "legacy_orders.update_completion" => legacy::update_completion(call, given),
        "legacy_orders.delete_completion" => legacy::delete_completion(call),
        name if matches!(row.returns, Returns::Listing(_)) => lists::list(name, call),
        name => Err(Reply::not_supported(name)),
    }
}

/// Returns the customer of the bearer token. The specification does not define authentication (5.6).
fn customer(ring: &KeyRing, headers: &HeaderMap) -> Result<u32, Reply> {
    let sent = headers.get(header::AUTHORIZATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let Some(sent) = sent else { return Err(unauthorized("the header Authorization is missing")) };
    match sent.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            ring.customer_for_token(token.trim()).ok_or_else(|| unauthorized("the service does not know this token"))
        }
        _ => Err(unauthorized("the header Authorization must be `Bearer` and a token")),
    }
}

fn unauthorized(why: &str) -> Reply {
    Reply::unauthorized(format!("bearer token check failed: {why}")).with_header(header::WWW_AUTHENTICATE, "Bearer")
}
