//! Tests the journal: records and their files in every state, lists, cursors, counts.

use std::time::Duration;

use headland::mirror::{
    Archive, Cursor, FileState, Finding, Folder, Item, ItemKind, Journal, Listed, Location, Problem, Published,
    ReadTxn, Reading, Relist, Removed, collect_garbage, quarantine, repair,
};

use crate::account::{at, begin_relist, cart, content, job, open, place, pull, stored_jobs};

const JOB: ItemKind = ItemKind::Job;

fn list(journal: &Journal, page: &[Listed], relist: Option<u64>) -> (u64, u64, u64) {
    let found = journal.write(|step| step.list_page(JOB, page, relist, at(1))).unwrap();
    (found.new, found.changed, found.unchanged)
}

fn item(journal: &Journal, id: &str) -> Item {
    journal.read(|look| look.item(JOB, id)).unwrap().unwrap()
}

fn wanted(journal: &Journal) -> Vec<(String, String)> {
    let wanted = journal.read(ReadTxn::wanted).unwrap();
    wanted.into_iter().map(|wanted| (wanted.id, wanted.archive.unwrap().sha256)).collect()
}

fn publish(folder: &Folder, journal: &Journal) -> u64 {
    journal.write(|step| step.set_published(Published { generation: 1, revision: step.revision()? })).unwrap();
    collect_garbage(folder, journal).unwrap()
}

#[test]
fn changed_record_starts_again_and_keeps_its_old_archive_until_the_new_one_is_stored() {
    let home = place();
    let (folder, journal) = open(home.path());
    let first = pull(&folder, &journal, &job(1, 0), "first");
    let changed = job(1, 1);
    assert_eq!(list(&journal, &[changed.clone(), job(2, 0)], None), (1, 1, 0));
    let now = item(&journal, "1");
    assert_eq!((now.file, now.archive), (FileState::Pending, Some(first.clone())));
    assert_eq!(wanted(&journal), [("1".to_owned(), first.sha256.clone())]);
    // A reply about the previous version arrives too late.
    let late = FileState::NoCoverage { reason: "No coverage available.".to_owned() };
    let stamp = job(1, 0).stamp(JOB);
    assert!(!journal.write(|step| step.set_file(JOB, "1", &stamp, &late, at(2))).unwrap());
    assert!(!journal.write(|step| step.set_detail(JOB, "1", &stamp, "{}")).unwrap());
    let second = pull(&folder, &journal, &changed, "second");
    assert_ne!(first.sha256, second.sha256);
    assert_eq!(wanted(&journal), [("1".to_owned(), second.sha256.clone())]);
    // The old file stays until its replacement is published.
    assert_eq!(collect_garbage(&folder, &journal).unwrap(), 0);
    assert_eq!(publish(&folder, &journal), 1);
    assert_eq!(
        (folder.store().path_of(&first.sha256), journal.read(ReadTxn::archives).unwrap()),
        (None, vec![second.sha256])
    );
}

#[test]
fn unreadable_archive_is_quarantined_and_the_previous_one_stays() {
    let home = place();
    let (folder, journal) = open(home.path());
    let first = pull(&folder, &journal, &job(1, 0), "first");
    publish(&folder, &journal);
    let second = pull(&folder, &journal, &job(1, 1), "second");
    quarantine(&folder, &journal, &second.sha256, "its shp ends in record 7").unwrap();
    let now = item(&journal, "1");
    let reason = "its shp ends in record 7".to_owned();
    assert_eq!(now.file, FileState::Quarantined { sha256: second.sha256.clone(), reason });
    assert_eq!(wanted(&journal), [("1".to_owned(), first.sha256.clone())]);
    let aside = folder.path().join("quarantine").join(format!("{}.zip", second.sha256));
    assert_eq!(std::fs::read(aside).unwrap(), content("second"));
    assert_eq!(publish(&folder, &journal), 0);
    // It is not requested again before the record changes.
    assert_eq!(list(&journal, &[job(1, 1)], None), (0, 0, 1));
    assert!(journal.read(|look| look.pending(9)).unwrap().is_empty());
    assert_eq!(list(&journal, &[job(1, 2)], None), (0, 1, 0));
    assert_eq!(journal.read(|look| look.pending(9)).unwrap().len(), 1);
}

#[test]
fn end_of_a_conversion_without_a_file_is_something_to_publish() {
    let home = place();
    let (_folder, journal) = open(home.path());
    list(&journal, &[job(1, 0)], None);
    let stamp = item(&journal, "1").stamp;
    let set = |state: &FileState| {
        journal.write(|step| step.set_file(JOB, "1", &stamp, state, at(1))).unwrap();
        journal.read(ReadTxn::revision).unwrap()
    };
    let listed = journal.read(ReadTxn::revision).unwrap();
    assert_eq!(set(&FileState::Converting { ready_at: at(2), requests: 1 }), listed, "the tables show no conversions");
    let failed = set(&FileState::Failed { reason: "cannot be read".to_owned(), status: None });
    assert!(failed > listed, "the tables show failed files");
}

#[test]
fn file_received_during_a_publication_is_not_marked_as_published() {
    let home = place();
    let (folder, journal) = open(home.path());
    let first = pull(&folder, &journal, &job(1, 0), "first");
    let revision = journal.read(ReadTxn::revision).unwrap();
    // The publication reads the first version; meanwhile the second one arrives.
    let second = pull(&folder, &journal, &job(1, 1), "second");
    journal.write(|step| step.set_published(Published { generation: 1, revision })).unwrap();
    assert_eq!(collect_garbage(&folder, &journal).unwrap(), 0);
    assert!(journal.read(ReadTxn::revision).unwrap() > revision, "there is something to publish");
    quarantine(&folder, &journal, &second.sha256, "it cannot be read").unwrap();
    assert_eq!(wanted(&journal), [("1".to_owned(), first.sha256)]);
}

#[test]
fn rejected_file_is_not_requested_again_before_the_record_changes() {
    let home = place();
    let (_folder, journal) = open(home.path());
    list(&journal, &[job(1, 0), job(2, 0)], None);
    let failed = FileState::Failed {
        reason: "Conversion utility returned a failed status".to_owned(),
        status: Some("CONVERSION_STATUS_FAILED_CONVERT".to_owned()),
    };
    let states = [("1", FileState::NoCoverage { reason: "No coverage available.".to_owned() }), ("2", failed)];
    for (id, state) in &states {
        let stamp = item(&journal, id).stamp;
        assert!(journal.write(|step| step.set_file(JOB, id, &stamp, state, at(2))).unwrap());
        assert_eq!(item(&journal, id).file, *state);
    }
    assert_eq!(list(&journal, &[job(1, 0), job(2, 0)], None), (0, 0, 2));
    assert!(journal.read(|look| look.pending(9)).unwrap().is_empty());
    assert_eq!(list(&journal, &[job(1, 1), job(2, 1)], None), (0, 2, 0));
    assert_eq!(journal.read(|look| look.pending(9)).unwrap().len(), 2);
}

#[test]
fn next_conversion_is_ready_exactly_after_the_shortest_wait() {
    let home = place();
    let (_folder, journal) = open(home.path());
    list(&journal, &[job(1, 0), job(2, 0), job(3, 0)], None);
    for (id, wait) in [("1", 90), ("2", 30)] {
        let stamp = item(&journal, id).stamp;
        let state = FileState::Converting { ready_at: at(wait) + Duration::from_micros(1), requests: 1 };
        journal.write(|step| step.set_file(JOB, id, &stamp, &state, at(0))).unwrap();
        assert_eq!(item(&journal, id).file, state);
    }
    assert_eq!(journal.read(ReadTxn::next_ready_at).unwrap(), Some(at(30) + Duration::from_micros(1)));
}

#[test]
fn relist_finds_removed_records_and_returned_ones_resume() {
    let home = place();
    let (folder, journal) = open(home.path());
    let archive = pull(&folder, &journal, &job(1, 0), "kept");
    list(&journal, &[job(2, 0)], None);
    let stamp = item(&journal, "2").stamp;
    let asked = FileState::Converting { ready_at: at(60), requests: 2 };
    journal.write(|step| step.set_file(JOB, "2", &stamp, &asked, at(0))).unwrap();

    let relist = begin_relist(&journal);
    list(&journal, &[job(3, 0)], Some(relist));
    // The list stated two records and returned one: it changed, so no record is marked as removed.
    let end = |number, total| journal.write(|step| step.finish_relist(JOB, number, Some(total), at(5))).unwrap();
    assert_eq!(end(relist, 2), Removed::Unknown);
    assert_eq!(wanted(&journal).len(), 1);
    assert_eq!(end(relist, 1), Removed::Gone(2));
    journal.write(|step| step.set_relisted(at(5))).unwrap();
    assert_eq!(journal.read(ReadTxn::relist).unwrap(), Relist { last_full_at: Some(at(5)), number: 1 });
    assert_eq!((item(&journal, "1").file, item(&journal, "2").file), (FileState::Gone, FileState::Gone));
    assert!(wanted(&journal).is_empty(), "its rows leave the dataset");
    assert_eq!(publish(&folder, &journal), 0, "its archive stays");
    // A conversion that was in flight when its record was removed.
    journal.write(|step| step.set_file(JOB, "2", &stamp, &asked, at(6))).unwrap();
    assert_eq!(item(&journal, "2").file, FileState::Gone);

    let relist = begin_relist(&journal);
    assert_eq!(list(&journal, &[job(1, 0), job(2, 0), job(3, 0)], Some(relist)), (0, 0, 3));
    assert_eq!(end(relist, 3), Removed::Gone(0));
    assert_eq!((item(&journal, "1").file, item(&journal, "2").file), (FileState::Stored(archive), asked));
    assert_eq!(wanted(&journal).len(), 1);
}

#[test]
fn highest_numeric_id_wins_among_grain_cart_files_of_one_name() {
    let home = place();
    let (_folder, journal) = open(home.path());
    let list =
        |page: &[Listed], relist| journal.write(|step| step.list_page(ItemKind::Cart, page, relist, at(0))).unwrap();
    let cart_of = |id: &str| journal.read(|look| look.item(ItemKind::Cart, id)).unwrap().unwrap();
    let have = |id: &str| {
        let stamp = cart_of(id).stamp;
        let archive = Archive { sha256: format!("{id:0>64}"), file_name: format!("{id}.grc"), bytes: 3 };
        journal.write(|step| step.set_file(ItemKind::Cart, id, &stamp, &FileState::Stored(archive), at(0))).unwrap()
    };
    list(&[cart(9, "a.grc"), cart(3, "b.grc")], None);
    assert!(have("9"));
    list(&[cart(10, "a.grc"), cart(9, "a.grc"), cart(2, "a.grc")], None);
    let by = FileState::Superseded { newer_id: "10".to_owned() };
    assert_eq!((cart_of("9").file, cart_of("2").file), (by.clone(), by));
    assert_eq!((cart_of("10").file, cart_of("3").file), (FileState::Pending, FileState::Pending));
    assert_eq!(wanted(&journal).len(), 1, "the older upload stands until the newer is here");
    assert!(!have("9"), "what is superseded is not asked for");
    assert!(have("10"));
    assert_eq!(wanted(&journal), [("10".to_owned(), format!("{:0>64}", 10))]);
    // Without the newest, the one before it counts again.
    let relist = begin_relist(&journal);
    list(&[cart(9, "a.grc"), cart(3, "b.grc")], Some(relist));
    journal.write(|step| step.finish_relist(ItemKind::Cart, relist, Some(2), at(1))).unwrap();
    assert_eq!((cart_of("10").file, cart_of("9").file), (FileState::Gone, FileState::Pending));
    // Ids that are not numbers say nothing about age.
    let odd = |id: &str| Listed { id: id.to_owned(), ..cart(0, "c.grc") };
    list(&[odd("x-1"), odd("x-2")], None);
    assert_eq!((cart_of("x-1").file, cart_of("x-2").file), (FileState::Pending, FileState::Pending));
}

#[test]
fn lost_archive_marks_the_version_or_upload_that_replaces_it() {
    let home = place();
    let (folder, journal) = open(home.path());
    let lose = |sha256: &str| {
        let path = format!("{sha256}.zip").into();
        let finding = Finding { problem: Problem::Missing, path, detail: String::new() };
        repair(&journal, &[finding]).unwrap();
    };
    let first = pull(&folder, &journal, &job(1, 0), "first");
    list(&journal, &[job(1, 1), job(2, 0)], None);
    assert!(!item(&journal, "1").is_lost, "it still has the archive of its earlier version");
    lose(&first.sha256);
    list(&journal, &[job(1, 2)], None);
    assert_eq!((item(&journal, "1").is_lost, item(&journal, "2").is_lost), (true, false));
    pull(&folder, &journal, &job(1, 2), "third");
    list(&journal, &[job(1, 3)], None);
    assert!(!item(&journal, "1").is_lost);
    // A newer upload of a grain cart file, listed before and after the loss.
    let list_cart =
        |id| journal.write(|step| step.list_page(ItemKind::Cart, &[cart(id, "a.grc")], None, at(0))).unwrap();
    let cart_of = |id: &str| journal.read(|look| look.item(ItemKind::Cart, id)).unwrap().unwrap();
    let archive = Archive { sha256: format!("{:0>64}", 9), file_name: "9.grc".to_owned(), bytes: 3 };
    list_cart(9);
    let (have, stamp) = (FileState::Stored(archive.clone()), cart_of("9").stamp);
    journal.write(|step| step.set_file(ItemKind::Cart, "9", &stamp, &have, at(0))).unwrap();
    list_cart(10);
    assert!(!cart_of("10").is_lost);
    lose(&archive.sha256);
    assert!(cart_of("10").is_lost);
    list_cart(11);
    assert!(cart_of("11").is_lost);
}

#[test]
fn locations_are_appended_without_repeats() {
    let home = place();
    let (_folder, journal) = open(home.path());
    let spot = |device: &str, record: u32| Location {
        device_kind: "Field Hub".to_owned(),
        device_id: device.to_owned(),
        record_id: record.to_string(),
        time: Some(at(record.into())),
        json: format!(r#"{{"Lat":49.5,"ID":{record}}}"#),
    };
    let add = |spots: &[Location]| journal.write(|step| step.add_locations(spots)).unwrap();
    assert_eq!(add(&[spot("7", 1), spot("7", 2), spot("8", 1)]), 3);
    assert_eq!(add(&[spot("7", 2), spot("7", 3)]), 1);
    let first = journal.read(|look| look.locations(0, 3)).unwrap();
    let last = first.last().unwrap().0;
    let rest = journal.read(|look| look.locations(last, 3)).unwrap();
    let all: Vec<Location> = first.into_iter().chain(rest).map(|(_, spot)| spot).collect();
    assert_eq!(all, [spot("7", 1), spot("7", 2), spot("8", 1), spot("7", 3)]);
}

#[test]
fn records_keep_their_details_until_a_complete_list_omits_them() {
    let home = place();
    let (_folder, journal) = open(home.path());
    let put = |id: &str, json: &str, seen| journal.write(|step| step.put_record("field_hubs", id, json, seen)).unwrap();
    assert!(put("1", "{}", 1) && put("2", "{}", 1));
    journal.write(|step| step.set_record_detail("field_hubs", "1", r#"{"Make":"x"}"#, at(1))).unwrap();
    assert_eq!(journal.read(|look| look.records_without_detail("field_hubs", 9)).unwrap(), ["2"]);
    let before = journal.read(ReadTxn::revision).unwrap();
    assert!(!put("1", "{}", 2));
    assert_eq!(journal.read(ReadTxn::revision).unwrap(), before, "nothing that is published has changed");
    let finish = |total| journal.write(|step| step.finish_records("field_hubs", 2, Some(total), at(2))).unwrap();
    let gone =
        || journal.read(|look| look.records("field_hubs")).unwrap().into_iter().filter_map(|hub| hub.gone_at).count();
    finish(2);
    assert_eq!(gone(), 0);
    finish(1);
    assert_eq!(gone(), 1);
    let hubs = journal.read(|look| look.records("field_hubs")).unwrap();
    assert_eq!(hubs[0].detail.as_deref(), Some(r#"{"Make":"x"}"#));
}

#[test]
fn cursors_calls_and_numbers_are_kept() {
    let home = place();
    let (folder, journal) = open(home.path());
    assert_eq!(journal.read(|look| look.cursor("job_data.list")).unwrap(), Cursor::default());
    let cursor = Cursor {
        newest_created: Some(at(7)),
        read_at: Some(at(8)),
        unfinished: Some(Reading { pages_done: 3, total_count: Some(4_711), began_at: at(6) }),
    };
    journal.write(|step| step.set_cursor("job_data.list", &cursor)).unwrap();
    for (purpose, times) in [("lists", 2), ("files", 1)] {
        (0..times).for_each(|_| journal.write(|step| step.count_call(purpose)).unwrap());
    }
    pull(&folder, &journal, &job(1, 0), "a file");
    journal.write(|step| step.begin_run(at(9))).unwrap();
    journal.write(|step| step.count_call("lists")).unwrap();
    // A failed transaction changes nothing.
    let refused = journal.write(|step| {
        step.count_call("lists")?;
        step.list_page(JOB, &[job(5, 0)], None, at(0))?;
        Err::<(), _>(headland::error::Error::new(headland::error::Kind::Decode, "half a page"))
    });
    assert_eq!(refused.unwrap_err().message(), "half a page");
    drop((journal, folder));

    let (_folder, journal) = open(home.path());
    assert_eq!(journal.read(|look| look.cursor("job_data.list")).unwrap(), cursor);
    let calls = journal.read(ReadTxn::calls).unwrap();
    let counts: Vec<_> = calls.iter().map(|calls| (calls.purpose.as_str(), calls.this_run, calls.ever)).collect();
    assert_eq!(counts, [("files", 0, 2), ("lists", 1, 3)]);
    let counts = |look: &ReadTxn| Ok((look.count_items()?, look.count_details_due()?, look.count_archives()?));
    let (states, details_due, archives) = journal.read(counts).unwrap();
    assert_eq!((stored_jobs(&states), details_due, archives), (1, 1, (1, content("a file").len() as u64)));
}

#[test]
fn journal_is_readable_with_sqlite_tools() {
    let home = place();
    let (folder, journal) = open(home.path());
    pull(&folder, &journal, &job(1, 0), "a file");
    drop(journal);
    let connection = rusqlite::Connection::open(home.path().join("journal.sqlite")).unwrap();
    let row: (String, String, String, String, String) = connection
        .query_row("SELECT kind, name, state, created, file_name FROM item", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })
        .unwrap();
    let words = ["job", "Süd 1.jdp", "stored", "2026-11-18T11:06:41.000000Z", "a file.zip"].map(str::to_owned);
    assert_eq!(<[String; 5]>::from(row), words);
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}
