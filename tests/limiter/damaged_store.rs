//! Tests files that the limiter cannot use: they are moved aside or left alone, and no client waits for one.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headland::clock::SystemClock;
use headland::limiter::{Limiter, StoreLocation};
use rusqlite::Connection;

use crate::support::*;

fn limiter(path: &Path) -> Limiter {
    let place = StoreLocation::File(path.to_owned());
    Limiter::unshared(&place, "https://x.org", KEY, &[window(20, 60_000)], Arc::new(SystemClock))
}

/// Whether two processes that open the file now share a budget.
fn is_shared(path: &Path) -> bool {
    let (one, two) = (limiter(path), limiter(path));
    let before = two.budget().remaining;
    runtime().block_on(spend(&one, 1));
    one.not_shared_reason().is_none() && two.budget().remaining == before - 1
}

fn sqlite(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

/// Creates a file that the limiter cannot use.
type Make = fn(&Path);

/// The files that were moved aside.
fn aside(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.to_str().unwrap().contains("damaged")).collect()
}

#[test]
fn unusable_file_falls_back_to_memory_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"not a folder").unwrap();
    let mut cases = vec![
        (file.join("limits.sqlite3"), "its folder cannot be created"),
        (folder.path().to_owned(), "it is not a regular file"),
    ];
    #[cfg(target_os = "linux")]
    {
        // One that waits for a reader without end, and one in a folder in which not even root creates files.
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        cases.push((pipe, "it is not a regular file"));
        cases.push(("/proc/limits.sqlite3".into(), "it cannot be created"));
    }
    for (path, reason) in cases {
        let limiter = limiter(&path);
        runtime().block_on(spend(&limiter, 1));
        assert_eq!(limiter.budget().remaining, 19);
        let warning = limiter.take_warning().unwrap();
        assert!(warning.contains("is not shared") && warning.contains(reason), "{warning}");
        assert_eq!(limiter.take_warning(), None);
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"not a folder");
}

#[cfg(unix)]
#[test]
fn read_only_file_is_left_unchanged() {
    use std::os::unix::fs::PermissionsExt as _;
    for content in [&b"garbage"[..], b""] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limits.sqlite3");
        std::fs::write(&path, content).unwrap();
        let allow = |file, folder_mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(file)).unwrap();
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(folder_mode)).unwrap();
        };
        allow(0o400, 0o500);
        // Root may write in spite of that, and shares.
        let is_allowed = std::fs::OpenOptions::new().write(true).open(&path).is_ok();
        let limiter = limiter(&path);
        assert_eq!(limiter.not_shared_reason().is_none(), is_allowed, "{:?}", limiter.not_shared_reason());
        assert_eq!(limiter.budget().remaining, 20);
        drop(limiter);
        allow(0o600, 0o700);
        assert!(is_allowed || std::fs::read(&path).unwrap() == content);
    }
}

#[test]
fn foreign_file_is_moved_aside_with_one_warning() {
    let makes: [(&str, Make); 5] = [
        ("not a database", |path| std::fs::write(path, b"{\"calls\": 30}").unwrap()),
        ("not a database", |path| std::fs::write(path, [7; 10_000]).unwrap()),
        ("another application", |path| sqlite(path, "CREATE TABLE mine (x); INSERT INTO mine VALUES (7);")),
        ("no such table", |path| sqlite(path, "CREATE TABLE mine (x); PRAGMA user_version = 1;")),
        ("no such column", |path| {
            sqlite(path, "CREATE TABLE slot (x); CREATE TABLE budget (y); PRAGMA user_version = 1;");
        }),
    ];
    for (reason, make) in makes {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limits.sqlite3");
        make(&path);
        let before = std::fs::read(&path).unwrap();
        let limiter = limiter(&path);
        let warning = limiter.take_warning().unwrap();
        assert!(warning.contains(reason) && warning.contains("limits.sqlite3.damaged-1"), "{warning}");
        assert_eq!((limiter.take_warning(), limiter.not_shared_reason()), (None, None));
        assert_eq!(std::fs::read(folder.path().join("limits.sqlite3.damaged-1")).unwrap(), before);
        assert!(is_shared(&path), "{reason}");
        drop(limiter);
        make(&path.with_extension("new"));
        std::fs::rename(path.with_extension("new"), &path).unwrap();
        assert!(is_shared(&path) && aside(folder.path()).len() >= 2, "the first one is kept");
    }
}

#[test]
fn file_truncated_at_any_byte_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.sqlite3");
    let whole = limiter(&path);
    runtime().block_on(spend(&whole, 10));
    drop(whole);
    let bytes = std::fs::read(&path).unwrap();
    let mut replaced = 0;
    for length in (0..bytes.len()).step_by(997).chain([1, 99, 100, 4_095, 4_096, bytes.len() - 1]) {
        for name in ["limits.sqlite3-wal", "limits.sqlite3-shm"] {
            let _ = std::fs::remove_file(folder.path().join(name));
        }
        std::fs::write(&path, &bytes[..length]).unwrap();
        // If the end of the last page is empty, the truncated file is as good as complete.
        replaced += usize::from(limiter(&path).take_warning().is_some());
        assert!(is_shared(&path), "{length} of {} bytes", bytes.len());
    }
    assert!(replaced >= 15, "{replaced}");
}

#[test]
fn concurrent_clients_replace_a_damaged_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.sqlite3");
    std::fs::write(&path, [7; 5_000]).unwrap();
    let start = Arc::new(std::sync::Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (path, start) = (path.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                let limiter = limiter(&path);
                runtime().block_on(spend(&limiter, 2));
                assert_eq!(limiter.not_shared_reason(), None);
                usize::from(limiter.take_warning().is_some())
            })
        })
        .collect();
    let warnings: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((warnings, aside(folder.path()).len()), (1, 1));
    assert_eq!(limiter(&path).budget().remaining, 4, "all count together");
}

#[test]
fn file_of_an_earlier_version_is_shared_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.sqlite3");
    let earlier = "
        CREATE TABLE slot (
            id INTEGER PRIMARY KEY, budget TEXT NOT NULL, at INTEGER NOT NULL,
            owner TEXT, lease INTEGER, until INTEGER, period INTEGER
        );
        CREATE INDEX slot_at ON slot (budget, at);
        CREATE TABLE budget (
            key TEXT PRIMARY KEY, blocked_from INTEGER, blocked_until INTEGER, cap INTEGER
        ) WITHOUT ROWID;
        PRAGMA user_version = 1;
    ";
    sqlite(&path, earlier);
    let limiter = limiter(&path);
    runtime().block_on(call_with_headers(&limiter, refused(86_400)));
    assert_eq!((limiter.take_warning(), aside(folder.path()).len()), (None, 0));
    sqlite(
        &path,
        "UPDATE budget SET blocked_until = blocked_from; INSERT INTO budget VALUES ('k', 1, 2, 3, NULL, NULL);",
    );
    sqlite(
        &path,
        "INSERT OR REPLACE INTO budget (key, blocked_from, blocked_until, cap) SELECT key, NULL, NULL, cap FROM budget;",
    );
    assert_eq!(limiter.budget().service_wait, None, "what the earlier version writes counts");
    drop(limiter);
    sqlite(&path, "PRAGMA user_version = 2;");
    assert!(
        super::damaged_store::limiter(&path)
            .not_shared_reason()
            .is_some_and(|trouble| trouble.contains("another version"))
    );
    assert_eq!(aside(folder.path()).len(), 0, "one of a later version is left alone");
}

#[test]
fn locked_file_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.sqlite3");
    drop(limiter(&path));
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE;").unwrap();
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(900));
        drop(other);
    });
    let limiter = limiter(&path);
    release.join().unwrap();
    assert_eq!((limiter.not_shared_reason(), limiter.budget().remaining), (None, 20));
    let left = std::fs::read_dir(folder.path())
        .unwrap()
        .filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().contains("locks"));
    assert_eq!(left.count(), 0);
}

/// Runs as its own child process, in which the system rejects every lock, as a network file system without locks does.
#[cfg(target_os = "linux")]
#[test]
fn folder_without_file_locks_delays_at_most_a_second_and_is_named() {
    const FILE: &str = "HEADLAND_TEST_NO_LOCKS";
    if let Some(file) = std::env::var_os(FILE) {
        for _ in 0..2 {
            let start = Instant::now();
            let limiter = limiter(Path::new(&file));
            let warning = limiter.take_warning().unwrap();
            runtime().block_on(spend(&limiter, 2));
            assert_eq!(limiter.budget().remaining, 18);
            assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
            assert!(warning.contains("without file locks") && warning.contains("limits.sqlite3"), "{warning}");
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("none.c"), folder.path().join("none.so"));
    let program = "
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        static int refuse(const char *name, int file, int command, va_list rest) {
            void *value = va_arg(rest, void *);
            if (command == F_SETLK || command == F_SETLKW) { errno = ENOLCK; return -1; }
            int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
            return real(file, command, value);
        }
        int fcntl(int file, int command, ...) {
            va_list rest; va_start(rest, command); return refuse(\"fcntl\", file, command, rest);
        }
        int fcntl64(int file, int command, ...) {
            va_list rest; va_start(rest, command); return refuse(\"fcntl64\", file, command, rest);
        }
    ";
    std::fs::write(&source, program).unwrap();
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(compiler.status().unwrap().success());
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "damaged_store::folder_without_file_locks_delays_at_most_a_second_and_is_named"])
        .env(FILE, folder.path().join("limits.sqlite3"))
        .env("LD_PRELOAD", &library)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
