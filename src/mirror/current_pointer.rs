//! Reads and replaces `current.json`, the file that names the published generation.
//!
//! It is replaced atomically and names one complete generation.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fs::{file_name, fs_error};
use super::layout::{Folder, Generation, OLD_LINK, POINTER};
use headland_base::error::Result;

/// Content of the pointer.
#[derive(Serialize, Deserialize)]
struct Pointer {
    format: u32,
    /// Path of the generation, such as `generations/000003`.
    state: String,
}

/// Folder of the state that the pointer names, or the link of an earlier version; `None` if both are missing or wrong.
/// The folder may be missing.
pub(super) fn pointed_state(mirror: &Path) -> Result<Option<PathBuf>> {
    let path = mirror.join(POINTER);
    let state = match fs::read(&path) {
        Ok(text) => serde_json::from_slice::<Pointer>(&text).ok().map(|pointer| PathBuf::from(pointer.state)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => fs::read_link(mirror.join(OLD_LINK)).ok(),
        Err(cause) if cause.kind() == ErrorKind::NotADirectory => None,
        Err(cause) => return Err(fs_error("read", &path, &cause)),
    };
    let is_state = |state: &PathBuf| {
        let mut parts = state.components();
        parts.next() == Some(Component::Normal("generations".as_ref()))
            && matches!(parts.next(), Some(Component::Normal(_)))
            && parts.next().is_none()
    };
    Ok(state.filter(is_state).map(|state| mirror.join(state)))
}

impl Folder {
    /// The published generation; `None` if nothing names a generation of this folder.
    pub fn current(&self) -> Result<Option<Generation>> {
        let Some(path) = pointed_state(self.path())?.filter(|path| path.is_dir()) else { return Ok(None) };
        let number = file_name(&path).and_then(|name| name.parse().ok());
        Ok(number.map(|number| Generation { number, path }))
    }

    /// Names a generation as the published one, atomically.
    pub(super) fn point_to(&self, generation: &Path) -> Result<()> {
        let state = format!("generations/{}", file_name(generation).unwrap_or_default());
        let text = serde_json::to_vec(&Pointer { format: 1, state }).unwrap_or_default();
        let mut part = self.disk().create_part(self.path(), POINTER)?;
        part.write_all(&text).map_err(|cause| part.write_error(&cause))?;
        part.keep(&self.path().join(POINTER))
    }
}
