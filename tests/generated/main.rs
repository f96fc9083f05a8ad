//! The Python files that are made from the table: written with `make generate`, and checked by this test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]
#![allow(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "a generator reads best as the text that it writes"
)]

mod methods;
mod records;
mod text;

use std::path::Path;

/// Each generated file and what it should hold.
fn files() -> [(&'static str, String); 2] {
    [("python/headland/groups.py", methods::groups()), ("python/headland/records.py", records::records())]
}

#[test]
fn generated_files_are_what_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = std::env::var_os("HEADLAND_GENERATE").is_some();
    let mut stale = Vec::new();
    for (name, expected) in files() {
        let path = root.join(name);
        if write {
            std::fs::write(&path, &expected).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != expected {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "{stale:?} differ from the table; run `make generate` and commit what it writes");
}
