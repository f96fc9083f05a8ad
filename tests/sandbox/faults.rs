//! Tests faults as a client receives them.

use std::time::{Duration, Instant};

use super::raw_client::{get, jobs, limited, options, start, upload, zip_of};

#[test]
fn requested_faults_occur_as_often_as_requested() {
    let sandbox = start(options());
    for (kind, status) in [
        ("unauthorized", 401),
        ("forbidden", 403),
        ("too-many-requests", 429),
        ("unavailable", 503),
        ("server-error", 500),
        ("more-time", 202),
        ("redirect", 302),
        ("503", 503),
    ] {
        sandbox.add_fault("access_key", kind, 2).unwrap();
        assert_eq!(get(&sandbox, "/fieldcomputers").send().status, 200, "another endpoint");
        assert_eq!(get(&sandbox, "/accesskey").send().status, status, "{kind}");
        assert_eq!(get(&sandbox, "/accesskey").send().status, status, "{kind}");
        assert_eq!(get(&sandbox, "/accesskey").send().status, 200, "{kind} is used up");
    }
    sandbox.add_fault("*", "unavailable", 1).unwrap();
    assert_eq!(get(&sandbox, "/accesskey").send().text(), "Resources exhausted. Try again.");
    sandbox.add_fault("*", "unavailable", 9).unwrap();
    sandbox.clear_faults();
    assert_eq!(get(&sandbox, "/accesskey").send().status, 200);
}

#[test]
fn lost_reply_has_changed_the_state_and_a_reset_has_not() {
    let sandbox = start(options());
    let before = jobs(&sandbox, &sandbox.keys().access_key).len();
    sandbox.add_fault("job_data.upload", "reset", 1).unwrap();
    assert!(upload(&sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).try_send().is_none());
    assert_eq!(jobs(&sandbox, &sandbox.keys().access_key).len(), before);
    sandbox.add_fault("job_data.upload", "lost-reply", 1).unwrap();
    assert!(upload(&sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).try_send().is_none());
    assert_eq!(jobs(&sandbox, &sandbox.keys().access_key).len(), before + 1);
    let statuses: Vec<u16> =
        sandbox.requests().iter().filter(|request| request.method == "POST").map(|request| request.status).collect();
    assert_eq!(statuses, [0, 201]);
}

#[test]
fn truncated_file_ends_early_and_a_web_page_replaces_only_files() {
    let sandbox = start(options());
    let (id, _) = jobs(&sandbox, &sandbox.keys().access_key).remove(0);
    let file = format!("/jobdata/{id}?format=BIN");
    sandbox.add_fault("job_data.download", "truncated", 1).unwrap();
    let cut = get(&sandbox, &file).send();
    let promised: usize = cut.get("content-length").unwrap().parse().unwrap();
    assert_eq!(cut.body.len(), promised / 2);
    sandbox.add_fault("*", "web-page", 1).unwrap();
    assert_eq!(get(&sandbox, "/accesskey").send().get("content-type"), Some("application/json"));
    let page = get(&sandbox, &file).send();
    assert_eq!((page.status, page.get("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(get(&sandbox, &file).send().body.len(), promised);
}

#[test]
fn skewed_clock_is_in_date_unless_date_is_omitted() {
    let sandbox = start(options());
    let now = sandbox.now();
    let date = |time: chrono::DateTime<chrono::Utc>| time.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    assert_eq!(get(&sandbox, "/accesskey").send().get("date"), Some(date(now).as_str()));
    sandbox.add_fault("*", "skew", 3).unwrap();
    let refused = get(&sandbox, "/accesskey").send();
    assert_eq!(refused.status, 401);
    assert!(refused.info().contains("older than 120 seconds"));
    assert_eq!(refused.get("date"), Some(date(now + chrono::TimeDelta::hours(1)).as_str()));
    assert_eq!(get(&sandbox, "/accesskey").with(|call| call.late = 3_600).send().status, 200);
    sandbox.add_fault("*", "no-date", 1).unwrap();
    let blind = get(&sandbox, "/accesskey").send();
    assert_eq!((blind.status, blind.get("date")), (401, None));
    assert_eq!(get(&sandbox, "/accesskey").send().status, 200);
}

#[test]
fn silence_lasts_a_second_of_real_time() {
    let sandbox = start(options());
    sandbox.add_fault("*", "slow", 1).unwrap();
    let start = Instant::now();
    assert_eq!(get(&sandbox, "/accesskey").send().status, 200);
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[test]
fn rejected_request_consumes_no_fault() {
    let sandbox = limited(&[(1, 60)], false);
    sandbox.add_fault("*", "unavailable", 2).unwrap();
    assert_eq!(get(&sandbox, "/accesskey").send().status, 503);
    assert_eq!(get(&sandbox, "/accesskey").send().status, 429);
    sandbox.advance(Duration::from_secs(60));
    assert_eq!(get(&sandbox, "/accesskey").send().status, 503);
}
