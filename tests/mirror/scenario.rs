//! Runs a short scenario of a mirror like a sync: three archives, one that changes, one that cannot be read, two
//! publications. It resumes where it stopped.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use headland::error::Result;
use headland::layer::Cancel;
use headland::mirror::{
    Disk, Folder, Item, ItemKind, Journal, Listed, Location, Published, ReadTxn, collect_garbage, ingest, quarantine,
    recover,
};

use crate::account::{at, content, job};
use crate::support::state;

const JOB: ItemKind = ItemKind::Job;

/// External observations of a scenario.
#[derive(Default)]
pub(crate) struct Seen {
    /// The file of each record, as it was fetched.
    pub(crate) fetched: RefCell<Vec<String>>,
}

/// Runs from the stored state to the end.
pub(crate) fn run_scenario(path: &Path, disk: Disk, jobs: u32, seen: &Seen) -> Result<()> {
    let folder = Folder::open_with_disk(path, true, disk)?;
    let journal = Journal::open(&folder, Some("an account"))?;
    recover(&folder, &journal, at(0))?;
    for stage in 0..2_i64 {
        if journal.read(|look| look.get_meta("stage"))?.is_some_and(|done| done >= stage.to_string()) {
            continue;
        }
        // In the second stage the first job has changed.
        let page: Vec<Listed> = (1..=jobs).map(|id| job(id, if id == 1 { stage } else { 0 })).collect();
        journal.write(|step| step.list_page(JOB, &page, None, at(stage)))?;
        while let Some(item) = journal.read(|look| look.pending(1))?.pop() {
            let incoming = folder.incoming(&item.stamp)?.join(format!("job {}.zip", item.id));
            seen.fetched.borrow_mut().push(item.stamp.clone());
            println!("fetching {}", item.stamp);
            // The client writes it with its own code.
            std::fs::write(incoming.with_extension("half.part"), content(&item.stamp)).unwrap();
            std::fs::rename(incoming.with_extension("half.part"), &incoming).unwrap();
            println!("fetched {}", item.stamp);
            ingest(&folder, &journal, (JOB, &item.id, &item.stamp), &incoming, at(stage), |_| Ok(()))?;
            println!("took {}", item.stamp);
        }
        while let Some(item) = journal.read(|look| look.details_due(1))?.pop() {
            journal.write(|step| {
                step.set_detail(JOB, &item.id, &item.stamp, "{}")?;
                step.count_call("details")
            })?;
        }
        let spot = |id: i64| Location {
            device_kind: "Field Hub".to_owned(),
            device_id: "7".to_owned(),
            record_id: id.to_string(),
            time: Some(at(id)),
            json: "{}".to_owned(),
        };
        journal.write(|step| step.add_locations(&[spot(stage), spot(stage + 1)]))?;
        if stage == 1
            && let Some(bad) = journal.read(|look| look.item(JOB, "2"))?.and_then(|item| item.archive)
        {
            quarantine(&folder, &journal, &bad.sha256, "its shp ends in a record")?;
        }
        publish(&folder, &journal)?;
        journal.write(|step| step.set_meta("stage", &stage.to_string()))?;
        println!("published {stage}");
    }
    Ok(())
}

/// Publishes the wanted files as a list of names and digests, and a large file that stays.
fn publish(folder: &Folder, journal: &Journal) -> Result<()> {
    let (revision, wanted) = journal.read(|look| Ok((look.revision()?, look.wanted()?)))?;
    let draft = folder.stage_generation()?;
    let disk = folder.disk();
    for name in ["dataset", "catalog"] {
        disk.make_folder(&draft.path().join(name))?;
    }
    let line = |job: &Item| format!("{} {}\n", job.id, job.archive.as_ref().unwrap().sha256);
    let lines: Vec<String> = wanted.iter().map(line).collect();
    let mut part = disk.create_part(draft.path(), "manifest")?;
    part.write_all(lines.concat().as_bytes()).map_err(|cause| part.write_error(&cause))?;
    part.keep(&draft.path().join("manifest.json"))?;
    let rows = draft.path().join("dataset/part-0.parquet");
    if let Some(before) = folder.current()? {
        disk.link_or_copy(&before.path.join("dataset/part-0.parquet"), &rows)?;
    } else {
        let mut part = disk.create_part(draft.path(), "rows")?;
        part.write_all(&content("rows")).map_err(|cause| part.write_error(&cause))?;
        part.keep(&rows)?;
    }
    let generation = draft.publish()?.number;
    journal.write(|step| step.set_published(Published { generation, revision }))?;
    collect_garbage(folder, journal).map(drop)
}

/// The visible state of a mirror at its end: the content of its files and the journal's state of each job. Generation
/// numbers and times are omitted, since an interrupted run may have published once more.
pub(crate) fn snapshot(path: &Path) -> BTreeMap<String, String> {
    let mut snapshot = BTreeMap::new();
    let folder = Folder::open(path, false).unwrap();
    let journal = Journal::open(&folder, Some("an account")).unwrap();
    for item in journal.read(|look| look.items(JOB)).unwrap() {
        let said = format!("{:?} {:?} {:?} {}", item.file, item.archive, item.detail, item.listed);
        snapshot.insert(format!("job {}", item.id), said);
    }
    let calls = journal.read(ReadTxn::calls).unwrap();
    for calls in calls {
        snapshot.insert(format!("calls for {}", calls.purpose), calls.ever.to_string());
    }
    let counts = |look: &ReadTxn| Ok((look.count_items()?, look.count_archives()?, look.next_ready_at()?));
    let (summary, spots) = journal.read(|look| Ok((counts(look)?, look.locations(0, 100)?))).unwrap();
    snapshot.insert("summary".to_owned(), format!("{summary:?}"));
    snapshot.insert("locations".to_owned(), format!("{spots:?}"));
    for name in ["archives", "quarantine", "incoming", "dataset", "catalog"] {
        read(&path.join(name), name, &mut snapshot);
    }
    read(&state(path), "state", &mut snapshot);
    snapshot.remove("archives/taken.jsonl");
    snapshot
}

fn read(path: &Path, name: &str, snapshot: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        let name = format!("{name}/{}", entry.file_name().unwrap().to_string_lossy());
        if entry.is_dir() {
            read(&entry, &name, snapshot);
        } else {
            let bytes = std::fs::read(&entry).unwrap();
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
            snapshot.insert(name, format!("{} {text}", bytes.len()));
        }
    }
}

/// Asserts what holds at any moment: the publication is complete, and each archive in the journal is stored and
/// complete.
pub(crate) fn assert_consistent(path: &Path) {
    if path.join("current.json").exists() {
        let state = state(path);
        let text = std::fs::read_to_string(state.join("manifest.json")).unwrap();
        assert!(text.ends_with('\n') && text.lines().all(|line| line.len() > 64), "{text}");
        assert_eq!(std::fs::read(state.join("dataset/part-0.parquet")).unwrap(), content("rows"));
    }
    if path.join("dataset").exists() {
        assert_eq!(std::fs::read(path.join("dataset/part-0.parquet")).unwrap(), content("rows"));
    }
    let Ok(folder) = Folder::open(path, false) else { return };
    let journal = Journal::open(&folder, Some("an account")).unwrap();
    let was_published = journal.read(|look| look.get_meta("stage")).unwrap().is_some();
    assert!(!was_published || path.join("current.json").exists(), "what was published is there");
    let expected = journal.read(ReadTxn::archives).unwrap();
    let findings = folder.store().verify(&expected, &Cancel::default()).unwrap();
    let bad: Vec<_> = findings.iter().filter(|found| found.problem != headland::mirror::Problem::Extra).collect();
    // The next run may still move files that the journal quarantines or releases, but never one in use.
    for item in journal.read(|look| look.items(JOB)).unwrap() {
        let Some(archive) = item.archive else { continue };
        assert!(bad.iter().all(|found| !found.path.to_string_lossy().contains(&archive.sha256)), "{bad:?}");
    }
}
