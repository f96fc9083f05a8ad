//! Zips a loose shapefile for an upload: the .shp and the files of its name, flat and with the same bytes each time.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::multipart::UploadFile;
use super::upload_rules::is_shapefile_member;
use headland_api::uploads::SHAPE_SET;
use headland_base::error::{Error, Kind, Result};

/// Zips the shapefile at a path.
pub fn zip_shapefile(shapefile: &Path) -> Result<UploadFile> {
    let stem = shapefile.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = shapefile.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let members = members(folder, &stem).map_err(|cause| unreadable(folder, &cause))?;
    for wanted in SHAPE_SET {
        if !members.iter().any(|(_, extension)| extension == wanted) {
            let message = format!(
                "cannot upload `{}`: an RX upload needs .shp, .shx and .dbf, and the folder has no `{stem}.{wanted}`; \
                 copy all files of the shapefile into one folder",
                shapefile.display()
            );
            return Err(Error::new(Kind::InvalidRequest, message));
        }
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    for (path, extension) in members {
        let content = std::fs::read(&path).map_err(|cause| unreadable(&path, &cause))?;
        let failed = |cause: &dyn std::fmt::Display| {
            Error::new(Kind::InvalidRequest, format!("cannot zip `{}`: {cause}", path.display()))
        };
        zip.start_file(format!("{stem}.{extension}"), options).map_err(|cause| failed(&cause))?;
        zip.write_all(&content).map_err(|cause| failed(&cause))?;
    }
    let zipped = zip
        .finish()
        .map_err(|cause| Error::new(Kind::InvalidRequest, format!("cannot zip `{}`: {cause}", shapefile.display())))?;
    Ok(UploadFile { name: format!("{stem}.zip"), content: zipped.into_inner().into() })
}

/// The files of a shapefile with their extensions in lower case: the .shp first, then in the order of the alphabet.
/// File names differ in letter case on some displays, so `FIELD.DBF` belongs to `field.shp`.
fn members(folder: &Path, stem: &str) -> std::io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((own, extension)) = name.rsplit_once('.') else { continue };
        let extension = extension.to_ascii_lowercase();
        if own.eq_ignore_ascii_case(stem) && is_shapefile_member(&extension) && path.is_file() {
            // The same spelling as the .shp wins where a folder has `a.dbf` and `A.DBF`.
            found.push((extension, own != stem, path));
        }
    }
    found.sort();
    found.dedup_by(|next, kept| next.0 == kept.0);
    found.sort_by_key(|(extension, ..)| extension != "shp");
    Ok(found.into_iter().map(|(extension, _, path)| (path, extension)).collect())
}

fn unreadable(path: &Path, cause: &std::io::Error) -> Error {
    Error::new(Kind::InvalidRequest, format!("cannot read `{}` to upload it: {cause}", path.display()))
        .with(|facts| facts.os_error = headland_base::error_numbers::error_number(cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_reader::archive::listed_names;

    #[test]
    fn loose_shapefile_is_zipped_with_its_members_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["north.shp", "north.shx", "NORTH.DBF", "north.prj", "north.qmd", "south.shp", "north 2.dbf"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let file = zip_shapefile(&folder.path().join("north.shp")).unwrap();
        assert_eq!(file.name, "north.zip");
        let names = listed_names(&file.content).unwrap();
        assert_eq!(names, ["north.shp", "north.dbf", "north.prj", "north.shx"]);
        assert_eq!(zip_shapefile(&folder.path().join("north.shp")).unwrap(), file, "the same bytes each time");
        let error = zip_shapefile(&folder.path().join("south.shp")).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert!(error.message().contains("no `south.shx`"), "{error}");
    }
}
