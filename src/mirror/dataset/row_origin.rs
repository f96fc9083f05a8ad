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
}

impl RowOrigin {
    /// Updates the fields of the job that may change without a new archive.
    pub(super) fn refresh(&mut self, source: &SourceArchive) {
        self.name.clone_from(&source.name);
        self.display.clone_from(&source.display);
    }
}
