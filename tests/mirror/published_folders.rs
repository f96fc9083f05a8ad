//! Tests the folders of the published state and the file that names it: after failures, in copies, in mirrors of
//! earlier versions, and for readers of open files.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use headland::layer::Cancel;
use headland::mirror::dataset::{Dataset, repair, verify};
use headland::mirror::{Disk, FaultInjector, Folder, Operation, Options, Problem};

use crate::disk_faults::failing;
use crate::pull_cost::{sync, unlimited};
use crate::series::stride;
use crate::service::{Service, tree};
use crate::support::{Farm, points, state};

const FULL: i32 = 28;
const BROKEN: i32 = 5;

const FOLDERS: [&str; 5] = ["dataset", "catalog", "harvest_rows", "application_rows", "planting_rows"];

fn farm(path: &Path, disk: Disk, jobs: u32) -> Farm {
    let mut farm = Farm::at(path, disk);
    for job in 1..=jobs {
        farm.put(&job.to_string(), &points(3 + job, (-111.0, 45.0), job));
    }
    farm
}

/// The folders that differ from the published state.
fn outdated(path: &Path) -> Vec<&'static str> {
    let differs = |name: &&str| {
        let (top, own) = (path.join(name), state(path).join(name));
        own.is_dir() && (!top.is_dir() || top.is_symlink() || tree(&top) != tree(&own))
    };
    FOLDERS.into_iter().filter(differs).collect()
}

/// All symbolic links below a folder.
fn links(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            found.push(path);
        } else if path.is_dir() {
            found.extend(links(&path));
        }
    }
    found
}

#[test]
fn first_publication_that_fails_at_any_step_has_its_folders_after_the_next_one() {
    let steps = {
        let home = tempfile::tempdir().unwrap();
        let watch = failing(usize::MAX, false, 0);
        farm(&home.path().join("farm"), Disk::with_injector(watch.clone()), 1).publish();
        watch.count.load(Ordering::Relaxed)
    };
    let mut halves = 0;
    let faults = (0..steps).flat_map(|step| [(step, false, BROKEN), (step, true, FULL)]);
    for (step, on, code) in faults.step_by(stride(3)) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("farm");
        // A working disk makes the folder, since the first steps create it.
        drop(Farm::at(&path, Disk::default()));
        let Ok(folder) = Folder::open_with_disk(&path, true, Disk::with_injector(failing(step, on, code))) else {
            continue;
        };
        let mut first = farm(&home.path().join("other"), Disk::default(), 1);
        first.folder = folder;
        let failed = first.try_to_publish().is_err();
        let is_named = path.join("current.json").exists();
        if path.join("generations/000001").exists() && (!is_named || !outdated(&path).is_empty()) {
            assert!(failed, "step {step}, {code}");
            halves += 1;
            let found = verify(&first.folder, false, &Cancel::default()).unwrap();
            let missing: Vec<_> = FOLDERS.into_iter().filter(|name| !path.join(name).exists()).collect();
            for name in missing.iter().filter(|name| is_named && state(&path).join(name).exists()) {
                let is_it = |found: &headland::mirror::Finding| {
                    (found.problem, &found.path) == (Problem::Missing, &path.join(name))
                };
                assert!(found.iter().any(is_it), "step {step}, {code}: {found:?}");
            }
        }
        drop(first);
        farm(&path, Disk::default(), 1).publish_and_compare();
        assert_eq!(outdated(&path), [""; 0], "step {step}, {code}");
    }
    assert!(halves * stride(3) >= 6, "{halves} failures between the name of the generation and its folders");
}

/// At each step of a publication, each folder is that of one complete state, and so is the named generation.
#[test]
fn failure_at_each_step_leaves_folders_of_one_state_that_the_next_publication_repairs() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("farm");
    let contents = |farm: &Path| FOLDERS.map(|name| tree(&farm.join(name)));
    farm(&path, Disk::default(), 1).publish();
    let old = contents(&path);
    let (new, steps) = {
        let copy = home.path().join("copy");
        copy_mirror(&path, &copy, Links::Kept);
        let watch = failing(usize::MAX, false, 0);
        farm(&copy, Disk::with_injector(watch.clone()), 2).publish();
        (contents(&copy), watch.count.load(Ordering::Relaxed))
    };
    let mut mixed = 0;
    for step in (0..steps).step_by(stride(3)) {
        let copy = home.path().join(format!("step {step}"));
        copy_mirror(&path, &copy, Links::Kept);
        let watch = failing(step, true, FULL);
        let Ok(folder) = Folder::open_with_disk(&copy, true, Disk::with_injector(watch)) else { continue };
        let mut second = farm(&home.path().join("other"), Disk::default(), 2);
        second.folder = folder;
        drop(second.try_to_publish());
        drop(second);
        let named = FOLDERS.map(|name| tree(&state(&copy).join(name)));
        assert!(named == old || named == new, "step {step}");
        let found = contents(&copy);
        for (name, ((found, old), new)) in FOLDERS.iter().zip(found.iter().zip(&old).zip(&new)) {
            assert!(found == old || found == new, "step {step}: {name}");
        }
        mixed += usize::from(found != named);
        farm(&copy, Disk::default(), 2).publish_and_compare();
        assert!(contents(&copy) == new, "step {step}");
        assert!(links(&copy).is_empty());
        let left = fs::read_dir(&copy).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "step {step}: {left:?}");
        fs::remove_dir_all(&copy).unwrap();
    }
    assert!(mixed > 0, "no failure between the pointer and the folders");
}

/// A user removes or changes the pointer and each folder: `status` and `verify` report it, and a sync without news
/// repairs it.
#[tokio::test(start_paused = true)]
async fn removed_and_changed_folders_are_damage_that_the_next_sync_repairs() {
    let service = Service::start(unlimited(1));
    let mirror = service.mirror(&[], Options { locations: false, ..Options::default() });
    sync(&mirror).await;
    assert_eq!(mirror.status().unwrap().lost, None);
    let path = service.path();
    assert!(links(&path).is_empty());
    let changes: [fn(&Path); 3] = [
        |folder| fs::remove_dir_all(folder).unwrap(),
        |folder| {
            fs::remove_dir_all(folder).unwrap();
            std::os::unix::fs::symlink("archives", folder).unwrap();
        },
        |folder| fs::write(folder.join("more.parquet"), "?").unwrap(),
    ];
    for name in FOLDERS {
        for change in changes {
            change(&path.join(name));
            let damage = mirror.status().unwrap().lost.unwrap_or_default();
            assert!(damage.contains(&format!("farm/{name}` is ")) && damage.contains("sync again"), "{damage}");
            sync(&mirror).await;
            assert_eq!(outdated(&path), [""; 0], "{name}");
            assert_eq!(mirror.status().unwrap().lost, None);

            change(&path.join(name));
            let found = mirror.verify(false, &Cancel::default()).unwrap().findings;
            assert!(found.iter().any(|found| found.contains(&format!("farm/{name}` is "))), "{found:?}");
            assert_eq!(mirror.verify(false, &Cancel::default()).unwrap().findings, [""; 0]);
        }
    }
    fs::remove_file(path.join("current.json")).unwrap();
    let damage = mirror.status().unwrap().lost.unwrap_or_default();
    assert!(damage.contains("farm/current.json` is missing") && damage.contains("sync again"), "{damage}");
    sync(&mirror).await;
    assert_eq!(mirror.status().unwrap().lost, None);
    // A folder or file with data of the user stays, and the sync states what to do.
    for is_folder in [true, false] {
        fs::remove_dir_all(path.join("dataset")).unwrap();
        let thesis = if is_folder { path.join("dataset/thesis.docx") } else { path.join("dataset") };
        fs::create_dir_all(thesis.parent().unwrap()).unwrap();
        fs::write(&thesis, "mine").unwrap();
        let error = mirror.sync(&headland::mirror::Progress::default()).await.unwrap_err();
        assert!(error.to_string().contains("farm/dataset`") && error.to_string().contains("move it away"), "{error}");
        assert_eq!(fs::read(&thesis).unwrap(), b"mine");
        if is_folder {
            fs::remove_file(&thesis).unwrap();
        } else {
            fs::remove_file(path.join("dataset")).unwrap();
        }
        sync(&mirror).await;
        assert_eq!(outdated(&path), [""; 0]);
    }
}

#[test]
fn folder_with_tables_of_the_user_is_no_mirror() {
    for name in FOLDERS {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(name)).unwrap();
        fs::write(home.path().join(name).join("mine.parquet"), "mine").unwrap();
        let error = Folder::open(home.path(), true).unwrap_err();
        assert!(error.to_string().contains("contains other files"), "{error}");
        assert_eq!(fs::read(home.path().join(name).join("mine.parquet")).unwrap(), b"mine");
    }
}

/// How a copy treats symbolic links.
#[derive(Clone, Copy, Debug)]
enum Links {
    Kept,
    Followed,
    Left,
    /// As a text file with their target.
    Text,
}

fn copy_mirror(from: &Path, to: &Path, links: Links) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        match (path.is_symlink(), links) {
            (true, Links::Kept) => std::os::unix::fs::symlink(fs::read_link(&path).unwrap(), copy).unwrap(),
            (true, Links::Left) => {}
            (true, Links::Text) => {
                fs::write(copy, fs::read_link(&path).unwrap().as_os_str().as_encoded_bytes()).unwrap();
            }
            _ if path.is_dir() => copy_mirror(&path, &copy, links),
            _ => drop(fs::copy(&path, &copy).unwrap()),
        }
    }
}

/// Gives a mirror the links of earlier versions.
fn to_links(path: &Path) {
    let generation = state(path).strip_prefix(path).unwrap().to_owned();
    fs::remove_file(path.join("current.json")).unwrap();
    for name in FOLDERS {
        fs::remove_dir_all(path.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(generation, path.join("current")).unwrap();
    for name in ["dataset", "catalog"] {
        std::os::unix::fs::symlink(Path::new("current").join(name), path.join(name)).unwrap();
    }
}

#[test]
fn mirror_of_an_earlier_version_is_read_and_converted_with_and_without_its_links() {
    for links_of_copy in [Links::Kept, Links::Followed, Links::Left, Links::Text] {
        let home = tempfile::tempdir().unwrap();
        let (path, copy) = (home.path().join("farm"), home.path().join("copy"));
        let first = farm(&path, Disk::default(), 2);
        first.publish();
        let expected = first.publish().generation;
        let content = tree(&path.join("dataset"));
        drop(first);
        to_links(&path);
        copy_mirror(&path, &copy, links_of_copy);
        if matches!(links_of_copy, Links::Kept | Links::Followed) {
            assert_eq!(Dataset::open(&copy).unwrap().generation(), expected, "{links_of_copy:?}");
        }
        let converted = farm(&copy, Disk::default(), 2);
        assert_eq!(outdated(&copy), [""; 0], "{links_of_copy:?}");
        assert!(links(&copy).is_empty(), "{links_of_copy:?}");
        assert!(!copy.join("current").exists(), "{links_of_copy:?}");
        assert_eq!(tree(&copy.join("dataset")), content, "{links_of_copy:?}");
        assert_eq!(Dataset::open(&copy).unwrap().generation(), expected, "{links_of_copy:?}");
        assert_eq!(converted.publish_and_compare().generation, expected, "{links_of_copy:?}");
    }
}

/// A file system without hard links.
struct WithoutLinks;

impl FaultInjector for WithoutLinks {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        if operation == Operation::Link { Err(ErrorKind::Unsupported.into()) } else { Ok(()) }
    }
}

#[test]
fn file_system_without_hard_links_has_copies_that_are_kept_and_verified() {
    use std::os::unix::fs::MetadataExt as _;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("farm");
    let disk = || Disk::with_injector(Arc::new(WithoutLinks));
    farm(&path, disk(), 1).publish();
    farm(&path, disk(), 2).publish_and_compare();
    assert_eq!(outdated(&path), [""; 0]);
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    let relative: PathBuf = tree(&path.join("dataset")).into_keys().next().unwrap();
    let (own, top) = (state(&path).join("dataset").join(&relative), path.join("dataset").join(&relative));
    let before = inode(&top);
    assert_ne!(inode(&own), before);
    let farm = farm(&path, disk(), 2);
    assert_eq!(inode(&top), before, "it is not copied again");
    // A damaged copy of the same size and time.
    let time = fs::metadata(&top).unwrap().modified().unwrap();
    let mut bytes = fs::read(&top).unwrap();
    bytes[100] ^= 1;
    fs::write(&top, bytes).unwrap();
    fs::File::options().write(true).open(&top).unwrap().set_modified(time).unwrap();
    let found = verify(&farm.folder, false, &Cancel::default()).unwrap();
    assert_eq!(found.iter().map(|found| &found.path).collect::<Vec<_>>(), [&top], "{found:?}");
    repair(&farm.folder, &found).unwrap();
    drop(farm);
    drop(Farm::at(&path, disk()));
    assert_eq!(outdated(&path), [""; 0]);
}

#[test]
fn reader_of_an_open_file_reads_it_to_its_end_after_two_publications() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("farm");
    farm(&path, Disk::default(), 1).publish();
    let expected = tree(&path);
    let names: Vec<PathBuf> = FOLDERS
        .iter()
        .flat_map(|name| tree(&path.join(name)).into_keys().map(|file| Path::new(name).join(file)))
        .collect();
    let mut open: Vec<_> = names.iter().map(|name| (name, fs::File::open(path.join(name)).unwrap())).collect();
    farm(&path, Disk::default(), 2).publish();
    farm(&path, Disk::default(), 3).publish();
    for (name, file) in &mut open {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(&bytes, &expected[*name], "{}", name.display());
    }
    assert!(open.len() >= 6, "{}", open.len());
}

/// A folder that a reader keeps from being renamed, as on Windows.
struct InUse;

impl FaultInjector for InUse {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_it = operation == Operation::Rename && path.ends_with("catalog.old.part");
        if is_it { Err(io::Error::from_raw_os_error(16)) } else { Ok(()) }
    }
}

#[test]
fn folder_in_use_keeps_its_state_until_the_next_sync() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("farm");
    farm(&path, Disk::default(), 1).publish();
    let before = tree(&path.join("catalog"));
    let second = farm(&path, Disk::with_injector(Arc::new(InUse)), 2);
    assert_eq!(second.publish().generation, 2);
    assert_eq!(outdated(&path), ["catalog"]);
    assert_eq!(tree(&path.join("catalog")), before);
    let found = verify(&second.folder, false, &Cancel::default()).unwrap();
    assert_eq!(found.iter().map(|found| &found.path).collect::<Vec<_>>(), [&path.join("catalog")]);
    drop(second);
    drop(Farm::at(&path, Disk::default()));
    assert_eq!(outdated(&path), [""; 0]);
}

/// Nothing behind a link of the user is reported or removed.
#[test]
fn verification_does_not_follow_links_of_the_user() {
    let home = tempfile::tempdir().unwrap();
    let (path, mine) = (home.path().join("farm"), home.path().join("mine"));
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("precious.parquet"), "mine").unwrap();
    let farm = farm(&path, Disk::default(), 1);
    farm.publish();
    let link = state(&path).join("dataset/mine");
    std::os::unix::fs::symlink(&mine, &link).unwrap();
    std::os::unix::fs::symlink(mine.join("precious.parquet"), path.join("catalog/mine.parquet")).unwrap();
    let found = verify(&farm.folder, false, &Cancel::default()).unwrap();
    assert!(found.iter().any(|found| found.path == link && found.detail.contains("remove the link")), "{found:?}");
    assert!(!found.iter().any(|found| found.path.starts_with(&link) && found.path != link), "{found:?}");
    assert!(!found.iter().any(|found| found.detail.contains("delete")), "{found:?}");
    repair(&farm.folder, &found).unwrap();
    drop(farm);
    drop(Farm::at(&path, Disk::default()));
    assert_eq!(outdated(&path), [""; 0]);
    assert_eq!(fs::read(mine.join("precious.parquet")).unwrap(), b"mine");
}
