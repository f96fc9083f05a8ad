//! Checks the files of a prescription: one shapefile, complete, not in a folder, with a short name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::check_content::{CheckOptions, Checked, Checker};
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic, ReadOptions, Severity, Source, listed_names};
use headland_reader::layer::{self, Layer};

/// The files that a display needs.
const NEEDED: [&str; 3] = ["shp", "shx", "dbf"];
/// Files that belong to one shapefile.
const COMPANIONS: [&str; 6] = ["prj", "cpg", "sbn", "sbx", "qix", "qpj"];
/// Most characters of a name.
const LONGEST_NAME: usize = 20;
/// Characters of a name on systems with names of 8 characters.
const SHORT_NAME: usize = 8;
/// Bytes of a file, above which displays refuse it.
const LARGE: u64 = 20_000_000;
/// Most levels of folders that are listed.
const MAX_DEPTH: usize = 8;

/// Checks a zip, a folder or a file of a shapefile.
pub fn check_source(source: &Source, options: &CheckOptions) -> Result<Checked> {
    let mut checker = Checker::new(options)?;
    let Listing { names, bytes, is_zip } = list(source)?;
    let names = match names {
        Ok(names) => names,
        Err(why) => {
            checker.report(Code::UnreadableMember, why);
            return Ok(checker.into_checked());
        }
    };
    check_size(&mut checker, bytes);
    if is_zip && let Some(name) = names.iter().find(|name| name.contains('/')) {
        let message =
            format!("`{name}` is in a folder of the zip, where displays do not look; zip the files without it");
        checker.push(Diagnostic::new(Code::RxFolder, message).in_member(name));
    }
    let is_single = check_set(&mut checker, &names);
    if is_single && let Some(layer) = read(source, &mut checker) {
        let rows: Vec<usize> = (0..layer.len()).collect();
        checker.check(&layer, &rows)?;
    }
    Ok(checker.into_checked())
}

/// Reports a file that is too large for displays.
pub(super) fn check_size(checker: &mut Checker<'_>, bytes: u64) {
    let limit = checker.display.and_then(|display| Some((display.name, display.bytes?)));
    if let Some((name, most)) = limit.filter(|(_, most)| bytes > *most) {
        checker.report(Code::DisplayLimit, format!("{name} accepts at most {most} bytes, the file has {bytes}"));
    }
    if bytes > LARGE {
        let message = format!("the file has {bytes} bytes, and some displays refuse more than 20 MB");
        checker.report(Code::RxFileLarge, message);
    }
}

/// The names of the files, or why they are unknown, their size, and whether they are in a zip.
struct Listing {
    names: std::result::Result<Vec<String>, &'static str>,
    bytes: u64,
    is_zip: bool,
}

fn list(source: &Source) -> Result<Listing> {
    let of_zip = |content: &bytes::Bytes| Listing {
        names: listed_names(content)
            .map(|names| names.iter().map(|name| plain(name)).collect())
            .ok_or_else(|| why_unreadable(content)),
        bytes: content.len() as u64,
        is_zip: true,
    };
    let path = match source {
        Source::Bytes(content) => return Ok(of_zip(content)),
        Source::Path(path) => path,
    };
    let failed = |cause: std::io::Error| Error::file("read", path, &cause);
    let is_folder = std::fs::metadata(path).map_err(failed)?.is_dir();
    let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if !is_folder && !NEEDED.contains(&extension.as_str()) {
        return Ok(of_zip(&std::fs::read(path).map_err(failed)?.into()));
    }
    let folder = if is_folder { path.as_path() } else { path.parent().unwrap_or(Path::new(".")) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut found = Vec::new();
    walk(folder, "", if is_folder { MAX_DEPTH } else { 0 }, &mut found).map_err(failed)?;
    if !is_folder {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        found.retain(|(name, _)| name.rsplit_once('.').is_some_and(|(other, _)| other.eq_ignore_ascii_case(&stem)));
    }
    found.sort();
    let bytes = found.iter().map(|(_, size)| size).sum();
    Ok(Listing { names: Ok(found.into_iter().map(|(name, _)| name).collect()), bytes, is_zip: false })
}

/// What is wrong with a file that is no zip.
fn why_unreadable(content: &[u8]) -> &'static str {
    match content {
        [] => "the file is empty; write it again",
        [b'P', b'K', ..] => "the zip cannot be read; it is cut short or damaged, so write it again",
        _ => {
            "the file is no zip; a prescription is a shapefile (.shp, .shx, .dbf), in a zip or a folder. `Prescription` \
             writes one from zones of other formats, and a `GeoDataFrame` of them can be checked"
        }
    }
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<(String, u64)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let metadata = entry.metadata()?;
        if metadata.is_file() {
            found.push((name, metadata.len()));
        } else if metadata.is_dir() && depth > 0 {
            walk(&entry.path(), &format!("{name}/"), depth - 1, found)?;
        }
    }
    Ok(())
}

fn plain(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// Whether a file is one that macOS adds to zips.
fn is_of_system(name: &str) -> bool {
    name.split('/').any(|part| part.eq_ignore_ascii_case("__MACOSX") || part.starts_with("._"))
}

/// Checks that there is one complete shapefile. Returns whether there is one to read.
fn check_set(checker: &mut Checker<'_>, names: &[String]) -> bool {
    // Stems in lower case, since the case of letters is no matter to displays.
    let mut sets: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut foreign: Vec<(String, &String)> = Vec::new();
    for name in names.iter().filter(|name| !is_of_system(name)) {
        let Some((stem, extension)) = name.rsplit_once('.') else { continue };
        let extension = extension.to_ascii_lowercase();
        if NEEDED.contains(&extension.as_str()) {
            let set = sets.entry(stem.to_lowercase()).or_insert_with(|| (stem.to_owned(), Vec::new()));
            set.1.push(extension);
        } else if COMPANIONS.contains(&extension.as_str()) {
            foreign.push((stem.to_lowercase(), name));
        }
    }
    let several = sets.values().filter(|(_, found)| found.iter().any(|extension| extension == "shp")).count();
    let stems: Vec<String> = sets.values().map(|(stem, _)| format!("`{stem}`")).collect();
    if several == 0 {
        let message = "there is no .shp file; a prescription is one shapefile (.shp, .shx, .dbf)";
        checker.report(Code::RxFileMissing, message);
        return false;
    }
    if sets.len() > 1 {
        let message = format!(
            "there are files of {} shapefiles: {}; write each prescription to its own zip",
            sets.len(),
            stems.join(", ")
        );
        checker.report(Code::RxNotOneSet, message);
    }
    for (stem, found) in sets.values() {
        if !found.iter().any(|extension| extension == "shp") {
            continue;
        }
        for extension in NEEDED {
            let count = found.iter().filter(|known| *known == extension).count();
            if count == 0 {
                let message = format!("`{stem}.{extension}` is missing; displays need .shp, .shx and .dbf");
                checker.report(Code::RxFileMissing, message);
            } else if count > 1 {
                let message = format!("there are {count} files `{stem}.{extension}`; remove all but one");
                checker.report(Code::RxNotOneSet, message);
            }
        }
        check_name(checker, stem.rsplit('/').next().unwrap_or(stem));
    }
    let known: BTreeSet<&String> = sets.keys().collect();
    if let Some((_, name)) = foreign.iter().find(|(stem, _)| !known.contains(stem)) {
        let message = format!("`{name}` does not belong to the shapefile {}; remove it", stems.join(", "));
        checker.push(Diagnostic::new(Code::RxNotOneSet, message).in_member(name));
    }
    sets.values().all(|(_, found)| found.iter().collect::<BTreeSet<_>>().len() == found.len()) && sets.len() == 1
}

fn check_name(checker: &mut Checker<'_>, stem: &str) {
    let length = stem.chars().count();
    if length > LONGEST_NAME {
        let message = format!("`{stem}` has {length} characters, and displays cut or refuse more than {LONGEST_NAME}");
        checker.report(Code::RxNameLong, message);
    }
    if !stem.is_ascii() {
        let message = format!("`{stem}` has characters that are not ASCII, which displays replace or refuse");
        checker.report(Code::RxNameNotAscii, message);
    }
    if let Some(display) = checker.display.filter(|display| display.has_short_names) {
        let is_short = stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if length > SHORT_NAME || !is_short {
            let message = format!("{} accepts names of {SHORT_NAME} letters and digits, got `{stem}`", display.name);
            checker.report(Code::DisplayLimit, message);
        }
    }
}

/// Reads the layer, however damaged, and reports what a display would refuse or misread.
fn read(source: &Source, checker: &mut Checker<'_>) -> Option<Layer> {
    let options = ReadOptions { strict: false, ..ReadOptions::default() };
    match layer::read(source, &options) {
        Ok(layer) => {
            let is_damaged = layer.diagnostics().iter().any(|found| found.code == Code::ShxDamaged);
            // A damaged index is ignored by the reader, as if there were none.
            for found in layer.diagnostics().iter().filter(|found| !is_damaged || found.code != Code::NoShx) {
                report(checker, found);
            }
            Some(layer)
        }
        Err(error) => {
            let mut diagnostic = Diagnostic::new(Code::UnreadableMember, error.message().into_owned());
            diagnostic.member.clone_from(&error.facts().member);
            checker.push(diagnostic);
            None
        }
    }
}

/// Passes on what the reader found, if it matters to a display.
fn report(checker: &mut Checker<'_>, found: &Diagnostic) {
    match found.code {
        Code::OpenRing | Code::ShortPart | Code::NoDataRing | Code::EntangledRings | Code::PartStart => {
            let message = format!("{}; displays refuse such rings", found.message);
            checker.push(Diagnostic { code: Code::RxInvalidRing, message, ..found.clone() });
        }
        Code::RingDirection => {
            let message = format!("{}; a display may take them for holes, where it applies nothing", found.message);
            checker.push(Diagnostic { code: Code::RxInvalidRing, message, ..found.clone() });
        }
        Code::NoShx => {
            let message = "the .shx is empty or missing; displays need .shp, .shx and .dbf";
            if !checker.has(Code::RxFileMissing) {
                checker.report(Code::RxFileMissing, message);
            }
        }
        Code::ShxDamaged => {
            let message = "the .shx is damaged, and displays find the shapes by it; write the files again";
            checker.push(Diagnostic { message: message.to_owned(), ..found.clone() });
        }
        Code::OutOfOrder => {
            let message = "the .shx has the shapes in another order than the .shp; displays that read the .shp only apply \
                           the rates of other zones, so write the files again";
            checker.push(Diagnostic { code: Code::RxOutOfOrder, message: message.to_owned(), ..found.clone() });
        }
        Code::NoDataCoordinate => {
            let message = format!("{}; displays expect degrees", found.message);
            checker.push(Diagnostic { code: Code::RxOutsideDegrees, message, ..found.clone() });
        }
        Code::DeletedRows => {
            let message = format!(
                "{} by the check (first: record {}); displays that ignore the mark apply their rates, so write the file \
                 without them",
                found.message,
                found.record.unwrap_or_default()
            );
            checker.push(Diagnostic { code: Code::RxDeletedRows, message, ..found.clone() });
        }
        code if found.severity() != Severity::Info && !is_of_column(code) && !is_checked(code) => {
            checker.push(found.clone());
        }
        _ => {}
    }
}

/// Whether a diagnostic is about names and cells of columns, or about their units. Those of the rates are found with the
/// rates; displays do not read the others.
fn is_of_column(code: Code) -> bool {
    matches!(
        code,
        Code::UnnamedColumn
            | Code::NameCut
            | Code::ControlInName
            | Code::DuplicateColumn
            | Code::Memo
            | Code::UnknownType
            | Code::BadNumber
            | Code::BadDate
            | Code::BadLogical
            | Code::LogicalDigit
            | Code::AmbiguousDate
            | Code::DayFirst
            | Code::IntegerWithDecimals
            | Code::DigitsLost
            | Code::AfterNul
            | Code::TextRecoded
            | Code::Utf8DeclaredAnsi
            | Code::TextLost
            | Code::Latin1
            | Code::CpgIgnored
            | Code::CpgHabit
            | Code::MetadataIgnored
            | Code::UnitsByCutName
    )
}

/// Whether the check has a finding of its own for what a diagnostic reports: files of the set, Z and M, the system.
fn is_checked(code: Code) -> bool {
    matches!(
        code,
        Code::DuplicateMember
            | Code::RefusedName
            | Code::RefusedLink
            | Code::MoreMembers
            | Code::NestedArchive
            | Code::NoDbf
            | Code::CrsUnknown
            | Code::CrsWithoutProjjson
            | Code::NoDataZ
            | Code::MissingZ
    )
}
