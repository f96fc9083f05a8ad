//! What each archive is of, in a file beside them: one line of JSON for each that was taken in, with its checksum.
//!
//! The archives and this file make a journal that was lost or damaged good again: the lists are read anew, and no file
//! that is here is fetched twice. The journal is what counts as long as there is one.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::archive_store::{Finding, Problem, hex};
use super::fs::{Disk, fs_error};
use crate::error::Result;
use crate::part_file::folder_of;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogEntry {
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
const CHECKSUM_FIELD: (&str, &str) = (",\"crc32\":\"", "\"}");

/// The hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Where it is.
fn log_path(mirror: &Path) -> PathBuf {
    mirror.join(NAME)
}

fn format_line(entry: &LogEntry, path: &Path) -> Result<String> {
    let mut line = serde_json::to_string(entry).map_err(|cause| fs_error("write", path, &cause.into()))?;
    // The checksum is the last field.
    line.pop();
    let crc32 = checksum(line.as_bytes());
    line.extend([CHECKSUM_FIELD.0, &crc32, CHECKSUM_FIELD.1]);
    Ok(line)
}

fn checksum(bytes: &[u8]) -> String {
    hex(&crc32fast::hash(bytes).to_be_bytes())
}

/// The entry of a line; `None` where the line is half or has another checksum. Lines from before there were checksums have
/// none.
fn parse_line(line: &[u8]) -> Option<LogEntry> {
    let body = line.len().saturating_sub(CHECKSUM_FIELD.0.len() + DIGITS + CHECKSUM_FIELD.1.len());
    if let Some((body, field)) = line.split_at_checked(body)
        && let Some(crc32) = field
            .strip_prefix(CHECKSUM_FIELD.0.as_bytes())
            .and_then(|rest| rest.strip_suffix(CHECKSUM_FIELD.1.as_bytes()))
    {
        let is_whole = crc32 == checksum(body).as_bytes();
        return is_whole.then(|| serde_json::from_slice(&[body, b"}"].concat()).ok()).flatten();
    }
    // A field of another name may be the checksum, damaged.
    serde_json::from_slice(line).ok()
}

/// Adds a line; it is on the disk when this returns.
pub(super) fn append(disk: &Disk, mirror: &Path, entry: &LogEntry) -> Result<()> {
    let path = log_path(mirror);
    disk.append_line(&path, &format_line(entry, &path)?)
}

/// Writes it anew in one step.
pub(super) fn rewrite(disk: &Disk, mirror: &Path, entries: &[LogEntry]) -> Result<()> {
    let path = log_path(mirror);
    let mut text = String::new();
    for entry in entries {
        text.push_str(&format_line(entry, &path)?);
        text.push('\n');
    }
    let mut part = disk.create_part(folder_of(&path), "taken")?;
    part.write_all(text.as_bytes()).map_err(|cause| part.write_error(&cause))?;
    part.keep(&path)
}

/// All lines in their order, `None` for one that is damaged; nothing where there is no such file.
fn read_lines(mirror: &Path) -> Result<Option<Vec<Option<LogEntry>>>> {
    let path = log_path(mirror);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(fs_error("read", &path, &cause)),
    };
    let mut entries = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|cause| fs_error("read", &path, &cause))?;
        if !line.is_empty() {
            entries.push(parse_line(&line));
        }
    }
    Ok(Some(entries))
}

/// The entries of all lines that are whole, in their order.
pub(super) fn read(mirror: &Path) -> Result<Vec<LogEntry>> {
    Ok(read_lines(mirror)?.unwrap_or_default().into_iter().flatten().collect())
}

/// What is wrong with it, compared with the entries that the journal knows.
pub(super) fn check(mirror: &Path, known: &[LogEntry]) -> Result<Option<Finding>> {
    let finding = |problem, detail| Some(Finding { problem, path: log_path(mirror), detail });
    let Some(lines) = read_lines(mirror)? else {
        let detail = "it names the record of each archive; it is written anew from the journal".to_owned();
        return Ok(finding(Problem::Missing, detail).filter(|_| !known.is_empty()));
    };
    let damaged: Vec<String> =
        (1_u64..).zip(&lines).filter(|(_, entry)| entry.is_none()).map(|(number, _)| number.to_string()).collect();
    if damaged.is_empty() {
        let key = |entry: &LogEntry| (entry.stamp.clone(), entry.sha256.clone());
        let logged: HashSet<(String, String)> = lines.iter().flatten().map(key).collect();
        let lacking = known.iter().filter(|entry| !logged.contains(&key(entry))).count();
        let detail = format!("{lacking} archives of the journal are not in it; they are written anew from the journal");
        return Ok(finding(Problem::Damaged, detail).filter(|_| lacking > 0));
    }
    let detail = format!(
        "{} of its {} lines are not what was written (the first is line {}); they are written anew from the journal",
        damaged.len(),
        lines.len(),
        damaged.first().map_or("", String::as_str)
    );
    Ok(finding(Problem::Damaged, detail))
}
