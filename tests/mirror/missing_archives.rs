//! Archives that are gone from the disk together with published rows of theirs: they are fetched before anything is
//! published, so that nobody sees fewer rows meanwhile.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::fs;
use std::time::Duration;

use headland::error::Kind;
use headland::layer::Cancel;
use headland::mirror::{Event, Mirror, Options as MirrorOptions, Phase, Progress};
use serde_json::Value;

use super::pull_cost::{sync, unlimited};
use super::service::{Service, is_file};

fn without_locations() -> MirrorOptions {
    MirrorOptions { locations: false, ..MirrorOptions::default() }
}

/// What is published now.
fn manifest(service: &Service) -> Value {
    serde_json::from_slice(&fs::read(service.path().join("current/manifest.json")).unwrap()).unwrap()
}

fn rows(service: &Service) -> u64 {
    manifest(service)["rows"].as_u64().unwrap()
}

/// Removes the first part and the archives of two jobs in it, and gives the id of the first one and its rows.
fn lose(service: &Service) -> (String, u64) {
    let manifest = manifest(service);
    let part = &manifest["parts"][0];
    fs::remove_file(service.path().join("current").join(part["path"].as_str().unwrap())).unwrap();
    let origins = part["origins"].as_array().unwrap();
    assert!(origins.len() > 2, "{origins:?}");
    for origin in &origins[..2] {
        let digest = origin["archive"].as_str().unwrap();
        fs::remove_file(service.path().join(format!("archives/{}/{digest}.zip", &digest[..2]))).unwrap();
    }
    (origins[0]["job_id"].as_str().unwrap().to_owned(), origins[0]["rows"].as_u64().unwrap())
}

/// A mirror after its first sync, and the rows of it.
async fn synced(service: &Service, options: MirrorOptions) -> (Mirror, u64) {
    let mirror = service.mirror(&[], options);
    let rows = sync(&mirror).await.rows.unwrap();
    (mirror, rows)
}

/// What was published, by what was told: number and rows of each.
fn published(told: &[Event]) -> Vec<(u64, u64)> {
    let number = |event: &Event| match event {
        Event::Published { generation, rows } => Some((*generation, *rows)),
        Event::Unavailable(_) => None,
    };
    told.iter().filter_map(number).collect()
}

fn is_told(told: &[Event], text: &str) -> bool {
    told.iter().any(|event| matches!(event, Event::Unavailable(why) if why.contains(text)))
}

fn findings(mirror: &Mirror) -> Vec<String> {
    mirror.verify(true, &Cancel::default()).unwrap().findings
}

#[tokio::test(start_paused = true)]
async fn one_sync_fetches_what_is_gone_and_publishes_once_with_all_rows() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    lose(&service);
    let (before, progress) = (service.count(), Progress::default());
    let outcome = mirror.sync(&progress).await.unwrap();
    let told = progress.take_events();
    assert_eq!(published(&told), [(2, all)], "{told:?}");
    assert!(is_told(&told, "its archive is gone and is asked for again"));
    assert_eq!((outcome.generation, outcome.rows, rows(&service)), (Some(2), Some(all), all));
    let lists = service.since(before).iter().filter(|request| !is_file(request)).count();
    assert_eq!(lists, 6, "no list is read again for it");
    assert_eq!(findings(&mirror), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_verify_finds_gone_is_fetched_before_anything_is_published() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    lose(&service);
    assert_eq!(findings(&mirror).len(), 5, "a part, two archives, and those once more for their rows");
    // What verify found damaged is to be published anew, and the service gives no file.
    service.sandbox.add_fault("job_data.download", "unauthorized", 1_000).unwrap();
    assert_eq!(mirror.sync(&Progress::default()).await.unwrap_err().kind(), Kind::Authentication);
    assert_eq!(mirror.status().unwrap().generation, Some(1));
    service.sandbox.clear_faults();
    let progress = Progress::default();
    mirror.sync(&progress).await.unwrap();
    assert_eq!(published(&progress.take_events()), [(2, all)]);
}

#[tokio::test(start_paused = true)]
async fn a_pull_that_is_ended_before_they_came_leaves_what_was_published_and_the_next_sync_goes_on() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    lose(&service);
    service.sandbox.add_fault("job_data.download", "unauthorized", 1_000).unwrap();
    let progress = Progress::default();
    let error = mirror.sync(&progress).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Authentication, "{error}");
    let told = progress.take_events();
    assert_eq!(published(&told), []);
    assert!(
        is_told(&told, "nothing is published before the archives and records that are gone were asked for again"),
        "{told:?}"
    );
    goes_on(&service, &mirror, all).await;
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_is_killed_before_they_came_leaves_what_was_published_and_the_next_one_goes_on() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    lose(&service);
    service.sandbox.add_fault("job_data.download", "more-time", 1_000).unwrap();
    let progress = Progress::default();
    let lost = async {
        while !is_told(&progress.take_events(), "is asked for again") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        biased;
        () = lost => {}
        outcome = mirror.sync(&progress) => panic!("{outcome:?}"),
    }
    goes_on(&service, &mirror, all).await;
}

/// What was published stands, and the next sync ends the round that was begun.
async fn goes_on(service: &Service, mirror: &Mirror, all: u64) {
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
async fn a_publication_in_the_middle_of_a_pull_waits_for_them_too() {
    let service = Service::start(unlimited(14));
    let often = MirrorOptions { publish_every: Duration::from_secs(10), ..without_locations() };
    let (mirror, all) = synced(&service, often).await;
    lose(&service);
    // One of these has to be converted, which takes longer than it takes to the next publication.
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
async fn those_that_the_service_gives_no_more_are_told_and_the_rest_is_published() {
    for is_listed in [true, false] {
        let service = Service::start(unlimited(14));
        let hourly = MirrorOptions { relist: Duration::from_secs(3_600), ..without_locations() };
        let (mirror, all) = synced(&service, hourly).await;
        let (gone, its_rows) = lose(&service);
        service.sandbox.remove_job(&gone).unwrap();
        if !is_listed {
            service.wait(Duration::from_secs(3_600)).await;
        }
        let progress = Progress::default();
        let outcome = mirror.sync(&progress).await.unwrap();
        let told = progress.take_events();
        assert_eq!((outcome.gone, rows(&service)), (u64::from(!is_listed), all - its_rows), "{told:?}");
        assert_eq!(published(&told), [(2, all - its_rows)]);
        let notes = [format!("record {gone}: its archive is gone, and the service has it no more")];
        assert_eq!(outcome.notes, notes[usize::from(is_listed)..], "the status names those that are listed still");
        let status = mirror.status().unwrap();
        assert!(status.is_published, "{status:?}");
        let is_named = status.unavailable.iter().any(|of| of.id == gone && of.state == "failed");
        assert_eq!(is_named, is_listed, "{status:?}");
        assert!(
            is_told(&told, &format!("job {gone}: failed")) || is_told(&told, &format!("record {gone}: ")),
            "{told:?}"
        );
        assert_eq!(findings(&mirror), [""; 0], "nothing is missing that could be had");
    }
}

#[tokio::test(start_paused = true)]
async fn archives_that_are_lost_again_and_again_end_the_sync_with_what_was_published() {
    let service = Service::start(unlimited(14));
    let (mirror, all) = synced(&service, without_locations()).await;
    lose(&service);
    let path = service.path().join("archives");
    let progress = Progress::default();
    // Somebody removes archives as they come; conversions come long after the others.
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
    assert!(error.message().contains("are lost as fast as they are fetched"), "{error}");
    assert_eq!((mirror.status().unwrap().generation, rows(&service)), (Some(1), all));
    assert_eq!(sync(&mirror).await.rows, Some(all));
}

#[tokio::test(start_paused = true)]
async fn a_first_sync_that_is_killed_while_it_publishes_is_unfinished() {
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
