//! Opens sources: the only file of this module that opens files and lists folders.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::diagnostic::Diagnostic;
use super::diagnostic_code::Code;
use super::fmis;
use super::grain_cart::is_grc;
use super::limits::Limits;
use super::member::{Body, Member};
use super::member_names;
use super::read_at::{LazyFile, ReadAt, read_exact_at};
use super::sniff::{describe_bytes, is_xml};
use super::zip;
use headland_base::error::{Error, Kind, Result};

/// Largest size of a nested archive, which is read into memory.
const MAX_NESTED_SIZE: u64 = 256 << 20;

/// Bytes of a source that are read to recognise its format.
const HEAD_SIZE: u64 = 16 << 10;

/// The name of a grain cart file without a name.
const UNNAMED_CART: &str = "grain_cart.grc";

/// Bytes of all nested archives together, in addition to a multiple of the outer size. They are kept in memory.
/// Archives deflate little unless they are stored or are zip bombs.
const NESTED_BASE_SIZE: u64 = 64 << 20;
const NESTED_RATIO: u64 = 16;

/// Most nested archives that a diagnostic lists; the others are counted.
const MAX_LISTED: usize = 10;

/// Most levels of folders that are searched.
const MAX_DEPTH: usize = 8;

/// A source of members.
#[derive(Clone, Debug)]
pub enum Source {
    /// A zip, a folder, one file of a shapefile or of an FMIS folder with its siblings, or a grain cart file.
    Path(PathBuf),
    /// A zip or a grain cart file in memory.
    Bytes(Bytes),
}

impl Source {
    /// The path, or `bytes`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Bytes(_) => "bytes".to_owned(),
        }
    }

    /// The candidates for an XML document: the source itself if it is a single file and not a zip, else its members.
    pub(super) fn documents(&self, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Result<Vec<Member>> {
        let (store, name): (Arc<dyn ReadAt>, String) = match self {
            Self::Bytes(bytes) => (Arc::new(bytes.clone()), self.name()),
            Self::Path(path) if path.is_dir() => return self.members(limits, true, diagnostics),
            Self::Path(path) => {
                file_or_folder(path)?;
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                (Arc::new(LazyFile::new(path)), name)
            }
        };
        let size = store.size().map_err(|cause| match self {
            Self::Path(path) => Error::file("read", path, &cause),
            Self::Bytes(_) => Error::new(Kind::Archive, format!("cannot be read: {cause}")),
        })?;
        let first = read_exact_at(&store, 0, size.min(HEAD_SIZE)).unwrap_or_default();
        let found = if is_xml(&first) { None } else { zip::members(&store, &self.name(), limits, true, diagnostics)? };
        match found {
            Some(members) => {
                let is_document = |member: &Member| member.stem_and_ending().1 == "xml";
                expand_nested(members, limits.nesting, nested_budget(&store), limits, true, diagnostics, &is_document)
            }
            None if is_xml(&first) => Ok(vec![Member::new(name, size, Body::Plain { store, offset: 0, crc: None })]),
            None => Err(Error::new(
                Kind::Archive,
                format!("`{}` is not an XML document: {}", self.name(), describe_bytes(&first)),
            )),
        }
    }

    /// Whether it is a folder, regardless of its name.
    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Self::Path(path) if path.is_dir())
    }

    /// Whether a member is the source itself and not one of its members.
    pub(super) fn is_file_of(&self, member: &Member) -> bool {
        match self {
            Self::Bytes(_) => member.name() == self.name(),
            // The name is compared first, since an archive may have thousands of members and `is_file` is a system
            // call.
            Self::Path(path) => path.file_name().is_some_and(|name| *name == *member.name()) && path.is_file(),
        }
    }

    /// Its members. Refused members are added to `diagnostics`.
    pub(super) fn members(
        &self,
        limits: &Limits,
        is_strict: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Member>> {
        match self {
            Self::Bytes(bytes) => {
                let store: Arc<dyn ReadAt> = Arc::new(bytes.clone());
                read_archive(&store, &self.name(), UNNAMED_CART, limits, is_strict, diagnostics)
            }
            Self::Path(path) => {
                if file_or_folder(path)?.is_dir() {
                    let mut members = Vec::new();
                    list_folder(path, "", MAX_DEPTH, limits, diagnostics, &mut members)?;
                    if members.iter().any(is_layer) {
                        report_skipped(&members, diagnostics);
                    }
                    return Ok(members);
                }
                if extension(path)
                    .is_some_and(|ending| matches!(&*ending, "shp" | "shx" | "dbf" | "prj" | "cpg" | "cst"))
                {
                    return list_siblings(path, same_stem(path), limits, diagnostics);
                }
                if let Some(is_sibling) = fmis::sibling_filter(path) {
                    return list_siblings(path, is_sibling, limits, diagnostics);
                }
                let store: Arc<dyn ReadAt> = Arc::new(LazyFile::new(path));
                // A file that cannot be opened is an error of the file and not of an archive.
                store.size().map_err(|cause| Error::file("read", path, &cause))?;
                let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                read_archive(&store, &self.name(), &file_name, limits, is_strict, diagnostics)
            }
        }
    }
}

/// Metadata of a file or a folder. Other files cannot be read at an offset, and a device may have no end.
fn file_or_folder(path: &Path) -> Result<Metadata> {
    let meta = std::fs::metadata(path).map_err(|cause| Error::file("read", path, &cause))?;
    if meta.is_file() || meta.is_dir() {
        return Ok(meta);
    }
    let name = path.display();
    let message = format!(
        "`{name}` is a device, a pipe or a socket, not a regular file or folder: pass the path of a file, or its bytes"
    );
    Err(Error::new(Kind::Archive, message))
}

fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

fn read_archive(
    store: &Arc<dyn ReadAt>,
    name: &str,
    file_name: &str,
    limits: &Limits,
    is_strict: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Member>> {
    let Some(members) = zip::members(store, name, limits, is_strict, diagnostics)? else {
        let size = store.size().unwrap_or(0);
        let first = read_exact_at(store, 0, size.min(HEAD_SIZE)).unwrap_or_default();
        let has_cart_extension = extension(Path::new(file_name)).is_some_and(|ending| ending == "grc");
        if is_grc(&first) || (has_cart_extension && file_name != UNNAMED_CART) {
            let cart_name = if has_cart_extension { file_name.to_owned() } else { format!("{file_name}.grc") };
            let body = match limits.check_size(size) {
                Ok(()) => Body::Plain { store: Arc::clone(store), offset: 0, crc: None },
                Err(reason) => Body::Refused(reason),
            };
            return Ok(vec![Member::new(cart_name, size, body)]);
        }
        return Err(Error::for_source(
            Kind::Archive,
            name,
            format!("is not a zip archive: {}", describe_bytes(&first)),
        ));
    };
    expand_nested(members, limits.nesting, nested_budget(store), limits, is_strict, diagnostics, &is_layer)
}

/// Whether a member is a layer, or defines one.
fn is_layer(member: &Member) -> bool {
    matches!(&*member.stem_and_ending().1, "shp" | "dbf" | "grc") || fmis::is_layout(member)
}

/// Reports archives that are not read because there are layers next to them.
fn report_skipped(members: &[Member], diagnostics: &mut Vec<Diagnostic>) {
    let archives = members.iter().filter(|member| member.stem_and_ending().1 == "zip");
    let archives: Vec<&str> = archives.map(Member::name).collect();
    let Some(first) = archives.first() else { return };
    let listed: Vec<String> = archives.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = match archives.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "archives next to the layers were not read: {}{more}; to read them, unpack them and open each one separately",
        listed.join(", ")
    );
    diagnostics.push(Diagnostic::new(Code::NestedArchive, message).in_member(first));
}

/// Bytes that all archives inside this one may have together.
fn nested_budget(store: &Arc<dyn ReadAt>) -> u64 {
    NESTED_BASE_SIZE.saturating_add(store.size().unwrap_or(0).saturating_mul(NESTED_RATIO))
}

/// Replaces nested archives by their members if no member of the archive itself `is_wanted`.
fn expand_nested(
    members: Vec<Member>,
    nesting: usize,
    budget: u64,
    limits: &Limits,
    is_strict: bool,
    diagnostics: &mut Vec<Diagnostic>,
    is_wanted: &dyn Fn(&Member) -> bool,
) -> Result<Vec<Member>> {
    let has_wanted = members.iter().any(is_wanted);
    if has_wanted {
        report_skipped(&members, diagnostics);
    }
    if !has_wanted
        && nesting == 0
        && let Some(inner) = members.iter().find(|member| member.stem_and_ending().1 == "zip")
    {
        let message = format!(
            "archives inside archives are read to a depth of {}; if you trust it, raise Limits(nesting=...)",
            limits.nesting
        );
        diagnostics.push(Diagnostic::new(Code::NestedArchive, message).in_member(inner.name()));
    }
    if has_wanted || nesting == 0 {
        return Ok(members);
    }
    let mut all = Vec::new();
    let mut used = 0_u64;
    for member in members {
        if member.stem_and_ending().1 == "zip" {
            used = used.saturating_add(member.size());
            if used > budget {
                return Err(member.fault(format!("the archives inside it exceed {budget} bytes: unpack it")));
            }
            let found = member.read_all(limits.bytes.min(MAX_NESTED_SIZE)).and_then(|bytes| {
                let store: Arc<dyn ReadAt> = Arc::new(Bytes::from(bytes));
                zip::members(&store, member.name(), limits, is_strict, diagnostics)
            });
            let inner = match found {
                // The other archives may be readable.
                Err(error) if !is_strict && !error.lacks_memory() => {
                    let message = format!("an archive inside the archive could not be read: {error}");
                    diagnostics.push(Diagnostic::new(Code::UnreadableMember, message).in_member(member.name()));
                    Vec::new()
                }
                found => found?.unwrap_or_default(),
            };
            let budget = budget.saturating_sub(used);
            let inner = expand_nested(inner, nesting - 1, budget, limits, is_strict, diagnostics, is_wanted)?;
            all.extend(inner.into_iter().map(|inner| inner.prefix_with(member.name())));
        }
        all.push(member);
        if all.len() > limits.members {
            let message =
                format!("it has more than {} members; if you trust it, raise Limits(members=...)", limits.members);
            return Err(Error::new(Kind::Archive, message));
        }
    }
    Ok(all)
}

/// Lists the files of a folder and its subfolders in order of name. Links are not followed.
fn list_folder(
    path: &Path,
    prefix: &str,
    depth: usize,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
    members: &mut Vec<Member>,
) -> Result<()> {
    let mut entries = std::fs::read_dir(path)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .map_err(|cause| Error::file("list", path, &cause))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().map_err(|cause| Error::file("read", &entry.path(), &cause))?;
        if member_names::is_resource_fork(&name) {
            continue;
        }
        if kind.is_symlink() {
            diagnostics.push(
                Diagnostic::new(Code::RefusedLink, "a symbolic link was left out: links are not followed")
                    .in_member(&name),
            );
        } else if kind.is_dir() {
            if depth > 0 {
                list_folder(&entry.path(), &format!("{name}/"), depth - 1, limits, diagnostics, members)?;
            }
        } else if kind.is_file() {
            members.push(file_member(&entry.path(), name, limits, diagnostics)?);
            if members.len() > limits.members {
                let message = format!(
                    "`{}` contains more than {} files; if you trust it, raise Limits(members=...)",
                    path.display(),
                    limits.members
                );
                return Err(Error::new(Kind::Archive, message));
            }
        }
    }
    Ok(())
}

/// Whether a file next to `path` has its stem, in any letter case, or is a sidecar of that stem.
fn same_stem(path: &Path) -> impl Fn(&str) -> bool + use<> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    move |other: &str| {
        let other = other.to_lowercase();
        let endings = ["-deere-metadata.json", ".shp.xml"];
        other.rsplit_once('.').is_some_and(|(other, _)| other == stem)
            || endings.iter().any(|ending| other.strip_suffix(ending) == Some(&*stem))
    }
}

/// Lists the files next to `path` that `belongs` accepts by name.
fn list_siblings(
    path: &Path,
    belongs: impl Fn(&str) -> bool,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Member>> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let exact_stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut found = Vec::new();
    let entries = std::fs::read_dir(parent)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .map_err(|cause| Error::file("list", parent, &cause))?;
    for entry in entries {
        let other = entry.path();
        let name = other.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if belongs(&name) && std::fs::metadata(&other).is_ok_and(|meta| meta.is_file()) {
            found.push((name, other));
        }
    }
    // The given file is first, then files with exactly its stem: they take precedence over other spellings.
    found.sort_by_key(|(name, other)| (other != path, !name.starts_with(&exact_stem), name.clone()));
    found.into_iter().map(|(name, path)| file_member(&path, name, limits, diagnostics)).collect()
}

/// A file as a member, within the limits, since a sparse file may have any size.
fn file_member(path: &Path, name: String, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Result<Member> {
    let size = std::fs::metadata(path).map_err(|cause| Error::file("read", path, &cause))?.len();
    let body = match limits.check_size(size) {
        Ok(()) => Body::Plain { store: Arc::new(LazyFile::new(path)), offset: 0, crc: None },
        Err(reason) => {
            if extension(path).is_some_and(|ending| member_names::is_layer_file(&ending)) {
                let message = [member_names::REFUSED_PREFIX, &*reason].concat();
                diagnostics.push(Diagnostic::new(Code::UnreadableMember, message).in_member(&name));
            }
            Body::Refused(reason)
        }
    };
    Ok(Member::new(name, size, body))
}
