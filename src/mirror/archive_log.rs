//! Log of the stored archives, `archives/taken.jsonl`: one JSON line with a checksum for each ingested archive.
//!
//! Restores a lost or damaged journal together with the archives: the lists are read again, and stored files are not
//! downloaded again. The journal takes precedence as long as it exists.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::archive_store::{Finding, Problem};
use super::fs::{Disk, fs_error};
use headland_base::error::Result;
use headland_base::hex::hex;
use headland_base::part_file::folder_of;

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogEntry {
    /// Digest of the account, as in the journal.
    pub(super) account: String,
    /// `job` or `cart`; informative.
    pub(super) kind: String,
    /// Record id; informative.
    pub(super) id: String,
    /// Version of the record that the archive belongs to.
    pub(super) stamp: String,
    pub(super) sha256: String,
    pub(super) bytes: u64,
    pub(super) file_name: String,
    pub(super) taken_at: String,
}

const NAME: &str = "archives/taken.jsonl";

/// Text before and after the checksum at the end of a line. The checksum covers all bytes before this field.
const CHECKSUM_FIELD: (&str, &str) = (",\"crc32\":\"", "\"}");

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

fn log_path(mirror: &Path) -> PathBuf {
    mirror.join(NAME)
}

fn format_line(entry: &LogEntry, path: &Path) -> Result<String> {
    let mut line = serde_json::to_string(entry).map_err(|cause| fs_error("write", path, &cause.into()))?;
    // Drops the closing brace: the checksum is the last field.
    line.pop();
    let crc32 = checksum(line.as_bytes());
    line.extend([CHECKSUM_FIELD.0, &crc32, CHECKSUM_FIELD.1]);
    Ok(line)
}

fn checksum(bytes: &[u8]) -> String {
    hex(&crc32fast::hash(bytes).to_be_bytes())
}

/// Text of a line before its checksum; `None` if it is truncated or its checksum differs.
fn checked_body(line: &[u8]) -> Option<&[u8]> {
    let body = line.len().saturating_sub(CHECKSUM_FIELD.0.len() + DIGITS + CHECKSUM_FIELD.1.len());
    let (body, field) = line.split_at_checked(body)?;
    let crc32 = field.strip_prefix(CHECKSUM_FIELD.0.as_bytes())?.strip_suffix(CHECKSUM_FIELD.1.as_bytes())?;
    (crc32 == checksum(body).as_bytes()).then_some(body)
}

/// Parses a line; `None` if it is damaged.
fn parse_line(line: &[u8]) -> Option<LogEntry> {
    serde_json::from_slice(&[checked_body(line)?, b"}"].concat()).ok()
}

/// Appends a line. It is synced to disk on return.
pub(super) fn append(disk: &Disk, mirror: &Path, entry: &LogEntry) -> Result<()> {
    let path = log_path(mirror);
    disk.append_line(&path, &format_line(entry, &path)?)
}

/// Replaces the log atomically. Without entries, no log is created.
pub(super) fn rewrite(disk: &Disk, mirror: &Path, entries: &[LogEntry]) -> Result<()> {
    let path = log_path(mirror);
    if entries.is_empty() && !path.exists() {
        return Ok(());
    }
    let mut text = String::new();
    for entry in entries {
        text.push_str(&format_line(entry, &path)?);
        text.push('\n');
    }
    let mut part = disk.create_part(folder_of(&path), "taken")?;
    part.write_all(text.as_bytes()).map_err(|cause| part.write_error(&cause))?;
    part.keep(&path)
}

/// Results of `parse` for the lines in file order. `None` if the file does not exist.
fn read_lines<T>(mirror: &Path, parse: impl Fn(&[u8]) -> T) -> Result<Option<Vec<T>>> {
    let path = log_path(mirror);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(fs_error("read", &path, &cause)),
    };
    let mut lines = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|cause| fs_error("read", &path, &cause))?;
        if !line.is_empty() {
            lines.push(parse(&line));
        }
    }
    Ok(Some(lines))
}

/// Whether a line is truncated or its checksum differs.
pub(super) fn has_damaged_lines(mirror: &Path) -> Result<bool> {
    let lines = read_lines(mirror, |line| checked_body(line).is_some())?;
    Ok(lines.unwrap_or_default().contains(&false))
}

/// Entries of the undamaged lines, in file order.
pub(super) fn read(mirror: &Path) -> Result<Vec<LogEntry>> {
    Ok(read_lines(mirror, parse_line)?.unwrap_or_default().into_iter().flatten().collect())
}

/// Compares the log with the entries known to the journal.
pub(crate) fn check(mirror: &Path, known: &[LogEntry]) -> Result<Option<Finding>> {
    let finding = |problem, detail| Some(Finding { problem, path: log_path(mirror), detail });
    let Some(lines) = read_lines(mirror, parse_line)? else {
        let detail = "it names the record of each archive; headland rewrites it from the journal".to_owned();
        return Ok(finding(Problem::Missing, detail).filter(|_| !known.is_empty()));
    };
    let damaged: Vec<String> =
        (1_u64..).zip(&lines).filter(|(_, entry)| entry.is_none()).map(|(number, _)| number.to_string()).collect();
    if damaged.is_empty() {
        let key = |entry: &LogEntry| (entry.stamp.clone(), entry.sha256.clone());
        let logged: HashSet<(String, String)> = lines.iter().flatten().map(key).collect();
        let lacking = known.iter().filter(|entry| !logged.contains(&key(entry))).count();
        let detail = format!("{lacking} archives of the journal are not in it; headland rewrites it from the journal");
        return Ok(finding(Problem::Damaged, detail).filter(|_| lacking > 0));
    }
    let detail = format!(
        "{} of its {} lines differ from those written (first: line {}); headland rewrites it from the journal",
        damaged.len(),
        lines.len(),
        damaged.first().map_or("", String::as_str)
    );
    Ok(finding(Problem::Damaged, detail))
}
