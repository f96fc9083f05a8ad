//! Checks of uploads by the rules of specification 4.2 and 4.3.
//!
//! The client has its own checks and shares no code with these, so a wrong interpretation of either side is detected.
//! Only the directory of a zip is read; no member is inflated.

use std::collections::BTreeMap;
use std::fs::File;

use zip::ZipArchive;

use headland_api::uploads::{AGX_EXTENSION, GRC_EXTENSION, SHAPE_SET, has_extension};

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
    let archive = ZipArchive::new(file).map_err(|_| format!("The file `{name}` is not a zip that can be read."))?;
    let plain = |member: &str| member.replace('\\', "/").trim_start_matches("./").trim_start_matches('/').to_owned();
    Ok(archive.file_names().map(plain).collect())
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
    fn bytes_without_a_zip_directory_are_an_error() {
        for bytes in [&b""[..], b"<html>", b"PK", &[0; 10_000]] {
            assert!(check_job_data("a.zip", file_of(bytes)).is_err());
        }
    }
}
