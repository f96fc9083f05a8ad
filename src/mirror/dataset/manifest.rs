//! `manifest.json` of a generation: each file of it, and for each row of the dataset the archive that it came from.

use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::checked_file::{SYNC_ADVICE, missing_error};
use super::source_archive::SourceArchive;
use crate::error::{Error, Kind, Result};
use crate::mirror::archive_store::{Finding, Problem, hex};
use crate::mirror::fs::{Disk, fs_error};

/// The name of the file in its generation.
pub(super) const NAME: &str = "manifest.json";

/// Raised when parts are written otherwise than before, or other things are said of them, so that they are all written
/// anew. Since 2, there are checksums of blocks, and since 3, there is always a digest of the manifest itself: what older
/// ones say may have been changed by anybody. Since 4, boundaries of fields are a table of the catalog and no rows of a part.
const FORMAT: u32 = 4;

/// The first format whose manifests always have a digest of their own.
const DIGEST_SINCE: u32 = 3;

/// What stands before the digest of all that comes before it, at the end of the file, and what stands behind it. What is
/// believed of archives and rows must be what was written: a sync takes it for known.
const DIGEST_FIELD: (&[u8], &[u8]) = (b",\"sha256\":\"", b"\"}");

/// The hexadecimal digits of a digest.
const DIGITS: usize = 64;

/// All that a generation holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// The version of headland that read the archives.
    pub(super) headland: String,
    pub(super) generation: u64,
    /// The rows of all parts.
    pub(super) rows: u64,
    pub(super) parts: Vec<Part>,
    pub(super) catalog: Vec<Table>,
    /// The layers that are in the table of boundaries.
    #[serde(default)]
    pub(super) boundaries: Vec<Boundary>,
}

/// A layer of an archive that is the boundary of its field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Boundary {
    /// `job` or `cart`.
    pub(super) kind: String,
    pub(super) job_id: String,
    pub(super) layer: String,
    /// The digest of the archive.
    pub(super) archive: String,
    /// The year of the job.
    pub(super) year: Option<i32>,
    /// The digest of the rows as the archive gives them.
    pub(super) digest: String,
}

/// A file of the dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    /// Its path in the generation, with `/` between folders.
    pub(super) path: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// The checksums of its blocks, as [`super::checksums::FileChecksums`] has them; a manifest of format 1 has none.
    #[serde(default)]
    pub(super) crc32: String,
    pub(super) row_groups: usize,
    /// West, south, east and north of all its places, in the coordinates of the part.
    pub(super) bbox: Option<[f64; 4]>,
    /// Where its rows come from, in their order.
    pub(super) origins: Vec<RowOrigin>,
}

/// One layer of one archive in a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RowOrigin {
    /// `job` or `cart`.
    pub(super) kind: String,
    pub(super) job_id: String,
    /// The name of the job.
    pub(super) name: String,
    /// What made the job, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) display: Option<String>,
    pub(super) layer: String,
    /// The digest of the archive.
    pub(super) archive: String,
    pub(super) first_row: u64,
    pub(super) rows: u64,
    /// The digest of the rows as the archive gives them; see [`super::row_digest`].
    pub(super) digest: String,
    /// The coordinate system of the archive: `EPSG:32612`, its name, or none where it is unknown.
    pub(super) crs: Option<String>,
    /// How many diagnostics reading gave.
    pub(super) diagnostics: usize,
    pub(super) bbox: Option<[f64; 4]>,
}

/// A file of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) path: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// As in [`Part`].
    #[serde(default)]
    pub(super) crc32: String,
}

impl Manifest {
    pub(super) fn new(generation: u64, parts: Vec<Part>, catalog: Vec<Table>, boundaries: Vec<Boundary>) -> Self {
        let rows = parts.iter().map(|part| part.rows).fold(0, u64::saturating_add);
        Self { format: FORMAT, headland: version(), generation, rows, parts, catalog, boundaries }
    }

    /// The manifest of a generation; what is wrong where it cannot be read.
    pub(super) fn read(generation: &Path) -> std::result::Result<Self, Finding> {
        let path = generation.join(NAME);
        let finding = |problem, detail| Finding { problem, path: path.clone(), detail };
        let bytes = std::fs::read(&path).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::NotFound => finding(Problem::Missing, "nothing tells where rows come from".to_owned()),
            _ => finding(Problem::Damaged, format!("it cannot be read ({cause})")),
        })?;
        Self::parse(&bytes).map_err(|detail| finding(Problem::Damaged, detail))
    }

    /// What the bytes of a manifest say; the reason where they are not what was written.
    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let is_whole = matches_digest(bytes);
        if is_whole == Some(false) {
            return Err("it is not what was written: it has another digest".to_owned());
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|cause| format!("it cannot be read ({cause})"))?;
        if is_whole.is_none() && manifest.format >= DIGEST_SINCE {
            return Err("it is not what was written: its digest is gone".to_owned());
        }
        Ok(manifest)
    }

    /// Whether its parts may stand beside new ones: a reader of another version may give other rows.
    pub(super) fn is_of_this_version(&self) -> bool {
        self.has_current_format() && self.headland == version()
    }

    /// Whether nothing is missing in it that is written now.
    pub(super) fn has_current_format(&self) -> bool {
        self.format == FORMAT
    }

    /// Writes it, as the last file of its generation.
    pub(super) fn write(&self, disk: &Disk, generation: &Path) -> Result<()> {
        let mut bytes = serde_json::to_vec(self)
            .map_err(|cause| Error::new(Kind::File, format!("the manifest cannot be written: {cause}")))?;
        // The digest is its last field.
        bytes.pop();
        let digest = hex(&Sha256::digest(&bytes));
        bytes.extend([DIGEST_FIELD.0, digest.as_bytes(), DIGEST_FIELD.1].concat());
        let mut part = disk.create_part(generation, NAME)?;
        part.write_all(&bytes).map_err(|cause| part.write_error(&cause))?;
        part.keep(&generation.join(NAME))
    }

    /// Whether it says the same of the same files; generations differ by their numbers alone then.
    pub(super) fn has_same_content(&self, other: &Self) -> bool {
        self.format == other.format
            && self.headland == other.headland
            && self.parts == other.parts
            && self.catalog == other.catalog
            && self.boundaries == other.boundaries
    }

    /// Whether all its files stand in its generation, as long as they were.
    pub(super) fn is_present(&self, generation: &Path) -> bool {
        self.parts.iter().all(|part| part.is_present(generation))
            && self.catalog.iter().all(|table| table.is_present(generation))
    }
}

/// The manifest of a generation that is read, and its bytes.
pub(super) fn open(generation: &Path) -> Result<(Vec<u8>, Manifest)> {
    /// What every format has.
    #[derive(Deserialize)]
    struct Header {
        format: u32,
    }
    let path = generation.join(NAME);
    let bytes = std::fs::read(&path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => missing_error(&path),
        _ => fs_error("read", &path, &cause),
    })?;
    let shown = path.display();
    if let Ok(Header { format }) = serde_json::from_slice(&bytes)
        && format > FORMAT
    {
        let message = format!(
            "`{shown}` was written by a newer headland (format {format}, this one knows {FORMAT}): upgrade headland"
        );
        return Err(Error::new(Kind::Configuration, message));
    }
    match Manifest::parse(&bytes) {
        Ok(manifest) => Ok((bytes, manifest)),
        Err(reason) => Err(Error::new(Kind::Archive, format!("`{shown}` is damaged ({reason}); {SYNC_ADVICE}"))),
    }
}

/// Whether a manifest has the digest of all that comes before it; `None` where it has none at all.
fn matches_digest(bytes: &[u8]) -> Option<bool> {
    let body = bytes.len().saturating_sub(DIGEST_FIELD.0.len() + DIGITS + DIGEST_FIELD.1.len());
    let (body, field) = bytes.split_at_checked(body)?;
    let digest = field.strip_prefix(DIGEST_FIELD.0)?.strip_suffix(DIGEST_FIELD.1)?;
    Some(digest == hex(&Sha256::digest(body)).as_bytes())
}

fn has_length(path: &Path, bytes: u64) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes)
}

impl Table {
    /// Whether it stands in its generation, as long as it was.
    pub(super) fn is_present(&self, generation: &Path) -> bool {
        has_length(&generation.join(&self.path), self.bytes)
    }
}

impl Part {
    /// Whether it stands in its generation, as long as it was.
    pub(super) fn is_present(&self, generation: &Path) -> bool {
        has_length(&generation.join(&self.path), self.bytes)
    }

    /// The folder that it is in, as `dataset/job_type=.../year=.../columns=...`.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl RowOrigin {
    /// Takes over what may change of a job while its archive stays.
    pub(super) fn refresh(&mut self, source: &SourceArchive) {
        self.name.clone_from(&source.name);
        self.display.clone_from(&source.display);
    }
}

pub(super) fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
