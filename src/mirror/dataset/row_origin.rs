//! Which archive and layer the rows of a part came from, as the manifest states it.

use serde::{Deserialize, Serialize};

use super::source_archive::SourceArchive;

/// Layer of an archive in a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RowOrigin {
    /// `job` or `cart`.
    pub(super) kind: String,
    pub(super) job_id: String,
    /// Name of the job.
    pub(super) name: String,
    /// Display that recorded the job, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) display: Option<String>,
    pub(super) layer: String,
    /// SHA-256 of the archive.
    pub(super) archive: String,
    pub(super) first_row: u64,
    pub(super) rows: u64,
    /// Digest of the rows in the archive; see [`super::row_digest`].
    pub(super) digest: String,
    /// Coordinate system of the archive: `EPSG:32612` or its name; `None` if unknown.
    pub(super) crs: Option<String>,
    /// Number of diagnostics of the archive reader.
    pub(super) diagnostics: usize,
    pub(super) bbox: Option<[f64; 4]>,
    /// Longitude and latitude of some rows, which show in which boundary they are.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(super) positions: Vec<(f64, f64)>,
    /// What its canonical rows take from job and place; `None` without canonical rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) canonical: Option<CanonicalOrigin>,
}

/// What the canonical rows of a layer take from its job and from boundaries of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CanonicalOrigin {
    /// See [`SourceArchive::job_digest`].
    pub(super) job: String,
    /// Field that the archive states.
    pub(super) stated_field: Option<String>,
    /// Field of the rows that name none.
    pub(super) field: Option<FieldName>,
}

/// Name of a field, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FieldName {
    pub(super) name: String,
    /// `job`, `archive`, `boundary` or `same ground`.
    pub(super) rule: String,
    /// Which boundary or which job names it.
    pub(super) evidence: Option<String>,
}

impl RowOrigin {
    /// Updates the fields of the job that may change without a new archive.
    pub(super) fn refresh(&mut self, source: &SourceArchive) {
        self.name.clone_from(&source.name);
        self.display.clone_from(&source.display);
    }
}
