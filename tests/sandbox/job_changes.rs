//! Tests many small jobs, and jobs that are added, changed and removed while the service runs.

use std::time::Duration;

use headland::sandbox::{Options, Sandbox};
use serde_json::Value;

use super::raw_client::{get, ids, jobs, options, start};

fn many(count: u32) -> Sandbox {
    start(Options { small_jobs: Some(count), ..options() })
}

fn listed(sandbox: &Sandbox) -> Vec<(String, String)> {
    jobs(sandbox, &sandbox.keys().access_key)
}

fn shapes(sandbox: &Sandbox, id: &str) -> Vec<u8> {
    get(sandbox, &format!("/jobdata/{id}?format=SHP")).send().body
}

#[test]
fn every_second_small_job_needs_no_conversion_4_4() {
    let sandbox = many(40);
    let all = listed(&sandbox);
    assert_eq!(all.len(), 40);
    let first: Vec<bool> = all.iter().map(|(id, _)| shapes(&sandbox, id).starts_with(b"PK")).collect();
    assert_eq!(first.iter().filter(|is_file| **is_file).count(), 20);
    sandbox.advance(Duration::from_secs(30));
    for (id, _) in &all {
        let archive = headland::archive::Source::Bytes(shapes(&sandbox, id).into());
        let layer = headland::layer::read(&archive, &headland::layer::ReadOptions::default()).unwrap();
        assert!((1..=20).contains(&layer.len()), "{} rows", layer.len());
    }
}

#[test]
fn changed_job_has_another_file_and_a_new_update_date_4_2() {
    let sandbox = many(6);
    let id = listed(&sandbox)[3].0.clone();
    shapes(&sandbox, &id);
    sandbox.advance(Duration::from_secs(30));
    let before = shapes(&sandbox, &id);
    let updated = |id: &str| get(&sandbox, &format!("/jobdata/{id}")).send().json()["UpdateDate"].clone();
    let at = updated(&id);
    sandbox.change_job(&id).unwrap();
    assert!(updated(&id).as_str() > at.as_str());
    shapes(&sandbox, &id);
    sandbox.advance(Duration::from_secs(30));
    let after = shapes(&sandbox, &id);
    assert!(before.starts_with(b"PK") && after.starts_with(b"PK") && before != after);
}

#[test]
fn added_job_is_listed_first_and_removed_job_is_not_listed() {
    let sandbox = many(3);
    let added = sandbox.add_job().unwrap();
    let page = get(&sandbox, "/jobdata").send();
    assert_eq!((page.json()["TotalCount"].clone(), ids(&page, "JobData")[0].clone()), (Value::from(4), added.clone()));
    sandbox.remove_job(&added).unwrap();
    assert_eq!(get(&sandbox, &format!("/jobdata/{added}")).send().status, 404);
    assert_eq!(listed(&sandbox).len(), 3);
    assert!(sandbox.add_job().unwrap() != added, "an id is not used again");
    assert!(sandbox.remove_job(&added).is_err() && sandbox.change_job(&added).is_err());
    assert!(start(options()).add_job().unwrap_err().message().contains("small_jobs"));
}
