//! The folder of a mirror: its layout, its one writer, its generations, and what a killed run leaves in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::archive_store::Store;
use super::fs::{Disk, entries, file_name, fs_error, is_hidden};
use super::journal::open::has_journal;
use super::lock::Lock;
use crate::error::{Error, Kind, Result};

/// Everything that a mirror has at its top level. What is hidden belongs to the file browser or the user.
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
    "current",
    "dataset",
    "catalog",
];

/// The folder of a mirror, open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    disk: Disk,
    /// Held by the one that writes.
    lock: Option<Lock>,
    /// The generation that was published when this one began to write.
    initial_generation: Option<u64>,
    /// Threads take archives in and out one at a time, so that none is removed which another one has just taken in.
    ingest_lock: Mutex<()>,
}

/// A published state of the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its number; each publication has the next one.
    pub number: u64,
    /// Its folder.
    pub path: PathBuf,
}

impl Folder {
    /// Opens the mirror in `path`. For writing the folder is made where it is missing, others are kept from writing, and
    /// what a killed run left half is removed; for reading it must be there, and nothing is changed.
    pub fn open(path: &Path, for_writing: bool) -> Result<Self> {
        Self::open_with_disk(path, for_writing, Disk::default())
    }

    /// The same on a disk that is watched.
    pub fn open_with_disk(path: &Path, for_writing: bool, disk: Disk) -> Result<Self> {
        // Who changes the working folder meanwhile does not move the mirror.
        let path = &std::path::absolute(path).map_err(|cause| fs_error("find", path, &cause))?;
        if path.is_file() {
            let message = format!("`{}` is a file, and a mirror is a folder: choose another path", path.display());
            let code = fs::read_dir(path).err().and_then(|cause| cause.raw_os_error());
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The disk that it is on.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Whether this is the one that writes.
    #[must_use]
    pub fn is_for_writing(&self) -> bool {
        self.lock.is_some()
    }

    pub(super) fn lock_ingest(&self) -> MutexGuard<'_, ()> {
        self.ingest_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of the journal.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.sqlite")
    }

    /// The archives.
    #[must_use]
    pub fn store(&self) -> Store {
        Store::new(&self.path, self.disk.clone())
    }

    /// An empty folder to download the file of the record with this stamp into. A whole file that a killed run left there
    /// is taken in by the next one; while it is written it ends in `.part`.
    pub fn incoming(&self, stamp: &str) -> Result<PathBuf> {
        let folder = self.path.join("incoming").join(stamp);
        self.disk.remove_folder(&folder)?;
        self.disk.make_folder(&folder)?;
        Ok(folder)
    }

    /// The whole files of `incoming`, each with the stamp of its record.
    pub(super) fn completed_downloads(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut completed = Vec::new();
        for folder in entries(&self.path.join("incoming"))? {
            let Some(stamp) = file_name(&folder).filter(|_| folder.is_dir()).map(str::to_owned) else { continue };
            let files = entries(&folder)?.into_iter().filter(|file| !is_hidden(file));
            completed.extend(files.map(|file| (stamp.clone(), file)));
        }
        Ok(completed)
    }

    /// The newest generation: they have their numbers once they are whole. Where nothing points to one (a kill before the
    /// first publication was done, a copy of the mirror without its links), the next writer takes it for the published one.
    pub(super) fn newest(&self) -> Result<Option<Generation>> {
        let all = entries(&self.path.join("generations"))?.into_iter();
        let numbered = all.filter_map(|path| Some(Generation { number: file_name(&path)?.parse().ok()?, path }));
        Ok(numbered.max_by_key(|generation| generation.number))
    }

    /// Begins the next generation.
    pub fn stage_generation(&self) -> Result<StagedGeneration<'_>> {
        let generations = self.path.join("generations");
        let number = self.newest()?.map_or(0, |newest| newest.number).saturating_add(1);
        let path = generations.join(format!("{number:06}.part"));
        self.disk.remove_folder(&path)?;
        self.disk.make_folder(&path)?;
        Ok(StagedGeneration { folder: self, number, path })
    }

    /// Removes what a killed run left half: `.part` files, links and generations that nothing points to.
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
                // Files come in folders of their own, so that nobody knows what this one is of.
                self.disk.remove_file(&path)?;
            }
        }
        self.remove_parts(&self.path)?;
        self.remove_parts(&self.path.join("archives"))?;
        self.repair_links()?;
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

    /// Keeps the published generation, the one before it, and for those who read it the one that was published when this
    /// writer began, which may publish many times.
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
        numbered.sort();
        for (_, path) in numbered.iter().rev().skip(2).filter(|(number, _)| Some(*number) != self.initial_generation) {
            self.disk.remove_folder(path)?;
        }
        Ok(())
    }
}

/// A generation that is being made. Dropped before [`StagedGeneration::publish`], it leaves nothing.
#[derive(Debug)]
pub struct StagedGeneration<'a> {
    folder: &'a Folder,
    number: u64,
    path: PathBuf,
}

impl StagedGeneration<'_> {
    /// The number that it will have.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where its files go until it is published; they are to be on the disk by then ([`super::Part::keep`]).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes it: brings its folders to the disk, gives it its number and points `current` to it as one step. The one
    /// before it and the one that the writer began with are kept for those who are reading.
    pub fn publish(self) -> Result<Generation> {
        let folder = self.folder;
        sync_tree(&folder.disk, &self.path)?;
        let name = format!("{:06}", self.number);
        let path = folder.path.join("generations").join(&name);
        folder.disk.rename(&self.path, &path)?;
        folder.disk.sync_folder(&folder.path.join("generations"))?;
        folder.repair_folder_links()?;
        folder.point_to(&path)?;
        folder.remove_old_generations()?;
        Ok(Generation { number: self.number, path })
    }
}

impl Drop for StagedGeneration<'_> {
    fn drop(&mut self) {
        // After `publish` there is nothing left under this name; what cannot be removed now is removed by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn sync_tree(disk: &Disk, folder: &Path) -> Result<()> {
    for path in entries(folder)?.iter().filter(|path| path.is_dir()) {
        sync_tree(disk, path)?;
    }
    disk.sync_folder(folder)
}

/// A folder with other things in it is not made into a mirror: somebody mistook the path.
fn check_is_mirror_or_empty(path: &Path) -> Result<()> {
    if path.join("journal.sqlite").exists() {
        return Ok(());
    }
    let is_other = |found: &PathBuf| {
        !file_name(found).is_some_and(|name| {
            TOP_LEVEL_NAMES.contains(&name) || name.starts_with('.') || found.extension() == Some(OsStr::new("part"))
        })
    };
    let Some(other) = entries(path)?.into_iter().find(is_other) else { return Ok(()) };
    let message = format!(
        "`{}` is no mirror and holds other things, such as `{}`: choose a new or an empty folder",
        path.display(),
        other.file_name().unwrap_or_default().to_string_lossy()
    );
    Err(Error::new(Kind::Configuration, message))
}
