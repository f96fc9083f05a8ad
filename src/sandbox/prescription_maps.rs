//! Endpoints of prescription maps (specification 2.5, 3, 4.3).

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use http::StatusCode;

use super::job_files::base_name;
use super::map_store::{SendOutcome, Sending, StoredMap};
use super::multipart::ReceivedUpload;
use super::reply::{Answer, Content, Reply};
use super::service_state::{Call, ServiceState};
use super::telemetry::next_poll;
use super::upload_check;
use super::variants::Variant;
use headland_api::field_computers::STATES;
use headland_api::prescription_maps::{FILE_TYPES, PRESCRIPTION_MAP_DETAIL};
use headland_api::{Index, Returns};
use headland_wire::{Name, Value};

/// Path in the letter case of production.
const COLLECTION: &str = "PrescriptionMaps";

/// Messages of send conflicts (specification 4.3).
pub(super) const ALREADY_QUEUED: &str =
    "This prescription map is already queued for this field computer. Please wait until it is delivered.";
pub(super) const SAME_NAME: &str = "A file with the same name is already queued for this field computer.";

/// Replies to a call of an endpoint of the group; `None`: the group has no such endpoint.
pub(super) fn handle(state: &ServiceState, call: &Call, received: Option<ReceivedUpload>) -> Option<Answer> {
    Some(match (call.row.name(), call.row.returns) {
        ("list", Returns::Index(index)) => list(state, call, index),
        ("get", _) => get(state, call),
        ("download", _) => file(state, call),
        ("upload", _) => upload(state, call, received?),
        ("send", _) => send(state, call),
        _ => return None,
    })
}

/// `GET /prescriptionmaps`, newest first. The specification defines no order.
fn list(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    map_list(state, call, index, state.store.maps(call.customer)?)
}

/// `GET /fieldcomputers/{id}/prescriptionmaps`.
pub(super) fn list_of_computer(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let computer = state.find_computer(call)?;
    let asked = call.query.get("state").unwrap_or("validated");
    let Some(wanted) = STATES.iter().find(|known| known.eq_ignore_ascii_case(asked)) else {
        return Err(Reply::bad_request(format!("state must be one of {}, found `{asked}`.", STATES.join(", "))));
    };
    let sent =
        state.store.maps_of_computer(call.customer, &computer.id, computer.is_legacy, *wanted == "queued", call.now)?;
    map_list(state, call, index, sent)
}

/// `GET /jobdata/{id}/prescriptionmaps`.
pub(super) fn list_of_job(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let job = state.find_job(call)?;
    let used = state.accounts.maps(call.customer).iter().filter(|map| map.job == job.id);
    let used = used.map(|map| StoredMap { id: map.id.clone(), name: map.name.clone(), created: map.created });
    let sprayed = state.store.sprayed_map(call.customer, &job.id)?;
    map_list(state, call, index, used.chain(sprayed).collect())
}

fn map_list(state: &ServiceState, call: &Call, index: &'static Index, maps: Vec<StoredMap>) -> Answer {
    let items = maps.into_iter().filter(|map| state.permits_map(call, &map.id)).map(|map| {
        Value::Record(vec![
            (Name::Borrowed("uri"), Value::Text(state.uri(COLLECTION, &map.id))),
            (Name::Borrowed("id"), Value::Text(map.id)),
            (Name::Borrowed("name"), Value::Text(map.name)),
            (Name::Borrowed("sub_type"), Value::Text("Prescription Map".to_owned())),
        ])
    });
    state.list_page(call, index, items.collect())
}

/// `GET /prescriptionmaps/{id}`.
///
/// `Status` is null until a computer has received the map. The specification shows only the value of a delivered map.
fn get(state: &ServiceState, call: &Call) -> Answer {
    let map = find(state, call)?;
    let delivered = state.store.last_delivery(call.customer, &map.id, call.now)?;
    let uri = state.uri(COLLECTION, &map.id);
    let files = formats(state, call, &map)?.into_iter().map(|format| {
        Value::Record(vec![
            (Name::Borrowed("file_name"), Value::Text(file_name(&map, format))),
            (Name::Borrowed("uri"), Value::Text(format!("{uri}?format={format}"))),
            (Name::Borrowed("file_type"), Value::Text(format.to_owned())),
        ])
    });
    let fields = vec![
        (Name::Borrowed("device_file_name"), Value::Text(map.name.clone())),
        (Name::Borrowed("create_date"), in_milliseconds(map.created)),
        (Name::Borrowed("update_date"), in_milliseconds(delivered.map_or(map.created, |at| at.max(map.created)))),
        (Name::Borrowed("status"), delivered.map_or(Value::Null, |_| Value::Text("SENT_TO_DEVICE".to_owned()))),
        (Name::Borrowed("job_type"), Value::Text("PrescriptionMap".to_owned())),
        (Name::Borrowed("available_files"), Value::List(files.collect())),
    ];
    Ok(Reply::new(StatusCode::OK, Content::Record(&PRESCRIPTION_MAP_DETAIL, Value::Record(fields))))
}

/// Returns the download formats of a map: `bin` (the file itself for an upload) and `shp`.
fn formats(state: &ServiceState, call: &Call, map: &StoredMap) -> Result<Vec<&'static str>, Reply> {
    let is_generated = state.accounts.maps(call.customer).iter().any(|known| known.id == map.id);
    let is_agx = !is_generated && state.store.map_file(&map.id)?.is_some_and(|(kind, _)| kind == "AGX");
    Ok(if is_agx { vec!["bin"] } else { vec!["bin", "shp"] })
}

fn file_name(map: &StoredMap, format: &str) -> String {
    format!("{}_{format}.zip", base_name(&map.name))
}

/// `GET /prescriptionmaps/{id}?format=`.
fn file(state: &ServiceState, call: &Call) -> Answer {
    let map = find(state, call)?;
    let asked = call.query.get("format").unwrap_or_default();
    let is = |word: &str| asked.eq_ignore_ascii_case(word);
    let formats = formats(state, call, &map)?;
    let Some(format) = formats.iter().find(|format| is(format)) else {
        let info = if is("AGX") {
            "The AgX format is not supported.".to_owned()
        } else if is("RAD") {
            "The RAD format cannot be downloaded.".to_owned()
        } else {
            format!("format must be one of {}, found `{asked}`.", formats.join(", "))
        };
        return Err(Reply::bad_request(info));
    };
    let generated = state.accounts.maps(call.customer).iter().find(|known| known.id == map.id);
    let failed = |error: headland_base::error::Error| {
        Reply::invalid(StatusCode::INTERNAL_SERVER_ERROR, format!("The sandbox could not create the map: {error}"))
    };
    let name = file_name(&map, format);
    let bytes = match generated {
        Some(generated) if *format == "shp" => generated.shapefile_zip().map_err(failed)?,
        Some(generated) => generated.display_zip().map_err(failed)?,
        None => {
            let (_, file) = state.store.map_file(&map.id)?.ok_or_else(|| Reply::not_found("file of map", &map.id))?;
            return state.stored_file(&file, name);
        }
    };
    Ok(Reply::new(StatusCode::OK, Content::File { name, bytes: Bytes::from(bytes) }))
}

/// `POST /prescriptionmaps`. `Location` and the text body contain the address of the new record.
fn upload(state: &ServiceState, call: &Call, received: ReceivedUpload) -> Answer {
    let asked = received.file_type.as_deref().unwrap_or_default();
    let Some(kind) = FILE_TYPES.iter().find(|kind| kind.eq_ignore_ascii_case(asked)) else {
        return Err(Reply::bad_request(format!("The entry FileType must be RX or AGX, found `{asked}`.")));
    };
    let checked = match *kind {
        "AGX" => upload_check::check_agx(&received.name),
        _ => upload_check::check_rx(&received.name, received.part.reader()?),
    };
    checked.map_err(Reply::bad_request)?;
    let id = received.keep(state, |upload| state.store.add_map(call.customer, upload, kind, call.now))?;
    Ok(state.created(COLLECTION, &id))
}

/// `PUT /prescriptionmaps/{rxID}/fieldcomputers/{fcID}`.
///
/// The specification defines no status codes for conflicts. They are 409 with `INVALID_REQUEST` and a message (field
/// notes, Replies), or 200 under the variant `conflict-200`.
fn send(state: &ServiceState, call: &Call) -> Answer {
    let map = find(state, call)?;
    let computers = state.accounts.computers(call.customer);
    let found = computers.iter().enumerate().find(|(_, computer)| computer.id.eq_ignore_ascii_case(&call.second_id));
    let (position, computer) = found.ok_or_else(|| Reply::not_found("field computer", &call.second_id))?;
    if !state.permits_computer(call, computer) {
        return Err(state.not_permitted());
    }
    let delivered = next_poll(position, call.now);
    let sending = Sending { customer: call.customer, map: &map, computer: &computer.id, delivered };
    let info = match state.store.send(&sending, call.now)? {
        SendOutcome::Queued => {
            let info = format!("`{}` is queued for the field computer.", map.name);
            return Ok(Reply::text(StatusCode::OK, info));
        }
        SendOutcome::SameMap => ALREADY_QUEUED,
        SendOutcome::SameName => SAME_NAME,
    };
    Err(conflict(state, info))
}

/// Returns the reply for a send conflict.
pub(super) fn conflict(state: &ServiceState, info: &str) -> Reply {
    let status = if state.variants.has(Variant::Conflict200) { StatusCode::OK } else { StatusCode::CONFLICT };
    Reply::invalid(status, info)
}

/// Finds the requested map of the customer.
fn find(state: &ServiceState, call: &Call) -> Result<StoredMap, Reply> {
    let map = state.store.map(call.customer, &call.id)?;
    let map = map.ok_or_else(|| Reply::not_found("prescription map", &call.id))?;
    if state.permits_map(call, &map.id) { Ok(map) } else { Err(state.not_permitted()) }
}

/// Formats a time with milliseconds (specification 2.5).
fn in_milliseconds(time: DateTime<Utc>) -> Value {
    Value::Text(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}
