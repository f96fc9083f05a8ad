//! Endpoints of grain carts. Specification 2.8 does not define their shapes: list and detail are index envelopes (field
//! notes).

use bytes::Bytes;
use http::StatusCode;

use super::cart_store::StoredCart;
use super::fields::CartFormat;
use super::multipart::ReceivedUpload;
use super::reply::{Answer, Content, Reply};
use super::service_state::{Call, ServiceState};
use super::upload_check;
use super::variants::Variant;
use headland_api::{Index, Returns};
use headland_wire::{Name, Value};

/// Path in the letter case of production.
const COLLECTION: &str = "GrainCart";

/// Replies to a call of an endpoint of the group; `None`: the group has no such endpoint.
pub(super) fn handle(state: &ServiceState, call: &Call, received: Option<ReceivedUpload>) -> Option<Answer> {
    Some(match (call.row.name(), call.row.returns) {
        ("list", Returns::Index(index)) => list(state, call, index),
        ("get", Returns::OneOf(index)) => get(state, call, index),
        ("download" | "read", _) => file(state, call),
        ("upload", _) => upload(state, call, received?),
        _ => return None,
    })
}

/// `GET /graincart`.
fn list(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let asked = call.query.page().map_err(Reply::bad_request)?;
    let (bounds, carts) = state.store.carts(call.customer, &state.hidden_carts(call), asked)?;
    Ok(state.page(index, &bounds, carts.into_iter().map(item).collect()))
}

/// `GET /graincart/{id}`: a list with one item, which is also paged (specification 4.2).
fn get(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    state.list_page(call, index, vec![item(find(state, call)?)])
}

/// `GET /graincart/{id}?format=BIN`.
fn file(state: &ServiceState, call: &Call) -> Answer {
    let asked = call.query.get("format").unwrap_or_default();
    if !asked.eq_ignore_ascii_case("BIN") {
        return Err(Reply::bad_request(format!("format must be BIN, found `{asked}`.")));
    }
    let cart = find(state, call)?;
    if let Some(file) = state.store.cart_file(&cart.id)? {
        return state.stored_file(&file, cart.name);
    }
    let generated = state.accounts.cart(call.customer, &cart.id).map(|own| own.content(cart_format(state, &cart.id)));
    let bytes = generated.unwrap_or_default();
    Ok(Reply::new(StatusCode::OK, Content::File { name: cart.name, bytes: Bytes::from(bytes) }))
}

/// `POST /graincart`.
fn upload(state: &ServiceState, call: &Call, received: ReceivedUpload) -> Answer {
    upload_check::check_grain_cart(&received.name).map_err(Reply::bad_request)?;
    let id = received.keep(state, |upload| state.store.add_cart(call.customer, upload))?;
    Ok(state.created(COLLECTION, &id))
}

fn find(state: &ServiceState, call: &Call) -> Result<StoredCart, Reply> {
    let found = state.store.cart(call.customer, &call.id)?;
    let cart = found.ok_or_else(|| Reply::not_found("grain cart file", &call.id))?;
    if state.permits_cart(call, &cart.id) { Ok(cart) } else { Err(state.not_permitted()) }
}

fn item(cart: StoredCart) -> Value {
    Value::Record(vec![(Name::Borrowed("id"), Value::Text(cart.id)), (Name::Borrowed("name"), Value::Text(cart.name))])
}

/// Returns the format of a generated file. With both encoding variants, the formats alternate by id.
fn cart_format(state: &ServiceState, id: &str) -> CartFormat {
    let has = |variant| state.variants.has(variant);
    let (latin_1, bom) = (has(Variant::Latin1Grc), has(Variant::BomGrc));
    let is_turn_of_bom = id.ends_with(['0', '2', '4', '6', '8']);
    CartFormat {
        has_oddities: has(Variant::OddGrc),
        is_latin_1: latin_1 && !(bom && is_turn_of_bom),
        has_bom: bom && (!latin_1 || is_turn_of_bom),
    }
}
