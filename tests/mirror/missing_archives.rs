//! Tests archives that are missing on the disk together with their published rows. They are fetched before anything is
//! published, so that no reader sees fewer rows meanwhile.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::fs;
use std::time::Duration;

use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::{Event, Mirror, Options as MirrorOptions, Phase, Progress};
use serde_json::Value;

use super::pull_cost::{sync, unlimited};
use super::service::{Service, is_file};
use super::support::state;

fn without_locations() -> MirrorOptions {
    MirrorOptions { locations: false, ..MirrorOptions::default() }
}

/// The published manifest.
fn manifest(service: &Service) -> Value {
    serde_json::from_slice(&fs::read(state(&service.path()).join("manifest.json")).unwrap()).unwrap()
}

fn rows(service: &Service) -> u64 {
    manifest(service)["rows"].as_u64().unwrap()
}

/// Removes the first part and the archives of two jobs in it; returns the id of the first job and the number of its
/// rows.
fn remove_part_and_archives(service: &Service) -> (String, u64) {
    let manifest = manifest(service);
    let part = &manifest["parts"][0];
    fs::remove_file(state(&service.path()).join(part["path"].as_str().unwrap())).unwrap();
    let origins = part["origins"].as_array().unwrap();
    assert!(origins.len() > 2, "{origins:?}");
    for origin in &origins[..2] {
        let digest = origin["archive"].as_str().unwrap();
        fs::remove_file(service.path().join(format!("archives/{}/{digest}.zip", &digest[..2]))).unwrap();
    }
    (origins[0]["job_id"].as_str().unwrap().to_owned(), origins[0]["rows"].as_u64().unwrap())
}

/// A mirror after its first sync, and the number of its rows.
async fn synced(service: &Service, options: MirrorOptions) -> (Mirror, u64) {
    let mirror = service.mirror(&[], options);
    let rows = sync(&mirror).await.rows.unwrap();
    (mirror, rows)
}

/// Generation and rows of each publication among the events.
fn published(events: &[Event]) -> Vec<(u64, u64)> {
    let number = |event: &Event| match event {
        Event::Published { generation, rows } => Some((*generation, *rows)),
        Event::Unavailable(_) => None,
    };
    events.iter().filter_map(number).collect()
}

fn is_reported(events: &[Event], text: &str) -> bool {
    events.iter().any(|event| matches!(event, Event::Unavailable(why) if why.contains(text)))
}

fn findings(mirror: &Mirror) -> Vec<String> {
    mirror.verify(true, &Cancel::default()).unwrap().findings
}

#[tokio::test(start_paused = true)]
async fn one_sync_fetches_missing_archives_and_publishes_once_with_all_rows() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    remove_part_and_archives(&service);
    let (before, progress) = (service.count(), Progress::default());
    let outcome = mirror.sync(&progress).await.unwrap();
    let events = progress.take_events();
    assert_eq!(published(&events), [(2, all)], "{events:?}");
    assert!(is_reported(&events, "its archive is missing and is requested again"));
    assert_eq!((outcome.generation, outcome.rows, rows(&service)), (Some(2), Some(all), all));
    let lists = service.since(before).iter().filter(|request| !is_file(request)).count();
    assert_eq!(lists, 1, "no list is read again for it");
    assert_eq!(findings(&mirror), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn archives_that_verify_misses_are_fetched_before_anything_is_published() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    remove_part_and_archives(&service);
    assert_eq!(findings(&mirror).len(), 5, "a part, two archives, and those once more for their rows");
    // Damage that `verify` found must be published again, and the service returns no file.
    service.sandbox.add_fault("job_data.download", "unauthorized", 1_000).unwrap();
    assert_eq!(mirror.sync(&Progress::default()).await.unwrap_err().kind(), Kind::Authentication);
    assert_eq!(mirror.status().unwrap().generation, Some(1));
    service.sandbox.clear_faults();
    let progress = Progress::default();
    mirror.sync(&progress).await.unwrap();
    assert_eq!(published(&progress.take_events()), [(2, all)]);
}

#[tokio::test(start_paused = true)]
async fn failed_sync_leaves_the_publication_and_the_next_one_resumes() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    remove_part_and_archives(&service);
    service.sandbox.add_fault("job_data.download", "unauthorized", 1_000).unwrap();
    let progress = Progress::default();
    let error = mirror.sync(&progress).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Authentication, "{error}");
    let events = progress.take_events();
    assert_eq!(published(&events), []);
    assert!(is_reported(&events, "nothing is published until the missing archives were requested again"), "{events:?}");
    assert_resumes(&service, &mirror, all).await;
}

#[tokio::test(start_paused = true)]
async fn dropped_sync_leaves_the_publication_and_the_next_one_resumes() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    remove_part_and_archives(&service);
    service.sandbox.add_fault("job_data.download", "more-time", 1_000).unwrap();
    let progress = Progress::default();
    let lost = async {
        while !is_reported(&progress.take_events(), "is requested again") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        biased;
        () = lost => {}
        outcome = mirror.sync(&progress) => panic!("{outcome:?}"),
    }
    assert_resumes(&service, &mirror, all).await;
}

/// Asserts that the publication stays, and that the next sync ends the cycle that was started.
async fn assert_resumes(service: &Service, mirror: &Mirror, all: u64) {
    let status = mirror.status().unwrap();
    assert_eq!((status.generation, rows(service)), (Some(1), all));
    assert!(status.unfinished_since.is_some(), "{status:?}");
    service.sandbox.clear_faults();
    let (before, progress) = (service.count(), Progress::default());
    let outcome = mirror.sync(&progress).await.unwrap();
    assert_eq!((outcome.generation, outcome.rows), (Some(2), Some(all)));
    assert_eq!(published(&progress.take_events()), [(2, all)]);
    assert!(service.since(before).iter().all(is_file), "the lists were read");
    assert_eq!(mirror.status().unwrap().unfinished_since, None);
    assert_eq!(findings(mirror), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn publication_during_a_sync_waits_for_missing_archives() {
    let service = Service::start(unlimited(14));
    let often = MirrorOptions { publish_every: Duration::from_secs(10), ..without_locations() };
    let (mirror, all) = synced(&service, often).await;
    remove_part_and_archives(&service);
    // One of these needs a conversion, which takes longer than the interval of publications.
    let first = manifest(&service)["generation"].as_u64().unwrap();
    for _ in 0..2 {
        service.sandbox.add_job().unwrap();
    }
    let progress = Progress::default();
    let outcome = mirror.sync(&progress).await.unwrap();
    let found = published(&progress.take_events());
    assert_eq!((outcome.new, found.len()), (2, 1), "{found:?}");
    assert!(found[0].0 == first + 1 && found[0].1 > all, "{found:?}");
    assert_eq!(findings(&mirror), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn archives_missing_on_the_service_are_reported_and_the_rest_is_published() {
    for is_listed in [true, false] {
        let service = Service::start(unlimited(14));
        let hourly = MirrorOptions { relist: Duration::from_secs(3_600), ..without_locations() };
        let (mirror, all) = synced(&service, hourly).await;
        let (gone, its_rows) = remove_part_and_archives(&service);
        service.sandbox.remove_job(&gone).unwrap();
        if !is_listed {
            service.wait(Duration::from_secs(3_600)).await;
        }
        let progress = Progress::default();
        let outcome = mirror.sync(&progress).await.unwrap();
        let events = progress.take_events();
        assert_eq!((outcome.gone, rows(&service)), (u64::from(!is_listed), all - its_rows), "{events:?}");
        assert_eq!(published(&events), [(2, all - its_rows)]);
        let notes = [format!("record {gone}: its archive is missing, and the service no longer has it")];
        assert_eq!(outcome.notes, notes[usize::from(is_listed)..], "the status names those that are listed still");
        let status = mirror.status().unwrap();
        assert!(status.is_published, "{status:?}");
        let is_named = status.unavailable.iter().any(|of| of.id == gone && of.state == "failed");
        assert_eq!(is_named, is_listed, "{status:?}");
        assert!(
            is_reported(&events, &format!("job {gone}: failed")) || is_reported(&events, &format!("record {gone}: ")),
            "{events:?}"
        );
        assert_eq!(findings(&mirror), [""; 0], "nothing is missing that could be had");
    }
}

#[tokio::test(start_paused = true)]
async fn archives_lost_repeatedly_end_the_sync_with_the_old_publication() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    remove_part_and_archives(&service);
    let path = service.path().join("archives");
    let progress = Progress::default();
    // Another process removes archives as they are stored; conversions arrive long after the others.
    let removing = async {
        loop {
            let is_zip = |file: &std::path::PathBuf| file.extension().is_some_and(|end| end == "zip");
            for file in super::service::tree(&path).into_keys().filter(is_zip) {
                fs::remove_file(path.join(file)).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let error = tokio::select! {
        biased;
        () = removing => return,
        outcome = mirror.sync(&progress) => outcome.unwrap_err(),
    };
    assert_eq!(error.kind(), Kind::File);
    assert!(error.message().contains("keep getting lost"), "{error}");
    assert_eq!((mirror.status().unwrap().generation, rows(&service)), (Some(1), all));
    assert_eq!(sync(&mirror).await.rows, Some(all));
}

#[tokio::test(start_paused = true)]
async fn first_sync_killed_during_its_publication_is_unfinished() {
    let service = Service::start(unlimited(6));
    let mirror = service.mirror(&[], without_locations());
    let progress = Progress::default();
    let publishing = async {
        while progress.snapshot().phase != Phase::Publishing {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        biased;
        () = publishing => {}
        outcome = mirror.sync(&progress) => panic!("{outcome:?}"),
    }
    let status = mirror.status().unwrap();
    assert!(status.unfinished_since.is_some(), "{status:?}");
    let before = service.count();
    sync(&mirror).await;
    assert_eq!(service.count(), before, "all was pulled");
    let status = mirror.status().unwrap();
    assert_eq!((status.unfinished_since, status.is_published, status.generation), (None, true, Some(1)));
}
