//! What the endpoints of grain carts answer. Their shapes are not shown in the specification (2.8): list and detail are
//! index envelopes, as the field notes have them.

use bytes::Bytes;
use http::StatusCode;

use super::cart_store::StoredCart;
use super::fields::CartManner;
use super::job_data::created;
use super::multipart::Arrived;
use super::reply::{Answer, Content, Reply};
use super::state::{Call, World};
use super::upload_check;
use super::variants::Variant;
use crate::api::Index;
use crate::wire::{Name, Value};

/// The path as production writes it.
const COLLECTION: &str = "GrainCart";

/// `GET /graincart`.
pub(super) fn list(world: &World, call: &Call, index: &'static Index) -> Answer {
    let asked = call.query.page().map_err(Reply::bad_request)?;
    let (total, place, carts) = world.store.carts(call.customer, &world.hidden_carts(call), |total| {
        let place = asked.place(total);
        (place, place.skip, place.count)
    })?;
    let size = world.page_size(asked.size, place.count);
    Ok(Reply::list(index, total, asked.page, &place, size, carts.into_iter().map(item).collect()))
}

/// `GET /graincart/{id}`: a list of one, whose pages can be asked for as well (4.2).
pub(super) fn get(world: &World, call: &Call, index: &'static Index) -> Answer {
    let asked = call.query.page().map_err(Reply::bad_request)?;
    let cart = find(world, call)?;
    let place = asked.place(1);
    let items = if place.count == 1 { vec![item(cart)] } else { Vec::new() };
    let size = world.page_size(asked.size, place.count);
    Ok(Reply::list(index, 1, asked.page, &place, size, items))
}

/// `GET /graincart/{id}?format=BIN`.
pub(super) fn file(world: &World, call: &Call) -> Answer {
    let asked = call.query.get("format").unwrap_or_default();
    if !asked.eq_ignore_ascii_case("BIN") {
        return Err(Reply::bad_request(format!("format must be BIN, found `{asked}`.")));
    }
    let cart = find(world, call)?;
    if let Some(file) = world.store.cart_file(&cart.id)? {
        return world.stored(&file, cart.name);
    }
    let generated = world.accounts.cart(call.customer, &cart.id).map(|own| own.content(manner(world, &cart.id)));
    let bytes = generated.unwrap_or_default();
    Ok(Reply::new(StatusCode::OK, Content::File { name: cart.name, bytes: Bytes::from(bytes) }))
}

/// `POST /graincart`.
pub(super) fn upload(world: &World, call: &Call, arrived: Arrived) -> Answer {
    upload_check::grain_cart(&arrived.name).map_err(Reply::bad_request)?;
    let id = arrived.keep(world, |upload| world.store.add_cart(call.customer, upload))?;
    Ok(created(world, COLLECTION, &id))
}

fn find(world: &World, call: &Call) -> Result<StoredCart, Reply> {
    let found = world.store.cart(call.customer, &call.id)?;
    let cart = found.ok_or_else(|| Reply::no_record("grain cart file", &call.id))?;
    if world.gives_cart(call, &cart.id) { Ok(cart) } else { Err(world.not_permitted()) }
}

fn item(cart: StoredCart) -> Value {
    Value::Record(vec![(Name::Borrowed("id"), Value::Text(cart.id)), (Name::Borrowed("name"), Value::Text(cart.name))])
}

/// How generated files are written; with both variants of encodings, in turn.
fn manner(world: &World, id: &str) -> CartManner {
    let has = |variant| world.habits.has(variant);
    let (latin_1, bom) = (has(Variant::Latin1Grc), has(Variant::BomGrc));
    let is_turn_of_bom = id.ends_with(['0', '2', '4', '6', '8']);
    CartManner {
        is_odd: has(Variant::OddGrc),
        is_latin_1: latin_1 && !(bom && is_turn_of_bom),
        has_bom: bom && (!latin_1 || is_turn_of_bom),
    }
}
