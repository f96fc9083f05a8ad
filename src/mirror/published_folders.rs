//! Folders of a mirror with plain names, such as `dataset`: copies of those of the published generation.
//!
//! The folders follow `current.json`: each is replaced as a whole, and a kill between them is repaired by the next writer.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive_store::{Finding, Problem};
use super::layout::{FOLDERS, Folder, OLD_LINK, POINTER};
use super::lock::is_locked;
use super::replace_folder::{files_below, has_files, replace_folder};
use headland_base::error::{Error, Result};

/// Whether a folder cannot be renamed because a reader has opened a file in it, as on Windows.
fn is_in_use(error: &Error) -> bool {
    /// `EACCES`, which denied access and shared files are on Windows; elsewhere `EBUSY`.
    const IN_USE: i32 = if cfg!(windows) { 13 } else { 16 };
    error.facts().os_error == Some(IN_USE)
}

impl Folder {
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
