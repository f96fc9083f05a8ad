//! Content-addressed archive store: each archive is stored once, under its SHA-256, read-only, and can be verified.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::fs::{Disk, entries, fs_error, is_hidden};
use headland_base::error::{Error, Kind, Result};
use headland_base::hex::hex;
use headland_base::part_file::folder_of;
use headland_reader::layer::Cancel;

/// File extensions of archives: zip and grain cart files.
const EXTENSIONS: [&str; 2] = ["zip", "grc"];

/// Archives of a mirror.
#[derive(Clone, Debug)]
pub struct Store {
    archives: PathBuf,
    quarantine: PathBuf,
    disk: Disk,
}

/// A stored archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// SHA-256 of its bytes, as 64 hexadecimal digits.
    pub sha256: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Path of the file.
    pub path: PathBuf,
}

/// Problem with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file is missing.
    Missing,
    /// The bytes differ from those written.
    Damaged,
    /// The file is not referenced.
    Extra,
}

/// A file with a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Kind of problem.
    pub problem: Problem,
    /// Path of the file.
    pub path: PathBuf,
    /// Text after the colon of the message: what is known and what to do.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            Problem::Missing => "is missing",
            Problem::Damaged => "is damaged",
            Problem::Extra => "is not used",
        };
        write!(f, "`{}` {problem}: {}", self.path.display(), self.detail)
    }
}

impl Store {
    pub(super) fn new(mirror: &Path, disk: Disk) -> Self {
        Self { archives: mirror.join("archives"), quarantine: mirror.join("quarantine"), disk }
    }

    /// Stores a complete file under its digest.
    ///
    /// The file stays in place until [`Store::remove_download`]. So a run killed before the journal update finds it
    /// again.
    pub fn add(&self, incoming: &Path) -> Result<Stored> {
        let (sha256, bytes, extension) = hash_file(incoming, &Cancel::default())?;
        if bytes == 0 {
            let message = format!("`{}` is empty, so it is not an archive; download it again", incoming.display());
            return Err(Error::new(Kind::Archive, message));
        }
        let folder = self.archives.join(sha256.get(..2).unwrap_or_default());
        let path = folder.join(format!("{sha256}.{extension}"));
        self.disk.sync_file(incoming)?;
        self.disk.protect(incoming)?;
        self.disk.make_folder(&folder)?;
        // Exists if the content is stored already, or if a run was killed here. A file damaged since then is replaced.
        let is_damaged = path.exists() && hash_file(&path, &Cancel::default())?.0 != sha256;
        if is_damaged {
            self.disk.remove_file(&path)?;
        }
        self.disk.link_or_copy(incoming, &path)?;
        self.disk.sync_folder(&folder)?;
        Ok(Stored { sha256, bytes, path })
    }

    /// Removes a file of `incoming` with its folder, once the journal knows the archive.
    pub fn remove_download(&self, incoming: &Path) -> Result<()> {
        self.disk.remove_folder(folder_of(incoming))
    }

    /// Path of an archive; `None` if it is not stored.
    #[must_use]
    pub fn path_of(&self, sha256: &str) -> Option<PathBuf> {
        find_in(&self.archives.join(sha256.get(..2)?), sha256)
    }

    /// Expected path of a missing archive.
    pub(super) fn path_for(&self, sha256: &str) -> PathBuf {
        self.archives.join(sha256.get(..2).unwrap_or_default()).join(format!("{sha256}.zip"))
    }

    /// Moves an archive to quarantine unless it is there already.
    pub(super) fn quarantine(&self, sha256: &str) -> Result<()> {
        let Some(path) = self.path_of(sha256) else { return Ok(()) };
        let target = self.quarantine.join(path.file_name().unwrap_or_default());
        self.disk.rename(&path, &target)?;
        self.disk.sync_folder(&self.quarantine)?;
        self.disk.sync_folder(folder_of(&path))
    }

    /// Removes an unreferenced archive.
    pub(super) fn remove(&self, sha256: &str) -> Result<()> {
        self.path_of(sha256).map_or(Ok(()), |path| self.disk.remove_file(&path))
    }

    /// Reads every archive, compares it with its digest, and compares the stored archives with `expected`.
    ///
    /// Files behind a symbolic link of the user are never reported as unused: they may be in use elsewhere.
    pub fn verify(&self, expected: &[String], cancel: &Cancel) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let mut missing: std::collections::BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        for folder in entries(&self.archives)?.into_iter().filter(|path| path.is_dir()) {
            let is_linked = self.archives.is_symlink() || folder.is_symlink();
            for path in entries(&folder)?.into_iter().filter(|path| !is_hidden(path)) {
                cancel.check()?;
                let stem = path.file_stem().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
                if !missing.remove(stem) {
                    if is_linked || path.is_symlink() {
                        continue;
                    }
                    let detail = "it may be deleted".to_owned();
                    findings.push(Finding { problem: Problem::Extra, path, detail });
                    continue;
                }
                let (found, _, _) = hash_file(&path, cancel)?;
                if found != stem {
                    let detail = format!("its digest is {found}; sync again to download it");
                    findings.push(Finding { problem: Problem::Damaged, path, detail });
                }
            }
        }
        findings.extend(missing.into_iter().map(|sha256| Finding {
            problem: Problem::Missing,
            path: self.path_for(sha256),
            detail: "sync again to download it".to_owned(),
        }));
        Ok(findings)
    }
}

fn find_in(folder: &Path, sha256: &str) -> Option<PathBuf> {
    EXTENSIONS.iter().map(|extension| folder.join(format!("{sha256}.{extension}"))).find(|path| path.is_file())
}

/// Digest, length in bytes, and file extension by the first bytes.
pub(super) fn hash_file(path: &Path, cancel: &Cancel) -> Result<(String, u64, &'static str)> {
    let mut hash = Sha256::new();
    let mut bytes: u64 = 0;
    let mut extension = "grc";
    read_file(path, cancel, &mut |chunk| {
        if bytes == 0 && chunk.starts_with(b"PK") {
            extension = "zip";
        }
        hash.update(chunk);
        bytes = bytes.saturating_add(chunk.len() as u64);
    })?;
    Ok((hex(&hash.finalize()), bytes, extension))
}

/// Reads a whole file in chunks.
pub(super) fn read_file(path: &Path, cancel: &Cancel, consume: &mut dyn FnMut(&[u8])) -> Result<()> {
    let fail = |cause: std::io::Error| fs_error("read", path, &cause);
    let mut file = File::open(path).map_err(fail)?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        cancel.check()?;
        let count = match file.read(&mut buffer) {
            Ok(count) => count,
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(fail(cause)),
        };
        let chunk = buffer.get(..count).unwrap_or_default();
        if chunk.is_empty() {
            return Ok(());
        }
        consume(chunk);
    }
}
