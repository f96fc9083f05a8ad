//! Tests that changes on the service are found, and that unchanged records are not requested again.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use headland::mirror::{FileState, Folder, Item, ItemKind, Journal, Options as MirrorOptions};
use headland::sandbox::Options;
use headland::sandbox::fields::{Coverage, HarvestStyle, generate_account};

use super::pull_cost::{jobs, sync, unlimited};
use super::service::{Service, is_file};

/// The journal, opened for reading.
pub(crate) fn journal(service: &Service) -> Journal {
    Journal::open(&Folder::open(&service.path(), false).unwrap(), None).unwrap()
}

pub(crate) fn items(service: &Service, kind: ItemKind) -> Vec<Item> {
    journal(service).read(|look| look.items(kind)).unwrap()
}

fn archive_of(service: &Service, id: &str) -> Option<String> {
    let item = journal(service).read(|look| look.item(ItemKind::Job, id)).unwrap().unwrap();
    item.archive.map(|archive| archive.sha256)
}

fn without_locations(relist: Duration) -> MirrorOptions {
    MirrorOptions { locations: false, relist, ..MirrorOptions::default() }
}

#[tokio::test(start_paused = true)]
async fn changed_old_job_is_found_for_any_meaning_of_date_4_2() {
    let day = Duration::from_secs(86_400);
    for (variants, is_found_at_once) in [(vec![], false), (vec!["date-by-updated".to_owned()], true)] {
        let service = Service::start(Options { variants, ..unlimited(40) });
        let mirror = service.mirror(&[], without_locations(day));
        sync(&mirror).await;
        let all = jobs(&generate_account(0, HarvestStyle::Ideal), 40);
        let oldest = all.values().min_by_key(|job| job.created).unwrap().id.clone();
        let before = archive_of(&service, &oldest).unwrap();
        service.wait(Duration::from_secs(60)).await;
        service.sandbox.change_job(&oldest).unwrap();
        let asked = service.count();
        let outcome = sync(&mirror).await;
        assert_eq!(outcome.changed, u64::from(is_found_at_once));
        assert_eq!(archive_of(&service, &oldest).unwrap() != before, is_found_at_once);
        assert_eq!(service.since(asked).iter().any(is_file), is_found_at_once);
        // A daily relist of all jobs finds it in any case.
        service.wait(day).await;
        assert!(mirror.status().unwrap().relist_due);
        let outcome = sync(&mirror).await;
        assert_eq!(outcome.changed, u64::from(!is_found_at_once));
        assert_ne!(archive_of(&service, &oldest).unwrap(), before);
        assert!(!mirror.status().unwrap().relist_due);
    }
}

#[tokio::test(start_paused = true)]
async fn removed_job_leaves_the_dataset_at_the_relist_and_its_archive_stays() {
    let service = Service::start(unlimited(12));
    let mirror = service.mirror(&[], without_locations(Duration::from_secs(3_600)));
    let rows = sync(&mirror).await.rows.unwrap();
    let gone = jobs(&generate_account(0, HarvestStyle::Ideal), 12).into_keys().next().unwrap();
    service.sandbox.remove_job(&gone).unwrap();
    assert_eq!(sync(&mirror).await.gone, 0, "no relist is due");
    service.wait(Duration::from_secs(3_600)).await;
    let outcome = sync(&mirror).await;
    assert_eq!(outcome.gone, 1);
    assert!(outcome.rows.unwrap() < rows);
    let item = items(&service, ItemKind::Job).into_iter().find(|item| item.id == gone).unwrap();
    assert_eq!(item.file, FileState::Gone);
    assert!(mirror.verify(true, &headland::layer::Cancel::default()).unwrap().findings.is_empty());
}

#[tokio::test(start_paused = true)]
async fn unavailable_file_is_recorded_with_its_reason_and_not_requested_again_4_4() {
    // The usual account: one job without coverage, six that cannot be converted, and an upload that is no archive.
    let service = Service::start(Options { small_jobs: None, ..unlimited(0) });
    let bad = super::service::zip_of("a.shp", b"this is no shapefile");
    let file = headland::client::UploadFile { name: "bad.jdp.zip".to_owned(), content: bad.into() };
    let row = headland::api::row("job_data.upload").unwrap();
    let bad =
        service.client(&[]).upload(row, &headland::client::Arguments::new(row, &[]).unwrap(), file).await.unwrap().id;
    let mirror = service.mirror(&[], without_locations(Duration::from_secs(3_600)));
    sync(&mirror).await;
    let found: BTreeMap<String, FileState> =
        items(&service, ItemKind::Job).into_iter().map(|item| (item.id, item.file)).collect();
    let account = generate_account(0, HarvestStyle::Ideal);
    for job in &account.jobs {
        let is_right = match (job.coverage, &found[&job.id]) {
            (Coverage::Recorded, FileState::Stored(_)) => true,
            (Coverage::None, FileState::NoCoverage { reason }) => reason == "No coverage available.",
            (Coverage::Unconvertible(failure), FileState::Failed { reason, status }) => {
                status.as_deref() == Some(failure.status()) && reason.contains(failure.why())
            }
            _ => false,
        };
        assert!(is_right, "{:?}: {:?}", job.coverage, found[&job.id]);
    }
    assert!(matches!(&found[&bad], FileState::Quarantined { reason, .. } if !reason.is_empty()), "{:?}", found[&bad]);
    let status = mirror.status().unwrap();
    assert!(status.unavailable.iter().any(|of| of.id == bad && of.state == "quarantined"), "{status:?}");
    assert!(status.is_published, "the rest is published");
    let asked = service.count();
    sync(&mirror).await;
    service.wait(Duration::from_secs(4_000)).await;
    sync(&mirror).await;
    assert!(!service.since(asked).iter().any(is_file), "not even at a relist");
    let none = account.jobs.iter().find(|job| job.coverage == Coverage::None).unwrap();
    service.sandbox.change_job(&none.id).unwrap();
    service.wait(Duration::from_secs(4_000)).await;
    let asked = service.count();
    assert_eq!(sync(&mirror).await.changed, 1);
    let files: BTreeSet<String> =
        service.since(asked).into_iter().filter(is_file).map(|request| request.path).collect();
    assert_eq!(files, [format!("/jobdata/{}", none.id)].into(), "the record has changed");
}

#[tokio::test(start_paused = true)]
async fn rejected_detail_is_reported_with_its_reason_until_one_is_received_4_2() {
    let service = Service::start(unlimited(6));
    let mirror = service.mirror(&[], without_locations(Duration::from_secs(3_600)));
    service.sandbox.add_fault("job_data.get", "forbidden", 1).unwrap();
    sync(&mirror).await;
    let [refused] = <[_; 1]>::try_from(mirror.status().unwrap().unavailable).unwrap();
    assert_eq!((refused.kind, refused.state), (ItemKind::Job, "no detail"));
    let item = items(&service, ItemKind::Job).into_iter().find(|item| item.id == refused.id).unwrap();
    assert_eq!(refused.name, item.name);
    assert!(!refused.reason.is_empty() && matches!(item.file, FileState::Stored(_)), "{refused:?}");
    // It is not requested again before the job changes.
    sync(&mirror).await;
    assert_eq!(mirror.status().unwrap().unavailable, std::slice::from_ref(&refused));
    service.sandbox.change_job(&refused.id).unwrap();
    service.wait(Duration::from_secs(3_600)).await;
    assert_eq!(sync(&mirror).await.changed, 1);
    assert_eq!(mirror.status().unwrap().unavailable, []);
}

#[tokio::test(start_paused = true)]
async fn newest_of_carts_with_one_name_is_fetched_once_2_8() {
    let service = Service::start(unlimited(0));
    let mirror = service.mirror(&[], without_locations(Duration::from_secs(86_400)));
    sync(&mirror).await;
    let account = generate_account(0, HarvestStyle::Ideal);
    let newest: BTreeSet<&str> =
        account.carts.iter().filter(|cart| cart.is_newest).map(|cart| cart.id.as_str()).collect();
    let asked = |since: usize| -> Vec<String> {
        let files = service.since(since).into_iter().filter(is_file);
        files.filter_map(|request| request.path.strip_prefix("/graincart/").map(str::to_owned)).collect()
    };
    let first = asked(0);
    assert_eq!(first.iter().map(String::as_str).collect::<BTreeSet<_>>(), newest);
    assert_eq!(first.len(), newest.len());
    // A file grows and is uploaded once more, under a new id.
    let cart = account.carts.iter().find(|cart| cart.is_newest).unwrap();
    let content = b"GrcVersion,1.6,\nTotalPounds,250,\n,Pounds\nLoadNumber,Weight\n1,100\n".to_vec();
    let file = headland::client::UploadFile { name: cart.name.clone(), content: content.into() };
    let row = headland::api::row("grain_carts.upload").unwrap();
    let id =
        service.client(&[]).upload(row, &headland::client::Arguments::new(row, &[]).unwrap(), file).await.unwrap().id;
    let before = service.count();
    sync(&mirror).await;
    assert!(asked(before).is_empty(), "grain carts are listed with all lists");
    service.wait(Duration::from_secs(86_400)).await;
    let notes = sync(&mirror).await.notes;
    assert_eq!(asked(before), std::slice::from_ref(&id));
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with(&format!("grain cart file {id}: `TotalPounds` in the header is 250")), "{notes:?}");
    assert!(notes[0].ends_with("(total-differs)"), "{notes:?}");
    let superseded = items(&service, ItemKind::Cart).into_iter().find(|item| item.id == cart.id).unwrap();
    assert_eq!(superseded.file, FileState::Superseded { newer_id: id });
}

/// The locations in the journal, by device.
fn tracks(service: &Service) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::<String, Vec<String>>::new();
    for (_, location) in journal(service).read(|look| look.locations(0, 1_000_000)).unwrap() {
        found.entry(location.device_id).or_default().push(location.record_id);
    }
    found
}

async fn records(service: &Service, mirror_of: &str, id: &str) -> BTreeSet<String> {
    let row = headland::api::row(mirror_of).unwrap();
    let arguments = headland::client::Arguments::new(row, &[("id", id.to_owned())]).unwrap();
    let mut pages = service.client(&[]).pages(row, arguments, None, None).unwrap();
    let mut found = BTreeSet::new();
    while let Some(page) = pages.next_page().await.unwrap() {
        found.extend(page.iter().map(|record| record.identity().into_owned()));
    }
    found
}

#[tokio::test(start_paused = true)]
async fn locations_are_appended_without_gaps_or_repeats_2_3() {
    let service = Service::start(unlimited(0));
    let mirror = service.mirror(&[], MirrorOptions { relist: Duration::ZERO, ..MirrorOptions::default() });
    let account = generate_account(0, HarvestStyle::Ideal);
    for pause in [0, 40, 3_000, 86_400] {
        service.wait(Duration::from_secs(pause)).await;
        let _hold = super::service::hold_time();
        sync(&mirror).await;
        let found = tracks(&service);
        let devices = account.hubs.iter().map(|hub| ("field_hubs.locations", hub.id.clone()));
        let own = account.computers.iter().filter(|computer| computer.hub.is_none());
        for (row, id) in devices.chain(own.map(|computer| ("field_computers.locations", computer.id.clone()))) {
            let known: BTreeSet<String> = found[&id].iter().cloned().collect();
            assert_eq!(known.len(), found[&id].len(), "{id}: a record comes once");
            let all = records(&service, row, &id).await;
            assert_eq!(known.len(), all.len(), "{id} after {pause} s");
            assert_eq!(known, all, "{id} after {pause} s");
        }
    }
}
