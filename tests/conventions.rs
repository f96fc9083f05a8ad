//! The house rules that a machine can hold: the direction of imports, the home of pyo3, files with one reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]

#[path = "conventions/imports.rs"]
mod imports;

use std::path::{Path, PathBuf};

/// The rooms in the order data walks through them; a file imports only from its own room and those before it.
const ROOMS: &[&str] = &[
    "error",
    "secret",
    "clock",
    "part_file",
    "api",
    "openapi",
    "wire",
    "signing",
    "archive",
    "layer",
    "agronomy",
    "limiter",
    "transport",
    "client",
    "mirror",
    "sandbox",
    "python",
];

/// What may stand at the top level beside hidden files and what tools leave there.
const TOP_LEVEL: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "pyproject.toml",
    "src",
    "python",
    "tests",
    "notebooks",
    "benches",
    "README.md",
    "Makefile",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "clippy.toml",
    "rustfmt.toml",
    "target",
    "demo",
    "dist",
];

const LONGEST: usize = 400;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut queue = vec![root().join(folder)];
    while let Some(path) = queue.pop() {
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let hidden =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']) && path.is_dir());
            if path.is_dir() && !hidden {
                queue.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_owned(), text));
            }
        }
    }
    assert!(!found.is_empty(), "no .{extension} file in {folder}");
    found.sort();
    found
}

fn room_of(path: &Path) -> Option<usize> {
    let first = path.strip_prefix("src").ok()?.components().next()?;
    let name = first.as_os_str().to_str()?.trim_end_matches(".rs");
    ROOMS.iter().position(|room| *room == name)
}

#[test]
fn imports_point_back_along_the_flow_of_data() {
    for (path, text) in files("src", "rs") {
        let Some(own) = room_of(&path) else {
            assert!(path.ends_with("lib.rs"), "{} is in no room", path.display());
            continue;
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let Some(other) = ROOMS.iter().position(|room| *room == name) else { continue };
                assert!(
                    other <= own,
                    "{}:{}: `{}` comes before `{name}` and must not use it",
                    path.display(),
                    number + 1,
                    ROOMS[own]
                );
            }
        }
    }
}

#[test]
fn files_do_not_import_each_other_in_a_cycle() {
    let found = imports::cycles(&files("src", "rs"));
    assert!(found.is_empty(), "move what ties them to a file of its own:\n{}", found.join("\n\n"));
}

#[test]
fn only_the_python_room_names_pyo3() {
    for (path, text) in files("src", "rs") {
        if path.starts_with("src/python") {
            continue;
        }
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            assert!(!line.contains("pyo3"), "{}:{}", path.display(), number + 1);
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    for (path, text) in ["src", "tests", "benches"].iter().flat_map(|folder| files(folder, "rs")) {
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("//! ") && first.len() > 20,
            "{}: the first line says what it is for",
            path.display()
        );
        let lines = text.lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines; what are its two reasons to change?", path.display());
    }
    for (path, text) in files("python", "py") {
        let generated = text.starts_with("# Generated from the table");
        let first = text.lines().nth(usize::from(generated)).unwrap_or_default();
        assert!(first.starts_with("\"\"\""), "{}: the first line says what it is for", path.display());
        let lines = text.lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines", path.display());
    }
}

#[test]
fn nothing_else_stands_at_the_top_level() {
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(name.starts_with('.') || TOP_LEVEL.contains(&name.as_str()), "`{name}` has no place at the top level");
    }
}

#[test]
fn no_file_speaks_of_one_machine() {
    // Written in two parts so that this file does not name them itself.
    let marks = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("TO", "DO")];
    let mut texts: Vec<(PathBuf, String)> = ["src", "tests", "benches"].iter().flat_map(|f| files(f, "rs")).collect();
    texts.extend(files("python", "py"));
    for name in ["README.md", "Makefile", "CHANGELOG.md", "pyproject.toml", "Cargo.toml"] {
        texts.push((PathBuf::from(name), std::fs::read_to_string(root().join(name)).unwrap_or_default()));
    }
    for (path, text) in texts {
        for mark in marks {
            assert!(!text.contains(mark), "{} contains `{mark}`", path.display());
        }
    }
}
