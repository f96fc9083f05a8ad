//! Tests members that are inflated on their own thread: equal bytes, equal errors in the same record, no leaked thread.

use std::time::{Duration, Instant};

use headland::archive::ReadOptions;
use headland::layer::{self, Layer, Stream, TypePolicy};

use crate::builder;
use crate::stream::{batches, dbf, messages, points, records, same};

/// A zip of two members above the size that gets a thread, and the byte range of its .dbf.
fn large() -> (Vec<u8>, std::ops::Range<usize>) {
    let count = 30_000;
    let (shp, shx) = builder::shp(1, &points(count));
    let zip = builder::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf(&records(count)))]);
    let found = |name: &[u8]| zip.windows(name.len()).position(|bytes| bytes == name).unwrap() + name.len();
    let (start, end) = (found(b"t.dbf"), zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap());
    (zip, start..end)
}

#[test]
fn several_threads_give_the_bytes_and_errors_of_one() {
    let (zip, dbf) = large();
    let mut cases = vec![("whole", zip.clone())];
    for (name, part) in [("early", 10), ("middle", 2), ("late", 1)] {
        let mut damaged = zip.clone();
        let at = dbf.start + dbf.len() / part - dbf.len() / 50;
        damaged[at..at + 9].copy_from_slice(b"\xff\x00\xff\x00\xaa\x55\xff\xff\xff");
        cases.push((name, damaged));
    }
    for (name, bytes) in cases {
        let source = builder::source(bytes);
        for strict in [true, false] {
            let on = |threads| ReadOptions { threads: Some(threads), strict, ..ReadOptions::default() };
            let outcome = |options: &ReadOptions| match layer::read(&source, options) {
                Ok(layer) => (Some(layer.batches().to_vec()), messages(layer.diagnostics())),
                Err(error) => (None, vec![error.to_string()]),
            };
            let one = outcome(&on(1));
            assert_eq!(one.0.is_none(), strict && name != "whole", "{name}: {:?}", one.1);
            for threads in [2, 3] {
                assert!(one == outcome(&on(threads)), "{name}, {threads} threads, strict {strict}: {:?}", one.1);
            }
            for (threads, size) in [(1, 1000), (2, 1000), (2, 65_536)] {
                let what = format!("{name}, {threads} threads, batches of {size}, strict {strict}");
                same(layer::read(&source, &on(1)), &source, &on(threads), size, &what);
            }
        }
    }
}

#[test]
fn failed_checksum_is_an_error_after_the_rows_before_it() {
    let (mut zip, dbf) = large();
    // The checksum is in the header of the member and in the directory, 16 and 30 bytes before its name.
    let directory = zip.windows(5).rposition(|bytes| bytes == b"t.dbf").unwrap();
    zip[dbf.start - 5 - 16] ^= 1;
    zip[directory - 30] ^= 1;
    let source = builder::source(zip);
    for threads in [1, 2] {
        let options = ReadOptions { threads: Some(threads), ..ReadOptions::default() };
        let (all, _, error) = batches(&source, &options, &TypePolicy::Header, 7000);
        let error = error.unwrap();
        assert!(error.message().contains("checksum"), "{error}");
        assert_eq!(all.len(), 4, "batches that ended before the end of the member were given");
        let options = ReadOptions { strict: false, ..options };
        let (all, notes, error) = batches(&source, &options, &TypePolicy::Header, 7000);
        assert!(error.is_none());
        let deleted = (0..30_000).filter(|row| row % 11 == 3).count();
        assert_eq!(all.iter().map(Layer::len).sum::<usize>(), 30_000 - deleted, "all rows can be saved");
        assert!(notes.iter().any(|note| note.code.as_str() == "dbf-damaged"), "{notes:?}");
    }
}

/// Number of threads of this process that inflate for a reader.
#[cfg(target_os = "linux")]
fn inflate_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(|task| name(task.unwrap())).filter(|name| name.starts_with("headland-inflat")).count()
}

#[cfg(target_os = "linux")]
#[test]
fn dropped_stream_leaks_no_thread() {
    // Tests run concurrently, so the count is taken in a process of its own.
    if std::env::var_os("HEADLAND_THREADS").is_none() {
        let own = std::env::current_exe().unwrap();
        let name = "stream_threads::dropped_stream_leaks_no_thread";
        let status = std::process::Command::new(own).args(["--exact", name]).env("HEADLAND_THREADS", "1").status();
        assert!(status.unwrap().success());
        return;
    }
    // More than the blocks in flight can hold, so that the thread is still running when it is counted.
    let source = builder::source(builder::zip(&[("t.dbf", &dbf(&records(80_000)))]));
    for (threads, started) in [(1, 0), (2, 1)] {
        let options = ReadOptions { threads: Some(threads), ..ReadOptions::default() };
        let mut stream = Stream::open(&source, &options, &TypePolicy::Header, 10).unwrap();
        assert!(stream.next_batch().unwrap().is_some());
        let patience = Instant::now();
        while inflate_threads() < started && patience.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        assert_eq!(inflate_threads(), started, "{threads} threads");
        drop(stream);
        assert_eq!(inflate_threads(), 0);
    }
    let small = builder::source(builder::zip(&[("t.dbf", &dbf(&records(100)))]));
    let _stream = Stream::open(&small, &ReadOptions::default(), &TypePolicy::Header, 10).unwrap();
    assert_eq!(inflate_threads(), 0, "a small member is unpacked sooner than a thread has started");
}
