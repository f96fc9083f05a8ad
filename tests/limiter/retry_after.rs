//! Waits that the service asks for: short ones are honoured, long ones proven by one call, and no call waits for ever.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::clock::{Clock, Sleep, SystemClock};
use headland::limiter::{Limiter, RateLimitHeaders, StoreLocation};
use tokio::time::Instant;

use crate::support::*;

const DAY: u64 = 86_400;
const LEASE: Duration = Duration::from_secs(2);
const LATENCY: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(10 * DAY);

/// Limiters of one file, as processes have them, or of one process.
fn limiters(folder: Option<&tempfile::TempDir>, count: usize, clock: &Arc<Paused>) -> Vec<Limiter> {
    let windows = [window(30, 60_000), window(15, 30_000)];
    match folder {
        Some(folder) => {
            let place = StoreLocation::File(folder.path().join("limits.sqlite3"));
            (0..count).map(|_| Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone())).collect()
        }
        None => vec![memory(&windows, clock); count],
    }
}

#[test]
fn a_wait_of_up_to_five_minutes_is_honoured_as_stated_whatever_the_windows() {
    for seconds in [1, 61, 299, 300] {
        runtime().block_on(async {
            let clock = Paused::new();
            let limiter = memory(&[window(5, 1_000)], &clock);
            hear(&limiter, refused(seconds)).await;
            let budget = limiter.budget();
            let stated = Duration::from_secs(seconds);
            assert_eq!((budget.next_call_in, budget.service_wait), (stated, Some(stated)));
            let calls: Vec<_> = (0..4).map(|_| limiter.grant(MINUTE, HOUR)).collect();
            let slots = futures_util::future::join_all(calls).await;
            assert_eq!(clock.elapsed(), stated, "all {} may call then", slots.len());
            assert_eq!(limiter.budget().service_wait, None);
        });
        runtime().block_on(async {
            let clock = Paused::new();
            let limiter = memory(&[window(5, 1_000)], &clock);
            hear(&limiter, told(1_000, 0, seconds)).await;
            spend(&limiter, 1).await;
            assert_eq!(clock.elapsed().as_secs(), seconds, "as X-RateLimit-Reset states it");
        });
    }
}

#[test]
fn a_longer_wait_stops_all_for_five_minutes_and_is_named() {
    let stated = |seconds| Some(Duration::from_secs(seconds));
    for (heard, asked) in [(refused(301), 301), (refused(DAY), DAY), (told(1_000, 0, DAY), DAY)] {
        runtime().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let clock = Paused::new();
            let all = limiters(Some(&folder), 2, &clock);
            hear(&all[0], heard).await;
            let budget = all[1].budget();
            assert_eq!((budget.next_call_in.as_secs(), budget.service_wait), (300, stated(asked)));
            assert_eq!(budget.remaining, 0);
            let refusal = all[1].grant(LEASE, MINUTE).await.unwrap_err();
            assert_eq!((refusal.ready_in.as_secs(), refusal.service_wait), (300, stated(asked)));
            clock.sleep(Duration::from_secs(300)).await;
            if asked > 301 {
                assert_eq!((all[1].budget().remaining, all[1].budget().service_wait), (1, stated(asked)));
            }
            let probe = all[0].grant(LEASE, PATIENCE).await.unwrap().unwrap();
            assert_eq!(all[1].budget().remaining, 0, "one call is enough");
            drop(probe);
            assert_eq!(all[1].budget().remaining, 1, "it was not sent");
        });
    }
}

#[test]
fn what_other_calls_in_flight_hear_is_not_the_answer_of_the_probe() {
    runtime().block_on(async {
        let clock = Paused::new();
        let limiter = memory(&[window(30, 60_000)], &clock);
        let calls: Vec<_> = (0..8).map(|_| limiter.grant(MINUTE, HOUR)).collect();
        for slot in futures_util::future::join_all(calls).await {
            let mut slot = slot.unwrap().unwrap();
            slot.mark_sent();
            slot.complete(&refused(DAY));
        }
        assert_eq!(limiter.budget().next_call_in.as_secs(), 300, "eight that were sent together said it once");
        hear(&limiter, refused(DAY)).await;
        assert_eq!(limiter.budget().next_call_in.as_secs(), DAY, "the probe said it again");
    });
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Answered,
    Refused(u64),
    /// No reply comes.
    Lost,
    /// The process ends with the call in flight.
    Dies,
}

/// A service that asked for a wait, and checks who calls while that is doubted.
#[derive(Debug, Default)]
struct Service {
    fates: Vec<Fate>,
    /// How long one that dies keeps its turn: a clock that is set forward ends it.
    lease: Duration,
    doubt: Option<Doubt>,
    calls: usize,
}

#[derive(Clone, Copy, Debug)]
struct Doubt {
    asked: u64,
    /// When the next call may come at the earliest; `None` while there is a probe.
    next: Option<Instant>,
}

/// One process makes one call that succeeds, unless it dies.
async fn process(limiter: Limiter, service: Arc<Mutex<Service>>) {
    loop {
        let mut slot = limiter.grant(LEASE, PATIENCE).await.unwrap().unwrap();
        slot.mark_sent();
        let granted = Instant::now();
        let (fate, is_probe) = {
            let mut service = service.lock().unwrap();
            let fate = service.fates.get(service.calls).copied().unwrap_or(Fate::Answered);
            service.calls += 1;
            let is_probe = service.doubt.is_some();
            let service = &mut *service;
            if let Some(doubt) = &mut service.doubt {
                assert!(doubt.next.is_some_and(|next| next <= granted), "{fate:?}: a second call beside the probe");
                doubt.next = (fate == Fate::Dies).then_some(granted + service.lease);
            }
            (fate, is_probe)
        };
        if fate == Fate::Dies {
            std::mem::forget(slot);
            return;
        }
        tokio::time::sleep(LATENCY).await;
        let mut service = service.lock().unwrap();
        let now = Instant::now();
        match fate {
            Fate::Answered | Fate::Dies => {
                service.doubt = service.doubt.filter(|_| !is_probe);
                return slot.complete(&RateLimitHeaders::default());
            }
            Fate::Refused(seconds) => {
                let is_believed = is_probe && service.doubt.is_some_and(|doubt| seconds <= doubt.asked);
                service.doubt = (!is_believed).then_some(Doubt { asked: seconds, next: Some(now) });
                slot.complete(&refused(seconds));
            }
            Fate::Lost => {
                if let Some(doubt) = service.doubt.as_mut().filter(|_| is_probe) {
                    doubt.next = Some(now);
                }
                drop(slot);
            }
        }
    }
}

/// Gives how long it takes until all processes have had an answer.
async fn scene(fates: &[Fate], folder: Option<&tempfile::TempDir>, moved: i64) -> Duration {
    let clock = Paused::new();
    let all = limiters(folder, 3, &clock);
    hear(&all[0], refused(HOUR.as_secs())).await;
    let doubt = Some(Doubt { asked: HOUR.as_secs(), next: Some(Instant::now()) });
    let lease = if moved > 0 { Duration::ZERO } else { LEASE };
    let service = Arc::new(Mutex::new(Service { fates: fates.to_vec(), lease, doubt, calls: 0 }));
    let running: Vec<_> = all.into_iter().map(|limiter| tokio::spawn(process(limiter, Arc::clone(&service)))).collect();
    // The clock is set while all wait, or while the first probe is in flight.
    for at in [200, 100] {
        clock.sleep(Duration::from_secs(at) + LATENCY / 2).await;
        let step = Duration::from_secs(moved.unsigned_abs());
        if moved < 0 { clock.set_back(step) } else { clock.set_forward(step) }
    }
    for process in running {
        process.await.unwrap();
    }
    clock.elapsed()
}

#[test]
fn one_probe_at_a_time_whatever_becomes_of_it_and_nobody_waits_for_ever() {
    let kinds = [Fate::Answered, Fate::Refused(3_600), Fate::Refused(7_200), Fate::Lost, Fate::Dies];
    let mut all: Vec<Vec<Fate>> = vec![Vec::new()];
    let mut latest = all.clone();
    for _ in 0..3 {
        latest = latest.iter().flat_map(|fates| kinds.map(|kind| [&fates[..], &[kind]].concat())).collect();
        all.extend(latest.clone());
    }
    for fates in all {
        for moved in [0, -3_600, 1_000] {
            // A file for the shorter ones: a step takes longer there.
            for in_file in [false, true].into_iter().take(if fates.len() < 3 { 2 } else { 1 }) {
                let folder = tempfile::tempdir().unwrap();
                println!("{fates:?}, clock set by {moved} s, in a file: {in_file}");
                let took = runtime().block_on(scene(&fates, in_file.then_some(&folder), moved));
                let waits = u64::try_from(fates.len()).unwrap() + 1;
                assert!(took <= Duration::from_secs(waits * 7_500 + 700), "{fates:?}, {moved}: {took:?}");
            }
        }
    }
}

#[test]
fn each_answer_of_the_probe_has_its_time() {
    for (fates, expected) in [
        // Lifted for all.
        (vec![Fate::Answered], 300.1),
        // Believed, and the wait is honoured to its end.
        (vec![Fate::Refused(3_300)], 3_600.1),
        (vec![Fate::Refused(3_600)], 3_900.1),
        // Another answer is doubted anew.
        (vec![Fate::Refused(7_200)], 600.2),
        (vec![Fate::Refused(7_200), Fate::Refused(7_200)], 7_800.2),
        // A short wait is simply honoured.
        (vec![Fate::Refused(20)], 320.1),
        // Without an answer another takes the turn: at once, or when the lease ends.
        (vec![Fate::Lost, Fate::Lost], 300.3),
        (vec![Fate::Dies], 302.1),
        (vec![Fate::Dies, Fate::Dies], 304.1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let took = runtime().block_on(scene(&fates, Some(&folder), 0)).as_secs_f64();
        // One that was answered asks no more; the others take their calls after it.
        assert!((expected..expected + 0.3).contains(&took), "{fates:?}: {took} s");
    }
}

/// The system's clock, five minutes and a second ahead.
#[derive(Clone, Copy)]
struct Ahead;

impl Clock for Ahead {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        SystemClock.now() + chrono::Duration::seconds(301)
    }

    fn elapsed(&self) -> Duration {
        SystemClock.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        SystemClock.sleep(duration)
    }
}

/// Runs as its own child: the child is the probe, says so, and is killed with its request in flight.
#[cfg(target_os = "linux")]
#[test]
fn a_probe_whose_process_is_killed_leaves_its_turn_to_another_process() {
    use std::io::{BufRead as _, BufReader};
    const FILE: &str = "HEADLAND_TEST_PROBE";
    let limiter = |file: std::ffi::OsString, clock: Arc<dyn Clock>| {
        Limiter::unshared(&StoreLocation::File(file.into()), "https://x.org", KEY, &[window(9, 300)], clock)
    };
    let real = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(file) = std::env::var_os(FILE) {
        let mut slot = real().block_on(limiter(file, Arc::new(Ahead)).grant(MINUTE, HOUR)).unwrap().unwrap();
        slot.mark_sent();
        println!("\nheld");
        std::thread::sleep(MINUTE);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("limits.sqlite3");
    real().block_on(hear(&limiter(file.clone().into(), Arc::new(SystemClock)), refused(DAY)));
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "retry_after::a_probe_whose_process_is_killed_leaves_its_turn_to_another_process",
            "--nocapture",
        ])
        .env(FILE, &file)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "held"));
    let limiter = limiter(file.into(), Arc::new(Ahead));
    let refused = real().block_on(limiter.grant(MINUTE, Duration::from_millis(100))).unwrap_err();
    assert_eq!(refused.service_wait, Some(Duration::from_secs(DAY)), "the child's request is in flight");
    child.kill().unwrap();
    child.wait().unwrap();
    let started = std::time::Instant::now();
    real().block_on(hear(&limiter, RateLimitHeaders::default()));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(limiter.budget().service_wait, None, "its answer lifts the block");
}
