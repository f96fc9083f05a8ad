//! The archives whose rows are wanted in the dataset, and why one of them is refused.

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use crate::error::{Error, Kind};
use crate::layer::Cancel;
use crate::mirror::{ItemKind, archive_store};

/// An archive whose rows are wanted in the dataset.
#[derive(Clone, Debug)]
pub struct SourceArchive {
    /// What its record is.
    pub kind: ItemKind,
    /// The id of the record.
    pub job_id: String,
    /// The digest of the archive.
    pub sha256: String,
    /// Where the archive is.
    pub archive: PathBuf,
    /// The service's Job Type; grain carts have one of their own whatever stands here.
    pub job_type: String,
    /// When the job was started: its year decides on the folder.
    pub start: Option<DateTime<Utc>>,
    /// When the record was made, whose year stands in for an unknown start.
    pub created: Option<DateTime<Utc>>,
    /// What made the job, such as the `SoftwareVersion` of its display.
    pub display: Option<String>,
    /// The name of the record.
    pub name: String,
}

/// An archive that has no place in the dataset.
#[derive(Clone, Debug)]
pub struct RejectedArchive {
    /// What its record is.
    pub kind: ItemKind,
    /// The id of the record.
    pub job_id: String,
    /// The digest of the archive.
    pub sha256: String,
    /// Why. Of the kind `File`, the archive cannot be opened, or it is not the one any more that was taken in; of any
    /// other, what it holds is the cause.
    pub error: Error,
}

impl RejectedArchive {
    /// Whether the archive was lost on this disk, so that it helps to fetch it anew.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.error.kind() == Kind::File
    }

    pub(super) fn from_error(source: &SourceArchive, mut error: Error) -> Self {
        if error.kind() != Kind::File
            && archive_store::hash_file(&source.archive, &Cancel::default())
                .is_ok_and(|(found, ..)| found != source.sha256)
        {
            // What was taken in may well be whole, so that nothing is held against it.
            let path = source.archive.display();
            let message = format!("`{path}` was damaged on this disk ({}): fetch it anew", error.message());
            error = Error::new(Kind::File, message);
        }
        Self { kind: source.kind, job_id: source.job_id.clone(), sha256: source.sha256.clone(), error }
    }
}

/// Why parts could not be written.
pub(super) enum PublishError {
    /// An archive cannot be read, or is not what it was.
    Rejected(usize, Error),
    /// Anything else.
    Failed(Error),
}

impl From<Error> for PublishError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
