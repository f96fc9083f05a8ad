//! Replaces a folder by the files of another one: the folders of a mirror with a plain name, and `latest/` of a
//! publication.
//!
//! The new files are collected in `<name>.new.part`: hard links, or copies if the file system has no links. Two renames
//! put that folder in place of the old one, which is `<name>.old.part` meanwhile and is then removed. After a kill, the
//! next replacement renames or removes what is left.
//!
//! On Unix, readers that have opened a file of the old folder read it to its end. A path may be missing between the
//! two renames. There is a system call that exchanges two folders, but neither on all systems nor on all file systems.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::fs::{Disk, entries, fs_error, is_hidden};
use headland_base::error::{Error, Kind, Result};
use headland_base::part_file::folder_of;

/// Outcome of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The folder has the files.
    Done,
    /// The folder is unchanged, because a file of the source was removed meanwhile.
    SourceRemoved,
}

/// Makes `target` a folder with exactly these files of `source`. Paths are relative to both.
///
/// A folder that has them already stays. Another folder is replaced with all its files, but a file in its place, or a
/// folder without any Parquet file, is an error, since it may contain data of the user.
pub fn replace_folder(disk: &Disk, source: &Path, files: &[PathBuf], target: &Path) -> Result<Replacement> {
    let (new, old) = (beside(target, "new"), beside(target, "old"));
    if is_missing(target) && !is_missing(&old) {
        // A process was killed between the two renames.
        disk.rename(&old, target)?;
    }
    disk.remove_folder(&new)?;
    remove(disk, &old)?;
    if has_files(source, files, target)? {
        return Ok(Replacement::Done);
    }
    check_is_replaceable(target)?;
    disk.make_folder(&new)?;
    for file in files {
        let (from, to) = (source.join(file), new.join(file));
        disk.make_folder(folder_of(&to))?;
        if let Err(error) = disk.link_or_copy(&from, &to) {
            let _ = fs::remove_dir_all(&new);
            return if is_missing(&from) { Ok(Replacement::SourceRemoved) } else { Err(error) };
        }
    }
    sync_tree(disk, &new)?;
    if !is_missing(target)
        && let Err(error) = disk.rename(target, &old)
    {
        let _ = fs::remove_dir_all(&new);
        return Err(error);
    }
    if let Err(error) = disk.rename(&new, target) {
        // The old files are better than none.
        let _ = fs::rename(&old, target);
        return Err(error);
    }
    disk.sync_folder(folder_of(target))?;
    remove(disk, &old)?;
    Ok(Replacement::Done)
}

/// Whether `target` is a folder with exactly these files of `source`: hard links, or files of the same size and time.
pub(super) fn has_files(source: &Path, files: &[PathBuf], target: &Path) -> Result<bool> {
    if !fs::symlink_metadata(target).is_ok_and(|found| found.is_dir()) {
        return Ok(false);
    }
    let found = files_below(target)?;
    if found.iter().collect::<BTreeSet<_>>() != files.iter().collect::<BTreeSet<_>>() {
        return Ok(false);
    }
    Ok(files.iter().all(|file| is_same(&source.join(file), &target.join(file))))
}

/// Paths of the files below a folder, relative to it, without hidden ones. Links are not followed.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(relative) = pending.pop() {
        for path in entries(&folder.join(&relative))?.into_iter().filter(|path| !is_hidden(path)) {
            let relative = relative.join(path.file_name().unwrap_or_default());
            if path.is_dir() && !path.is_symlink() { pending.push(relative) } else { found.push(relative) }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Syncs the names in a folder and in all folders below it.
pub(super) fn sync_tree(disk: &Disk, folder: &Path) -> Result<()> {
    for path in entries(folder)?.iter().filter(|path| path.is_dir() && !path.is_symlink()) {
        sync_tree(disk, path)?;
    }
    disk.sync_folder(folder)
}

/// Whether a file is a copy of another one, by size and time, and no hard link. Only Unix can tell these apart.
pub(super) fn is_copy(one: &Path, other: &Path) -> bool {
    is_same(one, other) && !is_hard_link(one, other)
}

#[cfg(unix)]
fn is_hard_link(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |path: &Path| fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((number(one), number(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn is_hard_link(_: &Path, _: &Path) -> bool {
    false
}

/// Whether two files have the same size and time, as hard links and copies of [`Disk::copy`] have.
fn is_same(one: &Path, other: &Path) -> bool {
    let facts = |path: &Path| -> io::Result<_> {
        let found = fs::symlink_metadata(path)?;
        Ok((found.is_file(), found.len(), found.modified()?))
    };
    matches!((facts(one), facts(other)), (Ok(one), Ok(other)) if one == other && one.0)
}

/// Removes what was replaced: a folder, or a link of an earlier version, which may be a file with its text.
fn remove(disk: &Disk, path: &Path) -> Result<()> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if is_folder { disk.remove_folder(path) } else { disk.remove_file(path) }
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|cause| cause.kind() == ErrorKind::NotFound)
}

fn beside(target: &Path, word: &str) -> PathBuf {
    let mut name = target.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{word}.part"));
    target.with_file_name(name)
}

/// Refuses what may be data of the user: a file, or a folder without any Parquet file. Links are of earlier versions,
/// and tools that cannot copy a link write its target into a file.
fn check_is_replaceable(target: &Path) -> Result<()> {
    const LONGEST_LINK: u64 = 64;
    let found = match fs::symlink_metadata(target) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(fs_error("read", target, &cause)),
        Ok(found) => found,
    };
    let is_ours = if found.is_dir() {
        let files = files_below(target)?;
        files.is_empty() || files.iter().any(|file| file.extension().is_some_and(|found| found == "parquet"))
    } else {
        let is_link_as_text = || {
            let text = fs::read_to_string(target).unwrap_or_default();
            Path::new(text.trim_end()) == Path::new("current").join(target.file_name().unwrap_or_default())
        };
        found.is_symlink() || (found.len() <= LONGEST_LINK && is_link_as_text())
    };
    if is_ours {
        return Ok(());
    }
    let message = format!(
        "cannot replace `{}`, which has files that headland did not write: move it away and rerun",
        target.display()
    );
    Err(Error::new(Kind::File, message))
}
