//! Generates Python files and pages from the table: `make generate` writes them, and this test checks them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]
#![allow(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "a generator reads best as the text that it writes"
)]

mod command_line;
mod diagnostics;
mod docstrings;
mod messages;
mod method_imports;
mod methods;
mod records;
mod reference;
mod reference_records;
mod reference_tables;
mod text;

use std::path::{Path, PathBuf};

/// Each generated file, below `python`, and its expected content.
fn files() -> Vec<(String, String)> {
    let code = methods::groups().into_iter().chain(records::records()).chain([diagnostics::literals()]);
    let mut files: Vec<_> = code.map(|(name, text)| (format!("headland/{name}"), text)).collect();
    let pages = reference::pages().into_iter().chain([reference_records::page()]).chain(reference_tables::tables());
    let pages = pages.chain([diagnostics::table()]);
    files.extend(pages.map(|(name, text)| (format!("docs/{name}"), text)));
    files
}

/// Generated files that no longer belong to any group.
fn orphans(root: &Path) -> Vec<PathBuf> {
    let known: Vec<PathBuf> = files().into_iter().map(|(name, _)| root.join(name)).collect();
    ["headland/groups", "headland/records", "docs/reference", "docs/tables"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).into_iter().flatten())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !known.contains(path))
        .collect()
}

#[test]
fn generated_files_are_up_to_date() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    let write = std::env::var_os("HEADLAND_GENERATE").is_some();
    let mut stale = Vec::new();
    for (name, expected) in files() {
        let path = root.join(&name);
        if write {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &expected).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != expected {
            stale.push(name);
        }
    }
    let orphans = orphans(root);
    assert!(orphans.is_empty(), "{orphans:?} belong to no group of the table any more; remove them");
    assert!(stale.is_empty(), "{stale:?} differ from the table; run `make generate` and commit what it writes");
}
