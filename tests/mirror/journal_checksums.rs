//! Tests damaged rows of the journal: the journal is named, nothing is published, and a new one costs no archive.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::{Mirror, Options, Progress};
use rusqlite::Connection;

use crate::pull_cost::{sync, unlimited};
use crate::service::{Service, is_file};
use crate::support::state;

/// A table, its column with a text of the service, and the condition of its rows.
type Column = (&'static str, &'static str, &'static str);

const RECORDS: [Column; 8] = [
    ("item", "detail", "kind = 'job'"),
    ("item", "listed", "kind = 'job'"),
    ("item", "name", "kind = 'job'"),
    ("item", "created", "kind = 'job'"),
    ("item", "updated", "kind = 'job'"),
    ("item", "sha256", "kind = 'job'"),
    ("record", "listed", "kind = 'prescription_maps'"),
    ("record", "detail", "kind = 'field_computers' AND detail <> 'null'"),
];

const LOCATIONS: [Column; 2] = [("location", "json", "TRUE"), ("location", "time", "device_kind = 'Field Computer'")];

fn journal(path: &Path) -> Connection {
    Connection::open(path.join("journal.sqlite")).unwrap()
}

/// The values of a column.
fn values(path: &Path, (table, column, of): Column) -> BTreeSet<String> {
    let query = format!("SELECT {column} FROM {table} WHERE {of} AND {column} IS NOT NULL");
    journal(path).prepare(&query).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Flips the lowest bit of the last digit of one value, and returns it before and after. The service returns locations
/// of two days, so the newest is used.
///
/// Indexes are hidden meanwhile, so that they do not follow the change, as after a flipped bit on the disk.
fn flip(path: &Path, (table, column, of): Column) -> [String; 2] {
    let journal = journal(path);
    let query = format!("SELECT {column} FROM {table} WHERE {of} AND {column} IS NOT NULL ORDER BY 1 DESC LIMIT 1");
    let before: String = journal.query_row(&query, [], |row| row.get(0)).unwrap();
    let mut bytes = before.clone().into_bytes();
    let digit = bytes.iter().rposition(u8::is_ascii_digit).unwrap();
    bytes[digit] ^= 1;
    let after = String::from_utf8(bytes).unwrap();
    let hide = "PRAGMA writable_schema = ON;
        CREATE TEMP TABLE hidden AS SELECT * FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL;
        DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL;
        PRAGMA writable_schema = RESET;";
    let show = "PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema SELECT * FROM hidden;
        PRAGMA writable_schema = RESET;";
    journal.execute_batch(hide).unwrap();
    let update = format!("UPDATE {table} SET {column} = ?1 WHERE {of} AND {column} = ?2");
    assert_eq!(journal.execute(&update, [&after, &before]).unwrap(), 1);
    journal.execute_batch(show).unwrap();
    [before, after]
}

/// Whether the value is restored.
fn is_restored(path: &Path, column: Column, [before, after]: &[String; 2]) -> bool {
    let now: Vec<String> = values(path, column).iter().map(|value| without_report_time(value)).collect();
    now.contains(&without_report_time(before)) && !now.contains(&without_report_time(after))
}

/// A record without the time of the last report, which changes in the service meanwhile.
fn without_report_time(value: &str) -> String {
    let Some((start, rest)) = value.split_once("\"LastReportDate\":") else { return value.to_owned() };
    let end = rest.find(',').map_or("", |at| &rest[at..]);
    format!("{start}{end}")
}

fn verify(mirror: &Mirror) -> Vec<String> {
    mirror.verify(false, &Cancel::default()).unwrap().findings
}

async fn synced(locations: bool) -> (Service, Mirror) {
    let service = Service::start(unlimited(2));
    let mirror = service.mirror(&[], Options { locations, ..Options::default() });
    sync(&mirror).await;
    assert_eq!(verify(&mirror), [""; 0]);
    (service, mirror)
}

/// `verify` and a publication of another change name the journal and the next step, and the published state stays.
/// Without the journal, the next sync reads the lists again, and fetches no archive.
async fn is_found_and_never_published(service: &Service, mirror: &Mirror, column: Column) {
    let path = service.path();
    let flipped = flip(&path, column);
    let is_named = |error: &headland::error::Error| {
        let text = error.to_string();
        assert_eq!(error.kind(), Kind::File, "{column:?}: {text}");
        assert!(text.contains("journal.sqlite`") && text.contains("the journal is damaged"), "{column:?}: {text}");
        assert!(text.contains("away and sync again"), "{column:?}: {text}");
    };
    is_named(&mirror.verify(false, &Cancel::default()).unwrap_err());
    let state_before = state(&path);
    // The effect of a change of any other record.
    journal(&path).execute("UPDATE revision SET number = number + 1", []).unwrap();
    match mirror.sync(&Progress::default()).await {
        Err(error) => {
            is_named(&error);
            assert_eq!(state(&path), state_before, "{column:?}");
        }
        // The list of jobs, which each sync reads, has replaced the listing.
        Ok(_) => assert!(column.1 == "listed" && is_restored(&path, column, &flipped), "{column:?}"),
    }
    for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"] {
        let _ = fs::remove_file(path.join(name));
    }
    let before = service.count();
    sync(mirror).await;
    let files = service.since(before).iter().filter(|request| is_file(request)).count();
    assert_eq!(files, 0, "{column:?}: archives that are here are not fetched again");
    assert!(is_restored(&path, column, &flipped), "{column:?}: {flipped:?}");
    assert!(mirror.status().unwrap().is_published);
    assert_eq!(verify(mirror), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn flipped_bit_of_a_record_is_found_and_never_published() {
    let (service, mirror) = synced(false).await;
    for column in RECORDS {
        is_found_and_never_published(&service, &mirror, column).await;
    }
}

#[tokio::test(start_paused = true)]
async fn flipped_bit_of_a_location_is_found_and_never_published() {
    let (service, mirror) = synced(true).await;
    for column in LOCATIONS {
        is_found_and_never_published(&service, &mirror, column).await;
    }
}

/// A damaged line of the ledger is named and written again from the journal. Without the journal, no archive is
/// assigned to another record.
#[tokio::test(start_paused = true)]
async fn flipped_bit_of_the_ledger_is_named_and_written_again() {
    let (service, mirror) = synced(false).await;
    let path = service.path().join("archives/taken.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let lines = whole.lines().count();
    let flip = || {
        let mut bytes = whole.clone().into_bytes();
        let at = whole.find(r#""stamp":""#).unwrap() + 12;
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
    };
    flip();
    let found = verify(&mirror);
    assert_eq!(found.len(), 1, "{found:?}");
    let expected = format!("taken.jsonl` is damaged: 1 of its {lines} lines differ from those written (first: line 1)");
    assert!(found[0].contains(&expected), "{found:?}");
    assert_eq!(verify(&mirror), [""; 0]);
    let facts = |text: &str| -> BTreeSet<String> {
        let entry = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        text.lines()
            .map(|line| ["stamp", "sha256", "id", "file_name"].map(|key| entry(line)[key].to_string()).concat())
            .collect()
    };
    assert_eq!(facts(&fs::read_to_string(&path).unwrap()), facts(&whole));

    fs::remove_file(&path).unwrap();
    let found = verify(&mirror);
    assert!(found.len() == 1 && found[0].contains("taken.jsonl` is missing"), "{found:?}");
    assert_eq!(facts(&fs::read_to_string(&path).unwrap()), facts(&whole));

    // A missing line, an empty file, and a checksum whose name is damaged.
    let first = whole.lines().next().unwrap();
    for broken in [whole.replacen(&format!("{first}\n"), "", 1), String::new(), whole.replacen("crc32", "crc33", 1)] {
        fs::write(&path, broken).unwrap();
        let found = verify(&mirror);
        assert!(found.len() == 1 && found[0].contains("taken.jsonl` is damaged"), "{found:?}");
        assert_eq!(verify(&mirror), [""; 0]);
        assert_eq!(facts(&fs::read_to_string(&path).unwrap()), facts(&whole));
    }

    flip();
    fs::remove_file(service.path().join("journal.sqlite")).unwrap();
    let before = service.count();
    sync(&mirror).await;
    let files = service.since(before).into_iter().filter(is_file).count();
    assert_eq!(files, 1, "the archive whose line is damaged, and no other");
    assert_eq!(verify(&mirror), [""; 0]);
}
