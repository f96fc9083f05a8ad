//! What the endpoints of locations answer, for field computers and field hubs (specification 2.3).

use chrono::{DateTime, Utc};

use super::field_computers;
use super::fields::{Computer, Hub};
use super::reply::{Answer, Reply};
use super::state::{Call, World};
use super::telemetry::{Device, Reports};
use crate::api::Index;

/// Devices that a customer has at most, hubs and computers apart.
const OF_CUSTOMER: usize = 16;
const OF_KIND: usize = 8;

/// `GET /fieldcomputers/all/currentlocation`.
pub(super) fn of_all_computers(world: &World, call: &Call, index: &'static Index) -> Answer {
    let computers = world.accounts.computers(call.customer).iter();
    let given = computers.filter(|computer| world.gives_computer(call, computer));
    let latest = given.filter_map(|computer| newest(world, call, of(world, call, computer)?).latest_location());
    world.page_of(call, index, latest.collect())
}

/// `GET /fieldcomputers/{id}/currentlocation`.
pub(super) fn newest_of_computer(world: &World, call: &Call, index: &'static Index) -> Answer {
    let device = of(world, call, field_computers::find(world, call)?);
    let latest = device.and_then(|device| newest(world, call, device).latest_location());
    world.page_of(call, index, latest.into_iter().collect())
}

/// `GET /fieldcomputers/{id}/locations`, newest first as those of a hub: the order is not shown.
pub(super) fn of_computer(world: &World, call: &Call, index: &'static Index) -> Answer {
    let Some(device) = of(world, call, field_computers::find(world, call)?) else {
        return world.page_of(call, index, Vec::new());
    };
    page(world, call, index, device, None)
}

/// `GET /fieldhubs/all/currentlocation`.
pub(super) fn of_all_hubs(world: &World, call: &Call, index: &'static Index) -> Answer {
    let hubs = world.accounts.hubs(call.customer).iter().enumerate();
    let latest = hubs
        .filter(|(_, hub)| world.gives_hub(call, hub))
        .filter_map(|(place, hub)| newest(world, call, of_hub_at(call, place, hub)).latest_location());
    world.page_of(call, index, latest.collect())
}

/// `GET /fieldhubs/{id}/currentlocation`.
pub(super) fn newest_of_hub(world: &World, call: &Call, index: &'static Index) -> Answer {
    let (device, _) = find_hub(world, call)?;
    world.page_of(call, index, newest(world, call, device).latest_location().into_iter().collect())
}

/// `GET /fieldhubs/{id}/locations`, in descending order.
pub(super) fn of_hub(world: &World, call: &Call, index: &'static Index) -> Answer {
    let (device, _) = find_hub(world, call)?;
    let date = call.query.date().map_err(Reply::bad_request)?;
    page(world, call, index, device, date)
}

/// The hub of the call's customer with the call's id.
pub(super) fn find_hub<'a>(world: &'a World, call: &Call) -> Result<(Device<'a>, &'a Hub), Reply> {
    let hubs = world.accounts.hubs(call.customer);
    let found = hubs.iter().enumerate().find(|(_, hub)| hub.id.eq_ignore_ascii_case(&call.id));
    let (place, hub) = found.ok_or_else(|| Reply::no_record("field hub", &call.id))?;
    if world.gives_hub(call, hub) { Ok((of_hub_at(call, place, hub), hub)) } else { Err(world.not_permitted()) }
}

/// The reports of a device until now.
pub(super) fn newest<'a>(world: &World, call: &Call, device: Device<'a>) -> Reports<'a> {
    Reports::new(device, world.began, call.now, None)
}

/// A hub as a device that reports; `place` is its place among the customer's hubs.
pub(super) fn of_hub_at<'a>(call: &Call, place: usize, hub: &'a Hub) -> Device<'a> {
    Device { id: &hub.id, is_hub: true, number: number(call, place), track: &hub.track }
}

/// Whose records stand for a computer: its hub's where that is known, else its own (specification 2.3).
fn of<'a>(world: &'a World, call: &Call, computer: &'a Computer) -> Option<Device<'a>> {
    let hubs = world.accounts.hubs(call.customer);
    let hub = hubs.iter().enumerate().find(|(_, hub)| hub.computer.as_ref() == Some(&computer.id));
    if let Some((place, hub)) = hub {
        return Some(of_hub_at(call, place, hub));
    }
    let computers = world.accounts.computers(call.customer);
    let place = computers.iter().position(|other| other.id == computer.id)?;
    let number = number(call, place.saturating_add(OF_KIND));
    Some(Device { id: &computer.id, is_hub: false, number, track: &computer.track })
}

fn number(call: &Call, place: usize) -> i64 {
    let customer = usize::try_from(call.customer).unwrap_or(0);
    i64::try_from(customer.saturating_mul(OF_CUSTOMER).saturating_add(place)).unwrap_or(0)
}

fn page(world: &World, call: &Call, index: &'static Index, device: Device<'_>, date: Option<DateTime<Utc>>) -> Answer {
    let asked = call.query.page().map_err(Reply::bad_request)?;
    let reports = Reports::new(device, world.began, call.now, date);
    let place = asked.place(reports.count());
    let size = world.page_size(asked.size, place.count);
    Ok(Reply::list(index, reports.count(), asked.page, &place, size, reports.locations(&place)))
}
