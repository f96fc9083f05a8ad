//! A member of a source: its name, its size and the location of its bytes.

use std::sync::Arc;

use super::decompress::Method;
use super::read_at::ReadAt;
use headland_base::error::Error;

/// One file inside a source.
#[derive(Clone, Debug)]
pub struct Member {
    name: String,
    size: u64,
    body: Body,
}

/// The location of the bytes of a member.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// Uncompressed bytes. Only zips declare a checksum.
    Plain { store: Arc<dyn ReadAt>, offset: u64, crc: Option<u32> },
    /// Compressed bytes. A truncated member has no checksum and ends early.
    Compressed {
        store: Arc<dyn ReadAt>,
        offset: u64,
        compressed_size: u64,
        crc: u32,
        method: Method,
        is_truncated: bool,
    },
    /// Not readable, with the reason.
    Refused(String),
}

impl Member {
    pub(super) fn new(name: String, size: u64, body: Body) -> Self {
        Self { name, size, body }
    }

    /// The name with its folders, separated by slashes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The declared size in bytes. Reading more or fewer bytes is an error.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number of compressed bytes; 0 for a stored member.
    #[must_use]
    pub fn compressed_size(&self) -> u64 {
        match &self.body {
            Body::Compressed { compressed_size, .. } => *compressed_size,
            Body::Plain { .. } | Body::Refused(_) => 0,
        }
    }

    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    /// The same member with the name of the archive that contains it as a folder.
    pub(super) fn prefix_with(mut self, archive: &str) -> Self {
        self.name = format!("{archive}/{}", self.name);
        self
    }

    /// The name without folders.
    pub(super) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The name without its extension, and the extension in lower case.
    pub(super) fn stem_and_ending(&self) -> (&str, String) {
        match self.name.rsplit_once('.') {
            Some((stem, ending)) if !ending.contains('/') => (stem, ending.to_ascii_lowercase()),
            _ => (&self.name, String::new()),
        }
    }

    /// An error about this member.
    pub(super) fn fault(&self, message: impl Into<String>) -> Error {
        Error::archive(&*self.name, message)
    }
}
