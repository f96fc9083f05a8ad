//! Where a file goes: into memory, to a path, or into a folder under the name that the service gives it.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use http::HeaderMap;

use super::file_name::{clean, suggested};
use super::part_file::{PartFile, exists};
use super::receive::Sink;
use crate::error::{Error, Kind, Result};

/// Where a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Into memory.
    Memory,
    /// To the disk. Nothing is overwritten without `overwrite`.
    Disk {
        /// A folder, which takes the cleaned file name of `Content-Disposition`, or the path of the file.
        to: PathBuf,
        /// Whether a file of that name is replaced.
        overwrite: bool,
    },
}

/// A file that has arrived, whole and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// Its path.
    File(PathBuf),
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
    /// Beside other temporary files, for later.
    Aside,
}

impl Destination {
    /// Checks what can be checked before a call is spent.
    pub(super) fn of(target: &Target) -> Result<Self> {
        let Target::Disk { to, overwrite } = target else { return Ok(Self::Memory) };
        let overwrite = *overwrite;
        if to.is_dir() {
            return Ok(Self::Folder { folder: to.clone(), overwrite });
        }
        let ends_as_folder = to.as_os_str().as_encoded_bytes().last().is_none_or(|byte| matches!(byte, b'/' | b'\\'));
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if ends_as_folder || to.file_name().is_none() || !folder.is_dir() {
            let missing = if ends_as_folder { to.as_path() } else { folder };
            return Err(no_folder(to, missing));
        }
        if !overwrite && fs::symlink_metadata(to).is_ok() {
            return Err(exists(to));
        }
        Ok(Self::Path { path: to.clone(), overwrite })
    }

    /// Makes room for the bytes. `fallback` is the name where the service suggests none.
    pub(super) fn open(&self, headers: &HeaderMap, fallback: &str) -> Result<Sink> {
        match self {
            Self::Memory => Ok(Sink::Memory(Vec::new())),
            Self::Path { path, .. } => part_for(path.clone()),
            Self::Folder { folder, overwrite } => {
                let path = folder.join(name(headers, fallback));
                if !overwrite && fs::symlink_metadata(&path).is_ok() {
                    return Err(exists(&path));
                }
                part_for(path)
            }
            Self::Aside => {
                let name = name(headers, fallback);
                Ok(Sink::Part(PartFile::create(&std::env::temp_dir(), "headland")?, PathBuf::from(name)))
            }
        }
    }

    /// Hands over what arrived.
    pub(super) fn deliver(&self, sink: Sink) -> Result<Delivered> {
        match sink {
            Sink::Memory(bytes) => Ok(Delivered::Bytes(bytes)),
            Sink::Part(part, path) => {
                part.keep(&path, self.overwrites())?;
                Ok(Delivered::File(path))
            }
        }
    }

    /// Hands over a copy of what was put aside under `name`.
    pub(super) fn deliver_copy(&self, aside: &PartFile, name: &Path) -> Result<Delivered> {
        let mut source = aside.reader()?;
        let fail = |error: io::Error| Error::file("read", aside.path(), &error);
        let mut sink = self.open(&HeaderMap::new(), &name.to_string_lossy())?;
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let count = source.read(&mut buffer).map_err(fail)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                return self.deliver(sink);
            }
            match &mut sink {
                Sink::Memory(whole) => whole.extend_from_slice(bytes),
                Sink::Part(part, _) => part.write(bytes)?,
            }
        }
    }

    fn overwrites(&self) -> bool {
        matches!(self, Self::Path { overwrite: true, .. } | Self::Folder { overwrite: true, .. })
    }
}

fn part_for(path: PathBuf) -> Result<Sink> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let part = PartFile::create(folder, &name)?;
    Ok(Sink::Part(part, path))
}

fn name(headers: &HeaderMap, fallback: &str) -> String {
    suggested(headers).or_else(|| clean(fallback)).unwrap_or_else(|| "download".to_owned())
}

/// The number of "no such file or directory", the same on every system that Python runs on.
const NOT_THERE: i32 = 2;

fn no_folder(to: &Path, folder: &Path) -> Error {
    let message = format!("cannot write `{}`: there is no folder `{}`; make it first", to.display(), folder.display());
    Error::new(Kind::File, message).with(|facts| facts.os_error = Some(NOT_THERE))
}

/// What a call is refused for that gives no file.
pub(super) fn no_file(row: &str) -> Error {
    Error::new(Kind::Type, format!("{row} gives no file"))
}
