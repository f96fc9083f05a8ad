//! The published generation: the file that names it, and folders with its files whose names do not change.
//!
//! `current.json` is replaced atomically and names one complete generation. The folders follow it: each is replaced as
//! a whole, and a kill between them is repaired by the next writer.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::archive_store::{Finding, Problem};
use super::fs::{file_name, fs_error};
use super::layout::{FOLDERS, Folder, Generation, OLD_LINK, POINTER};
use super::lock::is_locked;
use super::replace_folder::{files_below, has_files, replace_folder};
use headland_base::error::{Error, Result};

/// Content of the pointer.
#[derive(Serialize, Deserialize)]
struct Pointer {
    format: u32,
    /// Path of the generation, such as `generations/000003`.
    state: String,
}

/// Folder of the state that the pointer names, or the link of an earlier version; `None` if both are missing or wrong.
/// The folder may be missing.
pub(super) fn pointed_state(mirror: &Path) -> Result<Option<PathBuf>> {
    let path = mirror.join(POINTER);
    let state = match fs::read(&path) {
        Ok(text) => serde_json::from_slice::<Pointer>(&text).ok().map(|pointer| PathBuf::from(pointer.state)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => fs::read_link(mirror.join(OLD_LINK)).ok(),
        Err(cause) if cause.kind() == ErrorKind::NotADirectory => None,
        Err(cause) => return Err(fs_error("read", &path, &cause)),
    };
    let is_state = |state: &PathBuf| {
        let mut parts = state.components();
        parts.next() == Some(Component::Normal("generations".as_ref()))
            && matches!(parts.next(), Some(Component::Normal(_)))
            && parts.next().is_none()
    };
    Ok(state.filter(is_state).map(|state| mirror.join(state)))
}

/// Whether a folder cannot be renamed because a reader has opened a file in it, as on Windows.
fn is_in_use(error: &Error) -> bool {
    /// `EACCES`, which denied access and shared files are on Windows; elsewhere `EBUSY`.
    const IN_USE: i32 = if cfg!(windows) { 13 } else { 16 };
    error.facts().os_error == Some(IN_USE)
}

impl Folder {
    /// The published generation; `None` if nothing names a generation of this folder.
    pub fn current(&self) -> Result<Option<Generation>> {
        let Some(path) = pointed_state(self.path())?.filter(|path| path.is_dir()) else { return Ok(None) };
        let number = file_name(&path).and_then(|name| name.parse().ok());
        Ok(number.map(|number| Generation { number, path }))
    }

    /// Folders that differ from the published generation; none if nothing is named, or while a writer replaces them.
    pub(super) fn outdated_folders(&self) -> Result<Vec<Finding>> {
        let Some(current) = self.current()? else { return Ok(Vec::new()) };
        let mut findings = Vec::new();
        for (source, files, path) in self.folders_of(&current.path)? {
            if !has_files(&source, &files, &path)? {
                let problem = if path.exists() { Problem::Damaged } else { Problem::Missing };
                let detail = "it does not have the files of the published state; sync again to repair it".to_owned();
                findings.push(Finding { problem, path, detail });
            }
        }
        Ok(if findings.is_empty() || self.is_written_elsewhere() { Vec::new() } else { findings })
    }

    /// Whether another writer may be replacing the folders.
    pub(super) fn is_written_elsewhere(&self) -> bool {
        !self.is_for_writing() && is_locked(self.path())
    }

    /// Restores the pointer and the folders. A kill, a copy of the mirror, a user, or an earlier version may have left
    /// other ones.
    pub(super) fn repair_published(&self) -> Result<()> {
        let current = match self.current()? {
            Some(current) => current,
            None => match self.newest()? {
                Some(newest) => newest,
                None => return Ok(()),
            },
        };
        if !self.path().join(POINTER).is_file() || self.current()?.is_none() {
            self.point_to(&current.path)?;
        }
        self.update_folders(&current.path)
    }

    /// Names a generation as the published one, atomically.
    pub(super) fn point_to(&self, generation: &Path) -> Result<()> {
        let state = format!("generations/{}", file_name(generation).unwrap_or_default());
        let text = serde_json::to_vec(&Pointer { format: 1, state }).unwrap_or_default();
        let mut part = self.disk().create_part(self.path(), POINTER)?;
        part.write_all(&text).map_err(|cause| part.write_error(&cause))?;
        part.keep(&self.path().join(POINTER))
    }

    /// Makes the folders equal to those of a generation, and removes what the pointer replaces.
    pub(super) fn update_folders(&self, generation: &Path) -> Result<()> {
        for (source, files, path) in self.folders_of(generation)? {
            match replace_folder(self.disk(), &source, &files, &path) {
                // The next writer replaces it, and until then `status` names it.
                Err(error) if is_in_use(&error) => {}
                other => drop(other?),
            }
        }
        let old = self.path().join(OLD_LINK);
        if old.is_symlink() {
            return self.disk().remove_file(&old);
        }
        // A copy whose links were followed, and one whose links became files.
        if old.join("manifest.json").is_file() {
            return self.disk().remove_folder(&old);
        }
        let is_link_as_text = fs::read_to_string(&old).is_ok_and(|text| text.starts_with("generations/"));
        if is_link_as_text { self.disk().remove_file(&old) } else { Ok(()) }
    }

    /// Source, files and path of each folder that a generation has.
    fn folders_of(&self, generation: &Path) -> Result<Vec<(PathBuf, Vec<PathBuf>, PathBuf)>> {
        let folders = FOLDERS.into_iter().filter(|name| generation.join(name).is_dir());
        folders
            .map(|name| {
                let source = generation.join(name);
                let mut files = files_below(&source)?;
                files.retain(|file| !source.join(file).is_symlink());
                Ok((source, files, self.path().join(name)))
            })
            .collect()
    }
}
