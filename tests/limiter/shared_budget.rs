//! Tests one budget in one file: limiters, processes, crashes, and folders without write access.

use std::sync::Arc;
use std::time::Duration;

use headland::clock::{Clock as _, SystemClock};
use headland::limiter::{Limiter, RateLimitHeaders, StoreLocation, default_file};

use crate::support::*;

#[test]
fn two_limiters_of_one_file_share_a_budget_and_another_key_has_its_own() {
    runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("limits.sqlite3");
        let place = StoreLocation::File(path.clone());
        let clock = Paused::new();
        let windows = [window(5, 60_000)];
        let one = Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone());
        let two = Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone());
        let stranger = Limiter::unshared(&place, "https://x.org", "another key", &windows, clock.clone());
        spend(&one, 3).await;
        assert_eq!((two.budget().remaining, stranger.budget().remaining), (2, 5));
        call_with_headers(
            &two,
            RateLimitHeaders { block: Some(Duration::from_secs(9)), ..RateLimitHeaders::default() },
        )
        .await;
        assert_eq!(one.budget().next_call_in, Duration::from_secs(9));
        // While a call of the other limiter is in flight, this one polls.
        let mut slot = stranger.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        drop(slot);
        drop((one, two, stranger));
        for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()), "the key is not stored");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    });
}

#[test]
fn concurrent_first_opens_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = StoreLocation::File(folder.path().join("limits.sqlite3"));
    let windows = [window(64, 60_000)];
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let place = place.clone();
            std::thread::spawn(move || {
                runtime().block_on(async {
                    let limiter = Limiter::unshared(&place, "https://x.org", KEY, &windows, Arc::new(SystemClock));
                    spend(&limiter, 4).await;
                    limiter.take_warning()
                })
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), None);
    }
    let limiter = Limiter::unshared(&place, "https://x.org", KEY, &windows, Arc::new(SystemClock));
    assert_eq!(limiter.budget().remaining, 32);
}

#[test]
fn call_in_flight_in_another_limiter_is_waited_for_and_its_end_is_noticed() {
    runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let place = StoreLocation::File(folder.path().join("limits.sqlite3"));
        let clock = Paused::new();
        let windows = [window(1, 1_000)];
        let one = Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone());
        let two = Limiter::unshared(&place, "https://x.org", KEY, &windows, clock.clone());
        let mut slot = one.grant(MINUTE, HOUR).await.unwrap().unwrap();
        slot.mark_sent();
        let waiter = tokio::spawn(async move { spend(&two, 1).await });
        tokio::time::sleep(Duration::from_secs(3)).await;
        slot.complete(&RateLimitHeaders::default());
        waiter.await.unwrap();
        let took = clock.elapsed();
        assert!(took >= Duration::from_secs(4) && took < Duration::from_millis(4_100), "{took:?}");
    });
}

/// Runs as its own child process: the child takes the only slot, prints a line, and is killed with its request in
/// flight.
#[cfg(target_os = "linux")]
#[test]
fn killed_process_does_not_keep_its_slot_in_flight() {
    use std::io::{BufRead as _, BufReader};
    const FILE: &str = "HEADLAND_TEST_LIMITS";
    let windows = [window(1, 300)];
    let limiter = |file: std::ffi::OsString| {
        Limiter::unshared(&StoreLocation::File(file.into()), "https://x.org", KEY, &windows, Arc::new(SystemClock))
    };
    let real = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(file) = std::env::var_os(FILE) {
        let mut slot = real().block_on(limiter(file).grant(MINUTE, HOUR)).unwrap().unwrap();
        slot.mark_sent();
        println!("\nheld");
        std::thread::sleep(MINUTE);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("limits.sqlite3");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "shared_budget::killed_process_does_not_keep_its_slot_in_flight", "--nocapture"])
        .env(FILE, &file)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "held"));
    let limiter = limiter(file.into());
    let refused = real().block_on(limiter.grant(MINUTE, Duration::from_millis(100)));
    assert!(refused.is_err(), "the child's request is in flight");
    child.kill().unwrap();
    child.wait().unwrap();
    // Otherwise it would be in flight for a minute, which is longer than this call may wait.
    assert!(real().block_on(limiter.grant(MINUTE, Duration::from_secs(20))).unwrap().is_some());
}

/// Runs as its own child processes, which print the default file in other environments.
#[cfg(target_os = "linux")]
#[test]
fn default_file_is_in_the_state_folder_of_the_user() {
    const IS_CHILD: &str = "HEADLAND_TEST_DEFAULT_FILE";
    if std::env::var_os(IS_CHILD).is_some() {
        println!("\n{:?}", default_file());
        return;
    }
    for (state, home, expected) in [
        ("/state", "/folder", r#"Some("/state/headland/limits.sqlite3")"#),
        ("", "/folder", r#"Some("/folder/.local/state/headland/limits.sqlite3")"#),
        ("relative", "/folder", r#"Some("/folder/.local/state/headland/limits.sqlite3")"#),
        ("", "relative", "None"),
    ] {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "shared_budget::default_file_is_in_the_state_folder_of_the_user", "--nocapture"])
            .envs([(IS_CHILD, "1"), ("XDG_STATE_HOME", state), ("HOME", home)])
            .output()
            .unwrap();
        let printed = String::from_utf8(child.stdout).unwrap();
        assert!(printed.lines().any(|line| line == expected), "`{state}`, `{home}`: {printed}");
    }
}
