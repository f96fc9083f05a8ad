//! Archives whose rows the dataset includes, and the reasons why one of them is rejected.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::short_digest::short_digest;
use crate::{ItemKind, archive_store};
use headland_agronomy::{Job, MarketMoisture};
use headland_base::error::{Error, Kind};
use headland_reader::layer::Cancel;

/// Archive whose rows belong to the dataset.
#[derive(Clone, Debug)]
pub struct SourceArchive {
    /// Kind of its record.
    pub kind: ItemKind,
    /// Id of the record.
    pub job_id: String,
    /// SHA-256 of the archive.
    pub sha256: String,
    /// Path of the archive.
    pub archive: PathBuf,
    /// Job Type of the service; ignored for grain carts, which have their own.
    pub job_type: String,
    /// Start of the job, whose year selects the folder.
    pub start: Option<DateTime<Utc>>,
    /// Creation of the record, whose year is used if the start is unknown.
    pub created: Option<DateTime<Utc>>,
    /// Display that recorded the job, such as its `SoftwareVersion`.
    pub display: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Name of the field, if the service states it.
    pub field: Option<String>,
    /// What harmonising takes from the job.
    pub job: Job,
    /// Water of dry masses, where it is not that of the crop.
    pub market_moisture: MarketMoisture,
}

impl SourceArchive {
    /// Digest of all that canonical rows take from the record, so that they are written again if it changes.
    pub(super) fn job_digest(&self) -> String {
        short_digest(format!("{:?}", (&self.name, self.start, &self.job, &self.market_moisture)).as_bytes())
    }
}

/// Archive that is left out of the dataset.
#[derive(Clone, Debug)]
pub struct RejectedArchive {
    /// Kind of its record.
    pub kind: ItemKind,
    /// Id of the record.
    pub job_id: String,
    /// SHA-256 of the archive.
    pub sha256: String,
    /// The reason. Kind `File`: the archive cannot be opened, or its bytes changed since it was ingested. Other kinds:
    /// its content is the cause.
    pub error: Error,
}

impl RejectedArchive {
    /// Whether the archive was lost on this disk, so that downloading it again helps.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.error.kind() == Kind::File
    }

    pub(super) fn from_error(source: &SourceArchive, mut error: Error) -> Self {
        if error.kind() != Kind::File
            && archive_store::hash_file(&source.archive, &Cancel::default())
                .is_ok_and(|(found, ..)| found != source.sha256)
        {
            // The file of the service may be intact, so the archive counts as lost and not as unreadable.
            let path = source.archive.display();
            let message = format!("`{path}` was damaged on this disk ({}): download it again", error.message());
            error = Error::new(Kind::File, message);
        }
        Self { kind: source.kind, job_id: source.job_id.clone(), sha256: source.sha256.clone(), error }
    }
}

/// Reason why parts could not be written.
pub(super) enum PublishError {
    /// An archive is unreadable or has changed; index in `wanted`.
    Rejected(usize, Error),
    /// Any other error.
    Failed(Error),
}

impl From<Error> for PublishError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
