//! Tests which state a folder keeps when the service is killed.

use std::process::Command;
use std::time::Duration;

use headland::error::Kind;
use headland::sandbox::fields::HarvestStyle;
use headland::sandbox::{Options, Sandbox};

use super::raw_client::{get, jobs, options, start, upload, zip_of};

/// Passes the folder to the process that is killed.
const FOLDER: &str = "HEADLAND_TEST_SANDBOX_FOLDER";

fn kept_in(folder: &std::path::Path) -> Options {
    Options { data: Some(folder.to_owned()), ..options() }
}

#[test]
fn uploads_and_conversions_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let killed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "restart::works_until_it_is_killed", "--ignored"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(!killed.status.success() && killed.status.code().is_none(), "{killed:?}");

    let sandbox = start(kept_in(folder.path()));
    let before = jobs(&start(options()), &sandbox.keys().access_key);
    let listed = jobs(&sandbox, &sandbox.keys().access_key);
    assert_eq!(listed[0].1, "a.jdp.zip");
    assert_eq!(listed[1..], before[..]);
    let path = format!("/jobdata/{}", listed[0].0);
    assert_eq!(get(&sandbox, &format!("{path}?format=BIN")).send().body, zip_of("a.shp", b"x"));
    sandbox.advance(Duration::from_secs(30));
    assert_eq!(get(&sandbox, &format!("{path}?format=SHP")).send().status, 200);
    assert_eq!(get(&sandbox, &path).send().json()["Status"], "CONVERSION_STATUS_SUCCESS", "the conversion went on");
}

#[test]
#[ignore = "the process that `uploads_and_conversions_survive_a_kill` starts and loses"]
fn works_until_it_is_killed() {
    let sandbox = start(kept_in(std::env::var_os(FOLDER).unwrap().as_ref()));
    let created = upload(&sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).send();
    let path = created.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
    assert!(get(&sandbox, &format!("{path}?format=SHP")).send().text().contains("00:00:30"));
    // Nothing is closed, dropped or flushed.
    std::process::abort();
}

#[test]
fn new_job_is_listed_first_even_if_the_clock_of_the_last_run_was_ahead() {
    let folder = tempfile::tempdir().unwrap();
    for (days, name) in [(9, "early.jdp.zip"), (0, "late.jdp.zip")] {
        let sandbox = start(kept_in(folder.path()));
        sandbox.advance(Duration::from_secs(days * 86_400));
        assert_eq!(upload(&sandbox, name, &zip_of("a.shp", b"x")).send().status, 201);
        assert_eq!(jobs(&sandbox, &sandbox.keys().access_key)[0].1, name);
    }
}

#[test]
fn folder_belongs_to_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    let options = |seed| Options { data: Some(folder.path().to_owned()), seed, ..options() };
    drop(start(options(5)));
    let error = Sandbox::start(options(6)).unwrap_err();
    assert_eq!(error.kind(), Kind::Value);
    assert!(error.message().contains("seed 5"), "{error}");
    drop(start(options(5)));
}

#[test]
fn folder_belongs_to_its_style_of_harvests() {
    let folder = tempfile::tempdir().unwrap();
    let options = |harvest| Options { data: Some(folder.path().to_owned()), harvest, ..options() };
    drop(start(options(HarvestStyle::Ideal)));
    drop(start(options(HarvestStyle::Ideal)));
    let error = Sandbox::start(options(HarvestStyle::Logged)).unwrap_err();
    assert!(error.message().contains("ideal harvests"), "{error}");
}

#[test]
fn port_in_use_is_an_error_and_stopping_frees_it() {
    let mut first = start(options());
    let port = first.base_url().rsplit_once(':').unwrap().1.parse().unwrap();
    let error = Sandbox::start(Options { port, ..options() }).unwrap_err();
    assert_eq!(error.kind(), Kind::Configuration);
    first.stop();
    drop(start(Options { port, ..options() }));
}
