//! What each archive is of, in a file beside them: one line of JSON for each that was taken in.
//!
//! The archives and this file make a journal that was lost or damaged good again: the lists are read anew, and no file
//! that is here is fetched twice. The journal is what counts as long as there is one.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::disk::{Disk, failed};
use crate::error::Result;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Whose it is; the digest that the journal keeps too.
    pub(super) account: String,
    /// `job` or `cart`, for people.
    pub(super) kind: String,
    /// The id of the record, for people.
    pub(super) id: String,
    /// Which version of the record it is of.
    pub(super) stamp: String,
    pub(super) sha256: String,
    pub(super) bytes: u64,
    pub(super) file_name: String,
    pub(super) taken_at: String,
}

const NAME: &str = "archives/taken.jsonl";

/// Adds a line; it is on the disk when this returns.
pub(super) fn add(disk: &Disk, mirror: &Path, entry: &Entry) -> Result<()> {
    let path = mirror.join(NAME);
    let line = serde_json::to_string(entry).map_err(|cause| failed("write", &path, &cause.into()))?;
    disk.append_line(&path, &line)
}

/// All lines in their order. A line that a power cut or a full disk left half is left out.
pub(super) fn read(mirror: &Path) -> Result<Vec<Entry>> {
    let path = mirror.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(failed("read", &path, &cause)),
    };
    let mut entries = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|cause| failed("read", &path, &cause))?;
        entries.extend(serde_json::from_slice::<Entry>(&line).ok());
    }
    Ok(entries)
}
