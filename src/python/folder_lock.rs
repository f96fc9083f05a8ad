//! Lock of a folder for Python code. The operating system releases it when the process ends, even after a crash.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use headland_base::error_numbers::error_number;

/// Time between two attempts and checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The locked file on systems that cannot lock a folder. It remains, because another process may wait for it.
const LOCK_FILE: &str = ".headland-lock";

/// Excludes other processes and threads that lock the same folder, until it is released.
#[pyclass(module = "headland._core")]
pub(super) struct FolderLock {
    file: Option<File>,
}

#[pymethods]
impl FolderLock {
    /// Waits for the lock; a signal ends the wait. On a file system without locks nothing is locked.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let file = open(folder).map_err(|cause| PyOSError::new_err((error_number(&cause), cause.to_string())))?;
        loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => py.detach(|| std::thread::sleep(POLL_INTERVAL)),
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { file: Some(file) }),
            }
            py.check_signals()?;
        }
    }

    /// Releases the lock.
    fn release(&mut self) {
        self.file = None;
    }
}

fn open(folder: PathBuf) -> io::Result<File> {
    if cfg!(windows) {
        return OpenOptions::new().write(true).create(true).truncate(false).open(folder.join(LOCK_FILE));
    }
    File::open(folder)
}
