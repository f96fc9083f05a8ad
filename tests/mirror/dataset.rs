//! Tests the dataset: exactly the rows of the archives, in few files that change only where jobs do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use headland::mirror::Disk;
use headland::sandbox::fields::{Coverage, HarvestStyle, generate_account};

use crate::support::{Farm, points, utm_points};

/// Position of the field with this number, on a grid of a quarter of a degree.
fn corner(number: u32) -> (f64, f64) {
    (-111.0 + f64::from(number % 16) / 4.0, 45.0 + f64::from(number / 16) / 4.0)
}

#[test]
fn rows_are_those_of_the_archives_after_every_change() {
    let mut farm = Farm::new();
    for number in 0..12 {
        farm.put(&format!("{number}"), &points(40 + number, corner(number), number));
    }
    farm.put("utm", &utm_points(7));
    let first = farm.publish_and_compare();
    assert_eq!((first.generation, first.parts_written, first.parts_kept), (1, 2, 0));
    let again = farm.publish_and_compare();
    assert_eq!((again.generation, again.parts_written, again.parts_kept), (1, 0, 2));
    farm.put("12", &points(9, corner(12), 12));
    farm.put("3", &points(90, corner(3), 77));
    farm.drop_job("5");
    let second = farm.publish_and_compare();
    assert_eq!((second.generation, second.parts_written, second.parts_kept), (2, 1, 1));
    farm.wanted.clear();
    let empty = farm.publish_and_compare();
    assert_eq!((empty.generation, empty.parts_written, empty.rows), (3, 0, 0));
    assert_eq!(farm.files().len(), 0);
}

#[test]
fn jobs_of_an_account_equal_their_archives() {
    let mut farm = Farm::new();
    let account = generate_account(7, HarvestStyle::Ideal);
    let jobs = account.jobs.iter().filter(|job| job.coverage == Coverage::Recorded);
    for job in jobs.filter(|job| job.truth().unwrap().rows < 5_000).take(12) {
        farm.put(&job.id, &job.shapefile_zip().unwrap()).job_type = job.sub_type.replace([' ', '/'], "");
    }
    assert!(farm.wanted.len() > 5);
    farm.publish_and_compare();
}

/// A sync may publish many times: the generation before it stays for its readers until the next writer starts.
#[test]
fn generation_before_a_writer_stays_until_the_next_writer_starts() {
    let home = tempfile::tempdir().unwrap();
    let mut next = 0;
    let mut publish = |times: u32| {
        let mut farm = Farm::at(&home.path().join("farm"), Disk::default());
        for number in 0..=next + times {
            farm.put(&format!("{number}"), &points(3, corner(number), number));
            if number > next {
                farm.publish_and_compare();
            }
        }
        next += times;
        let mut kept: Vec<u64> = fs::read_dir(home.path().join("farm/generations"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap())
            .collect();
        kept.sort_unstable();
        kept
    };
    assert_eq!(publish(1), [1]);
    assert_eq!(publish(3), [1, 3, 4], "that of before, the newest and the one before that");
    assert_eq!(publish(0), [3, 4]);
    assert_eq!(publish(1), [4, 5]);
}

/// Unchanged parts are the same files, by inode.
#[test]
fn unchanged_parts_stay_the_same_files() {
    let mut farm = Farm::new();
    farm.sizes.rows = 300;
    for number in 0..20 {
        farm.put(&format!("{number}"), &points(100, corner(number), number));
    }
    assert_eq!(farm.publish_and_compare().parts_written, 7);
    let inodes = |farm: &Farm| -> BTreeMap<_, _> {
        farm.files()
            .iter()
            .map(|path| (path.file_name().unwrap().to_owned(), fs::metadata(path).unwrap().ino()))
            .collect()
    };
    let before = inodes(&farm);
    farm.put("4", &points(101, corner(4), 400));
    let published = farm.publish_and_compare();
    let after = inodes(&farm);
    let kept = after.iter().filter(|(name, inode)| before.get(*name) == Some(*inode)).count();
    assert_eq!(kept, published.parts_kept);
    assert!(kept >= 5, "one part changed and the small one took in what was left: {published:?}");
}

/// Real archives of yield, seeding and as-applied data, as far as a debug build compares them in seconds.
#[test]
fn real_archives_are_in_the_dataset_row_for_row() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let corpus = std::env::var_os("HEADLAND_CORPUS").map_or(beside, PathBuf::from).join("ag");
    if !corpus.is_dir() {
        println!("there is no corpus in `{}`: nothing is compared", corpus.display());
        return;
    }
    let mut farm = Farm::new();
    for path in zips(&corpus) {
        let bytes = fs::read(&path).unwrap();
        if bytes.len() < 2_000_000 {
            farm.put(&format!("{}", farm.wanted.len()), &bytes);
        }
    }
    let published = farm.publish_and_compare();
    assert!(farm.wanted.len() > 5 && published.rows > 10_000, "{published:?}");
}

/// The zips below a folder.
fn zips(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(zips(&path));
        } else if path.extension().is_some_and(|ending| ending == "zip") {
            found.push(path);
        }
    }
    found.sort();
    found
}
