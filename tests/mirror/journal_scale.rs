//! Tests that the queries of each sync read as many pages of the journal with ten times the jobs.

use headland::mirror::{Archive, FileState, Folder, ItemKind, Journal, Listed, Location, ReadTxn};

use crate::account::{at, begin_relist, cart, job, open, place, stored_jobs};
use crate::faulty_vfs;
use crate::series::cases;

const JOB: ItemKind = ItemKind::Job;

/// A mirror of `jobs` jobs, most of them downloaded and some in every other state, and as many locations.
fn grown(jobs: u32) -> tempfile::TempDir {
    let home = place();
    let (_folder, journal) = open(home.path());
    let relist = begin_relist(&journal);
    for first in (0..jobs).step_by(1_000) {
        let page: Vec<Listed> = (first..first + 1_000).map(|id| job(id, 0)).collect();
        journal
            .write(|step| {
                step.list_page(JOB, &page, Some(relist), at(0))?;
                for (number, listed) in page.iter().enumerate() {
                    let reason = "said so".to_owned();
                    let state = match number {
                        0..3 => continue,
                        3 => FileState::Converting { ready_at: at(i64::from(first)), requests: 1 },
                        4..50 => FileState::NoCoverage { reason },
                        50..60 => FileState::Failed { reason, status: None },
                        _ => FileState::Stored(Archive {
                            sha256: format!("{:064x}", number + first as usize),
                            file_name: "a.zip".to_owned(),
                            bytes: 1_000,
                        }),
                    };
                    let stamp = listed.stamp(JOB);
                    step.set_file(JOB, &listed.id, &stamp, &state, at(0))?;
                    if number > 4 {
                        step.set_detail(JOB, &listed.id, &stamp, "{}")?;
                    }
                }
                step.add_locations(&page.iter().map(|listed| spot(&listed.id)).collect::<Vec<_>>()).map(drop)
            })
            .unwrap();
    }
    home
}

fn spot(record: &str) -> Location {
    let (device_kind, device_id) = ("Field Hub".to_owned(), "7".to_owned());
    Location { device_kind, device_id, record_id: record.to_owned(), time: Some(at(0)), json: "{}".to_owned() }
}

/// Pages read by opening the mirror and by each query and change of a sync without news.
fn pages(home: &tempfile::TempDir) -> Vec<(&'static str, u32)> {
    type Ask = fn(&Journal);
    let asks: [(&'static str, Ask); 12] = [
        ("open", |_| ()),
        ("failed files", |journal| assert!(journal.read(ReadTxn::count_failed).unwrap() >= 20)),
        ("pending", |journal| assert_eq!(journal.read(|look| look.pending(3)).unwrap().len(), 3)),
        ("next ripe", |journal| assert_eq!(journal.read(ReadTxn::next_ready_at).unwrap(), Some(at(0)))),
        ("details", |journal| assert_eq!(journal.read(|look| look.details_due(3)).unwrap().len(), 3)),
        ("item", |journal| assert!(journal.read(|look| look.item(JOB, "1234")).unwrap().is_some())),
        ("failed", |journal| assert_eq!(journal.read(|look| look.in_state("failed", 3)).unwrap().len(), 3)),
        ("revision", |journal| assert!(journal.read(ReadTxn::revision).unwrap() > 1_000)),
        ("cursor", |journal| assert!(journal.read(|look| look.cursor("jobs")).is_ok())),
        ("a page of the list", |journal| {
            let page: Vec<Listed> = (900..910).map(|id| job(id, 0)).collect();
            let found = journal.write(|step| step.list_page(JOB, &page, None, at(1))).unwrap();
            assert_eq!((found.new, found.changed, found.unchanged), (0, 0, 10));
        }),
        ("a page of grain carts", |journal| {
            journal.write(|step| step.list_page(ItemKind::Cart, &[cart(7, "a.grc")], None, at(1))).unwrap();
        }),
        ("a publication", |journal| {
            let published = headland::mirror::Published { generation: 1, revision: 1 };
            journal.write(|step| step.set_published(published)).unwrap();
        }),
    ];
    let ask = |(name, ask): &(&'static str, Ask)| {
        faulty_vfs::reads();
        let folder = Folder::open(home.path(), true).unwrap();
        let journal = Journal::open(&folder, Some("an account")).unwrap();
        ask(&journal);
        (*name, faulty_vfs::reads())
    };
    asks.iter().map(ask).collect()
}

#[test]
fn queries_of_every_sync_cost_the_same_with_ten_times_the_jobs() {
    faulty_vfs::plan(None);
    // Building the mirrors takes most of the time: 10,000 and 100,000 jobs in the long series.
    let jobs = if cases(1) > 1 { 10_000 } else { 2_000 };
    let few = pages(&grown(jobs));
    let large = grown(10 * jobs);
    let many = pages(&large);
    for ((name, few), (_, many)) in few.iter().zip(&many) {
        // A tree with ten times the leaves is at most one page deeper, for each of the trees that are searched.
        assert!(*many <= few + 12 && *many < 100, "{name}: {few} pages, {many} with ten times the jobs");
    }
    println!("{few:?}\n{many:?}");
    let (_folder, journal) = open(large.path());
    faulty_vfs::reads();
    let states = journal.read(ReadTxn::count_items).unwrap();
    let of_items = faulty_vfs::reads();
    let (archives, _) = journal.read(ReadTxn::count_archives).unwrap();
    let of_archives = faulty_vfs::reads();
    assert_eq!(states.iter().map(|of| of.items).sum::<u64>(), u64::from(10 * jobs) + 1, "one grain cart");
    assert_eq!((stored_jobs(&states), archives), (u64::from(94 * jobs / 10), u64::from(94 * jobs / 10)));
    // A page has some 200 entries of an index, and some ten records.
    for (name, read) in [("items", of_items), ("archives", of_archives)] {
        assert!(read < 10 * jobs / 100, "{name}: {read} pages for {} jobs", 10 * jobs);
    }
}
