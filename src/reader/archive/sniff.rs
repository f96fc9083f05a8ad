//! Recognises the format of a source that is not a zip, for an error that names it and a tool that reads it.

use super::saved_reply;
use headland_base::names::strip_bom;

/// Characters of a text in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// Characters of a reply of the service in a message.
const MAX_REPLY_CHARS: usize = 300;

/// Longer words are not shown, since they are not words of a language.
const MAX_WORD_CHARS: usize = 24;

/// A text with one of these is not shown: it may be a setting or a reply saved by mistake.
const SECRET_WORDS: [&str; 6] = ["secret", "token", "password", "signature", "credential", "key\""];

/// File signatures, each with a clause for the error.
const SIGNATURES: [(&[u8], &str); 23] = [
    (b"PK", "it is a zip archive truncated after its first bytes: download it again"),
    (b"\x1F\x8B", "it is compressed with gzip: unpack it (`gunzip`, or Python's `gzip`) and read the result"),
    (b"7z\xBC\xAF\x27\x1C", "it is a 7z archive: unpack it (with 7-Zip) and read the folder"),
    (b"Rar!", "it is a RAR archive: unpack it (with `unrar` or 7-Zip) and read the folder"),
    (b"BZh", "it is compressed with bzip2: unpack it (`bunzip2`, or Python's `bz2`) and read the result"),
    (b"\xFD7zXZ\0", "it is compressed with xz: unpack it (`unxz`, or Python's `lzma`) and read the result"),
    (b"\x28\xB5\x2F\xFD", "it is compressed with zstd: unpack it (`unzstd`) and read the result"),
    (b"%PDF", "it is a PDF, which contains no records"),
    (
        b"\0\0\x27\x0A",
        "it is a .shp (or .shx) alone; its other files can only be found by its path: pass the path, or zip them",
    ),
    (b"PAR1", "it is Parquet, which `geopandas.read_parquet` and `pyarrow.parquet` read"),
    (b"ARROW1", "it is an Arrow file, which `pyarrow.feather` reads"),
    (b"fgb\x03fgb", "it is FlatGeobuf, which `geopandas.read_file` reads"),
    (b"II*\0", "it is a TIFF, a raster, which rasterio reads"),
    (b"MM\0*", "it is a TIFF, a raster, which rasterio reads"),
    (b"\x89PNG", "it is a picture (PNG)"),
    (b"\xFF\xD8\xFF", "it is a picture (JPEG)"),
    (b"\xD0\xCF\x11\xE0", "it is a legacy Office file (.doc, .xls): save the table as .csv and read it with pandas"),
    (b"MZ", "it is a Windows program; if it is a self-extracting archive, run it and read the folder"),
    (b"\x7FELF", "it is a program"),
    (b"\x89HDF", "it is HDF5, which h5py reads"),
    (b"CDF\x01", "it is NetCDF, which xarray reads"),
    (b"CDF\x02", "it is NetCDF, which xarray reads"),
    (b"-----BEGIN", "it is a key or a certificate, which must stay secret"),
];

/// Whether a source starts like an XML document, in UTF-8 or UTF-16.
pub(super) fn is_xml(first: &[u8]) -> bool {
    let plain = strip_bom(first).trim_ascii_start();
    let utf16: [&[u8]; 4] = [b"\xFF\xFE<\0", b"\xFE\xFF\0<", b"<\0", b"\0<"];
    let is_page = plain.get(..14).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype html"))
        || plain.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"<html"));
    (plain.starts_with(b"<") && !is_page) || utf16.iter().any(|start| first.starts_with(start))
}

/// A clause about the first bytes of a source, such as `it is a web page`.
pub(super) fn describe_bytes(first: &[u8]) -> String {
    if first.is_empty() {
        return "it is empty (0 bytes): nothing was written or received".to_owned();
    }
    if let Some((status, reason)) = saved_reply::find(first) {
        return format!(
            "it is a reply of the service that was saved instead of a file: status `{}`, `{}`",
            shorten_reply(&status),
            shorten_reply(&reason)
        );
    }
    if let Some((_, what)) = SIGNATURES.iter().find(|(start, _)| first.starts_with(start)) {
        return (*what).to_owned();
    }
    if first.starts_with(b"SQLite format 3\0") {
        let is_package = first.get(68..70).is_some_and(|id| id == b"GP");
        let what = if is_package { "a GeoPackage" } else { "an SQLite database (possibly a GeoPackage)" };
        return format!("it is {what}, which `geopandas.read_file` reads");
    }
    if first.get(257..262).is_some_and(|magic| magic == b"ustar") {
        return "it is a tar archive: unpack it (`tar -xf`) and read the folder".to_owned();
    }
    if is_dbf(first) {
        return "it is a .dbf alone: pass its path, or zip it".to_owned();
    }
    let text = String::from_utf8_lossy(first);
    describe_text(text.trim_start_matches('\u{feff}').trim_start(), first)
}

fn describe_text(plain: &str, first: &[u8]) -> String {
    let lower = plain.to_ascii_lowercase();
    let start = lower.get(..512).unwrap_or(&lower);
    if start.starts_with("<!doctype html") || start.contains("<html") {
        let wants_login = ["type=\"password\"", "type='password'", "login", "log in", "sign in"];
        let what = if wants_login.iter().any(|word| lower.contains(word)) {
            "a web page that requires a login, saved instead of a file: log in and download the file itself"
        } else {
            "a web page that was saved instead of a file"
        };
        return format!("it is {what}: `{}`", preview(plain, MAX_SHOWN_CHARS));
    }
    if ["<kml", "<gpx", "<gml"].iter().any(|root| start.contains(root)) {
        return "it is KML, GPX or GML, which `geopandas.read_file` reads".to_owned();
    }
    if is_xml(first) {
        // The start of a UTF-16 text is not readable as shown here.
        let start =
            if plain.starts_with('<') { format!(": `{}`", preview(plain, MAX_SHOWN_CHARS)) } else { String::new() };
        return format!("it is XML, which `hl.read_tree` reads as nested dicts{start}");
    }
    if plain.starts_with(['{', '[']) {
        let is_geo =
            ["\"featurecollection\"", "\"feature\"", "\"coordinates\""].iter().any(|word| lower.contains(word));
        if is_geo {
            return "it is GeoJSON, which `geopandas.read_file` reads".to_owned();
        }
        return format!("it is JSON: `{}`", preview(plain, MAX_SHOWN_CHARS));
    }
    let line = plain.lines().next().unwrap_or_default();
    let cells = [',', ';', '\t'].iter().map(|comma| line.matches(*comma).count()).max().unwrap_or(0);
    if cells > 0 && plain.lines().nth(1).is_some() && !plain.contains(['\0', '\u{fffd}']) {
        return format!(
            "it is text in columns (CSV), which `pandas.read_csv` reads: `{}`",
            preview(line, MAX_SHOWN_CHARS)
        );
    }
    let bytes = first.iter().take(16).map(|byte| byte.escape_ascii().to_string()).collect::<String>();
    format!("it has an unknown format that begins with `{bytes}`")
}

/// Whether a source starts like a .dbf: a version, a date, and a header length.
fn is_dbf(first: &[u8]) -> bool {
    let (Some(&[version, _, month, day]), Some(&[low, high])) =
        (first.first_chunk(), first.get(8..10).and_then(<[u8]>::first_chunk))
    else {
        return false;
    };
    let is_version = matches!(version, 0x03 | 0x30 | 0x31 | 0x83 | 0x8B | 0xF5 | 0xFB);
    is_version && month <= 12 && day <= 31 && u16::from_le_bytes([low, high]) % 32 == 1
}

/// A text of the service, shortened, without long words, which may be signed URLs or keys.
fn shorten_reply(text: &str) -> String {
    let words = text.split_whitespace().map(|word| if word.chars().count() > MAX_WORD_CHARS { "..." } else { word });
    let text = words.collect::<Vec<_>>().join(" ");
    let start: String = text.chars().take(MAX_REPLY_CHARS).collect();
    if start.len() < text.len() { format!("{start}...") } else { start }
}

/// The beginning of a text on one line, or a placeholder if it may contain a secret.
fn preview(text: &str, max_chars: usize) -> String {
    let lower = text.to_ascii_lowercase();
    if SECRET_WORDS.iter().any(|word| lower.contains(word)) {
        return "(not shown, because it may contain a secret)".to_owned();
    }
    let start: String =
        text.chars().take(max_chars).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.chars().nth(max_chars).is_some() { format!("{start}...") } else { start }
}
