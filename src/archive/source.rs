//! Where bytes come from: the one place of this room that opens files and lists folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::grc::is_grc;
use super::kind::looks_like;
use super::member::{Body, Member};
use super::names;
use super::note::Diagnostic;
use super::options::Limits;
use super::store::{LazyFile, ReadAt};
use super::zip;
use super::zip_directory::exact;
use crate::error::{Error, Kind, Result};

/// Bytes of an archive inside an archive, which has to be held in memory.
const NESTED: u64 = 256 << 20;

/// So much of a source that is no zip is looked at to tell what it is.
const HEAD: u64 = 16 << 10;

/// The name of a grain cart file that has none.
const UNNAMED_CART: &str = "grain_cart.grc";

/// Bytes of all archives inside an archive together.
const ALL_NESTED: u64 = 1 << 30;

/// How deep folders are searched.
const DEPTH: usize = 8;

/// Where bytes come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A zip, a folder, one file of a shapefile beside its siblings, or a grain cart file.
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

    /// What it holds, with what was refused noted.
    pub(super) fn members(&self, limits: &Limits, notes: &mut Vec<Diagnostic>) -> Result<Vec<Member>> {
        match self {
            Self::Bytes(bytes) => {
                let store: Arc<dyn ReadAt> = Arc::new(bytes.clone());
                archive(&store, &self.name(), UNNAMED_CART, limits, notes)
            }
            Self::Path(path) => {
                let meta = std::fs::metadata(path).map_err(|cause| Error::file("read", path, &cause))?;
                if meta.is_dir() {
                    let mut members = Vec::new();
                    folder(path, "", DEPTH, limits, notes, &mut members)?;
                    return Ok(members);
                }
                if ending(path).is_some_and(|ending| matches!(&*ending, "shp" | "shx" | "dbf" | "prj" | "cpg")) {
                    return siblings(path);
                }
                let store: Arc<dyn ReadAt> = Arc::new(LazyFile::new(path));
                // A file that cannot be opened at all is told as such, not as a broken archive.
                store.size().map_err(|cause| Error::file("read", path, &cause))?;
                let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                archive(&store, &self.name(), &file_name, limits, notes)
            }
        }
    }
}

fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

fn archive(
    store: &Arc<dyn ReadAt>,
    name: &str,
    file_name: &str,
    limits: &Limits,
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<Member>> {
    let Some(members) = zip::members(store, name, limits, notes)? else {
        let size = store.size().unwrap_or(0);
        let first = exact(store, 0, size.min(HEAD)).unwrap_or_default();
        let is_called_cart = ending(Path::new(file_name)).is_some_and(|ending| ending == "grc");
        if is_grc(&first) || (is_called_cart && file_name != UNNAMED_CART) {
            let called = if is_called_cart { file_name.to_owned() } else { format!("{file_name}.grc") };
            return Ok(vec![Member::new(called, size, Body::Plain { store: Arc::clone(store), offset: 0, crc: None })]);
        }
        let first = first.get(..first.len().min(1024)).unwrap_or_default();
        return Err(Error::new(Kind::Archive, format!("`{name}` is not a zip archive: {}", looks_like(first))));
    };
    nested(members, limits.nesting, limits, notes)
}

/// Members of archives inside the archive, where it holds no data itself.
fn nested(members: Vec<Member>, nesting: usize, limits: &Limits, notes: &mut Vec<Diagnostic>) -> Result<Vec<Member>> {
    let has_data = members.iter().any(|member| matches!(&*member.stem_and_ending().1, "shp" | "dbf" | "grc"));
    if has_data || nesting == 0 {
        return Ok(members);
    }
    let mut all = Vec::new();
    let mut held = 0_u64;
    for member in members {
        if member.stem_and_ending().1 == "zip" {
            held = held.saturating_add(member.size());
            if held > ALL_NESTED {
                return Err(
                    member.fault(format!("the archives inside it have more than {ALL_NESTED} bytes: unpack it"))
                );
            }
            let store: Arc<dyn ReadAt> = Arc::new(Bytes::from(member.read_all(limits.bytes.min(NESTED))?));
            let inner = zip::members(&store, member.name(), limits, notes)?.unwrap_or_default();
            let inner = nested(inner, nesting - 1, limits, notes)?;
            all.extend(inner.into_iter().map(|inner| inner.inside(member.name())));
        }
        all.push(member);
        if all.len() > limits.members {
            return Err(Error::new(Kind::Archive, format!("it has more than {} members", limits.members)));
        }
    }
    Ok(all)
}

/// Every file of a folder and its folders, in order of name; links are not followed.
fn folder(
    path: &Path,
    prefix: &str,
    depth: usize,
    limits: &Limits,
    notes: &mut Vec<Diagnostic>,
    members: &mut Vec<Member>,
) -> Result<()> {
    let mut entries = std::fs::read_dir(path)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .map_err(|cause| Error::file("list", path, &cause))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().map_err(|cause| Error::file("read", &entry.path(), &cause))?;
        if names::is_resource_fork(&name) {
            continue;
        }
        if kind.is_symlink() {
            notes.push(
                Diagnostic::new("refused-link", "a symbolic link is left out: links are not followed").in_member(&name),
            );
        } else if kind.is_dir() {
            if depth > 0 {
                folder(&entry.path(), &format!("{name}/"), depth - 1, limits, notes, members)?;
            }
        } else if kind.is_file() {
            members.push(file(&entry.path(), name)?);
            if members.len() > limits.members {
                let message = format!("`{}` holds more than {} files", path.display(), limits.members);
                return Err(Error::new(Kind::Archive, message));
            }
        }
    }
    Ok(())
}

/// The files beside `path` that share its stem, whatever the case of their letters.
fn siblings(path: &Path) -> Result<Vec<Member>> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stem_of = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let stem = stem_of(path).unwrap_or_default();
    let metadata = format!("{stem}-deere-metadata");
    let exact_stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut found = Vec::new();
    let entries = std::fs::read_dir(parent)
        .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
        .map_err(|cause| Error::file("list", parent, &cause))?;
    for entry in entries {
        let other = entry.path();
        let is_file = std::fs::metadata(&other).is_ok_and(|meta| meta.is_file());
        if is_file && stem_of(&other).is_some_and(|other| other == stem || other == metadata) {
            found.push((other.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(), other));
        }
    }
    // The file that was named comes first, then those with exactly its stem: they win over other spellings.
    found.sort_by_key(|(name, other)| (other != path, !name.starts_with(&exact_stem), name.clone()));
    found.into_iter().map(|(name, path)| file(&path, name)).collect()
}

fn file(path: &Path, name: String) -> Result<Member> {
    let size = std::fs::metadata(path).map_err(|cause| Error::file("read", path, &cause))?.len();
    Ok(Member::new(name, size, Body::Plain { store: Arc::new(LazyFile::new(path)), offset: 0, crc: None }))
}
