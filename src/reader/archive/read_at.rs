//! Positional reads from bytes in memory or from a file that is opened at its first read.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

/// Bytes that can be read at any offset, from any thread.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// The number of bytes.
    fn size(&self) -> io::Result<u64>;

    /// Reads up to `buffer.len()` bytes at `offset`; returns 0 only at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// All bytes, if they are in memory.
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }
}

impl ReadAt for Bytes {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(buffer), Some(rest)) = (buffer.get_mut(..count), rest.get(..count)) {
            buffer.copy_from_slice(rest);
        }
        Ok(count)
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// Exactly `count` bytes at an offset, or a message that the file ends before them.
pub(super) fn read_exact_at(store: &Arc<dyn ReadAt>, offset: u64, count: u64) -> Result<Vec<u8>, String> {
    let total = store.size().map_err(|cause| cause.to_string())?;
    if offset.checked_add(count).is_none_or(|end| end > total) {
        return Err(format!("the file ends at byte {total}, before the {count} bytes at offset {offset}"));
    }
    let mut bytes =
        vec![0; usize::try_from(count).map_err(|_| "the size exceeds the address space of this machine".to_owned())?];
    let mut done = 0;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match store.read_at(offset.saturating_add(done as u64), rest) {
            Ok(0) => return Err("the file became shorter while it was read".to_owned()),
            Ok(read) => done += read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause.to_string()),
        }
    }
    Ok(bytes)
}

/// A file that is opened at its first read, since a folder may have more files than a process may open.
#[derive(Debug)]
pub(super) struct LazyFile {
    path: PathBuf,
    /// The file, and its size when it was opened.
    file: OnceLock<(File, u64)>,
}

impl LazyFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: OnceLock::new() }
    }

    fn file(&self) -> io::Result<&(File, u64)> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = File::open(&self.path)?;
        let size = file.metadata()?.len();
        Ok(self.file.get_or_init(|| (file, size)))
    }
}

impl ReadAt for LazyFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file()?.1)
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file()?.0, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file()?.0, buffer, offset)
    }
}
