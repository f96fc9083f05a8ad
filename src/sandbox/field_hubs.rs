//! Endpoints of field hubs, except locations.

use super::fields::Hub;
use super::locations::{self, find_hub, hub_device, reports_until_now};
use super::reply::Answer;
use super::service_state::{Call, ServiceState};
use super::telemetry::Device;
use headland_api::{Index, Returns};
use headland_wire::{Name, Value};

/// Replies to a call of an endpoint of the group; `None`: the group has no such endpoint.
pub(super) fn handle(state: &ServiceState, call: &Call) -> Option<Answer> {
    let (Returns::Index(index) | Returns::OneOf(index)) = call.row.returns else { return None };
    Some(match call.row.name() {
        "list" => list(state, call, index),
        "get" => get(state, call, index),
        "reports" => reports(state, call, index),
        "current_locations" => locations::current_of_all_hubs(state, call, index),
        "current_location" => locations::current_of_hub(state, call, index),
        "locations" => locations::log_of_hub(state, call, index),
        _ => return None,
    })
}

/// `GET /fieldhubs`.
fn list(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let hubs = state.accounts.hubs(call.customer).iter().filter(|hub| state.permits_hub(call, hub));
    let items = hubs.map(|hub| {
        Value::Record(vec![
            (Name::Borrowed("id"), Value::Text(hub.id.clone())),
            (Name::Borrowed("name"), Value::Text(hub.name.to_owned())),
            (Name::Borrowed("uri"), Value::Text(state.uri("FieldHubs", &hub.id))),
        ])
    });
    state.list_page(call, index, items.collect())
}

/// `GET /fieldhubs/{id}`: an index with one item.
fn get(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let (device, hub) = find_hub(state, call)?;
    state.list_page(call, index, vec![detail(state, call, device, hub, true)])
}

/// `GET /fieldhubs/all`.
fn reports(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let hubs = state.accounts.hubs(call.customer).iter().enumerate();
    let items = hubs
        .filter(|(_, hub)| state.permits_hub(call, hub))
        .map(|(position, hub)| detail(state, call, hub_device(call, position, hub), hub, false));
    state.list_page(call, index, items.collect())
}

/// Returns a hub with its latest report. Only the detail call returns `Make`. `FieldComputer` is missing without a
/// connected computer (specification 2.4).
fn detail(state: &ServiceState, call: &Call, device: Device<'_>, hub: &Hub, is_detail: bool) -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut fields = vec![(Name::Borrowed("id"), text(&hub.id)), (Name::Borrowed("name"), text(hub.name))];
    if is_detail {
        fields.push((Name::Borrowed("make"), text(hub.make)));
    }
    fields.push((Name::Borrowed("model"), text(hub.model)));
    if let Some(computer) = &hub.computer {
        fields.push((Name::Borrowed("field_computer"), text(computer)));
    }
    fields.extend(
        reports_until_now(state, call, device).latest_report().map(|report| (Name::Borrowed("report"), report)),
    );
    Value::Record(fields)
}
