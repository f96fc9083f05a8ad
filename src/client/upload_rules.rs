//! Rules for uploads (specification 4.3), checked before a file is sent.

use std::collections::BTreeSet;

use bytes::Bytes;

use headland_api::Endpoint;
use headland_api::uploads::{AGX_EXTENSION, SHAPE_SET, has_extension};
use headland_reader::archive::listed_names;

/// Extensions of optional files of a shapefile.
const COMPANIONS: [&str; 6] = ["prj", "cpg", "sbn", "sbx", "qix", "qpj"];

/// Whether a file with this extension in lower case belongs to a shapefile.
pub(super) fn is_shapefile_member(extension: &str) -> bool {
    SHAPE_SET.iter().chain(&COMPANIONS).any(|known| *known == extension)
}

/// Checks a file against the upload rules of a row; the error states the violated rule.
pub fn check(row: &Endpoint, file_type: Option<&str>, name: &str, content: &Bytes) -> Result<(), String> {
    match (row.full_name, file_type) {
        ("prescription_maps.upload", Some("AGX")) => agx(name),
        ("prescription_maps.upload", _) => rx(name, content),
        ("job_data.upload", _) => job_data(name, content),
        _ => Ok(()),
    }
}

/// RX: a zip with a single shapefile.
fn rx(name: &str, content: &Bytes) -> Result<(), String> {
    const RULE: &str = "an RX upload is a zip with one shapefile (.shp, .shx and .dbf)";
    let members = members(content).ok_or_else(|| format!("{RULE}, but `{name}` is not a zip that can be read"))?;
    if let Some(member) = members.iter().find(|member| member.split('/').any(|part| part == "..")) {
        return Err(format!("{RULE}, but `{name}` contains `{member}`, whose path is outside it"));
    }
    let files: Vec<(&str, String, &str)> = members
        .iter()
        .filter_map(|member| split(member).map(|(stem, extension)| (stem, extension, member.as_str())))
        .filter(|(_, extension, _)| is_shapefile_member(extension))
        .collect();
    let layers: Vec<&str> =
        files.iter().filter(|(_, extension, _)| extension == "shp").map(|(stem, ..)| *stem).collect();
    let Some(stem) = layers.first() else { return Err(format!("{RULE}, but `{name}` contains no .shp file")) };
    if layers.iter().any(|other| !other.eq_ignore_ascii_case(stem)) {
        return Err(format!(
            "{RULE}, but `{name}` contains {}: {}; upload each in its own zip",
            layers.len(),
            layers.join(", ")
        ));
    }
    for wanted in SHAPE_SET {
        let is_it =
            |(found, extension, _): &(&str, String, &str)| extension == wanted && found.eq_ignore_ascii_case(stem);
        if !files.iter().any(is_it) {
            return Err(format!("{RULE}, but `{name}` contains no `{stem}.{wanted}` beside `{stem}.shp`"));
        }
    }
    let mut seen = BTreeSet::new();
    for (found, extension, member) in &files {
        if !found.eq_ignore_ascii_case(stem) {
            return Err(format!("{RULE}, but `{name}` contains `{member}`, which does not belong to `{stem}.shp`"));
        }
        if !seen.insert(extension) {
            return Err(format!("{RULE}, but `{name}` contains `{member}` twice"));
        }
    }
    Ok(())
}

/// AGX: checked by its extension only, which is the same for simple and complex files.
fn agx(name: &str) -> Result<(), String> {
    if has_extension(name, AGX_EXTENSION) {
        Ok(())
    } else {
        Err(format!("the name of an AGX upload must end in {AGX_EXTENSION}, got `{name}`"))
    }
}

/// Job data: a zip without several top-level directories.
///
/// Only top-level directories count: the zip of a display is one folder with folders inside (field notes, Job data
/// archives).
fn job_data(name: &str, content: &Bytes) -> Result<(), String> {
    const RULE: &str = "job data is uploaded as the zip of a field computer";
    let members = members(content).ok_or_else(|| format!("{RULE}, but `{name}` is not a zip that can be read"))?;
    let directories: BTreeSet<&str> =
        members.iter().filter_map(|member| member.split_once('/')).map(|(directory, _)| directory).collect();
    if directories.len() < 2 {
        let has_file = members.iter().any(|member| !member.ends_with('/'));
        return if has_file { Ok(()) } else { Err(format!("{RULE}, but `{name}` contains no file")) };
    }
    let directories: Vec<&str> = directories.into_iter().collect();
    Err(format!(
        "job data is uploaded as a zip without several directories, but `{name}` contains {}: {}; upload each job \
         in its own zip",
        directories.len(),
        directories.join(", ")
    ))
}

/// The members of a zip without those that macOS adds, including duplicates. `None` if it is not a readable zip.
fn members(content: &Bytes) -> Option<Vec<String>> {
    let is_own =
        |name: &String| !name.split('/').any(|part| part.eq_ignore_ascii_case("__MACOSX") || part.starts_with("._"));
    let plain = |name: String| name.replace('\\', "/").trim_start_matches("./").trim_start_matches('/').to_owned();
    Some(listed_names(content)?.into_iter().map(plain).filter(is_own).collect())
}

/// A name without its extension, and the extension in lower case.
fn split(name: &str) -> Option<(&str, String)> {
    name.rsplit_once('.').map(|(stem, extension)| (stem, extension.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use super::*;
    use headland_api as api;

    fn zip_of(members: &[&str]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for member in members {
            if let Some(folder) = member.strip_suffix('/') {
                zip.add_directory(folder, zip::write::SimpleFileOptions::default()).unwrap();
            } else {
                zip.start_file(*member, zip::write::SimpleFileOptions::default()).unwrap();
                zip.write_all(b"x").unwrap();
            }
        }
        zip.finish().unwrap().into_inner()
    }

    fn broken(row: &str, file_type: Option<&str>, name: &str, content: &[u8]) -> Option<String> {
        check(api::row(row).unwrap(), file_type, name, &Bytes::copy_from_slice(content)).err()
    }

    #[test]
    fn rx_zip_without_exactly_one_complete_shapefile_is_an_error() {
        let refused = |members: &[&str]| broken("prescription_maps.upload", Some("RX"), "rx.zip", &zip_of(members));
        for accepted in [
            &["a.shp", "a.shx", "a.dbf"][..],
            &["folder/A.SHP", "folder/a.SHX", "folder/A.dbf", "folder/A.prj", "folder/a.cpg", "readme.txt"],
            &["a.shp", "a.shx", "a.dbf", "__MACOSX/._a.shp", "__MACOSX/b.shp", "._b.shp"],
        ] {
            assert_eq!(refused(accepted), None, "{accepted:?}");
        }
        let several = refused(&["a.shp", "a.shx", "a.dbf", "b.shp", "b.shx", "b.dbf"]).unwrap();
        assert!(several.contains("contains 2: a, b"), "{several}");
        assert!(refused(&["a.shp", "a.dbf"]).unwrap().contains("no `a.shx`"));
        assert!(refused(&["a.shp", "a.shx", "b.dbf"]).unwrap().contains("no `a.dbf`"));
        assert!(refused(&["a.txt"]).unwrap().contains("no .shp"));
        assert!(broken("prescription_maps.upload", None, "rx.zip", b"PK").unwrap().contains("not a zip"));
    }

    #[test]
    fn rx_zip_with_foreign_or_duplicate_members_is_an_error() {
        let refused =
            |members: &[&str]| broken("prescription_maps.upload", Some("RX"), "rx.zip", &zip_of(members)).unwrap();
        let stray = refused(&["a.shp", "a.shx", "a.dbf", "b.dbf"]);
        assert!(stray.contains("`b.dbf`, which does not belong to `a.shp`"), "{stray}");
        assert!(refused(&["a.shp", "a.shx", "a.dbf", "b.prj"]).contains("`b.prj`"));
        assert!(refused(&["a.shp", "a.shx", "a.dbf", "a.DBF"]).contains("`a.DBF` twice"));
        assert!(refused(&["a.shp", "a.shx", "a.dbf", "../x"]).contains("`../x`, whose path is outside"));
        // Zip writers refuse duplicate names, so one is renamed in the bytes.
        let mut twice = zip_of(&["a.shp", "b.shp", "a.shx", "a.dbf"]);
        for at in 0..twice.len() - 5 {
            if &twice[at..at + 5] == b"b.shp" {
                twice[at] = b'a';
            }
        }
        let twice = broken("prescription_maps.upload", Some("RX"), "rx.zip", &twice).unwrap();
        assert!(twice.contains("`a.shp` twice"), "{twice}");
    }

    #[test]
    fn agx_file_is_checked_by_its_extension() {
        for (name, is_valid) in
            [("a.rdp.zip", true), ("A.RDP.ZIP", true), ("a.zip", false), (".rdp.zip", false), ("é", false)]
        {
            assert_eq!(broken("prescription_maps.upload", Some("AGX"), name, b"any").is_none(), is_valid, "{name}");
        }
    }

    #[test]
    fn job_data_zip_with_several_directories_is_an_error() {
        let refused = |members: &[&str]| broken("job_data.upload", None, "a.jdp.zip", &zip_of(members));
        for accepted in [
            &["a.shp"][..],
            &["job/job_fmis/jobdata.xml", "job/job.log", "job/other/x"],
            &["job/a.shp", "__MACOSX/job/._a.shp", "__MACOSX/x", "__macosx/", "._b/x", "readme.txt"],
        ] {
            assert_eq!(refused(accepted), None, "{accepted:?}");
        }
        assert!(refused(&["one/a.shp", "two/b.shp"]).unwrap().contains("contains 2: one, two"));
        assert!(refused(&["one/", "two/"]).unwrap().contains("contains 2"));
    }

    #[test]
    fn job_data_that_is_no_zip_or_has_no_file_is_an_error() {
        let refused = |content: &[u8]| broken("job_data.upload", None, "a.jdp.zip", content).unwrap();
        for content in [&b"hello world"[..], b"PK", &zip_of(&["a.shp"])[..60]] {
            assert!(refused(content).contains("`a.jdp.zip` is not a zip"), "{}", refused(content));
        }
        for members in [&[][..], &["job/"], &["__MACOSX/._a.shp"]] {
            assert!(refused(&zip_of(members)).contains("`a.jdp.zip` contains no file"), "{members:?}");
        }
    }
}
