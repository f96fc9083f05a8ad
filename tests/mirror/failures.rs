//! Tests failures during a sync: it ends with the error and keeps its progress, and the next run repeats no finished
//! call.

use std::collections::BTreeSet;
use std::task::Poll;
use std::time::Duration;

use headland::error::Kind;
use headland::limiter::Window;
use headland::mirror::{FileState, ItemKind, Mirror, Options as MirrorOptions, Progress};
use headland::sandbox::{Options, Request};

use super::changed_records::items;
use super::pull_cost::{many, sync, unlimited};
use super::service::{Service, WINDOWS, is_file};

fn without_locations() -> MirrorOptions {
    MirrorOptions { locations: false, ..MirrorOptions::default() }
}

/// The calls with a reply, in the order of the requests.
fn answered(requests: &[Request]) -> Vec<(String, String)> {
    let done = requests.iter().filter(|request| request.status == 200);
    done.map(|request| (request.path.clone(), request.query.clone())).collect()
}

/// The journal's files and details, and the archives: equal regardless of how a mirror was built.
type End = (Vec<(String, FileState, Option<String>)>, BTreeSet<String>);

fn end_state(service: &Service) -> End {
    let mut states = Vec::new();
    for kind in [ItemKind::Job, ItemKind::Cart] {
        states.extend(items(service, kind).into_iter().map(|item| (item.id, item.file, item.detail)));
    }
    states.sort_by(|a, b| a.0.cmp(&b.0));
    let archives = super::service::tree(&service.path().join("archives")).into_keys();
    (states, archives.map(|path| path.display().to_string()).filter(|name| !name.ends_with("jsonl")).collect())
}

/// The number of calls of an uninterrupted sync, and its end.
async fn uninterrupted(jobs: u32) -> (usize, End) {
    let service = Service::start(unlimited(jobs));
    sync(&service.mirror(&[], without_locations())).await;
    (service.count(), end_state(&service))
}

#[tokio::test(start_paused = true)]
async fn ending_a_sync_stores_files_in_flight_and_starts_and_publishes_nothing_more() {
    let (calls, end) = uninterrupted(14).await;
    let mut came_in = 0;
    // From the first file on, but not so late that the last replies arrive together.
    for stop_after in (10..calls - 16).step_by(7) {
        let service = Service::start(unlimited(14));
        let mirror = service.mirror(&[], without_locations());
        let progress = Progress::default();
        // Checks after each reply, not after a sleep during which all replies arrive.
        let asking = std::future::poll_fn(|_| {
            let done = progress.snapshot().calls_done;
            if done < stop_after as u64 {
                return Poll::Pending;
            }
            assert!(progress.request_end(), "{:?}", progress.snapshot());
            Poll::Ready(done)
        });
        let (done, outcome) = tokio::join!(asking, mirror.sync(&progress));
        assert!(outcome.unwrap_err().message().contains("was stopped"));
        let finished = progress.snapshot().calls_done;
        assert_eq!(finished, service.count() as u64, "each call that was made came in");
        assert!(finished - done <= 16, "{finished} after {done}");
        came_in += finished - done;
        let status = mirror.status().unwrap();
        assert!(status.generation.is_none() && status.unfinished_since.is_some(), "{status:?}");
        sync(&mirror).await;
        assert_eq!(service.count(), calls, "none is made again, after {stop_after}");
        assert_eq!(end_state(&service), end);
    }
    assert!(came_in > 16, "{came_in} calls in all were on their way");
}

#[tokio::test(start_paused = true)]
async fn daily_sync_reads_all_lists_and_the_next_one_a_list_that_failed() {
    let service = Service::start(unlimited(6));
    let mirror = service.mirror(&[], without_locations());
    sync(&mirror).await;
    // It starts ten minutes earlier than the day before.
    service.wait(Duration::from_secs(85_800)).await;
    service.sandbox.add_fault("grain_carts.list", "forbidden", 1).unwrap();
    for (is_noted, carts, hubs) in [(true, 1, 1), (false, 1, 0), (false, 0, 0)] {
        let before = service.count();
        let notes = sync(&mirror).await.notes;
        assert_eq!(notes.iter().any(|text| text.contains("`grain_carts.list`")), is_noted, "{notes:?}");
        let requests = service.since(before);
        let count = |path: &str| requests.iter().filter(|request| request.path == path).count();
        assert_eq!((count("/jobdata"), count("/graincart"), count("/fieldhubs/all")), (1, carts, hubs));
    }
}

#[tokio::test(start_paused = true)]
async fn new_records_after_an_ended_sync_wait_for_its_lists_unless_they_are_old() {
    for (wait, is_old) in [(3_000, false), (4_000, true)] {
        let service = Service::start(unlimited(6));
        let mirror = service.mirror(&[], without_locations());
        service.sandbox.add_fault("job_data.download", "unauthorized", 1_000).unwrap();
        mirror.sync(&Progress::default()).await.unwrap_err();
        service.sandbox.clear_faults();
        let added = service.sandbox.add_job().unwrap();
        service.wait(Duration::from_secs(wait)).await;
        let has_it = || items(&service, ItemKind::Job).iter().any(|item| item.id == added);
        let before = service.count();
        sync(&mirror).await;
        assert_eq!(has_it(), is_old);
        let lists = service.since(before).iter().filter(|request| request.path == "/jobdata").count();
        assert_eq!(lists, usize::from(is_old), "a list is read anew once, where it is");
        sync(&mirror).await;
        assert!(has_it());
    }
}

#[tokio::test(start_paused = true)]
async fn sync_dropped_at_any_call_resumes_and_repeats_no_finished_call() {
    let (calls, end) = uninterrupted(14).await;
    for stop_after in (1..calls).step_by(11) {
        let service = Service::start(unlimited(14));
        let mirror = service.mirror(&[], MirrorOptions { concurrency: 3, ..without_locations() });
        let progress = Progress::default();
        {
            let stop = async {
                while progress.snapshot().calls_done < stop_after as u64 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::select! {
                biased;
                () = stop => {}
                outcome = mirror.sync(&progress) => drop(outcome.unwrap()),
            }
        }
        let known: BTreeSet<String> = settled(&service);
        let before = service.count();
        sync(&mirror).await;
        assert!(end_state(&service) == end, "stopped after {stop_after} of {calls} calls");
        let again: Vec<String> = service
            .since(before)
            .iter()
            .filter(|request| is_file(request))
            .map(|request| request.path.clone())
            .collect();
        let repeated: Vec<&String> =
            again.iter().filter(|path| known.contains(path.rsplit('/').next().unwrap())).collect();
        assert!(repeated.is_empty(), "stopped after {stop_after}: {repeated:?}");
        // Only calls that were in flight, and with a list its pages, may be repeated.
        assert!(service.count() <= calls + 6, "{} instead of {calls}", service.count());
    }
}

/// Ids of records whose file is settled.
fn settled(service: &Service) -> BTreeSet<String> {
    if !service.path().join("journal.sqlite").exists() {
        return BTreeSet::new();
    }
    let all = [ItemKind::Job, ItemKind::Cart].into_iter().flat_map(|kind| items(service, kind));
    let is_settled = |state: &FileState| !matches!(state, FileState::Pending | FileState::Converting { .. });
    all.filter(|item| is_settled(&item.file)).map(|item| item.id).collect()
}

#[tokio::test(start_paused = true)]
async fn key_revoked_during_a_sync_ends_it_and_received_files_are_published_5_2() {
    let (calls, end) = uninterrupted(14).await;
    let service = Service::start(unlimited(14));
    let mirror = service.mirror(&[], MirrorOptions { concurrency: 2, ..without_locations() });
    mirror.plan(&Progress::default()).await.unwrap();
    // From the sixth detail on, every call is rejected.
    let progress = Progress::default();
    let revoke = async {
        while progress.snapshot().calls_done < 20 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        service.sandbox.add_fault("*", "unauthorized", 1_000).unwrap();
        std::future::pending::<()>().await;
    };
    let error = tokio::select! {
        () = revoke => return,
        outcome = mirror.sync(&progress) => outcome.unwrap_err(),
    };
    assert_eq!(error.kind(), Kind::Authentication, "{error}");
    let refused = service.since(0).iter().filter(|request| request.status == 401).count();
    assert!((1..=2).contains(&refused), "{refused} calls were made with a key that is refused");
    let status = mirror.status().unwrap();
    assert!(status.archives > 0 && status.generation.is_some() && status.unfinished_since.is_some(), "{status:?}");
    let done = answered(&service.since(0));
    service.sandbox.clear_faults();
    let before = service.count();
    sync(&mirror).await;
    assert!(end_state(&service) == end);
    assert_eq!(service.count() - refused, calls, "no finished call is made again");
    let collected = |calls: &[(String, String)]| calls.iter().filter(|call| done.contains(call)).count();
    // Only conversions are requested twice.
    assert!(collected(&answered(&service.since(before))) <= 7);
}

#[tokio::test(start_paused = true)]
async fn unavailable_service_ends_the_sync_and_the_next_one_resumes() {
    for fault in ["unavailable", "reset"] {
        let (calls, end) = uninterrupted(6).await;
        let service = Service::start(unlimited(6));
        let mirror = service.mirror(&[], without_locations());
        mirror.plan(&Progress::default()).await.unwrap();
        service.sandbox.add_fault("*", fault, 100_000).unwrap();
        let error = mirror.sync(&Progress::default()).await.unwrap_err();
        assert!(matches!(error.kind(), Kind::ServiceUnavailable | Kind::Transport), "{fault}: {error}");
        service.sandbox.clear_faults();
        let before = service.since(0).iter().filter(|request| request.status == 200).count();
        sync(&mirror).await;
        let after = service.since(0).iter().filter(|request| request.status == 200).count();
        assert!(end_state(&service) == end, "{fault}: {before} calls before");
        // All but the one for the detail of a legacy device, which is rejected.
        assert_eq!(after, calls - 1, "{fault}: {before} calls before");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_other_clients_slow_a_sync_and_do_not_end_it_8() {
    let service = Service::start(many(10));
    let mirror = service.mirror(&WINDOWS, without_locations());
    service.sandbox.add_fault("*", "too-many-requests", 5).unwrap();
    // Another client of the same key with its own budget, as on another machine.
    let stranger = service.client(&[Window { calls: 5, period: Duration::from_secs(60) }]);
    let row = headland::api::row("access_key").unwrap();
    let strangers = async {
        loop {
            let arguments = headland::client::Arguments::new(row, &[]).unwrap();
            let _ = stranger.detail(row, &arguments).await;
        }
    };
    let progress = Progress::default();
    let outcome = tokio::select! {
        () = strangers => return,
        outcome = mirror.sync(&progress) => outcome.unwrap(),
    };
    assert!(outcome.notes.iter().all(|note| note.contains("ENVIZIO")), "{:?}", outcome.notes);
    assert_eq!(mirror.status().unwrap().details_due, 0);
    assert!(items(&service, ItemKind::Job).iter().all(|item| matches!(item.file, FileState::Stored(_))));
}

#[tokio::test(start_paused = true)]
async fn waits_for_the_own_limit_do_not_end_a_sync_whose_calls_have_little_time() {
    let service = Service::start(unlimited(4));
    let client = service.client_with(&service.sandbox.keys().access_key, |config| {
        config.rate_limits = vec![Window { calls: 1, period: Duration::from_secs(60) }];
        config.timeout.call = Duration::from_secs(20);
    });
    let mirror = Mirror::open(&service.path(), Some(client), without_locations()).unwrap();
    let outcome = mirror.sync(&Progress::default()).await.unwrap();
    assert!(outcome.calls > 10 && mirror.status().unwrap().details_due == 0);
}

#[tokio::test(start_paused = true)]
async fn sync_after_a_system_sleep_finds_ready_conversions() {
    let service = Service::start(Options { conversion_time: Duration::from_secs(1_800), ..unlimited(8) });
    let mirror = service.mirror(&[], without_locations());
    let progress = Progress::default();
    let asleep = async {
        while progress.snapshot().waiting_until.is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // The wall clock continues, but the timers do not.
        service.jump(Duration::from_secs(7_200));
        std::future::pending::<()>().await;
    };
    let before = service.elapsed();
    tokio::select! {
        () = asleep => return,
        outcome = mirror.sync(&progress) => drop(outcome.unwrap()),
    }
    assert!(service.elapsed() < before + Duration::from_secs(300), "nothing is waited for that is ripe");
    assert!(items(&service, ItemKind::Job).iter().all(|item| matches!(item.file, FileState::Stored(_))));
}

#[tokio::test(start_paused = true)]
async fn clock_set_back_hides_no_record() {
    let service = Service::start(unlimited(6));
    let mirror = service.mirror(&[], without_locations());
    service.wait(Duration::from_secs(3_600)).await;
    service.ahead(Duration::from_secs(86_400 * 30));
    // The client corrects its signature by the service's clock, and its own records are a month ahead.
    sync(&mirror).await;
    service.ahead(Duration::ZERO);
    let added = service.sandbox.add_job().unwrap();
    assert_eq!(sync(&mirror).await.new, 1);
    assert!(items(&service, ItemKind::Job).iter().any(|item| item.id == added));
}

#[tokio::test(start_paused = true)]
async fn concurrent_second_sync_is_an_error_that_names_the_lock_holder() {
    let service = Service::start(unlimited(4));
    let one = service.mirror(&[], without_locations());
    let two = service.mirror(&[], without_locations());
    let (progress, other) = (Progress::default(), Progress::default());
    let (first, second) = tokio::join!(one.sync(&progress), two.sync(&other));
    first.unwrap();
    let error = second.unwrap_err();
    assert!(error.kind() == Kind::Conflict && error.message().contains(&std::process::id().to_string()), "{error}");
    assert!(two.status().is_ok(), "reading needs no lock");
    sync(&two).await;
}

#[tokio::test(start_paused = true)]
async fn another_account_is_an_error_after_one_call_for_its_jobs() {
    let service = Service::start(unlimited(2));
    sync(&service.mirror(&[], without_locations())).await;
    let other = service.client_by(&service.sandbox.keys().other_access_key, &[]);
    let mirror = Mirror::open(&service.path(), Some(other), without_locations()).unwrap();
    let before = service.count();
    assert_eq!(mirror.sync(&Progress::default()).await.unwrap_err().kind(), Kind::Configuration);
    assert_eq!(service.count(), before + 1);
    assert_eq!(mirror.plan(&Progress::default()).await.unwrap_err().kind(), Kind::Configuration);
    assert_eq!(service.count(), before + 2);
}

#[tokio::test(start_paused = true)]
async fn records_beyond_the_key_are_recorded_and_the_rest_is_mirrored_5_3() {
    let service = Service::start(unlimited(4));
    let mirror = service.mirror(&[], without_locations());
    for list in ["grain_carts.list", "field_hubs.reports"] {
        service.sandbox.add_fault(list, "forbidden", 1).unwrap();
    }
    service.sandbox.add_fault("prescription_maps.list", "server-error", 4).unwrap();
    let outcome = sync(&mirror).await;
    for list in ["grain_carts.list", "field_hubs.reports", "prescription_maps.list"] {
        assert!(outcome.notes.iter().any(|note| note.contains(&format!("`{list}`"))), "{list}: {:?}", outcome.notes);
    }
    assert_eq!((outcome.new, outcome.generation), (4, Some(1)));
    assert!(sync(&mirror).await.new > 0, "they are asked for again by the next sync");
    service.sandbox.add_fault("job_data.list", "forbidden", 1).unwrap();
    assert_eq!(mirror.sync(&Progress::default()).await.unwrap_err().kind(), Kind::PermissionDenied);
}
