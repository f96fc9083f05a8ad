//! Tests access keys with a limited scope: a part of an account, read-only, expired (specification 2.7, 5.3, 7).

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::sync::Arc;
use std::time::Duration;

use headland::client::{Target, UploadFile};
use headland::error::Kind;
use headland::sandbox::fields::Account;
use headland::sandbox::{Options, Sandbox};
use headland::wire::Value;
use serde_json::json;

use super::headland_client::{arguments_for, client_with_key, row};
use super::maps::{ONE, zip_with};
use super::raw_client::{Reply, call, generated, get, ids, options, start, upload, zip_of};

/// The ids in a list, read with a key.
fn listed(sandbox: &Sandbox, key: &str, path: &str, kind: &str) -> Vec<String> {
    let reply = get(sandbox, &format!("{path}?pageSize=0")).by_customer(key).send();
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    let found = ids(&reply, kind);
    assert_eq!(reply.json()["TotalCount"], found.len(), "{path} counts what it gives");
    found
}

/// Every list of ids: address, kind, and the ids that belong to the first field computer and to others.
fn parts(account: &Account) -> Vec<(&'static str, &'static str, Vec<String>, Vec<String>)> {
    let first = account.computers[0].id.as_str();
    let split = |all: Vec<(String, bool)>| {
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, is_own)| *is_own);
        let ids = |pairs: Vec<(String, bool)>| pairs.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        (ids(own), ids(others))
    };
    let made_by = |job: &headland::sandbox::fields::Job| {
        job.detail.get("field_computer_id").and_then(Value::as_text).unwrap() == first
    };
    let all = [
        (
            "/fieldcomputers",
            "FieldComputer",
            account.computers.iter().map(|it| (it.id.clone(), it.id == first)).collect(),
        ),
        (
            "/fieldhubs",
            "FieldHub",
            account.hubs.iter().map(|hub| (hub.id.clone(), hub.computer.as_deref() == Some(first))).collect(),
        ),
        ("/jobdata", "JobData", account.jobs.iter().map(|job| (job.id.clone(), made_by(job))).collect()),
        (
            "/prescriptionmaps",
            "PrescriptionMap",
            account.maps.iter().map(|it| (it.id.clone(), it.computer == first)).collect(),
        ),
        ("/graincart", "GrainCart", account.carts.iter().map(|it| (it.id.clone(), it.computer == first)).collect()),
    ];
    all.into_iter()
        .map(|(path, kind, all): (_, _, Vec<_>)| {
            let (own, others) = split(all);
            (path, kind, own, others)
        })
        .collect()
}

#[test]
fn key_of_one_field_computer_sees_only_its_records_5_3() {
    let sandbox = start(options());
    let (whole, partial) = (sandbox.keys().access_key.clone(), sandbox.keys().partial_access_key.clone());
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    for (path, kind, own, others) in parts(generated()) {
        assert!(!others.is_empty(), "{path} has something that is hidden");
        assert_eq!(sorted(listed(&sandbox, &partial, path, kind)), sorted(own.clone()), "{path}");
        assert_eq!(listed(&sandbox, &whole, path, kind).len(), own.len() + others.len(), "{path}");
        for id in own.iter().take(3) {
            let path = format!("{path}/{}", id.replace(' ', "%20").replace('+', "%2B"));
            assert_eq!(get(&sandbox, &path).by_customer(&partial).send().status, 200, "{path}");
        }
        for id in others.iter().take(3) {
            let path = format!("{path}/{}", id.replace(' ', "%20").replace('+', "%2B"));
            let refused = get(&sandbox, &path).by_customer(&partial).send();
            assert_eq!((refused.status, refused.json()["status"].clone()), (403, "INVALID_REQUEST".into()), "{path}");
            assert!(refused.info().contains("does not permit"), "{}", refused.info());
        }
    }
    let one = |path: &str, kind: &str| {
        get(&sandbox, path).by_customer(&partial).send().json()[kind].as_array().unwrap().len()
    };
    for path in ["/fieldcomputers/all/currentlocation", "/fieldhubs/all/currentlocation"] {
        assert_eq!(one(path, "DeviceLocation"), 1, "{path}");
    }
    assert_eq!(one("/fieldhubs/all", "FieldHubDetail"), 1);
}

#[test]
fn every_path_beyond_the_scope_of_a_key_is_rejected_with_either_code_7() {
    for (variants, status) in [(Vec::new(), 403), (vec!["no-permission-401".to_owned()], 401)] {
        let sandbox = start(Options { variants, ..options() });
        let partial = sandbox.keys().partial_access_key.clone();
        let account = generated();
        let first = account.computers[0].id.clone();
        let [legacy, hub] = [&account.computers[1].id, &account.hubs[1].id];
        let hidden = |path: &str, kind: &str| {
            let seen = listed(&sandbox, &partial, path, kind);
            let mut all = listed(&sandbox, &sandbox.keys().access_key, path, kind);
            all.retain(|id| !seen.contains(id));
            all.remove(0)
        };
        let (job, map) = (hidden("/jobdata", "JobData"), hidden("/prescriptionmaps", "PrescriptionMap"));
        let cart = hidden("/graincart", "GrainCart");
        let own = listed(&sandbox, &partial, "/prescriptionmaps", "PrescriptionMap").remove(0);
        let mut refused: Vec<(&str, String)> = [
            format!("/jobdata/{job}"),
            format!("/jobdata/{job}?format=BIN"),
            format!("/jobdata/{job}?format=SHP"),
            format!("/jobdata/{job}/prescriptionmaps"),
            format!("/prescriptionmaps/{map}"),
            format!("/prescriptionmaps/{map}?format=bin"),
            format!("/graincart/{cart}"),
            format!("/graincart/{cart}?format=BIN"),
            format!("/fieldhubs/{hub}"),
            format!("/fieldhubs/{hub}/currentlocation"),
            format!("/fieldhubs/{hub}/locations"),
        ]
        .map(|path| ("GET", path))
        .into();
        for list in ["", "/prescriptionmaps", "/jobdata", "/currentlocation", "/locations"] {
            refused.push(("GET", format!("/fieldcomputers/{legacy}{list}")));
        }
        refused.push(("PUT", format!("/prescriptionmaps/{own}/fieldcomputers/{legacy}")));
        refused.push(("PUT", format!("/prescriptionmaps/{map}/fieldcomputers/{first}")));
        for (method, path) in &refused {
            let reply = call(&sandbox, method, path).by_customer(&partial).send();
            assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
        }
        let sent = format!("/prescriptionmaps/{own}/fieldcomputers/{first}");
        assert_eq!(call(&sandbox, "PUT", &sent).by_customer(&partial).send().status, 200);
    }
}

#[test]
fn upload_belongs_to_the_whole_account_and_all_its_keys() {
    let sandbox = start(options());
    let keys = sandbox.keys().clone();
    let created = upload(&sandbox, "own.jdp.zip", &zip_of("a.shp", b"x")).by_customer(&keys.partial_access_key).send();
    let path = created.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
    for key in [&keys.access_key, &keys.partial_access_key, &keys.read_only_access_key] {
        assert_eq!(get(&sandbox, &path).by_customer(key).send().status, 200);
    }
    assert_eq!(get(&sandbox, &path).by_customer(&keys.other_access_key).send().status, 404);
}

/// Every writing call, with the key.
fn writes(sandbox: &Sandbox, key: &str) -> Vec<Reply> {
    let account = generated();
    let (map, computer) = (&account.maps[0].id, &account.computers[0].id);
    let post = |path: &str| {
        upload(sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).with(|call| path.clone_into(&mut call.target))
    };
    let put = call(sandbox, "PUT", &format!("/prescriptionmaps/{map}/fieldcomputers/{computer}"));
    [post("/jobdata"), post("/prescriptionmaps"), post("/graincart"), put]
        .into_iter()
        .map(|call| call.by_customer(key).send())
        .collect()
}

#[test]
fn read_only_key_reads_everything_and_its_writes_are_403_or_405_5_3() {
    for (variants, status, allow) in [
        (Vec::new(), 403, [None; 4]),
        (vec!["read-only-405".to_owned()], 405, [Some("GET"), Some("GET"), Some("GET"), Some("")]),
    ] {
        let sandbox = start(Options { variants, ..options() });
        let keys = sandbox.keys().clone();
        for (path, kind, ..) in parts(generated()) {
            let all = listed(&sandbox, &keys.access_key, path, kind);
            assert_eq!(listed(&sandbox, &keys.read_only_access_key, path, kind), all, "{path}");
        }
        for (reply, allow) in writes(&sandbox, &keys.read_only_access_key).iter().zip(allow) {
            assert_eq!((reply.status, reply.get("allow")), (status, allow), "{}", reply.text());
            assert!(reply.info().contains("may read but not write"), "{}", reply.info());
        }
        let before = listed(&sandbox, &keys.access_key, "/jobdata", "JobData").len();
        assert_eq!(before, generated().jobs.len(), "nothing was written");
    }
}

#[test]
fn expired_key_returns_only_its_own_summary_2_7() {
    let sandbox = start(options());
    let keys = sandbox.keys().clone();
    let summary = get(&sandbox, "/accesskey").by_customer(&keys.expired_access_key).send().json();
    assert_eq!((&summary["AccessKey"], &summary["IsActive"]), (&json!(keys.expired_access_key), &json!(true)));
    assert_eq!(summary["ExpirationDateTime"], "2025-01-01T00:00:00Z");
    for path in ["/jobdata", "/fieldhubs", "/graincart", "/nothing"] {
        let reply = get(&sandbox, path).by_customer(&keys.expired_access_key).send();
        assert_eq!(reply.status, 401, "{path}");
        assert!(
            reply.info().starts_with("access key check failed: this access key expired on 2025"),
            "{}",
            reply.info()
        );
    }
    assert!(writes(&sandbox, &keys.expired_access_key).iter().all(|reply| reply.status == 401));
    // Every key expires in the end, by the service's clock.
    let end = "2050-01-01T00:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let left = end - sandbox.now() - chrono::TimeDelta::seconds(1);
    sandbox.advance(left.to_std().unwrap());
    assert_eq!(get(&sandbox, "/jobdata").send().status, 200);
    sandbox.advance(Duration::from_secs(2));
    assert_eq!(get(&sandbox, "/jobdata").send().status, 401);
}

#[tokio::test]
async fn client_distinguishes_forbidden_from_missing() {
    let sandbox = Arc::new(start(options()));
    let keys = sandbox.keys().clone();
    let account = generated();
    let kind_of = async |key: &str, id: &str| {
        let given = arguments_for("field_hubs.get", &[("id", id)]);
        client_with_key(key, &sandbox).detail(row("field_hubs.get"), &given).await.map_err(|error| error.kind())
    };
    let hidden = account.hubs[1].id.as_str();
    assert_eq!(kind_of(&keys.partial_access_key, hidden).await.unwrap_err(), Kind::PermissionDenied);
    assert_eq!(kind_of(&keys.other_access_key, hidden).await.unwrap_err(), Kind::NotFound);
    assert!(kind_of(&keys.read_only_access_key, hidden).await.is_ok());
    let expired = client_with_key(&keys.expired_access_key, &sandbox);
    let given = arguments_for("job_data.download", &[("id", account.jobs[0].id.as_str()), ("format", "BIN")]);
    let error = expired.download(row("job_data.download"), &given, Target::Memory, None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Authentication);
    assert!(error.facts().check.as_ref().unwrap().contains("expired on 2025-01-01"), "{error}");
    let reader = client_with_key(&keys.read_only_access_key, &sandbox);
    let file = UploadFile { name: "rx.zip".to_owned(), content: zip_with(ONE).into() };
    let error = reader
        .upload(row("prescription_maps.upload"), &arguments_for("prescription_maps.upload", &[]), file)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::PermissionDenied);
}
