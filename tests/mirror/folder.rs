//! Tests the folder: one writer, unusual paths, other versions and accounts, and all leftovers of a run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use headland::error::{Error, Kind};
use headland::layer::Cancel;
use headland::mirror::{
    Disk, FileState, Folder, ItemKind, Journal, Problem, Published, ReadTxn, WriteTxn, recover, repair,
};

use crate::account::{at, content, download, job, open, place, pull};
use crate::scenario::{Seen, run_scenario, snapshot};

const JOB: ItemKind = ItemKind::Job;

fn refused(path: &Path, for_writing: bool) -> Error {
    Folder::open(path, for_writing).unwrap_err()
}

#[test]
fn second_writer_is_an_error_that_names_the_first_and_readers_do_not_wait() {
    let home = place();
    let (folder, journal) = open(home.path());
    let error = refused(home.path(), true);
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.to_string().contains(&format!("this process ({})", std::process::id())), "{error}");
    pull(&folder, &journal, &job(1, 0), "a file");
    let reader = Folder::open(home.path(), false).unwrap();
    let journal_of_reader = Journal::open(&reader, None).unwrap();
    assert_eq!(journal_of_reader.read(ReadTxn::wanted).unwrap().len(), 1);
    let error = journal_of_reader.write(|step| step.count_call("lists")).unwrap_err();
    assert!(error.to_string().contains("readonly"), "{error}");
    drop((journal, folder));
    open(home.path());
}

/// Runs as its own child process, which takes the lock, prints a line, and waits to be killed.
#[test]
fn lock_of_a_killed_process_is_free() {
    const HOME: &str = "HEADLAND_TEST_LOCK";
    if let Some(path) = std::env::var_os(HOME) {
        let _held = Folder::open(Path::new(&path), true).unwrap();
        println!("\nheld");
        std::thread::sleep(std::time::Duration::from_mins(1));
        return;
    }
    let home = place();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "folder::lock_of_a_killed_process_is_free", "--nocapture"])
        .env(HOME, home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = std::io::BufReader::new(child.stdout.take().unwrap());
    assert!(std::io::BufRead::lines(said).map_while(Result::ok).any(|line| line == "held"));
    let error = refused(home.path(), true);
    assert!(error.to_string().contains(&format!("process {}", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_to_string(home.path().join("lock")).unwrap().trim(), child.id().to_string());
    open(home.path());
}

#[test]
fn path_with_blanks_and_umlauts_works() {
    let home = place();
    let path = home.path().join("Höfe & Äcker 2026").join("Süd #1 'alt' 100%");
    run_scenario(&path, Disk::default(), 3, &Seen::default()).unwrap();
    let other = place();
    run_scenario(other.path(), Disk::default(), 3, &Seen::default()).unwrap();
    assert_eq!(snapshot(&path), snapshot(other.path()));
    // The whole mirror can be moved: no file contains its path.
    let moved = home.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    assert_eq!(snapshot(&moved), snapshot(other.path()));
}

#[test]
fn folder_that_is_no_mirror_is_left_unchanged() {
    let home = place();
    fs::write(home.path().join("taxes.ods"), "").unwrap();
    let error = refused(home.path(), true);
    assert_eq!(error.kind(), Kind::Configuration);
    assert!(error.to_string().contains("taxes.ods"), "{error}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing was made");
    let file = home.path().join("taxes.ods");
    for for_writing in [true, false] {
        let error = refused(&file, for_writing);
        assert_eq!(error.kind(), Kind::File);
        assert!(error.to_string().contains("taxes.ods` is a file, but a mirror is a folder"), "{error}");
    }
    let error = refused(&home.path().join("nowhere"), false);
    assert!(error.to_string().contains("there is no mirror") && error.to_string().contains("sync"), "{error}");
    assert!(!home.path().join("nowhere").exists());
    // Another program's database of the same name.
    let other = place();
    rusqlite::Connection::open(other.path().join("journal.sqlite"))
        .unwrap()
        .execute_batch("CREATE TABLE diary (day)")
        .unwrap();
    assert!(refused(other.path(), true).to_string().contains("not the journal of a mirror"));
}

#[test]
fn other_format_is_an_error_before_any_change() {
    for (format, advice) in [(4, "upgrade headland"), (2, "move it and the files")] {
        let home = place();
        drop(open(home.path()));
        let connection = rusqlite::Connection::open(home.path().join("journal.sqlite")).unwrap();
        connection.pragma_update(None, "user_version", format).unwrap();
        drop(connection);
        let left = home.path().join("incoming/left.part");
        fs::write(&left, "").unwrap();
        for for_writing in [true, false] {
            let error = refused(home.path(), for_writing);
            assert_eq!(error.kind(), Kind::Configuration);
            let text = error.to_string();
            assert!(text.contains(&format!("format {format}")) && text.contains(advice), "{text}");
        }
        assert!(left.exists());
    }
}

#[test]
fn another_account_is_an_error_even_if_only_archives_remain() {
    let home = place();
    let (folder, journal) = open(home.path());
    pull(&folder, &journal, &job(1, 0), "a file");
    drop(journal);
    let error = Journal::open(&folder, Some("another account")).unwrap_err();
    assert_eq!(error.kind(), Kind::Configuration);
    assert!(error.to_string().contains("mirrors another account"), "{error}");
    drop(folder);
    fs::remove_file(home.path().join("journal.sqlite")).unwrap();
    let folder = Folder::open(home.path(), true).unwrap();
    let error = Journal::open(&folder, Some("another account")).unwrap_err();
    assert!(error.to_string().contains("mirrors another account"), "{error}");
}

#[test]
fn key_that_read_nothing_does_not_claim_the_folder() {
    let home = place();
    let folder = Folder::open(home.path(), true).unwrap();
    drop(Journal::open(&folder, Some("a key with a slip of the pen")).unwrap());
    let journal = Journal::open(&folder, Some("the account")).unwrap();
    pull(&folder, &journal, &job(1, 0), "a file");
    drop(journal);
    assert!(Journal::open(&folder, Some("the account")).is_ok());
    assert!(Journal::open(&folder, Some("a key with a slip of the pen")).is_err());
}

#[test]
fn leftovers_of_every_kind_are_stored_or_removed() {
    let home = place();
    run_scenario(home.path(), Disk::default(), 3, &Seen::default()).unwrap();
    let whole = snapshot(home.path());
    let (folder, journal) = open(home.path());
    // A download of a new job, one of an unknown record, and one that is already complete.
    let new = job(9, 0);
    journal.write(|step| step.list_page(JOB, std::slice::from_ref(&new), None, at(9))).unwrap();
    download(&folder, &new.stamp(JOB), "adopted");
    download(&folder, "0123456789abcdef", "of an unknown record");
    let done = journal.read(|look| look.item(JOB, "3")).unwrap().unwrap();
    let text = done.stamp.clone();
    fs::rename(download(&folder, &done.stamp, &text), folder.path().join("incoming").join(&text).join("job 3.zip"))
        .unwrap();
    drop((folder, journal));
    let root = home.path();
    for left in
        [".DS_Store", "generations/.DS_Store", "incoming/a.part", "incoming/whole.zip", "current.json.0123.part"]
    {
        fs::write(root.join(left), "half").unwrap();
    }
    for left in ["incoming/f00d", "incoming/empty", "generations/000077/dataset", "generations/000078.part/dataset"] {
        fs::create_dir_all(root.join(left)).unwrap();
    }
    fs::write(root.join("incoming/f00d/b.zip.part"), "half").unwrap();
    fs::write(root.join("incoming/f00d/.DS_Store"), "").unwrap();
    let nothing = root.join("incoming").join(job(10, 0).stamp(JOB));
    fs::create_dir(&nothing).unwrap();
    fs::write(nothing.join("empty.zip"), "").unwrap();

    let (folder, journal) = open(root);
    assert_eq!(recover(&folder, &journal, at(10)).unwrap(), 1);
    let item = journal.read(|look| look.item(JOB, "9")).unwrap().unwrap();
    let FileState::Stored(archive) = item.file else { panic!("{item:?}") };
    assert_eq!(archive.file_name, "adopted.zip");
    assert_eq!(fs::read(folder.store().path_of(&archive.sha256).unwrap()).unwrap(), content("adopted"));
    assert_eq!(headland::mirror::collect_garbage(&folder, &journal).unwrap(), 1, "the download of an unknown record");
    drop((folder, journal));
    let mut now = snapshot(root);
    now.retain(|name, _| !name.ends_with(&format!("{}.zip", archive.sha256)) && name != "job 9" && name != "summary");
    let mut before = whole;
    before.remove("summary");
    assert_eq!(now, before);
    let generations: Vec<_> = fs::read_dir(root.join("generations")).unwrap().collect();
    assert_eq!(generations.len(), 3, "two and what the file browser left");
}

#[test]
fn mirror_without_pointer_gets_it_again() {
    let home = place();
    run_scenario(home.path(), Disk::default(), 3, &Seen::default()).unwrap();
    let whole = snapshot(home.path());
    for damaged in
        ["", "{", "{\"format\":1,\"state\":\"/etc\"}", "{\"format\":1,\"state\":\"generations/../archives\"}"]
    {
        fs::remove_file(home.path().join("current.json")).unwrap();
        if !damaged.is_empty() {
            fs::write(home.path().join("current.json"), damaged).unwrap();
        }
        open(home.path());
        assert_eq!(snapshot(home.path()), whole, "{damaged}");
    }
}

#[test]
fn damaged_journal_is_an_error_with_a_repair_that_fetches_nothing_again() {
    let home = place();
    run_scenario(home.path(), Disk::default(), 3, &Seen::default()).unwrap();
    let path = home.path().join("journal.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..16].copy_from_slice(b"not the old text");
    fs::write(&path, &bytes).unwrap();
    for for_writing in [true, false] {
        let error = refused(home.path(), for_writing).to_string();
        assert!(
            error.contains("damaged") && error.contains("away and sync again") && error.contains("verify"),
            "{error}"
        );
    }
    fs::remove_file(&path).unwrap();
    // The list of the archives ends in a line that a power cut truncated, and begins with the zeros of another one.
    let taken = home.path().join("archives/taken.jsonl");
    let text = fs::read_to_string(&taken).unwrap();
    fs::write(&taken, format!("\u{0}\u{0}\n{text}{}", &text[..40])).unwrap();
    // The archives alone are complete.
    let (folder, journal) = open(home.path());
    assert_eq!(folder.store().verify(&journal.read(ReadTxn::archives).unwrap(), &Cancel::default()).unwrap(), []);
    let page = [job(1, 1), job(2, 0), job(3, 0)];
    journal.write(|step| step.list_page(JOB, &page, None, at(0))).unwrap();
    let have = journal.read(|look| look.in_state("stored", 10)).unwrap();
    assert_eq!(have.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["3", "1"]);
    let (lines, whole) = (text.lines().count(), |line: &&str| serde_json::from_str::<serde_json::Value>(line).is_ok());
    pull(&folder, &journal, &job(4, 0), "one more");
    assert_eq!(fs::read_to_string(&taken).unwrap().lines().filter(whole).count(), lines + 1);
    // The file in quarantine is requested again: another version of headland may be able to read it.
    assert_eq!(journal.read(|look| look.pending(10)).unwrap().len(), 1);
    assert_eq!(journal.read(ReadTxn::count_archives).unwrap().0, 3);
}

#[test]
fn journal_with_a_damaged_page_fails_its_check() {
    let home = place();
    run_scenario(home.path(), Disk::default(), 3, &Seen::default()).unwrap();
    let (folder, journal) = open(home.path());
    journal.read(ReadTxn::check).unwrap();
    drop((journal, folder));
    let path = home.path().join("journal.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    // The pages of the schema stay valid: they are read before the check.
    let holds_jobs = |page: &&mut [u8]| page.windows(19).any(|found| found == b"https://field.examp");
    bytes.chunks_mut(4_096).filter(holds_jobs).for_each(|page| page[..64].fill(0xff));
    fs::write(&path, &bytes).unwrap();
    let folder = Folder::open(home.path(), false).unwrap();
    let error = Journal::open(&folder, None).and_then(|journal| journal.read(ReadTxn::check)).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn damaged_missing_and_unknown_archives_are_found_and_fetched_again() {
    let home = place();
    let (folder, journal) = open(home.path());
    let [a, b, _] = [1, 2, 3].map(|id| pull(&folder, &journal, &job(id, 0), &format!("file {id}")));
    let store = folder.store();
    let damaged = store.path_of(&a.sha256).unwrap();
    fs::remove_file(&damaged).unwrap();
    fs::write(&damaged, content("file 1 with a flipped bit")).unwrap();
    fs::remove_file(store.path_of(&b.sha256).unwrap()).unwrap();
    let stray = folder.path().join("archives/zz");
    fs::create_dir(&stray).unwrap();
    fs::write(stray.join("stray.zip"), "?").unwrap();
    let check = || store.verify(&journal.read(ReadTxn::archives).unwrap(), &Cancel::default()).unwrap();
    let found = check();
    let mut troubles: Vec<_> = found.iter().map(|finding| finding.problem).collect();
    troubles.sort_by_key(|trouble| format!("{trouble:?}"));
    assert_eq!(troubles, [Problem::Damaged, Problem::Extra, Problem::Missing]);
    assert!(found.iter().any(|finding| finding.to_string().contains("sync again")), "{found:?}");
    assert_eq!(repair(&journal, &found).unwrap(), 2);
    let again: Vec<_> = journal.read(|look| look.pending(10)).unwrap().into_iter().map(|item| item.id).collect();
    assert_eq!(again, ["2", "1"]);
    for (id, text) in [(1, "file 1"), (2, "file 2")] {
        pull(&folder, &journal, &job(id, 0), text);
    }
    fs::remove_dir_all(stray).unwrap();
    assert_eq!(check(), []);
}

/// Runs its last part as its own child process without superuser rights, since a superuser may write anywhere.
#[cfg(unix)]
#[test]
fn read_only_folder_is_readable_and_an_error_for_a_writer() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    const HOME: &str = "HEADLAND_TEST_READ_ONLY";
    const UNPRIVILEGED_USER: u32 = 65_534;
    if let Some(path) = std::env::var_os(HOME) {
        let path = Path::new(&path);
        let error = refused(path, true);
        assert_eq!(error.kind(), Kind::File);
        assert!(error.to_string().contains("grant yourself write permission"), "{error}");
        let folder = Folder::open(path, false).unwrap();
        let journal = Journal::open(&folder, Some("an account")).unwrap();
        assert_eq!(journal.read(ReadTxn::wanted).unwrap().len(), 2);
        assert_eq!(folder.current().unwrap().unwrap().number, 2);
        // With the log of a killed run, SQLite would need to read more files than it may.
        let killed = path.with_file_name("killed");
        let error = refused(&killed, false);
        assert!(error.to_string().contains("opened once where it is writable"), "{error}");
        println!("\ndone");
        return;
    }
    // Not in memory: the copy of the test executable is large.
    let outer = tempfile::tempdir().unwrap();
    fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let home = outer.path().join("Höfe 100% #1?");
    run_scenario(&home, Disk::default(), 3, &Seen::default()).unwrap();
    let killed = outer.path().join("killed");
    fs::create_dir(&killed).unwrap();
    let (folder, journal) = open(&home);
    journal.write(|step| step.count_call("lists")).unwrap();
    for file in ["journal.sqlite", "journal.sqlite-wal"] {
        fs::copy(home.join(file), killed.join(file)).unwrap();
    }
    drop((journal, folder));
    for folder in [&home, &killed] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let test = outer.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    let mut child = Command::new(&test);
    let name = "folder::read_only_folder_is_readable_and_an_error_for_a_writer";
    child.args(["--exact", name, "--nocapture"]).env(HOME, &home).current_dir(outer.path());
    if fs::metadata(outer.path()).unwrap().uid() == 0 {
        child.uid(UNPRIVILEGED_USER).gid(UNPRIVILEGED_USER);
    }
    let output = child.output().unwrap();
    for folder in [&home, &killed] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("done"), "{said}");
}

#[test]
fn concurrent_threads_store_and_release_files_without_loss() {
    let home = place();
    let (folder, journal) = open(home.path());
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let (folder, journal) = (&folder, &journal);
            scope.spawn(move || {
                for version in 0..40 {
                    // Each has one job that changes, and all change between the same few files.
                    let text = format!("file {}", (version + thread) % 3);
                    let archive = pull(folder, journal, &job(thread, version.into()), &text);
                    let publish = |step: &WriteTxn<'_>| {
                        step.set_published(Published { generation: 1, revision: step.revision()? })
                    };
                    journal.write(publish).unwrap();
                    headland::mirror::collect_garbage(folder, journal).unwrap();
                    assert!(folder.store().path_of(&archive.sha256).is_some(), "job {thread}, version {version}");
                }
            });
        }
    });
    let expected = journal.read(ReadTxn::archives).unwrap();
    assert_eq!(folder.store().verify(&expected, &Cancel::default()).unwrap(), []);
    assert_eq!(journal.read(ReadTxn::wanted).unwrap().len(), 4);
}

#[cfg(unix)]
#[test]
fn archives_are_read_only_and_identical_ones_are_stored_once() {
    let home = place();
    let (folder, journal) = open(home.path());
    let one = pull(&folder, &journal, &job(1, 0), "the same");
    let two = pull(&folder, &journal, &job(2, 0), "the same");
    assert_eq!(one, two);
    let path = folder.store().path_of(&one.sha256).unwrap();
    assert!(fs::metadata(&path).unwrap().permissions().readonly());
    assert_eq!(journal.read(ReadTxn::count_archives).unwrap().0, 1);
    assert_eq!(fs::read_dir(home.path().join("incoming")).unwrap().count(), 0);
}
