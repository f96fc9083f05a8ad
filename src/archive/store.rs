//! Anything that can be read at an offset: bytes in memory, or a file that is opened when it is first read.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bytes::Bytes;

/// Bytes that can be read at an offset, from any thread.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// How many bytes there are.
    fn size(&self) -> io::Result<u64>;

    /// Reads up to `into.len()` bytes at `offset`; 0 only at the end.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// All of them, where they are in memory anyway.
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }
}

impl ReadAt for Bytes {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let count = rest.len().min(into.len());
        if let (Some(into), Some(rest)) = (into.get_mut(..count), rest.get(..count)) {
            into.copy_from_slice(rest);
        }
        Ok(count)
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// A file on this machine, opened at the first read: a folder may hold more files than a process may open.
#[derive(Debug)]
pub(super) struct LazyFile {
    path: PathBuf,
    /// The file and its size when it was opened.
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
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file()?.0, into, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file()?.0, into, offset)
    }
}
