//! Checks and repairs the links to the published generation: `current`, `dataset` and `catalog`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::archive_store::{Finding, Problem};
use super::fs::{file_name, fs_error};
use super::layout::{Folder, Generation};
use headland_base::error::{Error, Kind, Result};

/// Link to the published generation.
const CURRENT: &str = "current";

/// Links through `current` to its folders.
const FOLDER_LINKS: [&str; 2] = ["dataset", "catalog"];

/// Advice of each finding.
const SYNC_ADVICE: &str = "sync again to repair it";

impl Folder {
    /// The published generation; `None` if `current` is missing or points to no generation of this folder.
    pub fn current(&self) -> Result<Option<Generation>> {
        let Some(target) = read_target(&self.path().join(CURRENT))? else { return Ok(None) };
        let path = self.path().join(target);
        let is_ours = path.parent() == Some(&self.path().join("generations")) && path.is_dir();
        let number = file_name(&path).and_then(|name| name.parse().ok()).filter(|_| is_ours);
        Ok(number.map(|number| Generation { number, path }))
    }

    /// Missing or wrong links of `dataset` and `catalog`; none before the first generation.
    pub(super) fn broken_links(&self) -> Result<Vec<Finding>> {
        if self.newest()?.is_none() {
            return Ok(Vec::new());
        }
        let check = |name: &str| {
            let path = self.path().join(name);
            let expected = Path::new(CURRENT).join(name);
            let (problem, detail) = match read_target(&path) {
                Ok(Some(found)) if found == expected => return None,
                Ok(Some(found)) => (Problem::Damaged, format!("it points to `{}`; {SYNC_ADVICE}", found.display())),
                Ok(None) => (Problem::Missing, format!("readers need it to find the published state; {SYNC_ADVICE}")),
                Err(_) => (
                    Problem::Damaged,
                    "it is not the link that headland creates; move it away and sync again".to_owned(),
                ),
            };
            Some(Finding { problem, path, detail })
        };
        Ok(FOLDER_LINKS.into_iter().filter_map(check).collect())
    }

    /// Creates missing or wrong links. A kill during a publication, a copy of the mirror, or a user may have removed
    /// them.
    ///
    /// A folder in place of a link is an error, since it may hold data of the user.
    pub(super) fn repair_links(&self) -> Result<()> {
        if self.current()?.is_none() {
            let Some(newest) = self.newest()? else { return Ok(()) };
            self.point_to(&newest.path)?;
        }
        self.repair_folder_links()
    }

    /// Creates `dataset` and `catalog` if they are missing or wrong.
    pub(super) fn repair_folder_links(&self) -> Result<()> {
        for name in FOLDER_LINKS {
            let (path, expected) = (self.path().join(name), Path::new(CURRENT).join(name));
            if read_target(&path)?.as_ref() != Some(&expected) {
                self.disk().swap_link(&expected, &path)?;
            }
        }
        Ok(())
    }

    /// Points `current` to a generation.
    pub(super) fn point_to(&self, generation: &Path) -> Result<()> {
        let name = generation.file_name().unwrap_or_default();
        self.disk().swap_link(&Path::new("generations").join(name), &self.path().join(CURRENT))
    }
}

/// Target of a link; `None` if it does not exist, an error if it is no link.
fn read_target(link: &Path) -> Result<Option<PathBuf>> {
    match fs::read_link(link) {
        Ok(target) => Ok(Some(target)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(_) if !link.is_symlink() => {
            let message = format!(
                "cannot use the mirror: `{}` is not the link that headland creates there; move it away and rerun",
                link.display()
            );
            Err(Error::new(Kind::File, message))
        }
        Err(cause) => Err(fs_error("read the link", link, &cause)),
    }
}
