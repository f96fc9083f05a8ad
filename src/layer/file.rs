//! Files that appear whole or not at all: written beside their place, then renamed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes `path` through `fill`; what stood there stays until the new file is complete.
pub(super) fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = create(&part, fill)
        .and_then(|()| std::fs::rename(&part, path).map_err(|cause| Error::file("write", path, &cause)));
    if written.is_err() {
        remove(part);
    }
    written
}

fn create(part: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let failed = |cause: &std::io::Error| Error::file("write", part, cause);
    let created = File::create(part).map_err(|cause| failed(&cause))?;
    let mut out = BufWriter::with_capacity(256 * 1024, created);
    fill(&mut out)?;
    out.flush().map_err(|cause| failed(&cause))?;
    out.get_ref().sync_all().map_err(|cause| failed(&cause))
}

/// The failure itself is what the user needs to hear, not that its remains could not be removed.
fn remove(part: PathBuf) {
    drop(std::fs::remove_file(part));
}
