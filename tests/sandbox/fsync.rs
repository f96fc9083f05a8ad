//! Tests which data is on the disk when a write is acknowledged: replaces `fsync` of the C library in this process and
//! records every call.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::ffi::c_int;
use std::fs::{self, File};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Mutex;

use headland::sandbox::Options;
use serde_json::json;

use super::dispatch::send;
use super::raw_client::{options, start, upload, zip_of};

/// Device and inode of each synchronised file and folder, in order.
static SYNCED: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

fn record(descriptor: c_int) -> c_int {
    // SAFETY: the caller of `fsync` keeps the descriptor open, and it is not closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    if let Ok(found) = file.metadata() {
        SYNCED.lock().unwrap().push((found.dev(), found.ino()));
    }
    0
}

/// Replaces that of the C library, for the standard library and `SQLite` alike. No test here needs the disk itself.
#[unsafe(no_mangle)]
extern "C" fn fsync(descriptor: c_int) -> c_int {
    record(descriptor)
}

/// See [`fsync`].
#[unsafe(no_mangle)]
extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    record(descriptor)
}

/// Index of the last synchronisation of a file.
fn synced(path: &Path) -> Option<usize> {
    let found = fs::metadata(path).unwrap();
    SYNCED.lock().unwrap().iter().rposition(|one| *one == (found.dev(), found.ino()))
}

#[test]
fn acknowledged_write_is_on_disk_and_the_file_before_its_record() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("state");
    let sandbox = start(Options { data: Some(data.clone()), ..options() });
    let (uploads, log) = (data.join("uploads"), data.join("sandbox.sqlite3-wal"));
    for folder in [home.path(), &data] {
        assert!(synced(folder).is_some(), "the name of a new folder: {}", folder.display());
    }
    let before = synced(&log);
    assert_eq!(upload(&sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).send().status, 201);
    let file = fs::read_dir(&uploads).unwrap().next().unwrap().unwrap().path();
    let (bytes, name, record) = (synced(&file), synced(&uploads), synced(&log));
    assert!(bytes.is_some(), "the bytes");
    assert!(bytes < name, "the name, after the bytes");
    assert!(name < record && before < record, "the record, after the file");
    let made = send(&sandbox, "POST", "/dispatch/api/fieldoperations", &json!({"name": "North 40"}));
    assert_eq!(made.status, 201, "{}", made.text());
    assert!(record < synced(&log), "a write without a file");
}
