//! Makes one call of a sync, and stores its result in the journal and the archives.

use std::path::Path;

use chrono::TimeDelta;

use super::archive_repair::quarantine;
use super::call_queue::{FileRequest, NextStep, Task};
use super::ingest::ingest;
use super::journal::{FileState, ItemKind, REFUSED, WriteTxn};
use super::lists::{self, List};
use super::location_lists;
use super::progress::Event;
use super::writer::MirrorWriter;
use headland_base::error::{Error, Kind, Result};
use headland_client::{Arguments, PollResult};
use headland_reader::layer::{self, Code, ReadOptions, Source};
use headland_wire::encode_json;

/// Format of mirrored job data.
const FORMAT: &str = "SHP";

/// Stored detail of a record without one.
pub(super) const NULL_DETAIL: &str = "null";

/// Makes a call and stores its result.
pub(super) async fn execute(writer: &MirrorWriter, task: &Task) -> Result<NextStep> {
    match task {
        Task::File(file) => request_file(writer, file).await,
        Task::Detail { id, stamp } => {
            let detail = fetch_detail(writer, "job_data.get", id).await?;
            writer.journal.write(|txn| {
                txn.set_detail(ItemKind::Job, id, stamp, detail.json())?;
                txn.set_no_detail(id, detail.refused())?;
                txn.count_call("details")
            })?;
            Ok(NextStep::Done)
        }
        Task::Record { list, id } => {
            let name = if *list == List::Maps { "prescription_maps.get" } else { "field_computers.get" };
            let detail = fetch_detail(writer, name, id).await?;
            writer.journal.write(|txn| {
                txn.set_record_detail(list.records(), id, detail.json(), writer.now())?;
                txn.count_call("details")
            })?;
            Ok(NextStep::Done)
        }
        Task::Locations(device, cycle) => {
            let more = location_lists::read_page(writer, device, *cycle).await?;
            Ok(if more { NextStep::Another(task.clone()) } else { NextStep::Done })
        }
    }
}

/// Detail of a record.
enum Detail {
    /// As JSON.
    Found(String),
    /// Reason why there is none.
    Refused(String),
}

impl Detail {
    fn json(&self) -> &str {
        match self {
            Self::Found(json) => json,
            Self::Refused(_) => NULL_DETAIL,
        }
    }

    fn refused(&self) -> Option<&str> {
        match self {
            Self::Found(_) => None,
            Self::Refused(why) => Some(why),
        }
    }
}

/// Detail of a record. Not requested again if the record was removed, or if the service has no detail (some legacy
/// devices, specification 4.2).
///
/// Drops two fields: the conversion status depends on the time of the request, and the available files are stored as
/// the file state. So the content of a mirror does not depend on the order of calls.
async fn fetch_detail(writer: &MirrorWriter, row_name: &str, id: &str) -> Result<Detail> {
    let row = lists::endpoint(row_name)?;
    let shape = lists::item_shape(row)?;
    let detail = match writer.client.detail(row, &Arguments::new(row, &[("id", id.to_owned())])?).await {
        Ok(detail) => detail,
        Err(error) if is_record_error(&error) => {
            writer.add_note(format!("{row_name} of {id}: {error}"));
            writer.count_finished_call();
            return Ok(Detail::Refused(error.message().into_owned()));
        }
        Err(error) => return Err(error),
    };
    writer.count_finished_call();
    let mut detail = encode_json(shape, &detail);
    if let (Some(fields), "job_data.get") = (detail.as_object_mut(), row_name) {
        fields.retain(|name, _| !matches!(name.as_str(), "Status" | "AvailableFiles"));
    }
    Ok(Detail::Found(detail.to_string()))
}

/// Whether the service refused this single record.
fn is_record_error(error: &Error) -> bool {
    matches!(error.kind(), Kind::NotFound | Kind::PermissionDenied | Kind::MethodNotAllowed | Kind::InvalidRequest)
}

/// Notes totals of a grain cart file that differ from the sums of its loads, since loads may be missing. An unreadable
/// file is reported at the publication.
fn note_wrong_totals(writer: &MirrorWriter, id: &str, path: &Path) {
    let Ok(layer) = layer::read(&Source::Path(path.to_owned()), &ReadOptions::default()) else { return };
    for differing in layer.diagnostics().iter().filter(|diagnostic| diagnostic.code == Code::TotalDiffers) {
        writer.add_note(format!("grain cart file {id}: {} ({})", differing.message, differing.code));
    }
}

async fn request_file(writer: &MirrorWriter, file: &FileRequest) -> Result<NextStep> {
    let (kind, id, stamp) = (file.kind(), file.id.as_str(), file.stamp.as_str());
    let row = lists::endpoint(if file.is_cart { "grain_carts.download" } else { "job_data.download" })?;
    let format = (!file.is_cart).then(|| ("format", FORMAT.to_owned()));
    let arguments: Vec<(&str, String)> = [("id", file.id.clone())].into_iter().chain(format).collect();
    let folder = writer.folder.incoming(stamp)?;
    let asked = writer.client.poll_file(row, &Arguments::new(row, &arguments)?, &folder, file.requests).await;
    let is_file = matches!(asked, Ok(PollResult::File(_) | PollResult::Damaged { .. }));
    if !is_file {
        writer.folder.disk().remove_folder(&folder)?;
    }
    let now = writer.now();
    let count = |txn: &WriteTxn<'_>| txn.count_call("files");
    let report = |why: &str| {
        let what = if file.is_cart { "grain cart file" } else { "job" };
        writer.progress.push_event(Event::Unavailable(format!("{what} {id}: {why}")));
    };
    let set_state = |state: FileState| {
        writer.journal.write(|txn| {
            txn.set_file(kind, id, stamp, &state, now)?;
            count(txn)
        })
    };
    let next = match asked {
        Ok(PollResult::File(path)) => {
            let stored = ingest(&writer.folder, &writer.journal, (kind, id, stamp), &path, now, count)?;
            writer.progress.update(|snapshot| snapshot.bytes = snapshot.bytes.saturating_add(stored.bytes));
            if file.is_cart {
                note_wrong_totals(writer, id, &stored.path);
            }
            NextStep::Done
        }
        Ok(PollResult::Damaged { path, error }) => {
            let stored = ingest(&writer.folder, &writer.journal, (kind, id, stamp), &path, now, count)?;
            quarantine(&writer.folder, &writer.journal, &stored.sha256, &error.message())?;
            report(&format!("quarantined: {}", error.message()));
            NextStep::Done
        }
        Ok(PollResult::MoreTime { wait }) => {
            let ready_at = TimeDelta::from_std(wait).ok().and_then(|wait| now.checked_add_signed(wait));
            let ready_at = ready_at.unwrap_or(now);
            let requests = file.requests.saturating_add(1);
            writer.journal.write(|txn| {
                txn.set_file(kind, id, stamp, &FileState::Converting { ready_at, requests }, now)?;
                txn.count_call("conversions")
            })?;
            let until = writer.client.clock().elapsed().saturating_add(wait);
            NextStep::Retry(FileRequest { requests, ..file.clone() }, ready_at, until)
        }
        Err(error) if error.kind() == Kind::NoCoverage => {
            set_state(FileState::NoCoverage { reason: error.message().into_owned() })?;
            report(&format!("no coverage: {}", error.message()));
            NextStep::Done
        }
        // An archive error means that the file exceeds the size limit.
        Err(error) if matches!(error.kind(), Kind::ConversionFailed | Kind::Archive) || is_record_error(&error) => {
            let refused = (error.kind() == Kind::PermissionDenied).then(|| REFUSED.to_owned());
            let status = refused.or_else(|| error.facts().conversion.clone());
            set_state(FileState::Failed { reason: error.message().into_owned(), status })?;
            report(&format!("failed: {}", error.message()));
            NextStep::Done
        }
        Err(error) => return Err(error),
    };
    writer.count_finished_call();
    Ok(next)
}
