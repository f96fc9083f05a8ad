//! What the endpoints of field computers answer.

use http::StatusCode;

use super::reply::{Answer, Content, Reply};
use super::world::{Call, World};
use crate::api::Index;
use crate::api::field_computers::FIELD_COMPUTER_DETAIL;
use crate::wire::{Name, Value};

/// `GET /fieldcomputers`.
pub(super) fn list(world: &World, call: &Call, index: &'static Index) -> Answer {
    let asked = call.query.page().map_err(Reply::bad_request)?;
    let computers = world.accounts.computers(call.customer);
    let total = u64::try_from(computers.len()).unwrap_or(u64::MAX);
    let place = asked.place(total);
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let items = computers.iter().skip(whole(place.skip)).take(whole(place.count)).map(|computer| {
        Value::Record(vec![
            (Name::Borrowed("id"), Value::Text(computer.id.clone())),
            (Name::Borrowed("name"), computer.detail.get("name").cloned().unwrap_or(Value::Null)),
            (Name::Borrowed("uri"), Value::Text(world.uri("FieldComputers", &computer.id))),
        ])
    });
    let size = world.page_size(asked.size, place.count);
    Ok(Reply::list(index, total, asked.page, &place, size, items.collect()))
}

/// `GET /fieldcomputers/{id}`.
pub(super) fn get(world: &World, call: &Call) -> Answer {
    let computers = world.accounts.computers(call.customer);
    let Some(computer) = computers.iter().find(|computer| computer.id.eq_ignore_ascii_case(&call.id)) else {
        return Err(Reply::no_record("field computer", &call.id));
    };
    Ok(Reply::new(StatusCode::OK, Content::Record(&FIELD_COMPUTER_DETAIL, computer.detail.clone())))
}
