//! Tests publications on full disks and in killed processes, and the damage that `verify` finds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::dataset::{repair, verify};
use headland::mirror::{Disk, Finding, Folder, Problem};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::disk_faults::failing;
use crate::series::{cases, stride};
use crate::support::{Farm, Rows, files, points, rows, state};

const FULL: i32 = 28;
const BROKEN: i32 = 5;

/// Requests seven jobs; in the second state one is changed, one removed and one added.
fn want(farm: &mut Farm, second: bool) {
    farm.wanted.clear();
    farm.sizes.rows = 100;
    for number in 0..7 {
        farm.put(&number.to_string(), &points(40, (-111.0 + f64::from(number), 45.0), number));
    }
    if second {
        farm.put("3", &points(41, (-108.0, 45.0), 99));
        farm.put("7", &points(42, (-99.0, 45.0), 7));
        farm.drop_job("5");
    }
}

/// The published rows.
fn published(path: &Path) -> Rows {
    rows(&files(&path.join("dataset")))
}

/// At every disk operation of a publication: the error states what to do, the old state is complete, and the next
/// publication ends normally.
#[test]
fn publication_on_a_failing_disk_leaves_the_old_state() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("farm");
    let (old, new, steps) = {
        let watch = failing(usize::MAX, false, 0);
        let mut farm = Farm::at(&path, Disk::with_injector(watch.clone()));
        want(&mut farm, false);
        farm.publish_and_compare();
        let old = published(&path);
        want(&mut farm, true);
        let before = watch.count.load(Ordering::Relaxed);
        farm.publish_and_compare();
        (old, published(&path), watch.count.load(Ordering::Relaxed) - before)
    };
    assert!(steps > 40, "{steps}");
    let faults = (0..steps).flat_map(|step| [(step, false, BROKEN), (step, true, FULL)]);
    // An odd distance, so that both faults occur.
    for (step, on, code) in faults.step_by(stride(5)) {
        {
            let mut farm = Farm::at(&path, Disk::default());
            want(&mut farm, false);
            farm.publish();
        }
        let opened = {
            let watch = failing(usize::MAX, false, 0);
            drop(Farm::at(&path, Disk::with_injector(watch.clone())));
            watch.count.load(Ordering::Relaxed)
        };
        let watch = failing(opened + step, on, code);
        let mut farm = Farm::at(&path, Disk::with_injector(watch.clone()));
        want(&mut farm, true);
        let Err(error) = farm.try_to_publish() else {
            // The packing of parts depends on the previous state, and so does the number of operations, slightly.
            let count = watch.count.load(Ordering::Relaxed);
            assert!(count <= opened + step, "step {step}, {code}: a failure is passed over");
            assert!(published(&path) == new, "step {step}, {code}");
            continue;
        };
        assert_eq!((error.kind(), error.facts().os_error), (Kind::File, Some(code)), "step {step}: {error}");
        let advice = if code == FULL { "free space on this disk" } else { "check the disk" };
        assert!(error.to_string().contains(advice), "step {step}: {error}");
        let found = published(&path);
        // The folder is replaced as a whole; a failure after it leaves the new state in place.
        assert!(found == old || found == new, "step {step}, {code}");
        // Of the published state, at most the folders at the top are older.
        let is_of_state = |found: &Finding| found.path.starts_with(path.join("generations"));
        let damaged = verify(&farm.folder, true, &Cancel::default()).unwrap();
        assert!(!damaged.iter().any(is_of_state), "step {step}, {code}: {damaged:?}");
        drop(farm);
        let mut farm = Farm::at(&path, Disk::default());
        want(&mut farm, true);
        farm.publish();
        assert!(published(&path) == new, "step {step}, {code}");
        let kept = fs::read_dir(path.join("generations")).unwrap().count();
        assert!(kept <= 2, "step {step}, {code}: {kept} generations");
    }
}

const HOME: &str = "HEADLAND_TEST_DATASET";

/// Publishes the two states in turn until the process ends.
fn publish_endlessly(path: &Path) {
    let mut farm = Farm::at(path, Disk::default());
    for round in 0_u64.. {
        want(&mut farm, round % 2 == 0);
        farm.publish();
        println!("published");
    }
}

#[test]
fn process_killed_during_a_publication_leaves_a_complete_state() {
    if let Some(path) = std::env::var_os(HOME) {
        publish_endlessly(Path::new(&path));
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("farm");
    let begun = Instant::now();
    let states: Vec<Rows> = [false, true]
        .map(|second| {
            let mut farm = Farm::at(&path, Disk::default());
            want(&mut farm, second);
            farm.publish_and_compare();
            published(&path)
        })
        .into();
    let longest = begun.elapsed();
    let mut seen = BTreeSet::new();
    for kill in 0..cases(8) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "dataset_disk::process_killed_during_a_publication_leaves_a_complete_state"])
            .arg("--nocapture")
            .env(HOME, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20) + longest.mul_f64(fastrand::f64()));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = published(&path);
        let state = states.iter().position(|state| *state == found);
        assert!(state.is_some(), "kill {kill}: neither the old state nor the new one");
        seen.insert(state);
        let folder = Folder::open(&path, true).unwrap();
        assert_eq!(verify(&folder, true, &Cancel::default()).unwrap(), [], "kill {kill}");
        let left = fs::read_dir(path.join("generations")).unwrap().count();
        assert!(left <= 2, "kill {kill}: {left} generations");
    }
    let mut farm = Farm::at(&path, Disk::default());
    want(&mut farm, false);
    farm.publish_and_compare();
    assert!(published(&path) == states[0]);
}

/// `verify` names every file that differs from the published one, and every archive that no longer gives its rows. The
/// next publication repairs what the archives still contain.
#[test]
fn damage_is_found_named_and_repaired() {
    let mut farm = Farm::new();
    want(&mut farm, false);
    farm.publish_and_compare();
    let find = |farm: &Farm, deep: bool| verify(&farm.folder, deep, &Cancel::default()).unwrap();
    let parts = files(&state(farm.folder.path()).join("dataset"));
    assert!(parts.len() >= 3);

    let mut bytes = fs::read(&parts[0]).unwrap();
    bytes[100] ^= 1;
    fs::write(&parts[0], bytes).unwrap();
    fs::remove_file(&parts[1]).unwrap();
    let extra = parts[2].with_file_name("part-of-mine.parquet");
    fs::write(&extra, b"PAR1").unwrap();
    let findings = find(&farm, false);
    let found: Vec<_> = findings.iter().map(|finding| finding.problem).collect();
    assert_eq!(found, [Problem::Damaged, Problem::Missing, Problem::Extra]);
    assert_eq!(repair(&farm.folder, &findings).unwrap(), 2);
    farm.publish_and_compare();

    // The archive of a job is exchanged without the journal.
    let archive = farm.wanted[&(false, "4".to_owned())].archive.clone();
    let whole = fs::read(&archive).unwrap();
    fs::write(&archive, points(40, (-107.0, 45.0), 50)).unwrap();
    assert_eq!(find(&farm, false), [], "the files themselves are whole");
    let deep = find(&farm, true);
    assert_eq!(deep.len(), 1, "{deep:?}");
    assert!(deep[0].to_string().contains("of job 4"), "{}", deep[0]);
    fs::remove_file(&archive).unwrap();
    let deep = find(&farm, true);
    assert_eq!((deep.len(), deep[0].problem), (1, Problem::Missing));
    fs::write(&archive, whole).unwrap();
    assert_eq!(find(&farm, true), []);

    let manifest = farm.folder.current().unwrap().unwrap().path.join("manifest.json");
    fs::write(&manifest, b"{").unwrap();
    let damage = find(&farm, false);
    assert_eq!(damage.len(), 1);
    assert_eq!(damage[0].to_string().matches("manifest.json").count(), 1, "{}", damage[0]);
    assert!(!damage[0].to_string().contains("damaged: `"), "{}", damage[0]);
    farm.publish_and_compare();
    fs::remove_file(farm.folder.current().unwrap().unwrap().path.join("manifest.json")).unwrap();
    let damage = find(&farm, false);
    assert_eq!((damage.len(), damage[0].problem), (1, Problem::Missing));
    farm.publish_and_compare();
}

/// Wrong checksums in the manifest are damage of their file, which readers reject. A manifest without checksums is
/// valid, and the next publication writes the parts again with them.
#[test]
fn block_checksums_are_verified_and_added_to_older_publications() {
    let mut farm = Farm::new();
    want(&mut farm, false);
    farm.publish_and_compare();
    let manifest = || farm.folder.current().unwrap().unwrap().path.join("manifest.json");
    let mut said: Value = serde_json::from_slice(&fs::read(manifest()).unwrap()).unwrap();
    said["parts"][0]["crc32"] = "00000000".into();
    fs::write(manifest(), said.to_string()).unwrap();
    let findings = verify(&farm.folder, false, &Cancel::default()).unwrap();
    assert_eq!((findings.len(), &findings[0].path), (1, &manifest()), "it is not what was written");
    // The digest as if the manifest had been written this way.
    said.as_object_mut().unwrap().remove("sha256").unwrap();
    fs::write(manifest(), sealed(&said)).unwrap();
    let findings = verify(&farm.folder, false, &Cancel::default()).unwrap();
    assert_eq!((findings.len(), findings[0].problem), (1, Problem::Damaged));
    assert!(findings[0].to_string().contains("checksums"), "{}", findings[0]);
    assert_eq!(repair(&farm.folder, &findings).unwrap(), 1);
    farm.publish_and_compare();

    let mut said: Value = serde_json::from_slice(&fs::read(manifest()).unwrap()).unwrap();
    said["format"] = 1.into();
    said.as_object_mut().unwrap().remove("sha256").unwrap();
    for part in said["parts"].as_array_mut().unwrap() {
        assert!(!part.as_object_mut().unwrap().remove("crc32").unwrap().as_str().unwrap().is_empty());
    }
    fs::write(manifest(), said.to_string()).unwrap();
    assert_eq!(verify(&farm.folder, false, &Cancel::default()).unwrap(), []);
    assert_eq!(farm.publish_and_compare().parts_kept, 0);
}

/// A manifest with its digest at its end, as it is written.
fn sealed(said: &Value) -> String {
    let body = said.to_string();
    let body = body.strip_suffix('}').unwrap();
    let digest = Sha256::digest(body).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("{body},\"sha256\":\"{digest}\"}}")
}

/// Without a digest, the layers and rows in a manifest are not trusted: the archives are read again, and none of them
/// is blamed. A manifest of the current version without its digest is damaged.
#[test]
fn manifest_without_a_digest_is_not_trusted_and_rewritten() {
    for format in [2, 8] {
        let mut farm = Farm::new();
        want(&mut farm, false);
        farm.publish_and_compare();
        let manifest = || farm.folder.current().unwrap().unwrap().path.join("manifest.json");
        let mut said: Value = serde_json::from_slice(&fs::read(manifest()).unwrap()).unwrap();
        assert_eq!(said["format"], 8, "the one that is written now");
        said.as_object_mut().unwrap().remove("sha256").unwrap();
        said["format"] = format.into();
        said["parts"][0]["origins"][0]["layer"] = "edited".into();
        fs::write(manifest(), said.to_string()).unwrap();
        let findings = verify(&farm.folder, true, &Cancel::default()).unwrap();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].to_string().contains("its digest is missing"), format == 8, "{}", findings[0]);
        assert_eq!(farm.publish_and_compare().parts_kept, 0);
    }
}
