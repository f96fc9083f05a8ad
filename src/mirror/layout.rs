//! Folder of a mirror: layout, single writer, generations, and cleanup after a killed run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::archive_store::Store;
use super::fs::{Disk, entries, file_name, fs_error, is_hidden};
use super::journal::open::has_journal;
use super::lock::Lock;
use super::replace_folder::sync_tree;
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;

/// File that names the published generation, as in a publication.
pub(super) const POINTER: &str = "current.json";

/// Link to the published generation in mirrors of earlier versions, or a folder in copies of them.
pub(super) const OLD_LINK: &str = "current";

/// Folders of a generation that are also at the top of the mirror.
pub(super) const FOLDERS: [&str; 5] = ["dataset", "catalog", "harvest_rows", "application_rows", "planting_rows"];

/// Names at the top level of a mirror, without those of the published state. Hidden files belong to the file browser or
/// the user.
const TOP_LEVEL_NAMES: &[&str] = &[
    "journal.sqlite",
    "journal.sqlite-wal",
    "journal.sqlite-shm",
    "journal.sqlite-journal",
    "lock",
    "incoming",
    "archives",
    "quarantine",
    "generations",
];

/// Open folder of a mirror.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    disk: Disk,
    /// Present if open for writing.
    lock: Option<Lock>,
    /// Generation that was published when this writer opened the folder.
    initial_generation: Option<u64>,
    /// Serialises ingestion and removal, so that no thread removes an archive that another one just ingested.
    ingest_lock: Mutex<()>,
}

/// Published state of the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Sequence number of the publication.
    pub number: u64,
    /// Path of its folder.
    pub path: PathBuf,
}

impl Folder {
    /// Opens the mirror in `path`.
    ///
    /// For writing, creates the folder if needed, locks out other writers, and removes leftovers of a killed run. For
    /// reading, the mirror must exist, and nothing changes.
    pub fn open(path: &Path, for_writing: bool) -> Result<Self> {
        Self::open_with_disk(path, for_writing, Disk::default())
    }

    /// Opens the mirror with a given disk, for fault injection; see [`Folder::open`].
    pub fn open_with_disk(path: &Path, for_writing: bool, disk: Disk) -> Result<Self> {
        // A later change of the working directory does not affect the mirror.
        let path = &std::path::absolute(path).map_err(|cause| fs_error("find", path, &cause))?;
        if path.is_file() {
            let message = format!("`{}` is a file, but a mirror is a folder: choose another path", path.display());
            let code = fs::read_dir(path).err().as_ref().and_then(error_number);
            return Err(Error::new(Kind::File, message).with(|facts| facts.os_error = code));
        }
        if !for_writing {
            if !has_journal(&path.join("journal.sqlite"))? {
                let message = format!("there is no mirror in `{}`: sync one into it first", path.display());
                return Err(Error::new(Kind::Configuration, message));
            }
            return Ok(Self {
                path: path.to_owned(),
                disk,
                lock: None,
                initial_generation: None,
                ingest_lock: Mutex::default(),
            });
        }
        disk.make_folder(path)?;
        check_is_mirror_or_empty(path)?;
        let lock = Lock::acquire(path)?;
        has_journal(&path.join("journal.sqlite"))?;
        let mut folder = Self {
            path: path.to_owned(),
            disk,
            lock: Some(lock),
            initial_generation: None,
            ingest_lock: Mutex::default(),
        };
        for name in ["incoming", "archives", "quarantine", "generations"] {
            folder.disk.make_folder(&path.join(name))?;
        }
        folder.remove_leftovers()?;
        folder.initial_generation = folder.current()?.map(|current| current.number);
        Ok(folder)
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Disk of the folder.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Whether it is open for writing.
    #[must_use]
    pub fn is_for_writing(&self) -> bool {
        self.lock.is_some()
    }

    pub(super) fn lock_ingest(&self) -> MutexGuard<'_, ()> {
        self.ingest_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Path of the journal.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.sqlite")
    }

    /// Archive store of the mirror.
    #[must_use]
    pub fn store(&self) -> Store {
        Store::new(&self.path, self.disk.clone())
    }

    /// Creates an empty folder for the download of the record with this stamp.
    ///
    /// The file ends in `.part` while it is written. The next run ingests a complete file that a killed run left.
    pub fn incoming(&self, stamp: &str) -> Result<PathBuf> {
        let folder = self.path.join("incoming").join(stamp);
        self.disk.remove_folder(&folder)?;
        self.disk.make_folder(&folder)?;
        Ok(folder)
    }

    /// Complete files of `incoming`, each with the stamp of its record.
    pub(super) fn completed_downloads(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut completed = Vec::new();
        for folder in entries(&self.path.join("incoming"))? {
            let Some(stamp) = file_name(&folder).filter(|_| folder.is_dir()).map(str::to_owned) else { continue };
            let files = entries(&folder)?.into_iter().filter(|file| !is_hidden(file));
            completed.extend(files.map(|file| (stamp.clone(), file)));
        }
        Ok(completed)
    }

    /// Newest complete generation. Only complete ones have a number as name.
    ///
    /// If nothing names a generation, the next writer publishes this one. That happens after a kill in the first
    /// publication, or in a copy of an earlier version without its links.
    pub(super) fn newest(&self) -> Result<Option<Generation>> {
        let all = entries(&self.path.join("generations"))?.into_iter();
        let numbered = all.filter_map(|path| Some(Generation { number: file_name(&path)?.parse().ok()?, path }));
        Ok(numbered.max_by_key(|generation| generation.number))
    }

    /// Starts the next generation.
    pub fn stage_generation(&self) -> Result<StagedGeneration<'_>> {
        let generations = self.path.join("generations");
        let number = self.newest()?.map_or(0, |newest| newest.number).saturating_add(1);
        let path = generations.join(format!("{number:06}.part"));
        self.disk.remove_folder(&path)?;
        self.disk.make_folder(&path)?;
        Ok(StagedGeneration { folder: self, number, path })
    }

    /// Removes leftovers of a killed run: `.part` files and unreferenced generations. Restores the published state.
    fn remove_leftovers(&self) -> Result<()> {
        let incoming = self.path.join("incoming");
        for path in entries(&incoming)? {
            let is_empty = path.is_dir() && {
                self.remove_parts(&path)?;
                entries(&path)?.iter().all(|file| is_hidden(file))
            };
            if is_empty {
                self.disk.remove_folder(&path)?;
            } else if !path.is_dir() {
                // Each download has a folder of its own, so the record of this file is unknown.
                self.disk.remove_file(&path)?;
            }
        }
        self.remove_parts(&self.path)?;
        self.remove_parts(&self.path.join("archives"))?;
        self.repair_published()?;
        self.remove_old_generations()
    }

    fn remove_parts(&self, folder: &Path) -> Result<()> {
        for path in entries(folder)? {
            if path.extension() == Some(OsStr::new("part")) && (path.is_symlink() || !path.is_dir()) {
                self.disk.remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Keeps the current generation, the one before it, and the one that was current when this writer opened the
    /// folder. Readers may still use the last one after many publications.
    fn remove_old_generations(&self) -> Result<()> {
        let generations = self.path.join("generations");
        let current = self.current()?.map_or(0, |current| current.number);
        let mut numbered = Vec::new();
        for path in entries(&generations)?.into_iter().filter(|path| path.is_dir()) {
            match file_name(&path).and_then(|name| name.parse::<u64>().ok()) {
                Some(number) if number <= current => numbered.push((number, path)),
                _ => self.disk.remove_folder(&path)?,
            }
        }
        numbered.sort_unstable();
        for (_, path) in numbered.iter().rev().skip(2).filter(|(number, _)| Some(*number) != self.initial_generation) {
            self.disk.remove_folder(path)?;
        }
        Ok(())
    }
}

/// Unpublished generation, removed on drop unless [`StagedGeneration::publish`] was called.
#[derive(Debug)]
pub struct StagedGeneration<'a> {
    folder: &'a Folder,
    number: u64,
    path: PathBuf,
}

impl StagedGeneration<'_> {
    /// Its number once published.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Folder for its files. They must be synced before the publication ([`super::Part::keep`]).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes the generation: syncs its folders, renames it to its number, names it atomically, and updates the
    /// folders with its files.
    ///
    /// The previous generation and the one current at the start of the writer are kept for their readers.
    pub fn publish(self) -> Result<Generation> {
        let folder = self.folder;
        sync_tree(&folder.disk, &self.path)?;
        let name = format!("{:06}", self.number);
        let path = folder.path.join("generations").join(&name);
        folder.disk.rename(&self.path, &path)?;
        folder.disk.sync_folder(&folder.path.join("generations"))?;
        folder.point_to(&path)?;
        folder.update_folders(&path)?;
        folder.remove_old_generations()?;
        Ok(Generation { number: self.number, path })
    }
}

impl Drop for StagedGeneration<'_> {
    fn drop(&mut self) {
        // After `publish`, no folder has this name. The next run removes what cannot be removed now.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Rejects a folder with other content, since the path is probably a mistake.
fn check_is_mirror_or_empty(path: &Path) -> Result<()> {
    if path.join("journal.sqlite").exists() {
        return Ok(());
    }
    // Folders such as `dataset` are replaced, so without a generation they are not those of a mirror.
    let has_generations = path.join("generations").is_dir();
    let is_published = |name: &str| has_generations && (FOLDERS.contains(&name) || [POINTER, OLD_LINK].contains(&name));
    let is_other = |found: &PathBuf| {
        !file_name(found).is_some_and(|name| {
            TOP_LEVEL_NAMES.contains(&name)
                || is_published(name)
                || name.starts_with('.')
                || found.extension() == Some(OsStr::new("part"))
        })
    };
    let Some(other) = entries(path)?.into_iter().find(is_other) else { return Ok(()) };
    let message = format!(
        "`{}` is not a mirror and contains other files, such as `{}`: choose a new or an empty folder",
        path.display(),
        other.file_name().unwrap_or_default().to_string_lossy()
    );
    Err(Error::new(Kind::Configuration, message))
}
