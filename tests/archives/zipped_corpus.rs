//! Reads loose files of the corpus also as a deflated zip with default threads: equal rows and diagnostics.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use headland::archive::{ReadOptions, Source};
use headland::layer;

use crate::builder;
use crate::corpus;

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs `work` on its own thread and fails if it exceeds the limit.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = channel();
    std::thread::spawn(move || send.send(work()));
    receive.recv_timeout(TIME_LIMIT).unwrap_or_else(|cause| panic!("{what}: {cause}"))
}

/// The files of one loose set: those that share its stem.
fn zipped(path: &Path) -> Vec<u8> {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let mut members: Vec<(String, Vec<u8>)> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|other| other.is_file() && other.file_stem() == path.file_stem())
        .filter(|other| other.extension().is_none_or(|found| found != "zip"))
        .map(|other| {
            let extension = other.extension().unwrap_or_default().to_str().unwrap().to_owned();
            (format!("{stem}.{extension}"), std::fs::read(&other).unwrap())
        })
        .collect();
    members.sort();
    builder::zip(&builder::lend(&members))
}

#[test]
fn every_loose_set_is_the_same_as_a_deflated_zip() {
    let Some(corpus) = corpus::folder() else { return };
    let mut count = 0;
    for set in corpus::sets(&corpus) {
        if !matches!(set.path.extension().and_then(|found| found.to_str()), Some("shp" | "SHP" | "dbf" | "DBF")) {
            continue;
        }
        let read = |source: Source| {
            in_time(&set.file, move || {
                let read = layer::read(&source, &ReadOptions::default());
                read.map(|layer| {
                    let codes: Vec<_> =
                        layer.diagnostics().iter().map(|found| (found.code.as_str(), found.record)).collect();
                    (layer.batches().to_vec(), codes)
                })
                .map_err(|error| error.kind())
            })
        };
        let (loose, packed) = (read(Source::Path(set.path.clone())), read(builder::source(zipped(&set.path))));
        assert!(loose == packed, "{}: {:?}, {:?}", set.file, loose.map(|found| found.1), packed.map(|found| found.1));
        count += 1;
    }
    println!("{count} sets");
    assert!(count > 150, "{count}");
}
