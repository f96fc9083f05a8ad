//! Stored files of uploads. They are written during the upload and synced before it is acknowledged.
//!
//! A sandbox with a state folder stores them in its subfolder `uploads`. Otherwise they are in a temporary folder that
//! is removed with the sandbox.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::private_files::create_folder;
use headland_base::error::{Error, Result};
use headland_base::part_file::{PartFile, sync_folder};

/// Age at which a file without a record is removed: a killed process left it.
const STALE_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of uploads.
#[derive(Debug)]
pub(super) struct UploadFiles {
    folder: PathBuf,
    /// Process that removes the folder on drop; `None` keeps the folder. After a fork the child has this value too.
    owner: Option<u32>,
}

impl UploadFiles {
    /// Opens the uploads of a state folder, or a temporary folder. `known` are the files of existing records.
    pub(super) fn open(data: Option<&Path>, known: &HashSet<String>) -> Result<Self> {
        let Some(data) = data else {
            let folder = std::env::temp_dir().join(format!("headland-sandbox-{:016x}", fastrand::u64(..)));
            return Ok(Self { folder, owner: Some(std::process::id()) });
        };
        let folder = data.join("uploads");
        let fail = |error: io::Error| Error::file("create the folder", &folder, &error);
        create_folder(&folder).map_err(fail)?;
        // Makes the names of new folders durable.
        for above in [Some(data), data.parent()].into_iter().flatten().filter(|above| !above.as_os_str().is_empty()) {
            sync_folder(above);
        }
        for entry in fs::read_dir(&folder).map_err(fail)?.flatten() {
            let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age > STALE_AFTER) && !known.contains(&*entry.file_name().to_string_lossy()) {
                // A remaining file only uses space.
                drop(fs::remove_file(entry.path()));
            }
        }
        Ok(Self { folder, owner: None })
    }

    /// Creates a file for an upload. It is removed unless [`UploadFiles::keep`] follows.
    pub(crate) fn begin(&self) -> Result<PartFile> {
        if self.owner.is_some() && !self.folder.is_dir() {
            create_folder(&self.folder).map_err(|error| Error::file("create the folder", &self.folder, &error))?;
        }
        PartFile::create_private(&self.folder, "upload")
    }

    /// Keeps an upload and returns its file name. In a state folder, the bytes and the name are then durable.
    pub(super) fn keep(&self, part: PartFile) -> Result<String> {
        let name = format!("{:032x}", fastrand::u128(..));
        let target = self.folder.join(&name);
        if self.owner.is_some() { part.rename_to(&target, false) } else { part.keep(&target, false) }.map(|()| name)
    }

    /// Opens a stored file and returns its length.
    pub(super) fn open_stored(&self, name: &str) -> io::Result<(File, u64)> {
        let file = File::open(self.folder.join(name))?;
        let length = file.metadata()?.len();
        Ok((file, length))
    }

    /// Removes a stored file without a record.
    pub(super) fn remove(&self, name: &str) {
        drop(fs::remove_file(self.folder.join(name)));
    }
}

impl Drop for UploadFiles {
    fn drop(&mut self) {
        if self.owner == Some(std::process::id()) {
            // Without an upload there is no folder.
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn temporary_uploads_are_removed_with_the_sandbox_and_parts_before() {
        let files = UploadFiles::open(None, &HashSet::new()).unwrap();
        assert!(!files.folder.exists(), "nothing was uploaded");
        let mut part = files.begin().unwrap();
        part.write(b"12").unwrap();
        let name = files.keep(part).unwrap();
        drop(files.begin().unwrap());
        assert_eq!(fs::read_dir(&files.folder).unwrap().count(), 1);
        assert_eq!(files.open_stored(&name).unwrap().1, 2);
        let folder = files.folder.clone();
        drop(files);
        assert!(!folder.exists());
    }

    #[test]
    fn stale_files_of_a_killed_process_are_removed_after_a_day() {
        let data = tempfile::tempdir().unwrap();
        let files = UploadFiles::open(Some(data.path()), &HashSet::new()).unwrap();
        let kept = files.keep(files.begin().unwrap()).unwrap();
        let week = SystemTime::now() - Duration::from_secs(7 * 86_400);
        for (name, time) in [("old.part", week), ("new.part", SystemTime::now()), (&*kept, week)] {
            let file = File::options().create(true).truncate(false).write(true).open(files.folder.join(name)).unwrap();
            file.set_modified(time).unwrap();
        }
        let files = UploadFiles::open(Some(data.path()), &HashSet::from([kept.clone()])).unwrap();
        let mut left: Vec<_> = fs::read_dir(&files.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left.iter().filter(|name| *name != &*kept).collect::<Vec<_>>(), ["new.part"]);
        assert_eq!(left.len(), 2);
    }
}
