//! Files of a job and their conversions (specification 3, 4.4).
//!
//! The first request for a file starts its conversion. The conversion ends after a fixed time of the service's clock.
//! Its outcome, including failure and missing coverage, is visible only then. Each format has its own conversion.

use std::time::Duration;

use bytes::Bytes;
use http::{StatusCode, header};

use super::accounts::ArchiveFormat;
use super::clock::{add_span, seconds_until};
use super::database::{Origin, StoredJob};
use super::fields::{Coverage, Failure, Job};
use super::reply::{Answer, Content, Reply};
use super::service_state::{Call, ServiceState};
use super::variants::Variant;
use headland_api::envelope::SERVICE_RESPONSE;
use headland_api::job_data::FORMATS;
use headland_wire::{Name, Value};

/// Format of the original file, which needs no conversion.
const ORIGINAL: &str = "BIN";

/// Target format of uploads.
const SHAPEFILE: &str = "SHP";

/// Outcome of a conversion.
#[derive(Debug)]
pub(super) enum ConversionOutcome {
    /// A file.
    File,
    /// The job recorded no coverage.
    NoCoverage,
    /// No file.
    Failed { failure: Failure, reason: String },
}

impl ConversionOutcome {
    /// Returns the `Status` of the job (specification 3).
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::File | Self::NoCoverage => "CONVERSION_STATUS_SUCCESS",
            Self::Failed { failure, .. } => failure.status(),
        }
    }
}

/// Returns the outcome of the job's last completed conversion; `None` without one. Starts no conversion.
pub(super) fn last_outcome(
    state: &ServiceState,
    call: &Call,
    job: &StoredJob,
) -> Result<Option<ConversionOutcome>, Reply> {
    match state.store.last_conversion(&job.id, call.now)? {
        Some(format) => outcome(state, call, job, &format).map(Some),
        None => Ok(None),
    }
}

/// Returns the available formats, given the last outcome.
pub(super) fn formats(
    state: &ServiceState,
    call: &Call,
    job: &StoredJob,
    last: Option<&ConversionOutcome>,
) -> Result<&'static [&'static str], Reply> {
    if state.accounts.job(call.customer, &job.id).is_some() {
        return Ok(match last {
            None | Some(ConversionOutcome::File) => FORMATS,
            Some(ConversionOutcome::Failed { failure: Failure::FileNotFound, .. }) => &[],
            Some(ConversionOutcome::NoCoverage | ConversionOutcome::Failed { .. }) => &[ORIGINAL],
        });
    }
    let is_refused = last.is_some() && matches!(state.store.origin(&job.id)?, Origin::Refused(_));
    Ok(if is_refused { &[ORIGINAL] } else { &[ORIGINAL, SHAPEFILE] })
}

fn outcome(state: &ServiceState, call: &Call, job: &StoredJob, format: &str) -> Result<ConversionOutcome, Reply> {
    match state.store.origin(&job.id)? {
        Origin::Generated => {}
        Origin::Convertible if format == SHAPEFILE => return Ok(ConversionOutcome::File),
        Origin::Convertible => {
            let reason = format!("The conversion utility cannot convert an upload to {format}.");
            return Ok(ConversionOutcome::Failed { failure: Failure::Convert, reason });
        }
        Origin::Refused(reason) => return Ok(ConversionOutcome::Failed { failure: Failure::InvalidFile, reason }),
    }
    let failed = |failure: Failure| ConversionOutcome::Failed { failure, reason: failure.why().to_owned() };
    Ok(match state.accounts.job(call.customer, &job.id).map(|job| job.coverage) {
        Some(Coverage::Recorded) => ConversionOutcome::File,
        Some(Coverage::None) => ConversionOutcome::NoCoverage,
        Some(Coverage::Unconvertible(failure)) => failed(failure),
        None => failed(Failure::FileNotFound),
    })
}

/// `GET /jobdata/{id}?format=`. The first request for an archive generates it, which may take seconds.
pub(super) fn get(state: &ServiceState, call: &Call) -> Answer {
    let job = state.find_job(call)?;
    let asked = call.query.get("format").unwrap_or_default();
    match FORMATS.iter().copied().find(|format| format.eq_ignore_ascii_case(asked)) {
        Some(ORIGINAL) => original(state, call, &job),
        Some(format) => converted(state, call, &job, format),
        None => Err(Reply::bad_request(format!("format must be one of {}, found `{asked}`.", FORMATS.join(", ")))),
    }
}

/// Returns the original file, or an error status if the job's source file is inaccessible.
fn original(state: &ServiceState, call: &Call, job: &StoredJob) -> Answer {
    const UNREACHABLE: Coverage = Coverage::Unconvertible(Failure::FileNotFound);
    if state.accounts.job(call.customer, &job.id).is_some_and(|generated| generated.coverage == UNREACHABLE) {
        let failure = Failure::FileNotFound;
        return Ok(Reply::service_response(StatusCode::OK, failure.status(), failure.why()));
    }
    file(state, call, job, ORIGINAL)
}

fn converted(state: &ServiceState, call: &Call, job: &StoredJob, format: &str) -> Answer {
    let is_ready = state.accounts.job(call.customer, &job.id).is_some_and(|generated| generated.is_ready_immediately);
    let time = if is_ready { Duration::ZERO } else { state.conversion_time };
    let ready = state.store.start_conversion(&job.id, format, add_span(call.now, time))?;
    if ready > call.now {
        return Ok(more_time(state, seconds_until(call.now, ready)));
    }
    match outcome(state, call, job, format)? {
        ConversionOutcome::File => file(state, call, job, format),
        ConversionOutcome::NoCoverage => Ok(no_coverage()),
        ConversionOutcome::Failed { failure, reason } => {
            Ok(Reply::service_response(StatusCode::OK, failure.status(), reason))
        }
    }
}

fn archive_format(format: &str) -> ArchiveFormat {
    match format {
        "FMIS" => ArchiveFormat::Fmis,
        "XML" => ArchiveFormat::Parsed,
        SHAPEFILE => ArchiveFormat::Shapefile,
        _ => ArchiveFormat::Display,
    }
}

/// Returns the reply for a job without coverage.
pub(super) fn no_coverage() -> Reply {
    let text = |text: &str| Value::Text(text.to_owned());
    let fields = Value::Record(vec![
        (Name::Borrowed("status"), text("NO_COVERAGE")),
        (Name::Borrowed("error_info"), text("No coverage available.")),
        (Name::Borrowed("result"), text("nil")),
    ]);
    Reply::new(StatusCode::OK, Content::Record(&SERVICE_RESPONSE, fields))
}

/// Returns the reply for a file that is not ready.
pub(super) fn more_time(state: &ServiceState, seconds: u64) -> Reply {
    let is_202 = state.variants.has(Variant::MoreTime202);
    let mut reply = Reply::more_time(if is_202 { StatusCode::ACCEPTED } else { StatusCode::OK }, seconds);
    if state.variants.has(Variant::NoRetryAfter) {
        reply.headers.retain(|(name, _)| *name != header::RETRY_AFTER);
    }
    reply
}

fn file(state: &ServiceState, call: &Call, job: &StoredJob, format: &str) -> Answer {
    let generated = state.accounts.job(call.customer, &job.id);
    let name = file_name(job, format, generated.is_none());
    let Some(generated) = generated else {
        let file = state.store.upload(&job.id)?.ok_or_else(|| Reply::not_found("file of job", &job.id))?;
        return state.stored_file(&file, name);
    };
    let bytes = archive(state, generated, state.store.revision(&job.id)?, archive_format(format))?;
    Ok(Reply::new(StatusCode::OK, Content::File { name, bytes }))
}

fn archive(state: &ServiceState, job: &Job, revision: u64, format: ArchiveFormat) -> Result<Bytes, Reply> {
    let failed = |error: headland_base::error::Error| {
        let info = format!("The sandbox could not create the archive of job `{}`: {error}", job.id);
        Reply::service_response(StatusCode::INTERNAL_SERVER_ERROR, "CONVERSION_STATUS_SERVER_ERR", info)
    };
    state.accounts.archive(job, revision, format).map_err(failed)
}

/// Returns the file name of a download. The original of an upload keeps its name.
pub(super) fn file_name(job: &StoredJob, format: &str, is_upload: bool) -> String {
    match format {
        ORIGINAL if is_upload => job.name.clone(),
        ORIGINAL => format!("{}.jdp.zip", job.name),
        "FMIS" => format!("{}_fmis.zip", base_name(&job.name)),
        "XML" => format!("{}.xml", base_name(&job.name)),
        _ => format!("{}.zip", base_name(&job.name)),
    }
}

/// Removes `.jdp.zip` or `.zip` from a file name.
pub(super) fn base_name(name: &str) -> &str {
    [".jdp.zip", ".zip"]
        .iter()
        .find_map(|ending| {
            let start = name.len().checked_sub(ending.len())?;
            let (base, end) = name.split_at_checked(start)?;
            (end.eq_ignore_ascii_case(ending) && !base.is_empty()).then_some(base)
        })
        .unwrap_or(name)
}

/// Reason why an upload without shapefiles has no conversion.
pub(super) const NO_SHAPEFILE: &str =
    "The archive holds no shape file, and the display's own files cannot be converted here.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upload_extension_is_removed_once_and_base_name_is_never_empty() {
        for (name, base) in
            [("a.jdp.zip", "a"), ("A.JDP.ZIP", "A"), ("a.zip", "a"), ("a.rdp", "a.rdp"), (".zip", ".zip"), ("é", "é")]
        {
            assert_eq!(base_name(name), base);
        }
    }
}
