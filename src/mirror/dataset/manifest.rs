//! `manifest.json` of a generation: its files, their digests and the origins of their rows.

use std::io::Write as _;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::checked_file::{SYNC_ADVICE, missing_error};
use super::row_origin::RowOrigin;
use crate::archive_store::{Finding, Problem};
use crate::fs::{Disk, fs_error};
use headland_base::error::{Error, Kind, Result};
use headland_base::hex::hex;

/// File name in its generation.
pub(super) const NAME: &str = "manifest.json";

/// Format number. It rises if parts or their description change, so that all parts are rewritten.
///
/// Format 2 added block checksums. Format 3 added the digest of the manifest; older manifests may have been altered
/// without notice. Format 4 moved field boundaries from parts to a catalog table. Format 5 added canonical rows.
/// Format 7 renamed columns of them. Format 8 has one spelling of each unit.
const FORMAT: u32 = 8;

/// First format with a digest in every manifest.
const DIGEST_SINCE: u32 = 3;

/// Bytes before and after the digest at the end of the file. The digest covers all bytes before this field.
///
/// A sync trusts the manifest about archives and rows, so its bytes must be those written.
const DIGEST_FIELD: (&[u8], &[u8]) = (b",\"sha256\":\"", b"\"}");

/// Hexadecimal digits of a digest.
const DIGITS: usize = 64;

/// Content of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// Version of headland that read the archives.
    pub(super) headland: String,
    pub(super) generation: u64,
    /// Rows of all parts.
    pub(super) rows: u64,
    pub(super) parts: Vec<Part>,
    pub(super) catalog: Vec<Table>,
    /// Layers in the table of field boundaries.
    #[serde(default)]
    pub(super) boundaries: Vec<Boundary>,
    /// Water of dry masses as the mirror states it; empty where it is that of the crop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) market_moisture: String,
}

/// Layer of an archive that outlines its field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Boundary {
    /// `job` or `cart`.
    pub(super) kind: String,
    pub(super) job_id: String,
    pub(super) layer: String,
    /// SHA-256 of the archive.
    pub(super) archive: String,
    /// Year of the job.
    pub(super) year: Option<i32>,
    /// Field of the job, if the service states it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) field: Option<String>,
    /// Digest of the rows in the archive; see [`super::row_digest`].
    pub(super) digest: String,
}

/// File of the dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    /// Path in the generation, with `/` between folders.
    pub(super) path: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// Checksums of its blocks, as in [`super::file_checksums::FileChecksums`]. Empty in format 1.
    #[serde(default)]
    pub(super) crc32: String,
    pub(super) row_groups: usize,
    /// West, south, east and north of all geometries, in the coordinates of the part.
    pub(super) bbox: Option<[f64; 4]>,
    /// Origins of its rows, in row order.
    pub(super) origins: Vec<RowOrigin>,
    /// Files with canonical rows of the same layers, one for each kind of job.
    #[serde(default)]
    pub(super) canonical: Vec<Table>,
}

/// File of the catalog, or of canonical rows.
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
    pub(super) fn new(
        generation: u64,
        parts: Vec<Part>,
        catalog: Vec<Table>,
        boundaries: Vec<Boundary>,
        market_moisture: String,
    ) -> Self {
        let rows = parts.iter().map(|part| part.rows).fold(0, u64::saturating_add);
        Self { format: FORMAT, headland: version(), generation, rows, parts, catalog, boundaries, market_moisture }
    }

    /// Reads the manifest of a generation; a finding if it is missing or damaged.
    pub(super) fn read(generation: &Path) -> std::result::Result<Self, Finding> {
        let path = generation.join(NAME);
        let finding = |problem, detail| Finding { problem, path: path.clone(), detail };
        let bytes = std::fs::read(&path).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::NotFound => finding(Problem::Missing, "the origins of the rows are unknown".to_owned()),
            _ => finding(Problem::Damaged, format!("it cannot be read ({cause})")),
        })?;
        Self::parse(&bytes).map_err(|detail| finding(Problem::Damaged, detail))
    }

    /// Parses a manifest and checks its digest; the error is the reason.
    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let is_whole = matches_digest(bytes);
        if is_whole == Some(false) {
            return Err("its digest does not match".to_owned());
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|cause| format!("it cannot be read ({cause})"))?;
        if is_whole.is_none() && manifest.format >= DIGEST_SINCE {
            return Err("its digest is missing".to_owned());
        }
        Ok(manifest)
    }

    /// Whether its parts may be kept: another version may convert archives to other rows.
    pub(super) fn is_of_this_version(&self) -> bool {
        self.has_current_format() && self.headland == version()
    }

    /// Whether it has the current format.
    pub(super) fn has_current_format(&self) -> bool {
        self.format == FORMAT
    }

    /// Writes the manifest as the last file of its generation.
    pub(super) fn write(&self, disk: &Disk, generation: &Path) -> Result<()> {
        let mut bytes = serde_json::to_vec(self)
            .map_err(|cause| Error::new(Kind::File, format!("cannot write the manifest: {cause}")))?;
        // Drops the closing brace: the digest is the last field.
        bytes.pop();
        let digest = hex(&Sha256::digest(&bytes));
        bytes.extend([DIGEST_FIELD.0, digest.as_bytes(), DIGEST_FIELD.1].concat());
        let mut part = disk.create_part(generation, NAME)?;
        part.write_all(&bytes).map_err(|cause| part.write_error(&cause))?;
        part.keep(&generation.join(NAME))
    }

    /// Whether both describe the same files, apart from the generation number.
    pub(super) fn has_same_content(&self, other: &Self) -> bool {
        self.format == other.format
            && self.headland == other.headland
            && self.parts == other.parts
            && self.catalog == other.catalog
            && self.boundaries == other.boundaries
            && self.market_moisture == other.market_moisture
    }

    /// Tables of the catalog and files of canonical rows.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.catalog.iter().chain(self.parts.iter().flat_map(|part| &part.canonical))
    }

    /// Path, size in bytes and SHA-256 of each file.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, u64, &str)> {
        let parts = self.parts.iter().map(|part| (&*part.path, part.bytes, &*part.sha256));
        parts.chain(self.tables().map(|table| (&*table.path, table.bytes, &*table.sha256)))
    }

    /// Whether all its files exist with the stated lengths.
    pub(super) fn is_present(&self, generation: &Path) -> bool {
        self.parts.iter().all(|part| part.is_present(generation))
            && self.catalog.iter().all(|table| table.is_present(generation))
    }
}

/// Path, size and SHA-256 of each file in a manifest that any program may have written. The error is the reason why it is
/// damaged, such as a path that leads out of its folder.
pub fn manifest_files(bytes: &[u8]) -> std::result::Result<Vec<(String, u64, String)>, String> {
    let manifest = Manifest::parse(bytes)?;
    let is_inside = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    match manifest.files().find(|(path, ..)| !is_inside(path)) {
        Some((path, ..)) => Err(format!("it lists `{path}`")),
        None => Ok(manifest.files().map(|(path, size, digest)| (path.to_owned(), size, digest.to_owned())).collect()),
    }
}

/// Reads the manifest of a generation for readers: bytes and content.
pub(super) fn open(generation: &Path) -> Result<(Vec<u8>, Manifest)> {
    /// Fields common to all formats.
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
            "`{shown}` was written by a newer headland (format {format}, supported: {FORMAT}): upgrade headland"
        );
        return Err(Error::new(Kind::Configuration, message));
    }
    match Manifest::parse(&bytes) {
        Ok(manifest) => Ok((bytes, manifest)),
        Err(reason) => Err(Error::new(Kind::Archive, format!("`{shown}` is damaged ({reason}); {SYNC_ADVICE}"))),
    }
}

/// Whether the manifest matches its digest; `None` if it has no digest.
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
    /// Whether the file is in a folder of the generation.
    pub(super) fn is_in(&self, folder: &str) -> bool {
        self.path.split_once('/').is_some_and(|(own, _)| own == folder)
    }

    /// Whether the file exists with the stated length.
    pub(super) fn is_present(&self, generation: &Path) -> bool {
        has_length(&generation.join(&self.path), self.bytes)
    }
}

impl Part {
    /// Whether the file and its canonical rows exist with the stated lengths.
    pub(super) fn is_present(&self, generation: &Path) -> bool {
        has_length(&generation.join(&self.path), self.bytes)
            && self.canonical.iter().all(|table| table.is_present(generation))
    }

    /// Folder of the file, such as `dataset/job_type=.../year=.../columns=...`.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

pub(super) fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
