//! The lists of both services: raw, in pages (specification 4.7).

use http::StatusCode;
use http::header::{self, HeaderName};
use serde_json::Value;

use super::legacy::TOKENS_OPERATOR;
use super::paging::Page;
use super::replies::{Call, payload};
use super::seed::ACTIVE;
use super::store::{Kind, Listed};
use crate::sandbox::faults::Fault;
use crate::sandbox::reply::{Answer, Reply};
use crate::sandbox::variants::Variant;

/// Where the fault `foreign-location` leads: a name that never resolves (RFC 2606).
const ELSEWHERE: &str = "http://elsewhere.example";

/// A page of the list of that row.
pub(super) fn list(row: &str, call: &Call<'_>) -> Answer {
    let page = Page::read(call.query, row).map_err(Reply::bad_request)?;
    let exists = |kind, what| match call.world.store.record(call.customer, kind, call.id())? {
        Some(_) => Ok(()),
        None => Err(Reply::no_record(what, call.id())),
    };
    let listed = match row {
        "dispatch.equipment.operations" => {
            exists(Kind::Equipment, "equipment")?;
            let released_only = call.world.habits.has(Variant::ReleasedOnly);
            Listed::Assigned { equipment: call.id(), released_only }
        }
        "dispatch.products.list" => Listed::Every(Kind::Product),
        "dispatch.batches.active" => Listed::Section(Kind::Batch, ACTIVE),
        "legacy_orders.work_orders" => Listed::Section(Kind::Order, TOKENS_OPERATOR),
        "legacy_orders.products" => {
            exists(Kind::Account, "account")?;
            Listed::Section(Kind::Product, call.id())
        }
        "legacy_orders.blends" => Listed::Every(Kind::Blend),
        name => return Err(Reply::not_imitated(name)),
    };
    write(call, page, &listed)
}

fn write(call: &Call<'_>, page: Page, listed: &Listed<'_>) -> Answer {
    let meets = |fault| call.faults.contains(&fault);
    let shown = if meets(Fault::RepeatedPage) { Page { skip: page.skip.saturating_sub(1), ..page } } else { page };
    let (total, records) = call.world.store.records(call.customer, listed, shown.start(), shown.size)?;
    let given = u64::try_from(records.len()).unwrap_or(u64::MAX);
    let habits = &call.world.habits;
    let address = |base: &str| format!("{base}{}", call.path);
    let location = |base: &str, after| page.location(&address(base), after, call.sent_query, habits);
    let is_followed = given > 0 && (page.start().saturating_add(given) < total || habits.has(Variant::LocationLast));
    let next = if meets(Fault::ForeignLocation) {
        Some(location(ELSEWHERE, 1))
    } else if meets(Fault::LoopingLocation) {
        Some(location(&call.world.base, 0))
    } else {
        is_followed.then(|| location(&call.world.base, 1))
    };
    let mut reply = Reply::new(StatusCode::OK, payload(Value::Array(records)));
    if let Some(next) = next {
        reply = reply.with(header::LOCATION, next);
    }
    if page.count && !habits.has(Variant::NoTotalCount) {
        reply = reply.with(HeaderName::from_static("x-total-count"), total.to_string());
    }
    Ok(reply)
}
