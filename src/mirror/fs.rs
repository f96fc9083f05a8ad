//! What must survive on the disk: the few operations on files that the mirror stands on, each told to a watcher first.
//!
//! What holds when the power is cut, and by what: a file's bytes are on the disk before it gets its name (`fsync`, then
//! `rename`), so that a name never shows a half file; a new name is on the disk once its folder was synced, so that
//! what the journal calls finished is there; a rename replaces the old file as one step, so that there is always one of
//! the two. SQLite syncs each transaction (`synchronous = FULL`). All of it holds as far as the disk does what it says:
//! one that calls bytes written which are in its cache may lose the last steps, and `verify` tells what is missing. On
//! systems that cannot sync a folder (Windows) the last names may be lost, never half a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::part_file::folder_of;

/// An operation that changes what is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Makes a folder.
    MakeFolder,
    /// Makes an empty file.
    Create,
    /// Writes bytes into a file.
    Write,
    /// Brings a file's bytes to the disk.
    Sync,
    /// Brings a folder's names to the disk.
    SyncFolder,
    /// Gives a file or folder another name.
    Rename,
    /// Gives a file a second name.
    Link,
    /// Makes a symbolic link.
    Symlink,
    /// Makes a file read-only.
    Protect,
    /// Removes a file, a link or a folder.
    Remove,
}

/// Sees each operation before it is done and may let it fail: this is how tests fill a disk at any step.
pub trait FaultInjector: Send + Sync {
    /// Called before the operation; an error is taken for the operating system's.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;
}

/// The disk; clones share the watcher.
#[derive(Clone, Default)]
pub struct Disk {
    injector: Option<Arc<dyn FaultInjector>>,
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disk").field("injects_faults", &self.injector.is_some()).finish()
    }
}

impl Disk {
    /// A disk whose operations a watcher sees first.
    #[must_use]
    pub fn with_injector(injector: Arc<dyn FaultInjector>) -> Self {
        Self { injector: Some(injector) }
    }

    fn run<T>(&self, operation: Operation, path: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if let Some(injector) = &self.injector {
            injector.before(operation, path)?;
        }
        work()
    }

    /// Makes a folder where there is none, and those that it is in; the new names are on the disk when this returns.
    pub fn make_folder(&self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if !folder_of(path).is_dir() {
            self.make_folder(folder_of(path))?;
        }
        match self.run(Operation::MakeFolder, path, || fs::create_dir(path)) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(cause) => return Err(fs_error("make the folder", path, &cause)),
        }
        self.sync_folder(folder_of(path))
    }

    /// Makes a `.part` in `folder` for a file called `name`; its own name is nobody else's.
    pub fn create_part(&self, folder: &Path, name: &str) -> Result<Part> {
        let path = folder.join(format!("{name}.{:016x}.part", fastrand::u64(..)));
        let open = || OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = self.run(Operation::Create, &path, open).map_err(|cause| fs_error("make", &path, &cause))?;
        Ok(Part { disk: self.clone(), path, file: Some(file) })
    }

    /// Brings the bytes of a file to the disk.
    pub fn sync_file(&self, path: &Path) -> Result<()> {
        // Windows syncs only what was opened for writing, and refuses that for read-only files, which are synced already.
        let sync = || File::open(path).and_then(|file| if cfg!(windows) { Ok(()) } else { file.sync_all() });
        self.run(Operation::Sync, path, sync).map_err(|cause| fs_error("bring to the disk", path, &cause))
    }

    /// Brings the names in a folder to the disk, where the system can.
    pub fn sync_folder(&self, path: &Path) -> Result<()> {
        let sync = || match File::open(path).and_then(|folder| folder.sync_all()) {
            // File systems that cannot do it say so in one of these ways; there is nothing to be done then.
            Err(cause) if matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            Err(_) if cfg!(windows) => Ok(()),
            other => other,
        };
        self.run(Operation::SyncFolder, path, sync)
            .map_err(|cause| fs_error("bring the folder to the disk", path, &cause))
    }

    /// Gives a file or folder another name, in the place of a file that has it.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.run(Operation::Rename, to, || fs::rename(from, to)).map_err(|cause| fs_error("put in place", to, &cause))
    }

    /// Gives a file a second name, or a copy where the file system has no links. A file that has the name already stays.
    pub fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        match self.run(Operation::Link, to, || fs::hard_link(from, to)) {
            Ok(()) => Ok(()),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(cause) if cannot_link(&cause) => self.copy(from, to),
            Err(cause) => Err(fs_error("link", to, &cause)),
        }
    }

    /// Copies a file by way of a `.part`.
    pub fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let mut source = File::open(from).map_err(|cause| fs_error("read", from, &cause))?;
        let mut part = self.create_part(folder_of(to), "copy")?;
        io::copy(&mut source, &mut part).map_err(|cause| fs_error("write", to, &cause))?;
        part.keep(to)
    }

    /// Adds a line to a file, which is made where it is missing; the line is on the disk when this returns. Where a line
    /// before was left half, this one begins anew.
    pub fn append_line(&self, path: &Path, line: &str) -> Result<()> {
        let append = || {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let mut last = [b'\n'];
            if file.seek(SeekFrom::End(-1)).is_ok() {
                file.read_exact(&mut last)?;
            }
            let start = if last == [b'\n'] { "" } else { "\n" };
            file.write_all(format!("{start}{line}\n").as_bytes())?;
            Ok(file)
        };
        let is_new = !path.exists();
        let file = self.run(Operation::Write, path, append).map_err(|cause| fs_error("write", path, &cause))?;
        let sync = self.run(Operation::Sync, path, || file.sync_data());
        sync.map_err(|cause| fs_error("bring to the disk", path, &cause))?;
        if is_new { self.sync_folder(folder_of(path)) } else { Ok(()) }
    }

    /// Points the link at `path` to `target` (as it is written, relative to the link's folder) in one step: a fresh link
    /// is renamed over the old one.
    pub fn swap_link(&self, target: &Path, path: &Path) -> Result<()> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let fresh = folder_of(path).join(format!("{name}.{:016x}.part", fastrand::u64(..)));
        self.run(Operation::Symlink, &fresh, || symlink(target, &fresh)).map_err(|cause| link_error(path, &cause))?;
        if let Err(error) = self.rename(&fresh, path) {
            let _ = fs::remove_file(&fresh);
            return Err(error);
        }
        self.sync_folder(folder_of(path))
    }

    /// Makes a file read-only, so that nobody changes it by mistake.
    pub fn protect(&self, path: &Path) -> Result<()> {
        let protect = || {
            let mut permissions = fs::metadata(path)?.permissions();
            permissions.set_readonly(true);
            fs::set_permissions(path, permissions)
        };
        self.run(Operation::Protect, path, protect).map_err(|cause| fs_error("make read-only", path, &cause))
    }

    /// Removes a file or a link; none is fine.
    pub fn remove_file(&self, path: &Path) -> Result<()> {
        match self.run(Operation::Remove, path, || fs::remove_file(path)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(fs_error("remove", path, &cause)),
            _ => Ok(()),
        }
    }

    /// Removes a folder and all that is in it; none is fine.
    pub fn remove_folder(&self, path: &Path) -> Result<()> {
        match self.run(Operation::Remove, path, || fs::remove_dir_all(path)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(fs_error("remove the folder", path, &cause)),
            _ => Ok(()),
        }
    }
}

/// A file that is being written, removed when it is dropped before [`Part::keep`].
#[derive(Debug)]
pub struct Part {
    disk: Disk,
    path: PathBuf,
    file: Option<File>,
}

impl Part {
    /// Where it is until it is kept.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error for a write to this file that failed.
    #[must_use]
    pub fn write_error(&self, cause: &io::Error) -> Error {
        fs_error("write", &self.path, cause)
    }

    /// Brings the bytes to the disk and gives the file its name, in the place of a file that has it; the name is on the
    /// disk when this returns.
    pub fn keep(mut self, target: &Path) -> Result<()> {
        if let Some(file) = self.file.take() {
            let sync = self.disk.run(Operation::Sync, &self.path, || file.sync_all());
            sync.map_err(|cause| fs_error("bring to the disk", &self.path, &cause))?;
        }
        self.disk.rename(&self.path, target)?;
        self.disk.sync_folder(folder_of(target))
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { disk, path, file } = self;
        let Some(file) = file else { return Err(io::Error::other("the file is closed")) };
        disk.run(Operation::Write, path, || file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        drop(self.file.take());
        // After `keep` there is nothing left under this name.
        let _ = fs::remove_file(&self.path);
    }
}

/// An operation on a file that failed: what, where, the system's word, and what to do.
pub(super) fn fs_error(action: &str, path: &Path, cause: &io::Error) -> Error {
    let text = match advice(cause) {
        Some(advice) => io::Error::new(cause.kind(), format!("{cause}; {advice}")),
        None => io::Error::new(cause.kind(), cause.to_string()),
    };
    Error::file(action, path, &text).with(|facts| facts.os_error = cause.raw_os_error())
}

fn advice(cause: &io::Error) -> Option<&'static str> {
    /// `EIO` of every system that has it.
    const EIO: i32 = 5;
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("all that was finished is kept; make room on this disk and run it again, it goes on where it stopped")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("give yourself the right to write there, or choose another folder")
        }
        _ if cause.raw_os_error() == Some(EIO) => Some(
            "the disk or its connection is at fault; all that was finished is kept: see to the disk, run `verify`, then run it again",
        ),
        _ => None,
    }
}

/// Whether this file system has no links, or none between these two files.
fn cannot_link(cause: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(cause.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
}

fn link_error(path: &Path, cause: &io::Error) -> Error {
    if !cannot_link(cause) {
        return fs_error("link", path, cause);
    }
    let advice = if cfg!(windows) {
        "allow links (developer mode), or choose another disk"
    } else {
        "this file system may have none: put the mirror on a disk that has (not exFAT or FAT)"
    };
    let message = format!("cannot make the link `{}`: {cause}; {advice}", path.display());
    Error::new(Kind::File, message).with(|facts| facts.os_error = cause.raw_os_error())
}

#[cfg(unix)]
fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(windows)]
fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(target, path)
}

/// What file browsers leave.
pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

pub(super) fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The paths in a folder, in order; none where it is missing.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |cause: std::io::Error| fs_error("read the folder", folder, &cause);
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(fail(cause)),
    };
    let mut paths =
        listed.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>().map_err(fail)?;
    paths.sort();
    Ok(paths)
}
