//! Tests clocks that are set while calls are in flight: no call fails if one correction is enough (specification 5.2).

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use headland::client::Client;
use headland::clock::{Clock, Sleep};
use tokio::time::Instant;

use crate::support::{START, Script, arguments, canned, config, ok, row};

const KEY: &str = r#"{"AccessKey":"k","ID":"1","IsActive":true}"#;

/// Tokio's paused time with a wall clock that is shifted by these seconds at these times.
struct Set {
    start: Instant,
    steps: Vec<(Duration, i64)>,
}

impl Clock for Set {
    fn now(&self) -> DateTime<Utc> {
        let passed = self.start.elapsed();
        let off: i64 = self.steps.iter().filter(|(at, _)| *at <= passed).map(|(_, by)| by).sum();
        let micros = i64::try_from(passed.as_micros()).unwrap() + (START + off) * 1_000_000;
        DateTime::from_timestamp_micros(micros).unwrap()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Runs three calls on each of eight threads; returns the number of requests and of failed calls.
async fn run(steps: Vec<(Duration, i64)>, said: &'static str, latencies: &[u64]) -> (usize, usize) {
    let start = Instant::now();
    let latencies = latencies.iter().map(|tenths| Duration::from_millis(tenths * 100)).collect();
    let script = Script::uneven(latencies, move |_, request| {
        let now = START + i64::try_from(start.elapsed().as_secs()).unwrap();
        let time: i64 = request.headers["x-ss-timestamp"].to_str().unwrap().parse().unwrap();
        let date = DateTime::from_timestamp(now, 0).unwrap().format("%a, %d %b %Y %H:%M:%S GMT");
        Ok(if (time - now).abs() <= 60 { ok(KEY) } else { canned(401, said).with("date", date) })
    });
    let client = Client::with_parts(config(), script.clone(), Arc::new(Set { start, steps })).unwrap();
    let calls = join_all((0..8).map(|_| async {
        let mut failed = 0;
        for _ in 0..3 {
            failed += usize::from(client.detail(row("access_key"), &arguments("access_key", &[])).await.is_err());
        }
        failed
    }));
    let failed = calls.await.into_iter().sum();
    (script.count(), failed)
}

#[tokio::test(start_paused = true)]
async fn clock_change_at_any_time_fails_no_call() {
    let times: Vec<Duration> = (0..10).map(|step| Duration::from_millis(step * 400 + 50)).collect();
    let mut cases = 0;
    for said in ["TimeStamp check failed", "Unauthorized"] {
        for latencies in [&[4_u64][..], &[1, 2, 3, 5, 8, 13, 21], &[9, 1]] {
            for by in [3_600, -3_600, 90] {
                for (index, at) in times.iter().enumerate() {
                    let once = vec![(*at, by)];
                    let (requests, failed) = run(once, said, latencies).await;
                    assert_eq!(failed, 0, "set by {by} s at {at:?}, {latencies:?}, {said}");
                    assert!(requests <= 32, "{requests} requests: one correction is enough for each of the eight");
                    // Set forth and back, or twice in one direction, at every later time.
                    for later in &times[index + 1..] {
                        for then in [-by, by] {
                            let (_, failed) = run(vec![(*at, by), (*later, then)], said, latencies).await;
                            assert_eq!(failed, 0, "{by} s at {at:?}, {then} s at {later:?}, {latencies:?}, {said}");
                            cases += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(cases > 1_500, "{cases}");
}
