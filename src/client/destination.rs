//! Destination of a file: memory, a path, or a folder with the name that the service suggests.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use http::HeaderMap;

use super::file_name::{LONGEST_NAME, clean, suggested_name};
use headland_base::error::{Error, Kind, OUT_OF_MEMORY, Result};
use headland_base::part_file::{PartFile, check_replaceable, exists_error, folder_of};

/// The destination of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Memory.
    Memory,
    /// The disk. An existing file is only overwritten with `overwrite`.
    Disk {
        /// The path of the file, or a folder. In a folder the sanitised name of `Content-Disposition` is used.
        to: PathBuf,
        /// Whether an existing file is replaced.
        overwrite: bool,
    },
}

/// A complete and checked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// Its path.
    File(PathBuf),
}

/// The target of received bytes.
#[derive(Debug)]
pub(super) enum Sink {
    Memory(Vec<u8>),
    /// A `.part` file and its path. For a temporary file: the suggested name.
    Part(PartFile, PathBuf),
}

impl Sink {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Memory(content) => {
                content
                    .try_reserve(bytes.len())
                    .map_err(|_| out_of_memory(content.len().saturating_add(bytes.len())))?;
                content.extend_from_slice(bytes);
                Ok(())
            }
            Self::Part(part, _) => part.write(bytes),
        }
    }

    pub(super) fn content(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(content) => Ok(Cow::Borrowed(content)),
            Self::Part(part, _) => {
                let mut content = Vec::new();
                let read = part.reader()?.read_to_end(&mut content);
                read.map_err(|error| Error::file("read", part.path(), &error))?;
                Ok(Cow::Owned(content))
            }
        }
    }
}

fn out_of_memory(bytes: usize) -> Error {
    let message = format!("cannot allocate {bytes} bytes of memory for this file: download it to a path with `to`");
    Error::new(Kind::Archive, message).with(|facts| facts.os_error = Some(OUT_OF_MEMORY))
}

/// A checked target.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    Memory,
    Path {
        path: PathBuf,
        overwrite: bool,
    },
    Folder {
        folder: PathBuf,
        overwrite: bool,
    },
    /// A temporary file, delivered later.
    Temporary,
}

impl Destination {
    /// Checks the target before any call is made.
    pub(super) fn from_target(target: &Target) -> Result<Self> {
        let Target::Disk { to, overwrite } = target else { return Ok(Self::Memory) };
        let overwrite = *overwrite;
        check_path(to)?;
        if to.is_dir() {
            return Ok(Self::Folder { folder: to.clone(), overwrite });
        }
        let ends_as_folder = to.as_os_str().as_encoded_bytes().last().is_none_or(|byte| matches!(byte, b'/' | b'\\'));
        let folder = folder_of(to);
        if ends_as_folder || to.file_name().is_none() || !folder.is_dir() {
            let missing = if ends_as_folder { to.as_path() } else { folder };
            return Err(missing_folder(to, missing));
        }
        check_free(to, overwrite)?;
        Ok(Self::Path { path: to.clone(), overwrite })
    }

    /// Opens the target for writing. `fallback` is the name if the service suggests none.
    pub(super) fn open(&self, headers: &HeaderMap, fallback: &str) -> Result<Sink> {
        match self {
            Self::Memory => Ok(Sink::Memory(Vec::new())),
            Self::Path { path, .. } => part_for(path.clone()),
            Self::Folder { folder, overwrite } => {
                let path = folder.join(file_name(headers, fallback));
                check_free(&path, *overwrite)?;
                part_for(path)
            }
            Self::Temporary => {
                let file_name = file_name(headers, fallback);
                Ok(Sink::Part(PartFile::temporary()?, PathBuf::from(file_name)))
            }
        }
    }

    /// Moves the complete file to its destination.
    pub(super) fn deliver(&self, sink: Sink) -> Result<Delivered> {
        match sink {
            Sink::Memory(bytes) => Ok(Delivered::Bytes(bytes)),
            Sink::Part(part, path) => {
                part.keep(&path, self.can_overwrite())?;
                Ok(Delivered::File(path))
            }
        }
    }

    /// Copies a stored file to its destination. `file_name` is the suggested name.
    pub(super) fn deliver_copy(&self, stored: &PartFile, file_name: &Path) -> Result<Delivered> {
        let mut source = stored.reader()?;
        let read_error = |error: io::Error| Error::file("read", stored.path(), &error);
        let mut sink = self.open(&HeaderMap::new(), &file_name.to_string_lossy())?;
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let count = source.read(&mut buffer).map_err(read_error)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                return self.deliver(sink);
            }
            sink.write(bytes)?;
        }
    }

    fn can_overwrite(&self) -> bool {
        matches!(self, Self::Path { overwrite: true, .. } | Self::Folder { overwrite: true, .. })
    }
}

fn part_for(path: PathBuf) -> Result<Sink> {
    Ok(Sink::Part(PartFile::for_target(&path)?, path))
}

fn file_name(headers: &HeaderMap, fallback: &str) -> String {
    suggested_name(headers).or_else(|| clean(fallback)).unwrap_or_else(|| "download".to_owned())
}

/// Checks a path for errors on any file system, before any call is made.
fn check_path(to: &Path) -> Result<()> {
    let wrong = |why: &str| Err(Error::new(Kind::Value, format!("`to` {why}: `{}`", to.display())));
    if to.as_os_str().is_empty() {
        return wrong("is empty; name a folder or a file");
    }
    if to.as_os_str().as_encoded_bytes().contains(&0) {
        return wrong("contains a NUL character");
    }
    if to.file_name().is_some_and(|file_name| file_name.len() > LONGEST_NAME) {
        return wrong(&format!("ends in a name longer than {LONGEST_NAME} bytes"));
    }
    Ok(())
}

fn check_free(path: &Path, overwrite: bool) -> Result<()> {
    if overwrite {
        return check_replaceable(path);
    }
    if fs::symlink_metadata(path).is_ok() { Err(exists_error(path)) } else { Ok(()) }
}

/// The error number `ENOENT`, the same on all systems that Python supports.
const NOT_FOUND_CODE: i32 = 2;

fn missing_folder(to: &Path, folder: &Path) -> Error {
    let message =
        format!("cannot write `{}`: there is no folder `{}`; create it first", to.display(), folder.display());
    Error::new(Kind::File, message).with(|facts| facts.os_error = Some(NOT_FOUND_CODE))
}
