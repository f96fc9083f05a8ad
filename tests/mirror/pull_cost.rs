//! Tests that a sync makes the minimum of calls, and takes no longer than the windows require.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use headland::limiter::Window;
use headland::mirror::{Mirror, Options as MirrorOptions, Outcome, Plan, Progress};
use headland::sandbox::Options;
use headland::sandbox::fields::{Account, HarvestStyle, Job, generate_account, small_jobs};

use super::account::stored_jobs;
use super::service::{Service, WINDOWS};
use super::support::state;

/// A service with `jobs` small jobs, of which every second one needs a conversion of one and a half minutes.
pub(crate) fn many(jobs: u32) -> Options {
    Options {
        small_jobs: Some(jobs),
        rate_limits: WINDOWS.to_vec(),
        sliding: true,
        conversion_time: Duration::from_secs(90),
        ..Options::default()
    }
}

/// The same without a limit: only conversions take simulated time.
pub(crate) fn unlimited(jobs: u32) -> Options {
    Options { rate_limits: Vec::new(), ..many(jobs) }
}

pub(crate) async fn sync(mirror: &Mirror) -> Outcome {
    mirror.sync(&Progress::default()).await.unwrap()
}

/// The jobs of such a service by id, only those that can be added.
pub(crate) fn jobs(account: &Account, count: u32) -> BTreeMap<String, Job> {
    small_jobs(0, count, &account.computers).into_iter().map(|job| (job.id.clone(), job)).collect()
}

/// Minimum of calls for the files and details of these jobs: one detail and one request each, and one more for every
/// conversion.
fn calls_of<'a>(jobs: impl Iterator<Item = &'a Job>) -> usize {
    jobs.map(|job| if job.is_ready_immediately { 2 } else { 3 }).sum()
}

/// Calls of the whole sync, including those made by the plan: minimum and maximum.
fn calls_of_sync(plan: &Plan) -> (u64, u64) {
    let (least, most) = plan.calls_left();
    let made: u64 = [plan.lists, plan.details, plan.asked, plan.collected].iter().map(|calls| calls.made).sum();
    (made + least, made + most)
}

/// Lists of the account: jobs, grain carts, computers, their locations, hubs with theirs, prescription maps.
const LISTS: usize = 6;

/// Lists of a sync between two reads of all lists: jobs and the current locations of computers.
const FREQUENT_LISTS: usize = 2;

/// Lists of locations whose news those show: the one computer without a hub.
const TRACKS: usize = 1;

/// The minimum time that the windows allow for so many calls.
fn least(calls: usize) -> Duration {
    Duration::from_secs(30 * (calls.div_ceil(15) as u64 - 1))
}

#[tokio::test(start_paused = true)]
async fn five_hundred_jobs_and_then_ten_take_minimal_calls_and_time_4_1_8() {
    let service = Service::start(many(500));
    let account = generate_account(0, HarvestStyle::Ideal);
    let mirror = service.mirror(&WINDOWS, MirrorOptions::default());
    let plan = mirror.plan(&Progress::default()).await.unwrap();
    let all = jobs(&account, 507);
    let (old, fresh): (Vec<&Job>, Vec<&Job>) = all.values().partition(|job| !super::service::is_spare(&job.id, 500));
    // Two days of reports: every 30 seconds from three hubs, every five minutes from a computer.
    let tracks = 3 * 6 + 1;
    let carts: BTreeSet<&str> = account.carts.iter().map(|cart| cart.name.as_str()).collect();
    let minimum = LISTS + account.computers.len() + tracks + account.maps.len() + carts.len();
    let minimum = minimum + calls_of(old.iter().copied());
    let (plan_least, plan_most) = calls_of_sync(&plan);
    assert!((plan_least..=plan_most).contains(&(minimum as u64)), "{plan:?}, but it takes {minimum}");
    assert_eq!((plan.new, plan.changed, plan.files), (500 + account.carts.len() as u64, 0, 500 + carts.len() as u64));
    let outcome = sync(&mirror).await;
    assert_eq!(service.count(), minimum, "{outcome:?}");
    let refused: Vec<_> = service.since(0).into_iter().filter(|request| request.status != 200).collect();
    assert!(
        refused.len() == 1 && refused[0].path.starts_with("/fieldcomputers/"),
        "a legacy device alone: {refused:?}"
    );
    let took = service.elapsed();
    assert!(took <= least(minimum).mul_f64(1.05), "{took:?} for {minimum} calls");
    let status = mirror.status().unwrap();
    assert_eq!((stored_jobs(&status.states), status.details_due, status.is_published), (500, 0, true));

    let newest = old.iter().map(|job| job.created).max().unwrap();
    let is_recent = |job: &&&Job| newest - job.created < chrono::TimeDelta::hours(40);
    let changed: Vec<&Job> = old.iter().filter(is_recent).take(3).copied().collect();
    assert_eq!(changed.len(), 3);
    for job in &changed {
        service.sandbox.change_job(&job.id).unwrap();
    }
    let added: BTreeSet<String> = (0..7).map(|_| service.sandbox.add_job().unwrap()).collect();
    assert_eq!(added, fresh.iter().map(|job| job.id.clone()).collect());
    let (before, begun) = (service.count(), service.elapsed());
    service.wait(Duration::from_secs(60)).await;
    let plan = mirror.plan(&Progress::default()).await.unwrap();
    let minimum = FREQUENT_LISTS + TRACKS + calls_of(fresh.iter().chain(&changed).copied());
    let (plan_least, plan_most) = calls_of_sync(&plan);
    assert!((plan_least..=plan_most).contains(&(minimum as u64)), "{plan:?}, but it takes {minimum}");
    let outcome = sync(&mirror).await;
    assert_eq!((outcome.new, outcome.changed), (7, 3));
    assert_eq!(service.count() - before, minimum);
    assert!(service.since(before).iter().all(|request| request.status == 200));
    // The last file is ready a minute and a half after its request.
    let took = service.elapsed().saturating_sub(begun + Duration::from_secs(60));
    assert!(took <= (least(minimum) + Duration::from_secs(90)).mul_f64(1.05), "{took:?} for {minimum} calls");
    assert_eq!(mirror.status().unwrap().archives, 507 + carts.len() as u64, "old versions are let go");
}

#[tokio::test(start_paused = true)]
async fn sync_without_changes_is_two_calls_and_no_publication() {
    let service = Service::start(unlimited(30));
    let mirror = service.mirror(&[], MirrorOptions::default());
    let first = sync(&mirror).await;
    assert_eq!(first.generation, Some(1));
    // During the conversions, hubs reported. From now on the time is held.
    let _hold = super::service::hold_time();
    sync(&mirror).await;
    let before = service.count();
    let published = super::service::tree(&state(&service.path()));
    for _ in 0..3 {
        let outcome = sync(&mirror).await;
        assert_eq!((outcome.calls, outcome.generation, outcome.new), (FREQUENT_LISTS as u64, None, 0));
    }
    assert_eq!(service.count() - before, 3 * FREQUENT_LISTS);
    assert_eq!(super::service::tree(&state(&service.path())), published);
}

#[tokio::test(start_paused = true)]
async fn plan_repeats_no_call_and_an_offline_one_makes_none() {
    let service = Service::start(unlimited(10));
    let mirror = service.mirror(&[], MirrorOptions::default());
    let plan = mirror.plan(&Progress::default()).await.unwrap();
    let read = service.count();
    let again = mirror.plan(&Progress::default()).await.unwrap();
    assert_eq!(service.count(), read, "the lists of the round are known");
    assert_eq!((again.new, again.files, again.calls_left()), (plan.new, plan.files, plan.calls_left()));
    let offline = mirror.plan_offline().unwrap();
    assert_eq!((service.count(), offline.asked, offline.details.least), (read, plan.asked, plan.details.least));
    assert!(plan.to_string().contains(" calls"), "{plan}");
    sync(&mirror).await;
    let lists = service.since(read).iter().filter(|request| request.path == "/jobdata").count();
    assert_eq!(lists, 0, "the sync that follows does not list again");
}

#[tokio::test(start_paused = true)]
async fn conversions_are_requested_first_and_no_slot_waits_for_them_4_4() {
    let windows = [Window { calls: 10, period: Duration::from_secs(10) }];
    let service = Service::start(Options { conversion_time: Duration::from_secs(300), ..unlimited(60) });
    let mirror = service.mirror(&windows, MirrorOptions { locations: false, ..MirrorOptions::default() });
    sync(&mirror).await;
    let requests = service.since(0);
    let files: Vec<usize> = (0..requests.len()).filter(|at| super::service::is_file(&requests[*at])).collect();
    let details: Vec<usize> =
        (0..requests.len()).filter(|at| requests[*at].path.starts_with("/jobdata/") && !files.contains(at)).collect();
    let mut asked = BTreeMap::<&str, Vec<usize>>::new();
    for at in &files {
        asked.entry(&requests[*at].path).or_default().push(*at);
    }
    let first: Vec<usize> = asked.values().map(|times| times[0]).collect();
    assert!(first.iter().max() < details.iter().min(), "all are asked for before the first detail");
    for times in asked.values().filter(|times| times.len() > 1) {
        let wait = requests[times[1]].received_at - requests[times[0]].received_at;
        assert!(times.len() == 2 && wait >= chrono::TimeDelta::seconds(300), "{wait} for {times:?}");
    }
    // Only the last conversions are left: they were requested in the seventh window and are ready five minutes later.
    assert!(service.elapsed() <= Duration::from_secs(80 + 300 + 30), "{:?}", service.elapsed());
}
