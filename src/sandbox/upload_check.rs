//! Checks of uploads by the rules of specification 4.2 and 4.3.
//!
//! The client has its own checks and shares no code with these, so a wrong interpretation of either side is detected.
//! Only the directory of a zip is read; no member is inflated.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use zip::ZipArchive;

use crate::api::uploads::{AGX_EXTENSION, GRC_EXTENSION, SHAPE_SET, has_extension};

/// Maximum number of bytes read of a zip directory, which takes several times as much memory. A directory of 60,000
/// files is smaller.
const MAX_DIRECTORY: u64 = 8 * 1024 * 1024;

/// Checks a prescription map of type RX: "a zip containing a single shape file set (.shp, .shx, .dbf). A zip holding
/// several shape files is unsupported."
pub(super) fn check_rx(name: &str, file: File) -> Result<(), String> {
    let members = member_names(name, file)?;
    // Extensions by stem. The letter case may differ among the files of a set.
    let mut sets: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (stem, extension) in members.iter().filter_map(|member| member.rsplit_once('.')) {
        sets.entry(stem.to_lowercase()).or_default().push(extension.to_lowercase());
    }
    sets.retain(|_, extensions| extensions.iter().any(|extension| extension == SHAPE_SET[0]));
    match sets.len() {
        0 => return Err(format!("An RX upload holds a shape file (.shp), and `{name}` holds none.")),
        1 => {}
        several => {
            return Err(format!("A zip with several shape files is not supported, and `{name}` holds {several}."));
        }
    }
    let missing = SHAPE_SET.iter().find(|part| !sets.values().flatten().any(|extension| extension == *part));
    match missing {
        Some(part) => Err(format!("The shape file in `{name}` is not complete: its .{part} is missing.")),
        None => Ok(()),
    }
}

/// Checks a prescription map of type AGX: "the file may be simple or complex and must have the extension .rdp.zip."
pub(super) fn check_agx(name: &str) -> Result<(), String> {
    check_extension(name, "An AGX upload", AGX_EXTENSION)
}

/// Checks a grain cart: "a GRC file's contents and name", a "file with extension GRC".
pub(super) fn check_grain_cart(name: &str) -> Result<(), String> {
    check_extension(name, "A grain cart file", GRC_EXTENSION)
}

/// Checks job data: "a zip of job data from a field computer. A zip with multiple directories is unsupported."
///
/// Only top-level directories count: a field computer's own zip (`BIN`, specification 4.4) contains folders in one
/// folder (field notes, Job data archives). Returns whether the zip contains a shapefile to convert.
pub(super) fn check_job_data(name: &str, file: File) -> Result<bool, String> {
    let members = member_names(name, file)?;
    if members.iter().all(|member| member.ends_with('/')) {
        return Err(format!("The zip `{name}` holds no file."));
    }
    let mut directories: Vec<&str> =
        members.iter().filter_map(|member| member.split_once('/')).map(|(directory, _)| directory).collect();
    directories.sort_unstable();
    directories.dedup();
    if directories.len() > 1 {
        let count = directories.len();
        return Err(format!("A zip with multiple directories is not supported, and `{name}` holds {count}."));
    }
    Ok(members.iter().any(|member| has_extension(member, ".shp")))
}

fn check_extension(name: &str, what: &str, extension: &str) -> Result<(), String> {
    if has_extension(name, extension) {
        Ok(())
    } else {
        Err(format!("{what} has the extension {extension}, and the file is called `{name}`."))
    }
}

/// Returns the member names of a zip, with `/` as separator.
fn member_names(name: &str, file: File) -> Result<Vec<String>, String> {
    let archive = ZipArchive::new(BoundedFile { file, left: MAX_DIRECTORY })
        .map_err(|_| format!("The file `{name}` is not a zip that can be read."))?;
    let plain = |member: &str| member.replace('\\', "/").trim_start_matches("./").trim_start_matches('/').to_owned();
    Ok(archive.file_names().map(plain).collect())
}

/// A file with a limit on the bytes read, which also limits the memory of the parsed directory.
struct BoundedFile {
    file: File,
    left: u64,
}

impl Read for BoundedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        let length = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(length).ok_or_else(|| io::Error::other("the directory is too large"))?;
        Ok(count)
    }
}

impl Seek for BoundedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn zip_with_oversized_directory_is_an_error() {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        zip.start_file("a.shp", zip::write::SimpleFileOptions::default()).unwrap();
        let one = zip.finish().unwrap().into_inner();
        assert_eq!(check_job_data("a.zip", file_of(&one)), Ok(true));
        let (start, end) = (one.windows(4).position(|four| four == b"PK\x01\x02").unwrap(), one.len() - 22);
        let entry = &one[start..end];
        // Almost the maximum number of entries without ZIP64, each extended by a comment.
        let mut long = entry.to_vec();
        long[32..34].copy_from_slice(&1_000_u16.to_le_bytes());
        long.extend_from_slice(&[b' '; 1_000]);
        let mut many = one[..start].to_vec();
        many.extend(long.repeat(65_000));
        let size = u32::try_from(many.len() - start).unwrap();
        let mut last = one[end..].to_vec();
        for at in [8, 10] {
            last[at..at + 2].copy_from_slice(&65_000_u16.to_le_bytes());
        }
        last[12..16].copy_from_slice(&size.to_le_bytes());
        many.extend(last);
        assert!(check_job_data("a.zip", file_of(&many)).unwrap_err().contains("not a zip that can be read"));
    }

    #[test]
    fn bytes_without_a_zip_directory_are_an_error() {
        for bytes in [&b""[..], b"<html>", b"PK", &[0; 10_000]] {
            assert!(check_job_data("a.zip", file_of(bytes)).is_err());
        }
    }
}
