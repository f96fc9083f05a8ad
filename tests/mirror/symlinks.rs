//! Tests links to the published generation that a failed publication, a kill or a user removed: reported, and repaired
//! by a sync.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use headland::layer::Cancel;
use headland::mirror::dataset::verify;
use headland::mirror::{Disk, Folder, Options, Problem};

use crate::disk_faults::failing;
use crate::pull_cost::{sync, unlimited};
use crate::service::Service;
use crate::support::{Farm, points};

const FULL: i32 = 28;
const BROKEN: i32 = 5;

fn farm(path: &Path, disk: Disk) -> Farm {
    let mut farm = Farm::at(path, disk);
    farm.put("1", &points(4, (-111.0, 45.0), 1));
    farm
}

fn missing_links(path: &Path) -> Vec<&'static str> {
    let is_missing = |name: &&str| {
        let found = fs::read_link(path.join(name)).unwrap_or_default();
        if *name == "current" { !found.starts_with("generations") } else { found != Path::new("current").join(name) }
    };
    ["current", "dataset", "catalog"].into_iter().filter(is_missing).collect()
}

#[test]
fn first_publication_that_fails_at_any_step_has_its_links_after_the_next_one() {
    let steps = {
        let home = tempfile::tempdir().unwrap();
        let watch = failing(usize::MAX, false, 0);
        farm(&home.path().join("farm"), Disk::with_injector(watch.clone())).publish();
        watch.count.load(Ordering::Relaxed)
    };
    let mut halves = 0;
    for (step, on, code) in (0..steps).flat_map(|step| [(step, false, BROKEN), (step, true, FULL)]) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("farm");
        // A working disk makes the folder, since the first steps create it.
        drop(Farm::at(&path, Disk::default()));
        let Ok(folder) = Folder::open_with_disk(&path, true, Disk::with_injector(failing(step, on, code))) else {
            continue;
        };
        let mut first = farm(&home.path().join("other"), Disk::default());
        first.folder = folder;
        let failed = first.try_to_publish().is_err();
        let missing = missing_links(&path);
        if path.join("generations/000001").exists() && !missing.is_empty() {
            assert!(failed, "step {step}, {code}: {missing:?}");
            halves += 1;
            let named: Vec<_> = verify(&first.folder, false, &Cancel::default())
                .unwrap()
                .into_iter()
                .map(|finding| (finding.problem, finding.path))
                .collect();
            for name in missing.iter().filter(|name| **name != "current") {
                assert!(named.contains(&(Problem::Missing, path.join(name))), "step {step}, {code}: {named:?}");
            }
        }
        drop(first);
        farm(&path, Disk::default()).publish_and_compare();
        let dataset = path.join("dataset");
        assert!(dataset.is_dir() && path.join("catalog").exists(), "step {step}, {code}: {:?}", missing_links(&path));
    }
    assert!(halves >= 6, "{halves} failures between the name of the generation and its links");
}

/// A user removes each link or changes its target: `status` and `verify` report it, and a sync without news repairs it.
#[tokio::test(start_paused = true)]
async fn removed_and_replaced_links_are_damage_that_the_next_sync_repairs() {
    let service = Service::start(unlimited(1));
    let mirror = service.mirror(&[], Options { locations: false, ..Options::default() });
    sync(&mirror).await;
    assert_eq!(mirror.status().unwrap().lost, None);
    let path = service.path();
    for name in ["current", "dataset", "catalog"] {
        for replaced in [false, true] {
            let link = path.join(name);
            fs::remove_file(&link).unwrap();
            if replaced {
                std::os::unix::fs::symlink("archives", &link).unwrap();
            }
            let damage = mirror.status().unwrap().lost.unwrap_or_default();
            assert!(damage.contains(&format!("farm/{name}` is ")) && damage.contains("sync again"), "{damage}");
            sync(&mirror).await;
            assert_eq!(missing_links(&path), [""; 0], "{name}");
            assert_eq!(mirror.status().unwrap().lost, None);

            fs::remove_file(&link).unwrap();
            let found = mirror.verify(false, &Cancel::default()).unwrap().findings;
            assert!(found.iter().any(|found| found.contains(&format!("farm/{name}` is missing"))), "{found:?}");
            assert_eq!(mirror.verify(false, &Cancel::default()).unwrap().findings, [""; 0]);
        }
    }
    // A folder may contain a user's data: it stays, and the sync states what to do.
    fs::remove_file(path.join("dataset")).unwrap();
    fs::create_dir(path.join("dataset")).unwrap();
    assert!(mirror.status().unwrap().lost.unwrap().contains("move it away and sync again"));
    let error = mirror.sync(&headland::mirror::Progress::default()).await.unwrap_err();
    assert!(error.to_string().contains("move it away"), "{error}");
    assert!(path.join("dataset").is_dir());
}
