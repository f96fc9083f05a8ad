//! Tests waits that the service requests: short ones are honoured, long ones are probed by one call, and no call waits
//! without end.

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

/// Limiters of one file, as in several processes, or of one process.
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
fn wait_of_up_to_five_minutes_is_honoured_for_any_windows() {
    for seconds in [1, 61, 299, 300] {
        runtime().block_on(async {
            let clock = Paused::new();
            let limiter = memory(&[window(5, 1_000)], &clock);
            call_with_headers(&limiter, refused(seconds)).await;
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
            call_with_headers(&limiter, limit_headers(1_000, 0, seconds)).await;
            spend(&limiter, 1).await;
            assert_eq!(clock.elapsed().as_secs(), seconds, "as X-RateLimit-Reset states it");
        });
    }
}

#[test]
fn longer_wait_blocks_all_calls_for_five_minutes_and_is_named() {
    let stated = |seconds| Some(Duration::from_secs(seconds));
    for (heard, asked) in [(refused(301), 301), (refused(DAY), DAY), (limit_headers(1_000, 0, DAY), DAY)] {
        runtime().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let clock = Paused::new();
            let all = limiters(Some(&folder), 2, &clock);
            call_with_headers(&all[0], heard).await;
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
fn replies_to_other_calls_in_flight_do_not_settle_the_probe() {
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
        call_with_headers(&limiter, refused(DAY)).await;
        assert_eq!(limiter.budget().next_call_in.as_secs(), DAY, "the probe said it again");
    });
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Answered,
    Refused(u64),
    /// The reply is lost.
    Lost,
    /// The process ends with the call in flight.
    Dies,
}

/// A service that requested a wait, and checks the callers until the wait is confirmed.
#[derive(Debug, Default)]
struct Service {
    outcomes: Vec<Outcome>,
    /// How long a dead process keeps its turn: a clock that is set forward ends it.
    lease: Duration,
    unconfirmed: Option<Unconfirmed>,
    calls: usize,
}

#[derive(Clone, Copy, Debug)]
struct Unconfirmed {
    asked: u64,
    /// Earliest time of the next call; `None` while a probe is in flight.
    next: Option<Instant>,
}

/// Makes one call in one process until it succeeds, or the process dies.
async fn process(limiter: Limiter, service: Arc<Mutex<Service>>) {
    loop {
        let mut slot = limiter.grant(LEASE, PATIENCE).await.unwrap().unwrap();
        slot.mark_sent();
        let granted = Instant::now();
        let (outcome, is_probe) = {
            let mut service = service.lock().unwrap();
            let outcome = service.outcomes.get(service.calls).copied().unwrap_or(Outcome::Answered);
            service.calls += 1;
            let is_probe = service.unconfirmed.is_some();
            let service = &mut *service;
            if let Some(unconfirmed) = &mut service.unconfirmed {
                assert!(
                    unconfirmed.next.is_some_and(|next| next <= granted),
                    "{outcome:?}: a second call beside the probe"
                );
                unconfirmed.next = (outcome == Outcome::Dies).then_some(granted + service.lease);
            }
            (outcome, is_probe)
        };
        if outcome == Outcome::Dies {
            std::mem::forget(slot);
            return;
        }
        tokio::time::sleep(LATENCY).await;
        let mut service = service.lock().unwrap();
        let now = Instant::now();
        match outcome {
            Outcome::Answered | Outcome::Dies => {
                service.unconfirmed = service.unconfirmed.filter(|_| !is_probe);
                return slot.complete(&RateLimitHeaders::default());
            }
            Outcome::Refused(seconds) => {
                let is_confirmed =
                    is_probe && service.unconfirmed.is_some_and(|unconfirmed| seconds <= unconfirmed.asked);
                service.unconfirmed = (!is_confirmed).then_some(Unconfirmed { asked: seconds, next: Some(now) });
                slot.complete(&refused(seconds));
            }
            Outcome::Lost => {
                if let Some(unconfirmed) = service.unconfirmed.as_mut().filter(|_| is_probe) {
                    unconfirmed.next = Some(now);
                }
                drop(slot);
            }
        }
    }
}

/// Returns the time until all processes have a reply.
async fn scene(outcomes: &[Outcome], folder: Option<&tempfile::TempDir>, moved: i64) -> Duration {
    let clock = Paused::new();
    let all = limiters(folder, 3, &clock);
    call_with_headers(&all[0], refused(HOUR.as_secs())).await;
    let unconfirmed = Some(Unconfirmed { asked: HOUR.as_secs(), next: Some(Instant::now()) });
    let lease = if moved > 0 { Duration::ZERO } else { LEASE };
    let service = Arc::new(Mutex::new(Service { outcomes: outcomes.to_vec(), lease, unconfirmed, calls: 0 }));
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
fn one_probe_at_a_time_for_any_outcome_and_no_endless_wait() {
    let kinds = [Outcome::Answered, Outcome::Refused(3_600), Outcome::Refused(7_200), Outcome::Lost, Outcome::Dies];
    let mut all: Vec<Vec<Outcome>> = vec![Vec::new()];
    let mut latest = all.clone();
    for _ in 0..3 {
        latest = latest.iter().flat_map(|outcomes| kinds.map(|kind| [&outcomes[..], &[kind]].concat())).collect();
        all.extend(latest.clone());
    }
    for outcomes in all {
        for moved in [0, -3_600, 1_000] {
            // Short sequences also run with a file, where a step takes longer.
            for in_file in [false, true].into_iter().take(if outcomes.len() < 3 { 2 } else { 1 }) {
                let folder = tempfile::tempdir().unwrap();
                println!("{outcomes:?}, clock set by {moved} s, in a file: {in_file}");
                let took = runtime().block_on(scene(&outcomes, in_file.then_some(&folder), moved));
                let waits = u64::try_from(outcomes.len()).unwrap() + 1;
                assert!(took <= Duration::from_secs(waits * 7_500 + 700), "{outcomes:?}, {moved}: {took:?}");
            }
        }
    }
}

#[test]
fn each_outcome_of_the_probe_has_its_wait() {
    for (outcomes, expected) in [
        (vec![Outcome::Answered], 300.1),
        // Confirmed: the wait is honoured to its end.
        (vec![Outcome::Refused(3_300)], 3_600.1),
        (vec![Outcome::Refused(3_600)], 3_900.1),
        // Another wait must be confirmed again.
        (vec![Outcome::Refused(7_200)], 600.2),
        (vec![Outcome::Refused(7_200), Outcome::Refused(7_200)], 7_800.2),
        // A short wait is honoured without a probe.
        (vec![Outcome::Refused(20)], 320.1),
        // Without a reply, another process takes the turn: immediately, or when the lease ends.
        (vec![Outcome::Lost, Outcome::Lost], 300.3),
        (vec![Outcome::Dies], 302.1),
        (vec![Outcome::Dies, Outcome::Dies], 304.1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let took = runtime().block_on(scene(&outcomes, Some(&folder), 0)).as_secs_f64();
        // A process with a reply makes no more calls; the others make theirs after it.
        assert!((expected..expected + 0.3).contains(&took), "{outcomes:?}: {took} s");
    }
}

/// The system clock plus five minutes and one second.
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

/// Runs as its own child process: the child sends the probe, prints a line, and is killed with its request in flight.
#[cfg(target_os = "linux")]
#[test]
fn probe_of_a_killed_process_passes_to_another_process() {
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
    real().block_on(call_with_headers(&limiter(file.clone().into(), Arc::new(SystemClock)), refused(DAY)));
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "retry_after::probe_of_a_killed_process_passes_to_another_process", "--nocapture"])
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
    // Otherwise it would be in flight for a minute, which is longer than this call may wait.
    let mut slot = real().block_on(limiter.grant(MINUTE, Duration::from_secs(20))).unwrap().unwrap();
    slot.mark_sent();
    slot.complete(&RateLimitHeaders::default());
    assert_eq!(limiter.budget().service_wait, None, "its answer lifts the block");
}
