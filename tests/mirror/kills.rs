//! Tests kills of real processes at random moments: finished work is kept, no partial state is visible, and the end is
//! equal.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use headland::mirror::{Disk, FaultInjector, Folder, ItemKind, Journal, Operation};

use crate::account::place;
use crate::faulty_vfs::{self, Fault};
use crate::scenario::{Seen, assert_consistent, run_scenario, snapshot};
use crate::series::{cases, stride};

const LIFE: &str = "HEADLAND_TEST_MIRROR";
/// The step at which the process kills itself: `files 17`, `journal 4`.
const MOMENT: &str = "HEADLAND_TEST_MIRROR_MOMENT";
const JOBS: u32 = 12;

/// Kills its process before the operation with this number.
pub(crate) struct Killing {
    at: usize,
    count: AtomicUsize,
}

impl Killing {
    pub(crate) fn at(at: usize) -> Self {
        Self { at, count: AtomicUsize::new(0) }
    }
}

impl FaultInjector for Killing {
    fn before(&self, _: Operation, _: &Path) -> io::Result<()> {
        if self.count.fetch_add(1, Ordering::Relaxed) == self.at { faulty_vfs::die() } else { Ok(()) }
    }
}

/// Runs the scenario in a child process until it ends or is killed; returns its output and whether it ended.
fn run(path: &Path, kill_after: Option<Duration>) -> (String, bool) {
    let test = "kills::process_killed_at_any_moment_has_finished_what_it_reported";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(LIFE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(delay) = kill_after {
        std::thread::sleep(delay);
        child.kill().unwrap();
    }
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    (said, child.wait().unwrap().success())
}

/// The stamps that follow a word.
fn stamps<'a>(said: &'a str, word: &str) -> Vec<&'a str> {
    said.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
}

/// Asserts that everything that the process reported as finished is stored.
fn is_kept(path: &Path, said: &str) {
    let folder = Folder::open(path, false).unwrap();
    let journal = Journal::open(&folder, None).unwrap();
    let (items, stage) = journal.read(|look| Ok((look.items(ItemKind::Job)?, look.get_meta("stage")?))).unwrap();
    for stamp in stamps(said, "took") {
        // A record that has changed since has another stamp.
        let kept = items.iter().find(|item| item.stamp == stamp).is_none_or(|item| {
            item.archive.is_some() || matches!(item.file, headland::mirror::FileState::Quarantined { .. })
        });
        assert!(kept, "{stamp} in {items:?}");
    }
    let published = stamps(said, "published").last().map(|&stage| stage.to_owned());
    assert!(stage >= published, "{published:?} was published, {stage:?} is known");
}

#[test]
fn process_killed_at_any_moment_has_finished_what_it_reported() {
    if let Some(path) = std::env::var_os(LIFE) {
        println!();
        run_scenario(Path::new(&path), Disk::default(), JOBS, &Seen::default()).unwrap();
        return;
    }
    let undisturbed = place();
    let begun = Instant::now();
    assert!(run(undisturbed.path(), None).1);
    let whole_life = begun.elapsed();
    let whole = snapshot(undisturbed.path());

    let (mut kills, mut lives) = (0, 0);
    while kills < cases(6) {
        let home = place();
        let (mut fetched, mut rounds) = (HashSet::new(), 0);
        loop {
            rounds += 1;
            // Late rounds have little work left, so that a scenario ends.
            let (said, ended) = run(home.path(), (rounds < 20).then(|| whole_life.mul_f64(fastrand::f64())));
            for stamp in stamps(&said, "fetching") {
                assert!(!fetched.contains(stamp), "{stamp} was fetched before");
            }
            fetched.extend(stamps(&said, "fetched").into_iter().map(str::to_owned));
            assert_consistent(home.path());
            if ended {
                break;
            }
            kills += 1;
            // If it is killed before its first step, no mirror exists yet.
            if said.contains("fetching") {
                is_kept(home.path(), &said);
            }
        }
        assert_eq!(snapshot(home.path()), whole);
        lives += 1;
    }
    println!("{kills} kills in {lives} lives");
}

/// As its own child process, it kills itself before the given step.
#[cfg(unix)]
#[test]
fn process_killed_at_each_step_resumes_from_there() {
    const FEW: u32 = 3;
    if let (Some(path), Ok(moment)) = (std::env::var_os(LIFE), std::env::var(MOMENT)) {
        println!();
        let (what, at) = moment.split_once(' ').unwrap();
        let at = at.parse().unwrap();
        let disk = if what == "files" {
            Disk::with_injector(Arc::new(Killing::at(at)))
        } else {
            faulty_vfs::plan(Some((u32::try_from(at).unwrap(), Fault::Killed, false)));
            Disk::default()
        };
        run_scenario(Path::new(&path), disk, FEW, &Seen::default()).unwrap();
        return;
    }
    let home = place();
    run_scenario(home.path(), Disk::default(), FEW, &Seen::default()).unwrap();
    let whole = snapshot(home.path());
    for what in ["files", "journal"] {
        let mut at = 0;
        loop {
            let home = place();
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "kills::process_killed_at_each_step_resumes_from_there", "--nocapture"])
                .env(LIFE, home.path())
                .env(MOMENT, format!("{what} {at}"))
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_consistent(home.path());
            let rest = Seen::default();
            run_scenario(home.path(), Disk::default(), FEW, &rest).unwrap();
            assert_eq!(snapshot(home.path()), whole, "{what} {at}");
            let again: Vec<_> = stamps(&said, "fetched");
            assert!(rest.fetched.borrow().iter().all(|stamp| !again.contains(&stamp.as_str())), "{what} {at}: {said}");
            if output.status.success() {
                break;
            }
            at += stride(3);
        }
        assert!(at > 60, "{what}: {at} steps");
    }
}
