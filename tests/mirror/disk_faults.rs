//! Tests disks that fill or fail at any step: the error is clear, no data is lost, and the next run ends normally.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use headland::error::{Error, Kind};
use headland::mirror::{Disk, FaultInjector, Operation};

use crate::account::place;
use crate::faulty_vfs::{self, Fault};
use crate::scenario::{Seen, assert_consistent, run_scenario, snapshot};
use crate::series::stride;

const FULL: i32 = 28;
const BROKEN: i32 = 5;

/// Makes the operation with this number fail, and with `on` all after it.
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

/// A scenario without faults, and the number of its operations.
fn uninterrupted() -> (std::collections::BTreeMap<String, String>, usize, u32) {
    let place = place();
    let watch = failing(usize::MAX, false, 0);
    faulty_vfs::plan(None);
    run_scenario(place.path(), Disk::with_injector(watch.clone()), 3, &Seen::default()).unwrap();
    let steps = faulty_vfs::plan(None);
    (snapshot(place.path()), watch.count.load(Ordering::Relaxed), steps)
}

/// The error of a failed disk names the file and states what to do.
fn is_clear(error: &Error, place: &Path, advice: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), Kind::File, "{text}");
    assert!(text.contains(&*place.to_string_lossy()), "{text}");
    assert!(advice.iter().any(|advice| text.contains(advice)), "{text}");
}

#[test]
fn failed_file_operation_at_any_step_loses_nothing() {
    let (whole, steps, _) = uninterrupted();
    assert!(steps > 60, "{steps}");
    for (at, on, code) in (0..steps).flat_map(|at| [(at, false, BROKEN), (at, true, FULL)]) {
        let place = place();
        let seen = Seen::default();
        let result = run_scenario(place.path(), Disk::with_injector(failing(at, on, code)), 3, &seen);
        let error = result.expect_err("a failed operation is never passed over");
        let advice = if code == FULL { "free space on this disk and run it again" } else { "check the disk" };
        is_clear(&error, place.path(), &[advice]);
        assert_eq!(error.facts().os_error, Some(code), "{error}");
        assert_consistent(place.path());
        run_scenario(place.path(), Disk::default(), 3, &seen).unwrap();
        assert_eq!(snapshot(place.path()), whole, "step {at}, {code}");
        // A scenario fetches four files, and none of them twice.
        assert_eq!(seen.fetched.borrow().len(), 4, "step {at}, {code}: {error}");
    }
}

#[test]
fn failed_journal_operation_at_any_step_loses_nothing() {
    let (whole, _, steps) = uninterrupted();
    assert!(steps > 60, "{steps}");
    let (mut failures, mut cases) = (0, 0);
    let faults = (0..steps).flat_map(|at| [(at, Fault::Broken, false), (at, Fault::Full, true)]);
    for (at, fault, on) in faults.step_by(stride(3)) {
        cases += 1;
        let place = place();
        let seen = Seen::default();
        faulty_vfs::plan(Some((at, fault, on)));
        let result = run_scenario(place.path(), Disk::default(), 3, &seen);
        faulty_vfs::plan(None);
        // SQLite ignores a failed checkpoint and failed clean-up at its end.
        if let Err(error) = result {
            failures += 1;
            is_clear(&error, place.path(), &["free space on this disk and run it again", "check the disk"]);
        }
        assert_consistent(place.path());
        run_scenario(place.path(), Disk::default(), 3, &seen).unwrap();
        assert_eq!(snapshot(place.path()), whole, "step {at}, {fault:?}");
        assert_eq!(seen.fetched.borrow().len(), 4, "step {at}, {fault:?}");
    }
    assert!(failures * 2 > cases, "{failures} of {cases}");
}
