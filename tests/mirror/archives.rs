//! Tests the archives of a mirror and their log: a truncated log is repaired, and links of the user are left alone.

use std::fs;

use headland::layer::Cancel;
use headland::mirror::{Disk, ReadTxn, recover};

use crate::account::{at, job, open, place, pull};
use crate::scenario::{Seen, run_scenario};

#[test]
fn truncated_line_of_the_archive_log_is_repaired_by_the_next_run() {
    let home = place();
    run_scenario(home.path(), Disk::default(), 3, &Seen::default()).unwrap();
    let taken = home.path().join("archives/taken.jsonl");
    let text = fs::read_to_string(&taken).unwrap();
    let first = text.find('\n').unwrap();
    for truncated in [format!("{text}{}", &text[..40]), text[..text.len() - 9].to_owned(), text[first / 2..].to_owned()]
    {
        fs::write(&taken, truncated).unwrap();
        let (folder, journal) = open(home.path());
        recover(&folder, &journal, at(5)).unwrap();
        let mut found: Vec<_> = fs::read_to_string(&taken).unwrap().lines().map(str::to_owned).collect();
        found.sort();
        let mut expected: Vec<_> = text.lines().map(str::to_owned).collect();
        expected.sort();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{found:?}");
    }
}

/// `verify` never advises to delete what a link of the user leads to.
#[cfg(unix)]
#[test]
fn files_behind_links_of_the_user_are_never_unused() {
    let (home, other) = (place(), place());
    let (folder, journal) = open(home.path());
    pull(&folder, &journal, &job(1, 0), "file 1");
    let archives = home.path().join("archives");
    fs::write(other.path().join("precious.zip"), "?").unwrap();
    std::os::unix::fs::symlink(other.path(), archives.join("mine")).unwrap();
    let [stored] = fs::read_dir(&archives)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && !path.is_symlink())
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    std::os::unix::fs::symlink(other.path().join("precious.zip"), stored.join("mine.zip")).unwrap();
    let check = || folder.store().verify(&journal.read(ReadTxn::archives).unwrap(), &Cancel::default()).unwrap();
    assert_eq!(check(), []);
    // The user has moved all archives to another disk.
    fs::rename(&archives, other.path().join("archives")).unwrap();
    fs::write(other.path().join("archives/notes.zip"), "?").unwrap();
    std::os::unix::fs::symlink(other.path().join("archives"), &archives).unwrap();
    fs::write(stored.join("notes.zip"), "?").unwrap();
    assert_eq!(check(), []);
}
