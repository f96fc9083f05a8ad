//! Endpoints of locations of field computers and field hubs (specification 2.3).

use chrono::{DateTime, Utc};

use super::fields::{Computer, Hub};
use super::reply::{Answer, Reply};
use super::service_state::{Call, ServiceState};
use super::telemetry::{Device, Reports};
use headland_api::Index;

/// Maximum number of devices per customer, and per kind (hubs, computers).
const DEVICES_PER_CUSTOMER: usize = 16;
const DEVICES_PER_KIND: usize = 8;

/// `GET /fieldcomputers/all/currentlocation`.
pub(super) fn current_of_all_computers(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let computers = state.accounts.computers(call.customer).iter();
    let given = computers.filter(|computer| state.permits_computer(call, computer));
    let latest = given.filter_map(|computer| {
        reports_until_now(state, call, device_for_computer(state, call, computer)?).latest_location()
    });
    state.list_page(call, index, latest.collect())
}

/// `GET /fieldcomputers/{id}/currentlocation`.
pub(super) fn current_of_computer(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let device = device_for_computer(state, call, state.find_computer(call)?);
    let latest = device.and_then(|device| reports_until_now(state, call, device).latest_location());
    state.list_page(call, index, latest.into_iter().collect())
}

/// `GET /fieldcomputers/{id}/locations`, newest first as for hubs. The specification defines no order.
pub(super) fn log_of_computer(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let Some(device) = device_for_computer(state, call, state.find_computer(call)?) else {
        return state.list_page(call, index, Vec::new());
    };
    log_page(state, call, index, device, None)
}

/// `GET /fieldhubs/all/currentlocation`.
pub(super) fn current_of_all_hubs(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let hubs = state.accounts.hubs(call.customer).iter().enumerate();
    let latest = hubs.filter(|(_, hub)| state.permits_hub(call, hub)).filter_map(|(position, hub)| {
        reports_until_now(state, call, hub_device(call, position, hub)).latest_location()
    });
    state.list_page(call, index, latest.collect())
}

/// `GET /fieldhubs/{id}/currentlocation`.
pub(super) fn current_of_hub(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let (device, _) = find_hub(state, call)?;
    state.list_page(call, index, reports_until_now(state, call, device).latest_location().into_iter().collect())
}

/// `GET /fieldhubs/{id}/locations`, newest first.
pub(super) fn log_of_hub(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let (device, _) = find_hub(state, call)?;
    let date = call.query.date().map_err(Reply::bad_request)?;
    log_page(state, call, index, device, date)
}

/// Finds the requested hub of the customer.
pub(super) fn find_hub<'a>(state: &'a ServiceState, call: &Call) -> Result<(Device<'a>, &'a Hub), Reply> {
    let hubs = state.accounts.hubs(call.customer);
    let found = hubs.iter().enumerate().find(|(_, hub)| hub.id.eq_ignore_ascii_case(&call.id));
    let (position, hub) = found.ok_or_else(|| Reply::not_found("field hub", &call.id))?;
    if state.permits_hub(call, hub) { Ok((hub_device(call, position, hub), hub)) } else { Err(state.not_permitted()) }
}

/// Returns the reports of a device until now.
pub(super) fn reports_until_now<'a>(state: &ServiceState, call: &Call, device: Device<'a>) -> Reports<'a> {
    Reports::new(device, state.log_start, call.now, None)
}

/// Returns a hub as a reporting device. `position` is its index among the customer's hubs.
pub(super) fn hub_device<'a>(call: &Call, position: usize, hub: &'a Hub) -> Device<'a> {
    Device { id: &hub.id, is_hub: true, number: device_number(call, position), track: &hub.track }
}

/// Returns the device that reports for a computer: its hub, or the computer without one (specification 2.3).
fn device_for_computer<'a>(state: &'a ServiceState, call: &Call, computer: &'a Computer) -> Option<Device<'a>> {
    let hubs = state.accounts.hubs(call.customer);
    let hub = hubs.iter().enumerate().find(|(_, hub)| hub.computer.as_ref() == Some(&computer.id));
    if let Some((position, hub)) = hub {
        return Some(hub_device(call, position, hub));
    }
    let computers = state.accounts.computers(call.customer);
    let position = computers.iter().position(|other| other.id == computer.id)?;
    let number = device_number(call, position.saturating_add(DEVICES_PER_KIND));
    Some(Device { id: &computer.id, is_hub: false, number, track: &computer.track })
}

fn device_number(call: &Call, position: usize) -> i64 {
    let customer = usize::try_from(call.customer).unwrap_or(0);
    i64::try_from(customer.saturating_mul(DEVICES_PER_CUSTOMER).saturating_add(position)).unwrap_or(0)
}

fn log_page(
    state: &ServiceState,
    call: &Call,
    index: &'static Index,
    device: Device<'_>,
    date: Option<DateTime<Utc>>,
) -> Answer {
    let reports = Reports::new(device, state.log_start, call.now, date);
    let bounds = call.query.page().map_err(Reply::bad_request)?.bounds(reports.count());
    Ok(state.page(index, &bounds, reports.locations(&bounds)))
}
