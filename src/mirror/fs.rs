//! Durable file operations of the mirror, with fault injection for tests.
//!
//! Guarantees after a power cut:
//!
//! - A file is synced before it gets its name (`fsync`, then `rename`), so a name never shows a partial file.
//!
//! - The folder is synced after a new name, so everything that the journal records as finished exists.
//!
//! - `rename` replaces a file atomically, so either the old or the new file exists.
//!
//! SQLite syncs each transaction (`synchronous = FULL`, see <https://www.sqlite.org/pragma.html#pragma_synchronous>).
//!
//! A disk that reports cached bytes as written may lose the last operations; `verify` lists what is missing. On systems
//! that cannot sync a folder (Windows), the last names may be lost, but no file is partial.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::error::{Error, Result};
use headland_base::error_numbers::error_number;
use headland_base::part_file::folder_of;

/// Operation that changes the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Creates a folder.
    MakeFolder,
    /// Creates an empty file.
    Create,
    /// Writes bytes to a file.
    Write,
    /// Syncs the content of a file.
    Sync,
    /// Syncs the names in a folder.
    SyncFolder,
    /// Renames a file or folder.
    Rename,
    /// Creates a hard link.
    Link,
    /// Makes a file read-only.
    Protect,
    /// Removes a file, a link or a folder.
    Remove,
}

/// Hook before each operation that may make it fail. Tests fill a disk with it at any step.
pub trait FaultInjector: Send + Sync {
    /// Called before the operation. An error counts as one of the operating system.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;
}

/// File operations on a disk. Clones share the fault injector.
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
    /// File operations that call `injector` first.
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

    /// Creates a folder and its parents unless they exist. The new names are synced on return.
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
            Err(cause) => return Err(fs_error("create the folder", path, &cause)),
        }
        self.sync_folder(folder_of(path))
    }

    /// Creates a `.part` in `folder` for a file named `name`. Its own name is random, so that no two collide.
    pub fn create_part(&self, folder: &Path, name: &str) -> Result<Part> {
        let path = folder.join(format!("{name}.{:016x}.part", fastrand::u64(..)));
        let open = || OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = self.run(Operation::Create, &path, open).map_err(|cause| fs_error("create", &path, &cause))?;
        Ok(Part { disk: self.clone(), path, file: Some(file) })
    }

    /// Syncs the content of a file.
    pub fn sync_file(&self, path: &Path) -> Result<()> {
        // Windows can only sync a file opened for writing, which read-only files do not allow. They are synced already.
        let sync = || File::open(path).and_then(|file| if cfg!(windows) { Ok(()) } else { file.sync_all() });
        self.run(Operation::Sync, path, sync).map_err(|cause| fs_error("flush to disk", path, &cause))
    }

    /// Syncs the names in a folder, if the system can.
    pub fn sync_folder(&self, path: &Path) -> Result<()> {
        let sync = || match File::open(path).and_then(|folder| folder.sync_all()) {
            // Errors of file systems that cannot sync a folder.
            Err(cause) if matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            Err(_) if cfg!(windows) => Ok(()),
            other => other,
        };
        self.run(Operation::SyncFolder, path, sync).map_err(|cause| fs_error("flush to disk the folder", path, &cause))
    }

    /// Renames a file or folder, replacing a file of that name.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.run(Operation::Rename, to, || fs::rename(from, to)).map_err(|cause| fs_error("rename to", to, &cause))
    }

    /// Creates a hard link, or a copy if the file system has no links. An existing file is kept.
    pub fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        match self.run(Operation::Link, to, || fs::hard_link(from, to)) {
            Ok(()) => Ok(()),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(cause) if cannot_link(&cause) => self.copy(from, to),
            Err(cause) => Err(fs_error("link", to, &cause)),
        }
    }

    /// Copies a file through a `.part`, with its modification time.
    pub fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let mut source = File::open(from).map_err(|cause| fs_error("read", from, &cause))?;
        let mut part = self.create_part(folder_of(to), "copy")?;
        io::copy(&mut source, &mut part).map_err(|cause| fs_error("write", to, &cause))?;
        // A file system without times is no reason to fail.
        if let (Ok(time), Some(file)) = (source.metadata().and_then(|found| found.modified()), &part.file) {
            let _ = file.set_modified(time);
        }
        part.keep(to)
    }

    /// Appends a line, creating the file if needed. The line is synced on return.
    ///
    /// A write that fails removes what it wrote, and after a truncated line the new one starts on a line of its own.
    pub fn append_line(&self, path: &Path, line: &str) -> Result<()> {
        let append = || {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let mut last = [b'\n'];
            if file.seek(SeekFrom::End(-1)).is_ok() {
                file.read_exact(&mut last)?;
            }
            let start = if last == [b'\n'] { "" } else { "\n" };
            let length = file.metadata()?.len();
            if let Err(cause) = file.write_all(format!("{start}{line}\n").as_bytes()) {
                let _ = file.set_len(length);
                return Err(cause);
            }
            Ok(file)
        };
        let is_new = !path.exists();
        let file = self.run(Operation::Write, path, append).map_err(|cause| fs_error("write", path, &cause))?;
        let sync = self.run(Operation::Sync, path, || file.sync_data());
        sync.map_err(|cause| fs_error("flush to disk", path, &cause))?;
        if is_new { self.sync_folder(folder_of(path)) } else { Ok(()) }
    }

    /// Makes a file read-only against accidental changes.
    pub fn protect(&self, path: &Path) -> Result<()> {
        let protect = || {
            let mut permissions = fs::metadata(path)?.permissions();
            permissions.set_readonly(true);
            fs::set_permissions(path, permissions)
        };
        self.run(Operation::Protect, path, protect).map_err(|cause| fs_error("set read-only", path, &cause))
    }

    /// Removes a file or link, if it exists.
    pub fn remove_file(&self, path: &Path) -> Result<()> {
        match self.run(Operation::Remove, path, || fs::remove_file(path)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(fs_error("remove", path, &cause)),
            _ => Ok(()),
        }
    }

    /// Removes a folder and its content, if it exists.
    pub fn remove_folder(&self, path: &Path) -> Result<()> {
        match self.run(Operation::Remove, path, || fs::remove_dir_all(path)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(fs_error("remove the folder", path, &cause)),
            _ => Ok(()),
        }
    }
}

/// File being written, removed on drop unless [`Part::keep`] was called.
#[derive(Debug)]
pub struct Part {
    disk: Disk,
    path: PathBuf,
    file: Option<File>,
}

impl Part {
    /// Error for a failed write to this file.
    #[must_use]
    pub fn write_error(&self, cause: &io::Error) -> Error {
        fs_error("write", &self.path, cause)
    }

    /// Syncs the content and renames the file to `target`, replacing a file of that name. The name is synced on return.
    pub fn keep(mut self, target: &Path) -> Result<()> {
        if let Some(file) = self.file.take() {
            let sync = self.disk.run(Operation::Sync, &self.path, || file.sync_all());
            sync.map_err(|cause| fs_error("flush to disk", &self.path, &cause))?;
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
        // After `keep`, no file has this name.
        let _ = fs::remove_file(&self.path);
    }
}

/// Error of a file operation: action, path, cause, and advice.
pub(super) fn fs_error(action: &str, path: &Path, cause: &io::Error) -> Error {
    let text = match advice(cause) {
        Some(advice) => io::Error::new(cause.kind(), format!("{cause}; {advice}")),
        None => io::Error::new(cause.kind(), cause.to_string()),
    };
    Error::file(action, path, &text).with(|facts| facts.os_error = error_number(cause))
}

fn advice(cause: &io::Error) -> Option<&'static str> {
    /// `EIO`, the same on all systems that have it.
    const EIO: i32 = 5;
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("finished work is kept; free space on this disk and run it again to resume")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("grant yourself write permission there, or choose another folder")
        }
        _ if error_number(cause) == Some(EIO) => Some(
            "the disk or its connection fails; finished work is kept: check the disk, run `verify`, then run it again",
        ),
        _ => None,
    }
}

/// Whether this file system has no links, or not between these files.
fn cannot_link(cause: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    /// `ERROR_INVALID_FUNCTION` of Windows on exFAT.
    const INVALID_FUNCTION: i32 = 1;
    matches!(cause.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
        || (cfg!(windows) && cause.raw_os_error() == Some(INVALID_FUNCTION))
}

/// Whether a name is hidden, such as those of file browsers.
pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

pub(super) fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Sorted paths in a folder; empty if it does not exist.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |cause: std::io::Error| fs_error("read the folder", folder, &cause);
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(fail(cause)),
    };
    let mut paths =
        listed.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>().map_err(fail)?;
    paths.sort_unstable();
    Ok(paths)
}
