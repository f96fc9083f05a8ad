//! Lock for a single writer. The operating system releases it when the process ends, even after a crash.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use super::fs::fs_error;
use headland_base::error::{Error, Kind, Result};
use headland_base::error_numbers::error_number;

/// Lock of a folder, released on drop.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// A forked process shares the lock with its parent and must not release it.
    process: u32,
}

impl Lock {
    /// Locks `folder`. If it is locked, the error names the owner.
    pub(super) fn acquire(folder: &Path) -> Result<Self> {
        let path = folder.join("lock");
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|cause| fs_error("open", &path, &cause))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(lock_error(folder, &mut file)),
            Err(TryLockError::Error(cause)) => {
                let message = format!(
                    "cannot lock `{}`: {cause}; put the mirror on a file system that supports locks",
                    path.display()
                );
                return Err(Error::new(Kind::File, message).with(|facts| facts.os_error = error_number(&cause)));
            }
        }
        let process = std::process::id();
        // Only for error messages: a failed write, such as on a full disk, does not affect the lock.
        let _ = file.set_len(0);
        let _ = writeln!(file, "{process}");
        Ok(Self { file, process })
    }
}

/// Whether a writer has locked `folder`. The check itself locks the file for a moment, so it is for rare cases.
pub(super) fn is_locked(folder: &Path) -> bool {
    File::open(folder.join("lock")).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            let _ = self.file.set_len(0);
            let _ = self.file.unlock();
        }
    }
}

fn lock_error(folder: &Path, file: &mut File) -> Error {
    let mut text = String::new();
    // Some systems prevent reads of a locked file. Then the message has no process id.
    let _ = file.take(64).read_to_string(&mut text);
    let owner = match text.trim().parse::<u32>() {
        Ok(process) if process == std::process::id() => format!("this process ({process}) itself"),
        Ok(process) => format!("process {process}"),
        Err(_) => "another process".to_owned(),
    };
    let message = format!(
        "`{}` is being synced by {owner}: wait for it to end, or stop it; reading the mirror is possible meanwhile",
        folder.display()
    );
    Error::new(Kind::Conflict, message)
}
