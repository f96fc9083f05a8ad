//! Atomic file writes: a `.part` file that is renamed to its target when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use crate::error::{Argument, Error, Kind, Result};
use crate::error_numbers::error_number;

/// A `.part` file, removed on drop before [`PartFile::keep`].
#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    /// The file that errors name, since the caller does not know the name of the part.
    target: PathBuf,
    file: Option<File>,
    /// Whether the file still has its name.
    is_named: bool,
}

impl PartFile {
    /// Creates a `.part` file next to `target`, with a name that no other writer and no file of the user has.
    pub fn for_target(target: &Path) -> Result<Self> {
        let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self::create(folder_of(target), &name)
    }

    /// Creates a `.part` file in `folder`, for a file called `name`.
    pub fn create(folder: &Path, name: &str) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        Self::open(folder, name, &options)
    }

    /// Same as [`PartFile::create`], but only the owner of the file can read it.
    pub fn create_private(folder: &Path, name: &str) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::open(folder, name, &options)
    }

    /// Creates a file in the temporary folder that only its owner can read. Its name is removed immediately, so that
    /// nothing remains after a kill. It cannot be kept. If the system cannot remove the name of an open file, the file
    /// is removed on drop.
    pub fn temporary() -> Result<Self> {
        let mut part = Self::create_private(&std::env::temp_dir(), "headland")?;
        part.is_named = !cfg!(unix) || fs::remove_file(&part.path).is_err();
        Ok(part)
    }

    fn open(folder: &Path, name: &str, options: &OpenOptions) -> Result<Self> {
        let start: String = name.chars().take(40).collect();
        let path = folder.join(format!("{start}.{:016x}.part", fastrand::u64(..)));
        let target = folder.join(name);
        let file = options.open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !folder.is_dir() => {
                missing_folder_error(folder, name, &error)
            }
            _ => Error::file("write", &target, &error),
        })?;
        Ok(Self { path, target, file: Some(file), is_named: true })
    }

    /// The path while it is written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let result = self.file.as_mut().map_or_else(|| Err(closed_error()), |file| file.write_all(bytes));
        result.map_err(|error| Error::file("write", &self.target, &error))
    }

    /// A second handle, at the start of the file. It shares its position with the writer.
    pub fn reader(&self) -> Result<File> {
        let reader = self.file.as_ref().ok_or_else(closed_error).and_then(File::try_clone);
        let rewound = reader.and_then(|mut reader| reader.rewind().map(|()| reader));
        rewound.map_err(|error| Error::file("read", &self.target, &error))
    }

    /// Syncs the file and renames it to `target`. An existing file is only replaced with `overwrite`, even if it
    /// appeared a moment ago.
    pub fn keep(mut self, target: &Path, overwrite: bool) -> Result<()> {
        let fail = |error: io::Error| Error::file("write", target, &error);
        let file = self.file.take().ok_or_else(|| fail(closed_error()))?;
        file.sync_all().map_err(fail)?;
        drop(file);
        self.rename_to(target, overwrite)?;
        sync_folder(folder_of(target));
        Ok(())
    }

    /// Renames the file to `target` without syncing it.
    pub fn rename_to(mut self, target: &Path, overwrite: bool) -> Result<()> {
        let fail = |error: io::Error| Error::file("write", target, &error);
        drop(self.file.take());
        if overwrite {
            fs::rename(&self.path, target).map_err(fail)?;
        } else {
            match fs::hard_link(&self.path, target) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists_error(target)),
                // On a file system without hard links, an empty file reserves the name, and the part replaces it.
                Err(_) => {
                    OpenOptions::new().write(true).create_new(true).open(target).map_err(|error| {
                        if error.kind() == io::ErrorKind::AlreadyExists { exists_error(target) } else { fail(error) }
                    })?;
                    fs::rename(&self.path, target).map_err(fail)?;
                }
            }
        }
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        drop(self.file.take());
        // After `keep`, there is no file with this name, or a second link to the kept file.
        if self.is_named {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes `target` through `fill`. An existing file stays until the new one is complete, and `may_keep` is checked
/// last. The file is not synced: it can be written again, and a sync takes as long as the rest of the work.
pub fn write(
    target: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
    may_keep: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let complete = Complete::write(target, fill)?;
    may_keep()?;
    complete.replace_target()
}

/// A complete file that has not replaced its target yet, so that several files can appear together.
#[derive(Debug)]
pub struct Complete {
    part: PartFile,
    target: PathBuf,
}

impl Complete {
    /// Writes a `.part` file through `fill`. The target stays.
    pub fn write(target: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<Self> {
        // A symbolic link is kept, and its target is written.
        let real = match fs::symlink_metadata(target) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::canonicalize(target).map_err(|cause| Error::file("write", target, &cause))?
            }
            _ => target.to_owned(),
        };
        check_replaceable(&real)?;
        let part = PartFile::for_target(&real)?;
        if let Some(file) = &part.file {
            let mut out = BufWriter::with_capacity(256 * 1024, file);
            fill(&mut out)?;
            out.flush().map_err(|cause| Error::file("write", target, &cause))?;
        }
        Ok(Self { part, target: real })
    }

    /// Renames the file to its target.
    pub fn replace_target(self) -> Result<()> {
        self.part.rename_to(&self.target, true)
    }
}

/// An error if `path` exists and is not a regular file. A link, a device or a folder is hardly what the caller means to
/// replace.
pub fn check_replaceable(path: &Path) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    let kind = match metadata.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device, a pipe or a socket",
    };
    let message = format!(
        "cannot write `{}`: it is {kind}, and only a regular file can be replaced; choose another path",
        path.display()
    );
    Err(Error::new(Kind::File, message))
}

/// The folder of a file.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The error for a missing folder, or for a file in its position.
fn missing_folder_error(folder: &Path, name: &str, cause: &io::Error) -> Error {
    let (target, shown) = (folder.join(name), folder.display());
    let what = if folder.exists() {
        format!("`{shown}` is a file, not a folder; choose another folder")
    } else {
        format!("there is no folder `{shown}`; create it first")
    };
    let message = format!("cannot write `{}`: {what}", target.display());
    Error::new(Kind::File, message).with(|facts| facts.os_error = error_number(cause))
}

/// The error for an existing file.
#[must_use]
pub fn exists_error(path: &Path) -> Error {
    /// `EEXIST`, the same on every system that has it.
    const EXISTS: i32 = 17;
    let cause = io::Error::new(io::ErrorKind::AlreadyExists, "it exists already");
    let error = Error::file("write", path, &cause).with(|facts| facts.os_error = Some(EXISTS));
    error.with_hint("; pass ", Argument::Overwrite, " to replace it")
}

fn closed_error() -> io::Error {
    io::Error::other("the file is closed")
}

/// Syncs the folder: only then does a new name survive a power failure. Some systems cannot do that, which is not an
/// error.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_part_leaves_no_file_and_kept_part_only_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = PartFile::create(folder.path(), "a.zip").unwrap();
        part.write(b"12").unwrap();
        drop(part);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut part = PartFile::create(folder.path(), "a.zip").unwrap();
        part.write(b"12").unwrap();
        part.keep(&folder.path().join("a.zip"), false).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read(folder.path().join("a.zip")).unwrap(), b"12");
    }

    #[cfg(unix)]
    #[test]
    fn temporary_file_has_no_name_and_is_private_to_its_owner() {
        use std::io::Read as _;
        use std::os::unix::fs::MetadataExt as _;
        let mut part = PartFile::temporary().unwrap();
        part.write(b"12").unwrap();
        assert!(!part.path().exists());
        let facts = part.file.as_ref().unwrap().metadata().unwrap();
        assert_eq!((facts.mode() & 0o777, facts.nlink()), (0o600, 0));
        for _ in 0..2 {
            let mut text = String::new();
            part.reader().unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "12");
        }
    }

    #[test]
    fn missing_folder_is_an_error_that_names_the_folder_and_not_the_part() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("maps/2026");
        let error = PartFile::for_target(&missing.join("a.parquet")).unwrap_err();
        assert_eq!((error.kind(), error.facts().os_error), (Kind::File, Some(2)));
        let expected = format!("there is no folder `{}`; create it first", missing.display());
        assert!(error.message().contains(&expected) && !error.message().contains(".part"), "{error}");
        fs::write(folder.path().join("maps"), b"").unwrap();
        let error = PartFile::for_target(&folder.path().join("maps/a.parquet")).unwrap_err();
        assert!(error.message().contains("is a file, not a folder") && !error.message().contains(".part:"), "{error}");
    }

    #[test]
    fn failed_check_before_the_rename_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zip");
        fs::write(&target, b"old").unwrap();
        let fill =
            |out: &mut BufWriter<&File>| out.write_all(b"new").map_err(|cause| Error::file("write", &target, &cause));
        assert!(write(&target, fill, || Err(exists_error(&target))).is_err());
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write(&target, fill, || Ok(())).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn file_created_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zip");
        let mut part = PartFile::create(folder.path(), "a.zip").unwrap();
        part.write(b"new").unwrap();
        fs::write(&target, b"old").unwrap();
        let error = part.keep(&target, false).unwrap_err();
        assert_eq!((error.kind(), error.facts().os_error), (Kind::File, Some(17)));
        assert_eq!(fs::read(&target).unwrap(), b"old");
        let mut part = PartFile::create(folder.path(), "a.zip").unwrap();
        part.write(b"new").unwrap();
        part.keep(&target, true).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
