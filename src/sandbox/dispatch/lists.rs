//! Lists of both services: raw JSON arrays in pages (specification 4.7).

use http::StatusCode;
use http::header::{self, HeaderName};
use serde_json::Value;

use super::dispatch_records::{Kind, ListFilter};
use super::legacy::TOKEN_OPERATOR;
use super::paging::Page;
use super::replies::{Call, json_content};
use super::seed::ACTIVE;
use crate::faults::Fault;
use crate::reply::{Answer, Reply};
use crate::variants::Variant;

/// Host of the fault `foreign-location`; the name never resolves ([RFC 2606](https://www.rfc-editor.org/rfc/rfc2606)).
const FOREIGN_HOST: &str = "http://elsewhere.example";

/// Returns a page of the list of a row.
pub(super) fn list(row: &str, call: &Call<'_>) -> Answer {
    let page = Page::read(call.query, row).map_err(Reply::bad_request)?;
    let exists = |kind, what| match call.state.store.record(call.customer, kind, call.id())? {
        Some(_) => Ok(()),
        None => Err(Reply::not_found(what, call.id())),
    };
    let filter = match row {
        "dispatch.equipment.operations" => {
            exists(Kind::Equipment, "equipment")?;
            let released_only = call.state.variants.has(Variant::ReleasedOnly);
            ListFilter::Assigned { equipment: call.id(), released_only }
        }
        "dispatch.products.list" => ListFilter::Every(Kind::Product),
        "dispatch.batches.active" => ListFilter::Section(Kind::Batch, ACTIVE),
        "legacy_orders.work_orders" => ListFilter::Section(Kind::Order, TOKEN_OPERATOR),
        "legacy_orders.products" => {
            exists(Kind::Account, "account")?;
            ListFilter::Section(Kind::Product, call.id())
        }
        "legacy_orders.blends" => ListFilter::Every(Kind::Blend),
        name => return Err(Reply::not_supported(name)),
    };
    list_reply(call, page, &filter)
}

fn list_reply(call: &Call<'_>, page: Page, filter: &ListFilter<'_>) -> Answer {
    let has_fault = |fault| call.faults.contains(&fault);
    let shown = if has_fault(Fault::RepeatedPage) { Page { skip: page.skip.saturating_sub(1), ..page } } else { page };
    let (total, records) = call.state.store.records(call.customer, filter, shown.start(), shown.size)?;
    let returned = u64::try_from(records.len()).unwrap_or(u64::MAX);
    let variants = &call.state.variants;
    let address = |base: &str| format!("{base}{}", call.path);
    let location = |base: &str, after| page.location(&address(base), after, call.sent_query, variants);
    let is_followed =
        returned > 0 && (page.start().saturating_add(returned) < total || variants.has(Variant::LocationLast));
    let next = if has_fault(Fault::ForeignLocation) {
        Some(location(FOREIGN_HOST, 1))
    } else if has_fault(Fault::LoopingLocation) {
        Some(location(&call.state.base, 0))
    } else {
        is_followed.then(|| location(&call.state.base, 1))
    };
    let mut reply = Reply::new(StatusCode::OK, json_content(Value::Array(records)));
    if let Some(next) = next {
        reply = reply.with_header(header::LOCATION, next);
    }
    if page.wants_total && !variants.has(Variant::NoTotalCount) {
        reply = reply.with_header(HeaderName::from_static("x-total-count"), total.to_string());
    }
    Ok(reply)
}
