//! Disks that fill or break at any step: a clear error, what was there is whole, the next run ends as if nothing had been.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use headland::error::{Error, Kind};
use headland::mirror::{Disk, FaultInjector, Operation};

use crate::account::place;
use crate::faulty_vfs::{self, Fault};
use crate::scenario::{Seen, holds, live, shown};

const FULL: i32 = 28;
const BROKEN: i32 = 5;

/// Lets the operation of that number fail, and with `on` all after it.
pub(crate) struct Failing {
    at: usize,
    on: bool,
    code: i32,
    pub(crate) count: AtomicUsize,
}

impl FaultInjector for Failing {
    fn before(&self, _: Operation, _: &Path) -> io::Result<()> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let fails = count == self.at || (self.on && count > self.at);
        if fails { Err(io::Error::from_raw_os_error(self.code)) } else { Ok(()) }
    }
}

pub(crate) fn failing(at: usize, on: bool, code: i32) -> Arc<Failing> {
    Arc::new(Failing { at, on, code, count: AtomicUsize::new(0) })
}

/// A life that nothing disturbs, and how many operations it took.
fn undisturbed() -> (std::collections::BTreeMap<String, String>, usize, u32) {
    let place = place();
    let watch = failing(usize::MAX, false, 0);
    faulty_vfs::plan(None);
    live(place.path(), Disk::with_injector(watch.clone()), 3, &Seen::default()).unwrap();
    let steps = faulty_vfs::plan(None);
    (shown(place.path()), watch.count.load(Ordering::Relaxed), steps)
}

/// The error of a disk that failed: it names the file and says what to do.
fn is_clear(error: &Error, place: &Path, advice: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), Kind::File, "{text}");
    assert!(text.contains(&*place.to_string_lossy()), "{text}");
    assert!(advice.iter().any(|advice| text.contains(advice)), "{text}");
}

#[test]
fn files_that_cannot_be_written_at_any_step_lose_nothing() {
    let (whole, steps, _) = undisturbed();
    assert!(steps > 60, "{steps}");
    for (at, on, code) in (0..steps).flat_map(|at| [(at, false, BROKEN), (at, true, FULL)]) {
        let place = place();
        let seen = Seen::default();
        let result = live(place.path(), Disk::with_injector(failing(at, on, code)), 3, &seen);
        let error = result.expect_err("a failed operation is never passed over");
        let advice = if code == FULL { "free space on this disk and run it again" } else { "see to the disk" };
        is_clear(&error, place.path(), &[advice]);
        assert_eq!(error.facts().os_error, Some(code), "{error}");
        holds(place.path());
        live(place.path(), Disk::default(), 3, &seen).unwrap();
        assert_eq!(shown(place.path()), whole, "step {at}, {code}");
        // Four files are fetched in a life, and none of them twice.
        assert_eq!(seen.fetched.borrow().len(), 4, "step {at}, {code}: {error}");
    }
}

#[test]
fn a_journal_that_cannot_be_written_at_any_step_loses_nothing() {
    let (whole, _, steps) = undisturbed();
    assert!(steps > 60, "{steps}");
    let mut failures = 0;
    for (at, fault, on) in (0..steps).flat_map(|at| [(at, Fault::Broken, false), (at, Fault::Full, true)]) {
        let place = place();
        let seen = Seen::default();
        faulty_vfs::plan(Some((at, fault, on)));
        let result = live(place.path(), Disk::default(), 3, &seen);
        faulty_vfs::plan(None);
        // SQLite passes over a checkpoint that failed, and over what it cannot tidy at its end.
        if let Err(error) = result {
            failures += 1;
            is_clear(&error, place.path(), &["free space on this disk and run it again", "see to the disk"]);
        }
        holds(place.path());
        live(place.path(), Disk::default(), 3, &seen).unwrap();
        assert_eq!(shown(place.path()), whole, "step {at}, {fault:?}");
        assert_eq!(seen.fetched.borrow().len(), 4, "step {at}, {fault:?}");
    }
    assert!(failures > steps, "{failures} of {}", 2 * steps);
}
