//! Reads the imports between source files as text, and finds files that import each other.
//!
//! A file imports from the file that defines an item. `pub use` forwards an item and is no import, unless the file uses
//! the item itself. Code under `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Keywords before the name of an item.
const ITEMS: &[&str] =
    &["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod", "macro_rules", "unsafe", "async"];

/// Largest number of re-exports that are followed; a longer chain is a cycle of `pub use`.
const DEEPEST: usize = 12;

/// The names from the root of the crate to a module or an item.
type Names = Vec<String>;

/// One name that a `use` brings into a file; `*` for all of a module.
struct Use {
    path: Names,
    name: String,
    is_public: bool,
}

/// Definitions and names in a file.
#[derive(Default)]
struct Source {
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths outside of `use`, including single names.
    paths: Vec<Names>,
}

/// Groups of files that import each other, each as the list of its imports.
pub(super) fn cycles(files: &[(PathBuf, String)]) -> Vec<String> {
    let named: BTreeMap<Names, &Path> = files.iter().map(|(path, _)| (module_of(path), path.as_path())).collect();
    let sources = Sources(files.iter().map(|(path, text)| (module_of(path), Source::read(text))).collect());
    let imports: BTreeMap<&Names, BTreeMap<Names, BTreeSet<String>>> =
        sources.0.keys().map(|module| (module, sources.imports(module))).collect();
    let reached = |from: &Names| {
        let (mut found, mut queue) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = queue.pop() {
            queue.extend(imports[&module].keys().filter(|next| found.insert((*next).clone())).cloned());
        }
        found
    };
    let reached: BTreeMap<&Names, BTreeSet<Names>> = imports.keys().map(|module| (*module, reached(module))).collect();
    let groups: BTreeSet<BTreeSet<&Names>> = imports
        .keys()
        .map(|module| reached[module].iter().filter(|other| reached[other].contains(*module)).collect())
        .collect();
    let describe = |group: &BTreeSet<&Names>| {
        let inside = group.iter().flat_map(|from| imports[*from].iter().map(move |(to, names)| (from, to, names)));
        let lines = inside
            .filter(|(_, to, _)| group.contains(to))
            .map(|(from, to, names)| format!("{} -> {}: {names:?}", named[*from].display(), named[to].display()));
        lines.collect::<Vec<_>>().join("\n")
    };
    groups.iter().filter(|group| !group.is_empty()).map(describe).collect()
}

/// The module of a file, as its names from the root of the crate.
fn module_of(path: &Path) -> Names {
    let path = path.strip_prefix("src").unwrap_or(path).with_extension("");
    let names: Names = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.into_iter().filter(|name| name != "mod" && name != "lib").collect()
}

/// The sources by their modules.
struct Sources(BTreeMap<Names, Source>);

impl Sources {
    /// The modules that a module imports from, with the names of the items.
    fn imports(&self, module: &Names) -> BTreeMap<Names, BTreeSet<String>> {
        let source = &self.0[module];
        let mut found: Vec<Names> = Vec::new();
        for path in &source.paths {
            let first = source.uses.iter().find(|used| used.name == path[0]);
            let expanded: Option<Names> = first.map(|used| used.path.iter().chain(&path[1..]).cloned().collect());
            found.extend(self.absolute(module, expanded.as_ref().unwrap_or(path)).filter(|_| path.len() > 1));
        }
        for used in &source.uses {
            let Some(path) = self.absolute(module, &used.path) else { continue };
            let named = source.paths.iter().map(|path| &path[0]);
            if used.name == "*" {
                found.extend(named.map(|name| path.iter().chain([name]).cloned().collect()));
            } else if !used.is_public || named.into_iter().any(|name| *name == used.name) {
                found.push(path);
            }
        }
        let mut imports: BTreeMap<Names, BTreeSet<String>> = BTreeMap::new();
        for (home, item) in found.iter().filter_map(|path| self.home(path, 0)).filter(|(home, _)| home != module) {
            imports.entry(home).or_default().insert(item);
        }
        imports
    }

    /// A path in a module as one from the root; `None` if it leaves the crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Names> {
        let mut base = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => module.to_vec(),
            first => {
                let child = [module, &[first.to_owned()]].concat();
                return self.0.contains_key(&child).then(|| [module, path].concat());
            }
        };
        let is_step = |name: &&String| matches!(name.as_str(), "crate" | "self" | "super");
        for _ in path.iter().take_while(is_step).filter(|name| *name == "super") {
            base.pop();
        }
        base.extend(path.iter().skip_while(is_step).cloned());
        Some(base)
    }

    /// The module that defines the item of a path, and its name there; `None` for a module.
    fn home(&self, path: &[String], depth: usize) -> Option<(Names, String)> {
        let inside = (0..=path.len()).rev().find(|end| self.0.contains_key(&path[..*end]))?;
        let (module, rest) = path.split_at(inside);
        let item = rest.first().filter(|_| depth < DEEPEST)?;
        let source = &self.0[module];
        if source.items.contains(item) {
            return Some((module.to_vec(), item.clone()));
        }
        let named = source.uses.iter().filter(|used| used.name == *item).map(|used| (used, &rest[1..]));
        let globs = source.uses.iter().filter(|used| used.name == "*").map(|used| (used, rest));
        named.chain(globs).find_map(|(used, rest)| {
            let before = self.absolute(module, &used.path)?;
            self.home(&[&before, rest].concat(), depth + 1)
        })
    }
}

impl Source {
    fn read(text: &str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut source = Self::default();
        let (mut at, mut depth) = (0, 0);
        while let Some(token) = tokens.get(at).copied() {
            let before = at.checked_sub(1).map_or("", |before| tokens[before]);
            let next = tokens.get(at + 1).copied().unwrap_or_default();
            if token == "use" && matches!(before, "" | ";" | "}" | "{" | "pub" | ")" | "]") {
                let mut names = Vec::new();
                at = read_use(&tokens, at + 1, &[], &mut names);
                let is_public = matches!(before, "pub" | ")");
                source.uses.extend(names.into_iter().map(|(path, name)| Use { path, name, is_public }));
                continue;
            }
            match token {
                "{" => depth += 1,
                "}" => depth -= 1,
                "mod" if tokens.get(at + 2) == Some(&";") => at += 2,
                _ if depth == 0 && ITEMS.contains(&token) => {
                    let name = if next == "!" { tokens.get(at + 2).copied().unwrap_or_default() } else { next };
                    source.items.insert(name.to_owned());
                }
                _ => {}
            }
            if is_word(token) && before != "." {
                let mut path = vec![token.to_owned()];
                while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|name| is_word(name)) {
                    at += 2;
                    path.push(tokens[at].to_owned());
                }
                source.paths.push(path);
            }
            at += 1;
        }
        source
    }
}

/// Reads the tree of a `use` into paths, each with its name in the file; returns the index after it.
fn read_use(tokens: &[&str], mut at: usize, before: &[String], names: &mut Vec<(Names, String)>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens[at] {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = read_use(tokens, at, &path, names);
                    at += usize::from(tokens[at] == ",");
                }
                return at + 1;
            }
            "*" => {
                names.push((path, "*".to_owned()));
                return at + 1;
            }
            "::" => at += 1,
            "as" => {
                names.push((path, tokens[at + 1].to_owned()));
                return at + 2;
            }
            "self" if !path.is_empty() => at += 1,
            word if is_word(word) => {
                path.push(word.to_owned());
                at += 1;
            }
            _ => {
                let name = path.last().cloned().unwrap_or_default();
                names.push((path, name));
                return at;
            }
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Removes items under `#[cfg(test)]`.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        if !rest.starts_with(&MARK) {
            kept.push(*token);
            rest = after;
            continue;
        }
        let mut depth = 0;
        let end = rest.iter().skip(MARK.len()).position(|token| {
            depth += i32::from(*token == "{") - i32::from(*token == "}");
            depth == 0 && matches!(*token, ";" | "}")
        });
        rest = &rest[end.map_or(rest.len(), |end| MARK.len() + end + 1)..];
    }
    kept
}

/// Words and signs without comments, texts and lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let behind = |text: &'static str| move |rest: &str| rest.find(text).map_or(rest.len(), |at| at + text.len());
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let hashes = rest[word..].len() - rest[word..].trim_start_matches('#').len();
        if rest.starts_with("//") {
            length = behind("\n")(rest);
        } else if rest.starts_with("/*") {
            length = behind("*/")(rest);
        } else if matches!(&rest[..word], "r" | "br") && rest[word + hashes..].starts_with('"') {
            let start = word + hashes + 1;
            let close = format!("\"{}", "#".repeat(hashes));
            length = rest[start..].find(&close).map_or(rest.len(), |at| start + at + close.len());
        } else if word > 0 {
            length = word;
            tokens.push(&rest[..word]);
        } else if first == '"'
            || rest.starts_with("'\\")
            || rest.chars().nth(2).is_some_and(|c| first == '\'' && c == '\'')
        {
            length = literal(rest, first);
        } else if first == '\'' {
            length += rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0);
        } else if rest.starts_with("::") {
            length = 2;
            tokens.push("::");
        } else if !first.is_whitespace() {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

/// The length of a text or a letter in quotes.
fn literal(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

#[test]
fn files_that_import_each_other_are_found() {
    let files = |texts: &[(&str, &str)]| -> Vec<(PathBuf, String)> {
        texts.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
    };
    let tied = files(&[
        ("src/lib.rs", "pub mod a;"),
        ("src/a/mod.rs", "mod b; mod c; pub use b::Thing; pub fn free() {}"),
        ("src/a/b.rs", "pub struct Thing; fn f(c: char) -> bool { c == '\"' && super::c::g() }"),
        ("src/a/c.rs", "use super::Thing; use crate::a::free; pub fn g() -> bool { free(); true }"),
    ]);
    assert_eq!(cycles(&tied), ["src/a/b.rs -> src/a/c.rs: {\"g\"}\nsrc/a/c.rs -> src/a/b.rs: {\"Thing\"}"]);
    let free = files(&[
        ("src/a/mod.rs", "mod b; mod c; pub use b::Thing; pub fn free() {} // b::Thing"),
        (
            "src/a/b.rs",
            "pub struct Thing; const TEXT: &str = \"super::c::g\"; #[cfg(test)] mod tests { use super::super::c; }",
        ),
        ("src/a/c.rs", "use super::{Thing, free}; pub fn g<'b>(_: &'b Thing) { free() }"),
    ]);
    assert!(cycles(&free).is_empty());
    let user = files(&[
        ("src/a/mod.rs", "mod b; pub use b::Thing; pub fn free(_: Thing) {}"),
        ("src/a/b.rs", "pub struct Thing; fn f() { super::free(Thing) }"),
    ]);
    assert_eq!(cycles(&user).len(), 1);
}
