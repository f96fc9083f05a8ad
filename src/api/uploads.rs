//! Names of uploaded files, as in specification 4.3 and 2.8. The specification shows no size limits (8).

/// The files of a shapefile, which a prescription map of the type `RX` contains.
pub const SHAPE_SET: [&str; 3] = ["shp", "shx", "dbf"];

/// The extension of a prescription map of the type `AGX`.
pub const AGX_EXTENSION: &str = ".rdp.zip";

/// The extension of a grain cart file.
pub const GRC_EXTENSION: &str = ".grc";

/// Whether a file name ends in an extension, in any letter case, and is longer than it.
#[must_use]
pub fn has_extension(name: &str, extension: &str) -> bool {
    let start = name.len().saturating_sub(extension.len());
    start > 0 && name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(extension))
}
