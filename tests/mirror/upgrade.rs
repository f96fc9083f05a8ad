//! Tests mirrors of the first format of the journal and the third of manifests. They are readable unchanged, and the
//! next sync upgrades them without fetching anything, even if it is killed. The test derives them from current mirrors:
//! it removes columns, triggers and checksums, and sets the old numbers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::{Disk, Options, Progress};
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::account::place;
use crate::canonical_text::hex;
use crate::faulty_vfs::{self, Fault};
use crate::kills::Killing;
use crate::pull_cost::{sync, unlimited};
use crate::scenario::{Seen, assert_consistent, run_scenario, snapshot};
use crate::service::Service;

/// Converts a mirror to the format of the previous version.
fn downgrade(path: &Path) {
    let journal = Connection::open(path.join("journal.sqlite")).unwrap();
    journal
        .execute_batch(
            "DROP TRIGGER item_left; DROP TRIGGER record_left; DROP TRIGGER location_left;
             ALTER TABLE item DROP COLUMN listed_crc32; ALTER TABLE item DROP COLUMN detail_crc32;
             ALTER TABLE record DROP COLUMN listed_crc32; ALTER TABLE record DROP COLUMN detail_crc32;
             ALTER TABLE location DROP COLUMN crc32;
             DELETE FROM about WHERE name = 'ledger has checksums';
             PRAGMA user_version = 1;",
        )
        .unwrap();
    let ledger = path.join("archives/taken.jsonl");
    let lines: Vec<String> = fs::read_to_string(&ledger).unwrap().lines().map(without_checksum).collect();
    fs::write(&ledger, lines.concat()).unwrap();
    let manifest = path.join("current/manifest.json");
    let Ok(mut said) = serde_json::from_slice::<Value>(&fs::read(&manifest).unwrap()) else { return };
    let fields = said.as_object_mut().unwrap();
    fields["format"] = 3.into();
    fields.remove("boundaries").unwrap();
    fields.remove("sha256").unwrap();
    let table = "catalog/boundaries.parquet";
    fields["catalog"].as_array_mut().unwrap().retain(|entry| entry["path"] != table);
    fs::remove_file(path.join(table)).unwrap();
    let body = said.to_string();
    let body = body.strip_suffix('}').unwrap();
    fs::write(&manifest, format!("{body},\"sha256\":\"{}\"}}", hex(&Sha256::digest(body)))).unwrap();
}

fn without_checksum(line: &str) -> String {
    let (body, _) = line.split_once(",\"crc32\"").unwrap();
    format!("{body}}}\n")
}

fn version(path: &Path) -> i64 {
    let journal = Connection::open(path.join("journal.sqlite")).unwrap();
    journal.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn is_upgraded(path: &Path) {
    assert_eq!(version(path), 2);
    let ledger = fs::read_to_string(path.join("archives/taken.jsonl")).unwrap();
    assert!(ledger.lines().all(|line| line.contains(",\"crc32\":\"")), "{ledger}");
}

#[tokio::test(start_paused = true)]
async fn old_mirror_is_readable_and_upgraded_by_a_sync_without_fetching_anything() {
    let service = Service::start(unlimited(2));
    let mirror = service.mirror(&[], Options { locations: false, ..Options::default() });
    sync(&mirror).await;
    let path = service.path();
    let rows = mirror.status().unwrap().archives;
    downgrade(&path);
    // Readers change nothing.
    let status = mirror.status().unwrap();
    assert_eq!((status.generation, status.archives, status.lost), (Some(1), rows, None));
    let found = mirror.verify(true, &Cancel::default()).unwrap();
    assert_eq!((found.findings, version(&path)), (Vec::new(), 1));
    let before = service.count();
    let outcome = sync(&mirror).await;
    assert_eq!(service.count() - before, 6, "the lists of every sync, no detail and no file");
    assert_eq!(outcome.generation, Some(2));
    is_upgraded(&path);
    assert!(path.join("catalog/boundaries.parquet").exists());
    assert!(path.join("generations/000001/manifest.json").exists(), "the old one stays for those who read it");
    assert_eq!(mirror.verify(true, &Cancel::default()).unwrap().findings, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn old_mirror_is_upgraded_even_if_the_service_returns_no_file() {
    let service = Service::start(unlimited(2));
    let mirror = service.mirror(&[], Options { locations: false, ..Options::default() });
    sync(&mirror).await;
    downgrade(&service.path());
    for row in ["job_data.list", "grain_carts.list", "field_computers.list", "field_hubs.reports"] {
        service.sandbox.add_fault(row, "unauthorized", 1_000).unwrap();
    }
    let error = mirror.sync(&Progress::default()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Authentication, "{error}");
    is_upgraded(&service.path());
    assert_eq!(mirror.status().unwrap().generation, Some(2));
    assert_eq!(mirror.verify(true, &Cancel::default()).unwrap().findings, [""; 0]);
}

const HOME: &str = "HEADLAND_TEST_UPGRADE";
const MOMENT: &str = "HEADLAND_TEST_UPGRADE_MOMENT";

/// As its own child process, it kills itself before the given step.
#[cfg(unix)]
#[test]
fn kill_at_each_step_of_an_upgrade_loses_nothing() {
    const FEW: u32 = 3;
    if let (Some(path), Ok(moment)) = (std::env::var_os(HOME), std::env::var(MOMENT)) {
        let (what, at) = moment.split_once(' ').unwrap();
        let disk = if what == "files" {
            Disk::with_injector(Arc::new(Killing::at(at.parse().unwrap())))
        } else {
            faulty_vfs::plan(Some((at.parse().unwrap(), Fault::Killed, false)));
            Disk::default()
        };
        run_scenario(Path::new(&path), disk, FEW, &Seen::default()).unwrap();
        return;
    }
    let old = place();
    run_scenario(old.path(), Disk::default(), FEW, &Seen::default()).unwrap();
    let whole = snapshot(old.path());
    downgrade(old.path());
    for what in ["files", "journal"] {
        let mut at = 0;
        loop {
            let home = place();
            let path = home.path().join("farm");
            assert!(Command::new("cp").arg("-a").args([old.path(), &path]).status().unwrap().success());
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "upgrade::kill_at_each_step_of_an_upgrade_loses_nothing", "--nocapture"])
                .env(HOME, &path)
                .env(MOMENT, format!("{what} {at}"))
                .output()
                .unwrap();
            assert_consistent(&path);
            let mut found = snapshot(&path);
            found.retain(|name, _| Path::new(name).extension().is_none_or(|end| end != "part"));
            assert_eq!(found, whole, "{what} {at}: what was there is readable");
            let rest = Seen::default();
            run_scenario(&path, Disk::default(), FEW, &rest).unwrap();
            assert_eq!((snapshot(&path), rest.fetched.into_inner()), (whole.clone(), Vec::new()), "{what} {at}");
            is_upgraded(&path);
            if output.status.success() {
                break;
            }
            at += 1;
        }
        assert!(at > 3, "{what}: {at} steps");
    }
}
