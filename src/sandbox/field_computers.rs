//! Endpoints of field computers.

use http::StatusCode;

use super::fields::Job;
use super::reply::{Answer, Content, Reply};
use super::service_state::{Call, ServiceState};
use super::{job_data, locations, prescription_maps, telemetry};
use headland_api::field_computers::FIELD_COMPUTER_DETAIL;
use headland_api::{Index, Returns};
use headland_wire::{Name, Value};

/// Replies to a call of an endpoint of the group; `None`: the group has no such endpoint.
pub(super) fn handle(state: &ServiceState, call: &Call) -> Option<Answer> {
    Some(match (call.row.name(), call.row.returns) {
        ("list", Returns::Index(index)) => list(state, call, index),
        ("get", _) => get(state, call),
        ("prescription_maps", Returns::Index(index)) => prescription_maps::list_of_computer(state, call, index),
        ("job_data", Returns::Index(index)) => job_data(state, call, index),
        ("current_locations", Returns::Index(index)) => locations::current_of_all_computers(state, call, index),
        ("current_location", Returns::OneOf(index)) => locations::current_of_computer(state, call, index),
        ("locations", Returns::Index(index)) => locations::log_of_computer(state, call, index),
        _ => return None,
    })
}

/// `GET /fieldcomputers`.
fn list(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let computers = state.accounts.computers(call.customer);
    let items = computers.iter().filter(|computer| state.permits_computer(call, computer)).map(|computer| {
        Value::Record(vec![
            (Name::Borrowed("id"), Value::Text(computer.id.clone())),
            (Name::Borrowed("name"), computer.detail.get("name").cloned().unwrap_or(Value::Null)),
            (Name::Borrowed("uri"), Value::Text(state.uri("FieldComputers", &computer.id))),
        ])
    });
    state.list_page(call, index, items.collect())
}

/// `GET /fieldcomputers/{id}`.
///
/// Some legacy device types are not supported. The specification defines no reply for them; 400 with a message is its
/// general error (specification 7).
fn get(state: &ServiceState, call: &Call) -> Answer {
    let computer = state.find_computer(call)?;
    if computer.is_legacy {
        let device = computer.detail.get("device_type").and_then(Value::as_text).unwrap_or_default();
        return Err(Reply::bad_request(format!("Field computers of the type {device} are not supported.")));
    }
    let mut detail = computer.detail.clone();
    if let Value::Record(fields) = &mut detail {
        for (_, value) in fields.iter_mut().filter(|(name, _)| name == "last_report_date") {
            *value = Value::Time(telemetry::last_report_of_computer(call.now));
        }
    }
    Ok(Reply::new(StatusCode::OK, Content::Record(&FIELD_COMPUTER_DETAIL, detail)))
}

/// `GET /fieldcomputers/{id}/jobdata`. The number `minid` selects jobs with that id or a higher one.
fn job_data(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let computer = state.find_computer(call)?;
    let least = match call.query.get("minid").map(str::trim) {
        None => 0,
        Some(text) => text
            .parse::<u64>()
            .map_err(|_| Reply::bad_request(format!("minid must be a whole number >= 0, found `{text}`.")))?,
    };
    let is_meant = |job: &&Job| {
        job.detail.get("field_computer_id").and_then(Value::as_text) == Some(&computer.id)
            && job.id.parse::<u64>().is_ok_and(|id| id >= least)
    };
    let items = state.accounts.jobs(call.customer).iter().filter(is_meant).map(|job| {
        Value::Record(vec![
            (Name::Borrowed("id"), Value::Text(job.id.clone())),
            (Name::Borrowed("name"), Value::Text(job.name.clone())),
            (Name::Borrowed("uri"), Value::Text(state.uri(job_data::COLLECTION, &job.id))),
            (Name::Borrowed("sub_type"), Value::Text(job.sub_type.clone())),
        ])
    });
    state.list_page(call, index, items.collect())
}
