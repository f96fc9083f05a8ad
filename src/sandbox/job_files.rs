//! Files of a job and the conversions that make them (specification 3, 4.4).
//!
//! A conversion starts when its file is first asked for and is over after a set time of the service's clock; what came
//! of it, no coverage and failure included, is told only then. Each format has a conversion of its own.

use std::time::Duration;

use bytes::Bytes;
use http::{StatusCode, header};

use super::accounts::Made;
use super::clock::{after, seconds_until};
use super::fields::{Coverage, Failure, Job};
use super::reply::{Answer, Content, Reply};
use super::state::{Call, World};
use super::store::{Origin, StoredJob};
use super::variants::Variant;
use crate::api::envelope::SERVICE_RESPONSE;
use crate::api::job_data::FORMATS;
use crate::wire::{Name, Value};

/// The format that is no conversion.
const ORIGINAL: &str = "BIN";

/// The format that an upload can be converted to.
const SHAPES: &str = "SHP";

/// What came of a conversion.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A file.
    File,
    /// The job recorded no coverage.
    NoCoverage,
    /// No file, for this reason.
    Failed { failure: Failure, why: String },
}

impl Outcome {
    /// The `Status` of the job (specification 3).
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::File | Self::NoCoverage => "CONVERSION_STATUS_SUCCESS",
            Self::Failed { failure, .. } => failure.status(),
        }
    }
}

/// What came of the conversion of a job that was over last; `None` where there is none. Asking this starts none.
pub(super) fn outcome_so_far(world: &World, call: &Call, job: &StoredJob) -> Result<Option<Outcome>, Reply> {
    match world.store.last_conversion(&job.id, call.now)? {
        Some(format) => outcome(world, call, job, &format).map(Some),
        None => Ok(None),
    }
}

/// The formats that a file can be had in, as far as the service knows by now.
pub(super) fn formats(
    world: &World,
    call: &Call,
    job: &StoredJob,
    so_far: Option<&Outcome>,
) -> Result<&'static [&'static str], Reply> {
    if world.accounts.job(call.customer, &job.id).is_some() {
        return Ok(match so_far {
            None | Some(Outcome::File) => FORMATS,
            Some(Outcome::Failed { failure: Failure::FileNotFound, .. }) => &[],
            Some(Outcome::NoCoverage | Outcome::Failed { .. }) => &[ORIGINAL],
        });
    }
    let is_refused = so_far.is_some() && matches!(world.store.origin(&job.id)?, Origin::Refused(_));
    Ok(if is_refused { &[ORIGINAL] } else { &[ORIGINAL, SHAPES] })
}

fn outcome(world: &World, call: &Call, job: &StoredJob, format: &str) -> Result<Outcome, Reply> {
    match world.store.origin(&job.id)? {
        Origin::Generated => {}
        Origin::Convertible if format == SHAPES => return Ok(Outcome::File),
        Origin::Convertible => {
            let why = format!("The conversion utility makes no {format} file of an upload.");
            return Ok(Outcome::Failed { failure: Failure::Convert, why });
        }
        Origin::Refused(why) => return Ok(Outcome::Failed { failure: Failure::InvalidFile, why }),
    }
    let failed = |failure: Failure| Outcome::Failed { failure, why: failure.why().to_owned() };
    Ok(match world.accounts.job(call.customer, &job.id).map(|job| job.coverage) {
        Some(Coverage::Recorded) => Outcome::File,
        Some(Coverage::None) => Outcome::NoCoverage,
        Some(Coverage::Unconvertible(failure)) => failed(failure),
        None => failed(Failure::FileNotFound),
    })
}

/// `GET /jobdata/{id}?format=`. May take a while: archives are made when they are first asked for.
pub(super) fn get(world: &World, call: &Call) -> Answer {
    let job = world.find_job(call)?;
    let asked = call.query.get("format").unwrap_or_default();
    match FORMATS.iter().copied().find(|format| format.eq_ignore_ascii_case(asked)) {
        Some(ORIGINAL) => original(world, call, &job),
        Some(format) => converted(world, call, &job, format),
        None => Err(Reply::bad_request(format!("format must be one of {}, found `{asked}`.", FORMATS.join(", ")))),
    }
}

/// The original, unless the service cannot reach it either.
fn original(world: &World, call: &Call, job: &StoredJob) -> Answer {
    const LOST: Coverage = Coverage::Unconvertible(Failure::FileNotFound);
    if world.accounts.job(call.customer, &job.id).is_some_and(|generated| generated.coverage == LOST) {
        let failure = Failure::FileNotFound;
        return Ok(Reply::word(StatusCode::OK, failure.status(), failure.why()));
    }
    file(world, call, job, ORIGINAL)
}

fn converted(world: &World, call: &Call, job: &StoredJob, format: &str) -> Answer {
    let generated = world.accounts.job(call.customer, &job.id);
    let is_ready = generated.is_some_and(|generated| generated.ready_at_once);
    let time = if is_ready { Duration::ZERO } else { world.conversion_time };
    let ready = world.store.start_conversion(&job.id, format, after(call.now, time))?;
    if ready > call.now {
        if let Some(generated) = generated {
            world.converter.start(generated, world.store.revision(&job.id)?, made(format));
        }
        return Ok(more_time(world, seconds_until(call.now, ready)));
    }
    match outcome(world, call, job, format)? {
        Outcome::File => file(world, call, job, format),
        Outcome::NoCoverage => Ok(no_coverage()),
        Outcome::Failed { failure, why } => Ok(Reply::word(StatusCode::OK, failure.status(), why)),
    }
}

fn made(format: &str) -> Made {
    match format {
        "FMIS" => Made::Fmis,
        "XML" => Made::Parsed,
        SHAPES => Made::Shapefile,
        _ => Made::Display,
    }
}

/// The job has no coverage.
pub(super) fn no_coverage() -> Reply {
    let text = |text: &str| Value::Text(text.to_owned());
    let fields = Value::Record(vec![
        (Name::Borrowed("status"), text("NO_COVERAGE")),
        (Name::Borrowed("error_info"), text("No coverage available.")),
        (Name::Borrowed("result"), text("nil")),
    ]);
    Reply::new(StatusCode::OK, Content::Record(&SERVICE_RESPONSE, fields))
}

/// The file is not ready yet.
pub(super) fn more_time(world: &World, seconds: u64) -> Reply {
    let is_202 = world.habits.has(Variant::MoreTime202);
    let mut reply = Reply::more_time(if is_202 { StatusCode::ACCEPTED } else { StatusCode::OK }, seconds);
    if world.habits.has(Variant::NoRetryAfter) {
        reply.headers.retain(|(name, _)| *name != header::RETRY_AFTER);
    }
    reply
}

fn file(world: &World, call: &Call, job: &StoredJob, format: &str) -> Answer {
    let generated = world.accounts.job(call.customer, &job.id);
    let name = file_name(job, format, generated.is_none());
    let Some(generated) = generated else {
        let file = world.store.upload(&job.id)?.ok_or_else(|| Reply::no_record("file of job", &job.id))?;
        return world.stored(&file, name);
    };
    let bytes = archive(world, generated, world.store.revision(&job.id)?, made(format))?;
    Ok(Reply::new(StatusCode::OK, Content::File { name, bytes }))
}

fn archive(world: &World, job: &Job, revision: u64, made: Made) -> Result<Bytes, Reply> {
    let failed = |error: crate::error::Error| {
        let info = format!("The sandbox could not make the archive of job `{}`: {error}", job.id);
        Reply::word(StatusCode::INTERNAL_SERVER_ERROR, "CONVERSION_STATUS_SERVER_ERR", info)
    };
    world.accounts.archive(job, revision, made).map_err(failed)
}

/// The name that a file is offered under: an upload's original keeps its own.
pub(super) fn file_name(job: &StoredJob, format: &str, is_upload: bool) -> String {
    match format {
        ORIGINAL if is_upload => job.name.clone(),
        ORIGINAL => format!("{}.jdp.zip", job.name),
        "FMIS" => format!("{}_fmis.zip", base_name(&job.name)),
        "XML" => format!("{}.xml", base_name(&job.name)),
        _ => format!("{}.zip", base_name(&job.name)),
    }
}

/// A file name without `.jdp.zip` or `.zip`.
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

/// Why an upload without shape files cannot be converted to some.
pub(super) const NO_SHAPES: &str =
    "The archive holds no shape file, and the display's own files cannot be converted here.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_uploads_are_cut_once_and_never_to_nothing() {
        for (name, base) in
            [("a.jdp.zip", "a"), ("A.JDP.ZIP", "A"), ("a.zip", "a"), ("a.rdp", "a.rdp"), (".zip", ".zip"), ("é", "é")]
        {
            assert_eq!(base_name(name), base);
        }
    }
}
