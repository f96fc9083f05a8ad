//! Published state of a mirror for readers: one generation, its parts and tables, and their checksums.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::checked_file::{CheckedFile, NOT_FOUND, SYNC_ADVICE, missing_error};
use super::manifest::{self, Manifest};
use super::schema;
use crate::Disk;
use crate::archive_store::Store;
use crate::current_pointer::pointed_state;
use crate::fs::fs_error;
use crate::layout::{OLD_LINK, POINTER};
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;
use headland_reader::layer::{Cancel, run_ordered, threads};

/// Published state of a mirror. It is unaffected by later publications.
#[derive(Debug)]
pub struct Dataset {
    /// Folder of the mirror.
    folder: PathBuf,
    /// Folder of the generation.
    generation: PathBuf,
    /// Bytes of the manifest.
    content: Vec<u8>,
    pub(super) manifest: Manifest,
}

/// File of the dataset, with the values of its partition folders.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Index in the manifest.
    pub(super) index: usize,
    pub(super) path: PathBuf,
    pub(super) job_type: Option<String>,
    pub(super) year: Option<i32>,
    pub(super) crc32: String,
    /// Ids of the jobs whose rows are selected; `None` selects all rows.
    pub(super) jobs: Option<Vec<String>>,
}

/// Published files of a job type and year.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionSummary {
    /// Job type; `GrainCart` for grain cart files.
    pub job_type: Option<String>,
    /// Year in which the jobs started.
    pub year: Option<i32>,
    /// Number of files.
    pub parts: u64,
    /// Rows of these files.
    pub rows: u64,
    /// Bytes of these files.
    pub bytes: u64,
}

impl Dataset {
    /// Opens the published state of the mirror in `folder`.
    pub fn open(folder: &Path) -> Result<Self> {
        let generation = current_generation(folder)?;
        let (content, manifest) = manifest::open(&generation)?;
        Ok(Self { folder: folder.to_owned(), generation, content, manifest })
    }

    /// Folder of the generation.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.generation
    }

    /// Sequence number of its publication.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// Whether it has the tables and columns of this version.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.manifest.has_current_format()
    }

    /// Bytes of the manifest.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Path in the generation, length in bytes and SHA-256 of each file, without the manifest.
    pub fn files(&self) -> impl Iterator<Item = (&str, u64, &str)> {
        self.manifest.files()
    }

    /// Paths of the archives that the rows come from.
    pub fn archives(&self) -> Result<Vec<PathBuf>> {
        let origins = self.manifest.parts.iter().flat_map(|part| &part.origins);
        let digests: BTreeSet<&str> = origins.map(|origin| &*origin.archive).collect();
        digests.into_iter().map(|digest| self.archive(digest)).collect()
    }

    /// Path of the archive with a digest.
    pub(super) fn archive(&self, digest: &str) -> Result<PathBuf> {
        Store::new(&self.folder, Disk::default()).path_of(digest).ok_or_else(|| {
            let folder = self.folder.display();
            let message = format!(
                "the archive {digest} is missing in the mirror in `{folder}`; `verify()` lists all that is missing"
            );
            Error::new(Kind::Archive, message).with(|facts| facts.os_error = Some(NOT_FOUND))
        })
    }

    /// Job types of the rows.
    #[must_use]
    pub fn job_types(&self) -> BTreeSet<String> {
        self.manifest.parts.iter().filter_map(|part| schema::partition_keys(&part.path).0).collect()
    }

    /// Summary of each job type and year.
    pub fn partition_summaries(&self) -> Result<Vec<PartitionSummary>> {
        let mut summaries: Vec<PartitionSummary> = Vec::new();
        for part in self.parts()? {
            let Some(listed) = self.manifest.parts.get(part.index) else { continue };
            let same = summaries.iter().position(|each| (&each.job_type, each.year) == (&part.job_type, part.year));
            let new = PartitionSummary { job_type: part.job_type, year: part.year, ..PartitionSummary::default() };
            let index = same.unwrap_or_else(|| {
                summaries.push(new);
                summaries.len().saturating_sub(1)
            });
            if let Some(each) = summaries.get_mut(index) {
                each.parts = each.parts.saturating_add(1);
                each.rows = each.rows.saturating_add(listed.rows);
                each.bytes = each.bytes.saturating_add(listed.bytes);
            }
        }
        Ok(summaries)
    }

    /// Parts of the generation. A missing part is an error, since the rest would look complete.
    pub(super) fn parts(&self) -> Result<Vec<Part>> {
        let part = |(index, part): (usize, &manifest::Part)| {
            let path = self.generation.join(&part.path);
            if !path.is_file() {
                return Err(missing_error(&path));
            }
            let (job_type, year) = schema::partition_keys(&part.path);
            Ok(Part { index, path, job_type, year, crc32: part.crc32.clone(), jobs: None })
        };
        self.manifest.parts.iter().enumerate().map(part).collect()
    }

    /// Compares files with their checksums.
    pub(super) fn verify(files: &[(PathBuf, &str)], cancel: &Cancel) -> Result<()> {
        let compare = |step: usize, (): &mut ()| match files.get(step) {
            Some((path, crc32)) => CheckedFile::open(path, crc32)?.verify(cancel),
            None => Ok(()),
        };
        run_ordered(threads(), files.len(), compare, &mut |(): &mut ()| Ok(()))
    }
}

/// Folder of the current generation.
fn current_generation(folder: &Path) -> Result<PathBuf> {
    let state = pointed_state(folder)?.filter(|state| state.is_dir());
    // A copy of a mirror of an earlier version whose links were followed.
    let old = || Some(folder.join(OLD_LINK)).filter(|copy| copy.join(manifest::NAME).is_file());
    if let Some(state) = state.or_else(old) {
        return state.canonicalize().map_err(|cause| fs_error("find", &state, &cause));
    }
    let (shown, pointer) = (folder.display(), folder.join(POINTER));
    let cause = pointer.metadata().err();
    let message = if cause.as_ref().is_some_and(|cause| cause.kind() == ErrorKind::NotADirectory) {
        format!("`{shown}` is at or below a file, but a mirror is a folder: choose another path")
    } else if pointer.exists() || folder.join(OLD_LINK).is_symlink() || has_generations(folder) {
        let pointer = pointer.display();
        format!("`{pointer}`, which names the published state, is missing, or that state is; {SYNC_ADVICE}")
    } else {
        format!("the mirror in `{shown}` has published nothing yet: run `sync()` or `headland pull`")
    };
    let code = cause.map_or(Some(NOT_FOUND), |cause| error_number(&cause));
    Err(Error::new(Kind::Configuration, message).with(|facts| facts.os_error = code))
}

fn has_generations(folder: &Path) -> bool {
    let entries = folder.join("generations").read_dir().into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
}
