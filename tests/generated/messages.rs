//! Prints every text of errors, diagnostics and advice in the code, to be read as a whole (`make messages`).

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files whose texts are documentation or data.
const NO_MESSAGES: &[&str] = &["src/api", "src/sandbox/fields", "python/headland/demo"];

/// Texts with fewer words are parts of others, names or formats.
const LEAST_WORDS: usize = 4;

#[test]
#[ignore = "prints what `make messages` shows"]
fn print_messages() {
    println!("{}", text());
}

fn text() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for (folder, extension) in [("src", "rs"), ("python/headland", "py")] {
        collect(&root.join(folder), extension, &mut paths);
    }
    let mut paths: Vec<String> = paths
        .iter()
        .map(|path| path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"))
        .filter(|path| !NO_MESSAGES.iter().any(|folder| path.starts_with(folder)) && !path.ends_with("/tests.rs"))
        .collect();
    paths.sort_unstable();
    let mut text =
        "Texts with a `{name}` are completed when they are shown. Parts of one message may be rows of their own.\n\n"
            .to_owned();
    for path in paths {
        let code = fs::read_to_string(root.join(&path)).unwrap();
        let is_rust = Path::new(&path).extension().is_some_and(|extension| extension == "rs");
        let literals = if is_rust { rust_literals(&code) } else { python_literals(&code) };
        let messages: Vec<String> = literals.into_iter().filter(|literal| is_message(literal)).collect();
        if !messages.is_empty() {
            let rows: String = messages.iter().map(|message| format!("- {message}\n")).collect();
            text.push_str(&format!("## {path}\n\n{rows}\n"));
        }
    }
    text
}

fn collect(folder: &Path, extension: &str, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, extension, paths);
        } else if path.extension().is_some_and(|known| known == extension) {
            paths.push(path);
        }
    }
}

/// Whether a text is a sentence, not SQL, markup or a format.
fn is_message(text: &str) -> bool {
    const OTHERS: &[&str] = &["SELECT", "INSERT", "CREATE", "DELETE", "UPDATE", "PRAGMA", "WITH", "DROP", "ALTER", "<"];
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_lowercase)).count();
    words >= LEAST_WORDS && !OTHERS.iter().any(|start| text.starts_with(start)) && !text.contains('\n')
}

/// The string literals of a Rust file, without attributes, comments and the unit tests at its end.
fn rust_literals(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut literals = Vec::new();
    let mut rest = code;
    while let Some(next) = rest.find(['"', '/', '\'', '#']) {
        let (_, from) = rest.split_at(next);
        rest = if from.starts_with("//") {
            from.split_once('\n').map_or("", |(_, after)| after)
        } else if from.starts_with("#[") || from.starts_with("#![") {
            // Attributes here hold no bracket in their texts.
            from.split_once("]\n").map_or("", |(_, after)| after)
        } else if let Some(raw) = from.strip_prefix("#\"") {
            raw.split_once("\"#").map_or("", |(_, after)| after)
        } else if from.starts_with("'\"'") || from.starts_with("'\\\"'") {
            from.get(3..).unwrap_or_default().trim_start_matches('\'')
        } else if let Some(inside) = from.strip_prefix('"') {
            let end = closing_quote(inside);
            let (literal, after) = inside.split_at(end);
            literals.push(joined(literal));
            after.get(1..).unwrap_or_default()
        } else {
            from.get(1..).unwrap_or_default()
        };
    }
    literals
}

/// The position of the quote that ends a literal.
fn closing_quote(inside: &str) -> usize {
    let mut is_escaped = false;
    for (position, sign) in inside.char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return position,
            _ => {}
        }
    }
    inside.len()
}

/// A literal with its continued lines in one and its quotes unescaped.
fn joined(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start()).replace("\\\"", "\"")
}

/// The string literals of a Python file, without docstrings and comments; literals next to each other are one.
fn python_literals(code: &str) -> Vec<String> {
    let mut literals: Vec<String> = Vec::new();
    let mut rest = code;
    let mut is_adjacent = false;
    while let Some(next) = rest.find(['"', '#', '\'']) {
        let (before, from) = rest.split_at(next);
        is_adjacent &= before.trim().is_empty() || before.trim() == "f";
        rest = if from.starts_with('#') {
            from.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(documentation) = from.strip_prefix("\"\"\"") {
            is_adjacent = false;
            documentation.split_once("\"\"\"").map_or("", |(_, after)| after)
        } else if let Some(inside) = from.strip_prefix('\'') {
            is_adjacent = false;
            inside.split_once('\'').map_or("", |(_, after)| after)
        } else {
            let inside = from.get(1..).unwrap_or_default();
            let (literal, after) = inside.split_at(closing_quote(inside));
            match literals.last_mut() {
                Some(last) if is_adjacent => last.push_str(literal),
                _ => literals.push(literal.to_owned()),
            }
            is_adjacent = true;
            after.get(1..).unwrap_or_default()
        };
    }
    literals
}
