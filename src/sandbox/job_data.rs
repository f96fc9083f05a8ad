//! Endpoints of job data, except files.

use chrono::{DateTime, SubsecRound as _, Utc};
use http::StatusCode;

use super::database::{JobFilter, StoredJob};
use super::multipart::ReceivedUpload;
use super::reply::{Answer, Content, Reply};
use super::service_state::{Call, ServiceState};
use super::variants::Variant;
use super::{job_files, prescription_maps, upload_check};
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_api::{Index, Returns};
use headland_wire::{Name, Value};

/// Path in the letter case of production.
pub(super) const COLLECTION: &str = "JobData";

/// Replies to a call of an endpoint of the group; `None`: the group has no such endpoint.
pub(super) fn handle(state: &ServiceState, call: &Call, received: Option<ReceivedUpload>) -> Option<Answer> {
    Some(match (call.row.name(), call.row.returns) {
        ("list", Returns::Index(index)) => list(state, call, index),
        ("get", _) => get(state, call),
        ("download" | "request" | "read", _) => job_files::get(state, call),
        ("prescription_maps", Returns::Index(index)) => prescription_maps::list_of_job(state, call, index),
        ("upload", _) => upload(state, call, received?),
        _ => return None,
    })
}

/// `GET /jobdata`.
fn list(state: &ServiceState, call: &Call, index: &'static Index) -> Answer {
    let asked = call.query.page().map_err(Reply::bad_request)?;
    let since = call.query.date().map_err(Reply::bad_request)?;
    let selection = JobFilter {
        customer: call.customer,
        hidden: state.hidden_jobs(call),
        since,
        by_updated: state.variants.has(Variant::DateByUpdated),
    };
    let (bounds, jobs) = state.store.jobs(&selection, asked)?;
    let items = jobs.into_iter().map(|job| {
        Value::Record(vec![
            (Name::Borrowed("uri"), Value::Text(state.uri(COLLECTION, &job.id))),
            (Name::Borrowed("id"), Value::Text(job.id)),
            (Name::Borrowed("name"), Value::Text(job.name)),
            (Name::Borrowed("sub_type"), job.sub_type.map_or(Value::Null, Value::Text)),
            (Name::Borrowed("create_date"), in_seconds(job.created)),
            (Name::Borrowed("update_date"), in_seconds(job.updated)),
        ])
    });
    Ok(state.page(index, &bounds, items.collect()))
}

/// Detail fields that come from the store instead of the generated job.
const STORED_FIELDS: [&str; 4] = ["status", "available_files", "create_date", "update_date"];

/// `GET /jobdata/{id}`.
///
/// `Status` is null until a requested conversion is complete. The specification defines no earlier value.
fn get(state: &ServiceState, call: &Call) -> Answer {
    let job = state.find_job(call)?;
    let outcome = job_files::last_outcome(state, call, &job)?;
    let generated = state.accounts.job(call.customer, &job.id);
    let mut fields = match generated.map(|generated| generated.detail.clone()) {
        Some(Value::Record(fields)) => fields,
        _ => upload_fields(&job),
    };
    fields.extend(state.store.sprayed_fields(&job.id)?);
    let status = outcome.as_ref().map_or(Value::Null, |outcome| Value::Text(outcome.status().to_owned()));
    let formats = job_files::formats(state, call, &job, outcome.as_ref())?;
    let available = formats.iter().map(|format| {
        Value::Record(vec![
            (Name::Borrowed("file_name"), Value::Text(job_files::file_name(&job, format, generated.is_none()))),
            (Name::Borrowed("uri"), Value::Text(format!("{}?format={format}", state.uri(COLLECTION, &job.id)))),
            (Name::Borrowed("file_type"), Value::Text(format.to_ascii_lowercase())),
        ])
    });
    fields.retain(|(name, _)| !STORED_FIELDS.contains(&name.as_ref()));
    fields.push((Name::Borrowed("create_date"), in_seconds(job.created)));
    fields.push((Name::Borrowed("update_date"), in_seconds(job.updated)));
    fields.push((Name::Borrowed("status"), status));
    fields.push((Name::Borrowed("available_files"), Value::List(available.collect())));
    Ok(Reply::new(StatusCode::OK, Content::Record(&JOB_DATA_DETAIL, Value::Record(fields))))
}

/// Truncates a time to seconds, as on the wire (specification 2.6). The filter `date` compares full times.
fn in_seconds(time: DateTime<Utc>) -> Value {
    Value::Time(time.trunc_subsecs(0))
}

/// Returns the known fields of an upload. The service does not read its content.
fn upload_fields(job: &StoredJob) -> Vec<(Name, Value)> {
    vec![
        (Name::Borrowed("device_file_name"), Value::Text(job.name.clone())),
        (Name::Borrowed("create_date"), in_seconds(job.created)),
        (Name::Borrowed("update_date"), in_seconds(job.updated)),
        (Name::Borrowed("id"), Value::Text(job.id.clone())),
        (Name::Borrowed("file_name"), Value::Text(job_files::base_name(&job.name).to_owned())),
    ]
}

/// `POST /jobdata`. `Location` and the text body contain the address of the new record.
fn upload(state: &ServiceState, call: &Call, received: ReceivedUpload) -> Answer {
    let has_shapes =
        upload_check::check_job_data(&received.name, received.part.reader()?).map_err(Reply::bad_request)?;
    let refusal = if has_shapes { None } else { Some(job_files::NO_SHAPEFILE) };
    let id = received.keep(state, |upload| state.store.add_upload(call.customer, upload, refusal, call.now))?;
    Ok(state.created(COLLECTION, &id))
}
