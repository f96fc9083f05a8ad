//! What each archive is of, in a file beside them: one line of JSON for each that was taken in, with its checksum.
//!
//! The archives and this file make a journal that was lost or damaged good again: the lists are read anew, and no file
//! that is here is fetched twice. The journal is what counts as long as there is one.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::archive_store::{Finding, Trouble, hex};
use super::fs::{Disk, failed};
use crate::error::Result;
use crate::part_file::folder_of;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// What stands before and behind the checksum of all that comes before it, at the end of a line.
const SEAL: (&str, &str) = (",\"crc32\":\"", "\"}");

/// The hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Where it is.
fn path(mirror: &Path) -> PathBuf {
    mirror.join(NAME)
}

fn line(entry: &Entry, path: &Path) -> Result<String> {
    let mut line = serde_json::to_string(entry).map_err(|cause| failed("write", path, &cause.into()))?;
    // The checksum is the last field.
    line.pop();
    let crc32 = checksum(line.as_bytes());
    line.extend([SEAL.0, &crc32, SEAL.1]);
    Ok(line)
}

fn checksum(bytes: &[u8]) -> String {
    hex(&crc32fast::hash(bytes).to_be_bytes())
}

/// The entry of a line; `None` where the line is half or has another checksum. Lines from before there were checksums have
/// none.
fn entry(line: &[u8]) -> Option<Entry> {
    let body = line.len().saturating_sub(SEAL.0.len() + DIGITS + SEAL.1.len());
    if let Some((body, seal)) = line.split_at_checked(body)
        && let Some(crc32) = seal.strip_prefix(SEAL.0.as_bytes()).and_then(|rest| rest.strip_suffix(SEAL.1.as_bytes()))
    {
        let is_whole = crc32 == checksum(body).as_bytes();
        return is_whole.then(|| serde_json::from_slice(&[body, b"}"].concat()).ok()).flatten();
    }
    // A field of another name may be the checksum, damaged.
    serde_json::from_slice(line).ok()
}

/// Adds a line; it is on the disk when this returns.
pub(super) fn add(disk: &Disk, mirror: &Path, entry: &Entry) -> Result<()> {
    let path = path(mirror);
    disk.append_line(&path, &line(entry, &path)?)
}

/// Writes it anew in one step.
pub(super) fn write(disk: &Disk, mirror: &Path, entries: &[Entry]) -> Result<()> {
    let path = path(mirror);
    let mut text = String::new();
    for entry in entries {
        text.push_str(&line(entry, &path)?);
        text.push('\n');
    }
    let mut part = disk.create_part(folder_of(&path), "taken")?;
    part.write_all(text.as_bytes()).map_err(|cause| part.failed(&cause))?;
    part.keep(&path)
}

/// All lines in their order, `None` for one that is damaged; nothing where there is no such file.
fn lines(mirror: &Path) -> Result<Option<Vec<Option<Entry>>>> {
    let path = path(mirror);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(failed("read", &path, &cause)),
    };
    let mut entries = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|cause| failed("read", &path, &cause))?;
        if !line.is_empty() {
            entries.push(entry(&line));
        }
    }
    Ok(Some(entries))
}

/// The entries of all lines that are whole, in their order.
pub(super) fn read(mirror: &Path) -> Result<Vec<Entry>> {
    Ok(lines(mirror)?.unwrap_or_default().into_iter().flatten().collect())
}

/// What is wrong with it, compared with the entries that the journal knows.
pub(super) fn check(mirror: &Path, known: &[Entry]) -> Result<Option<Finding>> {
    let finding = |trouble, detail| Some(Finding { trouble, path: path(mirror), detail });
    let Some(lines) = lines(mirror)? else {
        let detail = "it names the record of each archive; it is written anew from the journal".to_owned();
        return Ok(finding(Trouble::Missing, detail).filter(|_| !known.is_empty()));
    };
    let damaged: Vec<String> =
        (1_u64..).zip(&lines).filter(|(_, entry)| entry.is_none()).map(|(at, _)| at.to_string()).collect();
    if damaged.is_empty() {
        let key = |entry: &Entry| (entry.stamp.clone(), entry.sha256.clone());
        let here: HashSet<(String, String)> = lines.iter().flatten().map(key).collect();
        let lacking = known.iter().filter(|entry| !here.contains(&key(entry))).count();
        let detail = format!("{lacking} archives of the journal are not in it; they are written anew from the journal");
        return Ok(finding(Trouble::Damaged, detail).filter(|_| lacking > 0));
    }
    let detail = format!(
        "{} of its {} lines are not what was written (the first is line {}); they are written anew from the journal",
        damaged.len(),
        lines.len(),
        damaged.first().map_or("", String::as_str)
    );
    Ok(finding(Trouble::Damaged, detail))
}
