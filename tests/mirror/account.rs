//! Builds a small account for the mirror tests: records as in lists, files as from the service.

use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeZone as _, Utc};
use headland::mirror::{Archive, Folder, ItemKind, Journal, Listed, StateCount, WriteTxn, ingest};

/// Noon of a day in November 2026 plus `seconds`.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    Utc.timestamp_opt(1_795_000_000 + seconds, 0).unwrap()
}

/// A job as in a list; `version` shifts its time of change.
pub(crate) fn job(id: u32, version: i64) -> Listed {
    let id = format!("{id}");
    Listed {
        name: format!("Süd {id}.jdp"),
        sub_type: Some("Yield".to_owned()),
        created: Some(at(id.parse().unwrap())),
        updated: Some(at(100_000 + version)),
        json: format!(r#"{{"ID":"{id}","URI":"https://field.example/jobdata/{id}","version":{version}}}"#),
        id,
    }
}

/// A grain cart file as in a list.
pub(crate) fn cart(id: u32, name: &str) -> Listed {
    Listed { id: id.to_string(), name: name.to_owned(), json: format!(r#"{{"ID":{id}}}"#), ..Listed::default() }
}

/// The bytes of a file with this content.
pub(crate) fn content(text: &str) -> Vec<u8> {
    let mut bytes = format!("PK\u{3}\u{4} {text} ").into_bytes();
    bytes.resize(5_000, b'.');
    bytes
}

/// Writes a finished download to the path that the client uses.
pub(crate) fn download(folder: &Folder, stamp: &str, text: &str) -> PathBuf {
    let path = folder.incoming(stamp).unwrap().join(format!("{text}.zip"));
    std::fs::write(&path, content(text)).unwrap();
    path
}

/// Lists a job and stores a file for it.
pub(crate) fn pull(folder: &Folder, journal: &Journal, listed: &Listed, text: &str) -> Archive {
    let kind = ItemKind::Job;
    journal.write(|step| step.list_page(kind, std::slice::from_ref(listed), None, at(0))).unwrap();
    let stamp = listed.stamp(kind);
    let path = download(folder, &stamp, text);
    ingest(folder, journal, (kind, &listed.id, &stamp), &path, at(0), |step| step.count_call("files")).unwrap();
    journal.read(|look| look.item(kind, &listed.id)).unwrap().unwrap().archive.unwrap()
}

/// Starts a relist, with its call counted, and returns its number.
pub(crate) fn begin_relist(journal: &Journal) -> u64 {
    let begin = |step: &WriteTxn<'_>| {
        step.count_call("lists")?;
        step.begin_relist()
    };
    journal.write(begin).unwrap()
}

/// A folder for a mirror, in memory where the system supports it, since these tests wait for the disk thousands of
/// times.
pub(crate) fn place() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.or_else(|_| tempfile::tempdir()).unwrap()
}

/// A mirror, open for writing.
pub(crate) fn open(path: &Path) -> (Folder, Journal) {
    let folder = Folder::open(path, true).unwrap();
    let journal = Journal::open(&folder, Some("an account")).unwrap();
    (folder, journal)
}

/// Number of jobs with their file.
pub(crate) fn stored_jobs(states: &[StateCount]) -> u64 {
    states.iter().filter(|count| count.kind == ItemKind::Job && count.state == "stored").map(|count| count.items).sum()
}
