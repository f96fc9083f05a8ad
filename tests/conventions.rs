//! Checks conventions of the source files: direction of imports, use of pyo3, length and first line of files, wording.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects by unwrapping"
)]

#[path = "conventions/imports.rs"]
mod imports;

use std::path::{Path, PathBuf};

/// The crates in `src`, in the order of the data flow, with the modules that a crate has in an order of its own. The
/// compiler refuses imports against the order of crates, and this test those against the order of modules.
const CRATES: &[(&str, &[&str])] = &[
    ("base", &["error_numbers", "error", "secret", "clock", "hex", "names", "part_file", "times"]),
    ("api", &[]),
    ("wire", &[]),
    ("reader", &["archive", "layer"]),
    ("agronomy", &[]),
    ("prescription", &[]),
    ("client", &["signing", "limiter", "transport"]),
    ("mirror", &[]),
    ("sandbox", &[]),
    ("python", &[]),
];

/// Permitted entries of the top level, in addition to hidden files.
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
    "CITATION.cff",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "clippy.toml",
    "rustfmt.toml",
    "target",
    "demo",
    "dist",
];

/// Largest number of lines of a file.
const MAX_LINES: usize = 400;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder with an extension: paths from the root, and texts.
fn files(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let found = find_files(folder, extension);
    assert!(!found.is_empty(), "no .{extension} file in {folder}");
    found
}

fn find_files(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
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
    found.sort();
    found
}

/// The files of a crate, with paths that begin with `src`, as those of a package.
fn files_of(name: &str) -> Vec<(PathBuf, String)> {
    let folder = format!("src/{name}");
    let own = |path: PathBuf| Path::new("src").join(path.strip_prefix(&folder).unwrap());
    files(&folder, "rs").into_iter().map(|(path, text)| (own(path), text)).collect()
}

#[test]
fn imports_follow_the_data_flow() {
    for (crate_name, modules) in CRATES {
        let place = |name: &str| modules.iter().position(|module| *module == name).unwrap_or(modules.len());
        for (path, text) in files_of(crate_name) {
            let first = path.iter().nth(1).unwrap().to_string_lossy().into_owned();
            let own = place(first.trim_end_matches(".rs"));
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                for used in line.split("crate::").skip(1) {
                    let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    assert!(
                        place(&name) <= own,
                        "{crate_name}: {}:{}: comes before `{name}` and must not use it",
                        path.display(),
                        number + 1
                    );
                }
            }
        }
    }
}

#[test]
fn files_do_not_import_each_other() {
    for (name, _) in CRATES {
        let found = imports::cycles(&files_of(name));
        assert!(
            found.is_empty(),
            "{name}: move the items that both need to a file of their own:\n{}",
            found.join("\n\n")
        );
    }
}

#[test]
fn only_the_python_module_uses_pyo3() {
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
fn every_file_states_its_purpose_and_is_short() {
    for (path, text) in ["src", "tests", "benches"].iter().flat_map(|folder| files(folder, "rs")) {
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("//! ") && first.len() > 20,
            "{}: the first line must state the purpose of the file",
            path.display()
        );
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines: split it by its reasons to change", path.display());
    }
    for (path, text) in files("python", "py") {
        let generated = text.starts_with("# Generated from the table");
        let first = text.lines().nth(usize::from(generated)).unwrap_or_default();
        assert!(first.starts_with("\"\"\""), "{}: the first line must state the purpose of the file", path.display());
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn top_level_has_only_permitted_entries() {
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(
            name.starts_with('.') || TOP_LEVEL.contains(&name.as_str()),
            "`{name}` is not permitted at the top level"
        );
    }
}

#[test]
fn files_name_no_local_path_and_no_open_task() {
    // Written in two parts so that this file does not contain them.
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

#[test]
fn files_contain_no_forbidden_phrase() {
    // Written in two parts so that this file does not contain them.
    let phrases = [
        concat!("to be ", "had"),
        concat!("no", "body"),
        concat!("who", "ever"),
        concat!("what", "ever"),
        concat!("side by ", "side"),
        concat!("hand ", "over"),
        concat!("put ", "aside"),
        concat!("goes ", "on"),
        concat!("tells ", "of"),
        concat!("to", "ld"),
    ];
    let kinds =
        ["src", "python", "tests"].into_iter().flat_map(|folder| ["rs", "py", "pyi"].map(|kind| (folder, kind)));
    let mut found = Vec::new();
    for (path, text) in kinds.flat_map(|(folder, extension)| find_files(folder, extension)) {
        let lines: Vec<String> = text.lines().map(str::to_lowercase).collect();
        for (number, line) in lines.iter().enumerate() {
            let next = lines.get(number + 1).map_or("", |next| next.trim_start_matches(['/', '!', '#', ' ']));
            let forbidden = phrases.iter().filter(|phrase| has_phrase(line, next, phrase));
            found.extend(forbidden.map(|phrase| format!("{}:{}: `{phrase}`", path.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "use the standard term:\n{}", found.join("\n"));
}

/// Whether a phrase of whole words begins in a line; it may end in the next one.
fn has_phrase(line: &str, next: &str, phrase: &str) -> bool {
    let text = format!("{} {next}", line.trim_end());
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(phrase).any(|(start, _)| {
        let is_whole = !text[..start].ends_with(is_word) && !text[start + phrase.len()..].starts_with(is_word);
        start < line.len() && is_whole
    })
}
